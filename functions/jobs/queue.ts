import type { Job } from 'pg-boss'
import type { Sql } from '../../shared/sql.ts'
import type { Send, SendMail, SendMqtt, SendPush } from '../channels/transport/send.ts'
import type { AllowList } from '../channels/transport/target.ts'
import type { Database } from '../db.ts'
import type { AnyFeed } from '../feeds/feed.ts'
import type { Seal } from '../seal.ts'
import type { Origin, Tracing } from '../tracing/tracing.ts'
import type { Portions } from './match-ahead.ts'
import type { ZoneMirror } from './zone-mirror.ts'

/** What an entry passes to the jobs; `db` logs in as watchpost_jobs. */
export type JobDeps = {
  db: Database
  seal: Seal
  send: Send
  /** Sends a mail; undefined where there is no way. */
  mail?: SendMail | undefined
  /** Publishes to an MQTT broker; undefined where the platform cannot. */
  mqtt?: SendMqtt | undefined
  /** Notifies a browser; undefined where the operator has no keys for that. */
  push?: SendPush | undefined
  allow: AllowList
  /** Called while all is well; undefined where the operator has none. */
  heartbeat_url?: string | undefined
  /** The feeds that this service polls. */
  feeds: AnyFeed[]
  fetch: typeof fetch
  /** The maximum number of jobs of a queue at once, for platforms that limit connections. */
  max_slots?: number | undefined
  /** How much is matched in one go; tests ask for less. */
  portions?: Portions | undefined
  /** The boxes of all zones in memory; absent where a process does not live long. */
  zones?: ZoneMirror | undefined
  /** The public URL of this service, without a trailing slash; null where the jobs do not know it. */
  public_url: string | null
  /** How to reach the operator; sent to upstreams. */
  contact: string | undefined
  log: (line: Record<string, unknown>) => void
  /** Traces the jobs; absent where nothing is traced. */
  tracing?: Tracing | undefined
}

/** The payload of a job contains only the id of a row, which has the actual data. */
export type Payload = { [key: string]: string | undefined }
export type Work = Job<Payload>

/** What the log line of a job says. */
export type Line = Record<string, unknown> | undefined

/** A queue and what its jobs do. `run` may be called twice for the same job. */
export type Queue = {
  name: string
  /** How many of its jobs run at once in a process. */
  slots: number
  /** How many jobs of a group (a channel) run at once in all processes. */
  per_group?: number
  /** Whether it takes few jobs while another queue goes first. */
  gives_way?: boolean
  /** What the traces of jobs go on from, by their ids. Asked only where jobs are traced. */
  origins?: (sql: Sql, jobs: Work[]) => Promise<Map<string, Origin>>
  /** Begins what jobs have in common that were fetched together; what it answers runs each of them. */
  run: (context: JobContext, jobs: Work[]) => (job: Work) => Promise<Line>
}

/** The `run` of a queue whose jobs have nothing in common. */
export const each =
  (run: (context: JobContext, job: Work) => Promise<Line>): Queue['run'] =>
  (context) =>
  (job) =>
    run(context, job)

/** Ends a job in a transaction with others that end at the same time; `store` is called with the items of all of them. */
export type FinishTogether = (
  job: Work,
  item: object,
  store: (sql: Sql, items: object[]) => Promise<void>,
) => Promise<void>

export type JobContext = {
  deps: JobDeps
  tracing: Tracing
  /**
   * A transaction that also completes the jobs. If the lease of one was lost meanwhile, it rolls back
   * and throws, so that a stale process changes nothing.
   */
  finish: <T>(jobs: Work | Work[], work: (sql: Sql) => Promise<T>) => Promise<T>
  finishTogether: FinishTogether
  /** Has a queue looked at when a job of it becomes due, where that is before the next look. */
  lookAt: (queue: string, at: Date) => void
  /** While this work runs, the queues of this process that give way take few jobs. */
  first: <T>(work: () => Promise<T>) => Promise<T>
  /** A separate transaction, before the last one of the job. */
  step: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>
}
