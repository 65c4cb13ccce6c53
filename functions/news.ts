import { pause } from '../shared/pause.ts'

/** How requests that wait for news are woken. A waiting request holds no connection. */
export type News = {
  /** Waits until there may be news, at most `ms`, or until `signal` aborts. True when the service is stopping. */
  wait: (ms: number, signal: AbortSignal) => Promise<boolean>
}

/** News for a process that listens to the database. After `stop` nobody waits any more. */
export function createNews(): News & { wake: () => void; stop: () => void } {
  const stopping = new AbortController()
  let next = new AbortController()
  return {
    wake: () => {
      next.abort()
      next = new AbortController()
    },
    stop: () => stopping.abort(),
    wait: async (ms, signal) => {
      await pause(ms, AbortSignal.any([signal, next.signal, stopping.signal]))
      return stopping.signal.aborted
    },
  }
}
