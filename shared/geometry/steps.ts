/**
 * A long computation in steps. Each step yields the work it did, in units of about 50 ns, so that the
 * caller can let other work run in between, or stop.
 */
export type Steps<T> = Generator<number, T, undefined>

/** Thrown when a computation exceeds its limit of work. */
export class TooMuchWork extends Error {}

/** Runs a computation to its end. Throws {@link TooMuchWork} beyond `max_units`. */
export function runToEnd<T>(steps: Steps<T>, max_units = Infinity): T {
  let units = 0
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    units += step.value
    if (units > max_units)
      throw new TooMuchWork('the computation was stopped: it exceeds the limit of work')
  }
}
