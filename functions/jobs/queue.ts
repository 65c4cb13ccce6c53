import type { Job } from 'pg-boss'
import type { Sql } from '../../shared/sql.ts'
import type { Send } from '../channels/send.ts'
import type { AllowList } from '../channels/target.ts'
import type { Database } from '../db.ts'
import type { Feed } from '../feeds/feed.ts'
import type { Seal } from '../seal.ts'

/** What an entry hands to the jobs; `db` logs in as watchpost_jobs. */
export type JobDeps = {
  db: Database
  seal: Seal
  send: Send
  allow: AllowList
  /** The sources this service polls. */
  feeds: Feed[]
  fetch: typeof fetch
  /** At most so many jobs of a queue at once, where the platform counts connections. */
  max_slots?: number | undefined
  /** Who runs this Watchpost, for upstreams that want to know whom to ask. */
  contact: string | undefined
  log: (line: Record<string, unknown>) => void
}

/** A job of a queue: the payload names a row, the row is the truth. */
export type Payload = { [key: string]: string | undefined }
export type Work = Job<Payload>

/** One queue: what its jobs do. `run` must stand being called twice for the same job. */
export type Queue = {
  name: string
  /** How many of its jobs run at once in one process. */
  slots: number
  /** How many jobs of one group (a channel) run at once everywhere. */
  per_group?: number
  run: (context: JobContext, job: Work) => Promise<Record<string, unknown> | undefined>
}

export type JobContext = {
  deps: JobDeps
  /**
   * One transaction that also completes the job. It rolls back and throws when the job's lease was
   * lost meanwhile, so that a stale process changes nothing.
   */
  finish: <T>(job: Work, work: (sql: Sql) => Promise<T>) => Promise<T>
  /** A transaction of its own, before the job's last one. */
  step: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>
}
