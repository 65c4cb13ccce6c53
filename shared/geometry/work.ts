/**
 * A long computation in steps: each says how much work it did, in units of about 50 ns, so that
 * whoever runs it may let others run in between, or give it up.
 */
export type Steps<T> = Generator<number, T, undefined>

/** A computation that was given up, because it would have cost too much. */
export class TooMuchWork extends Error {}

/** `atOnce` runs a computation to its end; throws {@link TooMuchWork} beyond `most` units. */
export function atOnce<T>(steps: Steps<T>, most = Infinity): T {
  let units = 0
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    units += step.value
    if (units > most) throw new TooMuchWork('the computation was given up: it costs too much')
  }
}
