import type { Message } from '../channels/channel.ts'
import { signLink } from '../links.ts'
import type { JobContext } from './queue.ts'

const HOUR_MS = 60 * 60_000
const DAY_MS = 24 * HOUR_MS
/** How long each link works, from the first attempt: every attempt sends the same one. */
const LASTS_MS = { confirm: 48 * HOUR_MS, acknowledge: 7 * DAY_MS, unsubscribe: 400 * DAY_MS }
const ACKNOWLEDGED = ['alert.raised', 'alert.revised', 'alert.escalated']

type Links = Pick<Message, 'acknowledge_url' | 'confirm_url' | 'unsubscribe_url'>
type Delivery = { channel_id: string; kind: string; type: string; first_attempt_at: string }

/** The signed links of a message; none where this service does not know its own address. */
export async function linksOf(
  { deps: { seal, public_url }, step }: Pick<JobContext, 'deps' | 'step'>,
  { channel_id, kind, type, first_attempt_at }: Delivery,
  { notification }: Pick<Message, 'notification'>,
): Promise<Links> {
  const links: Links = { acknowledge_url: null }
  // A webhook is read by programs, which have keys.
  if (public_url === null || kind === 'webhook') return links
  const place = { seal, public_url }
  const until = (ms: number) => new Date(Date.parse(first_attempt_at) + ms)
  const alert_id = notification.alert?.id
  if (ACKNOWLEDGED.includes(type) && typeof alert_id === 'string') {
    const [purpose, expires_at] = ['acknowledge', until(LASTS_MS.acknowledge)] as const
    const subject = { alert_id, channel_id }
    links.acknowledge_url = await signLink(place, { purpose, subject, expires_at })
  }
  if (kind !== 'email') return links
  const [row] = await step(
    (sql) => sql<{ confirmation_id: string }>`
      select confirmation_id from watchpost.channels where id = ${channel_id}`,
  )
  if (!row) return links
  const subject = { channel_id, confirmation_id: row.confirmation_id }
  if (type === 'channel.confirmation') {
    const [purpose, expires_at] = ['confirm-address', until(LASTS_MS.confirm)] as const
    return { ...links, confirm_url: await signLink(place, { purpose, subject, expires_at }) }
  }
  const [purpose, expires_at] = ['unsubscribe', until(LASTS_MS.unsubscribe)] as const
  return { ...links, unsubscribe_url: await signLink(place, { purpose, subject, expires_at }) }
}
