import type { Service } from '../support/service.ts'

const EVENT = JSON.stringify({
  id: 'test:1',
  source: 'test',
  type: 'earthquake',
  title: 'M 5',
  lat: 1,
  lon: 1,
  ts: '2026-01-01T00:00:00.000Z',
  severity: 50,
  url: null,
})

/** What the caller has among the many rows of others. */
export type LargeDatabase = {
  zone: string
  channel: string
  org: string
  alert: string
  event: string
  batch: string
}

/**
 * 50,000 rows of everything and 100,000 events, more than any case may read; the caller owns about 300
 * zones and channels, 3,000 alerts and deliveries, 500 audit rows, and is in two organisations of a
 * hundred members. The busy account has 2,000 zones.
 */
export async function fillLargeDatabase(
  service: Service,
  caller: { user_id: string },
  busy: { user_id: string },
): Promise<LargeDatabase> {
  const { query } = service.database
  const target = await service.seal.seal('https://hooks.example.com/in')
  const me = `'${caller.user_id}'::uuid`
  // A version 4 UUID by its form, as the API asks for.
  const id = (thing: string, n: string) =>
    `overlay(overlay(md5('${thing} ' || (${n})) placing '4' from 13) placing '8' from 17)::uuid`
  const account = (n: string) => id('account', n)
  const org = (n: string) => id('org', n)
  const zone = (n: string) => id('zone', n)
  const channel = (n: string) => id('channel', n)
  const alert = (n: string) => id('alert', n)
  // Of row n: some are the caller's, some shared with one of 1000 organisations.
  const owner = (n: string) =>
    `case when (${n}) % 166 = 0 then ${me} when (${n}) % 25 = 3 then '${busy.user_id}'::uuid else ${account(`(${n}) % 10000`)} end`
  const shared = (n: string) => `case when (${n}) % 7 = 1 then ${org(`(${n}) % 500`)} end`
  const place = `(random() * 358 - 179)::float8 as lon, (random() * 170 - 85)::float8 as lat`
  const foot = `box(point(lon, lat), point(lon, lat))`
  const definition = (n: string) =>
    `(select private.zone_definition(z) from watchpost.zones z where z.id = ${zone(n)})`
  // Without triggers and their checks, which would take a minute; everything in one transaction. An
  // index over what is there is built in a fraction of the time it takes row by row.
  await query(`begin; set local session_replication_role = replica; set local synchronous_commit = off;
    select setseed(0.4);
    create temp table later on commit drop as select pg_get_indexdef(i.indexrelid) as definition,
        i.indexrelid::regclass::text as name
      from pg_index i join pg_class c on c.oid = i.indexrelid
      where c.relnamespace = 'watchpost'::regnamespace and c.relkind = 'i' and not i.indisunique
        and i.indrelid::regclass::text not like '%positions%';
    do $$ declare r record; begin
      for r in select name from later loop execute 'drop index ' || r.name; end loop; end $$;
    insert into watchpost.sources (source, title, attribution, types, interval_seconds)
      values ('test', 'Test', 'a test', '{earthquake}', 60) on conflict do nothing;
    insert into watchpost.accounts (user_id, email, plan)
      select ${account('n')}, n || '@many.test', 'pro' from generate_series(0, 9999) n;
    insert into watchpost.organisations (id, name) select ${org('n')}, 'Team ' || n from generate_series(0, 499) n;
    insert into watchpost.members (org_id, user_id, email, role, status)
      select ${org('n / 100')}, case when n in (101, 40101) then ${me} else ${account('n % 10000')} end,
        n || '@many.test', case n % 100 when 0 then 'owner' else 'member' end, 'active'
      from generate_series(0, 49999) n;
    insert into watchpost.zones (id, owner_id, org_id, label, lat, lon, radius_km, boxes, created_at, updated_at)
      select ${zone('n')}, ${owner('n')}, ${shared('n')}, 'Zone ' || n, lat, lon, 50,
        array[box(point(lon - 0.5, lat - 0.5), point(lon + 0.5, lat + 0.5))],
        date_trunc('milliseconds', now() - n * interval '2 minutes'), now() - n * interval '2 minutes'
      from (select n, ${place} from generate_series(0, 49999) n) z;
    insert into watchpost.zone_versions (zone_id, version, valid_from, definition)
      select id, 1, created_at, '{}' from watchpost.zones;
    update watchpost.zone_versions set definition = ${definition('0')} where zone_id = ${zone('0')};
    insert into watchpost.zone_boxes (zone_id, part, box, min_severity) select id, 1, boxes[1], 40 from watchpost.zones;
    insert into watchpost.channels (id, owner_id, org_id, kind, label, target_sealed, target_masked, created_at)
      select ${channel('n')}, ${owner('n')}, ${shared('n')}, 'ntfy', 'Channel ' || n, '${target}', '…',
        date_trunc('milliseconds', now() - n * interval '2 minutes')
      from generate_series(0, 49999) n;
    insert into watchpost.alerts (id, zone_id, zone_name, owner_id, org_id, event_id, source, event, severity,
        reason, first_reason, status, raised_at, checks, zone_version, event_revision, resolved)
      select ${alert('n')}, z.id, 'Zone', z.owner_id, z.org_id,
        'test:' || n, 'test', '${EVENT}', 50,
        'Because.', 'Because.', case n % 4 when 0 then 'failed' else 'dispatched' end,
        date_trunc('milliseconds', now() - n * interval '40 seconds'), '[]', 1, 1, n % 3 = 0
      from generate_series(0, 49999) n
      join watchpost.zones z on z.id = case when n % 16 = 0 then ${zone('n / 16 % 300 * 166')} else ${zone('n - n % 10')} end;
    insert into watchpost.alert_events (zone_id, event_id, alert_id, source, event, event_revision, checks, reason,
        zone_version, added_at)
      select zone_id, 'other:' || n, id, 'other', event, 1, '[]', 'Because.', 1, raised_at
      from generate_series(0, 49999) n join watchpost.alerts a on a.id = ${alert('n')} on conflict do nothing;
    insert into watchpost.deliveries (alert_id, channel_id, type, status, attempts, created_at)
      select a.id, case when a.owner_id = ${me} then ${channel('0')} else ${channel('n - n % 10')} end, 'alert.raised',
        case n % 4 when 0 then 'failed' else 'succeeded' end, 1, a.raised_at
      from generate_series(0, 49999) n join watchpost.alerts a on a.id = ${alert('n')};
    insert into watchpost.delivery_attempts (delivery_id, attempt, at, outcome, duration_ms)
      select id, 1, created_at, 'ok', 12 from watchpost.deliveries where channel_id = ${channel('0')};
    insert into watchpost.audit (at, xid, account_id, actor_id, action, target_type)
      select date_trunc('milliseconds', now() - n * interval '50 seconds'), (50001 - n)::text::xid8,
        case n % 100 when 0 then ${me} else ${account('n % 10000')} end, ${me}, 'zone.updated', 'zone'
      from generate_series(0, 49999) n;
    insert into watchpost.events (id, source, type, title, lat, lon, ts, severity, status, extent, first_seen_at)
      select 'test:' || n, 'test', 'earthquake', 'M 5', lat, lon,
        date_trunc('milliseconds', now() - n * interval '10 seconds'), n % 100, 'ended', ${foot}, now()
      from (select n, ${place} from generate_series(0, 99999) n) e;
    insert into watchpost.event_revisions (event_id, revision, first_seen_at, source, type, title, lat, lon, ts,
        severity, status, extent)
      select id, 1, ts, source, type, title, lat, lon, ts, severity, status, extent
      from watchpost.events order by ts desc limit 50000;
    insert into watchpost.batches (id, source, size, matched_at) values (${id('batch', '0')}, 'test', 100, null);
    update watchpost.event_revisions set batch_id = ${id('batch', '0')}
      where event_id in (select 'test:' || n from generate_series(0, 99) n);
    do $$ declare r record; begin
      for r in select definition from later loop execute r.definition; end loop; end $$;
    commit`)
  await query('vacuum analyze')
  return {
    zone: await one(zone('0')),
    channel: await one(channel('0')),
    org: await one(org('1')),
    alert: await one(alert('0')),
    batch: await one(id('batch', '0')),
    event: 'test:0',
  }

  async function one(expression: string): Promise<string> {
    const [row] = await query<{ id: string }>(`select ${expression} as id`)
    if (!row) throw new Error('a select without from answers one row')
    return row.id
  }
}
