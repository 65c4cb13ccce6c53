import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'
import { type Actor, createWorld, type World } from './world.ts'

let database: TestDatabase
let world: World
beforeAll(async () => {
  database = await createTestDatabase()
  world = await createWorld(database)
  // Beside those of now: the same ones seen a day later, and elsewhere before.
  await database.query(`begin; set local session_replication_role = replica;
    insert into watchpost.positions (event_id, first_seen_at, source, type, title, ts, severity, subject,
        status, lon, lat, extent, tenant_id)
      select event_id || '-later', now() + interval '1 day', source, type, title, ts + interval '1 second', severity,
        subject, status, lon, lat, extent, tenant_id
      from watchpost.positions;
    insert into watchpost.positions (event_id, first_seen_at, source, type, title, ts, severity, subject,
        status, lon, lat, extent, tenant_id)
      select event_id || '-before', now() - interval '1 day', source, type, title, ts - interval '1 hour', severity,
        subject, status, 80, 80, box '(80,80),(80,80)', tenant_id
      from watchpost.positions where first_seen_at <= now();
    update watchpost.account_states set valid_from = now() - interval '2 days';
    commit`)
})
afterAll(() => database?.drop())

/** What a preview reads for a zone of this owner: of the last hour, around the place where everything is. */
async function near(actor: Actor, { owner, org = null }: { owner: string; org?: string | null }) {
  const rows = await database.query<{ id: string }>(
    `select r.id from set_config('request.jwt.claims', $1, true) as claims
    cross join lateral private.revisions_near(array[box '(3,2),(1,0)'],
      now() - interval '1 hour', now() + interval '1 hour', $2, $3, 100) r
    where claims is not null`,
    [world.claims[actor], world.ids[owner], org && world.ids[org]],
  )
  return rows.map(({ id }) => id).sort()
}
const ofAll = (...tags: string[]) =>
  tags.flatMap((tag) => [`test:${tag}`, `test:p-${tag}`, `test:p-${tag}-before`]).sort()

test('a preview reads until the end of its window, of a subject what was before, and nothing of other tenants', async () => {
  expect(await near('owner', { owner: 'owner' })).toEqual(ofAll('public', 'private', 'shared'))
  expect(await near('stranger', { owner: 'stranger' })).toEqual(ofAll('public', 'foreign'))
})

test('a zone that is shared hears only what its organisation does, and a member sees no more than that', async () => {
  expect(await near('owner', { owner: 'owner', org: 'team' })).toEqual(ofAll('public', 'shared'))
  expect(await near('member', { owner: 'owner', org: 'team' })).toEqual(ofAll('public', 'shared'))
  expect(await near('member', { owner: 'owner' })).toEqual(ofAll('public', 'shared'))
  expect(await near('stranger', { owner: 'owner' })).toEqual(ofAll('public'))
})
