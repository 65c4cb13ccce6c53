import type pg from 'pg'
import { becomeOwner } from '../postgres/accounts.ts'

type SourceStatus = {
  source: string
  status: string
  last_success_at: Date | null
  last_event_at: Date | null
  events_24h: number
  error: string | null
}

type QueueStatus = {
  queue: string
  /** Jobs that may run now. */
  waiting: number
  /** Jobs that may run later: retries, and those scheduled for a later time. */
  later: number
  running: number
  /** How long the first waiting job has been due. */
  oldest_seconds: number
  /** Jobs of this queue that have used up their retries and wait in `dead`. */
  failed: number
  /** How long ago the first of them failed for good; null without one. */
  oldest_failed_seconds: number | null
}

type DeliveryStatus = { status: string; count: number; oldest_seconds: number }

/** feedsStatus returns what the public health endpoint shows, with the unshortened errors. */
export async function feedsStatus(client: pg.Client): Promise<{ sources: SourceStatus[] }> {
  await becomeOwner(client)
  const { rows } = await client.query<SourceStatus>(
    `select source, status, last_success_at, last_event_at, events_24h::integer, error
    from private.sources_health()`,
  )
  return { sources: rows }
}

/** One row; all null where HEARTBEAT_URL is not set. */
type HeartbeatStatus = {
  looked_at: Date | null
  /** Why the URL was not called then; empty when all was well. */
  not_well: string
  called_at: Date | null
  error: string | null
}

/** queueStatus counts the jobs of each queue; those in `dead` wait for `queue redrive`. Shows how the heartbeat is, too. */
export async function queueStatus(client: pg.Client): Promise<{
  queues: QueueStatus[]
  deliveries_waiting: DeliveryStatus[]
  deliveries_24h: { status: string; count: number }[]
  heartbeat: HeartbeatStatus[]
}> {
  await becomeOwner(client)
  const queues = await client.query<QueueStatus>(
    `select queue, waiting::integer, later::integer, running::integer, oldest_seconds::integer,
      failed::integer, oldest_failed_seconds::integer
    from private.queue_counts()`,
  )
  const waiting = await client.query<DeliveryStatus>(
    `select status, count(*)::integer as count,
      extract(epoch from now() - min(created_at))::integer as oldest_seconds
    from watchpost.deliveries
    where status in ('queued', 'held', 'sending')
    group by status
    order by status`,
  )
  const deliveries = await client.query<{ status: string; count: number }>(
    `select status, count(*)::integer as count
    from watchpost.deliveries
    where updated_at > now() - interval '24 hours'
    group by status
    order by status`,
  )
  const heartbeat = await client.query<HeartbeatStatus>(
    `select looked_at, array_to_string(reasons, ' ') as not_well, called_at, error
    from watchpost.heartbeat`,
  )
  return {
    queues: queues.rows,
    deliveries_waiting: waiting.rows,
    deliveries_24h: deliveries.rows,
    heartbeat: heartbeat.rows,
  }
}
