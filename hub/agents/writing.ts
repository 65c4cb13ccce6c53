import { z } from 'zod'
import type { Words } from '../i18n/words.ts'
import { documentPath } from '../projects/documents.ts'
import { heading, joined, list, plain } from '../projects/markdown.ts'
import type { AgentContext, Fact, Result } from './agent.ts'
import { agentName } from './names.text.ts'

const Section = z.object({
  paragraphs: z.array(z.string().max(420)).min(1).max(3),
  points: z.array(z.string().max(140)).max(5),
})
type Section = z.infer<typeof Section>

/**
 * sections writes one section per call, so that a small model never needs a whole document in its
 * context.
 */
export async function sections(
  context: AgentContext,
  given: { headings: string[]; about: string; facts: Fact[] },
): Promise<string[]> {
  const blocks: string[] = []
  for (const [index, title] of given.headings.entries()) {
    const section = await context.complete(`section ${index + 1}`, {
      schema: Section,
      facts: given.facts,
      task:
        `You write the document "${given.about}". Its sections are: ${given.headings.join('; ')}. ` +
        `Write the section "${title}" now: paragraphs of plain text, and points only where a list helps. ` +
        'State as a fact only what stands in the data or in the context; mark what is assumed as an assumption.',
    })
    blocks.push(heading(2, title), ...sectionOf(section))
  }
  return blocks
}

function sectionOf({ paragraphs, points }: Section): string[] {
  return [...paragraphs.map(plain), list(points.filter((point) => point.trim() !== ''))]
}

const WRITTEN: Words = {
  en: 'Written by the {agent} agent. Read it before you use it.',
  tr: '{agent} ajanı yazdı. Kullanmadan önce okuyun.',
}

/** saveDocument writes a document of a mission into the project's folder. */
export async function saveDocument(
  context: AgentContext,
  given: { agent: string; title: string; blocks: (string | false | undefined)[] },
): Promise<Result['documents'][number]> {
  const title = given.title.replace(/\s+/g, ' ').trim().slice(0, 150) || context.project.name
  const note = WRITTEN[context.language].replace(
    '{agent}',
    agentName(context.language, given.agent),
  )
  const text = joined(
    heading(1, title),
    ...given.blocks,
    '---',
    `*${plain(`${context.project.name}, ${context.mission.created_on}. ${note}`)}*`,
  )
  const path = await context.write(documentPath(title, context.mission.id), text)
  return { path, title }
}
