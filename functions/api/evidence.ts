import { z } from 'zod'
import { EVIDENCE_KEYS_PATH, EvidenceFile, EvidenceKeys } from '../../shared/evidence/evidence.ts'
import {
  canonical,
  fileText,
  nextRecord,
  preliminary,
} from '../../shared/evidence/evidence-record.ts'
import { notFound } from '../../shared/problem.ts'
import { createRoute, jsonResponse, pathId, resource, respond } from '../../shared/route.ts'
import { can, connect } from '../auth.ts'
import type { Ctx, Env } from '../context.ts'
import { type PublicKeyRow, publicKeys } from '../evidence-keys.ts'
import { problems } from '../http.ts'
import { read } from '../transaction.ts'
import { limitAddress } from './sources.ts'

const CACHE_SECONDS = 5 * 60

const AlertId = z.object({ id: pathId('The id of an alert.') })
const Query = z.strictObject({
  record: z.coerce.number().int().min(1).max(1_000_000).optional().meta({
    type: 'integer',
    minimum: 1,
    maximum: 1_000_000,
    description:
      'A signed record by its number, one of the last five; without it, what is known now.',
  }),
})

export const evidence = resource<Env>()

evidence.openapi(
  createRoute({
    method: 'get',
    path: '/{id}/evidence',
    operationId: 'getEvidence',
    tags: ['Alerts'],
    summary: 'Get what is known of an alert as one signed record',
    description:
      'The record is made and signed (Ed25519) when the alert has settled: it was resolved or its event is over, and none ' +
      'of its messages is on its way; or before anything of it is deleted. Until then, and while something has changed ' +
      'since, the answer is `preliminary` and not signed. The answer is canonical JSON (RFC 8785): keep its bytes as they ' +
      'are. It names no address of a channel and no secret. See docs/evidence.md.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: AlertId, query: Query },
    responses: { 200: jsonResponse(EvidenceFile, 'The record.'), ...problems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { record: number } = c.req.valid('query')
    const text = number === undefined ? await latest(c, id) : await earlier(c, id, number)
    c.header('Content-Disposition', `attachment; filename="evidence-${id}.json"`)
    return c.body(text, 200, { 'Content-Type': 'application/json' }) as never // safe: the type that is described
  },
)

type Kept = { record: string; kid: string | null; signature: string | null }
type Mine = Omit<Kept, 'record'> & { facts: unknown; is_due: boolean; record: string | null }

/** The last record where it says everything, else what the next one would say now. */
async function latest(c: Ctx, id: string): Promise<string> {
  const [mine] = await read(c, (sql) => sql<Mine>`select * from private.my_evidence(${id})`)
  if (!mine) throw notFound('alert')
  const { record, is_due } = mine
  const next = await nextRecord(mine.facts, record === null ? null : { record })
  const isSaid =
    record !== null && mine.signature !== null && !is_due && (next.settled || !next.is_news)
  if (isSaid) return signedText({ ...mine, record })
  return canonical(preliminary(next.record))
}

async function earlier(c: Ctx, id: string, number: number): Promise<string> {
  const [kept] = await read(
    c,
    (sql) => sql<Kept>`
      select record, kid, signature from watchpost.evidence
      where alert_id = ${id} and number = ${number} and signature is not null`,
  )
  if (!kept) throw notFound('record')
  return signedText(kept)
}

function signedText({ record, kid, signature }: Kept): string {
  return fileText(
    record,
    kid === null || signature === null ? null : { key_id: kid, value: signature },
  )
}

export const evidenceKeys = resource<Env>()

evidenceKeys.openapi(
  createRoute({
    method: 'get',
    path: EVIDENCE_KEYS_PATH,
    operationId: 'getEvidenceKeys',
    tags: ['Alerts'],
    summary: 'Get the public keys that evidence is checked with',
    description:
      'No authentication. A JSON Web Key Set (RFC 7517, RFC 8037), the key that signs now first. Keys that sign no more stay.',
    security: [],
    responses: { 200: jsonResponse(EvidenceKeys, 'The keys.'), ...problems(429, 503) },
  }),
  async (c) => {
    limitAddress(c)
    const connection = await connect(c)
    try {
      const { rows } = await connection.query('select * from private.evidence_public_keys()')
      connection.release()
      const keys = publicKeys(rows as PublicKeyRow[]) // safe: the columns of that function
      return respond(c, EvidenceKeys, keys, 200, {
        'Cache-Control': `public, max-age=${CACHE_SECONDS}`,
        // Whoever checks a file may do so from anywhere.
        'Access-Control-Allow-Origin': '*',
      })
    } catch (error) {
      connection.release(true)
      throw error
    }
  },
)
