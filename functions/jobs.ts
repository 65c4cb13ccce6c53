import { PgBoss } from 'pg-boss'
import { type Connection, inTransaction } from './db.ts'
import { deliver } from './jobs/deliver.ts'
import { drill } from './jobs/drill.ts'
import { escalate } from './jobs/escalate.ts'
import { freezeSettled } from './jobs/evidence.ts'
import { beat } from './jobs/heartbeat.ts'
import { ingest } from './jobs/ingest.ts'
import { POLL_MS, startLoops } from './jobs/loops.ts'
import { match } from './jobs/match.ts'
import { matchZone } from './jobs/match-zone.ts'
import { createPrecedence } from './jobs/precedence.ts'
import { purge } from './jobs/purge.ts'
import type { JobContext, JobDeps, Payload, Queue, Work } from './jobs/queue.ts'
import { release } from './jobs/release.ts'
import { createTogether } from './jobs/together.ts'
import { endUnseenStays } from './jobs/unseen-stays.ts'
import { createWakes } from './jobs/wakes.ts'
import { rememberOpened } from './seal.ts'
import { errorType, NO_TRACING, type Origin, type Span } from './tracing/tracing.ts'

export const QUEUES = [match, deliver, release, matchZone, drill, ingest, purge] satisfies Queue[]
const MAX_FETCHED = 100
/** While more jobs are due than slots are free, so long is waited for more of them: jobs are cheaper together. */
const GATHER_MS = 50
const SUPERVISE_EVERY_MS = 30_000
const PURGE_EVERY_MS = 10 * 60_000
const UNSEEN_EVERY_MS = 60_000
/** How often a queue is looked at while some of its slots are busy. */
const RUNNING_POLL_MS = 250
/** A drain waits this long for a message whose turn comes soon. */
const TURN_WAIT_MS = 2_000

/** Runs the queues in one process, through a pg-boss that uses the connections of `deps.db`. */
export type Runner = {
  /** Runs jobs until none is due or due soon, or the budget is used up. Returns how many ran, and whether any are left. */
  drain: (options: { budget_ms: number }) => Promise<{ ran: number; left: boolean }>
  /** Runs until stopped. `wake` makes it poll one queue, or all, at once. */
  start: () => { wake: (queue?: string) => void; stop: () => Promise<void> }
}

/** Runs the statements of pg-boss on a connection of ours, so that they share its transaction. */
function bossDb(connection: Pick<Connection, 'query'>) {
  return {
    // Some of its texts are several statements, which only a text without values may be.
    executeSql: (text: string, values: unknown[] = []) =>
      connection.query(text, values.length > 0 ? values : undefined),
  }
}

export function createRunner(given: JobDeps): Runner {
  const deps = { ...given, seal: rememberOpened(given.seal) }
  const boss = new PgBoss({
    db: {
      executeSql: async (text: string, values?: unknown[]) => {
        const connection = await deps.db.connect()
        try {
          const result = await bossDb(connection).executeSql(text, values)
          connection.release()
          return result
        } catch (error) {
          connection.release(true)
          throw error
        }
      },
    },
    schema: 'pgboss',
    migrate: false,
    supervise: false,
    schedule: false,
    // The same interval as ours, so that every pass of supervise checks every queue.
    monitorIntervalSeconds: SUPERVISE_EVERY_MS / 1000,
  })
  boss.on('error', (error) => deps.log({ msg: 'queue error', error: error.message }))

  const finish: JobContext['finish'] = (given, work) =>
    inTransaction(deps.db, async (sql, connection) => {
      const jobs = Array.isArray(given) ? given : [given]
      const [first] = jobs
      const value = await work(sql)
      if (!first) return value
      const done = await boss.complete(first.name, jobs, null, { db: bossDb(connection) })
      // safe: the answer says how many jobs it settled, its published type only does not
      if ((done as { affected?: number }).affected !== jobs.length) throw new LeaseLost(first)
      return value
    })
  const { tracing = NO_TRACING } = deps
  const wakes = createWakes()
  const precedence = createPrecedence()
  const context: JobContext = {
    deps,
    tracing,
    first: precedence.first,
    step: (work) => inTransaction(deps.db, work),
    finish,
    finishTogether: createTogether(finish),
    lookAt: (queue, at) => {
      if (at.getTime() - Date.now() < POLL_MS) wakes.wakeAt(queue, at)
    },
  }

  /** What the traces of jobs go on from; they run also when nobody can say. */
  async function originsOf({ origins }: Queue, jobs: Work[]): Promise<Map<string, Origin>> {
    if (!tracing.is_on || !origins) return new Map()
    return inTransaction(deps.db, (sql) => origins(sql, jobs)).catch(() => new Map())
  }

  function spanOf(queue: Queue, job: Work, origin: Origin | undefined) {
    const attributes = {
      'messaging.system': 'pg-boss',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': queue.name,
      'messaging.message.id': job.id,
    }
    const name = `process ${queue.name}`
    return { name, kind: 'consumer' as const, attributes, parent: null, ...origin }
  }

  async function settle(
    queue: Queue,
    job: Work,
    { run, span }: { run: ReturnType<Queue['run']>; span: Span },
  ): Promise<void> {
    const started = performance.now()
    const line: Record<string, unknown> = { msg: 'job', queue: queue.name, job_id: job.id }
    try {
      Object.assign(line, await run(job), { outcome: 'done' })
      if (line.feed_error !== undefined) span.fail('feed_error')
    } catch (error) {
      if (error instanceof LeaseLost) {
        line.outcome = 'lease_lost'
      } else {
        line.outcome = 'failed'
        line.error = error instanceof Error ? error.message : String(error)
        span.fail(errorType(error))
        await boss
          .fail(queue.name, job, { message: line.error })
          .catch((failure) => deps.log({ msg: 'queue error', error: String(failure) }))
      }
    }
    line.duration_ms = Math.round(performance.now() - started)
    span.set(toldOf(line))
    deps.log(line)
  }

  async function startAll(queue: Queue, jobs: Work[], running: Set<Promise<void>>): Promise<void> {
    const origins = await originsOf(queue, jobs)
    const run = queue.run(context, jobs)
    for (const job of jobs) {
      const settled = tracing
        .span(spanOf(queue, job, origins.get(job.id)), (span) => settle(queue, job, { run, span }))
        .finally(() => running.delete(settled))
      running.add(settled)
    }
  }

  function fetchJobs(queue: Queue, free: number): Promise<Work[]> {
    const most = Math.min(free, MAX_FETCHED)
    return boss.fetch<Payload>(queue.name, {
      batchSize: queue.gives_way ? precedence.few(most) : most,
      ...(queue.per_group ? { groupConcurrency: queue.per_group } : {}),
    })
  }

  /** Until one of the slots is free, and so many as are fetched at once or what is free a little later. */
  async function freeSlots(running: Set<Promise<void>>, slots: number): Promise<void> {
    await Promise.race(running)
    const enough = Math.min(MAX_FETCHED, Math.ceil(slots / 2))
    const over = new Promise<'over'>((resolve) => setTimeout(resolve, GATHER_MS, 'over'))
    while (slots - running.size < enough) {
      if ((await Promise.race([over, ...running])) === 'over') return
    }
  }

  /** Keeps a queue's slots full until it is empty or `until` is true. Returns how many jobs ran. */
  async function runQueue(queue: Queue, until: () => boolean): Promise<number> {
    const slots = Math.min(queue.slots, deps.max_slots ?? queue.slots)
    const running = new Set<Promise<void>>()
    let ran = 0
    try {
      while (!until()) {
        const since = wakes.count(queue.name)
        const jobs = await fetchJobs(queue, slots - running.size)
        ran += jobs.length
        if (jobs.length > 0) await startAll(queue, jobs, running)
        if (running.size === 0) break
        // A slow receiver must not keep the other slots from new jobs.
        if (running.size >= slots) await freeSlots(running, slots)
        else if (jobs.length === 0) {
          await Promise.race([wakes.sleep(queue.name, RUNNING_POLL_MS, since), ...running])
        }
        if (queue.gives_way && jobs.length > 0) await precedence.pause()
      }
    } finally {
      // Also when fetching fails: nobody would know of a job that goes on.
      await Promise.all(running)
    }
    return ran
  }

  const due = { supervise: 0, purge: 0, unseen: 0 }
  async function tick(): Promise<void> {
    const now = Date.now()
    await inTransaction(deps.db, (sql) =>
      Promise.all([sql`select private.enqueue_due()`, sql`select private.end_events()`]),
    )
    if (now >= due.supervise) {
      due.supervise = now + SUPERVISE_EVERY_MS
      await boss.supervise()
    }
    if (now >= due.unseen) {
      due.unseen = now + UNSEEN_EVERY_MS
      await inTransaction(deps.db, (sql) => endUnseenStays(sql))
    }
    if (now >= due.purge) {
      due.purge = now + PURGE_EVERY_MS
      await inTransaction(
        deps.db,
        (sql) => sql`
          select private.enqueue('purge', gen_random_uuid(), '{}', p_singleton => 'purge')`,
      )
    }
  }

  /** Tells the zones of the sources, and the owners of the channels, that have failed for too long or are back. */
  async function watchTroubles(): Promise<void> {
    const [row] = await inTransaction(
      deps.db,
      (sql) => sql<{ told: { source: string; told: string }[] }>`
        select private.watch_sources() as told`,
    )
    for (const told of row?.told ?? []) deps.log({ msg: 'source', ...told })
    // In a transaction of its own: the one must not wait for the other.
    const [channels] = await inTransaction(
      deps.db,
      (sql) => sql<{ told: { channel_id: string; told: string }[] }>`
        select private.watch_channels() as told`,
    )
    for (const told of channels?.told ?? []) deps.log({ msg: 'channel', ...told })
  }

  /** Runs the steps of alerts that nobody has acknowledged in time. */
  async function runSteps(): Promise<void> {
    for (;;) {
      const done = await inTransaction(deps.db, (sql) => escalate(sql))
      for (const step of done) deps.log({ msg: 'step', ...step })
      if (done.length === 0) return
    }
  }

  /** Makes the records of alerts that have settled. */
  async function freeze(): Promise<void> {
    while ((await freezeSettled(deps)) > 0);
  }

  /** The queues with a job that is due, and at which moment of the database. */
  async function dueQueues(): Promise<{ due: Queue[]; at: string }> {
    const names = QUEUES.map(({ name }) => name)
    const [row] = await inTransaction(
      deps.db,
      (sql) => sql<{ at: string; due: string[] }>`
        with clock as materialized (select pgboss.job_now() as at)
        select clock.at::text as at, array(
          select queue.name
          from unnest(${names}::text[]) as queue (name)
          where exists (
            select from pgboss.job
            where name = queue.name and state < 'active' and start_after <= clock.at)) as due
        from clock`,
    )
    if (!row) throw new Error('the database did not say which queues are due')
    return { due: QUEUES.filter(({ name }) => row.due.includes(name)), at: row.at }
  }

  /**
   * How long until the first message after `since` that waits for the pace of its channel, or for its crowded host, if
   * that is soon; 0 if it became due meanwhile.
   */
  async function nextTurnMs(since: string): Promise<number | undefined> {
    const [row] = await inTransaction(
      deps.db,
      (sql) => sql<{ wait_ms: number | null }>`
        select extract(epoch from min(soon.at) - pgboss.job_now())::float8 * 1000 as wait_ms
        from (
          select turn_at as at from watchpost.deliveries
          where status = 'queued' and turn_at > ${since}::timestamptz
          union all
          -- What was taken up and found its host crowded.
          select j.start_after
          from pgboss.job j
          join watchpost.deliveries d on d.id = (j.data ->> 'delivery_id')::uuid and d.status = 'sending'
          where j.name = ${deliver.name} and j.state < 'active' and j.start_after > ${since}::timestamptz
            and j.start_after < pgboss.job_now() + ${TURN_WAIT_MS} * interval '1 millisecond') soon`,
    )
    const wait = row?.wait_ms ?? TURN_WAIT_MS
    return wait < TURN_WAIT_MS ? Math.max(wait, 0) : undefined
  }

  /** Runs jobs until none is due or due soon, or the budget is used up. */
  async function drainQueues({ budget_ms }: { budget_ms: number }) {
    const deadline = performance.now() + budget_ms
    const late = () => performance.now() >= deadline
    let ran = 0
    await tick()
    await watchTroubles()
    await runSteps()
    await freezeSettled(deps)
    for (;;) {
      const { due, at } = await dueQueues()
      if (late()) return { ran, left: due.length > 0 || (await nextTurnMs(at)) !== undefined }
      const counts = await Promise.all(due.map((queue) => runQueue(queue, late)))
      const round = counts.reduce((sum, count) => sum + count, 0)
      ran += round
      if (round > 0 || late()) continue
      // Since the same moment: nothing may become due between the two looks and be seen by neither.
      const turn = await nextTurnMs(at)
      // What is due and was not to be had waits for a message that another process sends to its channel.
      if (turn === undefined) return { ran, left: due.length > 0 }
      if (performance.now() + turn >= deadline) return { ran, left: true }
      await new Promise((resolve) => setTimeout(resolve, turn))
    }
  }

  return {
    drain: async (options) => {
      const drained = await drainQueues(options)
      await beat(deps)
      return drained
    },
    start: () =>
      startLoops({ deps, queues: QUEUES, tick, watchTroubles, runSteps, freeze, runQueue, wakes }),
  }
}

/** What the span of a job tells of its log line: no texts that others wrote. */
const TOLD = ['source', 'channel_id', 'kind', 'type', 'attempt', 'result', 'waits_for', 'gave_up']
  .concat(['inserted', 'revised', 'rejected_count', 'revisions', 'pairs', 'alerts', 'updates'])
  .concat(['released', 'outcome'])

function toldOf(line: Record<string, unknown>) {
  return Object.fromEntries(
    TOLD.flatMap((name) => {
      const value = line[name]
      const isPlain = typeof value === 'string' || typeof value === 'number'
      return isPlain ? [[`watchpost.${name}`, value] as const] : []
    }),
  )
}

class LeaseLost extends Error {
  constructor(job: Work) {
    super(`the lease of job ${job.id} of ${job.name} was lost`)
  }
}
