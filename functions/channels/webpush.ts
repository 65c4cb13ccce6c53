import { z } from 'zod'
import type { ChannelKind, Classification, Issue, Message, Notification } from './channel.ts'
import { configIssues, type Given, httpsUrl, targetIssue } from './check.ts'
import { heard, isTemporary, noAnswer, retryAfter } from './classify.ts'
import { type Card, cardOf, signOf, type Tone } from './message/card.ts'
import { bytes, shortenBy, units } from './message/text.ts'
import { MAX_PUSH_BYTES, type PushRequest, type SendResult } from './transport/send.ts'
import { maskTarget } from './transport/target.ts'

/** The push services of the browsers; others need the operator's permission by name. */
const HOSTS = [
  /^fcm\.googleapis\.com$/,
  /^([a-z0-9-]+\.)?push\.services\.mozilla\.com$/,
  /^([a-z0-9-]+\.)?push\.apple\.com$/,
  /^([a-z0-9-]+\.)?notify\.windows\.com$/,
]
const WHERE =
  'In the browser, call pushManager.subscribe() with the public key of GET /web-push, and send `endpoint` as target and `keys` as config.'

const base64url = (length: number) =>
  z
    .string({ error: `Must be a key of the subscription. ${WHERE}` })
    .refine((text) => /^[\w-]+={0,2}$/.test(text) && lengthOf(text) === length, {
      error: `Must be ${length} bytes in base64url. ${WHERE}`,
    })

const WebPushConfig = z.strictObject({
  /** The browser's public key, an uncompressed point on P-256. */
  p256dh: base64url(65),
  /** The secret of the subscription. */
  auth: base64url(16),
})

const MAX_TITLE = 120
const MAX_BODY_BYTES = 2_000
/** How long a push service keeps a message for a browser that is not connected. */
const TTL_SECONDS = 4 * 60 * 60

/** What does not wake a device that saves its battery. */
const CALM: ReadonlySet<Tone> = new Set(['minor', 'low', 'over', 'well'])

/** A browser that has subscribed (RFC 8030). A later message about an alert takes the place of the one before. */
export const webpush: ChannelKind<PushRequest> = {
  kind: 'webpush',
  transport: 'push',
  schedule: 'message',
  pace: null,
  check: (given) => [...checkTarget(given), ...configIssues(WebPushConfig, given.config)],
  host: (target) => new URL(target).host,
  mask: maskTarget,
  fits: (notification, style) =>
    bytes(bodyOf(cardOf({ notification, ...style }))) <= MAX_BODY_BYTES,
  async render(message) {
    const card = cardOf(message)
    const alert_id = idOf(message.notification)
    return {
      transport: 'push',
      endpoint: message.target,
      keys: WebPushConfig.parse(message.config),
      payload: payloadOf(card, message, alert_id),
      ttl_seconds: TTL_SECONDS,
      urgency: CALM.has(card.tone) ? 'normal' : 'high',
      // 32 characters of an alphabet that a topic may have.
      topic: alert_id === null ? null : alert_id.replaceAll('-', ''),
    }
  },
  classify,
}

function checkTarget({ target, allow }: Given): Issue[] {
  const url = httpsUrl(target)
  if (!url) return [targetIssue('malformed', `Must be the endpoint of a subscription. ${WHERE}`)]
  if (HOSTS.some((host) => host.test(url.host)) || allow.names.has(url.hostname)) return []
  const message = `${url.host} is not a push service that is known here. The operator can permit it in ALLOW_PRIVATE_TARGETS.`
  return [targetIssue('wrong_host', message)]
}

const shortenTitle = shortenBy(units)
const shortenBody = shortenBy(bytes)

/**
 * A notification in the form of Declarative Web Push (magic number 8030), which browsers that know it show without a
 * script; for the others a service worker passes `title` and the rest to showNotification.
 */
function payloadOf(card: Card, message: Message, alert_id: string | null) {
  const { notification, language, public_url } = message
  const navigate = card.url ?? public_url ?? 'https://www.openstreetmap.org/'
  const shown = {
    title: shortenTitle(`${signOf(card)} ${card.title}`, MAX_TITLE, message),
    body: shortenBody(bodyOf(card), MAX_BODY_BYTES, message),
    lang: language,
    navigate,
    // What takes the place of another notification is silent, unless it says otherwise.
    ...(alert_id === null
      ? {}
      : { tag: alert_id, renotify: notification.type === 'alert.escalated' }),
    data: { type: notification.type, alert_id, links: card.links },
  }
  const payload = JSON.stringify({ web_push: 8030, notification: shown })
  if (bytes(payload) <= MAX_PUSH_BYTES) return payload
  // JSON writes some characters with six: a short body always fits.
  const body = shortenBody(shown.body, MAX_BODY_BYTES / 6, message)
  const data = { ...shown.data, links: [] }
  return JSON.stringify({ web_push: 8030, notification: { ...shown, body, data } })
}

/** What stands below the title. */
function bodyOf({ heading, text, facts, items, footer }: Card): string {
  const lines = [
    heading,
    text,
    facts.map(({ name, value }) => `${name}: ${value}`).join(' · '),
    ...items.map((item) => `${signOf(item)} ${item.title} · ${item.line}`),
    footer,
  ]
  return lines.filter((line) => line !== '').join('\n')
}

function idOf({ alert, type }: Notification): string | null {
  return type !== 'alert.digest' && typeof alert?.id === 'string' ? alert.id : null
}

function lengthOf(text: string): number {
  return Math.floor((text.replace(/=+$/, '').length * 3) / 4)
}

function classify(result: SendResult, now: Date): Classification {
  if (!result.ok) return noAnswer(result)
  const { status } = result
  const base = heard(result)
  if (status >= 200 && status < 300) return { ...base, outcome: 'ok' }
  const error = `The push service answered HTTP ${status}.`
  if (status === 404 || status === 410) {
    return { ...base, outcome: 'disable_channel', error: `${error} The browser has unsubscribed.` }
  }
  if (status === 401 || status === 403) {
    const way = 'The browser has subscribed with another key. Let it subscribe again.'
    return { ...base, outcome: 'disable_channel', error: `${error} ${way}` }
  }
  if (!isTemporary(status)) return { ...base, outcome: 'fail_permanent', error }
  const isThrottled = status === 429
  return {
    ...base,
    ...retryAfter(result, now),
    outcome: 'retry',
    throttled: isThrottled,
    counted: !isThrottled,
    error,
  }
}
