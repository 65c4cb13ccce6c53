export const STEPS = ['password', 'key', 'model', 'license', 'mail', 'project', 'brand'] as const
export type Step = (typeof STEPS)[number]
export type StepProps = { onDone: () => void; onSkip: () => void }

/** The steps that may be skipped for now. */
const SKIPPED = 'hub.welcome.skipped'

export function readSkipped(): Step[] {
  const kept = (localStorage.getItem(SKIPPED) ?? '').split(' ')
  return STEPS.filter((step) => kept.includes(step))
}

export function writeSkipped(steps: Step[]): Step[] {
  localStorage.setItem(SKIPPED, steps.join(' '))
  return steps
}

export type Facts = {
  is_set_up: boolean
  key_role: 'hub_ro' | 'hub_rw'
  has_model: boolean
  has_license: boolean
  has_mail: boolean
  projects: number
  /** Whether the first project has a sender. */
  has_brand: boolean
  skipped: readonly Step[]
}

/** The state of every step, from what the hub reports. */
export function stepStates(facts: Facts): Record<Step, 'done' | 'skipped' | 'open'> {
  const done: Record<Step, boolean> = {
    password: facts.is_set_up,
    key: facts.key_role === 'hub_rw',
    model: facts.has_model,
    license: facts.has_license,
    mail: facts.has_mail,
    project: facts.projects > 0,
    brand: facts.has_brand,
  }
  const states = STEPS.map((step) => [
    step,
    done[step] ? 'done' : facts.skipped.includes(step) ? 'skipped' : 'open',
  ])
  return Object.fromEntries(states)
}
