import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { merge, one } from '../../../../functions/api/zones/zone-rows.ts'
import { ZoneCreate, zoneDefaults } from '../../../../shared/schemas/zone.ts'
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

test('a list brings polygons in full, with fewer corners, or not at all', async () => {
  const who = await service.person()
  const ring = Array.from({ length: 200 }, (_, at) => {
    const angle = (2 * Math.PI * at) / 200
    return [29 + Math.cos(angle), 41 + Math.sin(angle)]
  })
  const coordinates = [[...ring, ring[0]]]
  const polygon = { type: 'Polygon', coordinates }
  for (const body of [
    { label: 'A circle', lat: 41, lon: 29 },
    { label: 'An outline', lat: 41, lon: 29, polygon },
  ]) {
    const made = await service.request('POST', '/api/v1/zones', { key: who.key, body })
    expect(made.status).toBe(201)
  }
  const Shapes = z.object({
    zones: z.array(
      z.object({
        shape_type: z.string(),
        polygon: z.object({ coordinates: z.array(z.array(z.unknown())) }).nullable(),
      }),
    ),
  })
  const corners = async (query: string) => {
    const answer = await service.request('GET', `/api/v1/zones${query}`, { key: who.key })
    const { zones } = parsed(answer, 200, Shapes)
    expect(zones.map(({ shape_type }) => shape_type)).toEqual(['polygon', 'circle'])
    return zones.map(({ polygon }) => polygon?.coordinates[0]?.length ?? null)
  }
  expect(await corners('?geometry=full')).toEqual([201, null])
  expect(await corners('?geometry=none')).toEqual([null, null])
  const [simplified, none] = await corners('?geometry=simplified')
  expect(simplified).toBeGreaterThan(4)
  expect(simplified).toBeLessThan(201)
  expect(none).toBeNull()
})

describe('a zone that is changed', () => {
  const square = [0, 1, 2, 3, 0].map((at) => [at === 1 || at === 2 ? 1 : 0, at > 1 ? 1 : 0])
  const polygon = { type: 'Polygon' as const, coordinates: [square] }
  const stored = (fields: object) => ({
    ...zoneDefaults(ZoneCreate.parse({ label: 'Here', lat: 1, lon: 2, ...fields })),
    ...{ id: 'z', owner_id: 'o', version: 1, created_at: '', updated_at: '' },
  })
  const circle = stored({ radius_km: 20 })
  const outline = stored({ polygon })

  test.each([
    ['an outline makes it one', circle, { polygon }, 'polygon', polygon],
    ['a circle loses its outline', outline, { shape_type: 'circle' as const }, 'circle', null],
    [
      'both are kept, for the rules to refuse',
      circle,
      { shape_type: 'circle' as const, polygon },
      'circle',
      polygon,
    ],
    ['what is not named stays', outline, { label: 'There' }, 'polygon', polygon],
    ['undefined is not named', outline, { polygon: undefined, lat: undefined }, 'polygon', polygon],
    ['a circle stays one', circle, { label: 'There' }, 'circle', null],
  ])('%s', (_, zone, patch, shape_type, shape) => {
    expect(merge(zone, patch)).toMatchObject({ lat: 1, shape_type, polygon: shape })
  })

  test('null is no value of a field that needs one', () => {
    expect(() => merge(circle, { lat: null } as never)).toThrow(/lat/)
  })
})

test('a statement that answers no row where it must is a fault', () => {
  expect(one([1, 2])).toBe(1)
  expect(() => one([])).toThrow('a statement that returns one row returned none')
})
