import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { coast } from '../../support/attacks/expensive.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const Page = z.object({
  zones: z.array(z.object({ label: z.string(), polygon: z.unknown() })),
  next_cursor: z.string().nullable(),
})

let service: Service
let person: Person
beforeAll(async () => {
  service = await createService()
  person = await service.person()
})
afterAll(() => service?.close())

const draw = (label: string, polygon: object) =>
  service.request('POST', '/api/v1/zones', {
    key: person.key,
    body: { label, lat: 10, lon: 29, polygon },
  })

async function pages(query: string): Promise<string[][]> {
  const found: string[][] = []
  let cursor: string | null = null
  do {
    const more = cursor === null ? '' : `&cursor=${cursor}`
    const answer = await service.request('GET', `/api/v1/zones?${query}${more}`, person)
    const { zones, next_cursor }: z.infer<typeof Page> = parsed(answer, 200, Page)
    found.push(zones.map(({ label }) => label))
    cursor = next_cursor
  } while (cursor !== null)
  return found
}

test('a page of zones ends where its polygons become too large, and the next goes on', async () => {
  for (let index = 0; index < 8; index++) {
    expect((await draw(`Big ${index}`, coast(9999))).status).toBe(201)
  }
  const found = await pages('limit=500')
  expect(Math.max(...found.map(({ length }) => length))).toBeLessThanOrEqual(5)
  expect(found.flat()).toEqual([7, 6, 5, 4, 3, 2, 1, 0].map((index) => `Big ${index}`))
  expect((await pages('limit=2')).flat()).toEqual(found.flat())
})

test('an outline full of spikes is simplified like any other', async () => {
  // The farthest vertex is always the next one: the usual way halves nothing and calls itself 9,900 times.
  const spikes = Array.from({ length: 9900 }, (_, i) => [
    i * 0.005,
    i % 2 === 1 ? 40 * (1 - i / 19_800) : 0.001,
  ])
  const ring = [...spikes, [60, -10], [0, -10], [0, 0.001]]
  expect((await draw('Spikes', { type: 'Polygon', coordinates: [ring] })).status).toBe(201)
  const answer = await service.request('GET', '/api/v1/zones?limit=1&geometry=simplified', person)
  expect(parsed(answer, 200, Page).zones).toMatchObject([{ label: 'Spikes' }])
})
