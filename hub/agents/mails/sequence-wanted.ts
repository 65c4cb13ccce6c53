import { fold } from '../../../shared/words/fold.ts'
import type { Language } from '../../../shared/words/texts.ts'
import { MAX_STEPS } from '../../mail/sequences/sequences.ts'
import { spelledNumbers } from '../numbers/spelled.ts'

/** What a task says about the sequence of mails that it asks for. */
export type Wanted = {
  /** How many mails it shall have, 2 to {@link MAX_STEPS}. */
  mails: number
  /** How many the task names, where that is more than a sequence can have. */
  asked: number | null
  /** Days between two mails, where the task names them. */
  every: number | null
}

const MAILS = 3
const MAX_DAYS = 90

const ARTICLES = new Set(['a', 'an', 'bir'])
const MAIL = '(?:e[- ]?mails?|mails?|messages?|steps?|e[- ]?posta\\w*|mail\\w*|mesaj\\w*|adim\\w*)'
const NUMBER = '(\\d{1,3}|[a-z]+)'
/**
 * Folded: a verb and then the thing, with no preposition in between, behind which somebody of that
 * name may stand ("write to Sequence Logistics"); or the thing and what it consists of.
 */
const SEQUENCE = [
  /\b(?:plan|write|draft|create|make|build|prepare|start|set up|propose)\s+(?:(?!to\b|for\b|about\b|with\b|of\b)[\w-]+\s+){0,4}?(?:sequence|cadence|drip)\b(?!\s+diagram)/,
  RegExp(`\\b(?:sequence|cadence|series) of (?:[\\w-]+ ){0,3}?${MAIL}\\b`),
  /\b(?:e[- ]?mail|mail|follow[- ]?up|outreach) (?:sequence|cadence)s?\b/,
  /(?:posta|mail|takip|mesaj)\w*\s+(?:bir\s+)?dizi(?:si\w*|yi|ler\w*)?\b/,
  RegExp(`\\bbir dizi ${MAIL}\\b`),
  RegExp(`\\b${NUMBER} ${MAIL}(?: bir)? (?:dizi|seri)\\w*\\b`),
]

/**
 * sequenceWanted reads whether a task asks for a sequence of mails, how many and how far apart;
 * undefined where it asks for something else.
 */
export function sequenceWanted(task: string, language: Language): Wanted | undefined {
  const said = fold(task).replace(/['’]/g, '')
  if (!SEQUENCE.some((pattern) => pattern.test(said))) return undefined
  /** Nothing that counts for an article or another word. */
  const numberOf = (word = '') => {
    if (ARTICLES.has(word)) return Number.NaN
    return Number(/^\d/.test(word) ? word : spelledNumbers(word, language)[0])
  }
  const first = (pattern: string) =>
    [...said.matchAll(RegExp(pattern, 'g'))].map(([, word]) => numberOf(word)).find(Boolean) ?? null
  const followUps = first(`\\b${NUMBER} (?:follow[- ]?ups?|hatirlatma\\w*)\\b`)
  const mails = first(`\\b${NUMBER}[ -]+${MAIL}\\b`) ?? (followUps ? followUps + 1 : MAILS)
  const days =
    first(`\\b(?:every|each) ${NUMBER} days?\\b`) ??
    first(`\\b${NUMBER} days? (?:apart|between)\\b`) ??
    first(`\\b${NUMBER} gun(?:de|er| arayla| ara ile)\\b`) ??
    (/\b(?:every week|weekly|haftada bir|haftalik)\b/.test(said) ? 7 : null)
  return {
    mails: Math.min(MAX_STEPS, Math.max(2, mails)),
    asked: mails > MAX_STEPS ? mails : null,
    every: days && days <= MAX_DAYS ? days : null,
  }
}
