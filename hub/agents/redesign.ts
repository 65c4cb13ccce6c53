import { bilingual, type Words } from '../i18n/words.ts'
import { canStep, type State } from '../mail/drafts/flow.ts'
import type { AgentContext, Result } from './agent.ts'
import { MissionFailure } from './agent.ts'
import { design, type Letter } from './designer.ts'
import { stopText } from './stop.text.ts'

const say = bilingual(stopText)

const DONE: Words = { en: 'The draft has a new form.', tr: 'Taslağın biçimi yenilendi.' }

type Row = { subject: string; text: string; slots: Record<string, unknown> | null; state: State }

/** redesign gives a draft another form; its text stays the same word for word. */
export async function redesign(context: AgentContext, draft_id: string): Promise<Result> {
  context.expect(3)
  const draft = await context.step('draft', async (sql) => {
    const [row] = await sql<Row>`
      select subject, text, slots, state from hub.drafts where id = ${draft_id}`
    return row ?? null
  })
  if (!draft) throw new MissionFailure(say.draft_gone)
  if (!canStep('redesign', draft.state)) {
    throw new MissionFailure(say.draft_went_out)
  }
  const { template, slots } = await design(context, 'design', letterOf(draft))
  await context.step('new form', async (sql) => {
    await context.render(sql, { id: draft_id, template, slots })
  })
  return { summary: DONE[context.language], documents: [], drafts: [draft_id] }
}

/**
 * The sentences of a draft, from its slots as the user may have edited them, or else from its text.
 */
function letterOf({ subject, text, slots: given }: Row): Letter {
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
