import type pg from 'pg'
import { PgBoss } from 'pg-boss'
import { UsageError } from '../start/arguments.ts'
import { becomeOwner } from './accounts.ts'
import { recordAct } from './operator.ts'

/** A job that has used up its retries. */
export type DeadJob = {
  id: string
  queue: string | null
  died_at: Date
  /** How often it was tried again. */
  retries: number | null
  /** Why the last try failed. */
  error: string | null
  /** What it was about: ids only. */
  about: Record<string, unknown>
}

/** More of a message is its stack. */
const MAX_ERROR = 500

/** SQL: whether job `d` has used up its retries. */
const DEAD = `d.name = 'dead' and d.state::text in ('created', 'retry')`

/** listDeadJobs lists those of every queue, or of one, the newest first; those after `before` where it is given. */
export async function listDeadJobs(
  client: pg.Client,
  {
    queue,
    before,
    limit,
  }: {
    queue?: string | undefined
    before?: { at: string; id: string } | undefined
    limit: number
  },
): Promise<(DeadJob & { cursor_at: string })[]> {
  await becomeOwner(client)
  const { rows } = await client.query<DeadJob & { cursor_at: string }>(
    `select d.id, d.source_name as queue, d.created_on as died_at, d.source_retry_count as retries,
      left(split_part(coalesce(d.source_output ->> 'message', d.source_output #>> '{}'), E'\\n', 1), ${MAX_ERROR}) as error,
      d.data as about, d.created_on::text as cursor_at
    from pgboss.job d
    where ${DEAD} and ($1::text is null or d.source_name = $1)
      and ($2::timestamptz is null or (d.created_on, d.id) < ($2, $3::uuid))
    order by d.created_on desc, d.id desc
    limit $4`,
    [queue ?? null, before?.at ?? null, before?.id ?? null, limit],
  )
  return rows
}

/**
 * redrive puts dead jobs back into their original queues, the oldest first, with all their attempts: at most
 * `limit`, of one queue or one job where it is named. It says how many remain, and how many no queue would take.
 */
export async function redrive(
  client: pg.Client,
  { limit, queue, job }: { limit: number; queue?: string | undefined; job?: string | undefined },
): Promise<{ redriven: number; remaining: number; unroutable: number }> {
  await becomeOwner(client)
  const boss = new PgBoss({
    db: { executeSql: (text: string, values?: unknown[]) => client.query(text, values) },
    schema: 'pgboss',
    migrate: false,
    supervise: false,
    schedule: false,
  })
  const names = await client.query<{ name: string }>('select name from pgboss.queue order by name')
  if (queue !== undefined && !names.rows.some(({ name }) => name === queue)) {
    const known = names.rows.map(({ name }) => name).join(', ')
    throw new UsageError(`There is no queue "${queue}". There are: ${known}.`)
  }
  const { rows } = await client.query<{ id: string }>(
    `select d.id from pgboss.job d
    where ${DEAD} and d.source_name is not null and ($1::text is null or d.source_name = $1)
      and ($3::uuid is null or d.id = $3)
    order by d.created_on, d.id
    limit $2`,
    [queue ?? null, limit, job ?? null],
  )
  const ids = rows.map(({ id }) => id)
  if (job !== undefined && ids.length === 0) {
    throw new Error(`No job ${job} has failed for good, or it does not say which queue it is of.`)
  }
  if (ids.length > 0) {
    // Before those in the logs of the owners, which know of their deliveries alone.
    await recordAct(client, {
      ...{ action: 'queue.redriven', type: 'queue', id: 'dead' },
      details: { jobs: ids.length, ...(queue ? { queue } : {}), ...(job ? { job } : {}) },
    })
  }
  await client.query(
    `select private.record_audit('queue.redriven', 'queue', 'dead', array[dead.owner_id],
      jsonb_build_object('deliveries', dead.count))
    from (
      select c.owner_id, count(*)
      from pgboss.job j
      join watchpost.deliveries d on d.id::text = j.data ->> 'delivery_id'
      join watchpost.channels c on c.id = d.channel_id
      where j.name = 'dead' and j.id = any($1)
      group by c.owner_id
    ) dead`,
    [ids],
  )
  const redriven = ids.length > 0 ? await boss.redrive('dead', { ids, limit: ids.length }) : 0
  await client.query(`select pg_notify('watchpost_jobs', '')`)
  const left = await boss.previewRedrive('dead', queue === undefined ? {} : { sourceName: queue })
  return { redriven, remaining: left.total, unroutable: left.unroutable }
}

/** discard deletes a dead job for good. The message that it was to send is cancelled, and its owner's log says why. */
export async function discard(
  client: pg.Client,
  { job, reason }: { job: string; reason: string },
): Promise<{ discarded: string }> {
  await becomeOwner(client)
  const { rows } = await client.query<{ count: number }>(
    'select private.discard_dead(array[$1::uuid], $2) as count',
    [job, reason],
  )
  if (!rows[0]?.count) throw new Error(`No job ${job} has failed for good.`)
  return { discarded: job }
}
