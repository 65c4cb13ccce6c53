import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Person, parsed } from '../support/service.ts'
import { createStory } from '../support/story.ts'

let me: Person
const at = createStory({
  prepare: async ({ service }) => {
    me = await service.person()
  },
})

const One = z.object({ zone: z.looseObject({ id: z.uuid(), version: z.int() }) })
const Refused = z.object({
  errors: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })),
})
const square = {
  type: 'Polygon',
  coordinates: [
    [
      [28, 40],
      [30, 40],
      [30, 42],
      [28, 42],
      [28, 40],
    ],
  ],
}
const feature = { type: 'Feature', properties: { name: 'From the drawing tool' }, geometry: square }
const place = { label: 'The harbour', lat: 41, lon: 29 }

const ask = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  at.ask({ key: me.key, headers }, method, `zones${path}`, body)
const create = async (body: object) => parsed(await ask('POST', '', body), 201, One).zone
const patch = async (id: string, body: object) =>
  parsed(await ask('PATCH', `/${id}`, body), 200, One).zone
const refusal = (answer: Awaited<ReturnType<typeof ask>>) => parsed(answer, 422, Refused).errors

test('an outline drawn over a circle makes it that outline, and a circle takes it away again', async () => {
  const { id } = await create({ ...place, radius_km: 20 })
  expect(await patch(id, { polygon: square })).toMatchObject({
    shape_type: 'polygon',
    polygon: square,
  })
  expect(await patch(id, { shape_type: 'circle', radius_km: 30 })).toMatchObject({
    shape_type: 'circle',
    polygon: null,
    radius_km: 30,
  })
})

test('a circle with an outline is neither, and is refused with the way out', async () => {
  const both = { shape_type: 'circle', polygon: square }
  const told = [
    {
      path: 'shape_type',
      code: 'contradiction',
      message: 'A zone with a polygon is not a circle. Leave out shape_type, or send polygon null.',
    },
  ]
  expect(refusal(await ask('POST', '', { ...place, ...both }))).toEqual(told)
  const { id } = await create(place)
  expect(refusal(await ask('PATCH', `/${id}`, both))).toEqual(told)
  expect(refusal(await ask('POST', '/preview', { ...place, ...both }))).toEqual(told)
})

test('what a drawing tool exports is pasted as it is', async () => {
  expect(await create({ ...place, polygon: feature })).toMatchObject({
    shape_type: 'polygon',
    polygon: square,
  })
  const collection = { type: 'FeatureCollection', features: [feature] }
  const { id } = await create(place)
  expect(await patch(id, { polygon: collection })).toMatchObject({ polygon: square })
  const two = { ...collection, features: [feature, feature] }
  expect(refusal(await ask('PATCH', `/${id}`, { polygon: two }))).toMatchObject([
    { path: 'polygon.features', message: expect.stringContaining('one shape') },
  ])
})

test('a script reads a zone, changes one field and sends the whole of it back', async () => {
  const { id } = await create({ ...place, polygon: square })
  const { zone } = parsed(await ask('GET', `/${id}`), 200, One)
  expect(await patch(id, { ...zone, label: 'Renamed' })).toMatchObject({
    ...zone,
    label: 'Renamed',
    version: 2,
    updated_at: expect.any(String),
  })
  // Python writes the offset out, and drops what is zero.
  const { zone: again } = parsed(await ask('GET', `/${id}`), 200, One)
  const pythons = (time: unknown) => String(time).replace('Z', '+00:00')
  const times = {
    created_at: pythons(again.created_at),
    updated_at: pythons(again.updated_at),
    snoozed_until: '2030-01-01T02:00:00+02:00',
  }
  expect(await patch(id, { ...again, ...times })).toMatchObject({
    snoozed_until: '2030-01-01T00:00:00.000Z',
  })
})

test('what only the service sets is not changed in silence', async () => {
  const { id } = await create(place)
  const changed = {
    id: me.user_id,
    owner_id: me.user_id,
    version: 7,
    created_at: '2026-01-01T00:00:00Z',
  }
  const errors = refusal(await ask('PATCH', `/${id}`, { ...changed, label: 'Mine' }))
  expect(errors.map(({ path, code }) => [path, code])).toEqual([
    ['id', 'read_only'],
    ['version', 'read_only'],
    ['created_at', 'read_only'],
  ])
  expect(errors[1]?.message).toBe(
    'version is read-only: it is 1, not 7. Leave it out, or read it again.',
  )
  expect(parsed(await ask('GET', `/${id}`), 200, One).zone).toMatchObject({ label: place.label })
})

test('two people edit a zone: who comes second is told so, and overwrites nothing', async () => {
  const { id, version } = await create(place)
  const mine = { 'If-Match': String(version) }
  expect((await ask('PATCH', `/${id}`, { min_severity: 50 }, mine)).status).toBe(200)
  const late = await ask('PATCH', `/${id}`, { min_severity: 10 }, { 'If-Match': `"${version}"` })
  expect(late).toMatchObject({
    status: 412,
    body: { code: 'version_mismatch', detail: expect.stringContaining('This is version 2, not 1') },
  })
  expect((await ask('DELETE', `/${id}`, undefined, mine)).status).toBe(412)
  expect(parsed(await ask('GET', `/${id}`), 200, One).zone).toMatchObject({ min_severity: 50 })
  expect((await ask('PATCH', `/${id}`, { label: 'x' }, { 'If-Match': 'soon' })).status).toBe(400)
  expect((await ask('DELETE', `/${id}`, undefined, { 'If-Match': '2' })).status).toBe(204)
})

test('mistakes are told as a person would tell them', async () => {
  const body = {
    lat: 'north',
    lon: 181,
    match: 'inside',
    quiet_hours_start: '7:00',
    types: [],
    snoozed_until: 'tomorrow',
    polygon: { type: 'Line' },
  }
  const errors = refusal(await ask('POST', '', body))
  expect(errors.map(({ path, message }) => `${path}: ${message}`)).toEqual([
    'label: Required.',
    'lat: Must be a number.',
    'lon: Must be at most 180.',
    'polygon.type: Must be one of "Polygon", "MultiPolygon", "Feature", "FeatureCollection".',
    'match: Must be one of "point", "footprint".',
    'quiet_hours_start: "7:00": use HH:MM, as in 07:00.',
    'types: Must not be empty.',
    'snoozed_until: Must be a time in ISO 8601 with Z or an offset, as in 2026-03-01T12:00:00Z or 2026-03-01T14:00:00+02:00.',
  ])
})

test('all mistakes of a kind are told together: of the fields, of what they mean together, of what they name', async () => {
  const across = { quiet_hours_start: '22:00', shape_type: 'polygon' }
  const named = { org_id: me.user_id, channel_ids: [me.user_id] }
  const pathsOf = async (body: object) =>
    refusal(await ask('POST', '', body)).map(({ path }) => path)
  expect(await pathsOf({ ...place, ...named, ...across, lat: 91, types: [] })).toEqual([
    'lat',
    'types',
  ])
  expect(await pathsOf({ ...place, ...named, ...across })).toEqual(['quiet_hours_end', 'polygon'])
  expect(await pathsOf({ ...place, ...named })).toEqual(['channel_ids.0', 'org_id'])
})
