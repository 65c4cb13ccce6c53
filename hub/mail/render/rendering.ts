import { invalid } from '../../../shared/problem.ts'
import type { Sql } from '../../../shared/sql.ts'
import { mailBranding, mayBrand, readBranding } from '../../branding/branding.ts'
import type { Config } from '../../config.ts'
import type { Project } from '../../db/db.ts'
import { personalOf } from '../drafts/audience.ts'
import { type DraftRow, lockDraft } from '../drafts/drafts.ts'
import { requireState, voidApproval } from '../drafts/state.ts'
import { firstNameAttribute } from '../listmonk/listmonk.ts'
import { type MailSettings, readMail, viaOf } from '../settings.ts'
import { withOwnFields } from './own-values.ts'
import { RenderError, type Rendered, type RenderInput, render } from './render.ts'
import type { TemplateName } from './slots.ts'
import { slotsOfText } from './text-slots.ts'

const REASON = {
  en: (name: string) =>
    `You are receiving this mail because ${name} believes it is relevant to your work. You can unsubscribe at any time.`,
  tr: (name: string) =>
    `Bu e-postayı, ${name} işinizle ilgili olduğunu düşündüğü için alıyorsunuz. Dilediğiniz zaman abonelikten çıkabilirsiniz.`,
}
/**
 * The placeholder in previews until Settings > Mail has a postal address; a mail with it is never
 * sent.
 */
export const NO_ADDRESS = '[postal address: Settings > Mail]'

type Content = Pick<
  DraftRow,
  'audience' | 'template' | 'language' | 'subject' | 'text' | 'slots' | 'project_id'
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
  const { mail, campaign } = await renderContent(sql, project, config, {
    ...draft,
    template,
    slots,
  })
  await voidApproval(sql, draft.id, { step: 'render', to: 'rendered' })
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
  const { subject, text, slots } = given
  const filled = await withOwnFields(
    sql,
    { subject, text, slots },
    {
      project_id: given.project_id,
      lead_id: given.audience.kind === 'lead' ? given.audience.lead_id : null,
      language: given.language,
    },
  )
  const draft = { ...given, ...filled }
  const settings = await readMail(config.paths)
  const input = await inputOf(project, config, settings, draft)
  try {
    const { audience } = draft
    if (viaOf(settings, config, audience.kind) === 'campaign') {
      const recipient = await recipientOf(sql, draft)
      const options = {
        target: 'listmonk' as const,
        track_opens: settings.track_opens,
        first_name_attribute: firstNameAttribute(project.slug),
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
  project: Project,
  config: Config,
  { sender, footer }: MailSettings,
  draft: Content,
): Promise<RenderInput> {
  const { template, language, subject, text } = draft
  return {
    template,
    lang: language,
    slots:
      Object.keys(draft.slots).length > 0
        ? { subject, ...draft.slots }
        : slotsOfText({ subject, text, language }),
    sender: {
      name: sender?.name ?? project.name,
      title: sender?.title ?? undefined,
      phone: sender?.phone ?? undefined,
    },
    branding: (await mayBrand(config))
      ? mailBranding(await readBranding(config))
      : { name: project.name.slice(0, 80) },
    footer: {
      postal_address: footer.postal_address ?? NO_ADDRESS,
      reason: reasonOf(footer, project, language),
    },
  }
}

function reasonOf(footer: MailSettings['footer'], project: Project, language: 'en' | 'tr') {
  const reason = language === 'tr' ? footer.reason_tr : footer.reason_en
  return reason ?? REASON[language](project.name)
}

/** footerOf lists what stands below every mail of a project, as far as it is set. */
export async function footerOf(
  config: Config,
  project: Project,
  language: 'en' | 'tr',
): Promise<string[]> {
  const { footer } = await readMail(config.paths)
  const { postal_address } = footer
  return [reasonOf(footer, project, language), ...(postal_address ? [postal_address] : [])]
}

/** A mail to one lead is filled in at once, so that its preview is what is sent. */
async function recipientOf(sql: Sql, { audience, project_id }: Content) {
  if (audience.kind === 'list') return {}
  const [lead] = await sql<{ name: string | null; company: string | null }>`
    select name, company from hub.leads
    where id = ${audience.lead_id} and project_id = ${project_id}`
  return { recipient: personalOf(lead ?? { name: null, company: null }) }
}
