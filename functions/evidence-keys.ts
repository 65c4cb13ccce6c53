import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose'
import { z } from 'zod'
import type { EvidenceKey, EvidenceKeys } from '../shared/evidence/evidence.ts'
import { encoded } from '../shared/evidence/evidence-check.ts'
import type { Sql } from '../shared/sql.ts'
import type { Seal } from './seal.ts'

/** Signs the text of a record. */
export type SignEvidence = (text: string) => Promise<{ key_id: string; value: string }>

type Step = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>

const PrivateJwk = z.object({
  kty: z.literal('OKP'),
  crv: z.string(),
  x: z.string(),
  d: z.string(),
})

/** What signs with the key of this service, which is made when there is none. Throws when no sealing key opens it. */
export async function evidenceSigner(step: Step, seal: Seal): Promise<SignEvidence> {
  const { kid, private_sealed } = (await signingKey(step)) ?? (await makeKey(step, seal))
  const jwk = PrivateJwk.parse(JSON.parse(await seal.unseal(private_sealed)))
  const key = await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['sign'])
  return async (text) => {
    const signature = await crypto.subtle.sign('Ed25519', key, new TextEncoder().encode(text))
    return { key_id: kid, value: encoded(new Uint8Array(signature)) }
  }
}

type KeyRow = { kid: string; private_sealed: string }

async function signingKey(step: Step): Promise<KeyRow | undefined> {
  const [row] = await step((sql) => sql<KeyRow>`select * from private.evidence_signing_key()`)
  return row
}

/** Makes a key and returns the one that is kept: another process may have been first. */
async function makeKey(step: Step, seal: Seal): Promise<KeyRow> {
  const pair = await generateKeyPair('Ed25519', { extractable: true })
  const jwk = PrivateJwk.parse(await exportJWK(pair.privateKey))
  const { d: _, ...public_jwk } = jwk
  const kid = await calculateJwkThumbprint(public_jwk)
  const sealed = await seal.seal(JSON.stringify(jwk))
  await step((sql) => sql`select private.add_evidence_key(${kid}, ${sealed}, ${public_jwk}::jsonb)`)
  const row = await signingKey(step)
  if (!row) throw new Error('the key that signs evidence was not stored')
  return row
}

/** A row of private.evidence_public_keys. */
export type PublicKeyRow = {
  kid: string
  public_jwk: JWK
  created_at: string | Date
  retired_at: string | Date | null
  withdrawn_from: string | Date | null
  withdrawn_reason: string | null
}

/** The public keys as they are published. */
export function publicKeys(rows: PublicKeyRow[]): EvidenceKeys {
  const time = (at: string | Date) => new Date(at).toISOString()
  const keys = rows.map(
    ({
      kid,
      public_jwk,
      created_at,
      retired_at,
      withdrawn_from,
      withdrawn_reason,
    }): EvidenceKey => ({
      ...{ kty: 'OKP', crv: 'Ed25519', x: public_jwk.x ?? '', kid, alg: 'EdDSA', use: 'sig' },
      created_at: time(created_at),
      retired_at: retired_at && time(retired_at),
      withdrawn_at: withdrawn_from && time(withdrawn_from),
      withdrawn_reason,
    }),
  )
  return { keys }
}
