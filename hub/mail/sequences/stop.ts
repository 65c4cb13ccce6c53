import type { Sql } from '../../../shared/sql.ts'
import { bilingual, joined, stored, type Words } from '../../i18n/words.ts'
import { recordActivities } from '../../leads/timeline.ts'
import { stopMails, unscheduleMails } from '../drafts/step-state.ts'
import { stopText } from './stop.text.ts'

/** Why somebody left a sequence, in words. */
export const stopWords = bilingual(stopText)
export type StopReason = keyof typeof stopWords

/**
 * Who leaves: a lead, or everybody with an address; in one project, or with null in all that the
 * transaction sees.
 */
export type Who = { project_id: string | null; lead_id?: string | null; email?: string | null }
/** Everybody who is in one sequence. */
type All = { project_id: null; sequence_id: string; all: true }

/**
 * stopSequences takes a person out of every sequence they are in, in the transaction of what happened:
 * a reply, a bounce, an opt-out, another stage, a deletion. Their mails that have not gone are skipped
 * with the reason, and their timeline says so; one that is being sent at this moment can no longer be
 * held back. Doing it twice has no further effect. Returns how many sequences they were in.
 */
export async function stopSequences(
  sql: Sql,
  who: (Who & { sequence_id?: string; all?: never }) | All,
  reason: StopReason,
  detail: Words | null = null,
): Promise<number> {
  const { project_id, sequence_id = null, all = false } = who
  const { lead_id = null, email = null } = who.all ? {} : who
  const left = await sql<{
    sequence_id: string
    project_id: string
    lead_id: string | null
    email: string
    name: string
  }>`
    update hub.sequence_recipients as person
    set state = 'stopped', stop_reason = ${reason}, stop_detail = ${detail && stored(detail)},
      ended_at = now(), wait_until = null
    from hub.sequences as sequence
    where sequence.id = person.sequence_id and person.state = 'active'
      and (${project_id}::uuid is null or person.project_id = ${project_id}::uuid)
      and (${sequence_id}::uuid is null or person.sequence_id = ${sequence_id}::uuid)
      and (${all} or person.lead_id = ${lead_id}::uuid or person.email = lower(${email}::text))
    returning person.sequence_id, person.project_id, person.lead_id, person.email, sequence.name`
  const words = wordsOf(reason, detail)
  for (const [id, people] of Map.groupBy(left, (one) => one.sequence_id)) {
    await stopMails(sql, { sequence_id: id, emails: people.map((one) => one.email) }, words)
  }
  await recordActivities(
    sql,
    left.flatMap(({ lead_id, project_id, sequence_id, name }) => {
      if (!lead_id || reason === 'erased' || reason === 'lead_deleted') return []
      const details = { sequence_id, name, what: 'stopped', reason, ...(detail ? { detail } : {}) }
      return [{ project_id, lead_id, kind: 'sequence' as const, details }]
    }),
  )
  return left.length
}

/** The reason with its detail: "a mail could not be delivered: 550 …". */
export const wordsOf = (reason: StopReason, detail: Words | null): Words =>
  detail ? joined([stopWords[reason], detail], ': ') : stopWords[reason]

/**
 * postponeSequences lets the mails of a person wait until a time, in every sequence they are in: the
 * answer of an absent person says when they are back. It never makes a mail earlier. Returns how many
 * sequences wait.
 */
export async function postponeSequences(sql: Sql, who: Who, until: Date): Promise<number> {
  const { project_id, lead_id = null, email = null } = who
  const waiting = await sql<{ sequence_id: string; email: string }>`
    update hub.sequence_recipients
    set wait_until = greatest(wait_until, ${until.toISOString()}::timestamptz)
    where state = 'active'
      and (${project_id}::uuid is null or project_id = ${project_id}::uuid)
      and (lead_id = ${lead_id}::uuid or email = lower(${email}::text))
    returning sequence_id, email`
  for (const { sequence_id, email } of waiting) {
    await unscheduleMails(sql, { sequence_id, emails: [email] })
  }
  return waiting.length
}

/** endPostponement lets the mails of sequences go to a lead again in their next office hours. */
export async function endPostponement(sql: Sql, lead_id: string): Promise<void> {
  await sql`
    update hub.sequence_recipients set wait_until = null
    where lead_id = ${lead_id} and state = 'active' and wait_until is not null`
}
