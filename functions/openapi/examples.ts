/** The examples of the document, by operation and by message. */
import type { z } from 'zod'
import type { Alert } from '../../shared/schemas/alert.ts'
import type {
  AlertMessage,
  BlindMessage,
  DigestMessage,
  FailingMessage,
  RecoveredMessage,
  SightedMessage,
  TestMessage,
} from '../../shared/schemas/webhook.ts'
import {
  acknowledged,
  act,
  alert,
  channel,
  delivery,
  draft,
  event,
  HAPPENED,
  invited,
  KEY,
  logged,
  ME,
  member,
  resolved,
  SEEN,
  SENT,
  TEAM,
  tested,
  withSecret,
  ZONE,
  zone,
} from './story.ts'
import { explanation, preview, version } from './story-decisions.ts'
import { evidence, evidenceKeys } from './story-evidence.ts'

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
          delivery_seconds: { p50: 0.8, p95: 2.1 },
          items_24h: 15_230,
          rejected_24h: 2,
          rejected_reason: 'geometry: Invalid input: expected object, received null',
        },
      ],
      jobs_start: 'at_once',
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
  getWebPush: {
    response: {
      public_key:
        'BMeJM3SY-CPyFpDLzdSAlBYASwKEgmvoF3IDLXZ9SkZ1CY0RIsYVVWVOzfTfL7OEHR1x5nBnvGHXcG1nnkP7cQk',
    },
  },
  listEvents: { response: { events: [event], next_cursor: null } },
  pushEvents: {
    request: {
      source: 'custom:gauges',
      events: [
        {
          id: 'gauge-3:2026-03-01',
          type: 'flood',
          title: 'Gauge 3: 4.1 m',
          lat: 41.02,
          lon: 28.97,
          ts: HAPPENED,
          severity: 60,
        },
      ],
    },
    response: {
      accepted: 1,
      refused: 0,
      ignored: [],
      results: [
        {
          index: 0,
          id: 'gauge-3:2026-03-01',
          event_id: 'custom:gauges:0b9d3c5e7a11.gauge-3:2026-03-01',
          outcome: 'created',
          reason: null,
        },
      ],
    },
  },
  listZones: { response: { zones: [zone], next_cursor: null } },
  bulkZones: {
    request: {
      zones: [
        { external_id: 'strait-1', radius_km: 25 },
        { external_id: 'store-0412', label: 'Kadıköy', lat: 40.99, lon: 29.03, radius_km: 10 },
        { external_id: 'store-0413', label: 'Üsküdar', lat: 41.02 },
      ],
    },
    response: {
      dry_run: false,
      created: 1,
      updated: 1,
      unchanged: 0,
      rejected: 1,
      results: [
        { row: 1, external_id: 'strait-1', status: 'updated', id: ZONE, error: null },
        {
          row: 2,
          external_id: 'store-0412',
          status: 'created',
          id: '7b0f6c1e-58f2-4f0e-9d25-6f3f0a1c9d11',
          error: null,
        },
        {
          row: 3,
          external_id: 'store-0413',
          status: 'rejected',
          id: null,
          error: {
            code: 'invalid',
            detail: 'lon: Invalid input: expected number, received undefined',
            fields: [
              {
                path: 'lon',
                code: 'invalid_type',
                message: 'Invalid input: expected number, received undefined',
              },
            ],
          },
        },
      ],
    },
  },
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
  getEvidence: { response: evidence },
  getEvidenceKeys: { response: evidenceKeys },
  updateAlert: {
    request: { resolved: true, note: resolved.note },
    response: { alert: resolved },
  },
  acknowledgeAlert: { response: { alert: acknowledged } },
  redeliverAlert: { request: {}, response: { alert, delivery_ids: [delivery.id], skipped: [] } },
  listChannels: { response: { channels: [channel], next_cursor: null } },
  getChannel: { response: { channel } },
  createChannel: {
    request: { kind: 'webhook', label: 'On call', target: 'https://hooks.example.com/watchpost' },
    response: { channel: withSecret },
  },
  updateChannel: { request: { enabled: true }, response: { channel } },
  restoreChannel: { request: {}, response: { channel } },
  confirmChannel: {
    request: {},
    response: {
      channel: { ...channel, kind: 'email', target: 'ops@example.com', status: 'unconfirmed' },
    },
  },
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
      alerts_by_zone: [{ zone_id: ZONE, zone: 'Bosphorus', count: 1 }],
      resolve_seconds: { p50: null, p95: null },
      deliveries: { succeeded: 1, failed: 0 },
    },
  },
  listAudit: { response: { audit: [act], next_cursor: null } },
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
  data: {
    ...{ alert: leaving, zone: about, summary: null, alerts: [leaving] },
    ...{ part: 1, parts: 1, alerts_total: 1 },
  },
}
const test: z.infer<typeof TestMessage> = {
  type: 'channel.test',
  timestamp: SEEN,
  data: { alert: null, zone: null },
}
const blind: z.infer<typeof BlindMessage> = {
  type: 'zone.blind',
  timestamp: '2026-03-01T13:18:00.000Z',
  data: {
    source: {
      source: 'usgs',
      title: 'USGS Earthquakes',
      attribution: 'U.S. Geological Survey',
      status: 'down',
      since: '2026-03-01T13:03:00.000Z',
      reason: 'HTTP 503 from earthquake.usgs.gov',
    },
    zones: [about],
    zones_total: 1,
  },
}
const sighted: z.infer<typeof SightedMessage> = {
  ...blind,
  type: 'zone.sighted',
  timestamp: '2026-03-01T14:08:00.000Z',
  data: {
    ...blind.data,
    source: {
      ...blind.data.source,
      status: 'ok',
      until: '2026-03-01T14:03:00.000Z',
      blind_seconds: 3600,
    },
  },
}
const failing: z.infer<typeof FailingMessage> = {
  type: 'channel.failing',
  timestamp: '2026-03-01T13:18:00.000Z',
  data: {
    channel: {
      id: channel.id,
      kind: channel.kind,
      label: channel.label,
      status: 'failing',
      since: '2026-03-01T13:03:00.000Z',
      reason: 'The receiver answered HTTP 500.',
    },
  },
}
const recovered: z.infer<typeof RecoveredMessage> = {
  type: 'channel.recovered',
  timestamp: '2026-03-01T14:08:00.000Z',
  data: {
    channel: {
      ...failing.data.channel,
      status: 'ok',
      until: '2026-03-01T14:03:00.000Z',
      failing_seconds: 3600,
    },
  },
}
export const MESSAGE_EXAMPLES = { raised, digest, blind, sighted, failing, recovered, test }
