import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

let service: Service
let person: Person

beforeAll(async () => {
  service = await createService()
  person = await service.person()
})
afterAll(() => service.close())

const Covered = z.object({ id: z.string(), coverage: z.array(z.unknown()) })
const One = z.object({ zone: Covered })
const Page = z.object({ zones: z.array(Covered) })

test('a list says of each zone the coverage that the zone itself says', async () => {
  await service.database.query(`
    insert into watchpost.sources
      (source, title, attribution, types, interval_seconds, enabled, last_success_at, last_event_at, error_at,
        longest_silence_seconds, garbled_polls, garbled_items)
    values
      ('good', 'T', 'A', '{earthquake,tsunami}', 60, true, now(), now(), null, 60, 0, 0),
      ('quiet', 'T', 'A', '{earthquake}', 60, true, now(), now() - interval '2 h', null, 60, 0, 0),
      ('unmeasured', 'T', 'A', '{storm}', 60, true, now(), now() - interval '2 h', null, null, 0, 0),
      ('garbled', 'T', 'A', '{storm}', 60, true, now(), now(), null, 60, 3, 10),
      ('broken', 'T', 'A', '{storm,tsunami}', 60, true, now() - interval '1 h', null, now(), null, 0, 0),
      ('off', 'T', 'A', '{wildfire}', 60, false, null, null, null, null, 0, 0),
      ('custom-x', 'T', 'A', '{earthquake}', 60, true, now(), now(), null, null, 0, 0)`)
  const filters = [
    {},
    { sources: ['good', 'broken', 'custom-x'] },
    { types: ['storm'] },
    { types: ['tsunami', 'wildfire'] },
    { sources: ['good', 'off'], types: ['wildfire'] },
    { sources: ['off'], types: ['flood'] },
  ]
  const alone = new Map<string, unknown>()
  for (const filter of filters) {
    const body = { label: 'Covered', lat: 10, lon: 10, ...filter }
    const made = await service.request('POST', '/api/v1/zones', { key: person.key, body })
    const { zone } = parsed(made, 201, One)
    const got = await service.request('GET', `/api/v1/zones/${zone.id}`, { key: person.key })
    alone.set(zone.id, parsed(got, 200, One).zone.coverage)
  }
  const listed = await service.request('GET', '/api/v1/zones', { key: person.key })
  const together = parsed(listed, 200, Page).zones.map(
    ({ id, coverage }) => [id, coverage] as const,
  )
  expect(new Map(together)).toEqual(alone)
  expect(together.at(-1)?.[1]).toEqual([
    { source: 'broken', status: 'down' },
    { source: 'garbled', status: 'stale' },
    { source: 'good', status: 'ok' },
    { source: 'off', status: 'disabled' },
    { source: 'quiet', status: 'stale' },
    { source: 'unmeasured', status: 'ok' },
  ])
})
