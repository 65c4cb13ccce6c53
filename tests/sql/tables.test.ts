import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultsOf, takenByChecks } from '../support/catalogue.ts'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(() => db.drop())

/** Every reference of our tables to another, and what the end of the other does to it. */
const REFERENCES = `
  select c.conrelid::regclass || ' (' || string_agg(a.attname, ', ' order by k.nr) || ') → '
      || c.confrelid::regclass as reference,
    c.confdeltype::text as what
  from pg_constraint c
  cross join unnest(c.conkey) with ordinality as k (attnum, nr)
  join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.attnum
  where c.contype = 'f' and c.conparentid = 0
    and c.connamespace in ('watchpost'::regnamespace, 'private'::regnamespace)
  group by c.oid, c.conrelid, c.confrelid, c.confdeltype
  order by 1`

/** What stays when the other ends, without its name: whose the row is says another column. */
const FORGETS = [
  'watchpost.alerts (org_id) → watchpost.organisations',
  'watchpost.alerts (resolved_by) → watchpost.accounts',
  'watchpost.alerts (seen_by) → watchpost.accounts',
  'watchpost.alerts (seen_channel_id) → watchpost.channels',
  'watchpost.channel_troubles (told_through) → watchpost.channels',
  'watchpost.channels (org_id) → watchpost.organisations',
  'watchpost.deliveries (digest_id) → watchpost.deliveries',
  'watchpost.deliveries (redelivery_of) → watchpost.deliveries',
  'watchpost.drills (created_by) → watchpost.accounts',
  'watchpost.event_revisions (batch_id) → watchpost.batches',
  'watchpost.events (org_id) → watchpost.organisations',
  'watchpost.members (invited_by) → watchpost.accounts',
  'watchpost.zones (org_id) → watchpost.organisations',
]
/** What cannot end while it is named. */
const KEEPS = [
  'watchpost.batches (source) → watchpost.sources',
  'watchpost.blindness (source) → watchpost.sources',
  'watchpost.evidence (kid) → watchpost.evidence_keys',
  'watchpost.source_hours (source) → watchpost.sources',
  'watchpost.zone_versions (zone_id, shape_hash) → watchpost.zone_shapes',
]

test('a row goes with what it belongs to, and nothing else forbids the end of anything', async () => {
  const rows = await db.query<{ reference: string; what: string }>(REFERENCES)
  const of = (what: string) => rows.filter((row) => row.what === what).map((row) => row.reference)
  expect(of('n')).toEqual(FORGETS)
  expect(of('a')).toEqual(KEEPS)
  const others = rows.filter(({ reference }) => ![...FORGETS, ...KEEPS].includes(reference))
  expect(others.length).toBeGreaterThan(30)
  expect(others.filter(({ what }) => what !== 'c')).toEqual([])
})

test('whatever belongs to an account can be left without a mark on others', async () => {
  // A reference that forgets must be able to: its column takes null, and no other forbids that.
  const rows = await db.query<{ name: string }>(`
    select c.conrelid::regclass || '.' || a.attname as name
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any(c.conkey)
    where c.contype = 'f' and c.confdeltype = 'n' and a.attnotnull
      and c.connamespace in ('watchpost'::regnamespace, 'private'::regnamespace)`)
  expect(rows).toEqual([])
})

test('every table has row-level security, for its owner too', async () => {
  const rows = await db.query<{ name: string; open: boolean }>(`
    select t.oid::regclass::text as name, not (relrowsecurity and relforcerowsecurity) as open
    from pg_class t
    where relkind in ('r', 'p')
      and relnamespace in ('watchpost'::regnamespace, 'private'::regnamespace)
    order by 1`)
  expect(rows.length).toBeGreaterThan(30)
  expect(rows.filter(({ open }) => open).map(({ name }) => name)).toEqual([])
})

test('nothing that a function sets outlasts its transaction: a connection serves others next', async () => {
  const rows = await db.query<{ name: string }>(`
    select p.oid::regprocedure::text as name
    from pg_proc p
    where p.pronamespace in ('watchpost'::regnamespace, 'private'::regnamespace)
      and p.prosrc ~ 'set_config\\([^;]*,\\s*false\\s*\\)'
    order by 1`)
  expect(rows).toEqual([])
})

test('every function with the rights of its owner finds what it names by the full name alone', async () => {
  const rows = await db.query<{ name: string; open: boolean }>(`
    select p.oid::regprocedure::text as name,
      not coalesce(p.proconfig, '{}') && array['search_path=""'] as open
    from pg_proc p
    where p.prosecdef
      and p.pronamespace in ('watchpost'::regnamespace, 'private'::regnamespace)
    order by 1`)
  expect(rows.length).toBeGreaterThan(50)
  expect(rows.filter(({ open }) => open).map(({ name }) => name)).toEqual([])
})

test('every check of a column takes what was agreed, at its edges', async () => {
  const lines = await takenByChecks(db.query, ['watchpost', 'private'])
  expect(lines.length).toBeGreaterThan(30)
  await expect(lines.join('')).toMatchFileSnapshot('golden/checks.txt')
})

test('what a column holds that is not given', async () => {
  const lines = await defaultsOf(db.query, ['watchpost', 'private'])
  expect(lines.length).toBeGreaterThan(100)
  await expect(lines.join('')).toMatchFileSnapshot('golden/defaults.txt')
})
