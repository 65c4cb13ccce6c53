/** Messages of every type about one story: earthquakes near Istanbul, told to a channel there. */
import type { Facts, Message, Notification } from '../../../functions/channels/channel.ts'
import type { Check } from '../../../shared/decide/checks.ts'
import type { Update } from '../../../shared/reason/sentences.ts'
import type { Alert } from '../../../shared/schemas/alert.ts'
import type { Language } from '../../../shared/words/texts.ts'

export const NOW = new Date('2026-03-01T12:02:00.000Z')
export const ALERT_ID = '07b6cb74-cf6b-4c7e-90b9-7b7b6dcfe307'
const ZONE = { id: 'e5b4a992-ad4f-4a5c-9e97-5f5b4badc105', label: 'Bosphorus' }

type Changes = Alert['updates'][number]['changes']
type Given = {
  id?: string
  title?: string
  severity?: number
  status?: 'active' | 'ended' | 'retracted'
  updates?: { kind: Update; changes: Changes }[]
  current?: Partial<Alert['current']>
  more?: Partial<Alert>
}

export function alertOf(given: Given = {}): Alert {
  const {
    id = ALERT_ID,
    title = 'M 5.7 - Sea of Marmara',
    severity = 64,
    status = 'active',
  } = given
  const event: Alert['event'] = {
    id: 'usgs:us7000abcd',
    source: 'usgs',
    type: 'earthquake',
    title,
    lat: 40.87,
    lon: 28.98,
    ts: '2026-03-01T12:00:00.000Z',
    severity,
    subject: null,
    status,
    url: 'https://earthquake.usgs.gov/earthquakes/eventpage/us7000abcd',
    magnitude: 5.7,
    depth_km: 9.4,
    ends_at: null,
    ...given.current,
  }
  const attribution = 'Earthquake data: U.S. Geological Survey'
  return {
    id,
    zone_id: ZONE.id,
    zone_name: ZONE.label,
    event_id: event.id,
    event,
    current: event,
    event_ids: [
      {
        event_id: event.id,
        source: 'usgs',
        title,
        ts: event.ts,
        severity,
        magnitude: 5.7,
        status,
        url: event.url,
        attribution,
        added_at: '2026-03-01T12:01:40.000Z',
        link: null,
      },
    ],
    attribution,
    severity,
    reason: `${title}: severity ${severity} × 1 = ${severity} reaches 50; 20.3 km from the centre, inside 50 km.`,
    status: 'dispatched',
    raised_at: '2026-03-01T12:01:40.000Z',
    held_until: null,
    dispatched_at: null,
    channel: null,
    deliveries: [],
    updates: (given.updates ?? []).map((update) => ({ at: '2026-03-01T12:10:00.000Z', ...update })),
    resolved: false,
    resolved_at: null,
    resolved_by: null,
    resolved_via: null,
    note: null,
    seen_at: null,
    seen_by: null,
    seen_via: null,
    seen_channel: null,
    updated_at: '2026-03-01T12:01:40.000Z',
    ...given.more,
  }
}

function checksOf(severity = 64): Check[] {
  return [
    {
      name: 'severity',
      passed: true,
      severity,
      multiplier: 1,
      effective: severity,
      min_severity: 50,
    },
    {
      name: 'geometry',
      passed: true,
      shape_type: 'circle',
      match: 'footprint',
      inside: true,
      footprint_touches: null,
      distance_km: 20.34,
      radius_km: 50,
    },
  ]
}

const QUIET: Check = {
  name: 'quiet_hours',
  passed: false,
  window_start: '2026-02-28T19:00:00.000Z',
  window_end: '2026-03-01T04:00:00.000Z',
  quiet_mode: 'hold',
  emergency_severity: null,
  overridden_by_emergency: false,
}

const factsOf = (severity: number, update: Update | null = null): Facts => ({
  checks: checksOf(severity),
  news: update && { update, how: null, checks: checksOf(severity) },
})

function about(type: Notification['type'], alert: Alert, facts: Facts): Notification {
  const { id, current } = alert
  return { type, timestamp: current.ts, alert, zone: ZONE, facts: { [id]: facts } }
}

const SEEN = { seen_at: '2026-03-01T12:20:00.000Z', seen_via: 'api' } satisfies Partial<Alert>
const revision = { severity: [58, 64], magnitude: [5.5, 5.7], place: [{}, {}] } satisfies Changes
const rise = { severity: [64, 82], magnitude: [5.7, 6.4] } satisfies Changes
const linked = {
  ...alertOf().event_ids[0],
  event_id: 'emsc:20260301_0000123',
  source: 'emsc',
  attribution: 'EMSC-CSEM',
} as Alert['event_ids'][number]

export function digestOf(count: number, given: Given = {}): Notification {
  const alerts = Array.from({ length: count }, (_, n) =>
    alertOf({
      id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      title: `M ${(6.1 - (n % 20) / 10).toFixed(1)} - Sea of Marmara`,
      severity: Math.max(72 - n, 50),
      status: n === 1 ? 'ended' : 'active',
      ...given,
    }),
  )
  const facts = alerts.map(({ id, severity }): [string, Facts] => [
    id,
    { checks: [...checksOf(severity), QUIET], news: null },
  ])
  return {
    type: 'alert.digest',
    timestamp: '2026-03-01T04:00:00.000Z',
    alert: alerts[0] ?? null,
    alerts,
    summary: null,
    zone: ZONE,
    facts: Object.fromEntries(facts),
  }
}

const DRILL = { id: '3b241101-e2bb-4255-8caf-4136c566a962' }
const drillOf = (id: string) => {
  const title = 'DRILL: Earthquake, no real event'
  const place = { id: `drill:${DRILL.id}`, source: 'drill', lat: 41.05, lon: 29.03, url: null }
  const alert = alertOf({
    id,
    title,
    severity: 50,
    current: { ...place, magnitude: null, depth_km: null },
  })
  const event_ids = alert.event_ids.map((event) => ({
    ...event,
    source: 'drill',
    attribution: 'drill',
  }))
  return { ...alert, event_ids, attribution: 'drill' }
}

const source = {
  source: 'usgs',
  title: 'USGS earthquakes',
  attribution: 'Earthquake data: U.S. Geological Survey',
  since: '2026-03-01T13:03:00.000Z',
  reason: 'earthquake.usgs.gov answered HTTP 503',
}
const zones = [ZONE, { id: 'e5b4a992-ad4f-4a5c-9e97-5f5b4badc106', label: 'Southern California' }]

const failing = {
  id: 'bde6f00c-9323-4fd3-a73e-a8e2ad69ee7a',
  kind: 'webhook',
  label: 'On call',
  status: 'failing',
  since: '2026-03-01T13:03:00.000Z',
  reason: 'The receiver answered HTTP 503.',
}
const aboutChannel = (
  type: Notification['type'],
  channel: NonNullable<Notification['channel']>,
): Notification => ({
  type,
  timestamp: '2026-03-01T14:08:00.000Z',
  alert: null,
  zone: null,
  channel,
})

/** One notification of each type, both parts of a digest in two, and a channel that was switched off. */
export const NOTIFICATIONS = {
  'alert.raised': about('alert.raised', alertOf(), factsOf(64)),
  'alert.revised': about(
    'alert.revised',
    alertOf({ updates: [{ kind: 'revised', changes: revision }] }),
    factsOf(64, 'revised'),
  ),
  'alert.escalated': about(
    'alert.escalated',
    alertOf({
      severity: 82,
      title: 'M 6.4 - Sea of Marmara',
      current: { magnitude: 6.4 },
      updates: [{ kind: 'escalated', changes: rise }],
      more: { event_ids: [...alertOf().event_ids, linked] },
    }),
    factsOf(82, 'escalated'),
  ),
  'alert.ended': about(
    'alert.ended',
    alertOf({
      status: 'ended',
      updates: [{ kind: 'ended', changes: { status: ['active', 'ended'] } }],
    }),
    factsOf(64, 'ended'),
  ),
  'alert.retracted': about(
    'alert.retracted',
    alertOf({
      status: 'retracted',
      updates: [{ kind: 'retracted', changes: { status: ['active', 'retracted'] } }],
    }),
    factsOf(64, 'retracted'),
  ),
  'alert.acknowledged': about('alert.acknowledged', alertOf({ more: SEEN }), factsOf(64)),
  'alert.resolved': about(
    'alert.resolved',
    alertOf({ more: { ...SEEN, resolved: true, resolved_at: SEEN.seen_at, resolved_via: 'api' } }),
    factsOf(64),
  ),
  'alert.reopened': about('alert.reopened', alertOf({ more: SEEN }), factsOf(64)),
  'alert.digest': digestOf(3),
  'alert.digest part': { ...digestOf(2), part: 2, parts: 3, alerts_total: 40 },
  'alert.raised drill': { ...about('alert.raised', drillOf(ALERT_ID), factsOf(50)), drill: DRILL },
  'alert.digest drill': {
    ...digestOf(1),
    alert: drillOf(ALERT_ID),
    alerts: [drillOf(ALERT_ID), drillOf('00000000-0000-4000-8000-000000000001')],
    facts: {
      [ALERT_ID]: factsOf(50),
      '00000000-0000-4000-8000-000000000001': factsOf(50),
    },
    drill: DRILL,
  },
  'zone.blind': {
    type: 'zone.blind',
    timestamp: '2026-03-01T13:18:00.000Z',
    alert: null,
    zone: null,
    source: { ...source, status: 'down' },
    cause: { code: 'http_status', said: source.reason },
    zones,
    zones_total: 14,
  },
  'zone.sighted': {
    type: 'zone.sighted',
    timestamp: '2026-03-01T14:08:00.000Z',
    alert: null,
    zone: null,
    source: { ...source, status: 'ok', until: '2026-03-01T14:28:00.000Z', blind_seconds: 5100 },
    zones,
    zones_total: 2,
  },
  'channel.failing': aboutChannel('channel.failing', failing),
  'channel.failing disabled': aboutChannel('channel.failing', {
    ...failing,
    label: null,
    status: 'disabled',
    reason: 'The receiver answered HTTP 410',
  }),
  'channel.recovered': aboutChannel('channel.recovered', {
    ...failing,
    status: 'ok',
    until: '2026-03-01T14:03:00.000Z',
    failing_seconds: 3600,
  }),
  'channel.test': {
    type: 'channel.test',
    timestamp: NOW.toISOString(),
    alert: null,
    zone: null,
  },
} satisfies Record<string, Notification>

/** What a channel of each kind was set up with. */
export const RECEIVERS: Record<string, Pick<Message, 'target' | 'config'>> = {
  email: { target: 'ops@example.com', config: undefined },
  webpush: {
    target: 'https://updates.push.services.mozilla.com/wpush/v2/gAAAAAB',
    config: {
      p256dh: Buffer.alloc(65, 4).toString('base64url'),
      auth: Buffer.alloc(16, 1).toString('base64url'),
    },
  },
  slack: {
    target: 'https://hooks.slack.com/services/T0000AAAA/B0000BBBB/abcdefghijklmnopqrstuvwx',
    config: undefined,
  },
  discord: {
    target: `https://discord.com/api/webhooks/148000000000000000/${'s3cr3t-'.repeat(9)}`,
    config: undefined,
  },
  telegram: {
    target: '-1001234567890',
    config: { bot_token: `123456789:${'s3cr3t_'.repeat(5)}` },
  },
  pagerduty: { target: '0123456789abcdef0123456789abcdef', config: { region: 'eu' } },
  teams: {
    target:
      'https://default0123456789.ab.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/0123456789abcdef/triggers/manual/paths/invoke?api-version=1&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=abcdefghijklmnop-ABCDEFGHIJKLMNOP_0123456789',
    config: undefined,
  },
  pushover: {
    target: 'uQiRzpo4DXghDmr9QzzfQu27cmVRsG',
    config: { app_token: 'azGDORePK8gMaC0QOYAMyEEuzJnyUi' },
  },
  ntfy: { target: 'https://ntfy.sh/watch-bosphorus', config: { token: 'tk_abcdefghijklmnop' } },
}

export const STYLES: Record<Language, Pick<Message, 'language' | 'time_zone'>> = {
  en: { language: 'en', time_zone: 'Europe/London' },
  tr: { language: 'tr', time_zone: 'Europe/Istanbul' },
}

export function messageOf(kind: string, over: Partial<Message> = {}): Message {
  const receiver = RECEIVERS[kind]
  if (!receiver) throw new Error(`there is no receiver of the kind ${kind}`)
  return {
    id: '7c1f5d0a-0b8e-4d53-9a77-5f6f0c2d1e11',
    notification: NOTIFICATIONS['alert.raised'],
    ...receiver,
    secrets: [],
    now: NOW,
    ...STYLES.en,
    public_url: 'https://watch.example',
    remote_ref: null,
    acknowledge_url: null,
    ...over,
  }
}
