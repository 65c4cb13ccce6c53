import { globSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TABLES } from '../../../hub/projects/archive.ts'
import { defaultsOf, takenByChecks, WORDS } from '../../support/catalogue.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
beforeAll(async () => {
  hub = await startLicensedHub(['mine', 'theirs'])
})
afterAll(() => hub.close())

const names = (rows: { name: string }[]) => rows.map(({ name }) => name)
const TABLE = `
  from pg_catalog.pg_class as t
  where t.relnamespace = 'hub'::regnamespace and t.relkind in ('r', 'p')`

describe('every table of schema hub', () => {
  test('is found in the catalogue', async () => {
    const tables = names(await hub.query(`select relname as name ${TABLE}`))
    expect(tables.length).toBeGreaterThan(12)
    expect(tables).toEqual(expect.arrayContaining(['projects', 'leads', 'imports', 'missions']))
  })

  test('has row-level security, for its owner too', async () => {
    const open = await hub.query<{ name: string }>(
      `select relname as name ${TABLE} and not (relrowsecurity and relforcerowsecurity)`,
    )
    expect(names(open)).toEqual([])
  })

  test('says in a comment what it is', async () => {
    const silent = await hub.query<{ name: string }>(
      `select relname as name ${TABLE} and coalesce(obj_description(t.oid, 'pg_class'), '') = ''`,
    )
    expect(names(silent)).toEqual([])
  })

  test('gives up its rows with what they belong to, and forgets what they only name', async () => {
    const rows = await hub.query<{ name: string; what: string }>(
      `select c.conrelid::regclass || '.' || string_agg(a.attname, ', ' order by k.nr) as name,
         c.confdeltype::text as what
       from pg_catalog.pg_constraint as c
       cross join unnest(c.conkey) with ordinality as k (attnum, nr)
       join pg_catalog.pg_attribute as a on a.attrelid = c.conrelid and a.attnum = k.attnum
       where c.contype = 'f' and c.connamespace = 'hub'::regnamespace
       group by c.oid, c.conrelid, c.confdeltype order by 1`,
    )
    expect(rows.length).toBeGreaterThan(10)
    const others = rows.filter(({ what }) => what !== 'c')
    expect(others.map(({ name, what }) => `${name} ${what}`)).toEqual([
      'hub.approvals.mission_id n',
      'hub.drafts.mission_id n',
      'hub.evidence.import_id n',
      'hub.evidence.mission_id n',
      'hub.inbox_mails.draft_id n',
      'hub.missions.continues n',
      'hub.missions.retry_of n',
      'hub.missions.thread n',
      'hub.recipients.lead_id n',
      'hub.sequence_recipients.lead_id n',
      'hub.sequences.mission_id n',
      'hub.suppression.project_id n',
      'hub.webhook_deliveries.redelivery_of n',
    ])
  })

  test('has a policy for each right that is granted, and no policy lets everything through', async () => {
    const missing = await hub.query<{ name: string }>(
      `select t.relname || ': ' || r.rolname || ' ' || p.privilege_type as name
       from pg_catalog.pg_class as t, aclexplode(t.relacl) as p
       join pg_catalog.pg_roles as r on r.oid = p.grantee
       where t.relnamespace = 'hub'::regnamespace and t.relkind in ('r', 'p')
         and r.rolname in ('hub_ro', 'hub_rw', 'hub_data')
         and not exists (
           select from pg_catalog.pg_policies as policy
           where policy.schemaname = 'hub' and policy.tablename = t.relname
             and r.rolname = any(policy.roles) and policy.cmd in (p.privilege_type, 'ALL')
         )`,
    )
    expect(names(missing)).toEqual([])
    const wide = await hub.query<{ name: string }>(
      `select tablename || '.' || policyname as name from pg_catalog.pg_policies
       where schemaname = 'hub' and (
         'public' = any(roles) or coalesce(qual, 'true') = 'true' and cmd <> 'INSERT'
         or coalesce(with_check, qual) = 'true'
       )`,
    )
    expect(names(wide)).toEqual([])
  })

  test('gives hub_ro and hub_data SELECT and nothing else, and the public nothing', async () => {
    const more = await hub.query<{ name: string }>(
      `select t.relname || ': ' || coalesce(r.rolname, 'public') || ' ' || p.privilege_type as name
       from pg_catalog.pg_class as t, aclexplode(t.relacl) as p
       left join pg_catalog.pg_roles as r on r.oid = p.grantee
       where t.relnamespace in ('hub'::regnamespace, 'private'::regnamespace)
         and (p.grantee = 0 or r.rolname in ('hub_ro', 'hub_data') and p.privilege_type <> 'SELECT')`,
    )
    expect(names(more)).toEqual([])
  })

  test('has an index for each of its foreign keys, and a primary key', async () => {
    const slow = await hub.query<{ name: string }>(
      `select c.conrelid::regclass || '.' || c.conname as name
       from pg_catalog.pg_constraint as c
       where c.contype = 'f' and c.connamespace = 'hub'::regnamespace
         and not exists (
           select from pg_catalog.pg_index as i
           where i.indrelid = c.conrelid and i.indpred is null
             and (i.indkey::int2[])[0:cardinality(c.conkey) - 1] @> c.conkey
         )`,
    )
    expect(names(slow)).toEqual([])
    const keyless = await hub.query<{ name: string }>(
      `select relname as name ${TABLE} and not exists (
         select from pg_catalog.pg_index where indrelid = t.oid and indisprimary
       )`,
    )
    expect(names(keyless)).toEqual([])
  })

  test('that belongs to a project goes with it, and into its archive first', async () => {
    const owned = await hub.query<{ name: string; action: string }>(
      `select t.relname as name, c.confdeltype as action
       from pg_catalog.pg_class as t
       join pg_catalog.pg_attribute as a on a.attrelid = t.oid and a.attname = 'project_id'
       left join pg_catalog.pg_constraint as c
         on c.conrelid = t.oid and c.contype = 'f' and c.conkey = array[a.attnum]
       where t.relnamespace = 'hub'::regnamespace and t.relkind in ('r', 'p') and a.attnotnull`,
    )
    expect(owned.filter(({ action }) => action !== 'c')).toEqual([])
    expect(names(owned).filter((name) => !TABLES.includes(name))).toEqual([])
  })
})

test('functions run for those they were granted to, with a search path of their own where they need one', async () => {
  const open = await hub.query<{ name: string }>(
    `select p.oid::regprocedure::text as name from pg_catalog.pg_proc as p
     where p.pronamespace in ('hub'::regnamespace, 'private'::regnamespace)
       and (
         has_function_privilege('public', p.oid, 'execute')
         or p.prosecdef and not coalesce(p.proconfig::text like '%search_path%', false)
       )`,
  )
  expect(names(open)).toEqual([])
})

test('every check of a column takes what was agreed, at its edges', async () => {
  const lines = await takenByChecks(hub.query, ['hub'])
  expect(lines.length).toBeGreaterThan(30)
  for (const value of WORDS) {
    const taken = await hub.query(`select (${value})::jsonb::hub.words`).then(
      () => 'taken',
      () => 'refused',
    )
    lines.push(`hub.words ${value}: ${taken}\n`)
  }
  await expect(lines.join('')).toMatchFileSnapshot('golden/checks.txt')
})

test('what a column holds that is not given', async () => {
  const lines = await defaultsOf(hub.query, ['hub'])
  expect(lines.length).toBeGreaterThan(100)
  await expect(lines.join('')).toMatchFileSnapshot('golden/defaults.txt')
})

test('the name of each upgrade begins with a whole timestamp, so that they run in their order', () => {
  const upgrades = globSync('hub/sql/upgrades/*')
  expect(upgrades.length).toBeGreaterThan(1)
  for (const name of upgrades) expect(name).toMatch(/\/\d{14}_[a-z_]+\.sql$/)
  const times = upgrades.map((name) => name.match(/\d{14}/)?.[0])
  expect(new Set(times).size).toBe(upgrades.length)
})
