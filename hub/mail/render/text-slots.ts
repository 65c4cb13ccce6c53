import type { Slots } from './slots.ts'

const WORDS = {
  en: { greeting: 'Hello {first_name}', closing: 'Kind regards' },
  tr: { greeting: 'Merhaba {first_name}', closing: 'Saygılarımla' },
} as const

// In Turkish, neither İ and i nor I and ı are one letter to the flag i.
const GREETING =
  /^(dear|hello|hi|hey|good (morning|day|afternoon|evening)|merhaba|selam|say[ıi]n|günayd[ıi]n|[iİ]y[iİ] günler|değerl[iİ])(?=[\s,!]|$)/iu
const CLOSING =
  /^((kind|best|warm|many) (regards|wishes|thanks)|regards|best|sincerely|yours|cheers|thank you|thanks|sayg[ıi]|sevg[iİ]|selamlar|[iİ]y[iİ] çal[ıi]şmalar|[iİ]y[iİ] günler|teşekkür|hoşça)/iu
const MAX_PARAGRAPH = 880
const MAX_PARAGRAPHS = 6
const MAX_PREHEADER = 140

/** The slots of a plain mail, read from a text with a greeting, paragraphs and a closing. */
export function slotsOfText(given: {
  subject: string
  text: string
  language: 'en' | 'tr'
}): Slots<'letter'> {
  const { subject, text, language } = given
  const blocks = text
    .split(/\r?\n\s*\r?\n/)
    .map((block) => block.trim())
    .filter((block) => block !== '')
  const [first = ''] = blocks
  const [opening = '', ...under] = first.split('\n')
  let greeting: string = WORDS[language].greeting
  const isAlone = blocks.length === 1 && under.length === 0
  if (GREETING.test(opening) && opening.length <= 80 && !isAlone) {
    greeting = opening
    blocks.shift()
    if (under.length > 0) blocks.unshift(under.join('\n'))
  }
  const [ending = ''] = (blocks.at(-1) ?? '').split('\n')
  let closing: string = WORDS[language].closing
  if (blocks.length > 1 && CLOSING.test(ending) && ending.length <= 60) {
    closing = ending
    blocks.pop()
  }
  const paragraphs = gather(blocks.flatMap(shorten))
  return {
    subject,
    preheader: preheader(paragraphs[0] ?? subject, subject),
    greeting,
    paragraphs,
    closing,
  }
}

/** Splits a paragraph that is too long for its slot between sentences. */
function shorten(block: string): string[] {
  const text = block.replace(/\s+/g, ' ')
  const parts: string[] = []
  for (const sentence of text.split(/(?<=[.!?…]) /)) {
    const last = parts.at(-1)
    if (last !== undefined && last.length + sentence.length < MAX_PARAGRAPH) {
      parts[parts.length - 1] = `${last} ${sentence}`
    } else {
      parts.push(sentence)
    }
  }
  return parts
}

/** Joins short neighbouring paragraphs until there are no more than the template allows. */
function gather(paragraphs: string[]): string[] {
  const parts = [...paragraphs]
  while (parts.length > MAX_PARAGRAPHS) {
    const lengths = parts.slice(1).map((part, index) => part.length + (parts[index]?.length ?? 0))
    const at = lengths.indexOf(Math.min(...lengths))
    if ((lengths[at] ?? 0) >= MAX_PARAGRAPH) return parts
    parts.splice(at, 2, `${parts[at]} ${parts[at + 1]}`)
  }
  return parts
}

/**
 * The first sentence, or the subject where that is too long: half a sentence may say what the whole
 * one does not.
 */
function preheader(text: string, subject: string): string {
  const [first = text] = text.split(/(?<=[.!?…]) /)
  const sentence = first.length <= MAX_PREHEADER ? first : subject
  if (sentence.length <= MAX_PREHEADER) return sentence
  // Not in the middle of a word or of a placeholder.
  const beginning = sentence.slice(0, MAX_PREHEADER).replace(/\s*\{[^{}]*$/, '')
  return `${beginning.replace(/\s+\S*$/, '')}…`
}
