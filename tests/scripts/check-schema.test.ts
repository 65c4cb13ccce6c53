import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrate } from '../../scripts/postgres/migrate.ts'
import type { StartedPostgres } from '../../scripts/postgres/postgres.ts'
import { startThrowawayPostgres } from '../../scripts/postgres/throwaway.ts'
import { type Catalogue, compareCatalogues, readCatalogue } from '../../scripts/schema/catalogue.ts'
import { migrateLikeSupabase, withClient } from '../../scripts/schema/schema.ts'
import { brokenRules } from '../../scripts/schema/schema-rules.ts'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'

let database: TestDatabase
let before: Catalogue

beforeAll(async () => {
  database = await createTestDatabase()
  before = await withClient(database.adminUrl, readCatalogue)
})

afterAll(() => database.drop())

/** Begins a transaction with a change; a role may be altered by another test file at the same time. */
async function begin(client: pg.Client, change: string, tries = 1): Promise<void> {
  await client.query('begin')
  try {
    await client.query(change)
  } catch (error) {
    await client.query('rollback')
    if (!String(error).includes('tuple concurrently updated') || tries === 20) throw error
    await begin(client, change, tries + 1)
  }
}

/** What a change makes different; the change is undone. */
async function differencesAfter(change: string) {
  return withClient(database.adminUrl, async (client) => {
    await begin(client, change)
    const after = await readCatalogue(client)
    await client.query('rollback')
    return compareCatalogues(
      { name: 'before', catalogue: before },
      { name: 'after', catalogue: after },
    )
  })
}

async function rulesBrokenBy(change: string) {
  return withClient(database.adminUrl, async (client) => {
    await client.query('begin')
    const known = await brokenRules(client)
    await client.query(change)
    const broken = await brokenRules(client)
    await client.query('rollback')
    return broken.filter((line) => !known.includes(line))
  })
}

describe('the catalogue', () => {
  test('is the same when nothing changed', async () => {
    expect(await differencesAfter('select 1')).toEqual([])
  })

  test.each([
    ['policy', 'alter policy zones_select on watchpost.zones using (false)'],
    ['relation', 'grant select on watchpost.zones to anon'],
    ['relation', 'alter table watchpost.zones no force row level security'],
    ['relation', 'alter table watchpost.zones owner to postgres'],
    ['column', 'grant update (created_at) on watchpost.zones to authenticated'],
    ['column', 'alter table watchpost.zones alter label drop not null'],
    ['column', 'alter table watchpost.zones alter version set default 7'],
    ['column', 'alter table watchpost.zones add later text'],
    ['comment', `comment on table watchpost.zones is 'Something else.'`],
    ['constraint', 'alter table watchpost.zones add constraint later check (true) not valid'],
    ['index', 'create index later on watchpost.zones (version)'],
    ['function', 'grant execute on function private.uid() to public'],
    ['function', 'alter function private.uid() security definer'],
    ['function', 'alter function private.uid() volatile'],
    ['schema', 'grant usage on schema private to anon'],
    [
      'default privileges',
      'alter default privileges in schema watchpost grant select on tables to anon',
    ],
    ['trigger', 'alter table watchpost.zones disable trigger user'],
    ['rule', 'create view private.later as select 1 as one'],
    ['type', `create type private.later as enum ('a')`],
    ['sequence', 'create sequence private.later'],
    ['role', 'alter role watchpost_api inherit'],
    ['membership', 'grant service_role to watchpost_api'],
    ['setting', `alter role watchpost_jobs set work_mem = '1MB'`],
    ['contents', `update pgboss.queue set retry_limit = 7 where name = 'match'`],
  ])('shows a changed %s: %s', async (kind, change) => {
    const differences = await differencesAfter(change)
    expect(differences.filter((line) => line.startsWith(`${kind} `))).not.toEqual([])
  })

  test('says which side has what', () => {
    const left = {
      name: 'sql/',
      catalogue: new Map([
        ['a', 'same\nold'],
        ['b', 'x'],
      ]),
    }
    const right = {
      name: 'migrations',
      catalogue: new Map([
        ['a', 'same\nnew'],
        ['c', 'y'],
      ]),
    }
    expect(compareCatalogues(left, right)).toEqual([
      'a\n  sql/: old\n  migrations: new',
      'b\n  only in sql/: x',
      'c\n  only in migrations: y',
    ])
  })
})

describe('the rules', () => {
  test.each([
    ['row-level security off', 'alter table watchpost.zones disable row level security'],
    ['not forced', 'alter table watchpost.zones no force row level security'],
    ['using (true)', 'create policy later on watchpost.zones to authenticated using (true)'],
    ['without with check', 'create policy later on watchpost.zones for update using (version = 1)'],
    ['neither authenticated', 'create policy later on watchpost.zones using (version = 1)'],
    [
      'foreign key without an index',
      'alter table watchpost.zones add later uuid references watchpost.accounts',
    ],
    [
      'search_path of its own',
      `create function private.later() returns int language sql as 'select 1'`,
    ],
    ['may execute', 'grant execute on function private.uid() to public'],
    ['is not listed', 'alter function private.uid() security definer'],
    ['security_invoker', 'create view watchpost.later as select id from watchpost.zones'],
    ['anon may touch', 'grant select on watchpost.zones to anon'],
    ['whose every column', 'grant update on watchpost.zones to authenticated'],
    ['fixed column', 'grant update (owner_id) on watchpost.zones to authenticated'],
    ['without BYPASSRLS', 'alter table watchpost.zones owner to watchpost_jobs'],
    ['without a comment', 'comment on table watchpost.zones is null'],
    ['may write deliveries', 'grant update (status) on watchpost.deliveries to watchpost_jobs'],
    [
      'writes deliveries',
      `create function private.later() returns void language plpgsql set search_path = '' as
      'begin update
        watchpost.deliveries d set attempts = 0; end'`,
    ],
  ])('%s: broken by %s', async (sentence, change) => {
    const broken = await rulesBrokenBy(change)
    expect(broken.filter((line) => line.includes(sentence))).not.toEqual([])
  })

  test('an exception that no longer applies is reported', async () => {
    const broken = await withClient(database.adminUrl, (client) =>
      brokenRules(client, { 'private.gone()': 'once needed' }),
    )
    expect(broken).toContain(
      'private.gone() is listed as a SECURITY DEFINER function for callers, but is none',
    )
  })
})

describe('on Supabase, whose role makes roles but is no superuser', () => {
  let plain: StartedPostgres
  let supabase: StartedPostgres

  beforeAll(async () => {
    ;[plain, supabase] = await Promise.all([startThrowawayPostgres(), startThrowawayPostgres()])
  })

  afterAll(() => Promise.all([plain, supabase].map((server) => server?.stop())))

  test('the migration runs, and makes the same tables, policies, grants and functions', async () => {
    const url = await migrateLikeSupabase(supabase.adminUrl)
    await migrate(plain.adminUrl)
    const [there, here] = await Promise.all([
      withClient(url, readCatalogue),
      withClient(plain.adminUrl, readCatalogue),
    ])
    // Who deletes people from auth.users is the migrating role itself, whatever its name.
    const ours = (catalogue: Catalogue): Catalogue =>
      new Map(
        [...catalogue]
          .filter(([key]) => / (on )?\S*\b(watchpost|private)\b/.test(key))
          .map(([key, fact]) => [key, fact.replaceAll('supabase_like', 'postgres')]),
      )
    expect(ours(here).size).toBeGreaterThan(300)
    const differences = compareCatalogues(
      { name: 'plain', catalogue: ours(here) },
      { name: 'supabase', catalogue: ours(there) },
    )
    expect(differences).toEqual([])
  })
})
