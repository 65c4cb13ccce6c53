import { open } from 'node:fs/promises'
import type pg from 'pg'
import { z } from 'zod'
import { type PublicKeyRow, publicKeys } from '../../functions/evidence-keys.ts'
import {
  checkEvidence,
  type EvidenceFault,
  MAX_EVIDENCE_BYTES,
} from '../../shared/evidence/evidence-check.ts'
import { UsageError } from '../start/arguments.ts'
import { becomeOwner } from './accounts.ts'
import { recordAct } from './operator.ts'

const REASONS: Record<Exclude<EvidenceFault, 'withdrawn_key'>, string> = {
  too_large: `It has more than ${MAX_EVIDENCE_BYTES / 1024 / 1024} MiB, which no record has.`,
  not_json: 'It is not JSON.',
  not_canonical: 'It is not canonical JSON: a program wrote it anew, or somebody changed it.',
  not_evidence: 'It is not a record of Watchpost, or was made by another version.',
  unsigned: 'It is not signed: it was fetched before the alert had settled.',
  unknown_key: 'No key of this service signed it. --keys FILE names those of another one.',
  bad_signature: 'The signature does not fit: it was changed, or another key signed it.',
}

/** readEvidence reads a file, as long as a record can be. */
export async function readEvidence(file: string): Promise<Uint8Array<ArrayBuffer>> {
  const handle = await open(file).catch((error) => {
    throw new UsageError(`${file} cannot be read (${error.code}).`)
  })
  try {
    const bytes = new Uint8Array(MAX_EVIDENCE_BYTES + 1)
    let size = 0
    for (;;) {
      const { bytesRead } = await handle.read(bytes, size, bytes.length - size)
      size += bytesRead
      if (bytesRead === 0 || size === bytes.length) return bytes.slice(0, size)
    }
  } finally {
    await handle.close()
  }
}

/** readKeys reads a downloaded list of keys. */
export async function readKeys(file: string): Promise<unknown[]> {
  const text = new TextDecoder().decode(await readEvidence(file))
  try {
    return z.object({ keys: z.array(z.unknown()) }).parse(JSON.parse(text)).keys
  } catch {
    throw new UsageError(`${file} is not a list of keys: {"keys": […]}.`)
  }
}

/** selectKeys returns the public keys of this service. */
export async function selectKeys(client: pg.Client): Promise<unknown[]> {
  await becomeOwner(client)
  const { rows } = await client.query<PublicKeyRow>('select * from private.evidence_public_keys()')
  return publicKeys(rows).keys
}

/** verifyEvidence throws when the file is not as one of the keys signed it. */
export async function verifyEvidence(bytes: Uint8Array<ArrayBuffer>, keys: unknown[]) {
  const verdict = await checkEvidence(bytes, keys)
  if (!verdict.ok && verdict.fault === 'withdrawn_key') {
    const { kid, withdrawn_at, withdrawn_reason } = verdict.key
    throw new UsageError(
      `The evidence is NOT to be trusted unless it was seen before ${withdrawn_at}: the signature fits, but its key ${kid} is withdrawn since then (${withdrawn_reason}). The service may have signed the same record anew.`,
    )
  }
  if (!verdict.ok) throw new UsageError(`The evidence is NOT good: ${REASONS[verdict.fault]}`)
  const { evidence, key } = verdict
  return {
    good: true,
    alert_id: evidence.alert.id,
    record: evidence.number,
    because: evidence.because,
    made_at: evidence.made_at,
    key_id: key.kid,
    key_retired_at: key.retired_at,
  }
}

/** rotateEvidenceKey retires the key that signs; the jobs make another one for the next record. */
export async function rotateEvidenceKey(client: pg.Client) {
  await becomeOwner(client)
  const { rows } = await client.query<{ kid: string }>(
    `update watchpost.evidence_keys set retired_at = now(), private_sealed = null where retired_at is null returning kid`,
  )
  const retired = rows[0]?.kid ?? null
  if (retired !== null) {
    await recordAct(client, { action: 'evidence_key.retired', type: 'evidence_key', id: retired })
  }
  return { retired }
}

/**
 * withdrawEvidenceKey says of a key that somebody else may have signed with it since a time. The records that it signed
 * and that are still here are signed anew by the jobs, with another key.
 */
export async function withdrawEvidenceKey(
  client: pg.Client,
  { kid, from, reason }: { kid: string; from: Date; reason: string },
) {
  await becomeOwner(client)
  const { rows } = await client.query<{ records: number | null }>(
    'select private.withdraw_evidence_key($1, $2, $3)::integer as records',
    [kid, from, reason],
  )
  const records = rows[0]?.records
  if (records === undefined || records === null) {
    throw new Error(
      `There is no key ${kid}. /.well-known/watchpost-evidence.json lists them as "kid".`,
    )
  }
  return { withdrawn: kid, from: from.toISOString(), records_to_sign_anew: records }
}
