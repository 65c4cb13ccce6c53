/** The examples of fire drills. */
import { channel, SEEN, SENT, ZONE } from './story.ts'
import { explanation } from './story-decisions.ts'

const drill = {
  id: 'f0e1d2c3-b4a5-4697-8879-6a5b4c3d2e1f',
  zone_id: ZONE,
  created_at: SEEN,
  event: { type: 'earthquake', source: 'drill', severity: 50, lat: 41.05, lon: 29.03 },
  ignore_quiet_hours: true,
  escalate: false,
  status: 'done',
  decided_at: SEEN,
  zone_version: 2,
  raised: true,
  reason:
    'DRILL: Earthquake, no real event: severity 50 × 1 = 50 reaches 50; 0 km from the centre, inside 50 km.',
  held_until: null,
  checks: explanation.checks,
  channels: [
    {
      channel_id: channel.id,
      channel: 'Operations',
      kind: 'webhook',
      delivery_id: '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d',
      type: 'alert.raised',
      step: null,
      outcome: 'succeeded',
      reason: null,
      next_attempt_at: null,
      delivered_at: SENT,
      attempts: [{ at: SENT, outcome: 'ok', status_code: 200, duration_ms: 87, error: null }],
    },
  ],
  hidden_channels: 0,
  escalation: [],
  seen_at: null,
}

export const DRILL_EXAMPLES = {
  drillZone: { request: { ignore_quiet_hours: true }, response: { drill } },
  getDrill: { response: { drill } },
}
