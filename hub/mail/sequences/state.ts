import type { Sql } from '../../../shared/sql.ts'
import { bilingual, stored, type Words } from '../../i18n/words.ts'
import { recordActivities } from '../../leads/timeline.ts'
import { endSteps, voidSteps } from '../drafts/step-state.ts'
import { sequencesText } from './sequences.text.ts'
import { stopSequences } from './stop.ts'

// Only this file writes sequences.state; stop.ts and this file write sequence_recipients.state.

const say = bilingual(sequencesText)

export const SEQUENCE_STATES = ['draft', 'running', 'paused', 'done', 'stopped'] as const
export type SequenceState = (typeof SEQUENCE_STATES)[number]

/** startSequence fixes what was approved: draft → running; false if somebody else was first. */
export async function startSequence(
  sql: Sql,
  id: string,
  { hash, approved }: { hash: string; approved: object },
): Promise<boolean> {
  const changed = await sql`
    update hub.sequences
    set state = 'running', state_reason = null, approved_hash = ${hash}, approved_at = now(),
      approved = ${JSON.stringify(approved)}, started_at = coalesce(started_at, now()),
      updated_at = now()
    where id = ${id} and state = 'draft'
    returning id`
  return changed.length > 0
}

/** voidSequence takes a sequence back to a draft: nothing is sent until it is approved anew. */
export async function voidSequence(sql: Sql, id: string, reason: Words): Promise<boolean> {
  const changed = await sql`
    update hub.sequences
    set state = 'draft', state_reason = ${stored(reason)}, approved_hash = null,
      approved_at = null, updated_at = now()
    where id = ${id} and state in ('running', 'paused')
    returning id`
  if (changed.length === 0) return false
  await voidSteps(sql, id)
  return true
}

/** Holds a running sequence until somebody resumes it, or lets it go on; false in another state. */
export async function holdSequence(sql: Sql, id: string, isPaused: boolean): Promise<boolean> {
  const [from, to] = isPaused ? ['running', 'paused'] : ['paused', 'running']
  const changed = await sql`
    update hub.sequences set state = ${to}, updated_at = now()
    where id = ${id} and state = ${from}
    returning id`
  if (changed.length === 0) return false
  // The claim of each mail looks at its step.
  await sql`
    update hub.drafts
    set paused_at = case when ${isPaused} then now() end, retry_at = null, updated_at = now()
    where sequence_id = ${id}`
  return true
}

/** stopSequence ends a sequence for everybody who is still in it; false if it has ended already. */
export async function stopSequence(sql: Sql, id: string): Promise<boolean> {
  const changed = await sql`
    update hub.sequences
    set state = 'stopped', state_reason = null, ended_at = now(), updated_at = now()
    where id = ${id} and (state in ('running', 'paused') or state = 'draft' and started_at is not null)
    returning id`
  if (changed.length === 0) return false
  await stopSequences(sql, { project_id: null, sequence_id: id, all: true }, 'sequence_stopped')
  await endSteps(sql, id)
  return true
}

/** finishSequence ends a running sequence that nobody is in any more. */
export async function finishSequence(sql: Sql, id: string): Promise<boolean> {
  const changed = await sql`
    update hub.sequences set state = 'done', ended_at = now(), updated_at = now()
    where id = ${id} and state = 'running' and not exists (
      select from hub.sequence_recipients where sequence_id = ${id} and state = 'active'
    )
    returning id`
  if (changed.length === 0) return false
  await endSteps(sql, id)
  return true
}

/** One recipient of a sequence as it is approved; `skip` says why it gets nothing. */
export type Enrolled = {
  lead_id: string
  email: string
  name: string | null
  company: string | null
  time_zones: string[]
  skip: Words | null
}

/**
 * enrol stores the recipients of an approved sequence. Who is in it already keeps their place; who was
 * left out before and had no mail is looked at anew.
 */
export async function enrol(
  sql: Sql,
  sequence: { id: string; project_id: string; name: string },
  people: Enrolled[],
): Promise<void> {
  await sql`
    delete from hub.sequence_recipients as person
    where sequence_id = ${sequence.id} and stop_reason = 'left_out' and not exists (
      select from hub.recipients as mail join hub.drafts as step on step.id = mail.draft_id
      where step.sequence_id = ${sequence.id} and mail.email = person.email
    )`
  const rows = people.map(({ skip, ...one }) => ({
    ...one,
    skip: skip && JSON.parse(stored(skip)),
  }))
  const added = await sql<{ lead_id: string; is_new: boolean; state: string }>`
    insert into hub.sequence_recipients (
      sequence_id, project_id, lead_id, email, name, company, time_zones, state, stop_reason,
      stop_detail, ended_at
    )
    select ${sequence.id}::uuid, ${sequence.project_id}::uuid, lead_id, email, name, company,
      time_zones, case when skip is null then 'active' else 'stopped' end,
      case when skip is not null then 'left_out' end, skip,
      case when skip is not null then now() end
    from jsonb_to_recordset(${JSON.stringify(rows)}) as person (
      lead_id uuid, email text, name text, company text, time_zones text[], skip jsonb
    )
    on conflict (sequence_id, email) do update
      set name = excluded.name, company = excluded.company, time_zones = excluded.time_zones
    returning lead_id, old.email is null as is_new, state`
  await recordActivities(
    sql,
    added.flatMap(({ lead_id, is_new, state }) => {
      if (!is_new || state !== 'active') return []
      const details = { sequence_id: sequence.id, name: sequence.name, what: 'started' }
      return [{ project_id: sequence.project_id, lead_id, kind: 'sequence' as const, details }]
    }),
  )
}

/** completePeople: active → done for those who have had every step. */
export async function completePeople(sql: Sql, id: string, emails: string[]): Promise<void> {
  await sql`
    update hub.sequence_recipients
    set state = 'done', ended_at = now(), wait_until = null
    where sequence_id = ${id} and email = any(${emails}::text[]) and state = 'active'`
}

/** doubtSequences takes restored sequences back to drafts; their mails are unclear already. */
export async function doubtSequences(sql: Sql): Promise<void> {
  await sql`
    update hub.sequences
    set state = 'draft', state_reason = ${stored(say.restored)}, approved_hash = null,
      approved_at = null
    where state in ('running', 'paused')`
}
