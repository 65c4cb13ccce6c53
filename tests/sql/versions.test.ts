import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPool, inTransaction } from '../../functions/db.ts'
import { loadZones } from '../../functions/jobs/zone-cache.ts'
import { prepareZone } from '../../shared/geometry/geometry.ts'
import { parseZoneVersion } from '../../shared/schemas/zone-version.ts'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'
import { createWorld } from './world.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await createWorld(database)
})
afterAll(() => database?.drop())

test('a version has the shape that its own zone had then, whoever else has drawn the same', async () => {
  await database.query(`begin; set local session_replication_role = replica;
    insert into watchpost.zone_shapes (zone_id, hash, polygon, bytes)
    select id, sha256('another'), '{"tag": "another"}', 1 from watchpost.zones where label = 'shared';
    insert into watchpost.zone_versions (zone_id, version, definition, shape_hash)
    select id, 2, to_jsonb(z), sha256('another') from watchpost.zones z where label = 'shared';
    insert into watchpost.zone_versions (zone_id, version, definition)
    select id, 3, to_jsonb(z) from watchpost.zones z where label = 'shared';
    commit`)
  const versions = await database.query(
    `select v.definition ->> 'label' as label, v.version, private.version_definition(v) #> '{polygon,tag}' as shape
    from watchpost.zone_versions v order by 1, 2`,
  )
  expect(versions).toEqual([
    { label: 'foreign', version: 1, shape: 'foreign' },
    { label: 'private', version: 1, shape: 'private' },
    { label: 'shared', version: 1, shape: 'shared' },
    { label: 'shared', version: 2, shape: 'another' },
    { label: 'shared', version: 3, shape: null },
  ])
})

test('matching puts versions together as private.version_definition does', async () => {
  await database.query(`begin; set local session_replication_role = replica;
    delete from watchpost.zone_versions using watchpost.zones z where z.id = zone_id and z.label = 'private';
    insert into watchpost.zone_shapes (zone_id, hash, polygon, bytes)
    select id, sha256('square'), '{"type": "Polygon", "coordinates": [[[1, 1], [3, 1], [3, 3], [1, 3], [1, 1]]]}', 1
    from watchpost.zones where label = 'private';
    insert into watchpost.zone_versions (zone_id, version, definition, shape_hash, valid_from)
    select z.id, given.version, private.zone_definition(z) - 'polygon' || given.change, given.hash, given.at::timestamptz
    from watchpost.zones z cross join (values
      (1, jsonb '{"lat": null, "lon": null, "radius_km": null}', sha256('square'), '2026-01-01'),
      (2, '{"lat": 2, "lon": 2, "radius_km": 50, "snoozed_until": "2026-02-01T00:00:00+00:00"}', null, '2026-01-02')
    ) as given (version, change, hash, at) where z.label = 'private';
    update watchpost.zones set version = 2 where label = 'private';
    commit`)
  const rows = await database.query<{ zone_id: string; version: number; definition: object }>(
    `select v.zone_id, v.version, private.version_definition(v) as definition
    from watchpost.zone_versions v join watchpost.zones z on z.id = v.zone_id
    where z.label = 'private' order by v.version desc`,
  )
  const expected = rows.map(({ zone_id: id, version, definition }) => {
    const fields = parseZoneVersion(definition)
    const { owner_id, deleted_at, enabled, label } = fields
    const owned = { owner_id, deleted_at, enabled }
    return { id, version, label, prepared: prepareZone(fields), owned }
  })
  const candidates = [
    { zone_ids: [rows[0]?.zone_id ?? ''], first_seen_at: '2026-01-01T00:00:00.000Z' },
  ]
  const db = createPool({ url: database.jobsUrl, max: 1 })
  try {
    await inTransaction(db, async (sql) => {
      expect((await loadZones(sql, candidates, new Date())).all).toEqual(expected.slice(0, 1))
      expect((await loadZones(sql, candidates)).all.toSorted(newestFirst)).toEqual(expected)
    })
  } finally {
    await db.end()
  }
})
const newestFirst = (a: { version: number }, b: { version: number }) => b.version - a.version

describe('versions in which nothing was seen', () => {
  /** Versions of the private zone that ended so many minutes ago, the last of which goes on; those that are left when two are kept. */
  async function left(ended: number[], before = ''): Promise<number[]> {
    const client = new pg.Client({ connectionString: database.adminUrl })
    await client.connect()
    try {
      await client.query('begin; set local session_replication_role = replica')
      await client.query(
        `delete from watchpost.zone_versions; delete from watchpost.event_revisions; delete from watchpost.positions;
        delete from watchpost.alerts; delete from watchpost.zone_shapes;`,
      )
      await client.query(
        `insert into watchpost.zone_versions (zone_id, version, definition, valid_from, ended_at)
        select z.id, n, '{}', now() - make_interval(mins => ago + 1), nullif(now() - make_interval(mins => ago), now())
        from watchpost.zones z, unnest($1::int[]) with ordinality as given (ago, n) where z.label = 'private'`,
        [[...ended, 0]],
      )
      await client.query("update watchpost.zones set version = $1 where label = 'private'", [
        ended.length + 1,
      ])
      await client.query(before || 'select')
      await client.query('select private.purge_versions(100, 2)')
      const { rows } = await client.query('select version from watchpost.zone_versions order by 1')
      return rows.map(({ version }) => version)
    } finally {
      await client.end()
    }
  }
  const DAY = 24 * 60
  const seen = (minutes: number) =>
    `insert into watchpost.event_revisions (event_id, revision, first_seen_at, source, type, title, ts, severity, status, lon, lat, extent)
    values ('e', 1, date_trunc('milliseconds', now() - interval '${minutes} minutes'), 'test', 'other', '', now(), 1, 'active', 2, 1, box '(2,1),(2,1)')`

  const alerted = (name: string) =>
    `insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity, reason, first_reason,
      status, raised_at, checks, zone_version, event_revision)
    select id, '', owner_id, 'e', 'test', '{}', 50, '', '', 'recorded', now(), '[]', 1, 1
    from watchpost.zones where label = '${name}'`

  test.each([
    ['stay while an alert was raised by them', [400, 300, 200, 100], alerted('private'), [1, 4, 5]],
    ['go where one of another zone was', [400, 300, 200, 100], alerted('shared'), [4, 5]],
    ['go but for the last two', [400, 300, 200, 100], '', [4, 5]],
    ['stay for an hour, as one may still be seen in them', [62, 61, 60, 59], '', [3, 4, 5]],
    ['stay for an hour, also the older ones', [59, 58, 57, 56], '', [1, 2, 3, 4, 5]],
    ['go when decisions are explained no longer', [101 * DAY], '', [2]],
    ['stay while decisions are explained', [99 * DAY], '', [1, 2]],
    ['stay where something was seen', [400, 300, 200, 100], seen(400.5), [1, 4, 5]],
    ['stay where something was seen as they began', [400, 300, 200, 100], seen(401), [1, 4, 5]],
    ['go where something was seen as they ended', [400, 300, 200, 100], seen(400), [4, 5]],
  ])('%s', async (_, ended, before, expected) => {
    expect(await left(ended, before)).toEqual(expected)
  })
})
