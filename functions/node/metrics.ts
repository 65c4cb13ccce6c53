import { Hono } from 'hono'
import { timingSafeEqual } from 'hono/utils/buffer'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { type Database, inTransaction, type PoolState } from '../db.ts'
import { methodOf } from '../http.ts'
import type { Log } from '../log.ts'

/** How long what was read from the database is shown again. */
const READ_EVERY_MS = 15_000
const PREFIX = 'watchpost_'
const SOURCE_STATES = ['ok', 'stale', 'down', 'disabled'] as const
/** From an answer of a millisecond to one that nobody waits for. */
const REQUEST_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** From the promise of 50 ms to what was retried for hours. */
const DELIVERY_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800, 7200, 36_000]

export type Metrics = {
  /** Counts what a log line says; every request, job and stream writes one. */
  count: Log
  /** Reads from this database what all processes share; as the jobs, who may see it. */
  readFrom: (jobs: Database) => void
  /** Shows how many connections a pool has. */
  watchPool: (name: string, state: () => PoolState) => void
  /** All metrics in the text format of Prometheus. */
  text: () => Promise<string>
  content_type: string
}

/** Counts what this process does, and reads from the database what all processes share. */
export function createMetrics({
  now = Date.now,
  on_error = () => undefined,
}: {
  now?: () => number
  on_error?: (error: unknown) => void
} = {}): Metrics {
  const register = new Registry()
  collectDefaultMetrics({ register })
  const registers = [register]
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter({ name: PREFIX + name, help, labelNames, registers })
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Gauge({ name: PREFIX + name, help, labelNames, registers })
  const histogram = <L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    buckets: number[],
  ) => new Histogram({ name: PREFIX + name, help, labelNames, buckets, registers })

  const requests = counter('http_requests_total', 'Requests by route and status.', [
    'method',
    'route',
    'status',
  ])
  const requestSeconds = histogram(
    'http_request_duration_seconds',
    'Time until a request was answered, by route.',
    ['method', 'route'],
    REQUEST_SECONDS,
  )
  const jobsDone = counter('jobs_total', 'Jobs by queue and outcome.', ['queue', 'outcome'])
  const jobSeconds = histogram(
    'job_duration_seconds',
    'Time that a job took, by queue.',
    ['queue'],
    REQUEST_SECONDS,
  )
  const events = counter(
    'events_ingested_total',
    'Events that sources reported, by what they were.',
    ['source', 'outcome'],
  )
  const rejected = counter('events_rejected_total', 'Items of sources that could not be used.', [
    'source',
  ])
  const alerts = counter('alerts_raised_total', 'Alerts by the source of their event.', ['source'])
  const attempts = counter(
    'delivery_attempts_total',
    'Attempts to deliver, by kind of channel and outcome.',
    ['kind', 'outcome'],
  )
  const dropped = counter(
    'deliveries_dropped_total',
    'Deliveries that ended without an attempt, by what became of them.',
    ['outcome'],
  )
  const deliverySeconds = histogram(
    'delivery_latency_seconds',
    'Time from when an event was first seen until a channel had accepted its alert, by kind of channel.',
    ['kind'],
    DELIVERY_SECONDS,
  )

  const databaseUp = gauge('database_up', 'Whether the database answered (1) or not (0).', [])
  const queueJobs = gauge(
    'queue_jobs',
    'Jobs by queue and state; failed: for good, see queue redrive.',
    ['queue', 'state'],
  )
  const queueOldest = gauge(
    'queue_oldest_seconds',
    'How long the first waiting job has been due.',
    ['queue'],
  )
  const deliveriesWaiting = gauge(
    'deliveries_waiting',
    'Deliveries that are not done, by status.',
    ['status'],
  )
  const deliveriesOldest = gauge(
    'deliveries_oldest_seconds',
    'How long the delivery that waits longest has been due.',
    [],
  )
  const channels = gauge('channels', 'Channels by kind and state; off: switched off.', [
    'kind',
    'state',
  ])
  const channelsPaused = gauge(
    'channels_paused',
    'Channels that get nothing for now, because they failed or asked for it.',
    ['kind'],
  )
  const hostsPaused = gauge(
    'hosts_paused',
    'Hosts of receivers that get nothing for now, because they did not answer or asked for it.',
    ['kind'],
  )
  const sourceStatus = gauge('source_status', '1 for the status that a source has.', [
    'source',
    'status',
  ])
  const sourceSuccess = gauge(
    'source_last_success_timestamp_seconds',
    'When a source last answered.',
    ['source'],
  )
  const heartbeatWell = gauge(
    'heartbeat_well',
    'Whether all was well (1) or not (0) when that was looked at last; only with HEARTBEAT_URL.',
    [],
  )
  const heartbeatCalled = gauge(
    'heartbeat_last_call_timestamp_seconds',
    'When the heartbeat URL last accepted a call.',
    [],
  )
  const connections = gauge(
    'database_connections',
    'Connections of a pool, and requests that wait for one.',
    ['pool', 'state'],
  )

  const pools = new Map<string, () => PoolState>()
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  let database: Database | undefined

  async function readDatabase(jobs: Database): Promise<void> {
    try {
      const found = await inTransaction(
        jobs,
        (sql) => sql<Readings>`
        select
          (select coalesce(jsonb_agg(q), '[]') from (
            select queue, waiting, later, running, failed, oldest_seconds
            from private.queue_counts()) q) as queues,
          (select coalesce(jsonb_agg(d), '[]') from (
            select status, count(*) as count from watchpost.deliveries
            where status in ('queued', 'held', 'sending') group by status) d) as deliveries,
          (select coalesce(extract(epoch from pgboss.job_now() - min(due.at)), 0)::float8 from (
            select coalesce(greatest(next_attempt_at, turn_at), due_at) as at from watchpost.deliveries
            where status in ('queued', 'sending') and digest_id is null and type <> 'channel.test') due
            where due.at <= pgboss.job_now()) as oldest_seconds,
          (select coalesce(jsonb_agg(c), '[]') from (
            select kind, case when enabled then status else 'off' end as state, count(*) as count,
              count(*) filter (where paused_until > pgboss.job_now()) as paused
            from watchpost.channels where deleted_at is null group by 1, 2) c) as channels,
          (select coalesce(jsonb_agg(h), '[]') from private.paused_hosts() h) as hosts,
          (select coalesce(jsonb_agg(s), '[]') from (
            select o.source, private.source_status(o) as status,
              extract(epoch from o.last_success_at)::float8 as last_success
            from watchpost.sources o where o.source not like 'custom%') s) as sources,
          (select jsonb_build_object('is_well', b.reasons = '{}', 'called', extract(epoch from b.called_at)::float8)
            from watchpost.heartbeat b where b.looked_at is not null) as heartbeat`,
      )
      const [row] = found
      if (!row) throw new Error('the database answered no row')
      show(row)
      databaseUp.set(1)
    } catch (error) {
      on_error(error)
      // What was read before says nothing about now.
      forget()
      databaseUp.set(0)
    }
  }

  const read = [
    ...[queueJobs, queueOldest, deliveriesWaiting, deliveriesOldest],
    ...[channels, channelsPaused, hostsPaused, sourceStatus, sourceSuccess],
    ...[heartbeatWell, heartbeatCalled],
  ]
  function forget(): void {
    for (const metric of read) {
      metric.reset()
      // One without labels would be 0 then, which is an answer.
      metric.remove({})
    }
  }

  forget()

  function show(row: Readings): void {
    forget()
    for (const { queue, oldest_seconds, ...states } of row.queues) {
      for (const [state, count] of Object.entries(states)) queueJobs.set({ queue, state }, count)
      queueOldest.set({ queue }, oldest_seconds)
    }
    for (const { status, count } of row.deliveries) deliveriesWaiting.set({ status }, count)
    deliveriesOldest.set(row.oldest_seconds)
    for (const { kind, state, count, paused } of row.channels) {
      channels.set({ kind, state }, count)
      channelsPaused.inc({ kind }, paused)
    }
    for (const { kind, count } of row.hosts) hostsPaused.set({ kind }, count)
    for (const { source, status, last_success } of row.sources) {
      for (const state of SOURCE_STATES) {
        sourceStatus.set({ source, status: state }, state === status ? 1 : 0)
      }
      if (last_success !== null) sourceSuccess.set({ source }, last_success)
    }
    if (!row.heartbeat) return
    heartbeatWell.set(row.heartbeat.is_well ? 1 : 0)
    if (row.heartbeat.called !== null) heartbeatCalled.set(row.heartbeat.called)
  }

  return {
    count: (line) => {
      const seconds = Number(line.duration_ms) / 1000
      if (line.msg === 'request') {
        const [method, route] = [methodOf(String(line.method)) ?? 'other', String(line.route)]
        requests.inc({ method, route, status: String(line.status) })
        requestSeconds.observe({ method, route }, seconds)
      }
      if (line.msg === 'job') {
        const queue = String(line.queue)
        jobsDone.inc({ queue, outcome: String(line.outcome) })
        jobSeconds.observe({ queue }, seconds)
        for (const outcome of ['expired', 'cancelled']) {
          if (queue === 'deliver' && line[outcome] !== undefined) dropped.inc({ outcome })
        }
        if (queue === 'match') add(alerts, { source: sourceOf(line) }, line.alerts)
        if (queue === 'deliver' && line.result !== undefined) {
          const kind = String(line.kind)
          attempts.inc({ kind, outcome: String(line.result) })
          if (typeof line.latency_ms === 'number')
            deliverySeconds.observe({ kind }, line.latency_ms / 1000)
        }
      }
      // Of a poll, a stream or a push; other lines that name a source count nothing of this.
      if (line.source !== undefined) {
        const source = sourceOf(line)
        for (const outcome of ['inserted', 'revised', 'unchanged', 'dropped', 'dropped_late']) {
          add(events, { source, outcome: outcome.replace('_late', '') }, line[outcome])
        }
        add(rejected, { source }, line.rejected_count)
      }
    },
    readFrom: (jobs) => {
      database = jobs
    },
    watchPool: (name, state) => void pools.set(name, state),
    text: async () => {
      if (database && now() - readAt >= READ_EVERY_MS && !reading) {
        reading = readDatabase(database).finally(() => {
          readAt = now()
          reading = undefined
        })
      }
      await reading
      for (const [pool, state] of pools) {
        for (const [name, count] of Object.entries(state()))
          connections.set({ pool, state: name }, count)
      }
      return register.metrics()
    },
    content_type: register.contentType,
  }
}

type Readings = {
  queues: {
    queue: string
    oldest_seconds: number
    waiting: number
    later: number
    running: number
    failed: number
  }[]
  deliveries: { status: string; count: number }[]
  oldest_seconds: number
  channels: { kind: string; state: string; count: number; paused: number }[]
  hosts: { kind: string; count: number }[]
  sources: { source: string; status: string; last_success: number | null }[]
  heartbeat: { is_well: boolean; called: number | null } | null
}

/** The sources of accounts are as many as they like, so they count as one. */
const sourceOf = ({ source }: Record<string, unknown>) =>
  String(source).replace(/^custom:.*/, 'custom')

function add<L extends string>(
  counter: Counter<L>,
  labels: Record<L, string>,
  count: unknown,
): void {
  if (typeof count === 'number' && count > 0) counter.inc(labels, count)
}

/** Serves /metrics to whoever has the token; to everybody where none is set, on a port of its own. */
export function metricsRoutes(metrics: Metrics, token: string | undefined): Hono {
  const routes = new Hono()
  routes.get('/metrics', async (c) => {
    const shown = c.req.header('authorization') ?? ''
    if (token !== undefined && !(await timingSafeEqual(shown, `Bearer ${token}`))) {
      const headers = { 'WWW-Authenticate': 'Bearer realm="watchpost metrics"' }
      return c.text('Send METRICS_TOKEN as "Authorization: Bearer …".\n', 401, headers)
    }
    return c.body(await metrics.text(), 200, {
      'Content-Type': metrics.content_type,
      'Cache-Control': 'no-store',
    })
  })
  return routes
}
