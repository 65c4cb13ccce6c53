import { invalid } from '../../../shared/problem.ts'
import type { Sql } from '../../../shared/sql.ts'
import type { Config } from '../../config.ts'
import type { Project } from '../../db/db.ts'
import { brandOf } from '../brand/brand-of.ts'
import { partsOf } from '../brand/brand-parts.ts'
import { personalOf } from '../drafts/audience.ts'
import { type DraftRow, lockDraft } from '../drafts/drafts.ts'
import { requireState, voidApproval } from '../drafts/state.ts'
import { firstNameAttribute, ownAttribute } from '../listmonk/listmonk.ts'
import { readMail, viaOf } from '../settings.ts'
import { fieldsFor, namedIn, ownOf, requireFields } from './own-values.ts'
import { tidied } from './placeholders.ts'
import { RenderError, type Rendered, type RenderInput, render } from './render.ts'
import type { TemplateName } from './slots.ts'
import { slotsOfText } from './text-slots.ts'

type Content = Pick<
  DraftRow,
  | 'id'
  | 'audience'
  | 'template'
  | 'language'
  | 'subject'
  | 'text'
  | 'slots'
  | 'project_id'
  | 'sequence_id'
>

/**
 * renderDraft fills the template and makes the draft `rendered`, which voids an approval. Given
 * slots (the designer's) are stored with the draft; without any, the template `letter` is filled
 * with its text.
 */
export async function renderDraft(
  sql: Sql,
  project: Project,
  config: Config,
  given: { id: string; template?: TemplateName; slots?: Record<string, unknown> },
): Promise<void> {
  const draft = await lockDraft(sql, project.id, given.id)
  requireState('render', draft.state)
  const template = given.template ?? draft.template
  const slots = given.slots ?? (template === draft.template ? draft.slots : {})
  await requireFields(sql, project.id, { ...draft, slots })
  const { mail, campaign } = await renderContent(sql, project, config, {
    ...draft,
    template,
    slots,
  })
  // Rendered again by itself, it still says why it must be approved again.
  const reason = draft.is_stale ? draft.state_reason : null
  await voidApproval(sql, draft.id, { step: 'render', to: 'rendered', reason })
  await sql`
    update hub.drafts
    set template = ${template}, slots = ${JSON.stringify(slots)}, html = ${mail.html},
      rendered_subject = ${mail.subject}, rendered_text = ${mail.text},
      campaign = ${campaign && JSON.stringify(campaign)}
    where id = ${draft.id}`
}

/** The mail as it would be rendered now; for a campaign also as listmonk's template. */
export async function renderContent(
  sql: Sql,
  project: Project,
  config: Config,
  given: Content,
): Promise<{ mail: Rendered; campaign: Omit<Rendered, 'bytes'> | null }> {
  const { subject, text, slots, project_id } = given
  const fields = await fieldsFor(sql, project_id)
  const draft = { ...given, ...tidied({ subject, text, slots }, fields) }
  const settings = await readMail(config.paths)
  const input = await inputOf(sql, project, config, draft)
  try {
    const { audience } = draft
    if (viaOf(settings, config, draft.sequence_id ? 'step' : audience.kind) === 'campaign') {
      const recipient = await recipientOf(sql, draft)
      const options = {
        target: 'listmonk' as const,
        track_opens: settings.track_opens,
        first_name_attribute: firstNameAttribute(project.slug),
        own_attribute: ownAttribute(given.id),
        ...recipient,
      }
      const { bytes: _, ...campaign } = await render(input, options)
      return { mail: await render(input, { target: 'smtp', ...recipient }), campaign }
    }
    const rendered = await render(input, { target: 'smtp', ...(await recipientOf(sql, draft)) })
    return { mail: rendered, campaign: null }
  } catch (error) {
    if (!(error instanceof RenderError)) throw error
    const issues = error.issues.map(({ path, message }) => ({
      path: path ? `slots.${path}` : 'slots',
      code: error.code,
      message,
    }))
    throw invalid(
      issues.length > 0 ? issues : [{ path: 'slots', code: error.code, message: error.words }],
    )
  }
}

async function inputOf(
  sql: Sql,
  project: Project,
  config: Config,
  draft: Content,
): Promise<RenderInput> {
  const { template, language, subject, text } = draft
  return {
    ...partsOf(await brandOf(sql, config, project), project, language),
    template,
    slots:
      Object.keys(draft.slots).length > 0
        ? { subject, ...draft.slots }
        : slotsOfText({ subject, text, language }),
  }
}

/** A mail to one lead is filled in at once, so that its preview is what is sent. */
async function recipientOf(sql: Sql, draft: Content) {
  const { audience, project_id } = draft
  if (audience.kind === 'list') return {}
  const [lead] = await sql<{ name: string | null; company: string | null }>`
    select name, company from hub.leads
    where id = ${audience.lead_id} and project_id = ${project_id}`
  const { used } = await namedIn(sql, project_id, [draft])
  const own = await ownOf(sql, used, { ...draft, lead_id: audience.lead_id })
  return { recipient: personalOf({ name: null, company: null, ...lead, own }) }
}
