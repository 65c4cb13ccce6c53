import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { HeartbeatDeps } from '../../../functions/jobs/heartbeat.ts'
import { POLL_MS, startLoops } from '../../../functions/jobs/loops.ts'
import { createPrecedence } from '../../../functions/jobs/precedence.ts'
import type { Queue } from '../../../functions/jobs/queue.ts'
import { createWakes } from '../../../functions/jobs/wakes.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const QUEUE: Queue = { name: 'deliver', slots: 1, run: () => async () => undefined }

/** Loops over one queue, each look at which is done by the next of `looks`; afterwards they find nothing. */
function setUp(looks: ((wake: () => void) => void)[] = []) {
  const lines: Record<string, unknown>[] = []
  const wakes = createWakes()
  const did = { tick: 0, watch: 0, steps: 0, freezes: 0, looks: 0, heartbeats: 0 }
  const count = (name: keyof typeof did) => async () => {
    did[name] += 1
  }
  const deps: HeartbeatDeps = {
    // Only a heartbeat asks for a connection here.
    db: {
      pipelined: false,
      connect: () => {
        did.heartbeats += 1
        throw new Error('away')
      },
    } as unknown as HeartbeatDeps['db'], // safe: nothing else of it is used
    send: () => Promise.reject(new Error('nothing is sent here')),
    log: (line) => void lines.push(line),
  }
  const start = (heartbeat_url?: string) =>
    startLoops({
      deps: { ...deps, heartbeat_url },
      queues: [QUEUE],
      tick: count('tick'),
      watchTroubles: count('watch'),
      runSteps: count('steps'),
      freeze: count('freezes'),
      runQueue: async () => {
        did.looks += 1
        looks.shift()?.(() => wakes.wake('deliver'))
        return 0
      },
      wakes,
    })
  return { did, lines, start }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

test('a queue is looked at again when it is woken, when it was woken meanwhile, and now and then', async () => {
  const { did, start } = setUp([(wake) => wake()])
  const loops = start()
  await pass(0)
  expect(did.looks).toBe(2)
  await pass(POLL_MS - 1)
  expect(did.looks).toBe(2)
  loops.wake('match')
  await pass(0)
  expect(did.looks).toBe(2)
  loops.wake('deliver')
  await pass(0)
  expect(did.looks).toBe(3)
  await pass(POLL_MS)
  expect(did.looks).toBe(4)
  await loops.stop()
})

test('one that cannot be looked at is left alone, even if it was woken meanwhile, and the log says why', async () => {
  const fails = (wake: () => void) => {
    wake()
    throw new Error('is away')
  }
  const { did, lines, start } = setUp([fails])
  const loops = start()
  await pass(0)
  expect(did.looks).toBe(1)
  expect(lines).toEqual([{ msg: 'queue error', queue: 'deliver', error: 'is away' }])
  await pass(2_000)
  expect(did.looks).toBe(2)
  await loops.stop()
})

test('the rest is done at intervals of its own; what fails is done again', async () => {
  const { did, lines, start } = setUp()
  const loops = start('https://hc-ping.com/check')
  await pass(10_500)
  expect(did).toMatchObject({ tick: 11, watch: 2, steps: 11, freezes: 3 })
  expect(did.heartbeats).toBe(6)
  expect(lines.every(({ queue, error }) => queue === 'heartbeat' && error === 'away')).toBe(true)
  await loops.stop()
})

test('without a heartbeat URL nobody asks how all is, and after the stop nothing is done', async () => {
  const { did, start } = setUp()
  const loops = start()
  await pass(5_500)
  expect(did.heartbeats).toBe(0)
  const before = { ...did }
  await loops.stop()
  await pass(60_000)
  expect(did).toEqual(before)
})

test('a queue that gives way takes few jobs, and then none for a while, as long as something goes first', async () => {
  const { first, few, pause } = createPrecedence()
  expect(few(100)).toBe(100)
  await pause()
  const work = Promise.withResolvers<void>()
  const both = [first(() => work.promise), first(() => work.promise)]
  expect([few(100), few(3)]).toEqual([25, 3])
  let isOver = false
  const paused = pause().then(() => {
    isOver = true
  })
  await pass(249)
  expect(isOver).toBe(false)
  await pass(1)
  await paused
  work.reject(new Error('failed'))
  await Promise.allSettled(both)
  expect(few(100)).toBe(100)
})
