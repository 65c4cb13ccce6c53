import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { sign } from '../../shared/signing.ts'
import { VERSION } from '../../shared/version.ts'
import type { ChannelKind, Classification, Issue, Notification } from './channel.ts'
import { configIssues } from './check.ts'
import { heard, isTemporary, noAnswer, retryAfter } from './classify.ts'
import type { SendResult } from './transport/send.ts'
import { checkTarget, maskTarget } from './transport/target.ts'

const MAX_BODY_BYTES = 20_000
const MAX_HEADERS = 20

/** Headers that Watchpost sets itself, or that belong to the connection. */
const RESERVED_HEADERS = [
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'user-agent',
  'expect',
  'date',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

const HeaderName = z
  .string()
  .max(100)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'A header name consists of letters, digits and hyphens.')
  .refine(
    (name) => !RESERVED_HEADERS.includes(name.toLowerCase()),
    'Watchpost sets this header itself.',
  )
  .refine((name) => !/^webhook-/i.test(name), 'Watchpost sets the headers named webhook-… itself.')

const HeaderValue = z
  .string()
  .max(4096)
  .regex(/^[\t\x20-\x7e]*$/, 'A header value must be printable ASCII without line breaks.')

// Assigning this name would set a prototype, and zod drops it from a record silently.
const NO_NAME = '__proto__'

const WebhookConfig = z.strictObject({
  headers: z
    .unknown()
    .refine((headers) => !Object.hasOwn(Object(headers), NO_NAME), {
      error: `A header cannot be named ${NO_NAME}.`,
      path: [NO_NAME],
    })
    .pipe(z.record(HeaderName, HeaderValue))
    .refine(
      (headers) => Object.keys(headers).length <= MAX_HEADERS,
      `Send at most ${MAX_HEADERS} headers.`,
    )
    .refine((headers) => {
      const names = Object.keys(headers).map((name) => name.toLowerCase())
      return new Set(names).size === names.length
    }, 'Header names are case-insensitive: send each one once.')
    .optional(),
})

/** A webhook by Standard Webhooks 1.0.0. */
export const webhook: ChannelKind = {
  kind: 'webhook',
  schedule: 'webhook',
  pace: { messages: 10, per_seconds: 1 },
  check({ target, config, allow }) {
    return [...checkUrl(target, allow), ...configIssues(WebhookConfig, config)]
  },
  host: (target) => new URL(target).host,
  mask: maskTarget,
  fits: fitsIntoBody,
  async render({ id, notification, target, config, secrets, now }) {
    const body = renderBody(notification)
    return {
      url: target,
      method: 'POST',
      body,
      headers: {
        ...WebhookConfig.parse(config ?? {}).headers,
        'content-type': 'application/json',
        'user-agent': `Watchpost/${VERSION}`,
        ...(await sign({ id, timestamp: now, body, secrets }, mac)),
      },
    }
  },
  classify,
}

/** At once: the threads that Web Crypto hands so little work to cost ten times as much. */
function mac(key: Uint8Array, content: Uint8Array): string {
  return createHmac('sha256', key).update(content).digest('base64')
}

function checkUrl(target: string, allow: Parameters<ChannelKind['check']>[0]['allow']): Issue[] {
  const checked = checkTarget(target, { allow })
  return checked.ok ? [] : [{ path: 'target', code: checked.code, message: checked.message }]
}

/** What a body leaves out of its only alert when it would be too large with it, in this order. */
const LEFT_OUT = [
  ['deliveries', []],
  ['updates', []],
  ['note', null],
] as const

/** Whether a digest of these alerts is not too large for one body. */
export function fitsIntoBody(notification: Notification): boolean {
  return isShort(bodyOf(notification))
}

/** The body. Where one alert alone makes it too large, `left_out` names the fields that are emptied. */
export function renderBody(notification: Notification): string {
  const body = bodyOf(notification)
  if (isShort(body) || !notification.alert || (notification.alerts?.length ?? 1) > 1) return body
  let alert = notification.alert
  const left_out: string[] = []
  for (const [field, empty] of LEFT_OUT) {
    alert = { ...alert, [field]: empty }
    left_out.push(field)
    const alerts = notification.alerts ? { alerts: [alert] } : {}
    const shorter = bodyOf({ ...notification, alert, ...alerts }, { left_out })
    if (isShort(shorter) || left_out.length === LEFT_OUT.length) return shorter
  }
  return body
}

function bodyOf(notification: Notification, more: { left_out?: string[] } = {}): string {
  const { type, timestamp, source, zones, zones_total, channel } = notification
  if (channel) return JSON.stringify({ type, timestamp, data: { channel } })
  if (source) return JSON.stringify({ type, timestamp, data: { source, zones, zones_total } })
  const { alert, zone, alerts, part = 1, parts = 1, alerts_total, summary = null } = notification
  const { unacknowledged, drill } = notification
  const total = { alerts_total: alerts_total ?? alerts?.length }
  const digest = alerts && { summary, alerts, part, parts, ...total }
  return JSON.stringify({
    type,
    timestamp,
    data: { alert, zone, drill, unacknowledged, ...digest, ...more },
  })
}

const isShort = (body: string) => new TextEncoder().encode(body).length <= MAX_BODY_BYTES

function classify(result: SendResult, now: Date): Classification {
  if (!result.ok) return noAnswer(result)
  const { status } = result
  const base = {
    ...heard(result),
    throttled: status === 429 || status === 502 || status === 504,
    counted: status !== 429,
  }
  if (status >= 200 && status < 300) return { ...base, outcome: 'ok' }
  const error = `The receiver answered HTTP ${status}.`
  if (status === 410) return { ...base, outcome: 'disable_channel', error }
  if (!isTemporary(status)) return { ...base, outcome: 'fail_permanent', error }
  return { ...base, ...retryAfter(result, now), outcome: 'retry', error }
}
