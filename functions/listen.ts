import pg from 'pg'
import { doublingDelay, jittered } from '../shared/backoff.ts'
import type { Log } from './log.ts'

const CHANNEL = 'watchpost_jobs'
const WAIT_MS = { first: 250, longest: 15_000 }

/**
 * listen hears that jobs were enqueued, over a connection of its own: seconds become milliseconds.
 * It comes back by itself when the connection breaks; meanwhile the jobs look every two seconds.
 */
export function listen(options: { url: string; wake: (queue?: string) => void; log: Log }): {
  stop: () => Promise<void>
} {
  const { url, wake, log } = options
  const stopping = new AbortController()
  const running = (async () => {
    let failures = 0
    while (!stopping.signal.aborted) {
      try {
        await hear({ url, wake, signal: stopping.signal, onHeard: () => (failures = 0) })
      } catch (error) {
        log({
          msg: 'listening stopped',
          error: error instanceof Error ? error.message : String(error),
        })
      }
      failures += 1
      await pause(jittered(doublingDelay(failures, WAIT_MS), Math.random), stopping.signal)
    }
  })()
  return {
    stop: () => {
      stopping.abort()
      return running
    },
  }
}

/** One connection from its start to its end; throws unless it was we who ended it. */
async function hear(options: {
  url: string
  wake: (queue?: string) => void
  signal: AbortSignal
  onHeard: () => void
}): Promise<void> {
  const { url, wake, signal, onHeard } = options
  const client = new pg.Client({
    connectionString: url,
    application_name: 'watchpost-listen',
    connectionTimeoutMillis: 5_000,
    // Nothing is ever sent: only keep-alive tells that the other side is gone.
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
  })
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  ended.catch(() => {})
  const abort = () => resolve()
  signal.addEventListener('abort', abort)
  client.on('error', reject)
  client.on('end', resolve)
  client.on('notification', ({ payload }) => wake(payload || undefined))
  try {
    await client.connect()
    await client.query(`listen ${CHANNEL}`)
    onHeard()
    // What was said while nobody listened.
    wake()
    await ended
    if (!signal.aborted) throw new Error('the connection was closed')
  } finally {
    signal.removeEventListener('abort', abort)
    await client.end().catch(() => {})
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}
