import { z } from 'zod'
import { type Agent, COMMON } from './agent.ts'
import { givenText } from './evidence/given.ts'
import { saveDocument, sections } from './writing.ts'

const Outline = z.object({
  title: z.string().min(3).max(100),
  headings: z.array(z.string().min(2).max(80)).min(2).max(6),
})

/** Documents: an outline, then a call for each section. */
export const docs: Agent = {
  name: 'docs',
  role: {
    en: 'Writes documentation, guides, minutes and other documents',
    tr: 'Doküman, kılavuz, tutanak ve benzeri belgeler yazar',
  },
  variables: COMMON,
  budget: { steps: 12, tokens: 60_000 },
  steps: async (context) => {
    const facts = await givenText(context)
    const outline = await context.complete('outline', {
      schema: Outline,
      facts,
      task: 'Plan the document the user asked for: its title and the headings of its sections, in reading order.',
    })
    context.expect(3 + outline.headings.length)
    const blocks = await sections(context, {
      headings: outline.headings,
      about: outline.title,
      facts,
    })
    const document = await context.outside('document', () =>
      saveDocument(context, { agent: 'docs', title: outline.title, blocks }),
    )
    return { summary: outline.headings.join(' · '), documents: [document] }
  },
}
