import {
  EVIDENCE_FORMAT,
  type EvidenceFile,
  type EvidenceKeys,
} from '../../shared/evidence/evidence.ts'
import { act, alert, delivery, event, reference, resolved, SEEN, SENT, zone } from './story.ts'
import { explanation } from './story-decisions.ts'

const KEY_ID = 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'
const {
  event_ids: _,
  deliveries: __,
  channel: ___,
  seen_channel: ____,
  updated_at: _____,
  ...told
} = resolved

export const evidence: EvidenceFile = {
  evidence: {
    format: EVIDENCE_FORMAT,
    number: 1,
    state: 'final',
    because: 'settled',
    made_at: '2026-03-01T12:20:05.000Z',
    alert: { ...told, source: reference.source, subject: null },
    decisions: [
      {
        event_id: reference.id,
        source: reference.source,
        at: SEEN,
        zone_version: 1,
        reason: alert.reason,
        checks: [...explanation.checks],
        link: null,
      },
    ],
    zone_versions: [
      {
        version: 1,
        valid_from: zone.created_at,
        definition: { label: zone.label, lat: zone.lat, lon: zone.lon, radius_km: zone.radius_km },
      },
    ],
    revisions: [
      {
        event_id: reference.id,
        revision: 1,
        first_seen_at: SEEN,
        source: event.source,
        type: event.type,
        title: event.title,
        lat: event.lat,
        lon: event.lon,
        ts: event.ts,
        severity: event.severity,
        subject: null,
        status: 'active',
        url: event.url,
        magnitude: event.magnitude,
        depth_km: event.depth_km,
        ends_at: null,
        geometry: null,
        geometry_sha256: null,
      },
    ],
    deliveries: [
      {
        id: delivery.id,
        channel_id: delivery.channel_id,
        channel_kind: 'webhook',
        type: delivery.kind,
        sequence: 0,
        status: 'succeeded',
        created_at: SEEN,
        delivered_at: SENT,
        redelivery_of: null,
        digest_id: null,
        cancelled_because: null,
        attempts: [{ attempt: 1, at: SENT, outcome: 'ok', status_code: 200, duration_ms: 84 }],
      },
    ],
    audit: [
      {
        at: '2026-03-01T12:20:00.000Z',
        actor_id: act.actor_id,
        action: 'alert.resolved',
        outcome: 'success',
        request_id: act.request_id,
      },
    ],
    omitted: { revisions: 0, footprints: 0 },
  },
  signature: {
    alg: 'Ed25519',
    key_id: KEY_ID,
    value: 'RVhBTVBMRS1FWEFNUExFLUVYQU1QTEUtRVhBTVBMRS1FWEFNUExFLUVYQU1QTEUtRVhBTVBMRS1FWEFNUExFIQ',
  },
}

export const evidenceKeys: EvidenceKeys = {
  keys: [
    {
      kty: 'OKP',
      crv: 'Ed25519',
      x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      kid: KEY_ID,
      alg: 'EdDSA',
      use: 'sig',
      created_at: '2026-02-20T08:25:00.000Z',
      retired_at: null,
      withdrawn_at: null,
      withdrawn_reason: null,
    },
  ],
}
