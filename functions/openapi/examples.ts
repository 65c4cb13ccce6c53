/** The examples of the document. They tell one story: an earthquake near Istanbul inside the zone Bosphorus. */
import type { z } from 'zod'
import type { Alert, Delivery, EventReference } from '../../shared/alert.ts'
import type { AuditRow } from '../../shared/audit.ts'
import { type Channel, type ChannelDelivery, DEFAULT_MESSAGES } from '../../shared/channel.ts'
import type { Member } from '../../shared/organisation.ts'
import type { AlertMessage, DigestMessage, TestMessage } from '../../shared/webhook.ts'
import type { Zone } from '../../shared/zone.ts'

const ME = 'a1f0c5de-6f0b-4c1e-9a53-1b1f0f6a8d01'
const COLLEAGUE = 'b2e1d6cf-7a1c-4d2f-8b64-2c2e1e7b9e02'
const KEY = 'c3d2e7b0-8b2d-4e3a-9c75-3d3d2d8caf03'
const TEAM = 'd4c3f8a1-9c3e-4f4b-8d86-4e4c3c9db004'
const ZONE = 'e5b4a992-ad4f-4a5c-9e97-5f5b4badc105'
const CHANNEL = 'f6a5ba83-be5a-4b6d-8fa8-6a6a5cbed206'
const ALERT = '07b6cb74-cf6b-4c7e-90b9-7b7b6dcfe307'
const DELIVERY = '18c7dc65-d07c-4d8f-81ca-8c8c7ed0f408'
const MEMBER = '29d8ed56-e18d-4e90-92db-9d9d8fe10509'
const AUDIT = '3ae9fe47-f29e-4fa1-83ec-aeae90f2160a'
const REQUEST = '4bfa0f38-03af-40b2-94fd-bfbfa103270b'

const HAPPENED = '2026-03-01T12:00:00.000Z'
const SEEN = '2026-03-01T12:01:40.000Z'
const SENT = '2026-03-01T12:01:40.412Z'

const draft = {
  label: 'Bosphorus',
  lat: 41.05,
  lon: 29.03,
  radius_km: 50,
  min_severity: 50,
  types: ['earthquake'],
  quiet_hours_start: '22:00',
  quiet_hours_end: '07:00',
  quiet_hours_tz: 'Europe/Istanbul',
  emergency_severity: 90,
} satisfies Partial<z.infer<typeof Zone>>

const zone: z.infer<typeof Zone> = {
  id: ZONE,
  owner_id: ME,
  org_id: null,
  shape_type: 'circle',
  polygon: null,
  match: 'footprint',
  severity_multiplier: 1,
  dwell_minutes: 0,
  quiet_windows: null,
  quiet_mode: 'hold',
  color: '#d9480f',
  icon: 'anchor',
  channel_ids: null,
  sources: null,
  snoozed_until: null,
  enabled: true,
  version: 1,
  created_at: '2026-02-20T08:30:00.000Z',
  updated_at: '2026-02-20T08:30:00.000Z',
  coverage: [{ source: 'usgs', status: 'ok' }],
  ...draft,
}

const happened = {
  id: 'usgs:us7000abcd',
  source: 'usgs',
  type: 'earthquake',
  title: 'M 5.7 - Sea of Marmara',
  lat: 40.87,
  lon: 28.98,
  ts: HAPPENED,
  severity: 64,
  url: 'https://earthquake.usgs.gov/earthquakes/eventpage/us7000abcd',
} as const
const reference: EventReference = {
  ...happened,
  subject: null,
  status: 'active',
  magnitude: 5.7,
  depth_km: 9.4,
  ends_at: null,
}
const event = {
  ...happened,
  subject: null,
  status: 'active',
  magnitude: 5.7,
  depth_km: 9.4,
  ends_at: null,
  attribution: 'Earthquake data: U.S. Geological Survey',
  updated_at: SEEN,
  zone_ids: [ZONE],
} as const

const delivery: Delivery = {
  id: DELIVERY,
  channel_id: CHANNEL,
  channel: 'On call',
  kind: 'alert.raised',
  status: 'succeeded',
  attempts: 1,
  last_error: null,
  delivered_at: SENT,
  redelivery_of: null,
}

const alert: Alert = {
  id: ALERT,
  zone_id: ZONE,
  zone_name: 'Bosphorus',
  event_id: reference.id,
  event: reference,
  current: reference,
  attribution: 'Earthquake data: U.S. Geological Survey',
  severity: 64,
  reason:
    'M 5.7 - Sea of Marmara: severity 64 × 1 = 64 reaches 50; 20.5 km from the centre, inside 50 km.',
  status: 'dispatched',
  raised_at: SEEN,
  held_until: null,
  dispatched_at: SENT,
  channel: 'On call',
  deliveries: [delivery],
  updates: [],
  resolved: false,
  resolved_at: null,
  resolved_by: null,
  resolved_via: null,
  note: null,
  updated_at: SENT,
}
const resolved: Alert = {
  ...alert,
  resolved: true,
  resolved_at: '2026-03-01T12:20:00.000Z',
  resolved_by: ME,
  resolved_via: 'api',
  note: 'All sites called in, no damage.',
}

const channel: Channel = {
  id: CHANNEL,
  kind: 'webhook',
  label: 'On call',
  target: 'https://hooks.example.com/watchpost',
  config: null,
  org_id: null,
  owner_id: ME,
  enabled: true,
  status: 'ok',
  disabled_reason: null,
  failing_reason: null,
  failing_since: null,
  messages: DEFAULT_MESSAGES,
  signing_secret: null,
  created_at: '2026-02-20T08:25:00.000Z',
  updated_at: '2026-02-20T08:25:00.000Z',
}
const withSecret: Channel = {
  ...channel,
  signing_secret: 'whsec_RVhBTVBMRS1FWEFNUExFLUVYQU1QTEUh',
}

const logged: ChannelDelivery = {
  ...delivery,
  alert_id: ALERT,
  created_at: SEEN,
  next_attempt_at: null,
  attempt_log: [
    {
      attempt: 1,
      at: SENT,
      outcome: 'ok',
      status_code: 200,
      duration_ms: 84,
      error: null,
      response_excerpt: 'ok',
    },
  ],
}
const tested: ChannelDelivery = { ...logged, kind: 'channel.test', alert_id: null }

const member: Member = {
  id: MEMBER,
  user_id: COLLEAGUE,
  email: 'ayse@example.com',
  role: 'member',
  status: 'active',
  joined_at: '2026-02-21T09:00:00.000Z',
  invite_expires_at: null,
}
const invited: Member = {
  ...member,
  user_id: null,
  status: 'invited',
  joined_at: null,
  invite_expires_at: '2026-05-08T09:30:00.000Z',
}

const preview = {
  zone_id: ZONE,
  days: 2,
  count: 1,
  per_day: 0.5,
  days_with_data: 2,
  by_source: [{ source: 'usgs', count: 1 }],
  by_day: [
    { day: '2026-02-28', count: 0 },
    { day: '2026-03-01', count: 1 },
  ],
  suppressed: { enabled: 0, filter: 0, severity: 3, duplicate: 0, dwell: 0, quiet_hours: 0 },
  snooze_ignored: false,
  events: [
    {
      event_id: reference.id,
      title: reference.title,
      ts: HAPPENED,
      raised_at: SEEN,
      severity: 64,
      effective_severity: 64,
    },
  ],
  next_cursor: null,
  data_from: '2026-02-28T00:00:00.000Z',
  suggestion: null,
}

const version = {
  version: 2,
  at: '2026-02-21T09:00:00.000Z',
  action: 'updated',
  actor_id: ME,
  actor_email: 'mehmet@example.com',
  changes: { min_severity: [40, 50] },
} as const

const explanation = {
  zone_id: ZONE,
  event_id: reference.id,
  at: SEEN,
  zone_version: 1,
  live: false,
  raised: true,
  reason: alert.reason,
  checks: [
    { name: 'enabled', passed: true, enabled: true, reason: null },
    {
      name: 'filter',
      passed: true,
      source: 'usgs',
      sources: null,
      type: 'earthquake',
      types: ['earthquake'],
      status: 'active',
      visible: true,
    },
    {
      name: 'geometry',
      passed: true,
      shape_type: 'circle',
      match: 'footprint',
      inside: true,
      footprint_touches: null,
      distance_km: 20.5,
      radius_km: 50,
    },
    {
      name: 'severity',
      passed: true,
      severity: 64,
      multiplier: 1,
      effective: 64,
      min_severity: 50,
    },
    { name: 'duplicate', passed: true, alert: null, peak: null, escalates: false, late: false },
    {
      name: 'dwell',
      passed: true,
      not_applicable: true,
      dwell_minutes: 0,
      stayed_minutes: null,
      began_at: null,
    },
    { name: 'snooze', passed: true, snoozed_until: null },
    {
      name: 'quiet_hours',
      passed: true,
      window_start: null,
      window_end: null,
      quiet_mode: 'hold',
      emergency_severity: 90,
      overridden_by_emergency: false,
    },
  ],
}

const act: AuditRow = {
  id: AUDIT,
  at: '2026-02-20T08:30:00.000Z',
  actor_id: ME,
  key_id: KEY,
  action: 'zone.created',
  target_type: 'zone',
  target_id: ZONE,
  outcome: 'success',
  ip: '198.51.100.7',
  user_agent: 'curl/8.14.1',
  request_id: REQUEST,
  details: { label: 'Bosphorus' },
}

/** The example request and response of each operation, by operationId. */
export const EXAMPLES: Readonly<Record<string, { request?: object; response?: object }>> = {
  getSourcesHealth: {
    response: {
      status: 'ok',
      generated_at: SENT,
      sources: [
        {
          source: 'usgs',
          title: 'USGS Earthquakes',
          attribution: 'U.S. Geological Survey',
          status: 'ok',
          last_success_at: SEEN,
          last_event_at: HAPPENED,
          events_24h: 212,
          error: null,
          latency_seconds: { p50: 96, p95: 310 },
        },
      ],
    },
  },
  getMe: {
    response: {
      user_id: ME,
      email: 'mehmet@example.com',
      plan: 'pro',
      scopes: ['read', 'write'],
      key_id: KEY,
      rate_limit: { limit: 600, remaining: 598, reset_seconds: 41, window_seconds: 60 },
      orgs: [{ id: TEAM, name: 'Harbour watch', role: 'owner' }],
    },
  },
  listEvents: { response: { events: [event], next_cursor: null } },
  listZones: { response: { zones: [zone], next_cursor: null } },
  createZone: { request: draft, response: { zone } },
  getZone: { response: { zone } },
  updateZone: {
    request: { snoozed_until: '2026-03-02T06:00:00.000Z' },
    response: { zone: { ...zone, version: 2, snoozed_until: '2026-03-02T06:00:00.000Z' } },
  },
  restoreZone: { request: {}, response: { zone: { ...zone, version: 3 } } },
  previewDraft: { request: draft, response: { ...preview, zone_id: null } },
  previewZone: { response: preview },
  explainZone: { response: explanation },
  listZoneVersions: { response: { versions: [version], next_cursor: null } },
  listAlerts: { response: { alerts: [alert], next_cursor: null } },
  getAlert: { response: { alert } },
  updateAlert: {
    request: { resolved: true, note: resolved.note },
    response: { alert: resolved },
  },
  redeliverAlert: { request: {}, response: { alert, delivery_ids: [delivery.id], skipped: [] } },
  listChannels: { response: { channels: [channel], next_cursor: null } },
  getChannel: { response: { channel } },
  createChannel: {
    request: { kind: 'webhook', label: 'On call', target: 'https://hooks.example.com/watchpost' },
    response: { channel: withSecret },
  },
  updateChannel: { request: { enabled: true }, response: { channel } },
  restoreChannel: { request: {}, response: { channel } },
  rotateChannelSecret: { request: {}, response: { channel: withSecret } },
  recoverChannel: {
    request: { since: HAPPENED },
    response: {
      recovered: 12,
      remaining: 0,
      skipped: [{ reason: 'The zone was deleted.', count: 1 }],
    },
  },
  testChannel: { request: {}, response: { delivery: tested } },
  listChannelDeliveries: { response: { deliveries: [logged], next_cursor: null } },
  listMembers: { response: { members: [member] } },
  getMember: { response: { member } },
  inviteMember: {
    request: { email: 'ayse@example.com', role: 'member' },
    response: { member: invited, invite_url: 'https://watchpost.example/invite#3q2-7wX9kQ' },
  },
  updateMember: { request: { role: 'admin' }, response: { member: { ...member, role: 'admin' } } },
  removeMember: { response: { member, passed_on: { zones: 2, channels: 0 } } },
  getAnalytics: {
    response: {
      days: 2,
      zones: { total: 1, active: 1, shared: 0 },
      channels: { total: 1, enabled: 1 },
      alerts_window: 1,
      alerts_resolved: 0,
      alerts_by_source: [{ source: 'usgs', count: 1 }],
      alerts_by_day: preview.by_day,
      deliveries: { succeeded: 1, failed: 0 },
    },
  },
  listAudit: { response: { audit: [act], next_cursor: null } },
}

/** The parts of the story that examples-account.ts continues. */
export const STORY = {
  me: ME,
  key_id: KEY,
  team: TEAM,
  colleague: COLLEAGUE,
  member_id: MEMBER,
  zone,
  channel,
  alert,
  delivery,
  act,
  event,
}

const about = { id: ZONE, label: 'Bosphorus' }
/** The alert as its first message contains it: nothing has been delivered yet. */
const leaving: Alert = {
  ...alert,
  status: 'pending',
  dispatched_at: null,
  channel: null,
  deliveries: [{ ...delivery, status: 'queued', attempts: 0, delivered_at: null }],
}

const raised: z.infer<typeof AlertMessage> = {
  type: 'alert.raised',
  timestamp: HAPPENED,
  data: { alert: leaving, zone: about },
}
const digest: z.infer<typeof DigestMessage> = {
  type: 'alert.digest',
  timestamp: '2026-03-02T04:00:00.000Z',
  data: { alert: leaving, zone: about, alerts: [leaving], part: 1, parts: 1, alerts_total: 1 },
}
const test: z.infer<typeof TestMessage> = {
  type: 'channel.test',
  timestamp: SEEN,
  data: { alert: null, zone: null },
}
export const MESSAGE_EXAMPLES = { raised, digest, test }
