import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await database.query(`insert into watchpost.sources (source, title, attribution, types, interval_seconds)
    values ('one', '', '', '{}', 60), ('two', '', '', '{}', 60)`)
})
beforeEach(() => database.query('delete from watchpost.batches'))
afterAll(() => database?.drop())

async function batch({ source = 'one', size = 1 } = {}): Promise<string> {
  const id = randomUUID()
  await database.query('insert into watchpost.batches (id, source, size) values ($1, $2, $3)', [
    id,
    source,
    size,
  ])
  return id
}
const next = async (source = 'one') => {
  const [row] = await database.query<{ ids: string[] }>('select private.next_batches($1) as ids', [
    source,
  ])
  return row?.ids
}
/** Zones up to this one were matched, and then the process may have died. */
const pass = (ids: string[], zone: string) =>
  database.query('select private.pass_batches($1, $2, $3)', [ids, zone, ['a']])

test('those of a source are matched together in the order of their arrival, up to 500 events', async () => {
  await batch({ source: 'two' })
  const ids = [await batch({ size: 200 }), await batch({ size: 300 }), await batch()]
  expect(await next()).toEqual(ids.slice(0, 2))
  await database.query('update watchpost.batches set matched_at = now() where id = any($1)', [
    ids.slice(0, 2),
  ])
  expect(await next()).toEqual(ids.slice(2))
  expect(await next('three')).toEqual([])
})

test('not more than 50 are matched together', async () => {
  for (let nr = 0; nr < 51; nr += 1) await batch()
  expect(await next()).toHaveLength(50)
})

test('one that tells of the same event or subject as one before it waits for that', async () => {
  const place = `1, 1, box '(1,1),(1,1)'`
  const revision = (id: string, batch_id: string) =>
    database.query(
      `insert into watchpost.event_revisions (event_id, revision, batch_id, first_seen_at, source, type, title, ts,
        severity, status, lon, lat, extent)
      select $1, count(*) + 1, $2, now(), 'one', 'other', '', now(), 1, 'active', ${place}
      from watchpost.event_revisions where event_id = $1`,
      [id, batch_id],
    )
  const position = (table: string, subject: string, batch_id: string) =>
    database.query(
      `insert into watchpost.${table} (event_id, batch_id, first_seen_at, source, type, title, ts, severity, subject,
        status, lon, lat, extent)
      values ($1, $2, now(), 'one', 'vessel', '', '2026-01-01', 0, $3, 'active', ${place})`,
      [randomUUID(), batch_id, subject],
    )
  const ids = [await batch(), await batch(), await batch(), await batch()]
  const [first = '', second = '', third = ''] = ids
  await revision('one:x', first)
  await revision('one:y', second)
  await position('positions', 'ship', third)
  expect(await next()).toEqual(ids)
  await position('passing_positions', 'ship', third)
  expect(await next()).toEqual(ids)
  await position('passing_positions', 'ship', second)
  expect(await next()).toEqual(ids.slice(0, 2))
  await revision('one:x', second)
  expect(await next()).toEqual(ids.slice(0, 1))
  await database.query('delete from watchpost.positions')
  await database.query('delete from watchpost.passing_positions')
})

test('one that is larger than that is matched alone', async () => {
  const [large] = [await batch({ size: 501 }), await batch()]
  expect(await next()).toEqual([large])
})

test('those that were begun are ended before others join: these were not matched with the zones before', async () => {
  const begun = [await batch(), await batch()]
  await pass(begun, randomUUID())
  await batch()
  expect(await next()).toEqual(begun)
})

test('what was decisive in the zones before is kept with what is in the last ones', async () => {
  const ids = [await batch(), await batch()]
  await database.query(
    `insert into watchpost.passing_positions (
      event_id, batch_id, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, extent)
    select id, $1, now(), 'one', 'vessel', '', 0, 0, '2026-01-01', 0, id, 'active', box '(0,0),(0,0)'
    from unnest(array['a', 'b', 'c']) as id`,
    [ids[1]],
  )
  await pass(ids, randomUUID())
  const [ended] = await database.query('select private.end_batches($1, $2) as thinned', [
    ids,
    ['b'],
  ])
  expect(ended).toEqual({ thinned: 1 })
  expect(await database.query('select event_id from watchpost.positions order by 1')).toEqual([
    { event_id: 'a' },
    { event_id: 'b' },
  ])
  expect(await next()).toEqual([])
})

test('an event of an account or organisation is revised by that one alone', async () => {
  const [one, two, org] = [randomUUID(), randomUUID(), randomUUID()]
  await database.query(`insert into watchpost.accounts (user_id, email) values ('${one}', 'a'), ('${two}', 'b');
    insert into watchpost.organisations (id, name) values ('${org}', 'o');
    insert into watchpost.sources (source, title, attribution, types, interval_seconds)
    values ('custom', '', '', '{}', 60)`)
  const tell = async (title: string, owner: string | null, of: string | null = null) => {
    const [told] = await database.query<{ inserted: number; revised: number }>(
      `select inserted, revised from private.ingest_events('custom:a', jsonb_build_array(jsonb_build_object(
        'id', 'custom:a:1', 'type', 'other', 'title', $1::text, 'lat', 1, 'lon', 1, 'ts', '2026-01-01T00:00:00Z',
        'severity', 1, 'status', 'active', 'box', '[1, 1, 1, 1]'::jsonb)), false, $2, $3)`,
      [title, owner, of],
    )
    return told
  }
  const none = { inserted: 0, revised: 0 }
  expect(await tell('first', one)).toEqual({ inserted: 1, revised: 0 })
  expect(await tell('other', two)).toEqual(none)
  expect(await tell('other', one, org)).toEqual(none)
  expect(await tell('other', null)).toEqual(none)
  expect(await tell('second', one)).toEqual({ inserted: 0, revised: 1 })
  const rows = await database.query('select title, revision from watchpost.events')
  expect(rows).toEqual([{ title: 'second', revision: 2 }])
})

test('the health of a source counts what is younger than a day, and how late it came', async () => {
  await database.query('delete from watchpost.events')
  const event = (id: string, age: string, late: string, source = 'one') =>
    `insert into watchpost.events (id, source, type, title, ts, first_seen_at, severity, status, lon, lat, extent)
    select '${id}', '${source}', 'other', '', t, t + interval '${late}', 1, 'active', 1, 1, box '(1,1),(1,1)'
    from (select now() - interval '${age}' as t) x;`
  const hour = (source: string, age: string, reason: string) =>
    `insert into watchpost.source_hours (source, hour, items, rejected, reason)
    values ('${source}', now() - interval '${age}', 3, 1, ${reason});`
  await database.query(
    [
      event('one:a', '1 h', '10 s'),
      event('one:b', '1 h', '30 s'),
      event('one:early', '1 h', '-1 h'),
      event('one:old', '25 h', '900 s'),
      event('two:a', '1 h', '500 s', 'two'),
      hour('one', '1 h', 'null'),
      hour('one', '2 h', `'new'`),
      hour('one', '3 h', `'former'`),
      hour('one', '25 h', `'old'`),
      hour('two', '1 h', `'other'`),
    ].join(''),
  )
  const rows =
    await database.query(`select source, events_24h::int, latency_p50, latency_p95::int, items_24h::int,
    rejected_24h::int, rejected_reason from private.sources_health() where source in ('one', 'two', 'custom')`)
  expect(rows).toEqual([
    {
      ...{ source: 'one', events_24h: 3, latency_p50: 20, latency_p95: 29, items_24h: 9 },
      ...{ rejected_24h: 3, rejected_reason: 'new' },
    },
    {
      ...{ source: 'two', events_24h: 1, latency_p50: 500, latency_p95: 500, items_24h: 3 },
      ...{ rejected_24h: 1, rejected_reason: 'other' },
    },
  ])
})

test('a strong earthquake is remembered as it changes, and no weaker one', async () => {
  const told = (id: string, revision: number, magnitude: number, more: object = {}) => {
    const { type, status, tenant } = { type: 'earthquake', status: 'active', tenant: null, ...more }
    return database.query(
      `insert into watchpost.event_revisions (event_id, revision, first_seen_at, source, type, title, ts, severity,
        status, lon, lat, extent, magnitude, tenant_id)
      values ($1, $2, now(), 'one', $4, '', '2026-01-01', 1, $5, 1, 1, box '(1,1),(1,1)', $3, $6)`,
      [id, revision, magnitude, type, status, tenant],
    )
  }
  await told('weak', 1, 5.4)
  await told('strong', 1, 5.5)
  await told('weaker', 1, 5.4)
  await told('blast', 1, 6, { type: 'volcano' })
  await told('own', 1, 6, { tenant: randomUUID() })
  await told('mistake', 1, 6)
  await told('mistake', 2, 6, { status: 'retracted' })
  await told('strong', 2, 5.5)
  await told('great', 1, 5.5)
  await told('great', 2, 5.4)
  const rows = await database.query<{ text: string }>(
    `select concat_ws(' ', event_id, magnitude, counts) as text from watchpost.mainshocks order by first_seen_at`,
  )
  expect(rows.map(({ text }) => text)).toEqual([
    'strong 5.5 t',
    'mistake 6 t',
    'mistake 6 f',
    'great 5.5 t',
    'great 5.4 f',
  ])
})

test('feeds are well as long as one that is on is', async () => {
  const reasons = async (one: string, two: string) => {
    await database.query(`update watchpost.sources set enabled = false;
      update watchpost.sources set last_success_at = now(), last_event_at = null, enabled = true
      where source in ('one', 'two');
      update watchpost.sources set ${one} where source = 'one';
      update watchpost.sources set ${two} where source = 'two'`)
    const [row] = await database.query<{ count: number }>(
      'select cardinality(private.unwell_reasons()) as count',
    )
    return row?.count
  }
  const [well, ill] = ['paused_at = null', `last_success_at = now() - interval '1 day'`]
  expect(await reasons(well, ill)).toBe(0)
  expect(await reasons(ill, ill)).toBe(1)
  expect(await reasons('enabled = false', ill)).toBe(1)
  expect(await reasons(`paused_at = now(), paused_reason = 'x'`, ill)).toBe(1)
  expect(await reasons('enabled = false', 'enabled = false')).toBe(0)
})

test('a job that exists is not made again', async () => {
  const id = randomUUID()
  for (const name of ['first', 'second']) {
    await database.query('select private.enqueue($1, $2, jsonb_build_object($3::text, 1))', [
      ...['match', id, name],
    ])
  }
  expect(await database.query('select data from pgboss.job where id = $1', [id])).toEqual([
    { data: { first: 1 } },
  ])
})
