import { bilingual, type Words } from '../../i18n/words.ts'
import type { DraftRow } from '../../mail/drafts/drafts.ts'
import { canStep } from '../../mail/drafts/flow.ts'
import { evidenceFor } from '../../mail/drafts/judged.ts'
import type { AgentContext, Result } from '../agent.ts'
import { MissionFailure } from '../agent.ts'
import { judgeOf } from '../evidence/judge.ts'
import { stopText } from '../stop.text.ts'
import { design, type Mail } from './designer.ts'

const say = bilingual(stopText)

const DONE: Words = { en: 'The draft has a new form.', tr: 'Taslağın biçimi yenilendi.' }

type Row = Pick<
  DraftRow,
  'subject' | 'text' | 'slots' | 'state' | 'audience' | 'project_id' | 'language' | 'template'
>

/** redesign gives a draft another form; its text stays the same word for word. */
export async function redesign(context: AgentContext, draft_id: string): Promise<Result> {
  context.expect(3)
  const draft = await context.step('draft', async (sql) => {
    const [row] = await sql<Row>`
      select subject, text, slots, state, audience, project_id, language, template
      from hub.drafts where id = ${draft_id}`
    if (!row) return null
    return { ...row, ...(await evidenceFor(sql, row.project_id, row)) }
  })
  if (!draft) throw new MissionFailure(say.draft_gone)
  if (!canStep('redesign', draft.state)) {
    throw new MissionFailure(say.draft_went_out)
  }
  const scene = { language: draft.language, reader: draft.reader, us: context.project.name }
  const judge = judgeOf(scene, draft.evidence)
  const { template, slots } = await design(context, 'design', mailOf(draft), {
    judge,
    audience: draft.audience.kind,
    now: draft.template,
  })
  await context.step('new form', async (sql) => {
    await context.render(sql, { id: draft_id, template, slots })
  })
  return { summary: DONE[context.language], documents: [], drafts: [draft_id] }
}

/**
 * The sentences of a draft, from its slots as the user may have edited them, or else from its text.
 */
function mailOf({ subject, text, slots: given }: Row): Mail {
  const slots = given ?? {}
  const blocks = text
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .filter(Boolean)
  const slot = (name: string) => (typeof slots[name] === 'string' ? slots[name] : undefined)
  const listed = Array.isArray(slots.paragraphs) ? slots.paragraphs.map(String) : undefined
  const inner = listed ?? (blocks.length > 2 ? blocks.slice(1, -1) : blocks)
  const question = slot('question')
  const sentences = [...inner, ...(question ? [question] : [])]
    .flatMap((block) => block.split(/(?<=[.!?])\s+/))
    .filter((sentence) => sentence.trim() !== '')
  return {
    subject: slot('subject') ?? subject,
    greeting: slot('greeting') ?? blocks[0]?.replace(/,$/, '') ?? '',
    sentences: sentences.slice(0, 12),
    closing: slot('closing') ?? blocks.at(-1)?.replace(/,$/, '') ?? '',
  }
}
