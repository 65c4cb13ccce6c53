import { z } from 'zod'
import { bilingual } from '../../i18n/words.ts'
import type { AgentContext } from '../agent.ts'
import { stands } from '../evidence/quote.ts'
import { leftOutText } from '../left-out.text.ts'
import { factName } from './fact-names.ts'
import { clip, one } from './facts.ts'

const told = bilingual(leftOutText)

/** Characters of one part: with a prompt and an answer it fits into the smallest context. */
export const PART = 3000
/** Six points of full length; half of a small context for them would leave no room for the part. */
const MAX_TOKENS = 1000
/** Parts of all texts of a mission; each is a call of the model. */
export const MAX_PARTS = 12

const Points = z.object({
  points: z.array(z.object({ text: z.string().max(200), quote: z.string().max(160) })).max(6),
})
type Point = { text: string; quote: string; part: number }

/**
 * summarised makes a long text short enough for a model: its parts one by one, and where that is
 * still too long the summaries again. Each point keeps the words it comes from, which are looked up
 * in the text by code, and its part. A summary is never evidence: only the text itself is.
 */
export async function summarised(
  context: AgentContext,
  given: { label: string; text: string; number: number; length: number; most: number },
): Promise<string> {
  const { label, text, number, length, most } = given
  const parts = partsOf(text)
  const read = parts.slice(0, most)
  if (read.length < parts.length)
    context.leaveOut(told.parts(factName(label), read.length, parts.length))
  const points: Point[] = []
  for (const [index, part] of read.entries()) {
    const { points: found } = await context.complete(`summary ${number}.${index + 1}`, {
      schema: Points,
      max_tokens: MAX_TOKENS,
      facts: [{ label: `${label}, part ${index + 1} of ${parts.length}`, text: part }],
      task: 'List what this part says that matters for what the user asked for, the most important first. For each point copy the words of the part that say it, numbers and names exactly. If nothing matters, the list is empty.',
    })
    for (const { text: said, quote } of found) {
      if (stands(part, quote)) points.push({ text: one(said), quote: one(quote), part: index + 1 })
    }
  }
  context.leaveOut(told.summarised(factName(label), read.length))
  const whole = points.map(lineOf).join('\n')
  if (whole.length <= length) return whole
  return shortened(context, { label, number, length, points })
}

const lineOf = ({ text, quote, part }: Point) => `(part ${part}) ${text} — "${quote}"`

/** The summary of the summaries: the model says which points matter, and code keeps those. */
async function shortened(
  context: AgentContext,
  given: { label: string; number: number; length: number; points: Point[] },
): Promise<string> {
  const { label, number, length, points } = given
  const labels = points.map((_, index) => `P${index + 1}`)
  const { keep } = await context.complete(`summary ${number}`, {
    schema: z.object({
      keep: z.array(z.enum(labels as [string, ...string[]])).max(40), // safe: longer than nothing
    }),
    facts: [
      {
        label: `points of ${label}`,
        text: points.map((point, at) => `P${at + 1}: ${one(point.text, 120)}`).join('\n'),
      },
    ],
    task: 'These points summarise the parts of one text. Name those that matter most for what the user asked for, the most important first.',
  })
  const chosen = [...new Set([...keep, ...labels])].flatMap((name) => {
    const point = points[labels.indexOf(name)]
    return point ? [point] : []
  })
  const fitting: Point[] = []
  let used = 0
  for (const point of chosen) {
    const line = lineOf(point)
    if (used + line.length + 1 > length) break
    used += line.length + 1
    fitting.push(point)
  }
  if (fitting.length < points.length) {
    context.leaveOut(told.points(factName(label), fitting.length, points.length))
  }
  const inOrder = fitting.toSorted((a, b) => a.part - b.part)
  return clip(inOrder.map(lineOf).join('\n'), length)
}

/** partsOf cuts a text into parts at paragraphs, or else at lines, words and last at letters. */
export function partsOf(text: string): string[] {
  const parts: string[] = []
  let rest = text.trim()
  while (rest.length > PART) {
    const head = rest.slice(0, PART)
    const at = ['\n\n', '\n', '. ', ' ']
      .map((mark) => head.lastIndexOf(mark))
      .find((place) => place > PART / 3)
    const cut = at === undefined ? PART : at + 1
    parts.push(rest.slice(0, cut).trim())
    rest = rest.slice(cut).trim()
  }
  return rest === '' ? parts : [...parts, rest]
}
