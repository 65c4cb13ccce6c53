/** Wakes what sleeps under a name. */
export type Wakes = {
  /** How often a name was woken: a sleep that is given an earlier count ends at once. */
  count: (name: string) => number
  /** Until the name is woken, or so much time is over. */
  sleep: (name: string, ms: number, since?: number) => Promise<void>
  /** Wakes one name, or all. */
  wake: (name?: string) => void
  /** Wakes a name at a moment of this machine's clock; keeps no process alive for it. */
  wakeAt: (name: string, at: Date) => void
}

export function createWakes(): Wakes {
  const counts = new Map<string, number>()
  const sleepers = new Set<{ name: string; end: () => void }>()
  let all = 0
  const count = (name: string) => (counts.get(name) ?? 0) + all
  const wake = (name?: string) => {
    if (name === undefined) all += 1
    else counts.set(name, (counts.get(name) ?? 0) + 1)
    for (const sleeper of [...sleepers]) {
      if (name === undefined || sleeper.name === name) sleeper.end()
    }
  }
  return {
    count,
    sleep: (name, ms, since = count(name)) =>
      new Promise((resolve) => {
        if (count(name) !== since) return resolve()
        const sleeper = { name, end }
        const timer = setTimeout(end, ms)
        sleepers.add(sleeper)
        function end() {
          clearTimeout(timer)
          sleepers.delete(sleeper)
          resolve()
        }
      }),
    wake,
    wakeAt: (name, at) => {
      const timer = setTimeout(() => wake(name), Math.max(0, at.getTime() - Date.now()))
      // Cloudflare's timers are numbers.
      if (typeof timer === 'object') timer.unref()
    },
  }
}
