import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createService, type Service } from '../../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service.close())

describe('GET /me', () => {
  test('a key tells who it belongs to, what it may do, and its budget', async () => {
    const person = await service.person({ plan: 'enterprise' })
    const org = await service.organisation(person)
    const { status, body, headers } = await service.request('GET', '/api/v1/me', person)
    expect(status).toBe(200)
    expect(body).toEqual({
      user_id: person.user_id,
      email: person.email,
      plan: 'enterprise',
      scopes: ['read', 'write', 'ingest'],
      key_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      rate_limit: {
        limit: 100_000,
        remaining: 99_999,
        reset_seconds: expect.any(Number),
        window_seconds: 60,
      },
      orgs: [{ id: org, name: 'A team', role: 'owner' }],
    })
    expect(headers.get('RateLimit-Policy')).toBe('"account";q=100000;w=60')
    expect(headers.get('RateLimit')).toMatch(/^"account";r=99999;t=\d+$/)
  })

  test('write implies read', async () => {
    const account = await service.account()
    const key = await service.key(account, { scopes: ['write'] })
    const { status, body } = await service.request('GET', '/api/v1/me', { key })
    expect(status).toBe(200)
    expect(body).toMatchObject({ scopes: ['read', 'write'] })
  })

  test('an invite is no membership', async () => {
    const owner = await service.person()
    const org = await service.organisation(owner)
    const invited = await service.person()
    await service.request('POST', `/api/v1/orgs/${org}/members`, {
      key: owner.key,
      body: { email: invited.email },
    })
    expect((await service.request('GET', '/api/v1/me', invited)).body).toMatchObject({ orgs: [] })
  })
})
