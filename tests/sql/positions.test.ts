import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database?.drop())

const query = (text: string, values: unknown[] = []) =>
  database.query<Record<string, unknown>>(text, values)

/** Positions that only pass, of one batch. */
const pass = (batch: string, ...ids: string[]) =>
  query(
    `insert into watchpost.passing_positions (
      event_id, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, extent)
    select id, $1, now(), 'test', 'vessel', 'AURORA', 60, 25, '2026-01-01', 0, 'mmsi:1', 'active', box '(25,60),(25,60)'
    from unnest($2::text[]) as id`,
    [batch, ids],
  )
const idsIn = async (table: string) =>
  (await query(`select event_id from watchpost.${table} order by 1`)).map(
    ({ event_id }) => event_id,
  )

test('of passing positions those of matched batches go, but for those that decided something; they are no samples', async () => {
  const [one, two, other] = [randomUUID(), randomUUID(), randomUUID()]
  await pass(one, 'a', 'b', 'c')
  await pass(two, 'd', 'e')
  await pass(other, 'f')
  const [gone] = await query('select private.thin_positions($1, $2) as count', [
    [one, two],
    ['b', 'e', 'f', 'unknown'],
  ])
  expect(gone).toEqual({ count: 3 })
  expect(await idsIn('passing_positions')).toEqual(['f'])
  expect(
    await query('select event_id, batch_id, is_sample from watchpost.positions order by 1'),
  ).toEqual([
    { event_id: 'b', batch_id: one, is_sample: false },
    { event_id: 'e', batch_id: two, is_sample: false },
  ])
  // Told once more after a crash, nothing is kept twice.
  await pass(one, 'b')
  await query('select private.thin_positions($1, $2)', [[one], ['b']])
  expect(await idsIn('positions')).toEqual(['b', 'e'])
})

test('a position that is told once more is kept once, also after its subject was forgotten', async () => {
  await query('delete from watchpost.positions')
  await query(`insert into watchpost.sources (source, title, attribution, types, interval_seconds)
    values ('ais', '', '', '{vessel}', 60)`)
  const tell = (id: string, seconds: number) =>
    query(
      `select * from private.ingest_events('ais', jsonb_build_array(jsonb_build_object(
        'id', $1::text, 'type', 'vessel', 'title', 'AURORA', 'lat', 60, 'lon', 25, 'severity', 0, 'status', 'active',
        'ts', to_char(date_trunc('hour', now() at time zone 'UTC') + $2 * interval '1 s', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        'subject', 'mmsi:1', 'box', '[25, 60, 25, 60]'::jsonb)))`,
      [id, seconds],
    )
  await tell('ais:1', 0)
  await tell('ais:2', 1)
  await query(`update watchpost.subjects set event_id = 'ais:1', ts = ts - interval '1 s'`)
  await tell('ais:2', 1)
  await query('delete from watchpost.subjects')
  await tell('ais:1', 0)
  expect(await idsIn('positions')).toEqual(['ais:1'])
  expect(new Set(await idsIn('passing_positions'))).toEqual(new Set(['ais:2', 'f']))
})
