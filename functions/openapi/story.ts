/** The things that the examples of the document show: an earthquake near Istanbul inside the zone Bosphorus. */
import type { z } from 'zod'
import type { Alert, Delivery, EventReference } from '../../shared/schemas/alert.ts'
import type { AuditRow } from '../../shared/schemas/audit.ts'
import {
  type Channel,
  type ChannelDelivery,
  DEFAULT_MESSAGES,
} from '../../shared/schemas/channel.ts'
import type { Member } from '../../shared/schemas/organisation.ts'
import type { Zone } from '../../shared/schemas/zone.ts'

export const ME = 'a1f0c5de-6f0b-4c1e-9a53-1b1f0f6a8d01'
const COLLEAGUE = 'b2e1d6cf-7a1c-4d2f-8b64-2c2e1e7b9e02'
export const KEY = 'c3d2e7b0-8b2d-4e3a-9c75-3d3d2d8caf03'
export const TEAM = 'd4c3f8a1-9c3e-4f4b-8d86-4e4c3c9db004'
export const ZONE = 'e5b4a992-ad4f-4a5c-9e97-5f5b4badc105'
const CHANNEL = 'f6a5ba83-be5a-4b6d-8fa8-6a6a5cbed206'
const SECOND_LINE = '0c2a7a0f-6f0e-4c0e-9a55-3b7f0f4f7f1d'
const ALERT = '07b6cb74-cf6b-4c7e-90b9-7b7b6dcfe307'
const DELIVERY = '18c7dc65-d07c-4d8f-81ca-8c8c7ed0f408'
const MEMBER = '29d8ed56-e18d-4e90-92db-9d9d8fe10509'
const AUDIT = '3ae9fe47-f29e-4fa1-83ec-aeae90f2160a'
const REQUEST = '4bfa0f38-03af-40b2-94fd-bfbfa103270b'

export const HAPPENED = '2026-03-01T12:00:00.000Z'
export const SEEN = '2026-03-01T12:01:40.000Z'
export const SENT = '2026-03-01T12:01:40.412Z'

export const draft = {
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

export const zone: z.infer<typeof Zone> = {
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
  aftershocks: null,
  max_alerts_per_hour: null,
  escalation: [{ after_minutes: 10, channel_ids: [SECOND_LINE] }],
  color: '#d9480f',
  icon: 'anchor',
  channel_ids: null,
  sources: null,
  snoozed_until: null,
  enabled: true,
  external_id: 'strait-1',
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
export const reference: EventReference = {
  ...happened,
  subject: null,
  status: 'active',
  magnitude: 5.7,
  depth_km: 9.4,
  ends_at: null,
}
export const event = {
  ...happened,
  subject: null,
  status: 'active',
  magnitude: 5.7,
  depth_km: 9.4,
  ends_at: null,
  attribution: 'Earthquake data: U.S. Geological Survey',
  flag: null,
  first_seen_at: SEEN,
  late: false,
  updated_at: SEEN,
  zone_ids: [ZONE],
} as const

export const delivery: Delivery = {
  id: DELIVERY,
  channel_id: CHANNEL,
  channel: 'On call',
  kind: 'alert.raised',
  status: 'succeeded',
  attempts: 1,
  last_error: null,
  delivered_at: SENT,
  redelivery_of: null,
  step: null,
}

export const alert: Alert = {
  id: ALERT,
  zone_id: ZONE,
  zone_name: 'Bosphorus',
  event_id: reference.id,
  event: reference,
  current: reference,
  event_ids: [
    {
      event_id: happened.id,
      source: happened.source,
      title: happened.title,
      ts: HAPPENED,
      severity: happened.severity,
      magnitude: 5.7,
      status: 'active',
      url: happened.url,
      attribution: 'Earthquake data: U.S. Geological Survey',
      added_at: SEEN,
      link: null,
    },
    {
      event_id: 'emsc:20260301_0000123',
      source: 'emsc',
      title: 'M 5.6 - SEA OF MARMARA',
      ts: '2026-03-01T12:00:01.200Z',
      severity: 63,
      magnitude: 5.6,
      status: 'active',
      url: 'https://www.emsc-csem.org/Earthquake_information/earthquake.php?id=1234567',
      attribution: 'Earthquake data: EMSC (www.emsc-csem.org) and contributing networks',
      added_at: '2026-03-01T12:06:00.000Z',
      link: {
        event_id: happened.id,
        rule: 'earthquake',
        seconds_apart: 1.2,
        distance_km: 4.4,
        magnitude_apart: 0.1,
        name: null,
      },
    },
  ],
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
  seen_at: null,
  seen_by: null,
  seen_via: null,
  seen_channel: null,
  note: null,
  updated_at: SENT,
}
export const acknowledged: Alert = {
  ...alert,
  seen_at: '2026-03-01T12:09:00.000Z',
  seen_by: ME,
  seen_via: 'api',
}
export const resolved: Alert = {
  ...acknowledged,
  resolved: true,
  resolved_at: '2026-03-01T12:20:00.000Z',
  resolved_by: ME,
  resolved_via: 'api',
  note: 'All sites called in, no damage.',
}

export const channel: Channel = {
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
  language: 'en',
  time_zone: 'Europe/Istanbul',
  signing_secret: null,
  created_at: '2026-02-20T08:25:00.000Z',
  updated_at: '2026-02-20T08:25:00.000Z',
}
export const withSecret: Channel = {
  ...channel,
  signing_secret: 'whsec_RVhBTVBMRS1FWEFNUExFLUVYQU1QTEUh',
}

export const logged: ChannelDelivery = {
  ...delivery,
  alert_id: ALERT,
  created_at: SEEN,
  next_attempt_at: null,
  expires_at: '2026-03-03T12:01:40.000Z',
  attempt_log: [
    {
      attempt: 1,
      at: SENT,
      outcome: 'ok',
      status_code: 200,
      duration_ms: 84,
      error: null,
      response_excerpt: 'ok',
      request_id: '6f1c2f0e-9d0b-4c63-8d0e-2f4b8f3a7c11',
    },
  ],
}
export const tested: ChannelDelivery = { ...logged, kind: 'channel.test', alert_id: null }

export const member: Member = {
  id: MEMBER,
  user_id: COLLEAGUE,
  email: 'ayse@example.com',
  role: 'member',
  status: 'active',
  joined_at: '2026-02-21T09:00:00.000Z',
  invite_expires_at: null,
}
export const invited: Member = {
  ...member,
  user_id: null,
  status: 'invited',
  joined_at: null,
  invite_expires_at: '2026-05-08T09:30:00.000Z',
}

export const act: AuditRow = {
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

/** The parts of the story that examples-account.ts and examples-events.ts continue. */
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
