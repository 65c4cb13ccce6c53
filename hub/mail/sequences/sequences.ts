import { z } from 'zod'
import { ApiError, invalid } from '../../../shared/problem.ts'
import type { Sql } from '../../../shared/sql.ts'
import { draftSentences } from '../../agents/evidence/sentences.ts'
import { absent } from '../../i18n/failure.ts'
import { bilingual, joined, type Words } from '../../i18n/words.ts'
import { AudienceFilter } from '../drafts/audience.ts'
import type { DraftRow } from '../drafts/drafts.ts'
import { sequencesText } from './sequences.text.ts'
import { type SequenceState, voidSequence } from './state.ts'
import { officeHours, SendWindow } from './window.ts'

const say = bilingual(sequencesText)

export const MAX_STEPS = 8

const Step = z.strictObject({
  id: z.uuid().optional().meta({ description: 'An existing step, which keeps who has had it.' }),
  wait_days: z.int().min(0).max(90).meta({
    description: 'Calendar days after the step before; 0 for the first step.',
  }),
  subject: z
    .string()
    .trim()
    .max(150)
    .nullable()
    .default(null)
    .meta({ description: 'null: the subject of the first step with Re: before it.' }),
  text: z.string().trim().min(1).max(20_000),
})
type Step = z.output<typeof Step>

const Content = {
  name: z.string().trim().min(1).max(120),
  language: z.enum(['en', 'tr']),
  filter: AudienceFilter,
  window: SendWindow,
  steps: z.array(Step).min(1).max(MAX_STEPS),
}

/** A new sequence, by hand or by an agent; without a window, office hours where the hub is. */
export const NewSequence = z.strictObject({
  ...Content,
  language: Content.language.optional().meta({
    description: 'Absent: the language of mails to all recipients, or else English.',
  }),
  filter: Content.filter.default({}),
  window: Content.window.optional(),
})

/** The fields that can be changed; absent ones stay. The steps are given whole. */
export const SequenceChange = z.strictObject(Content).partial()

/** A row of hub.sequences. */
export type SequenceRow = {
  id: string
  project_id: string
  name: string
  language: 'en' | 'tr'
  filter: AudienceFilter
  send_window: SendWindow
  state: SequenceState
  state_reason: Words | null
  agent: string | null
  mission_id: string | null
  approved_hash: string | null
  approved_at: string | null
  started_at: string | null
  ended_at: string | null
  created_at: string
  updated_at: string
}

/** Where this hub is, as the operating system says. */
const ownZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** One sequence, locked until the end of the transaction. */
export async function lockSequence(sql: Sql, project_id: string, id: string): Promise<SequenceRow> {
  const [row] = await sql<SequenceRow>`
    select * from hub.sequences where id = ${id} and project_id = ${project_id} for update`
  if (!row) throw absent('sequence')
  return row
}

/** Its steps, the first one first. */
export function stepsOf(sql: Sql, sequence_id: string): Promise<DraftRow[]> {
  return sql<DraftRow>`
    select * from hub.drafts where sequence_id = ${sequence_id} order by step`
}

/** A 409 for what is not possible in the state of a sequence. */
export function refuseState(doing: keyof typeof say.cannot, state: SequenceState): ApiError {
  return new ApiError('wrong_state', joined([say.cannot[doing], say.is[state]], ': '))
}

/** createSequence creates a sequence in the state `draft`; returns its id. */
export async function createSequence(
  sql: Sql,
  project: { id: string },
  given: z.input<typeof NewSequence> & { agent?: string; mission_id?: string },
): Promise<string> {
  const { agent = null, mission_id = null, ...content } = given
  const { name, language = 'en', filter, window, steps } = NewSequence.parse(content)
  requireSteps(steps)
  const [made] = await sql<{ id: string }>`
    insert into hub.sequences (project_id, name, language, filter, send_window, agent, mission_id)
    values (
      ${project.id}, ${name}, ${language}, ${JSON.stringify(filter)},
      ${JSON.stringify(window ?? officeHours(ownZone()))}, ${agent}, ${mission_id}
    )
    returning id`
  if (!made) throw new Error('the sequence was not made')
  await writeSteps(sql, { id: made.id, project_id: project.id, language, filter }, steps, [])
  return made.id
}

/**
 * editSequence changes a sequence, which must then be approved anew: nothing more is sent until then.
 * Who has had a mail does not get it again, and goes on with the next step.
 */
export async function editSequence(
  sql: Sql,
  project: { id: string },
  id: string,
  change: z.input<typeof SequenceChange>,
): Promise<void> {
  const row = await lockSequence(sql, project.id, id)
  if (row.state === 'done' || row.state === 'stopped') throw refuseState('edit', row.state)
  const { steps, window, ...rest } = SequenceChange.parse(change)
  const known = await stepsOf(sql, id)
  if (steps) requireSteps(steps)
  if (row.state !== 'draft') await voidSequence(sql, id, say.edited)
  const next = {
    name: rest.name ?? row.name,
    language: rest.language ?? row.language,
    filter: rest.filter ?? row.filter,
    window: window ?? row.send_window,
  }
  const kept = known.map(({ id, wait_days, is_reply, subject, text }) => ({
    id,
    wait_days: wait_days ?? 0,
    subject: is_reply ? null : subject,
    text,
  }))
  // Only what an agent wrote, changed by a person, says how well agents write.
  const isEdited = row.agent !== null && steps !== undefined && writingOf(steps) !== writingOf(kept)
  await sql`
    update hub.sequences
    set name = ${next.name}, language = ${next.language}, filter = ${JSON.stringify(next.filter)},
      send_window = ${JSON.stringify(next.window)}, updated_at = now(),
      edited_at = case when ${isEdited} then coalesce(edited_at, now()) else edited_at end
    where id = ${id}`
  await writeSteps(sql, { ...row, ...next }, steps ?? kept, known)
}

/** What the mails of a sequence say, without the days between them. */
const writingOf = (steps: Step[]) =>
  JSON.stringify(steps.map(({ subject, text }) => [subject || null, text]))

function requireSteps(steps: Step[]): void {
  const issues = steps.flatMap(({ subject, wait_days }, at) => [
    ...(at === 0 && !subject
      ? [{ path: 'steps.0.subject', code: 'required', message: say.first_subject }]
      : []),
    ...(at === 0 && wait_days !== 0
      ? [{ path: 'steps.0.wait_days', code: 'invalid', message: say.first_wait }]
      : []),
    ...(at > 0 && wait_days === 0
      ? [{ path: `steps.${at}.wait_days`, code: 'invalid', message: say.next_wait }]
      : []),
  ])
  if (issues.length > 0) throw invalid(issues)
}

/** Steps that somebody has had stay, in their order, before all others. */
async function writeSteps(
  sql: Sql,
  sequence: Pick<SequenceRow, 'id' | 'project_id' | 'language' | 'filter'>,
  steps: Step[],
  known: DraftRow[],
): Promise<void> {
  const had = await sql<{ id: string }>`
    select draft.id from hub.drafts as draft
    where draft.sequence_id = ${sequence.id} and exists (
      select from hub.recipients where draft_id = draft.id
    )
    order by draft.step`
  const moved = had.findIndex(({ id }, at) => steps[at]?.id !== id)
  if (moved !== -1) {
    throw invalid([{ path: `steps.${moved}`, code: 'was_sent', message: say.step_was_sent }])
  }
  const ids = known.map(({ id }) => id)
  const strange = steps.findIndex(
    ({ id }, at) => id && (!ids.includes(id) || steps.findIndex((one) => one.id === id) !== at),
  )
  if (strange !== -1) {
    throw invalid([{ path: `steps.${strange}.id`, code: 'not_found', message: say.no_step }])
  }
  const staying = steps.flatMap(({ id }) => id ?? [])
  await sql`
    delete from hub.drafts where sequence_id = ${sequence.id} and id <> all(${staying}::uuid[])`
  const audience = JSON.stringify({ kind: 'list', filter: sequence.filter })
  const first = steps[0]?.subject ?? ''
  for (const [at, { id, wait_days, subject, text }] of steps.entries()) {
    const title = subject || `Re: ${first}`
    if (!id) {
      await sql`
        insert into hub.drafts (
          project_id, audience, language, subject, text, sequence_id, step, wait_days, is_reply
        )
        values (
          ${sequence.project_id}, ${audience}, ${sequence.language}, ${title}, ${text},
          ${sequence.id}, ${at + 1}, ${wait_days}, ${!subject}
        )`
      continue
    }
    await sql`
      update hub.drafts
      set audience = ${audience}, language = ${sequence.language}, subject = ${title},
        text = ${text}, step = ${at + 1}, wait_days = ${wait_days}, is_reply = ${!subject},
        updated_at = now()
      where id = ${id} and sequence_id = ${sequence.id}`
    const said = draftSentences({
      subject: subject ? title : '',
      text,
      slots: {},
      language: sequence.language,
    })
    await sql`delete from hub.stands where draft_id = ${id} and sentence <> all(${said}::text[])`
  }
}
