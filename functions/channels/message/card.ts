/** A message before it has the form of a service: what it says, in the language and time zone of its channel. */
import { z } from 'zod'
import { type BANDS, bandOf } from '../../../shared/decide/bands.ts'
import { tellReason } from '../../../shared/reason/reason.ts'
import { Alert } from '../../../shared/schemas/alert.ts'
import type { Facts, Message, Notification, NotificationAlert, Style } from '../channel.ts'
import { clockOf } from './clock.ts'
import { oneLine, webLink } from './text.ts'
import { type Act, drillTitle, WORDS } from './words.ts'

export type Link = { label: string; url: string }

export type Card = {
  /** Decides the colour and the urgency: how bad it is, or that it is over, or about the service itself. */
  tone: Tone
  /** What kind of news it is: `Worse · Earthquake · severe · Bosphorus`. */
  heading: string
  title: string
  /** The sentence that explains it; empty where there is nothing to explain. */
  text: string
  facts: { name: string; value: string; is_wide?: true }[]
  /** The alerts of a digest. */
  items: Item[]
  links: Link[]
  /** Where it comes from. */
  footer: string
  /** Of the event; of a digest and of what is about no alert null. */
  at: { lat: number; lon: number; ts: string } | null
  /** The one whose link is opened by a click on the message. */
  url: string | null
}
export type Tone = (typeof BANDS)[number] | 'over' | 'blind' | 'well' | 'test'

/** An alert within a digest. */
export type Item = { title: string; line: string; reason: string; links: Link[]; tone: Tone }

/** What stands before the title, where a service has no colours. */
const SIGNS: Record<Tone, string> = {
  minor: '⚪',
  low: '🟢',
  moderate: '🟡',
  severe: '🟠',
  extreme: '🔴',
  over: '✅',
  blind: '⚠️',
  well: '✅',
  test: '🔔',
}
export const signOf = ({ tone }: { tone: Tone }): string => SIGNS[tone]

/** The same as a colour, red, green and blue in 24 bits. */
const COLOURS: Record<Tone, number> = {
  minor: 0x9ca3af,
  low: 0x22a06b,
  moderate: 0xeab308,
  severe: 0xf97316,
  extreme: 0xdc2626,
  over: 0x64748b,
  blind: 0x7c3aed,
  well: 0x22a06b,
  test: 0x3b82f6,
}
export const colourOf = ({ tone }: { tone: Tone }): number => COLOURS[tone]

type CardMessage = Style & Pick<Message, 'notification'> & Partial<Pick<Message, 'acknowledge_url'>>

const CardAlert = Alert.pick({
  id: true,
  zone_name: true,
  current: true,
  event_ids: true,
  attribution: true,
  severity: true,
  reason: true,
  updates: true,
})
type CardAlert = z.infer<typeof CardAlert>

const CardSource = z.object({
  title: z.string(),
  attribution: z.string(),
  status: z.string(),
  since: z.string(),
  reason: z.string().nullish(),
  until: z.string().optional(),
  blind_seconds: z.number().optional(),
})

const ENDED = { ended: 'over', retracted: 'over' } as const

export function cardOf(message: CardMessage): Card {
  const card = plainCard(message)
  if (!message.notification.drill) return card
  const { mark, text } = WORDS[message.language].drill
  const heading = card.heading && `${mark} · ${card.heading}`
  const title = card.title.startsWith(mark) ? card.title : `${mark}: ${card.title}`
  const told = [text, card.text].filter(Boolean).join(' ')
  // No source has reported it.
  return { ...card, heading, title, text: told, footer: 'Watchpost' }
}

function plainCard(message: CardMessage): Card {
  const { notification } = message
  switch (notification.type) {
    case 'channel.test':
      return testCard(message)
    case 'zone.blind':
    case 'zone.sighted':
      return sourceCard(message)
    case 'channel.failing':
    case 'channel.recovered':
      return channelCard(message)
    case 'alert.digest':
      return digestCard(message)
    default:
      return alertCard(message)
  }
}

function alertCard(message: CardMessage): Card {
  const { notification, language } = message
  const alert = read(notification.alert)
  const { current } = alert
  const words = WORDS[language]
  const update = notification.type.slice('alert.'.length)
  const told = Object.hasOwn(words.updates, update) ? update : null
  const news = told ? [words.updates[told as keyof typeof words.updates]] : []
  const zone = notification.zone?.label ?? alert.zone_name
  return {
    tone: notification.type === 'alert.resolved' ? 'over' : toneOf(alert),
    heading: [...news, ...kindOf(alert, message), oneLine(zone)].join(' · '),
    title: titleOf(alert, message),
    text: [
      ...unacknowledgedSentence(notification, message),
      ...(Object.hasOwn(words.acts, update) ? [words.acts[update as Act]] : []),
      reasonOf(alert, notification, message),
    ].join(' '),
    facts: factsOf(alert, told, message),
    items: [],
    links: [...linksOf(alert, message), ...acknowledgeLink(message)],
    footer: footerOf([alert]),
    at: { lat: current.lat, lon: current.lon, ts: current.ts },
    url: mapUrl(current),
  }
}

function digestCard(message: CardMessage): Card {
  const { notification, language } = message
  const words = WORDS[language]
  const alerts = (notification.alerts ?? []).map(read)
  const { part = 1, parts = 1, alerts_total = alerts.length } = notification
  const zone = oneLine(notification.zone?.label ?? alerts[0]?.zone_name ?? '')
  const isMixed = alerts.some(({ zone_name }) => zone_name !== alerts[0]?.zone_name)
  return {
    tone: alerts[0] ? toneOf(alerts[0]) : 'over',
    heading: parts > 1 ? words.part(part, parts, alerts_total) : '',
    title: words.digest(zone, parts > 1 ? alerts.length : alerts_total),
    text: heldSentences(notification, alerts, message).join(' '),
    facts: [],
    items: alerts.map((alert) => ({
      tone: toneOf(alert),
      title: titleOf(alert, message),
      line: [
        ...(ENDED[alert.current.status as keyof typeof ENDED]
          ? [words.updates[alert.current.status as keyof typeof ENDED]]
          : []),
        ...kindOf(alert, message),
        ...(isMixed ? [oneLine(alert.zone_name)] : []),
        clockOf(message)(alert.current.ts),
      ].join(' · '),
      reason: reasonOf(alert, notification, message),
      links: linksOf(alert, message),
    })),
    links: acknowledgeLink(message),
    footer: footerOf(alerts),
    at: null,
    url: alerts[0] ? mapUrl(alerts[0].current) : null,
  }
}

function sourceCard(message: CardMessage): Card {
  const { notification, language } = message
  const words = WORDS[language]
  const source = CardSource.parse(notification.source)
  const named = (notification.zones ?? []).slice(0, 10).map(({ label }) => oneLine(label))
  const zones = words.zones(named, (notification.zones_total ?? named.length) - named.length)
  const clock = clockOf(message)
  const since = clock(source.since)
  const title = oneLine(source.title)
  const common = {
    facts: [],
    items: [],
    links: [],
    footer: footerOf([source]),
    at: null,
    url: null,
  }
  if (notification.type === 'zone.blind') {
    const { cause } = notification
    const stored = source.reason ?? source.status
    const reason = oneLine(cause && words.causes ? words.causes(cause, clock) : stored)
    const text = words.blind.text({ since, reason, isDown: source.status === 'down', zones })
    const { heading } = words.blind
    return { ...common, tone: 'blind', heading, title: words.blind.title(title), text }
  }
  const until = clock(source.until ?? notification.timestamp)
  const minutes = Math.round((source.blind_seconds ?? 0) / 60)
  const lasted = words.duration(
    Math.floor(minutes / 1440),
    Math.floor((minutes % 1440) / 60),
    minutes % 60,
  )
  const text = words.sighted.text({ since, until, lasted, zones })
  const { heading } = words.sighted
  return { ...common, tone: 'well', heading, title: words.sighted.title(title), text }
}

const CardChannel = z.object({
  kind: z.string(),
  label: z.string().nullable(),
  status: z.string(),
  since: z.string(),
  reason: z.string(),
  until: z.string().optional(),
})

/** About another channel of the owner. */
function channelCard(message: CardMessage): Card {
  const { notification, language } = message
  const words = WORDS[language]
  const channel = CardChannel.parse(notification.channel)
  const clock = clockOf(message)
  const name = oneLine(channel.label ?? channel.kind)
  const reason = oneLine(channel.reason).replace(/[^.!?]$/u, '$&.')
  const isDisabled = channel.status === 'disabled'
  const since = clock(channel.since)
  const until = clock(channel.until ?? notification.timestamp)
  const isFailing = notification.type === 'channel.failing'
  const { heading, title, text } = isFailing ? words.failing : words.recovered
  return {
    tone: isFailing ? 'blind' : 'well',
    heading,
    title: title(name),
    text: text({ since, until, reason, isDisabled }),
    facts: [],
    items: [],
    links: [],
    footer: 'Watchpost',
    at: null,
    url: null,
  }
}

function testCard({ language }: CardMessage): Card {
  const { heading, title, text } = WORDS[language].test
  const none = { facts: [], items: [], links: [], footer: 'Watchpost', at: null, url: null }
  return { tone: 'test', heading, title, text, ...none }
}

const read = (alert: NotificationAlert | null): CardAlert => CardAlert.parse(alert)

/** The title of its event, or in a drill that there is none, in the words of the channel. */
function titleOf({ current }: CardAlert, { notification, language }: CardMessage): string {
  return notification.drill ? drillTitle(current.type, language) : oneLine(current.title)
}

function toneOf({ current, severity }: CardAlert): Tone {
  return current.status === 'active' ? bandOf(severity) : 'over'
}

/** The type of an event and how bad it is. */
function kindOf({ current, severity }: CardAlert, { language }: Style): string[] {
  const { types, bands } = WORDS[language]
  return [types[current.type], bands[bandOf(severity)]]
}

/** The reason in the words of the channel, or as it is stored where its facts are not. */
function reasonOf(alert: CardAlert, { facts }: Notification, style: Style): string {
  const known: Facts | undefined = facts?.[alert.id]
  const { language } = style
  const clock = clockOf(style)
  const stored = alert.reason.startsWith(`${alert.current.title}: `)
    ? alert.reason.slice(alert.current.title.length + 2)
    : alert.reason
  return oneLine(known ? tellReason(known, { language, clock }) : stored)
}

/** Why a step of the zone's escalation sends the alert. */
function unacknowledgedSentence({ unacknowledged }: Notification, { language }: Style): string[] {
  if (!unacknowledged) return []
  const { after_minutes, step, steps } = unacknowledged
  return [WORDS[language].unacknowledged(after_minutes, step, steps)]
}

/** Why the alerts of a digest did not go out at once. */
function heldSentences(
  { facts }: Notification,
  alerts: CardAlert[],
  { language }: Style,
): string[] {
  const { held } = WORDS[language]
  const failed = alerts.flatMap(({ id }) =>
    (facts?.[id]?.checks ?? []).filter(({ passed }) => !passed).map(({ name }) => name),
  )
  return [
    ...(failed.includes('quiet_hours') ? [held.quiet_hours] : []),
    ...(failed.includes('burst') ? [held.burst] : []),
  ]
}

function factsOf(alert: CardAlert, update: string | null, style: Style): Card['facts'] {
  const words = WORDS[style.language]
  const { current } = alert
  const number = numberIn(style)
  const clock = clockOf(style)
  const rounded = Math.round(alert.severity)
  const also = new Set(alert.event_ids.slice(1).map(({ source }) => oneLine(source)))
  const changed = changesOf(alert, update, style)
  const facts: [string, string | null, is_wide?: true][] = [
    [words.facts.severity, words.severity(rounded, words.bands[bandOf(alert.severity)])],
    [words.facts.magnitude, current.magnitude === null ? null : number(current.magnitude)],
    [words.facts.depth, current.depth_km === null ? null : words.depth(number(current.depth_km))],
    [words.facts.time, clock(current.ts)],
    [words.facts.ends, current.ends_at === null ? null : clock(current.ends_at)],
    [words.facts.place, placeOf(current)],
    [words.facts.subject, current.subject === null ? null : oneLine(current.subject)],
    [words.facts.changed, changed, true],
    [words.facts.also, also.size > 0 ? [...also].join(', ') : null, true],
  ]
  return facts.flatMap(([name, value, is_wide]) =>
    value ? [{ name, value, ...(is_wide ? { is_wide } : {}) }] : [],
  )
}

/** What the last update of this kind changed: `severity 43 → 65, place`. */
function changesOf({ updates }: CardAlert, update: string | null, style: Style): string | null {
  const changes = updates.findLast(({ kind }) => kind === update)?.changes
  if (!changes) return null
  const { changes: names } = WORDS[style.language]
  const number = numberIn(style)
  const shown = (value: unknown) => (typeof value === 'number' ? number(value) : null)
  const parts = Object.entries(changes).flatMap(([field, [from, to]]) => {
    const name = names[field]
    if (!name) return []
    const [before, after] = [shown(from), shown(to)]
    return [before !== null && after !== null ? `${name} ${before} → ${after}` : name]
  })
  return parts.length > 0 ? parts.join(', ') : null
}

function numberIn({ language }: Style): (value: number) => string {
  return (value) => value.toLocaleString(WORDS[language].locale, { maximumFractionDigits: 1 })
}

const placeOf = ({ lat, lon }: { lat: number; lon: number }) =>
  `${lat.toFixed(4)}, ${lon.toFixed(4)}`

function linksOf({ current }: CardAlert, { language }: Style): Link[] {
  const { links } = WORDS[language]
  const source = webLink(current.url)
  return [
    { label: links.map, url: mapUrl(current) },
    ...(source ? [{ label: links.source, url: source }] : []),
  ]
}

function acknowledgeLink({ acknowledge_url, language }: CardMessage): Link[] {
  const url = webLink(acknowledge_url)
  return url ? [{ label: WORDS[language].links.acknowledge, url }] : []
}

function mapUrl({ lat, lon }: { lat: number; lon: number }): string {
  const [y, x] = [lat.toFixed(5), lon.toFixed(5)]
  return `https://www.openstreetmap.org/?mlat=${y}&mlon=${x}#map=8/${y}/${x}`
}

/** Whom to name, in their own words, and us. */
function footerOf(
  sources: { attribution: string; event_ids?: { attribution: string }[] }[],
): string {
  const named = sources.flatMap(({ attribution, event_ids = [] }) => [
    attribution,
    ...event_ids.map((event) => event.attribution),
  ])
  return [...new Set(named.map(oneLine)), 'Watchpost'].join(' · ')
}
