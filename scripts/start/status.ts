import type pg from 'pg'
import { PgBoss } from 'pg-boss'
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
}

/** feedsStatus returns what the public health endpoint shows, with the unshortened errors. */
export async function feedsStatus(client: pg.Client): Promise<{ sources: SourceStatus[] }> {
  await becomeOwner(client)
  const { rows } = await client.query<SourceStatus>(
    `select source, status, last_success_at, last_event_at, events_24h::integer, error
    from private.sources_health()`,
  )
  return { sources: rows }
}

/** queueStatus counts the jobs of each queue; those in `dead` wait for `queue redrive`. */
export async function queueStatus(client: pg.Client): Promise<{
  queues: QueueStatus[]
  deliveries_24h: { status: string; count: number }[]
}> {
  await becomeOwner(client)
  const queues = await client.query<QueueStatus>(
    `select q.name as queue,
      count(*) filter (where j.state::text in ('created', 'retry') and j.start_after <= now())::integer as waiting,
      count(*) filter (where j.state::text in ('created', 'retry') and j.start_after > now())::integer as later,
      count(*) filter (where j.state::text = 'active')::integer as running,
      coalesce(extract(epoch from now() - min(j.start_after) filter (
        where j.state::text in ('created', 'retry') and j.start_after <= now())), 0)::integer as oldest_seconds
    from pgboss.queue q
    left join pgboss.job j on j.name = q.name
    group by q.name
    order by q.name`,
  )
  const deliveries = await client.query<{ status: string; count: number }>(
    `select status, count(*)::integer as count
    from watchpost.deliveries
    where updated_at > now() - interval '24 hours'
    group by status
    order by status`,
  )
  return { queues: queues.rows, deliveries_24h: deliveries.rows }
}

/** redrive puts every dead job back into its original queue, with all its attempts. */
export async function redrive(client: pg.Client): Promise<{ redriven: number }> {
  await becomeOwner(client)
  const boss = new PgBoss({
    db: { executeSql: (text: string, values?: unknown[]) => client.query(text, values) },
    schema: 'pgboss',
    migrate: false,
    supervise: false,
    schedule: false,
  })
  await client.query(
    `select private.record_audit('queue.redriven', 'queue', 'dead', array[dead.owner_id],
      jsonb_build_object('deliveries', dead.count))
    from (
      select c.owner_id, count(*)
      from pgboss.job j
      join watchpost.deliveries d on d.id::text = j.data ->> 'delivery_id'
      join watchpost.channels c on c.id = d.channel_id
      where j.name = 'dead' and j.state::text in ('created', 'retry')
      group by c.owner_id
    ) dead`,
  )
  let redriven = 0
  for (let moved = -1; moved !== 0; redriven += moved) moved = await boss.redrive('dead')
  await client.query(`select pg_notify('watchpost_jobs', '')`)
  return { redriven }
}
