import { cpus } from 'node:os'

const LOOK_MS = 1_000
/** How much of the last core others may take before a thread gives it up. */
const SHARED_CORE = 0.6

/**
 * threadsFor says how many of the cores are free for the model. llama.cpp's threads wait for each
 * other, spinning, at every layer: one of them without a core made a two-core machine write 0.6
 * tokens a second, where a single thread wrote 50.
 */
export function threadsFor(free_cores: number, most: number): number {
  return Math.max(1, Math.min(most, Math.floor(free_cores + SHARED_CORE)))
}

/** Calls back when what other processes (and other machines of the host) leave free has changed. */
export function watchCores(most: number, change: (threads: number) => void): void {
  let before = measure()
  let others = 0
  let threads = most
  setInterval(() => {
    const now = measure()
    const wall = now.at - before.at
    const busy = now.cores - (now.idle - before.idle) / wall
    const foreign = Math.max(0, busy - (now.own - before.own) / wall)
    others = (others + foreign) / 2
    before = now
    const next = threadsFor(now.cores - others, most)
    if (next === threads) return
    threads = next
    change(next)
  }, LOOK_MS).unref()
}

/** All in milliseconds; what is neither idle nor ours is somebody else's, stolen time as well. */
function measure() {
  const cores = cpus()
  const { user, system } = process.cpuUsage()
  return {
    at: performance.now(),
    cores: cores.length,
    idle: cores.reduce((sum, { times }) => sum + times.idle, 0),
    own: (user + system) / 1000,
  }
}
