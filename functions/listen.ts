import pg from 'pg'
import { doublingDelay, jittered } from '../shared/backoff.ts'
import type { Log } from './log.ts'

const CHANNEL = 'watchpost_jobs'
const WAIT_MS = { first: 250, longest: 15_000 }

/**
 * Listens for NOTIFY on a separate connection and calls `wake` when jobs were enqueued, so that they start
 * within milliseconds. Reconnects by itself; until then the runner polls every two seconds.
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
        await listenOnce({ url, wake, signal: stopping.signal, onListening: () => (failures = 0) })
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

/** Listens on one connection until it ends. Throws unless `signal` ended it. */
async function listenOnce(options: {
  url: string
  wake: (queue?: string) => void
  signal: AbortSignal
  onListening: () => void
}): Promise<void> {
  const { url, wake, signal, onListening } = options
  const client = new pg.Client({
    connectionString: url,
    application_name: 'watchpost-listen',
    connectionTimeoutMillis: 5_000,
    // Nothing is ever sent, so only TCP keep-alive detects that the server is gone.
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
