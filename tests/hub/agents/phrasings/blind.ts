import { FIRST } from './blind/first.ts'
import { SECOND } from './blind/second.ts'
import { THIRD } from './blind/third.ts'
import { UNSEEN } from './blind/unseen.ts'

/**
 * Tasks as people in a sales team type them, small letters, slips and all. Each list was written
 * before it was measured; the kinds of sentences were then mended with the first three in view, one
 * after the other. `README.md` has the figures of each step.
 */
export const BLIND = Object.entries({ FIRST, SECOND, THIRD, UNSEEN }).flatMap(([list, tasks]) =>
  Object.values(tasks).flatMap((byAgent) =>
    Object.entries(byAgent).flatMap(([agent, own]) => own.map((task) => ({ list, agent, task }))),
  ),
)
