import { wordsOf } from '../agents/run/words.ts'

/** Sections that every task needs, whatever its words are. */
const ALWAYS = ['Description', 'Tone of voice']

/**
 * briefFor chooses what an agent is given of CONTEXT.md: whole sections, first those that every
 * task needs, then those that share words with the task, in the order of the file. Empty ones are
 * left out without a word; the names of the others that were left out are returned.
 */
export function briefFor(
  text: string,
  task: string,
  most: number,
): { text: string; left: string[]; is_cut: boolean } {
  const filled = sectionsOf(text).filter(({ name, body }) => name === '' || body !== '')
  const whole = filled.map(({ source }) => source).join('\n\n')
  if (whole.length <= most) return { text: whole, left: [], is_cut: false }
  const wanted = new Set(wordsOf(task).map(stem))
  const points = ({ name, body }: Section) => {
    if (name === '') return Number.POSITIVE_INFINITY
    if (ALWAYS.includes(name)) return 1_000_000
    return new Set(
      wordsOf(`${name} ${body}`)
        .map(stem)
        .filter((word) => wanted.has(word)),
    ).size
  }
  const ranked = filled.map((section, at) => ({ section, at, points: points(section) }))
  ranked.sort((a, b) => b.points - a.points)
  const kept = new Map<number, string>()
  let room = most
  let is_cut = false
  for (const { section, at } of ranked) {
    if (section.source.length + 2 <= room) {
      kept.set(at, section.source)
      room -= section.source.length + 2
    } else if (kept.size < 2) {
      // A file that is one long section has at least its beginning.
      kept.set(at, section.source.slice(0, room))
      room = 0
      is_cut = true
    }
  }
  return {
    text: filled.flatMap((_, at) => kept.get(at) ?? []).join('\n\n'),
    left: filled.flatMap(({ name }, at) => (kept.has(at) ? [] : [name])),
    is_cut,
  }
}

type Section = { name: string; body: string; source: string }

const stem = (word: string) => word.slice(0, 5)

/** The title with what stands before the first section, then each section. */
function sectionsOf(text: string): Section[] {
  return text.split(/^(?=## )/m).flatMap((source) => {
    const [, name = '', body = ''] = /^## +(.*)\n?([\s\S]*)$/.exec(source) ?? []
    const trimmed = source.trim()
    return trimmed === '' ? [] : [{ name: name.trim(), body: body.trim(), source: trimmed }]
  })
}
