import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { doublingDelay, jittered } from '../../shared/backoff.ts'
import { pause } from '../../shared/pause.ts'
import { POLL_MS } from '../jobs/loops.ts'
import type { Log } from '../log.ts'

const CHANNEL = 'watchpost_jobs'
const TRIAL_CHANNEL = 'watchpost_trial'
const WAIT_MS = { first: 250, longest: 15_000 }
/** How long a notification may take before the connection counts as deaf. */
const HEARD_WITHIN_MS = 5_000
/** A pooler rarely starts to pass on notifications. */
const TRY_AGAIN_MS = 10 * 60_000

/** What is said when a pooler swallows notifications. */
export const UNHEARD = `A pooler between Watchpost and PostgreSQL loses LISTEN, so the jobs look for work every ${POLL_MS / 1000} seconds. Set LISTEN_DATABASE_URL to an address that reaches PostgreSQL directly or through a pooler in session mode.`

class Unheard extends Error {}

type ListenOptions = {
  url: string
  wake: (queue?: string) => void
  log: Log
  /** How long to wait for a notification of its own; shorter in tests. */
  heard_within_ms?: number
}

/**
 * Listens for NOTIFY on a separate connection and calls `wake` when jobs were enqueued, so that they start
 * within milliseconds. Reconnects by itself; until then, and behind a pooler that loses LISTEN, the runner
 * polls.
 */
export function listen(options: ListenOptions): {
  /** Whether notifications are heard at present. */
  isHearing: () => boolean
  stop: () => Promise<void>
} {
  const { log } = options
  const stopping = new AbortController()
  let isHearing = false
  let isKnown = false
  const running = (async () => {
    let failures = 0
    const onListening = () => {
      failures = 0
      isHearing = true
      isKnown = false
    }
    while (!stopping.signal.aborted) {
      let wait_ms: number | undefined
      try {
        await listenOnce(options, { signal: stopping.signal, onListening })
      } catch (error) {
        if (error instanceof Unheard) {
          if (!isKnown) log({ msg: 'listening', error: UNHEARD })
          isKnown = true
          wait_ms = TRY_AGAIN_MS
        } else {
          log({
            msg: 'listening stopped',
            error: error instanceof Error ? error.message : String(error),
          })
        }
      }
      isHearing = false
      failures += 1
      wait_ms ??= jittered(doublingDelay(failures, WAIT_MS), Math.random)
      await pause(wait_ms, stopping.signal)
    }
  })()
  return {
    isHearing: () => isHearing,
    stop: () => {
      stopping.abort()
      return running
    },
  }
}

function createClient(url: string): pg.Client {
  return new pg.Client({
    connectionString: url,
    application_name: 'watchpost-listen',
    connectionTimeoutMillis: 5_000,
    // Nothing is ever sent, so only TCP keep-alive detects that the server is gone.
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
  })
}

/** Listens on one connection until it ends. Throws unless `signal` ended it. */
async function listenOnce(
  { url, wake, heard_within_ms = HEARD_WITHIN_MS }: ListenOptions,
  { signal, onListening }: { signal: AbortSignal; onListening: () => void },
): Promise<void> {
  const client = createClient(url)
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  ended.catch(() => {})
  const abort = () => resolve()
  signal.addEventListener('abort', abort)
  client.on('error', reject)
  client.on('end', resolve)
  client.on('notification', ({ channel, payload }) => {
    if (channel === CHANNEL) wake(payload || undefined)
  })
  try {
    await client.connect()
    await Promise.race([ended, requireHearing(client, url, heard_within_ms)])
    if (signal.aborted) return
    await client.query(`listen ${CHANNEL}`)
    onListening()
    // There may have been notifications before this connection listened.
    wake()
    await ended
    if (!signal.aborted) throw new Error('the connection was closed')
  } finally {
    signal.removeEventListener('abort', abort)
    await client.end().catch(() => {})
  }
}

/**
 * Throws Unheard if `client` does not hear what another connection sends. A transaction pooler runs LISTEN on a
 * connection that it then gives to others.
 */
async function requireHearing(client: pg.Client, url: string, within_ms: number): Promise<void> {
  const trial = randomUUID()
  const { promise: heard, resolve, reject } = Promise.withResolvers<void>()
  heard.catch(() => {})
  const hear = ({ payload }: pg.Notification) => payload === trial && resolve()
  client.on('notification', hear)
  client.once('end', () => reject(new Error('the connection was closed')))
  let timer: NodeJS.Timeout | undefined
  const other = createClient(url)
  other.on('error', reject)
  try {
    await client.query(`listen ${TRIAL_CHANNEL}`)
    await other.connect()
    await other.query('select pg_notify($1, $2)', [TRIAL_CHANNEL, trial])
    timer = setTimeout(() => reject(new Unheard()), within_ms)
    await heard
    await client.query(`unlisten ${TRIAL_CHANNEL}`)
  } finally {
    clearTimeout(timer)
    client.off('notification', hear)
    await other.end().catch(() => {})
  }
}
