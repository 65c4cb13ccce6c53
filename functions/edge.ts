import { timingSafeEqual } from 'node:crypto'
import { addressLimit } from './address.ts'
import { createApp } from './app.ts'
import type { EdgeApi, EdgeJobs } from './config.ts'
import { createPool, type Database } from './db.ts'
import type { Deps } from './deps.ts'
import { registerFeeds } from './jobs/ingest.ts'
import { createRunner, type JobDeps } from './jobs.ts'
import type { Log } from './log.ts'
import { checkLogin } from './login.ts'
import { remoteSessions } from './sessions.ts'

/** What an edge entry brings to the API of its own. */
type Platform = Pick<Deps, 'db' | 'send' | 'address' | 'wake' | 'log'>

/** createEdgeApp is the API where a platform calls it: what service.ts is for a process. */
export function createEdgeApp(config: EdgeApi, platform: Platform): ReturnType<typeof createApp> {
  const { seal, allow, limits, origins, public_url, auth } = config
  return createApp({
    ...platform,
    db: checkedLogin(platform.db),
    seal,
    allow,
    limits,
    origins,
    public_url,
    verify_session: remoteSessions(auth),
    address_limit: addressLimit(limits.address),
    // Static files are the platform's: it answers them before it calls us.
    asset: async () => undefined,
  })
}

/** An isolate has no start at which a login could be checked, so its first use is. */
function checkedLogin(db: Database): Database {
  let is_checked = false
  const connect: Database['connect'] = async () => {
    if (!is_checked) await checkLogin(db)
    is_checked = true
    return db.connect()
  }
  return { ...db, connect }
}

/** Cloudflare gives one call six connections in all, and three of them have to stay for sending. */
const MOST_CONNECTIONS = 3
const PATIENCE_MS = 20_000

export type Drained = { ran: number; left: boolean }

/**
 * drainOnce runs what is due until nothing is left or the budget is used up. Two of them at once
 * share the queues, and what one leaves the next call takes up.
 */
export async function drainOnce(
  { seal, allow, feeds, contact, database, budget_ms }: EdgeJobs,
  { send, log, most_slots }: Pick<JobDeps, 'send' | 'log' | 'most_slots'>,
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
    const runner = createRunner({ db, seal, feeds, most_slots, ...outside })
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

/** createWake lets the platform wait for a call of the jobs that no answer waits for. */
export function createWake(options: {
  call: () => Promise<void>
  afterwards: (work: Promise<unknown>) => void
  log: Log
}): () => void {
  const { call, afterwards, log } = options
  return () =>
    afterwards(call().catch((error) => log({ msg: 'waking the jobs', error: String(error) })))
}

/** callByHttp calls the address that createJobsHandler answers. */
export async function callByHttp({ url, secret }: NonNullable<EdgeApi['jobs']>): Promise<void> {
  const headers = { Authorization: `Bearer ${secret}` }
  const { ok, status, body } = await fetch(url, { method: 'POST', headers })
  await body?.cancel()
  if (!ok) throw new Error(`the jobs answered ${status}`)
}
