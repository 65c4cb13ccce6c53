import { z } from 'zod'
import { ApiError } from '../../../shared/problem.ts'
import { bilingual, joined } from '../../i18n/words.ts'
import { flowText } from './flow.text.ts'

const say = bilingual(flowText)

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

/** 409 for a step out of order: it names the state and what is next. */
export function wrongState(step: Step, state: State): ApiError {
  const refusal = joined([say.cannot[step], say.is[state]], ': ')
  return new ApiError('wrong_state', joined([refusal, say.next[state]]))
}

/** Refuses a step out of order; the update that follows has the same condition in SQL. */
export function requireState(step: Step, state: State): void {
  const from: readonly State[] = STEPS[step]
  if (!from.includes(state)) throw wrongState(step, state)
}

/** A copy for a parameter of SQL: `state = any(…)`. */
export const statesFor = (step: Step): State[] => [...STEPS[step]]
