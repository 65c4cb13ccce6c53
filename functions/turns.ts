import { type Steps, TooMuchWork } from '../shared/geometry/work.ts'
import { ApiError } from '../shared/problem.ts'

/** What one computation does before everybody else has their turn: about 5 ms. */
const UNITS_A_TURN = 100_000
/** What it does before its first turn: enough for nearly all there are. */
const UNITS_AT_ONCE = 10_000
const UNIT_MS = 50e-6
/** Who has waited this long for all others is told to come again. */
const PATIENCE_MS = 20_000

// One clock for the whole process: two computations never follow each other without a pause.
let freeAt = 0

/**
 * turn waits until the process has answered others for as long as the last turn took, and then takes
 * one of so many units. Long work of all requests and jobs together so gets half of the time.
 */
export async function turn(units = UNITS_A_TURN): Promise<void> {
  do {
    const wait = Math.max(0, freeAt - performance.now())
    await new Promise((resolve) => setTimeout(resolve, wait))
  } while (performance.now() < freeAt)
  freeAt = performance.now() + 2 * units * UNIT_MS
}

/**
 * inTurns runs a computation a turn at a time. Beyond `most` units it throws TooMuchWork; a process
 * that is too busy for it is 503.
 */
export async function inTurns<T>(steps: Steps<T>, most = Infinity): Promise<T> {
  const began = performance.now()
  let all = 0
  for (let units = UNITS_A_TURN - UNITS_AT_ONCE; ; ) {
    const step = steps.next()
    if (step.done) return step.value
    units += step.value
    all += step.value
    if (all > most) throw new TooMuchWork('the computation was given up: it costs too much')
    if (units < UNITS_A_TURN) continue
    units = 0
    if (performance.now() - began > PATIENCE_MS) throw busy()
    await turn()
  }
}

/** breather is for loops that cannot be steps: it counts their work, and after each turn waits for the next. */
export function breather(): (units: number) => Promise<void> | undefined {
  let units = 0
  return (more) => {
    units += more
    if (units < UNITS_A_TURN) return undefined
    units = 0
    return turn()
  }
}

/** So many of the longest computations hold their rows in memory, and a connection, at the same time. */
const MOST_AT_ONCE = 2
const MOST_WAITING = 20
const LOOK_EVERY_MS = 20
/** Who is still here after this has been cut off by its platform, and will never say that it is done. */
const GONE_AFTER_MS = 120_000

const running = new Map<object, { who: string; began: number }>()
let waiting = 0

/**
 * oneOfFew runs what reads and computes much: one at a time of everybody, and few of all. Whoever waits
 * holds nothing meanwhile; when too many do, or too long, it is 503.
 */
export async function oneOfFew<T>(who: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  if (!isFree(who)) {
    if (waiting >= MOST_WAITING) throw busy()
    waiting++
    try {
      while (!isFree(who)) {
        if (performance.now() - began > PATIENCE_MS) throw busy()
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
      }
    } finally {
      waiting--
    }
  }
  const me = {}
  running.set(me, { who, began: performance.now() })
  try {
    return await work()
  } finally {
    running.delete(me)
  }
}

function isFree(who: string): boolean {
  const now = performance.now()
  for (const [one, { began }] of running) {
    if (now - began > GONE_AFTER_MS) running.delete(one)
  }
  const all = [...running.values()]
  return all.length < MOST_AT_ONCE && all.every((one) => one.who !== who)
}

function busy(): ApiError {
  return new ApiError('unavailable', 'Too much is being computed at the moment. Try again.')
}
