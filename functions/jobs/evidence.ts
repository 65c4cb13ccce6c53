import { canonical, nextRecord } from '../../shared/evidence-record.ts'
import { describeError } from '../../shared/problem.ts'
import { inTransaction } from '../db.ts'
import { evidenceSigner, type SignEvidence } from '../evidence-keys.ts'
import type { JobDeps } from './queue.ts'

type Deps = Pick<JobDeps, 'db' | 'seal' | 'log'>
type Due = { alert_id: string; token: string | null }
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

/** One that fails keeps no other one waiting; it is tried again, and nothing of it is deleted until then. */
async function freezeAll(deps: Deps, due: Due[], sign: SignEvidence | undefined): Promise<number> {
  let made = 0
  for (const one of due) {
    try {
      await freeze(deps, one, sign)
      made += 1
    } catch (error) {
      deps.log({ msg: 'evidence', alert_id: one.alert_id, error: describeError(error) })
    }
  }
  return made
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
async function freeze({ db }: Deps, due: Due, sign: SignEvidence | undefined): Promise<void> {
  const { alert_id, token } = due
  const [sources] = await inTransaction(
    db,
    (sql) => sql<Sources>`select * from private.evidence_sources(${alert_id})`,
  )
  if (!sources) return
  const { number, record: before } = sources
  const previous = before === null ? null : { record: before }
  const next = await nextRecord(sources.facts, previous)
  const text = next.is_news ? canonical(next.record) : null
  const signature = text === null ? undefined : await sign?.(text)
  await inTransaction(
    db,
    (sql) => sql`
      select private.keep_evidence(${alert_id}, ${text === null ? number : next.record.number}, ${text},
        ${signature?.key_id ?? null}, ${signature?.value ?? null}, ${next.read_at}::timestamptz, ${next.settled},
        ${token}::uuid)`,
  )
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
