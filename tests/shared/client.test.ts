import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stamp } from '../../scripts/build/client.ts'
import { createClient } from '../../shared/client.ts'
import { createService, type Service } from '../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

function clientOf(token?: string) {
  return createClient({
    baseUrl: 'http://watchpost.test',
    ...(token === undefined ? {} : { token }),
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      const body = await request.text()
      const answer = await service.request(request.method, pathname + search, {
        headers: { Authorization: request.headers.get('authorization') ?? '' },
        ...(body === '' ? {} : { body }),
      })
      return new Response(answer.status === 204 ? null : answer.text, {
        status: answer.status,
        headers: answer.headers,
      })
    },
  })
}

test('the types were made from the document as it is', () => {
  const [first] = readFileSync('shared/client.gen.ts', 'utf8').split('\n')
  expect(first).toBe(stamp())
})

test('the client creates, reads and deletes a zone with typed bodies', async () => {
  const { key } = await service.person()
  const client = clientOf(key)
  const made = await client.POST('/api/v1/zones', { body: { label: 'Typed', lat: 1, lon: 2 } })
  const id = made.data?.zone.id ?? ''
  const read = await client.GET('/api/v1/zones/{id}', { params: { path: { id } } })
  expect(read.data?.zone).toMatchObject({ label: 'Typed', radius_km: 50 })
  const gone = await client.DELETE('/api/v1/zones/{id}', { params: { path: { id } } })
  expect(gone.response.status).toBe(204)
})

test('a refusal comes back as problem details', async () => {
  const { data, error } = await clientOf().GET('/api/v1/me')
  expect(data).toBeUndefined()
  expect(error).toMatchObject({ status: 401, code: 'unauthenticated' })
})
