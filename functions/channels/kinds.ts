import type { ChannelKind, Issue, Message, Outcome } from './channel.ts'
import type { Send } from './send.ts'
import { webhook } from './webhook.ts'

const LATER_KINDS = ['slack', 'discord', 'teams', 'telegram', 'email', 'pagerduty', 'ntfy']

/** The kinds there are: one file each, one line here. */
export const CHANNEL_KINDS: ReadonlyMap<string, ChannelKind> = new Map([[webhook.kind, webhook]])

/** findKind returns the kind or, as an issue, what to use instead. */
export function findKind(kind: string): { kind: ChannelKind } | { issue: Issue } {
  const found = CHANNEL_KINDS.get(kind)
  if (found) return { kind: found }
  const names = [...CHANNEL_KINDS.keys()].map((name) => `"${name}"`).join(' or ')
  const what = LATER_KINDS.includes(kind) ? 'is not available yet' : 'does not exist'
  const message = `Channel kind ${JSON.stringify(kind)} ${what}. Use ${names}.`
  return { issue: { path: 'kind', code: 'unavailable_kind', message } }
}

/** deliver sends one message once and says what became of it. It never throws for the receiver's sake. */
export async function deliver(kind: ChannelKind, message: Message, send: Send): Promise<Outcome> {
  const result = await send(await kind.render(message))
  return { ...kind.classify(result, message.now), duration_ms: result.duration_ms }
}
