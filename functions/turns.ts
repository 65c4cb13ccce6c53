import { ApiError } from '../shared/problem.ts'
import { type Steps, TooMuchWork } from '../shared/work.ts'

/** What one computation does before everybody else has their turn: about 5 ms. */
const UNITS_A_TURN = 100_000
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
  for (let units = 0; ; ) {
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

function busy(): ApiError {
  return new ApiError('unavailable', 'Too much is being computed at the moment. Try again.')
}
