import type pg from 'pg'

/**
 * One line for each fact about the schema: `policy watchpost.zones zones_select` → its definition.
 */
export type Catalogue = Map<string, string>

// PostgreSQL's own schemas, and the one in which migrations are recorded.
const foreign = `('pg_catalog', 'information_schema', 'pg_toast', 'supabase_migrations')`

const inSchemas = (oid: string) =>
  `${oid} in (select oid from pg_namespace where nspname not in ${foreign} and nspname !~ '^pg_(temp|toast_temp)_')`

// Objects of an extension belong to the extension.
const notOfExtension = (catalogue: string, oid: string) =>
  `not exists (select from pg_depend d where d.classid = '${catalogue}'::regclass and d.objid = ${oid} and d.deptype = 'e')`

const relations = (alias: string) =>
  `${inSchemas(`${alias}.relnamespace`)} and ${notOfExtension('pg_class', `${alias}.oid`)}`

const functions = `${inSchemas('p.pronamespace')} and ${notOfExtension('pg_proc', 'p.oid')}`

// A null list means the built-in default, so the default is compared.
const acl = (list: string, kind: string, owner: string) => `(
  select coalesce(string_agg(entry, ', ' order by entry), 'nobody')
  from (
    select format('%s=%s%s by %s',
      case g.grantee when 0 then 'public' else g.grantee::regrole::text end,
      string_agg(lower(g.privilege_type), '+' order by g.privilege_type),
      case when g.is_grantable then ' with grant option' else '' end,
      g.grantor::regrole) as entry
    from aclexplode(coalesce(${list}, acldefault('${kind}', ${owner}))) g
    group by g.grantee, g.grantor, g.is_grantable
  ) entries)`

/** Each query returns rows of `name` and `fact`; the key is the kind of object. */
const QUERIES: Record<string, string> = {
  extension: `
    select e.extname as name, format('version %s in %s', e.extversion, e.extnamespace::regnamespace) as fact
    from pg_extension e`,
  'event trigger': `
    select evtname as name,
      format('%s %s %s %s %s', evtevent, evtfoid::regprocedure, evtenabled, evttags, evtowner::regrole) as fact
    from pg_event_trigger`,
  schema: `
    select nspname as name, format('owner %s; %s', nspowner::regrole, ${acl('nspacl', 'n', 'nspowner')}) as fact
    from pg_namespace n where ${inSchemas('n.oid')}`,
  'default privileges': `
    select format('of %s in %s for %s', defaclrole::regrole,
        coalesce(nullif(defaclnamespace, 0)::regnamespace::text, 'every schema'), defaclobjtype) as name,
      ${acl('defaclacl', 'r', 'defaclrole')} as fact
    from pg_default_acl`,
  relation: `
    select c.oid::regclass::text as name,
      format('%s %s owner %s, rls %s forced %s, options %s, partition by %s, bound %s, of %s; %s',
        c.relkind, c.relpersistence, c.relowner::regrole, c.relrowsecurity, c.relforcerowsecurity,
        c.reloptions, pg_get_partkeydef(c.oid), pg_get_expr(c.relpartbound, c.oid),
        (select string_agg(i.inhparent::regclass::text, ',') from pg_inherits i where i.inhrelid = c.oid),
        case c.relkind when 'S' then ${acl('c.relacl', 's', 'c.relowner')}
          else ${acl('c.relacl', 'r', 'c.relowner')} end) as fact
    from pg_class c where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') and ${relations('c')}`,
  column: `
    select format('%s.%I', c.oid::regclass, a.attname) as name,
      format('%s at %s, %s, default %s, generated %s, identity %s, storage %s, compression %s, collation %s; %s',
        format_type(a.atttypid, a.atttypmod),
        row_number() over (partition by c.oid order by a.attnum),
        case when a.attnotnull then 'not null' else 'null' end,
        pg_get_expr(d.adbin, d.adrelid), nullif(a.attgenerated, ''), nullif(a.attidentity, ''),
        a.attstorage, nullif(a.attcompression, ''), nullif(a.attcollation, 0)::regcollation,
        case when a.attacl is null then 'no grants of its own' else ${acl('a.attacl', 'c', 'c.relowner')} end) as fact
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'p', 'v', 'm', 'c', 'f') and ${relations('c')}`,
  constraint: `
    select format('%s %I', coalesce(nullif(k.conrelid, 0)::regclass::text, k.contypid::regtype::text), k.conname) as name,
      format('%s%s', pg_get_constraintdef(k.oid), case when k.convalidated then '' else ' NOT VALID' end) as fact
    from pg_constraint k where ${inSchemas('k.connamespace')}`,
  index: `
    select i.indexrelid::regclass::text as name,
      format('%s%s%s%s', pg_get_indexdef(i.indexrelid), case when i.indisvalid then '' else ' INVALID' end,
        case when i.indisclustered then ' CLUSTER' else '' end, case when i.indisreplident then ' REPLICA' else '' end) as fact
    from pg_index i join pg_class c on c.oid = i.indexrelid where ${relations('c')}`,
  policy: `
    select format('%s %I', p.polrelid::regclass, p.polname) as name,
      format('%s %s to %s using (%s) with check (%s)',
        case when p.polpermissive then 'permissive' else 'restrictive' end, p.polcmd,
        (select string_agg(case r when 0 then 'public' else r::regrole::text end, ', ' order by r::regrole::text) from unnest(p.polroles) r),
        pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)) as fact
    from pg_policy p`,
  function: `
    select p.oid::regprocedure::text as name,
      format('owner %s, leakproof %s, volatility %s; %s%s%s', p.proowner::regrole, p.proleakproof, p.provolatile,
        ${acl('p.proacl', 'f', 'p.proowner')}, E'\\n',
        case p.prokind when 'a' then 'aggregate' else pg_get_functiondef(p.oid) end) as fact
    from pg_proc p where ${functions}`,
  trigger: `
    select format('%s %I', t.tgrelid::regclass, t.tgname) as name,
      format('%s, enabled %s', pg_get_triggerdef(t.oid), t.tgenabled) as fact
    from pg_trigger t join pg_class c on c.oid = t.tgrelid where not t.tgisinternal and ${relations('c')}`,
  rule: `
    select format('%s %I', r.ev_class::regclass, r.rulename) as name, pg_get_ruledef(r.oid) as fact
    from pg_rewrite r join pg_class c on c.oid = r.ev_class where ${relations('c')}`,
  type: `
    select t.oid::regtype::text as name,
      format('%s owner %s, base %s, not null %s, default %s, labels %s; %s', t.typtype, t.typowner::regrole,
        nullif(t.typbasetype, 0)::regtype, t.typnotnull, t.typdefault,
        (select string_agg(e.enumlabel, ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid),
        ${acl('t.typacl', 'T', 't.typowner')}) as fact
    from pg_type t
    where t.typtype in ('e', 'd', 'r', 'c') and ${inSchemas('t.typnamespace')} and ${notOfExtension('pg_type', 't.oid')}
      and not exists (select from pg_class c where c.oid = t.typrelid and c.relkind <> 'c')`,
  sequence: `
    select s.seqrelid::regclass::text as name,
      format('%s from %s by %s, %s to %s, cache %s, cycle %s, owned by %s', s.seqtypid::regtype, s.seqstart, s.seqincrement,
        s.seqmin, s.seqmax, s.seqcache, s.seqcycle,
        (select format('%s.%s', d.refobjid::regclass, d.refobjsubid) from pg_depend d
          where d.objid = s.seqrelid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i') and d.refobjsubid > 0)) as fact
    from pg_sequence s join pg_class c on c.oid = s.seqrelid where ${relations('c')}`,
  comment: `
    select format('on %s', pg_describe_object(d.classoid, d.objoid, d.objsubid)) as name, d.description as fact
    from pg_description d
    where d.classoid not in ('pg_extension'::regclass) and d.objoid >= 16384
      and not exists (select from pg_depend e where e.classid = d.classoid and e.objid = d.objoid and e.deptype = 'e')`,
  publication: `
    select p.pubname as name, format('%s %s %s %s %s; %s', p.puballtables, p.pubinsert, p.pubupdate, p.pubdelete, p.pubtruncate,
      (select string_agg(r.prrelid::regclass::text, ', ' order by r.prrelid::regclass::text) from pg_publication_rel r where r.prpubid = p.oid)) as fact
    from pg_publication p`,
  role: `
    select rolname as name,
      format('super %s inherit %s createrole %s createdb %s login %s replication %s bypassrls %s limit %s',
        rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls, rolconnlimit) as fact
    from pg_roles where rolname !~ '^pg_'`,
  membership: `
    select format('%s in %s by %s', m.member::regrole, m.roleid::regrole, m.grantor::regrole) as name,
      format('admin %s inherit %s set %s', m.admin_option, m.inherit_option, m.set_option) as fact
    from pg_auth_members m where m.roleid >= 16384 or m.member >= 16384`,
  setting: `
    select format('of %s', coalesce(nullif(s.setrole, 0)::regrole::text, 'the database')) as name,
      array_to_string(s.setconfig, ', ') as fact
    from pg_db_role_setting s
    where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))`,
}

// pg-boss creates one for each day.
const DATED_PARTITION = /\bqueue_stats_\d{8}/

export async function readCatalogue(client: pg.Client): Promise<Catalogue> {
  // With an empty search_path every name is written with its schema.
  await client.query(`select set_config('search_path', '', false)`)
  const catalogue: Catalogue = new Map()
  for (const [kind, query] of Object.entries(QUERIES)) {
    const { rows } = await client.query<{ name: string; fact: string }>(query)
    for (const { name, fact } of rows) {
      if (!DATED_PARTITION.test(name)) catalogue.set(`${kind} ${name}`, fact)
    }
  }
  for (const [name, fact] of await contents(client)) catalogue.set(`contents ${name}`, fact)
  return catalogue
}

/** The rows that a fresh database contains (queues, sources), except for times. */
async function contents(client: pg.Client): Promise<[string, string][]> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c where c.relkind = 'r' and ${relations('c')}`,
  )
  const facts: [string, string][] = []
  for (const { name } of tables.filter((table) => !DATED_PARTITION.test(table.name))) {
    const { rows } = await client.query<{ row: Record<string, unknown> }>(
      `select to_jsonb(t) as row from ${name} t`,
    )
    const lines = rows.map(({ row }) => JSON.stringify(row, (_, v) => (isTime(v) ? undefined : v)))
    if (lines.length > 0) facts.push([name, lines.sort().join('\n')])
  }
  return facts
}

function isTime(value: unknown) {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:/.test(value)
}

/** Readable differences: what only one side has, and otherwise the lines that differ. */
export function compareCatalogues(
  expected: { name: string; catalogue: Catalogue },
  actual: { name: string; catalogue: Catalogue },
): string[] {
  const keys = new Set([...expected.catalogue.keys(), ...actual.catalogue.keys()])
  return [...keys].sort().flatMap((key) => {
    const left = expected.catalogue.get(key)
    const right = actual.catalogue.get(key)
    if (left === right) return []
    if (left === undefined) return [`${key}\n  only in ${actual.name}: ${right}`]
    if (right === undefined) return [`${key}\n  only in ${expected.name}: ${left}`]
    return [
      `${key}\n${linesThatDiffer(expected.name, left, right)}\n${linesThatDiffer(actual.name, right, left)}`,
    ]
  })
}

function linesThatDiffer(name: string, text: string, other: string): string {
  const known = new Set(other.split('\n'))
  const lines = text.split('\n').filter((line) => !known.has(line))
  return `  ${name}: ${lines.join('\n    ') || '(lines in another order)'}`
}
