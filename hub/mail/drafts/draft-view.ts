import { createTwoFilesPatch } from 'diff'
import { z } from 'zod'
import { raw, type Sql } from '../../../shared/sql.ts'
import { absent } from '../../i18n/failure.ts'
import type { Words } from '../../i18n/words.ts'
import { By } from '../../members/by.ts'
import type { Approved } from './approval.ts'
import { Audience } from './audience.ts'
import { type DraftRow, TemplateChoice } from './drafts.ts'
import { MAIL_STATES, STATES } from './flow.ts'

export const Evidence = z
  .object({ id: z.uuid(), fact: z.string(), quote: z.string().nullable(), source: z.string() })
  .meta({ id: 'DraftEvidence' })

const Count = z.int().min(0)

/** A draft as the API returns it. */
export const Draft = z
  .object({
    id: z.uuid(),
    project: z.string(),
    audience: Audience,
    template: TemplateChoice,
    language: z.enum(['en', 'tr']),
    subject: z.string(),
    text: z.string(),
    slots: z.record(z.string(), z.unknown()),
    html: z.string().nullable().meta({ description: 'The rendered mail; null in state `draft`.' }),
    rendered_subject: z.string().nullable(),
    rendered_text: z.string().nullable().meta({
      description:
        'The text part of the mail, with `{first_name}`, `{unsubscribe_url}` and the like where each recipient gets their own.',
    }),
    state: z.enum(STATES),
    state_reason: z.string().nullable(),
    agent: z.string().nullable(),
    mission_id: z.uuid().nullable(),
    evidence: z.array(Evidence).meta({
      description:
        'The newest facts that may support its sentences: about its reader, then about us; up to 20.',
    }),
    via: z.enum(['smtp', 'tx', 'campaign']).nullable(),
    approved_at: z.string().nullable(),
    approved_by: By,
    sent_by: By.meta({ description: 'Who started the sending.' }),
    paused_at: z.string().nullable(),
    retry_at: z.string().nullable(),
    sent_at: z.string().nullable(),
    progress: z.object({
      total: Count,
      waiting: Count,
      sending: Count,
      sent: Count,
      unclear: Count,
      skipped: Count,
      failed: Count,
    }),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Draft' })
/** A Draft with its sentences in both languages. */
export type DraftView = Omit<z.infer<typeof Draft>, 'state_reason' | 'approved_by' | 'sent_by'> & {
  state_reason: Words | null
  approved_by: Words | null
  sent_by: Words | null
}

/** A recipient of a draft. */
export const Recipient = z
  .object({
    email: z.string(),
    name: z.string().nullable(),
    company: z.string().nullable(),
    lead_id: z.uuid().nullable(),
    state: z.enum(MAIL_STATES),
    reason: z.string().nullable(),
    sent_at: z.string().nullable(),
    opened_at: z.string().nullable(),
    clicked_at: z.string().nullable(),
    bounced_at: z.string().nullable(),
    replied_at: z.string().nullable(),
    unsubscribed_at: z.string().nullable(),
  })
  .meta({ id: 'DraftRecipient' })
export type RecipientView = Omit<z.infer<typeof Recipient>, 'reason'> & { reason: Words | null }

/** The columns of a Draft, for queries over `draft` and `project`. */
export const draftColumns = raw(`
  draft.id, project.slug as project, draft.audience, draft.template, draft.language, draft.subject,
  draft.text, draft.slots, draft.html, draft.rendered_subject, draft.rendered_text, draft.state,
  draft.state_reason, draft.agent, draft.mission_id, draft.via, draft.approved_at,
  private.words_of_actor(draft.approved_by) as approved_by,
  private.words_of_actor(draft.sent_by) as sent_by,
  draft.paused_at, draft.retry_at, draft.sent_at, draft.created_at, draft.updated_at,
  (
    select coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'fact', fact, 'quote', quote, 'source', source
      ) order by lead_id nulls last, created_at desc, id), '[]')
    from (
      (
        select id, lead_id, fact, quote, source, created_at from hub.evidence
        where lead_id = (draft.audience ->> 'lead_id')::uuid and project_id = draft.project_id
        order by created_at desc, id limit 20
      )
      union all
      (
        select id, lead_id, fact, quote, source, created_at from hub.evidence
        where project_id = draft.project_id and lead_id is null
        order by created_at desc, id limit 20
      )
      limit 20
    ) as possible
  ) as evidence,
  (
    select jsonb_build_object(
      'total', count(*), 'waiting', count(*) filter (where r.state in ('waiting', 'pushed')),
      'sending', count(*) filter (where r.state = 'sending'),
      'sent', count(*) filter (where r.state = 'sent'),
      'unclear', count(*) filter (where r.state = 'unclear'),
      'skipped', count(*) filter (where r.state = 'skipped'),
      'failed', count(*) filter (where r.state = 'failed')
    )
    from hub.recipients as r where r.draft_id = draft.id
  ) as progress`)

/** One draft as the API returns it; throws 404 for one of another project. */
export async function viewDraft(sql: Sql, project_id: string, id: string): Promise<DraftView> {
  const [draft] = await sql<DraftView>`
    select ${draftColumns}
    from hub.drafts as draft
    join hub.projects as project on project.id = draft.project_id
    where draft.id = ${id} and draft.project_id = ${project_id} and draft.sequence_id is null`
  if (!draft) throw absent('draft')
  return draft
}

/** The row with everything the flow needs, without a lock. */
export async function readDraft(sql: Sql, project_id: string, id: string): Promise<DraftRow> {
  const [draft] = await sql<DraftRow>`
    select * from hub.drafts
    where id = ${id} and project_id = ${project_id} and sequence_id is null`
  if (!draft) throw absent('draft')
  return draft
}

/**
 * What has changed since the last approval, as a unified diff; null if nothing has, or there was
 * none.
 */
export function diffSince(draft: DraftRow): string | null {
  const approved = draft.approved as Approved | null // safe: only approve writes it
  if (!approved) return null
  const isRendered = draft.rendered_text !== null
  const before = isRendered ? approved.rendered : approved.written
  const now = isRendered
    ? `${draft.rendered_subject}\n\n${draft.rendered_text}`
    : `${draft.subject}\n\n${draft.text}`
  if (before === now) return null
  return createTwoFilesPatch('approved', 'now', before, now, '', '', { context: 2 })
}
