/** The states of a draft, in their order; only a person can lead it out of the last three. */
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
export type State = (typeof STATES)[number]

/** The steps of a draft, and the states in which each is possible. */
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

/** Whether a step can be taken from a state. */
export function canStep(step: Step, state: State): boolean {
  const from: readonly State[] = STEPS[step]
  return from.includes(state)
}

/** The states of each mail of a draft. */
export const MAIL_STATES = [
  'waiting',
  'pushed',
  'sending',
  'sent',
  'unclear',
  'skipped',
  'failed',
] as const
