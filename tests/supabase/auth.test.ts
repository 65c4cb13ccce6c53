import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { migrate, usesSupabaseAuth } from '../../scripts/postgres/migrate.ts'
import { withClient } from '../../scripts/schema/schema.ts'
import { createService, type Person, type Service } from '../support/service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SCRIPT = await readFile(resolve(ROOT, 'supabase/hand-over-auth.sql'), 'utf8')

const Column = z.strictObject({
  type: z.string(),
  not_null: z.literal(true).optional(),
  has_default: z.literal(true).optional(),
  generated: z.literal(true).optional(),
})
/** What the migrations of the real server made of an empty database; CONTRIBUTING.md says how it was read. */
const REAL = z
  .strictObject({
    version: z.string(),
    tables: z.record(z.string(), z.record(z.string(), Column)),
    enums: z.record(z.string(), z.array(z.string())),
  })
  .parse(JSON.parse(await readFile(resolve(import.meta.dirname, 'auth-columns.json'), 'utf8')))

let service: Service
let person: Person
beforeAll(async () => {
  service = await createService()
  person = await service.person()
})
afterAll(async () => {
  await service.close()
  await withClient(service.database.adminUrl.replace(/\/[^/]*$/, '/postgres'), (client) =>
    client.query('drop role if exists supabase_auth_admin'),
  )
})

/** Runs statements together on one connection, as psql does with --single-transaction. */
const run = (text: string) =>
  withClient(service.database.adminUrl, (client) => client.query(`begin;${text};commit`))

type Found = { table: string; name: string; type: string; not_null: boolean; check: string | null }

describe(`the stand-in for Supabase Auth ${REAL.version}`, () => {
  let found: Found[]
  beforeAll(async () => {
    found = await service.database.query<Found>(
      `select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
        a.attnotnull as not_null,
        (select pg_get_constraintdef(k.oid) from pg_constraint k
         where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]) as check
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'auth'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped`,
    )
  })

  test('has only tables and columns that the real one has, of the same type', () => {
    expect(new Set(found.map(({ table }) => table))).toEqual(new Set(Object.keys(REAL.tables)))
    for (const { table, name, type, not_null, check } of found) {
      const real = REAL.tables[table]?.[name]
      const labels = REAL.enums[real?.type ?? '']
      expect([table, name, labels ? 'text' : real?.type]).toEqual([table, name, type])
      expect([table, name, real?.not_null ?? false]).toEqual([table, name, not_null])
      const allowed = [...(check ?? '').matchAll(/'(\w+)'::text/g)].map(([, label]) => label)
      if (labels) expect(allowed.sort()).toEqual([...labels].sort())
    }
  })

  test('has every column of the real one that a row must fill in', () => {
    const required = Object.entries(REAL.tables).flatMap(([table, columns]) =>
      Object.entries(columns)
        .filter(([, { not_null, has_default }]) => not_null && !has_default)
        .map(([name]) => `${table}.${name}`),
    )
    expect(found.map(({ table, name }) => `${table}.${name}`)).toEqual(
      expect.arrayContaining(required),
    )
  })
})

describe('supabase/hand-over-auth.sql', () => {
  test('refuses while somebody else’s sessions are there, and changes nothing', async () => {
    await service.session(person)
    await expect(run(SCRIPT)).rejects.toThrow(/auth\.sessions or auth\.mfa_factors holds rows/)
    expect(await usesSupabaseAuth(service.database.adminUrl)).toBe(false)
    await service.database.query('delete from auth.sessions')
  })

  test('lets Supabase Auth build on it; people, keys, sessions and second factors work', async () => {
    const zone = { label: 'Here', lat: 1, lon: 1 }
    const { key } = person
    expect((await service.request('POST', '/api/v1/zones', { key, body: zone })).status).toBe(201)
    await run(SCRIPT)
    await run(asSupabaseAuth())
    const { tables } = REAL
    const columns = await service.database.query<{ name: string }>(
      `select c.relname || '.' || a.attname as name
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'auth'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped`,
    )
    expect(new Set(columns.map(({ name }) => name))).toEqual(
      new Set(
        Object.entries(tables).flatMap(([table, of]) =>
          Object.keys(of).map((name) => `${table}.${name}`),
        ),
      ),
    )

    const listed = await service.request('GET', '/api/v1/zones', { key })
    expect(listed.body).toMatchObject({ zones: [{ label: 'Here' }] })
    const session = await service.session(person)
    const signedIn = await service.request('GET', '/api/v1/account/keys', { key: session })
    expect(signedIn.status, signedIn.text).toBe(200)
    await service.database.query(
      `insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at, secret)
      values (gen_random_uuid(), $1, 'totp', 'verified', now(), now(), 'secret')`,
      [person.user_id],
    )
    const body = { name: 'Another', scopes: ['read'] }
    const refused = await service.request('POST', '/api/v1/account/keys', { key: session, body })
    expect(refused.body).toMatchObject({ code: 'second_factor_required' })
    const both = await service.session(person, { claims: { aal: 'aal2' } })
    const made = await service.request('POST', '/api/v1/account/keys', { key: both, body })
    expect(made.status, made.text).toBe(201)
  })

  test('keeps accounts in step with the people whom Supabase Auth adds, bans and deletes', async () => {
    const accounts = () =>
      service.database.query(
        `select email, banned_until is not null as is_banned from watchpost.accounts
        where email = 'new@watchpost.test'`,
      )
    const as = (statement: string) => run(`set local role supabase_auth_admin; ${statement}`)
    await as(
      `insert into auth.users (id, email, email_confirmed_at) values (gen_random_uuid(), 'new@watchpost.test', now())`,
    )
    expect(await accounts()).toEqual([{ email: 'new@watchpost.test', is_banned: false }])
    const where = `where email = 'new@watchpost.test'`
    await as(`update auth.users set banned_until = now() + interval '1 day' ${where}`)
    expect(await accounts()).toEqual([{ email: 'new@watchpost.test', is_banned: true }])
    await as(`delete from auth.users ${where}`)
    expect(await accounts()).toEqual([])
  })

  test('is done once, and later starts leave the schema alone', async () => {
    const { adminUrl } = service.database
    expect(await usesSupabaseAuth(adminUrl)).toBe(true)
    expect(await migrate(adminUrl)).toEqual([])
    expect(await owners()).toEqual(['supabase_auth_admin'])
    await expect(run(SCRIPT)).rejects.toThrow("is not Watchpost's stand-in")
  })
})

/** What the migrations of Supabase Auth add to the schema, as its role and by its search path. */
function asSupabaseAuth(): string {
  const { users = {}, ...others } = REAL.tables
  const column = ([name, { type, not_null }]: [string, z.infer<typeof Column>]) =>
    `${name} ${type}${not_null ? ' not null' : ''}`
  return [
    'set local role supabase_auth_admin',
    'set local search_path = auth',
    ...Object.entries(REAL.enums).map(
      ([name, labels]) => `create type ${name} as enum (${labels.map((l) => `'${l}'`).join()})`,
    ),
    ...Object.entries(others).map(
      ([table, columns]) =>
        `create table ${table} (${Object.entries(columns).map(column).join()}, primary key (id),
          foreign key (user_id) references users on delete cascade);
        alter table ${table} enable row level security`,
    ),
    ...Object.entries(users).map(
      ([name, { type }]) => `alter table users add column if not exists ${name} ${type}`,
    ),
    'alter table users enable row level security',
    `comment on table users is 'Auth: Stores user login data within a secure schema.'`,
    `create or replace function uid() returns uuid language sql stable as $$
      select nullif(current_setting('request.jwt.claim.sub', true), '')::uuid $$`,
    'reset role',
  ].join(';')
}

/** The owners of the schema and of everything in it. */
async function owners(): Promise<string[]> {
  const rows = await service.database.query<{ owner: string }>(
    `select nspowner::regrole::text as owner from pg_namespace where nspname = 'auth'
    union select relowner::regrole::text from pg_class where relnamespace = 'auth'::regnamespace
    union select proowner::regrole::text from pg_proc where pronamespace = 'auth'::regnamespace`,
  )
  return rows.map(({ owner }) => owner)
}
