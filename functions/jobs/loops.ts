import { beat, type HeartbeatDeps } from './heartbeat.ts'
import type { Queue } from './queue.ts'
import type { Wakes } from './wakes.ts'

const TICK_MS = 1_000
const WATCH_EVERY_MS = 10_000
const STEPS_EVERY_MS = 1_000
const EVIDENCE_EVERY_MS = 5_000
const HEARTBEAT_EVERY_MS = 5_000
/** How often a queue is looked at when nothing wakes it. */
export const POLL_MS = 2_000
const ERROR_PAUSE_MS = 2_000

/**
 * One loop per queue, which sleeps until it is woken or the poll interval is over, and one each for `tick`,
 * `watchTroubles`, `runSteps` and `freeze`.
 */
export function startLoops({
  deps,
  queues,
  tick,
  watchTroubles,
  runSteps,
  freeze,
  runQueue,
  wakes,
}: {
  deps: HeartbeatDeps
  queues: readonly Queue[]
  tick: () => Promise<void>
  watchTroubles: () => Promise<void>
  runSteps: () => Promise<void>
  freeze: () => Promise<void>
  runQueue: (queue: Queue, until: () => boolean) => Promise<number>
  wakes: Wakes
}) {
  let stopped = false
  /** Whether the work was done. */
  const attempt = async (name: string, work: () => Promise<unknown>) => {
    try {
      await work()
      return true
    } catch (error) {
      deps.log({
        msg: 'queue error',
        queue: name,
        error: error instanceof Error ? error.message : String(error),
      })
      return false
    }
  }
  const loop = async (name: string, pause_ms: number, work: () => Promise<unknown>) => {
    while (!stopped) {
      const isDone = await attempt(name, work)
      if (!stopped) await wakes.sleep(name, isDone ? pause_ms : ERROR_PAUSE_MS)
    }
  }
  /**
   * What was enqueued while the queue was looked at for the last time is not left until the next poll; but a queue that
   * cannot be looked at is left alone, however much is enqueued.
   */
  const queueLoop = async (queue: Queue) => {
    while (!stopped) {
      const since = wakes.count(queue.name)
      const isDone = await attempt(queue.name, () => runQueue(queue, () => stopped))
      if (stopped) return
      await (isDone
        ? wakes.sleep(queue.name, POLL_MS, since)
        : wakes.sleep(queue.name, ERROR_PAUSE_MS))
    }
  }
  const loops = [
    loop('tick', TICK_MS, tick),
    // By itself: to tell 50,000 channels takes half a minute, in which the feeds are polled all the same.
    loop('watch', WATCH_EVERY_MS, watchTroubles),
    loop('steps', STEPS_EVERY_MS, runSteps),
    loop('evidence', EVIDENCE_EVERY_MS, freeze),
    // By itself: a URL that does not answer takes 15 seconds.
    ...(deps.heartbeat_url ? [loop('heartbeat', HEARTBEAT_EVERY_MS, () => beat(deps))] : []),
    ...queues.map(queueLoop),
  ]
  return {
    wake: wakes.wake,
    stop: async () => {
      stopped = true
      wakes.wake()
      await Promise.allSettled(loops)
    },
  }
}
