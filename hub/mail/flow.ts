import { z } from 'zod'
import { ApiError } from '../../shared/problem.ts'

/** The states of a draft, in their order; the last three are ends from which only a person leads on. */
export const STATES = [
  'draft',
  'rendered',
  'approved',
  'pushed',
  'sending',
  'sent',
  'unclear',
  'rejected',
  'failed',
] as const
export const State = z.enum(STATES)
export type State = z.infer<typeof State>

/** What can be done with a draft, from which states, and what is said to be next. */
export const STEPS = {
  edit: ['draft', 'rendered', 'approved', 'pushed', 'rejected', 'failed'],
  redesign: ['draft', 'rendered', 'approved', 'pushed', 'rejected', 'failed'],
  render: ['draft', 'rendered', 'approved', 'pushed', 'rejected', 'failed'],
  approve: ['rendered'],
  push: ['approved'],
  send: ['pushed'],
  pause: ['sending'],
  resume: ['sending'],
  clear: ['unclear'],
  reject: ['draft', 'rendered', 'approved', 'pushed', 'failed'],
} as const satisfies Record<string, readonly State[]>
export type Step = keyof typeof STEPS

const NEXT: Record<State, string> = {
  draft: 'Render it next (draft/render or draft/redesign).',
  rendered: 'Approve it next, or edit, redesign or reject it.',
  approved: 'Push it next; an edit voids the approval.',
  pushed: 'Send it next; an edit voids the approval.',
  sending: 'It is on its way: pause it, or wait until it is sent.',
  sent: 'Nothing is left to do; create another draft for another mail.',
  unclear: 'Look whether the mail arrived, then say so with draft/clear.',
  rejected: 'Edit or redesign it to take it up again.',
  failed: 'Its reason says why. Edit or render it again.',
}

/** 409 for a step out of order: it names the state and what is next. */
export function wrongState(step: Step, state: State): ApiError {
  return new ApiError('wrong_state', `Cannot ${step}: the draft is ${state}. ${NEXT[state]}`)
}

/** Refuses a step out of order; the update that follows has the same condition in SQL. */
export function requireState(step: Step, state: State): void {
  const from: readonly State[] = STEPS[step]
  if (!from.includes(state)) throw wrongState(step, state)
}

/** A copy for a parameter of SQL: `state = any(…)`. */
export const statesFor = (step: Step): State[] => [...STEPS[step]]
