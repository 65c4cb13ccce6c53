import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { migrate, setLoginPasswords } from '../../scripts/postgres/migrate.ts'
import { applyStandIn } from '../../scripts/schema/schema.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/servers/database.ts'

let database: TestDatabase
let root: string

beforeEach(async () => {
  database = await createEmptyDatabase()
  root = await mkdtemp(join(tmpdir(), 'watchpost-migrate-'))
  await mkdir(join(root, 'sql/local'), { recursive: true })
  await mkdir(join(root, 'supabase/migrations'), { recursive: true })
  await write('sql/local/00_local.sql', 'create schema if not exists local_only')
  await write('supabase/migrations/20260101000000_first.sql', 'create table a (id int)')
})

afterEach(async () => {
  await database.drop()
  await rm(root, { recursive: true, force: true })
})

const write = (path: string, text: string) => writeFile(join(root, path), text)

async function recorded() {
  const rows = await database.query<{ version: string }>(
    'select version from supabase_migrations.schema_migrations order by version',
  )
  return rows.map((row) => row.version)
}

describe('migrate', () => {
  test('applies what is missing, once, in order', async () => {
    expect(await migrate(database.adminUrl, { root })).toEqual(['20260101000000'])
    await write('supabase/migrations/20260201000000_second.sql', 'alter table a add b int')
    expect(await migrate(database.adminUrl, { root })).toEqual(['20260201000000'])
    expect(await migrate(database.adminUrl, { root })).toEqual([])
    expect(await recorded()).toEqual(['20260101000000', '20260201000000'])
  })

  test('two starters at once apply each migration once', async () => {
    const both = await Promise.all([1, 2].map(() => migrate(database.adminUrl, { root })))
    expect(both.flat()).toEqual(['20260101000000'])
  })

  test('a migration that fails leaves nothing behind and names its line', async () => {
    const text = 'create table b (id int);\nselect 1;\ncreate table a (id int);'
    await write('supabase/migrations/20260201000000_second.sql', text)
    await expect(migrate(database.adminUrl, { root })).rejects.toThrow(
      /20260201000000_second\.sql.*relation "a" already exists/,
    )
    expect(await recorded()).toEqual(['20260101000000'])
    expect(await database.query(`select to_regclass('b') as b`)).toEqual([{ b: null }])
  })

  test('Supabase keeps its own auth schema: the stand-in is left out', async () => {
    await database.query('create schema auth')
    await database.query('create table auth.users (id uuid primary key)')
    await migrate(database.adminUrl, { root })
    const found = await database.query(`select to_regnamespace('local_only') as local`)
    expect(found).toEqual([{ local: null }])
  })

  test('outside Supabase the stand-in is brought up to date at every start', async () => {
    await migrate(database.adminUrl)
    await write('sql/local/10_more.sql', 'create schema if not exists local_later')
    await migrate(database.adminUrl, { root })
    const found = await database.query(`select to_regnamespace('local_later')::text as later`)
    expect(found).toEqual([{ later: 'local_later' }])
  })

  test('whoever signed up before has an account afterwards, but for the deleted', async () => {
    await applyStandIn(database.adminUrl)
    const ids = [1, 2, 3, 4].map((n) => `00000000-0000-4000-8000-00000000000${n}`)
    await database.query(
      `insert into auth.users (id, email, email_confirmed_at, deleted_at, banned_until, is_sso_user) values
        ($1, 'early@example.com', now(), null, null, false),
        ($2, 'early@example.com', now(), null, 'infinity', true),
        ($3, null, null, null, null, false),
        ($4, 'gone@example.com', now(), now(), null, false)`,
      ids,
    )
    await migrate(database.adminUrl)
    const accounts = await database.query(
      `select user_id, email, plan, confirmed_at is not null as confirmed, banned_until::text
      from watchpost.accounts order by user_id`,
    )
    const early = { email: 'early@example.com', plan: 'free', confirmed: true, banned_until: null }
    expect(accounts).toEqual([
      { ...early, user_id: ids[0] },
      { ...early, user_id: ids[1], banned_until: 'infinity' },
      { ...early, user_id: ids[2], email: ids[2], confirmed: false },
    ])
  })

  test('a file whose name says no version is refused', async () => {
    await write('supabase/migrations/fix.sql', 'select 1')
    await expect(migrate(database.adminUrl, { root })).rejects.toThrow('fix.sql must be named')
  })
})

describe('the schema extensions of another role', () => {
  const manager = `manager_${process.pid}`
  const holder = `holder_${process.pid}`
  let url: string

  beforeEach(async () => {
    await database.query(
      `create role ${manager} login createrole bypassrls password 'secret';
      create role ${holder};
      alter database ${database.name} owner to ${manager};
      grant watchpost_owner, watchpost_api, watchpost_jobs, anon, authenticated, service_role
        to ${manager} with admin option;
      create schema extensions authorization ${holder}`,
    )
    const login = new URL(database.adminUrl)
    ;[login.username, login.password] = [manager, 'secret']
    url = login.href
  })
  afterEach(async () => {
    await database.query(
      `reassign owned by ${manager}, ${holder} to postgres;
      drop owned by ${manager}, ${holder}; drop role ${manager}; drop role ${holder}`,
    )
  })

  test('stops the migration, which names the two roles and the command that helps', async () => {
    const refusal = await migrate(url).catch(String)
    expect(refusal).toContain(`belongs to the role ${holder}`)
    expect(refusal).toContain(`the role ${manager} may not install btree_gist in it`)
    const [, command] = String(refusal).match(/run there: (.*)$/) ?? []
    await database.query(command ?? '')
    expect(await migrate(url)).not.toEqual([])
    expect(await migrate(url)).toEqual([])
  })

  test('stops it too when the grant to watchpost_owner would only be a warning', async () => {
    await database.query(`grant usage, create on schema extensions to ${manager}`)
    await expect(migrate(url)).rejects.toThrow(
      `the role ${manager} may not let watchpost_owner use it`,
    )
    // With it, the search by place works, which is refused otherwise.
    await database.query(`grant usage on schema extensions to ${manager} with grant option`)
    await migrate(url)
    const usable = `has_schema_privilege('watchpost_owner', 'extensions', 'usage') as usable`
    expect(await database.query(`select ${usable}`)).toEqual([{ usable: true }])
  })

  test('that holds btree_gist elsewhere stops it with the command that moves it', async () => {
    await database.query('create extension btree_gist with schema public')
    const refusal = await migrate(url).catch(String)
    expect(refusal).toContain('btree_gist is in the schema public')
    const [, command] = String(refusal).match(/run there: (.*)$/) ?? []
    await database.query(command ?? '')
    await expect(migrate(url)).rejects.toThrow('may not let watchpost_owner use it')
  })
})

describe('setLoginPasswords', () => {
  test('lets the login role in with that password and no other', async () => {
    // The roles belong to the whole server: the password is the one that the run already set.
    const { apiPassword, jobsPassword } = inject('server')
    await setLoginPasswords(database.adminUrl, { api: apiPassword, jobs: jobsPassword })
    expect(await userAt(database.apiUrl)).toBe('watchpost_api')
    expect(await userAt(database.jobsUrl)).toBe('watchpost_jobs')
    const wrong = new URL(database.apiUrl)
    wrong.password = 'wrong'
    await expect(userAt(wrong.href)).rejects.toMatchObject({ code: '28P01' })
  })
})

async function userAt(connectionString: string) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return (await client.query('select current_user as name')).rows[0].name
  } finally {
    await client.end()
  }
}

test('a role that is altered at the same time, as by another migration, does not stop one', async () => {
  const fresh = await createEmptyDatabase()
  const other = new pg.Client({ connectionString: fresh.adminUrl })
  await other.connect()
  // As the migration sets it.
  await other.query(`begin; alter role watchpost_jobs set lock_timeout = '30s'`)
  const migrated = migrate(fresh.adminUrl)
  const isWaiting = async () => {
    const [row] = await fresh.query<{ waits: boolean }>(
      `select count(*) > 0 as waits from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return row?.waits
  }
  while (!(await isWaiting())) await pause(20)
  await other.query('commit')
  await other.end()
  expect((await migrated)[0]).toBe('20260101000000')
  await fresh.drop()
})
