import { z } from 'zod'
import { EventReference } from '../schemas/alert.ts'
import { Instant } from '../time.ts'

/** What a record says it is; another layout has another name. */
export const EVIDENCE_FORMAT = 'watchpost-evidence/1'
export const EVIDENCE_KEYS_PATH = '/.well-known/watchpost-evidence.json'

const Text = z.string().nullable()
const Time = Instant.nullable()
const Id = z.uuid().nullable()

const EvidenceAlert = z
  .object({
    id: z.uuid(),
    zone_id: z.uuid(),
    zone_name: z.string(),
    event_id: z.string(),
    source: z.string(),
    attribution: Text,
    subject: Text,
    event: EventReference.meta({ description: 'The event as it was when the alert was raised.' }),
    current: EventReference.meta({ description: 'The event as it was when the record was made.' }),
    severity: z.number(),
    reason: z.string(),
    status: z.string(),
    raised_at: Instant,
    held_until: Time,
    dispatched_at: Time,
    updates: z.array(z.record(z.string(), z.unknown())),
    resolved: z.boolean(),
    resolved_at: Time,
    resolved_by: Id,
    resolved_via: Text,
    seen_at: Time,
    seen_by: Id,
    seen_via: Text,
    note: Text,
  })
  .meta({ id: 'EvidenceAlert' })

const EvidenceDecision = z
  .object({
    event_id: z.string(),
    source: z.string(),
    at: Instant,
    zone_version: z.int(),
    reason: z.string(),
    checks: z.array(z.record(z.string(), z.unknown())).meta({
      description: 'As `GET /zones/{id}/explain` answers them: every check with its numbers.',
    }),
    link: z.record(z.string(), z.unknown()).nullable().meta({
      description: 'Why an event of another source is the same; null for the one that raised it.',
    }),
  })
  .meta({ id: 'EvidenceDecision' })

const EvidenceZoneVersion = z
  .object({
    version: z.int(),
    valid_from: Instant,
    definition: z.record(z.string(), z.unknown()).meta({
      description: 'Every field that decided, with the polygon; without channels and owner.',
    }),
  })
  .meta({ id: 'EvidenceZoneVersion' })

const EvidenceRevision = z
  .object({
    event_id: z.string(),
    revision: z.int(),
    first_seen_at: Instant,
    source: z.string(),
    type: z.string(),
    title: z.string(),
    lat: z.number(),
    lon: z.number(),
    ts: Instant,
    severity: z.number(),
    subject: Text,
    status: z.string(),
    url: Text,
    magnitude: z.number().nullable(),
    depth_km: z.number().nullable(),
    ends_at: Time,
    geometry: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({
        description:
          'The footprint, in the first revision that has it. Null in those that follow with the same `geometry_sha256`, ' +
          'and where footprints were left out because they have over 1 MB.',
      }),
    geometry_sha256: Text.meta({
      description:
        'SHA-256 of the footprint as canonical JSON, in hexadecimal; null: only a point.',
    }),
  })
  .meta({ id: 'EvidenceRevision' })

const EvidenceDelivery = z
  .object({
    id: z.uuid(),
    channel_id: z.uuid(),
    channel_kind: z.string(),
    type: z.string(),
    sequence: z.int(),
    status: z.string(),
    created_at: Instant,
    delivered_at: Time,
    redelivery_of: Id,
    digest_id: Id,
    cancelled_because: Text,
    attempts: z.array(
      z.object({
        attempt: z.int(),
        at: Instant,
        outcome: z.string(),
        status_code: z.int().nullable(),
        duration_ms: z.int(),
      }),
    ),
  })
  .meta({ id: 'EvidenceDelivery' })

const EvidenceAct = z
  .object({
    at: Instant,
    actor_id: Id,
    action: z.string(),
    outcome: z.string(),
    request_id: Id,
  })
  .meta({ id: 'EvidenceAct' })

/** What the database knows of an alert: `private.evidence_facts`. */
export const EvidenceFacts = z.object({
  read_at: Instant,
  settled: z.boolean(),
  alert: EvidenceAlert,
  decisions: z.array(EvidenceDecision),
  zone_versions: z.array(EvidenceZoneVersion),
  revisions: z.array(EvidenceRevision.omit({ geometry_sha256: true })),
  revision_count: z.int(),
  audit_count: z.int(),
  deliveries: z.array(EvidenceDelivery),
  audit: z.array(EvidenceAct),
})
export type EvidenceFacts = z.infer<typeof EvidenceFacts>

export const EvidenceRecord = z
  .object({
    format: z.literal(EVIDENCE_FORMAT),
    number: z.int().min(1).meta({
      description:
        'Which record of the alert it is. A later one says all that an earlier one says, and what came since.',
    }),
    state: z.enum(['final', 'preliminary']).meta({
      description: '`preliminary`: it is not signed, because the alert has not settled yet.',
    }),
    because: z.enum(['settled', 'before_purge']).nullable().meta({
      description:
        '`before_purge`: the alert had not settled, but something of it was about to be deleted. Null while preliminary.',
    }),
    made_at: Instant,
    alert: EvidenceAlert,
    decisions: z.array(EvidenceDecision),
    zone_versions: z.array(EvidenceZoneVersion),
    revisions: z.array(EvidenceRevision),
    deliveries: z.array(EvidenceDelivery),
    audit: z.array(EvidenceAct),
    omitted: z
      .object({
        revisions: z.int(),
        footprints: z.int(),
        audit: z.int().optional().meta({
          description: 'Missing: none.',
        }),
      })
      .meta({
        description:
          'How many revisions beyond 1,000, footprints beyond 1 MB, and acts in `audit` beyond 1,000 it lacks.',
      }),
  })
  .meta({ id: 'EvidenceRecord', description: 'What is known of an alert.' })
export type EvidenceRecord = z.infer<typeof EvidenceRecord>

const Signature = z
  .object({
    alg: z.literal('Ed25519'),
    key_id: z
      .string()
      .max(100)
      .meta({ description: `Of a key of \`${EVIDENCE_KEYS_PATH}\`.` }),
    value: z.string().max(200).meta({
      description: 'Over `evidence` as canonical JSON (RFC 8785) in UTF-8, in base64url.',
    }),
  })
  .meta({ id: 'EvidenceSignature' })

/** A file of evidence: canonical JSON as a whole, so that every reader reads the same. */
export const EvidenceFile = z
  .object({ evidence: EvidenceRecord, signature: Signature.nullable() })
  .meta({ id: 'Evidence' })
export type EvidenceFile = z.infer<typeof EvidenceFile>

/** A public key as `/.well-known/watchpost-evidence.json` lists it: a JWK (RFC 8037) with the times of its use. */
export const EvidenceKey = z
  .object({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: z.string().max(100),
    kid: z.string().max(100),
    alg: z.literal('EdDSA'),
    use: z.literal('sig'),
    created_at: Instant,
    retired_at: Time.meta({ description: 'Since when it signs no more; null: it signs.' }),
    withdrawn_at: Time.optional().meta({
      description:
        'Since when somebody else may have signed with it: trust nothing it signed that you had not seen before. Null or ' +
        'missing: it is not withdrawn.',
    }),
    withdrawn_reason: z.string().max(500).nullable().optional(),
  })
  .meta({ id: 'EvidenceKey' })
export type EvidenceKey = z.infer<typeof EvidenceKey>
export const EvidenceKeys = z.object({ keys: z.array(EvidenceKey) }).meta({ id: 'EvidenceKeys' })
export type EvidenceKeys = z.infer<typeof EvidenceKeys>
