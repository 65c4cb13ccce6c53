import { afterAll, beforeAll, expect, test } from 'vitest'
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
