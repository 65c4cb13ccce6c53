import { bilingual, type Words } from '../../i18n/words.ts'
import type { AgentContext } from '../agent.ts'
import { leftOutText } from '../left-out.text.ts'
import { clip } from '../run/facts.ts'
import { wordsOf } from '../run/words.ts'

/** Stands in everything that the legal agent writes, until somebody has made it their own and deleted it. */
export const NO_LAWYER: Words = {
  en: 'This was put together by a program. It is not legal advice, and no lawyer has seen it; have one read it before you sign or rely on it.',
  tr: 'Bu metin bir program tarafından hazırlanmıştır. Hukuki danışmanlık değildir ve bir avukat görmemiştir; imzalamadan veya dayanmadan önce bir avukata okutun.',
}

/** A piece of a project's own paper, and where it stands. */
export type Passage = { where: string; text: string }

const told = bilingual(leftOutText)

const READABLE = /\.(md|txt)$/i
const MAX_FILES = 60
const MAX_FILE = 100_000
const MAX_PASSAGE = 500

const WHERE = {
  footer: { en: 'the footer of every mail', tr: 'her e-postanın alt bilgisi' },
  mail: { en: 'the mail “{x}”', tr: '“{x}” e-postası' },
} satisfies Record<string, Words>

/**
 * papersOf reads what the project has written itself: its documents, its newest mails, and what
 * stands below every mail. The lists and drafts of the legal agent are not among them: their
 * questions would answer themselves.
 */
export async function papersOf(context: AgentContext): Promise<Passage[]> {
  const { language } = context
  const given = new Set(context.mission.input.files)
  const files = (await context.list('docs')).filter(
    (path) => READABLE.test(path) && !given.has(path),
  )
  if (files.length > MAX_FILES) {
    context.leaveOut(told.parts(told.documents, MAX_FILES, files.length))
  }
  const passages: Passage[] = []
  for (const path of files.slice(0, MAX_FILES)) {
    const text = (await context.read(path)) ?? ''
    if (Object.values(NO_LAWYER).some((words) => text.includes(words))) continue
    if (text.length > MAX_FILE) context.leaveOut(told.cut(path, MAX_FILE, text.length))
    passages.push(...passagesOf(text.slice(0, MAX_FILE), path))
  }
  const mails = await context.step(
    'papers',
    (sql) => sql<{ subject: string; text: string }>`
      select rendered_subject as subject, rendered_text as text from hub.drafts
      where state in ('approved', 'pushed', 'sending', 'sent') and rendered_text is not null
      order by updated_at desc, id limit 5`,
  )
  for (const { subject, text } of mails) {
    passages.push(
      ...passagesOf(
        // Each recipient has a link of their own.
        text.replaceAll(' <{unsubscribe_url}>', ''),
        WHERE.mail[language].replace('{x}', () => subject),
      ),
    )
  }
  const footer = await context.footer()
  return [...passages, ...footer.map((text) => ({ where: WHERE.footer[language], text }))]
}

/** Paragraphs without the marks of Markdown, long ones cut at the end of a sentence. */
export function passagesOf(text: string, where: string): Passage[] {
  return text
    .split(/\n\s*\n/)
    .flatMap((block) =>
      pieces(
        block
          .replace(/^[#>*\-\s]+/gm, '')
          .replace(/\s+/g, ' ')
          .trim(),
      ),
    )
    .filter((piece) => piece.length >= 15)
    .map((piece) => ({ where, text: piece }))
}

function pieces(text: string): string[] {
  const found: string[] = []
  let piece = ''
  for (const sentence of text.split(/(?<=[.!?;])\s+/)) {
    if (piece !== '' && piece.length + 1 + sentence.length > MAX_PASSAGE) {
      found.push(piece)
      piece = ''
    }
    piece = clip(piece === '' ? sentence : `${piece} ${sentence}`, MAX_PASSAGE)
  }
  return piece === '' ? found : [...found, piece]
}

/**
 * ranked returns the passages that have most of the wanted beginnings of words, best first; those
 * with none are left out.
 */
export function ranked(passages: Passage[], stems: readonly string[]): Passage[] {
  return passages
    .map((passage, place) => {
      const words = wordsOf(passage.text)
      const points = stems.filter((stem) => words.some((word) => word.startsWith(stem))).length
      return { passage, place, points }
    })
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points || a.place - b.place)
    .map(({ passage }) => passage)
}
