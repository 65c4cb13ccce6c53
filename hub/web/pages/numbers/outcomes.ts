import type { Schemas } from '../../api/client.ts'

type Mail = Schemas['Kpi']['mail']
export type Outcome = keyof Mail

/** Nothing counts these for a mail without tracking, so that a zero may mean "not measured". */
const MEASURED_SOMETIMES: readonly Outcome[] = ['opened', 'clicked']

/** The outcomes to show: opens and clicks only where some were counted. */
export function outcomesOf(mail: Mail): Outcome[] {
  const all = Object.keys(mail) as Outcome[] // safe: the keys of mail
  return all.filter((one) => mail[one] > 0 || !MEASURED_SOMETIMES.includes(one))
}

/** The share of those who got a mail that replied; absent while nobody got one. */
export function replyRate({ sent, replied }: Pick<Mail, 'sent' | 'replied'>): number | undefined {
  return sent > 0 ? Math.min(1, replied / sent) : undefined
}
