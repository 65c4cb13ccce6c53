import type { TestDatabase } from '../support/servers/database.ts'

const ROLES = ['public', 'anon', 'authenticated', 'watchpost_api', 'watchpost_jobs']
const SCHEMAS = ['watchpost', 'private', 'support', 'pgboss', 'auth']

// pg-boss makes one for each day, Watchpost too.
const DATED = String.raw`_\d{8}$`

const operations = `(values (1, 'select'), (2, 'insert'), (3, 'update'), (4, 'delete'), (5, 'truncate'),
  (6, 'references'), (7, 'trigger'), (8, 'maintain')) as o (nr, operation)`
const roles = `unnest($1::text[]) with ordinality as r (role, rank)`

/** What a role may do with each table, by whatever way it came to it; columns are named where it is not all of them. */
const GRANTS = `
  with tables as (
    select c.oid, c.oid::regclass::text as name
    from pg_class c
    where c.relnamespace::regnamespace::text = any($2::text[]) and c.relkind in ('r', 'p', 'v', 'm', 'f')
      and c.relname !~ '${DATED}'
  ),
  grants as (
    select t.name, r.role, r.rank, o.nr, o.operation,
      case when r.role = 'public'
        then exists (select from pg_class c, aclexplode(c.relacl) g
          where c.oid = t.oid and g.grantee = 0 and lower(g.privilege_type) = o.operation)
        else has_table_privilege(r.role, t.oid, o.operation) end as whole,
      case when o.nr in (1, 2, 3, 6) then (
        select string_agg(a.attname, ' ' order by a.attnum)
        from pg_attribute a
        where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and case when r.role = 'public'
          then exists (select from aclexplode(a.attacl) g
            where g.grantee = 0 and lower(g.privilege_type) = o.operation)
          else has_column_privilege(r.role, t.oid, a.attnum, o.operation) end) end as columns
    from tables t cross join ${roles} cross join ${operations}
  )
  select name || ' ' || role || ': ' || string_agg(
    case when whole then operation else operation || ' (' || columns || ')' end, ', ' order by nr) as line
  from grants
  where whole or columns is not null
  group by name, role, rank
  order by name, rank`

const POLICIES = `
  select format('%s %s %s%s to %s', p.polrelid::regclass, p.polname,
    case when p.polpermissive then '' else 'restrictive ' end,
    case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
    (select string_agg(case r when 0 then 'public' else r::regrole::text end, ', ') from unnest(p.polroles) r)) as line
  from pg_policy p join pg_class c on c.oid = p.polrelid
  where c.relnamespace::regnamespace::text = any($2::text[]) and $1::text[] is not null
  order by 1`

/** Tables whose rows a grant alone would open: no row-level security, or the owner passes it by. */
const UNGUARDED = `
  select c.oid::regclass::text as line
  from pg_class c
  where c.relnamespace::regnamespace::text = any($2::text[]) and $1::text[] is not null
    and c.relkind in ('r', 'p') and not (c.relrowsecurity and c.relforcerowsecurity) and c.relname !~ '${DATED}'
  order by 1`

const FUNCTIONS = `
  select p.oid::regprocedure::text || ' ' || string_agg(r.role, ', ' order by r.rank) as line
  from pg_proc p cross join ${roles}
  where p.pronamespace::regnamespace::text = any($2::text[])
    and p.pronamespace::regnamespace::text <> 'pgboss'
    and case when r.role = 'public'
      then exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g where g.grantee = 0)
      else has_function_privilege(r.role, p.oid, 'execute') end
  group by p.oid
  order by 1`

const QUERIES = { grants: GRANTS, policies: POLICIES, unguarded: UNGUARDED, functions: FUNCTIONS }
export type Matrix = Record<keyof typeof QUERIES, string[]>

/** readMatrix is who may do what, as the database itself says it: one line a fact. */
export async function readMatrix(database: TestDatabase): Promise<Matrix> {
  const list = async (text: string) => {
    const rows = await database.query<{ line: string }>(text, [ROLES, SCHEMAS])
    return rows.map(({ line }) => line)
  }
  return {
    grants: await list(QUERIES.grants),
    policies: await list(QUERIES.policies),
    unguarded: await list(QUERIES.unguarded),
    functions: await list(QUERIES.functions),
  }
}
