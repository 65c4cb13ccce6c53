import { z } from 'zod'
import { invalid } from '../../../shared/problem.ts'
import type { Sql } from '../../../shared/sql.ts'
import { draftSentences } from '../../agents/evidence/sentences.ts'
import { absent } from '../../i18n/failure.ts'
import { bilingual, verbatim, type Words } from '../../i18n/words.ts'
import { recordActivity } from '../../leads/timeline.ts'
import { TEMPLATES, type TemplateName } from '../render/slots.ts'
import { Audience } from './audience.ts'
import { flowText } from './flow.text.ts'
import type { State } from './flow.ts'
import { requireState, UNRENDERED, voidApproval } from './state.ts'

const say = bilingual(flowText)

export const TemplateChoice = z.enum(TEMPLATES as [TemplateName, ...TemplateName[]]) // safe: not empty

const Content = {
  audience: Audience,
  subject: z.string().trim().min(1).max(150),
  text: z.string().trim().min(1).max(20_000),
  language: z.enum(['en', 'tr']),
  template: TemplateChoice,
  slots: z.record(z.string(), z.unknown()).meta({
    description: 'The values for the template’s slots; {} renders the text as a personal mail.',
  }),
}

/** A new draft, written by hand or by an agent. */
export const NewDraft = z.strictObject({
  ...Content,
  language: Content.language.default('en'),
  template: Content.template.default('letter'),
  slots: Content.slots.default({}),
})

/** The fields that can be edited; absent ones stay as they are. */
export const DraftChange = z.strictObject(Content).partial()

/** A row of hub.drafts, as the steps of the flow need it. */
export type DraftRow = {
  id: string
  project_id: string
  audience: Audience
  template: TemplateName
  language: 'en' | 'tr'
  subject: string
  text: string
  slots: Record<string, unknown>
  html: string | null
  rendered_subject: string | null
  rendered_text: string | null
  campaign: { subject: string; html: string; text: string } | null
  state: State
  state_reason: Words | null
  is_stale: boolean
  agent: string | null
  approved_hash: string | null
  approved_at: string | null
  approved: Record<string, unknown> | null
  via: 'smtp' | 'tx' | 'campaign' | null
  paused_at: string | null
  retry_at: string | null
  /** The sequence it is a step of, with its place and the days since the step before. */
  sequence_id: string | null
  step: number | null
  wait_days: number | null
  is_reply: boolean
  created_at: string
  updated_at: string
}

/** One draft, locked until the end of the transaction; a step is changed with its sequence. */
export async function lockDraft(sql: Sql, project_id: string, id: string): Promise<DraftRow> {
  const [row] = await sql<DraftRow>`
    select * from hub.drafts
    where id = ${id} and project_id = ${project_id} and sequence_id is null
    for update`
  if (!row) throw absent('draft')
  return row
}

/** createDraft creates a draft in the state `draft`; returns its id. */
export async function createDraft(
  sql: Sql,
  project: { id: string },
  given: z.input<typeof NewDraft> & { agent?: string; mission_id?: string },
): Promise<string> {
  const { agent = null, mission_id = null, ...content } = given
  const draft = NewDraft.parse(content)
  await requireAudience(sql, project.id, draft.audience)
  const [made] = await sql<{ id: string }>`
    insert into hub.drafts (
      project_id, audience, template, language, subject, text, slots, agent, mission_id
    )
    values (
      ${project.id}, ${JSON.stringify(draft.audience)}, ${draft.template}, ${draft.language},
      ${draft.subject}, ${draft.text}, ${JSON.stringify(draft.slots)},
      ${agent}, ${mission_id}
    )
    returning id`
  if (!made) throw new Error('the draft was not made')
  await recordDraft(sql, project, draft.audience, made.id)
  return made.id
}

/**
 * editDraft changes the content of a draft, which must then be rendered and approved again. Nobody
 * stands any longer for a sentence that is not in it, or if it has another audience.
 */
export async function editDraft(
  sql: Sql,
  project: { id: string },
  id: string,
  change: z.input<typeof DraftChange>,
  step: 'edit' | 'redesign' = 'edit',
): Promise<void> {
  const draft = await lockDraft(sql, project.id, id)
  requireState(step, draft.state)
  const next = { ...draft, ...withoutAbsent(DraftChange.parse(change)) }
  if (change.audience) await requireAudience(sql, project.id, next.audience)
  const isRewritten = change.text !== undefined || change.subject !== undefined
  // Slots made from the old text would keep its content.
  const slots = change.slots === undefined && isRewritten ? {} : next.slots
  const isPlain = Object.keys(slots).length === 0
  const template = isPlain && change.template === undefined ? 'letter' : next.template
  const said = change.audience ? [] : draftSentences({ ...next, slots })
  // Only what an agent wrote, changed by a person, says how well agents write.
  const first = step === 'edit' && draft.agent !== null ? linesOf(draft) : null
  const isEdited = first !== null && first !== linesOf({ ...next, slots })
  await voidApproval(sql, id, { step, to: 'draft' })
  if (change.audience) await recordDraft(sql, project, next.audience, id)
  await sql`
    update hub.drafts
    set audience = ${JSON.stringify(next.audience)}, template = ${template},
      language = ${next.language}, subject = ${next.subject}, text = ${next.text},
      slots = ${JSON.stringify(slots)}, ${UNRENDERED},
      first_text = case when ${isEdited} then coalesce(first_text, ${first}) else first_text end,
      edited_at = case when ${isEdited} then coalesce(edited_at, now()) else edited_at end
    where id = ${id}`
  await sql`
    delete from hub.stands where draft_id = ${id} and sentence <> all(${said}::text[])`
}

/** The sentences of a draft, one on each line. */
export const linesOf = (draft: Parameters<typeof draftSentences>[0]) =>
  draftSentences(draft).join('\n').slice(0, 100_000)

/** rejectDraft rejects a draft; an edit reopens it. */
export async function rejectDraft(
  sql: Sql,
  project: { id: string },
  id: string,
  reason: string | null,
): Promise<void> {
  const draft = await lockDraft(sql, project.id, id)
  requireState('reject', draft.state)
  await voidApproval(sql, id, {
    step: 'reject',
    to: 'rejected',
    reason: reason ? verbatim(reason) : null,
  })
}

/** Records in the lead's timeline that a draft is meant for it. */
async function recordDraft(
  sql: Sql,
  project: { id: string },
  audience: Audience,
  draft_id: string,
): Promise<void> {
  if (audience.kind !== 'lead') return
  const { lead_id } = audience
  const details = { draft_id }
  await recordActivity(sql, { project_id: project.id, lead_id, kind: 'draft', details })
}

async function requireAudience(sql: Sql, project_id: string, audience: Audience): Promise<void> {
  if (audience.kind !== 'lead') return
  const [lead] = await sql`
    select from hub.leads where id = ${audience.lead_id} and project_id = ${project_id}`
  if (lead) return
  throw invalid([{ path: 'audience.lead_id', code: 'not_found', message: say.no_lead }])
}

function withoutAbsent<T extends object>(value: T): T {
  const entries = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(entries) as T // safe: only absent fields were removed
}
