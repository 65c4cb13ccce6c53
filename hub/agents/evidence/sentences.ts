import type { Language } from '../../i18n/words.ts'

/** What a text names that differs from reader to reader. */
const PERSONAL = /\{+\s*\.?[a-z][a-z0-9_]*\s*(?:\|[^{}]*)?\}+/

const splitters = {
  en: new Intl.Segmenter('en', { granularity: 'sentence' }),
  tr: new Intl.Segmenter('tr', { granularity: 'sentence' }),
}

/**
 * squashed is a text on one line, without characters that nobody sees. Those that turn the order of
 * writing stay: they change what is read.
 */
export function squashed(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[\u00ad\u200b-\u200d\u2060\ufeff]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** sentencesOf splits a text into its sentences; a new line ends one, and nothing is left out. */
export function sentencesOf(text: string, language: Language): string[] {
  return text
    .split(/[\r\n\u2028\u2029]+/)
    .flatMap((line) => {
      // A placeholder may begin a sentence, as the name in its place would.
      const named = line.replace(new RegExp(PERSONAL, 'g'), (field) => 'X'.repeat(field.length))
      return [...splitters[language].segment(named)].map(({ index, segment }) =>
        squashed(line.slice(index, index + segment.length)),
      )
    })
    .filter((sentence) => /[\p{L}\p{N}\p{S}]/u.test(sentence))
}

/** The parts of a draft that its readers see. */
type Written = { subject: string; text: string; slots: Record<string, unknown>; language: Language }

/**
 * draftSentences lists every sentence of a draft as it is now, once each: of the subject, and of
 * all texts of the slots, among them the preheader, headlines and buttons. The text is what is
 * sent while there are no slots.
 */
export function draftSentences({ subject, text, slots, language }: Written): string[] {
  const inner = textsIn(slots)
  const parts = [subject, ...(Object.keys(slots).length > 0 ? inner : [text])]
  return [...new Set(parts.flatMap((part) => sentencesOf(part, language)))]
}

/** Every text in a value, at any depth, except the addresses of links. */
function textsIn(value: unknown, name = ''): string[] {
  if (typeof value === 'string') return name === 'url' && URL.canParse(value) ? [] : [value]
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, key))
}

/** isPersonal returns whether a sentence is another one for each reader. */
export const isPersonal = (sentence: string): boolean => PERSONAL.test(sentence)
