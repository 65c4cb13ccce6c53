import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createService, type Person, parsed, type Service } from '../support/service.ts'

let service: Service
let person: Person
beforeAll(async () => {
  service = await createService()
  person = await service.person()
})
afterAll(() => service?.close())

const One = z.object({ zone: z.looseObject({ id: z.string(), version: z.int() }) })
const ask = (method: string, path: string, body?: object) =>
  service.request(method, `/api/v1/zones${path}`, { key: person.key, body })
const draw = async (body: object) => parsed(await ask('POST', '', body), 201, One).zone.id

/** A ring of many vertices, the first of them moved a little each time. */
function ring(vertices: number, moved = 0) {
  const points = Array.from({ length: vertices }, (_, at) => {
    const angle = (2 * Math.PI * at) / vertices
    const r = 1 + (at === 0 ? moved / 1e6 : 0)
    return [29 + r * Math.cos(angle), 41 + r * Math.sin(angle)]
  })
  return { type: 'Polygon', coordinates: [[...points, points[0]]] }
}

/** What the history of a zone takes: every byte of every row, as it is stored. */
async function kept(zoneId: string) {
  const [row] = await service.database.query<{ versions: number; bytes: number }>(
    `select (select count(*)::int from watchpost.zone_versions where zone_id = $1) as versions,
      (select coalesce(sum(pg_column_size(v.*)), 0)::int from watchpost.zone_versions v where zone_id = $1)
      + (select coalesce(sum(pg_column_size(s.*)), 0)::int from watchpost.zone_shapes s where zone_id = $1)
      as bytes`,
    [zoneId],
  )
  return z.object({ versions: z.int(), bytes: z.int() }).parse(row)
}

test('thirty changes of a large zone keep its shape once', async () => {
  const id = await draw({
    label: 'Large',
    shape_type: 'polygon',
    lat: 41,
    lon: 29,
    polygon: ring(9_900),
  })
  const once = (await kept(id)).bytes
  for (let at = 0; at < 30; at++) {
    expect((await ask('PATCH', `/${id}`, { min_severity: at / 2 })).status).toBe(200)
  }
  const { versions, bytes } = await kept(id)
  expect(versions).toBe(31)
  expect(bytes - once).toBeLessThan(30 * 1500)
  const [table] = await service.database.query<{ size: number }>(
    `select (pg_total_relation_size('watchpost.zone_versions') + pg_total_relation_size('watchpost.zone_shapes'))::int as size`,
  )
  expect(table?.size).toBeLessThan(1_500_000)
}, 60_000)

test('a hundred shapes of a large zone are refused with the reason, and deleting is not', async () => {
  const id = await draw({
    label: 'Moved',
    shape_type: 'polygon',
    lat: 41,
    lon: 29,
    polygon: ring(9_900),
  })
  const answers = []
  for (let at = 1; at <= 100; at++) {
    answers.push(await ask('PATCH', `/${id}`, { polygon: ring(9_900, at) }))
    if (at > 30 && answers.at(-1)?.status === 409) break
  }
  const refused = answers.find(({ status }) => status === 409)
  expect(refused?.body).toMatchObject({
    code: 'conflict',
    detail: expect.stringMatching(/4 MiB of shapes.*100 days/),
  })
  expect(answers[0]?.status).toBe(200)
  expect((await kept(id)).bytes).toBeLessThan(4.3 * 1024 * 1024)
  // What is refused leaves nothing behind; what keeps the shape goes on.
  expect((await ask('PATCH', `/${id}`, { enabled: false })).status).toBe(200)
  expect((await ask('DELETE', `/${id}`)).status).toBe(204)
}, 120_000)

test('no zone has more than 500 versions, and at the limit it can still be deleted', async () => {
  const id = await draw({ label: 'Busy', lat: 41, lon: 29 })
  await service.database.query(
    `update watchpost.zone_versions set ended_at = now() where zone_id = $1`,
    [id],
  )
  await service.database.query(
    `insert into watchpost.zone_versions (zone_id, version, definition, ended_at)
    select $1, -n, '{}', now() from generate_series(1, 499) n`,
    [id],
  )
  const refused = await ask('PATCH', `/${id}`, { min_severity: 7 })
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('500 versions')])
  expect((await ask('DELETE', `/${id}`)).status).toBe(204)
  expect((await ask('POST', `/${id}/restore`)).status).toBe(409)
})

test('a change that changes nothing makes no version', async () => {
  const body = { label: 'Still', shape_type: 'polygon', lat: 41, lon: 29, polygon: ring(50) }
  const id = await draw({ ...body, snoozed_until: '2030-01-01T00:00:00Z', types: ['storm'] })
  const { zone } = parsed(await ask('GET', `/${id}`), 200, One)
  const { label, polygon, snoozed_until, types } = zone
  for (const patch of [{}, { label }, { polygon }, { label, polygon, snoozed_until, types }]) {
    expect((await ask('PATCH', `/${id}`, patch)).body).toMatchObject({ zone: { version: 1 } })
  }
  expect((await kept(id)).versions).toBe(1)
})

test('the same shape drawn by somebody else is theirs alone: nobody learns that it is there', async () => {
  const polygon = ring(60)
  const body = { label: 'Same', shape_type: 'polygon', lat: 41, lon: 29, polygon }
  const mine = await draw(body)
  const stranger = await service.person()
  const theirs = await service.request('POST', '/api/v1/zones', { key: stranger.key, body })
  const { id } = parsed(theirs, 201, One).zone
  const rows = await service.database.query(
    `select zone_id from watchpost.zone_shapes where hash = (
      select hash from watchpost.zone_shapes where zone_id = $1) order by zone_id`,
    [mine],
  )
  expect(rows).toEqual([mine, id].sort().map((zone_id) => ({ zone_id })))
  const seen = await service.queryAs(
    stranger.key,
    'select from watchpost.zone_shapes where zone_id = $1',
    [mine],
    'rollback',
  )
  expect(seen).toBe(0)
})
