import { type Steps, TooMuchWork } from '../shared/geometry/steps.ts'
import { ApiError } from '../shared/problem.ts'

/** The units of work in one slice, about 5 ms; other requests run in between. */
const UNITS_PER_SLICE = 100_000
/** The units before the first pause: enough for nearly all computations. */
const UNITS_BEFORE_FIRST_PAUSE = 10_000
const UNIT_MS = 50e-6
/** A computation that has waited this long, for its turn or between slices, is refused with 503. */
const MAX_WAIT_MS = 20_000

// Shared by the whole process, so that two computations never run back to back without a pause.
let freeAt = 0

/**
 * Waits for the next slice of `units`. Between two slices the process is free for as long as the last one
 * took, so long computations together get at most half of the time.
 */
export async function nextSlice(units = UNITS_PER_SLICE): Promise<void> {
  do {
    const wait = Math.max(0, freeAt - performance.now())
    await new Promise((resolve) => setTimeout(resolve, wait))
  } while (performance.now() < freeAt)
  freeAt = performance.now() + 2 * units * UNIT_MS
}

/**
 * Runs a computation slice by slice. Throws TooMuchWork beyond `max_units`, and 503 when the process is
 * too busy.
 */
export async function runInSlices<T>(steps: Steps<T>, max_units = Infinity): Promise<T> {
  let all = 0
  let waited_ms = 0
  for (let units = UNITS_PER_SLICE - UNITS_BEFORE_FIRST_PAUSE; ; ) {
    const step = steps.next()
    if (step.done) return step.value
    units += step.value
    all += step.value
    if (all > max_units) throw new TooMuchWork('the computation was given up: it costs too much')
    if (units < UNITS_PER_SLICE) continue
    units = 0
    if (waited_ms > MAX_WAIT_MS) throw busy()
    const began = performance.now()
    await nextSlice()
    waited_ms += performance.now() - began
  }
}

/** For loops that are not written as Steps: counts their units, and returns a promise to await after each slice. */
export function createPacer(): (units: number) => Promise<void> | undefined {
  let units = 0
  return (more) => {
    units += more
    if (units < UNITS_PER_SLICE) return undefined
    units = 0
    return nextSlice()
  }
}

/** How many large computations run at the same time; each holds its rows in memory, and a connection. */
const MAX_RUNNING = 2
const MAX_WAITING = 20
const POLL_MS = 20
/** A computation that runs longer was ended by its platform and will never report its end. */
const ABANDONED_AFTER_MS = 120_000

const running = new Map<object, { account: string; began: number }>()
let waiting = 0

/**
 * Limits large computations: one at a time per account and {@link MAX_RUNNING} in all. A waiting one holds
 * no resources. Throws 503 when too many wait, or one waits too long.
 */
export async function limitConcurrency<T>(account: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  if (!hasSlot(account)) {
    if (waiting >= MAX_WAITING) throw busy()
    waiting++
    try {
      while (!hasSlot(account)) {
        if (performance.now() - began > MAX_WAIT_MS) throw busy()
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      }
    } finally {
      waiting--
    }
  }
  const me = {}
  running.set(me, { account, began: performance.now() })
  try {
    return await work()
  } finally {
    running.delete(me)
  }
}

function hasSlot(account: string): boolean {
  const now = performance.now()
  for (const [one, { began }] of running) {
    if (now - began > ABANDONED_AFTER_MS) running.delete(one)
  }
  const all = [...running.values()]
  return all.length < MAX_RUNNING && all.every((one) => one.account !== account)
}

function busy(): ApiError {
  return new ApiError('unavailable', 'The server is busy with long computations. Try again.')
}
