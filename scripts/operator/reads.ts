import type pg from 'pg'
import { VERSION } from '../../shared/version.ts'
import { becomeOwner } from '../postgres/accounts.ts'
import { queueStatus } from '../start/status.ts'

/** What the operator page shows beside the lists of the commands. Each answer passes through a schema of shared/schemas/operator.ts. */

type Row = Record<string, unknown>

const STARTED_AT = new Date()

/** readHealth tells how the service, its database and what runs by itself are. */
export async function readHealth(client: pg.Client): Promise<Row> {
  // Of replicas and the transactions of others the administrator's login sees the most.
  await client.query('set local role none')
  const database = await client.query<Row>(
    `select current_setting('server_version') as version, pg_database_size(current_database()) as bytes,
      current_setting('max_connections')::integer as max_connections, pg_postmaster_start_time() as started_at,
      (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,
      (select extract(epoch from max(now() - xact_start)) from pg_stat_activity where pid <> pg_backend_pid()) as transaction_seconds`,
  )
  const replicas = await client.query<Row>(
    `select coalesce(nullif(application_name, ''), usename) as name, state, extract(epoch from replay_lag) as lag_seconds
    from pg_stat_replication order by 1`,
  )
  const migration = await client.query<{ version: string | null }>(
    `select max(version) as version from supabase_migrations.schema_migrations`,
  )
  await becomeOwner(client)
  const counts = await client.query<Row>(
    `select private.unwell_reasons() as reasons,
      (select jsonb_agg(jsonb_build_object('status', f.status, 'count', f.count) order by f.status)
       from (select private.source_status(s) as status, count(*) from watchpost.sources s group by 1) f) as feeds,
      (select jsonb_agg(jsonb_build_object('plan', a.plan, 'count', a.count) order by a.plan)
       from (select plan, count(*) from watchpost.accounts group by 1) a) as accounts,
      (select count(*) from watchpost.alerts
       where raised_at > now() - interval '24 hours' and drill_id is null) as alerts_24h,
      (select max(last_success_at) from watchpost.sources) as ingest_at,
      (select max(completed_on) from pgboss.job where name = 'purge' and state = 'completed') as purge_at,
      (select looked_at from watchpost.heartbeat) as heartbeat_at,
      (select error from watchpost.heartbeat) as heartbeat_error`,
  )
  const { ingest_at, purge_at, heartbeat_at, feeds, accounts, ...counted } = counts.rows[0] ?? {}
  return {
    ...counted,
    feeds: feeds ?? [],
    accounts: accounts ?? [],
    version: VERSION,
    node: process.versions.node,
    started_at: STARTED_AT,
    database: { ...database.rows[0], migration: migration.rows[0]?.version ?? null },
    replicas: replicas.rows,
    runs: [
      { name: 'ingest', at: ingest_at },
      { name: 'purge', at: purge_at },
      { name: 'heartbeat', at: heartbeat_at },
    ],
  }
}

/** readFeeds tells the state of each source, with the errors, which name no secrets. */
export async function readFeeds(client: pg.Client): Promise<Row> {
  await becomeOwner(client)
  const { rows } = await client.query<Row>(
    `select h.source, h.title, h.status, h.interval_seconds, h.last_success_at, h.last_event_at,
      nullif(s.next_poll_at, 'infinity') as next_poll_at,
      e.count + m.count as events_1h, h.events_24h, h.items_24h, h.rejected_24h, h.rejected_reason,
      h.latency_p50 as lag_seconds, h.error, s.enabled, s.paused_at
    from private.sources_health() h
    join watchpost.sources s using (source)
    cross join lateral (
      select count(*) from watchpost.events e
      where e.source = h.source and e.ts > now() - interval '24 hours' and e.first_seen_at > now() - interval '1 hour') e
    cross join lateral (
      select count(*) from watchpost.subjects k
      where k.source = h.source and k.ts > now() - interval '1 hour') m
    order by h.status = 'disabled', h.source`,
  )
  return { feeds: rows }
}

/** readQueues counts the jobs and deliveries that wait, run and have failed, and what was done lately. */
export async function readQueues(client: pg.Client): Promise<Row> {
  const { heartbeat: _, queues, ...deliveries } = await queueStatus(client)
  const { rows } = await client.query<{ name: string; count: number }>(
    `select name, count(*)::integer from pgboss.job
    where state = 'completed' and completed_on > now() - interval '5 minutes'
    group by name`,
  )
  const done = new Map(rows.map(({ name, count }) => [name, count]))
  return {
    queues: queues.map((one) => ({ ...one, done_5min: done.get(one.queue) ?? 0 })),
    ...deliveries,
  }
}

/** listActs lists what operators did, the newest first; after `before` where it is given. */
export async function listActs(
  client: pg.Client,
  { before, limit }: { before?: { at: string; id: string } | undefined; limit: number },
): Promise<(Row & { cursor_at: string; id: string })[]> {
  await becomeOwner(client)
  const { rows } = await client.query<Row & { cursor_at: string; id: string }>(
    `select o.id, o.at, o.operator, o.via, o.action, o.target_type, o.target_id, o.details, o.at::text as cursor_at,
      (select a.email from watchpost.accounts a where a.user_id::text = o.target_id) as email
    from watchpost.operator_acts o
    where $1::timestamptz is null or (o.at, o.id) < ($1, $2::uuid)
    order by o.at desc, o.id desc
    limit $3`,
    [before?.at ?? null, before?.id ?? null, limit],
  )
  return rows
}
