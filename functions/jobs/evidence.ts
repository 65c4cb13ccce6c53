import { canonical, nextRecord } from '../../shared/evidence/evidence-record.ts'
import { describeError } from '../../shared/problem.ts'
import { inTransaction } from '../db.ts'
import { evidenceSigner, type SignEvidence } from '../evidence-keys.ts'
import type { JobDeps } from './queue.ts'

type Deps = Pick<JobDeps, 'db' | 'seal' | 'log'>
type Due = { alert_id: string; token: string | null }
/** More at once would hold much in memory, and be lost together. */
const TOGETHER = 20

type Sources = { facts: unknown; number: number | null; record: string | null }

/** Makes the records of up to `limit` alerts that have settled. Returns how many it made. */
export async function freezeSettled(deps: Deps, limit = 50): Promise<number> {
  const due = await inTransaction(
    deps.db,
    (sql) => sql<Due>`select * from private.settled_alerts(${limit})`,
  )
  const unsigned = await inTransaction(
    deps.db,
    (sql) => sql<Unsigned>`select * from private.unsigned_evidence(${limit})`,
  )
  const sign = due.length + unsigned.length > 0 ? await signerOf(deps) : undefined
  if (sign) for (const one of unsigned) await signLater(deps, one, sign)
  return freezeAll(deps, due, sign)
}

/** Makes the records of up to `limit` alerts of which something is about to be deleted. Returns how many it made. */
export async function freezeExpiring(deps: Deps, limit = 200): Promise<number> {
  const due = await inTransaction(
    deps.db,
    (sql) => sql<Due>`
      select id as alert_id, null as token from private.expiring_alerts(${limit}) as expiring (id)`,
  )
  const sign = due.length > 0 ? await signerOf(deps) : undefined
  return freezeAll(deps, due, sign)
}

/**
 * Several are frozen together. When that fails, each by itself: one that cannot be keeps no other one waiting. It is
 * tried again, and nothing of it is deleted until then.
 */
async function freezeAll(deps: Deps, due: Due[], sign: SignEvidence | undefined): Promise<number> {
  let made = 0
  for (let from = 0; from < due.length; from += TOGETHER) {
    const some = due.slice(from, from + TOGETHER)
    try {
      await freeze(deps, some, sign)
      made += some.length
    } catch (error) {
      if (some.length === 1) logFailure(deps, some, error)
      else made += await freezeEach(deps, some, sign)
    }
  }
  return made
}

async function freezeEach(deps: Deps, due: Due[], sign: SignEvidence | undefined): Promise<number> {
  let made = 0
  for (const one of due) {
    try {
      await freeze(deps, [one], sign)
      made += 1
    } catch (error) {
      logFailure(deps, [one], error)
    }
  }
  return made
}

function logFailure({ log }: Deps, due: Due[], error: unknown): void {
  for (const { alert_id } of due) log({ msg: 'evidence', alert_id, error: describeError(error) })
}

/** What signs; undefined where that fails: a record is kept all the same, and signed later. */
async function signerOf({ db, seal, log }: Deps): Promise<SignEvidence | undefined> {
  try {
    return await evidenceSigner((work) => inTransaction(db, work), seal)
  } catch (error) {
    log({ msg: 'evidence', error: describeError(error) })
    return undefined
  }
}

/** May run twice, or end after any of its steps: only the last one changes something, and a number is taken once. */
async function freeze({ db }: Deps, due: Due[], sign: SignEvidence | undefined): Promise<void> {
  const found = await inTransaction(
    db,
    (sql) => sql<Due & Sources>`
      select due.alert_id, due.token, s.facts, s.number, s.record
      from unnest(${due.map(({ alert_id }) => alert_id)}::uuid[], ${due.map(({ token }) => token)}::uuid[])
        as due (alert_id, token)
      cross join lateral private.evidence_sources(due.alert_id) s`,
  )
  const kept = await Promise.all(found.map((sources) => recordOf(sources, sign)))
  if (kept.length === 0) return
  // The same order everywhere, so that no two processes wait for each other.
  await inTransaction(
    db,
    (sql) => sql`
      select private.keep_evidence(k.alert_id, k.number, k.record, k.kid, k.signature, k.read_at, k.settled, k.token)
      from jsonb_to_recordset(${JSON.stringify(kept)}::jsonb) as k (
        alert_id uuid, number integer, record text, kid text, signature text, read_at timestamptz, settled boolean,
        token uuid)
      order by k.alert_id`,
  )
}

/** What is kept of an alert: its record where that has news, with a signature, and what it was made of. */
async function recordOf(
  { alert_id, token, facts, number, record: before }: Due & Sources,
  sign: SignEvidence | undefined,
) {
  const next = await nextRecord(facts, before === null ? null : { record: before })
  const record = next.is_news ? canonical(next.record) : null
  const signature = record === null ? undefined : await sign?.(record)
  return {
    alert_id,
    number: record === null ? number : next.record.number,
    record,
    kid: signature?.key_id ?? null,
    signature: signature?.value ?? null,
    read_at: next.read_at,
    settled: next.settled,
    token,
  }
}

type Unsigned = { alert_id: string; number: number; record: string }

/** Signs what could not be signed, or whose signature ended with the deletion of a person. */
async function signLater({ db }: Deps, unsigned: Unsigned, sign: SignEvidence): Promise<void> {
  const { alert_id, number, record } = unsigned
  const { key_id, value } = await sign(record)
  await inTransaction(
    db,
    (sql) =>
      sql`select private.sign_evidence(${alert_id}, ${number}, ${record}, ${key_id}, ${value})`,
  )
}
