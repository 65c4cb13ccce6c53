import { timingSafeEqual } from 'node:crypto'
import type { Send } from './channels/send.ts'
import { type EdgeJobs, readEdgeJobs } from './config.ts'
import { createPool } from './db.ts'
import { registerFeeds } from './jobs/ingest.ts'
import type { JobDeps } from './jobs/queue.ts'
import { createRunner } from './jobs.ts'
import { type Log, consoleLog as log } from './log.ts'

/** Cloudflare gives one call six connections in all: three to the database and three to receivers. */
const MOST_CONNECTIONS = 3
const PATIENCE_MS = 20_000
/** Behind an answer Cloudflare lets a call live for 30 s, and what is being sent may take 15 of them. */
export const BEHIND_AN_ANSWER_MS = 15_000

/** What an edge entry brings to the jobs of its own. */
type Platform = { send: (config: EdgeJobs) => Send } & Pick<JobDeps, 'max_slots'>

export type Drained = { ran: number; left: boolean }

/** createEdgeJobs is the jobs where a platform calls them. */
export function createEdgeJobs(
  environment: Record<string, unknown>,
  { send: createSend, max_slots }: Platform,
) {
  const config = readEdgeJobs(environment)
  const send = createSend(config)
  const drain = (most_ms = config.budget_ms) => {
    const budget_ms = Math.min(config.budget_ms, most_ms)
    return drainOnce({ ...config, budget_ms }, { send, max_slots })
  }
  return {
    drain,
    /** For a platform that calls by HTTP. */
    handler: () => {
      if (config.secret) return createJobsHandler(config.secret, () => drain(), log)
      throw new Error('JOBS_SECRET is not set: what a call of the jobs has to show.')
    },
  }
}

/**
 * Runs what is due until nothing is left or the budget is used up. Two of them at once share the
 * queues, and what one leaves the next call takes up.
 */
async function drainOnce(
  { seal, allow, feeds, contact, database, budget_ms }: EdgeJobs,
  { send, max_slots }: Pick<JobDeps, 'send' | 'max_slots'>,
): Promise<Drained> {
  const started = performance.now()
  const db = createPool({
    ...database,
    application_name: 'watchpost-jobs',
    max: MOST_CONNECTIONS,
    patience_ms: PATIENCE_MS,
    on_error: (error) => log({ msg: 'database connection', error: error.message }),
  })
  try {
    await registerFeeds(db, feeds)
    const outside = { send, allow, fetch, contact, log }
    const runner = createRunner({ db, seal, feeds, max_slots, ...outside })
    const drained = await runner.drain({ budget_ms })
    log({ msg: 'drain', ...drained, duration_ms: Math.round(performance.now() - started) })
    return drained
  } finally {
    await db.end()
  }
}

const encoder = new TextEncoder()

/** createJobsHandler runs the jobs for whoever calls with the secret, and answers what was done. */
export function createJobsHandler(
  secret: string,
  drain: () => Promise<Drained>,
  log: Log,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const shown = request.headers.get('authorization') ?? ''
    if (!(await isSame(shown, `Bearer ${secret}`))) {
      return Response.json({ error: 'Show JOBS_SECRET as a bearer token.' }, { status: 401 })
    }
    try {
      return Response.json(await drain())
    } catch (error) {
      log({ msg: 'drain', error: error instanceof Error ? error.message : String(error) })
      return Response.json({ error: 'The jobs failed; the log says why.' }, { status: 503 })
    }
  }
}

/** By digests, which have one length: how long a comparison takes tells nothing of the secret. */
async function isSame(left: string, right: string): Promise<boolean> {
  const digests = [left, right].map((text) => crypto.subtle.digest('SHA-256', encoder.encode(text)))
  const [one, other] = await Promise.all(digests)
  return timingSafeEqual(new Uint8Array(one ?? []), new Uint8Array(other ?? []))
}
