import { z } from 'zod'
import { VERSION } from '../../shared/version.ts'
import type {
  ChannelKind,
  Classification,
  Issue,
  Message,
  Notification,
  NotificationType,
} from './channel.ts'
import { configIssues, maskKey, targetIssue } from './check.ts'
import { fieldsOf, heard, isTemporary, noAnswer, quoted, retryAfter } from './classify.ts'
import { cardOf, type Tone } from './message/card.ts'
import { characters, oneLine, shortenBy } from './message/text.ts'
import type { SendResult } from './transport/send.ts'

const HOSTS = { us: 'events.pagerduty.com', eu: 'events.eu.pagerduty.com' } as const
const WHERE =
  'In PagerDuty, open the service, Integrations, Add an integration, Events API V2, and copy its integration key of 32 letters and digits.'
/** 1,024 characters, less 5 %. */
const MAX_SUMMARY = 970
const MAX_DETAIL = 2_000
/** PagerDuty asks for some minutes. */
const PAUSE_SECONDS = 120

const PagerDutyConfig = z.strictObject(
  {
    region: z
      .enum(['us', 'eu'], 'Must be "us", or "eu" when the address of your PagerDuty contains .eu.')
      .optional(),
  },
  'A PagerDuty channel has only one setting: region.',
)

const SEVERITIES: Record<Tone, 'critical' | 'error' | 'warning' | 'info'> = {
  extreme: 'critical',
  severe: 'error',
  moderate: 'warning',
  low: 'info',
  minor: 'info',
  over: 'info',
  blind: 'warning',
  well: 'info',
  test: 'info',
}

const OVER: NotificationType[] = [
  'alert.ended',
  'alert.retracted',
  'alert.resolved',
  'zone.sighted',
  'channel.recovered',
]

/** A service of PagerDuty. One incident an alert, which ends with it: the alert's id is its key. */
export const pagerduty: ChannelKind = {
  kind: 'pagerduty',
  schedule: 'message',
  pace: { messages: 1, per_seconds: 1 },
  bundles: false,
  check: ({ target, config }) => [...checkTarget(target), ...configIssues(PagerDutyConfig, config)],
  host: (_, config) => HOSTS[PagerDutyConfig.parse(config ?? {}).region ?? 'us'],
  mask: maskKey,
  // Every alert of a digest has an incident of its own.
  fits: ({ alerts = [] }) => alerts.length <= 1,
  async render(message) {
    const { region = 'us' } = PagerDutyConfig.parse(message.config ?? {})
    return {
      url: `https://${HOSTS[region]}/v2/enqueue`,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': `Watchpost/${VERSION}` },
      body: JSON.stringify(eventOf(message)),
    }
  },
  classify,
}

function checkTarget(target: string): Issue[] {
  if (/^[A-Za-z0-9]{32}$/.test(target)) return []
  if (/^[A-Za-z0-9+_-]{20}$/.test(target)) {
    const message = `This looks like a key of PagerDuty’s REST API, which cannot raise incidents. ${WHERE}`
    return [targetIssue('api_key', message)]
  }
  const what = URL.canParse(target) ? 'Must be the key, not a URL.' : 'Must be an integration key.'
  return [targetIssue('malformed', `${what} ${WHERE}`)]
}

const shorten = shortenBy(characters)

function eventOf(message: Message) {
  const { notification, target, public_url } = message
  const dedup_key = keyOf(message)
  const routing = { routing_key: target, dedup_key }
  if (isOver(notification)) return { ...routing, event_action: 'resolve' }
  if (notification.type === 'alert.acknowledged') {
    return { ...routing, event_action: 'acknowledge' }
  }
  const card = cardOf({ ...message, notification: single(notification) })
  const limited = (text: string, limit: number) => shorten(text, limit, message)
  const details = card.facts.map(({ name, value }) => [name, limited(value, MAX_DETAIL)])
  return {
    ...routing,
    event_action: 'trigger',
    client: 'Watchpost',
    ...(public_url ? { client_url: public_url } : {}),
    links: card.links.map(({ label, url }) => ({ href: url, text: label })),
    payload: {
      summary: limited(`${card.title} (${card.heading})`, MAX_SUMMARY),
      source: String(notification.source?.source ?? notification.alert?.event_id ?? 'watchpost'),
      severity: SEVERITIES[card.tone],
      timestamp: notification.timestamp,
      ...(notification.zone
        ? { group: limited(oneLine(notification.zone.label), MAX_SUMMARY) }
        : {}),
      class: notification.type,
      custom_details: {
        ...(card.text ? { reason: limited(card.text, MAX_DETAIL) } : {}),
        ...Object.fromEntries(details),
        attribution: limited(card.footer, MAX_DETAIL),
      },
    },
  }
}

/** A message of a digest carries one alert here, and reads like a message about it. */
function single(notification: Notification): Notification {
  return notification.type === 'alert.digest'
    ? { ...notification, type: 'alert.raised' }
    : notification
}

/** Whether nothing is left open. What was resolved before its message was sent does not open an incident first. */
function isOver({ type, alert }: Notification): boolean {
  if (OVER.includes(type) || alert?.resolved === true) return true
  const { current } = alert ?? {}
  const status =
    typeof current === 'object' && current !== null && 'status' in current && current.status
  return ['alert.digest', 'alert.reopened'].includes(type) && status !== 'active'
}

/** The same for all that belongs to one incident, also when it is sent again. */
function keyOf({ id, notification: { alert, source, channel } }: Message): string {
  if (channel) return `watchpost-channel-${channel.id}-${channel.since}`
  if (alert) return `watchpost-alert-${alert.id}`
  return source ? `watchpost-source-${source.source}-${source.since}` : `watchpost-${id}`
}

function classify(result: SendResult, now: Date): Classification {
  if (!result.ok) return noAnswer(result)
  const { status, body } = result
  const base = heard(result)
  const { dedup_key, message, errors } = fieldsOf(body)
  if (status === 202) {
    return {
      ...base,
      outcome: 'ok',
      ...(typeof dedup_key === 'string' ? { remote_ref: dedup_key } : {}),
    }
  }
  const said = quoted(
    [message, ...(Array.isArray(errors) ? errors : [])].filter(Boolean).join(': '),
  )
  const error = `PagerDuty answered HTTP ${status}${said ? `: ${said}` : ''}.`
  if (status === 429) {
    const hint = { retry_after_seconds: PAUSE_SECONDS, ...retryAfter(result, now) }
    return { ...base, ...hint, outcome: 'retry', throttled: true, counted: false, error }
  }
  if (status === 400 && /routing.?key/i.test(said)) {
    return {
      ...base,
      outcome: 'disable_channel',
      error: `${error} The integration key is not valid. ${WHERE}`,
    }
  }
  // A 2xx other than 202 is not from the Events API.
  if (status < 300 || isTemporary(status)) {
    return { ...base, ...retryAfter(result, now), outcome: 'retry', error }
  }
  return { ...base, outcome: 'fail_permanent', error }
}
