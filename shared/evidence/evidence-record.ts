import canonicalize from 'canonicalize'
import { EVIDENCE_FORMAT, EvidenceFacts, type EvidenceFile, EvidenceRecord } from './evidence.ts'

/** Footprints beyond this are left out, the latest first. */
const MAX_FOOTPRINT_CHARACTERS = 1_000_000

type Facts = EvidenceFacts
type Revision = EvidenceRecord['revisions'][number]
type Delivery = EvidenceRecord['deliveries'][number]

/** A value as canonical JSON (RFC 8785). Throws for one that JSON cannot express. */
export function canonical(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new Error(`a value of type ${typeof value} is not JSON`)
  return text
}

export type NextRecord = {
  record: EvidenceRecord
  /** Whether it says something that the record before it does not. */
  is_news: boolean
  settled: boolean
  read_at: string
}

/**
 * The record that follows from what is known of an alert now and from the record before it, which holds what was
 * deleted since.
 */
export async function nextRecord(
  given: unknown,
  previous: { record: string } | null,
): Promise<NextRecord> {
  const { settled, read_at, ...facts } = EvidenceFacts.parse(given)
  const before = previous ? EvidenceRecord.parse(JSON.parse(previous.record)) : null
  const record = await recordOf({ settled, read_at, ...facts }, before)
  const is_news = !before || canonical(contentOf(before)) !== canonical(contentOf(record))
  return { record, is_news, settled, read_at }
}

/** A record as a file, without its signature. */
export function preliminary(record: EvidenceRecord): EvidenceFile {
  return { evidence: { ...record, state: 'preliminary', because: null }, signature: null }
}

/** The bytes of a file; what is signed stands in it as it was signed. */
export function fileText(record: string, signature: { key_id: string; value: string } | null) {
  const signed = signature && { alg: 'Ed25519', ...signature }
  // "evidence" sorts before "signature".
  return `{"evidence":${record},"signature":${canonical(signed)}}`
}

async function recordOf(facts: Facts, before: EvidenceRecord | null): Promise<EvidenceRecord> {
  const { settled, read_at, revision_count, audit_count, ...known } = facts
  const fresh = await Promise.all(known.revisions.map(withHash))
  const revisions = united(before?.revisions ?? [], fresh, ({ event_id, revision }) =>
    JSON.stringify([event_id, revision]),
  ).sort(byTime)
  const bounded = withoutRepeats(revisions)
  const lacking = Math.max(before?.omitted.revisions ?? 0, revision_count - revisions.length)
  const audit = united(before?.audit ?? [], known.audit, canonical)
  const unlisted = Math.max(before?.omitted.audit ?? 0, audit_count - audit.length)
  return {
    format: EVIDENCE_FORMAT,
    number: (before?.number ?? 0) + 1,
    state: 'final',
    because: settled ? 'settled' : 'before_purge',
    made_at: read_at,
    alert: known.alert,
    decisions: known.decisions,
    zone_versions: united(before?.zone_versions ?? [], known.zone_versions, (one) => one.version),
    revisions: bounded.revisions,
    deliveries: unitedDeliveries(before?.deliveries ?? [], known.deliveries),
    audit,
    omitted: {
      ...{ revisions: lacking, footprints: bounded.omitted },
      // Not a zero, which would be news to every record that was made before this was counted.
      ...(unlisted > 0 ? { audit: unlisted } : {}),
    },
  }
}

function byTime(a: Revision, b: Revision): number {
  if (a.event_id !== b.event_id) return a.event_id < b.event_id ? -1 : 1
  return a.revision - b.revision
}

/** Those of the record before, as they are known now where they still are, and then the new ones. */
function united<T>(before: T[], known: T[], keyOf: (one: T) => unknown): T[] {
  const all = new Map(before.map((one) => [keyOf(one), one]))
  for (const one of known) all.set(keyOf(one), one)
  return [...all.values()]
}

function unitedDeliveries(before: Delivery[], known: Delivery[]): Delivery[] {
  const earlier = new Map(before.map((one) => [one.id, one]))
  const now = known.map((one) => {
    const attempts = united(earlier.get(one.id)?.attempts ?? [], one.attempts, (a) => a.attempt)
    return { ...one, attempts }
  })
  return united(before, now, ({ id }) => id)
}

async function withHash(revision: Facts['revisions'][number]): Promise<Revision> {
  const { geometry } = revision
  return { ...revision, geometry_sha256: geometry && (await sha256(canonical(geometry))) }
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Each footprint once, in the first revision that has it, until there are too many. */
function withoutRepeats(given: Revision[]): { revisions: Revision[]; omitted: number } {
  const kept = new Set<string>()
  const left = new Set<string>()
  const known = new Map(
    given.flatMap(({ geometry, geometry_sha256: hash }) => (geometry ? [[hash, geometry]] : [])),
  )
  let size = 0
  const revisions = given.map((one) => {
    const hash = one.geometry_sha256
    if (hash === null || kept.has(hash) || left.has(hash)) return { ...one, geometry: null }
    const geometry = known.get(hash)
    const length = geometry ? canonical(geometry).length : Number.POSITIVE_INFINITY
    if (!geometry || size + length > MAX_FOOTPRINT_CHARACTERS) {
      left.add(hash)
      return { ...one, geometry: null }
    }
    size += length
    kept.add(hash)
    return { ...one, geometry }
  })
  return { revisions, omitted: left.size }
}

function contentOf({ number: _, made_at: __, ...content }: EvidenceRecord) {
  return content
}
