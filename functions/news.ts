/** How requests that wait for news are woken. A waiting request holds no connection. */
export type News = {
  /** Waits until there may be news, at most `ms`, or until `signal` aborts. True when the service is stopping. */
  wait: (ms: number, signal: AbortSignal) => Promise<boolean>
}

/** News for a process that listens to the database. After `stop` nobody waits any more. */
export function createNews(): News & { wake: () => void; stop: () => void } {
  const waiting = new Set<() => void>()
  let is_stopped = false
  const wake = () => {
    for (const resolve of [...waiting]) resolve()
  }
  return {
    wake,
    stop: () => {
      is_stopped = true
      wake()
    },
    wait: async (ms, signal) => {
      if (is_stopped) return true
      await pause(ms, signal, (resolve) => {
        waiting.add(resolve)
        return () => waiting.delete(resolve)
      })
      return is_stopped
    },
  }
}

/** Waits `ms` or until `signal` aborts. `register` takes what ends it early, and returns what unregisters it. */
export function pause(
  ms: number,
  signal: AbortSignal,
  register: (resolve: () => void) => () => void = () => () => undefined,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
    const unregister = register(done)
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      unregister()
      resolve()
    }
  })
}
