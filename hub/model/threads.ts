import { cpus } from 'node:os'

const LOOK_MS = 1_000
/** How much of the last core other processes may use before the model gives up a thread. */
const SHARED_CORE = 0.6

/**
 * threadsFor returns how many cores are free for the model. At every layer the threads of llama.cpp
 * wait for each other, spinning: with one thread too many, a two-core machine wrote 0.6 tokens per
 * second, where a single thread wrote 50.
 */
export function threadsFor(free_cores: number, most: number): number {
  return Math.max(1, Math.min(most, Math.floor(free_cores + SHARED_CORE)))
}

/**
 * Calls back when the number of cores that other processes (and other machines of the host) leave
 * free has changed.
 */
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

/** All in milliseconds. What is neither idle nor ours belongs to others, including stolen time. */
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
