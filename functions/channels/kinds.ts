import { answerOf } from './answer.ts'
import type { AnyKind, Issue, Message, Outcome } from './channel.ts'
import { discord } from './discord.ts'
import { email } from './email.ts'
import { mqtt } from './mqtt.ts'
import { ntfy } from './ntfy.ts'
import { pagerduty } from './pagerduty.ts'
import { pushover } from './pushover.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'
import { type Transports, transmit } from './transport/send.ts'
import { webhook } from './webhook.ts'
import { webpush } from './webpush.ts'

/** The available kinds of channels; each has its own file. */
export const CHANNEL_KINDS: ReadonlyMap<string, AnyKind> = new Map(
  [webhook, slack, discord, telegram, email, pagerduty, ntfy, teams, pushover, mqtt, webpush].map(
    (kind): [string, AnyKind] => [kind.kind, kind],
  ),
)

/** The kind of this name or, if it is unknown, an issue that names the available kinds. */
export function findKind(kind: string): { kind: AnyKind } | { issue: Issue } {
  const found = CHANNEL_KINDS.get(kind)
  if (found) return { kind: found }
  const names = [...CHANNEL_KINDS.keys()]
    .map((name) => `"${name}"`)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1')
  const message = `The channel kind ${JSON.stringify(kind)} does not exist. Use ${names}.`
  return { issue: { path: 'kind', code: 'unavailable_kind', message } }
}

/** How often one message may be sent on to somewhere else before that counts as a failure. */
const MAX_REDIRECTIONS = 2

/**
 * Sends a message once and returns the outcome. Never throws because of the receiver. Where the message that it was to
 * change is gone, it is sent as a new one at once; where the receiver has moved, to where it is now.
 */
export async function deliver(
  kind: AnyKind,
  message: Message,
  transports: Transports,
): Promise<Outcome> {
  const started = performance.now()
  let now = message
  let moved: Pick<Outcome, 'new_target'> = {}
  for (let turn = 0; ; turn += 1) {
    const result = await transmit(await kind.render(now), transports)
    const outcome = kind.classify(result, now.now)
    const { new_target } = outcome
    if (new_target !== undefined) moved = { new_target }
    const isGone = outcome.is_gone === true && now.remote_ref !== null
    if (turn === MAX_REDIRECTIONS || !(isGone || (new_target && new_target !== now.target))) {
      const waited = Math.round(performance.now() - started)
      const duration_ms = turn === 0 ? result.duration_ms : waited
      return { ...outcome, ...moved, ...answerOf(result), duration_ms }
    }
    now = { ...now, target: new_target ?? now.target, remote_ref: isGone ? null : now.remote_ref }
  }
}
