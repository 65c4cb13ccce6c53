import { EvidenceFile, EvidenceKey, type EvidenceRecord } from './evidence.ts'
import { canonical } from './evidence-record.ts'

/** A file with more is refused unread; the largest record has about 3 MB. */
export const MAX_EVIDENCE_BYTES = 8 * 1024 * 1024
const SIGNATURE_BYTES = 64
const KEY_BYTES = 32

const EVIDENCE_FAULTS = [
  'too_large',
  'not_json',
  'not_canonical',
  'not_evidence',
  'unsigned',
  'unknown_key',
  'bad_signature',
  'withdrawn_key',
] as const
export type EvidenceFault = (typeof EVIDENCE_FAULTS)[number]

export type EvidenceVerdict =
  | { ok: true; evidence: EvidenceRecord; key: EvidenceKey }
  | { ok: false; fault: Exclude<EvidenceFault, 'withdrawn_key'> }
  /** The signature fits, but somebody else may have made it. */
  | { ok: false; fault: 'withdrawn_key'; evidence: EvidenceRecord; key: EvidenceKey }

const refused = (fault: Exclude<EvidenceFault, 'withdrawn_key'>): EvidenceVerdict => ({
  ok: false,
  fault,
})

/**
 * Judges a file of evidence by these public keys. The file must be canonical JSON byte for byte: a name that comes twice,
 * a number in another form or a character written another way could mean one thing here and another to the next reader.
 * A line break at the end is allowed, as editors add it.
 */
export async function checkEvidence(
  given: string | Uint8Array<ArrayBuffer>,
  keys: readonly unknown[],
): Promise<EvidenceVerdict> {
  const size = typeof given === 'string' ? new TextEncoder().encode(given).length : given.length
  if (size > MAX_EVIDENCE_BYTES) return refused('too_large')
  const text = textOf(given)?.replace(/\r?\n$/, '')
  const value = text === undefined ? undefined : parse(text)
  if (text === undefined || value === undefined) return refused('not_json')
  if (canonicalOrNot(value) !== text) return refused('not_canonical')
  const file = EvidenceFile.safeParse(value)
  if (!file.success) return refused('not_evidence')
  const { signature } = file.data
  if (!signature || file.data.evidence.state !== 'final') return refused('unsigned')
  const key = keys
    .map((one) => EvidenceKey.safeParse(one).data)
    .find((one) => one?.kid === signature.key_id)
  if (!key) return refused('unknown_key')
  // What was signed is in the text, with whatever a later version of the schema may not know.
  const signed = canonical((value as { evidence: unknown }).evidence) // safe: parsed above
  const isGood = await verify(key, signature.value, signed)
  if (!isGood) return refused('bad_signature')
  const { evidence } = file.data
  // Whenever the record says that it was made: whoever has the key writes any time into it.
  if (key.withdrawn_at) return { ok: false, fault: 'withdrawn_key', evidence, key }
  return { ok: true, evidence, key }
}

async function verify(key: EvidenceKey, signature: string, text: string): Promise<boolean> {
  const [raw, bytes] = [decoded(key.x), decoded(signature)]
  if (raw?.length !== KEY_BYTES || bytes?.length !== SIGNATURE_BYTES) return false
  try {
    const imported = await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify'])
    return await crypto.subtle.verify('Ed25519', imported, bytes, new TextEncoder().encode(text))
  } catch {
    return false
  }
}

/** The bytes of base64url without padding; undefined for any other text, also for another spelling of the same bytes. */
function decoded(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined
  try {
    const bytes = Uint8Array.from(
      atob(text.replaceAll('-', '+').replaceAll('_', '/')),
      (character) => character.charCodeAt(0),
    )
    return encoded(bytes) === text ? bytes : undefined
  } catch {
    return undefined
  }
}

/** Bytes in base64url without padding. */
export function encoded(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}

function textOf(given: string | Uint8Array<ArrayBuffer>): string | undefined {
  if (typeof given === 'string') return given
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(given)
  } catch {
    return undefined
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function canonicalOrNot(value: unknown): string | undefined {
  try {
    return canonical(value)
  } catch {
    return undefined
  }
}
