import type pg from 'pg'

/**
 * SECURITY DEFINER functions that a signed-in or anonymous caller may execute, each with the reason
 * why it must see more than its caller. An entry that no longer applies is reported too.
 */
const DEFINER_FUNCTIONS_FOR_CALLERS: Record<string, string> = {
  'private.my_orgs()': 'membership decides policies and must not ask its own policies',
  'private.admin_orgs()': 'membership decides policies and must not ask its own policies',
  'private.begin_idempotent(text,text,bytea)': "the caller's own keys; nobody reads the table",
  'private.finish_idempotent(text,text,bytea,integer,text)':
    "the caller's own keys; nobody writes the table",
  'private.events_near(uuid,timestamp with time zone,timestamp with time zone,text,text,text,integer,integer,integer,text,timestamp with time zone)':
    'box operators are not leakproof, so no index serves them under RLS; it filters by tenant itself',
  'private.revisions_near(box[],timestamp with time zone,timestamp with time zone,uuid,uuid,integer)':
    'box operators are not leakproof, so no index serves them under RLS; it filters by tenant itself',
  'private.revisions_of(text,uuid)':
    'aliases, batches and states are nobody’s to read; it filters by tenant itself',
  'private.stay_before(text,text,uuid)':
    'batches and states are nobody’s to read; it filters by tenant itself',
  'private.mainshocks_between(timestamp with time zone,timestamp with time zone)':
    'mainshocks are public events, kept longer than events; nothing else of them is told',
  'private.room_for_zones()':
    'accounts and zones that were shared away are not the caller’s to read; it answers how many more zones they may make',
  'private.owner_states(uuid)':
    'states are nobody’s to read; it answers those that paused a zone of the caller',
  'private.zone_obstacles(uuid,uuid,text[],text[])':
    'whether a zone can raise alerts is visible to its readers, its sources and accounts are not; it filters by caller itself',
  'private.event_known_as(text)':
    'aliases are nobody’s to read; it answers an id whose event the policies guard',
  'private.push_events(text,uuid,jsonb,jsonb)':
    'callers insert no events; it checks the organisation and the daily limit itself',
  'private.events_on_map(box[],timestamp with time zone,timestamp with time zone,text[],integer,double precision,integer)':
    'box operators are not leakproof, so no index serves them under RLS; it filters by tenant itself',
  'private.footprints_on_map(box[],timestamp with time zone,timestamp with time zone,text[],integer,double precision,timestamp with time zone,text,integer,bigint)':
    'box operators are not leakproof, so no index serves them under RLS; it filters by tenant itself',
  'private.tracks_on_map(box[],timestamp with time zone,timestamp with time zone,text[],integer,integer,integer)':
    'box operators are not leakproof, so no index serves them under RLS; it filters by tenant itself',
  'private.coverage(text[],text[])': 'whether sources can be heard is public, their state is not',
  'private.source_states()': 'whether sources can be heard is public, their state is not',
  'private.sees_blind_zones(uuid,uuid)':
    'which zones a message is about is nobody’s to read; it filters by tenant itself',
  'private.attributions()': 'whom to name is public, the state of sources is not',
  'private.sources_health()': 'health is public, the state of sources is not',
  'private.zone_reach(uuid,uuid,uuid[],jsonb)':
    'channels of the zone’s owner are not the caller’s to see; it answers about ids it is given',
  'private.my_evidence(uuid)':
    'channels, keys and logs of others are not the caller’s to see; it filters by tenant itself',
  'private.redeliver(uuid,uuid[])': 'callers insert no deliveries; it checks scope and role itself',
  'private.recover_channel(uuid,timestamp with time zone,integer)':
    'callers insert no deliveries; it checks scope and role itself',
  'private.create_key(text,text,bytea,text[],timestamp with time zone)':
    'callers insert no keys; it asks for a session',
  'private.revoke_key(uuid)': 'callers update no keys; it asks for a session and the owner',
  'private.create_org(text)': 'an organisation is born with its owner; it asks for a session',
  'private.rename_org(uuid,text)':
    'callers update no organisations; it asks for a session and role',
  'private.leave_org(uuid)': 'members remove nobody but themselves; it asks for a session',
  'private.transfer_org(uuid,uuid)': 'no policy touches an owner; it asks for a session and role',
  'private.delete_org(uuid)': 'callers delete no organisations; it asks for a session and role',
  'private.my_invites()': 'an invited person is not a member yet; it applies the address itself',
  'private.accept_invite(bytea,uuid)':
    'an invited person is not a member yet; it tests token or id, and the address',
  'private.delete_account()': 'callers delete no accounts; it asks for a session',
  'private.begin_confirmation(uuid,text)':
    'callers insert no deliveries and no limits; it checks scope and role itself',
  'private.begin_test(uuid,text)': 'callers insert no deliveries; it checks scope and role itself',
  'private.begin_drill(uuid,jsonb,boolean,boolean)':
    'callers insert no drills; it checks scope, role and limits itself',
  'private.drill_json(uuid,uuid)':
    'drills and their deliveries are nobody’s to read; it filters by tenant itself',
  'private.end_test(uuid,text,integer,integer,text,text,text)':
    'callers update no deliveries; it touches only a test of their own channel',
}

/**
 * Functions without a search_path of their own, because otherwise Postgres does not inline them;
 * their callers set one.
 */
export const INLINED_FUNCTIONS = [
  'active_account',
  'alert_event_json',
  'alert_in_json',
  'attribution_among',
  'current_event',
  'distance_m',
  'event_fields',
  'event_json',
  'events_shown',
  'expiry_of',
  'facts_json',
  'is_banned',
  'is_emergency',
  'is_garbled',
  'is_usable',
  'iso',
  'key_holder',
  'may_link',
  'notification_of',
  'refusal_between',
  'silent_after',
  'sightings_wanted',
  'source_status',
  'status_in',
  'step_flag',
  'stored_event',
  'takes',
  'visibility_between',
  'zone_channels',
  'zones_wanted',
]

/** The functions of sql/62_*.sql that change a delivery; no others may. */
export const DELIVERY_WRITERS = [
  'add_confirmation',
  'add_test',
  'bundle_delivery',
  'cancel_deliveries',
  'claim_deliveries',
  'deliver_act',
  'deliver_alerts',
  'deliver_blindness',
  'deliver_step',
  'deliver_trouble',
  'deliver_update',
  'end_hold',
  'end_interrupted_tests',
  'free_carried',
  'purge_tests',
  'release_deliveries',
  'repeat_delivery',
  'settle_states',
  'split_digest',
]
/**
 * Matches a statement that writes deliveries; case-insensitive, for JavaScript and Postgres alike.
 */
export const WRITES_DELIVERIES =
  '(insert +into|update( +only)?|delete +from|merge +into|truncate( +table)?|copy) +watchpost[.]deliveries([^_a-z]|$)'

/** Columns that nobody may change through the API's role. */
const FIXED_COLUMNS = ['id', 'owner_id', 'created_at']

const ours = `(select oid from pg_namespace where nspname in ('watchpost', 'private', 'support'))`
const tables = `pg_class c where c.relnamespace in ${ours} and c.relkind in ('r', 'p')`

/** Each query returns rows of `what`: an object that breaks the rule. */
const RULES: Record<string, string> = {
  'has row-level security off': `
    select c.oid::regclass as what from ${tables} and not c.relrowsecurity`,
  'has row-level security on but not forced': `
    select c.oid::regclass as what from ${tables} and not c.relforcerowsecurity`,
  'is a policy with using (true) for somebody else than watchpost_jobs': `
    select format('%I on %s', p.polname, p.polrelid::regclass) as what
    from pg_policy p join pg_class c on c.oid = p.polrelid
    where c.relnamespace in ${ours} and p.polroles <> array['watchpost_jobs'::regrole::oid]
      and 'true' in (pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))`,
  'is a policy for a role that is neither authenticated nor watchpost_jobs': `
    select format('%I on %s', p.polname, p.polrelid::regclass) as what
    from pg_policy p join pg_class c on c.oid = p.polrelid
    where c.relnamespace in ${ours}
      and not p.polroles <@ array['authenticated'::regrole::oid, 'watchpost_jobs'::regrole::oid]`,
  'is a policy that trusts user_metadata, which people write themselves': `
    select format('%I on %s', p.polname, p.polrelid::regclass) as what
    from pg_policy p
    where concat(pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)) ~ 'user_metadata'`,
  'is an update policy without with check': `
    select format('%I on %s', p.polname, p.polrelid::regclass) as what
    from pg_policy p join pg_class c on c.oid = p.polrelid
    where c.relnamespace in ${ours} and p.polcmd in ('w', '*') and p.polwithcheck is null`,
  'is a foreign key without an index': `
    select format('%I of %s', k.conname, k.conrelid::regclass) as what
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.contype = 'f' and k.conparentid = 0 and c.relnamespace in ${ours}
      and not exists (
        select from pg_index i
        where i.indrelid = k.conrelid and i.indisvalid
          and (i.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey
          and coalesce(pg_get_expr(i.indpred, i.indrelid) ~ '^\\(\\w+ IS NOT NULL\\)$', true))`,
  'is a function without a search_path of its own': `
    select p.oid::regprocedure as what from pg_proc p
    where p.pronamespace in ${ours}
      and not exists (select from unnest(p.proconfig) s where s like 'search_path=%')
      and (p.prosecdef or p.proname not in (${INLINED_FUNCTIONS.map((name) => `'${name}'`).join(', ')}))`,
  'is a function that everybody (public) may execute': `
    select p.oid::regprocedure as what
    from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g
    where p.pronamespace in ${ours} and g.grantee = 0 and g.privilege_type = 'EXECUTE'`,
  'is a view without security_invoker': `
    select c.oid::regclass as what from pg_class c
    where c.relnamespace in ${ours} and c.relkind = 'v'
      and not coalesce('security_invoker=true' = any(c.reloptions) or 'security_invoker=on' = any(c.reloptions), false)`,
  'is a materialised view that a caller may read': `
    select c.oid::regclass as what from pg_class c
    where c.relnamespace in ${ours} and c.relkind = 'm'
      and (has_table_privilege('anon', c.oid, 'select') or has_table_privilege('authenticated', c.oid, 'select'))`,
  'is a table that everybody (public) or anon may touch': `
    select format('%s (%s)', c.oid::regclass, lower(g.privilege_type)) as what
    from pg_class c, aclexplode(c.relacl) g
    where c.relnamespace in ${ours} and g.grantee in (0, 'anon'::regrole)`,
  'is a table whose every column the API may update': `
    select c.oid::regclass as what from ${tables} and exists (
      select from aclexplode(c.relacl) g
      where g.grantee = 'authenticated'::regrole and g.privilege_type = 'UPDATE')`,
  'is a fixed column that the API may update': `
    select format('%s.%I', c.oid::regclass, a.attname) as what
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace in ${ours} and c.relkind in ('r', 'p') and not a.attisdropped
      and a.attname in (${FIXED_COLUMNS.map((name) => `'${name}'`).join(', ')})
      and has_column_privilege('authenticated', c.oid, a.attnum, 'update')`,
  'is a table of an owner without BYPASSRLS, whose functions would see no rows': `
    select format('%s (%s)', c.oid::regclass, r.rolname) as what
    from pg_class c join pg_roles r on r.oid = c.relowner
    where c.relnamespace in ${ours} and c.relkind in ('r', 'p') and not r.rolbypassrls`,
  'is a table or view without a comment': `
    select c.oid::regclass as what
    from pg_class c
    where c.relnamespace in ${ours} and c.relkind in ('r', 'p', 'v') and not c.relispartition
      and obj_description(c.oid, 'pg_class') is null`,
  'is a support view that somebody else than service_role may use': `
    select format('%s (%s)', c.oid::regclass, g.grantee::regrole) as what
    from pg_class c, aclexplode(c.relacl) g
    where c.relnamespace = 'support'::regnamespace
      and g.grantee not in (c.relowner, 'service_role'::regrole)`,
  'is a secret that service_role may read': `
    select format('%s.%I', c.oid::regclass, a.attname) as what
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace in ${ours} and c.relkind in ('r', 'p', 'v') and a.attnum > 0 and not a.attisdropped
      and a.attname ~ '(sealed|hash|secret|token|password)'
      and has_column_privilege('service_role', c.oid, a.attnum, 'select')`,
  'is a role that may write deliveries past the functions of sql/62_*.sql': `
    select distinct g.grantee::regrole::text as what
    from pg_class c
    cross join lateral (
      select * from aclexplode(c.relacl)
      union all
      select g.* from pg_attribute a cross join lateral aclexplode(a.attacl) g where a.attrelid = c.oid
    ) g
    where c.oid = 'watchpost.deliveries'::regclass and g.grantee <> c.relowner
      and g.privilege_type in ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')`,
  'is a function that writes deliveries and is none of sql/62_*.sql': `
    select p.oid::regprocedure as what from pg_proc p
    where p.pronamespace in ${ours}
      and regexp_replace(p.prosrc, '\\s+', ' ', 'g') ~* '${WRITES_DELIVERIES}'
      and p.proname not in (${DELIVERY_WRITERS.map((name) => `'${name}'`).join(', ')})`,
}

const DEFINER_FUNCTIONS = `
  select p.oid::regprocedure::text as what from pg_proc p
  where p.pronamespace in ${ours} and p.prosecdef
    and (has_function_privilege('anon', p.oid, 'execute') or has_function_privilege('authenticated', p.oid, 'execute'))`

/** brokenRules returns a sentence for each object that breaks one of our rules. */
export async function brokenRules(
  client: pg.Client,
  allowed: Record<string, string> = DEFINER_FUNCTIONS_FOR_CALLERS,
): Promise<string[]> {
  const broken: string[] = []
  for (const [rule, query] of Object.entries(RULES)) {
    for (const what of await list(client, query)) broken.push(`${what} ${rule}`)
  }
  const definers = await list(client, DEFINER_FUNCTIONS)
  for (const name of definers) {
    if (allowed[name]) continue
    broken.push(
      `${name} is a SECURITY DEFINER function that callers may execute, and is not listed`,
    )
  }
  for (const name of Object.keys(allowed)) {
    if (definers.includes(name)) continue
    broken.push(`${name} is listed as a SECURITY DEFINER function for callers, but is none`)
  }
  return broken
}

async function list(client: pg.Client, query: string): Promise<string[]> {
  await client.query(`select set_config('search_path', '', false)`)
  const { rows } = await client.query<{ what: string }>(`${query} order by 1`)
  return rows.map(({ what }) => what)
}
