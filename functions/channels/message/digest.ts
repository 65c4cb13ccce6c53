import type { Notification, NotificationAlert } from '../channel.ts'

type Digest = Notification & { alerts: readonly NotificationAlert[] }
type Part = Digest & Required<Pick<Notification, 'part' | 'parts' | 'alerts_total'>>

/** Whether it is a digest that has not been split into its messages. */
export function isWholeDigest(notification: Notification): notification is Digest {
  return notification.alerts !== undefined && notification.parts === undefined
}

/** The units of work of finding where a message ends, measured with messages of 20 kB. */
const UNITS_PER_MESSAGE = 40_000

/**
 * Splits a digest into messages that fit, with the alerts in their order, each in exactly one. An alert that does not
 * fit by itself gets a message of its own. `pace` is told the work done after each message.
 */
export async function splitDigest(
  digest: Digest,
  fits: (message: Notification) => boolean,
  pace: (units: number) => Promise<void> | undefined = () => undefined,
): Promise<Part[]> {
  const { alerts } = digest
  const message = (from: number, to: number, part: number, parts: number) => {
    const held = alerts.slice(from, to)
    const facts = digest.facts && { facts: factsOf(digest.facts, held) }
    const numbers = { part, parts, alerts_total: alerts.length }
    return { ...digest, alert: alerts[from] ?? null, alerts: held, ...facts, ...numbers }
  }
  const starts: number[] = []
  for (let from = 0; from < alerts.length; ) {
    starts.push(from)
    // The numbers are not known yet; none is longer than the number of alerts.
    const fitsUpTo = (to: number) => fits(message(from, to, alerts.length, alerts.length))
    from = lastThat(fitsUpTo, from + 1, alerts.length)
    await pace(UNITS_PER_MESSAGE)
  }
  return starts.map((from, index) =>
    message(from, starts[index + 1] ?? alerts.length, index + 1, starts.length),
  )
}

function factsOf(facts: NonNullable<Digest['facts']>, alerts: readonly NotificationAlert[]) {
  const ids = alerts.map(({ id }) => String(id))
  return Object.fromEntries(ids.flatMap((id) => (facts[id] ? [[id, facts[id]]] : [])))
}

/** The last number from `first` to `last` that passes, where none passes after one that fails; `first` counts as one. */
function lastThat(passes: (value: number) => boolean, first: number, last: number): number {
  let good = first
  let step = 1
  while (good + step <= last && passes(good + step)) {
    good += step
    step *= 2
  }
  for (; step >= 1; step = Math.floor(step / 2)) {
    if (good + step <= last && passes(good + step)) good += step
  }
  return good
}
