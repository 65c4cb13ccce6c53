import { timingSafeEqual } from 'hono/utils/buffer'
import type { SendBytes, SendMail } from '../channels/transport/send.ts'
import { createPush } from '../channels/transport/send-push.ts'
import { type EdgeJobs, readEdgeJobs } from '../config.ts'
import { createPool } from '../db.ts'
import { withoutStreams } from '../feeds/feeds.ts'
import { registerFeeds } from '../jobs/ingest.ts'
import type { JobDeps } from '../jobs/queue.ts'
import { createRunner } from '../jobs.ts'
import { type Log, consoleLog as log } from '../log.ts'
import { mailByApi } from '../mail/resend.ts'

/** Cloudflare allows six connections per call: three for the database and three for receivers. */
const MAX_CONNECTIONS = 3
const CONNECT_TIMEOUT_MS = 20_000
/** After the response Cloudflare keeps a call alive for 30 s, of which one request to a receiver may take 15. */
export const BACKGROUND_BUDGET_MS = 15_000

/** What an edge entry supplies to the jobs. */
type Platform = {
  send: (config: EdgeJobs) => SendBytes
  /** By default through the mail API alone. */
  mail?: (settings: EdgeJobs['mail']) => SendMail | undefined
} & Pick<JobDeps, 'max_slots'>

type Drained = { ran: number; left: boolean }

/** The jobs on an edge platform, which calls them by a schedule or by HTTP. */
export function createEdgeJobs(
  environment: Record<string, unknown>,
  { send: createSend, mail: createMail = mailByApi, max_slots }: Platform,
) {
  const config = readEdgeJobs(environment)
  const send = createSend(config)
  const mail = createMail(config.mail)
  const push = createPush(config, send)
  const drain = (max_ms = config.budget_ms) => {
    const budget_ms = Math.min(config.budget_ms, max_ms)
    return drainOnce({ ...config, budget_ms }, { send, mail, push, max_slots })
  }
  return {
    drain,
    /** The HTTP handler that runs the jobs. Throws when JOBS_SECRET is not set. */
    handler: () => {
      if (config.secret) return createJobsHandler(config.secret, () => drain(), log)
      throw new Error('JOBS_SECRET is not set. Calls that run the jobs must show it.')
    },
  }
}

/**
 * Runs due jobs until none is left or the time budget is used up. Concurrent calls share the queues, and
 * the next call continues with what is left.
 */
async function drainOnce(
  {
    seal,
    allow,
    feeds: chosen,
    disabled_feeds,
    contact,
    public_url,
    heartbeat_url,
    database,
    budget_ms,
  }: EdgeJobs,
  { send, mail, push, max_slots }: Pick<JobDeps, 'send' | 'mail' | 'push' | 'max_slots'>,
): Promise<Drained> {
  const started = performance.now()
  const db = createPool({
    ...database,
    application_name: 'watchpost-jobs',
    max: MAX_CONNECTIONS,
    connect_timeout_ms: CONNECT_TIMEOUT_MS,
    on_error: (error) => log({ msg: 'database connection', error: error.message }),
  })
  try {
    const { feeds, disabled } = withoutStreams({ feeds: chosen, disabled: disabled_feeds })
    await registerFeeds(db, feeds, disabled)
    const outside = { send, mail, push, allow, fetch, contact, public_url, heartbeat_url, log }
    const runner = createRunner({ db, seal, feeds, max_slots, ...outside })
    const drained = await runner.drain({ budget_ms })
    log({ msg: 'drain', ...drained, duration_ms: Math.round(performance.now() - started) })
    return drained
  } finally {
    await db.end()
  }
}

/** An HTTP handler that runs the jobs for callers with the secret and answers how many ran. */
export function createJobsHandler(
  secret: string,
  drain: () => Promise<Drained>,
  log: Log,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const shown = request.headers.get('authorization') ?? ''
    if (!(await timingSafeEqual(shown, `Bearer ${secret}`))) {
      return Response.json({ error: 'Send JOBS_SECRET as the bearer token.' }, { status: 401 })
    }
    try {
      return Response.json(await drain())
    } catch (error) {
      log({ msg: 'drain', error: error instanceof Error ? error.message : String(error) })
      return Response.json({ error: 'The jobs failed. See the log.' }, { status: 503 })
    }
  }
}
