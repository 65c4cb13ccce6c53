import type { Language } from '../../i18n/words.ts'
import { otherDates, otherUnits } from './amounts.ts'
import { type Names, verbAfter } from './persons.ts'
import { ENGLISH_RULES, englishTexts, ownThing, REACHES_OVER, type Rule } from './rewordings-en.ts'
import { seen, TURKISH_RULES, TURKISH_TIME_FIRST, turkishTexts } from './rewordings-tr.ts'

/*
 * The ways in which a mail may say what a fact says. A rule turns a sentence into others that
 * mean the same; what they are compared with stays word by word.
 */

/** Words before a statement that state nothing themselves. */
const OPENINGS: Record<Language, RegExp[]> = {
  en: [
    /^(?:i|we) (?:(?:have|just|recently) )?(?:saw|see|seen|noticed|read|learned|learnt|heard|understand|know) that /iu,
    /^(?:as you know|as we know|as far as (?:we|i) know),? /iu,
    /^(?:moreover|furthermore|besides|in addition|additionally|also), /iu,
    /^did you know (?:that )?/iu,
  ],
  tr: [
    /^(?:bildiğiniz gibi|bildiğiniz üzere|gördüğümüz kadarıyla|okuduğumuz kadarıyla|bildiğimiz kadarıyla),? /iu,
    /^(?:ayrıca|üstelik|bunun yanında|bunun yanı sıra|bununla birlikte),? /iu,
  ],
}
const QUESTION = /[?？][\s"”’')]*$/u

/**
 * What a sentence states, in each form that it leaves open; none for a question, which is judged as
 * a whole.
 */
export function statementsIn(sentence: string, language: Language): string[] {
  const opening = OPENINGS[language].find((pattern) => pattern.test(sentence))
  const bare = opening ? sentence.replace(opening, '') : sentence
  const isAsked = QUESTION.test(sentence)
  if (language === 'tr') {
    const said = seen(bare)
    if (said.length > 0) return said
    return isAsked ? [] : [bare]
  }
  if (isAsked && !(opening && /^did you know/iu.test(sentence))) return []
  return [bare]
}

/** The same statement as other texts. */
export function textsOf(statement: string, names: Names, language: Language): string[] {
  return language === 'en' ? englishTexts(statement, names) : turkishTexts(statement)
}

/** Whether a statement begins with what holds for all that is joined to it: "In 2022 you …". */
export const reachesOver = (statement: string, language: Language): boolean =>
  language === 'en' ? REACHES_OVER.test(statement) : TURKISH_TIME_FIRST.test(statement)

const MAX_FORMS = 400
const MAX_STEPS = 3
const RULES: Record<Language, Rule[]> = { en: ENGLISH_RULES, tr: TURKISH_RULES }

/** rewordings lists a statement and what means the same, by the rules one after the other. */
export function rewordings(tokens: string[], language: Language): string[][] {
  const found = new Map<string, string[]>([[tokens.join(' '), tokens]])
  let newest = [tokens]
  for (let step = 0; step < MAX_STEPS && newest.length > 0; step++) {
    const next: string[][] = []
    for (const form of newest.flatMap((given) => RULES[language].flatMap((rule) => rule(given)))) {
      const agreed = language === 'en' ? verbAfter(form) : form
      const key = agreed.join(' ')
      if (found.has(key) || found.size >= MAX_FORMS) continue
      found.set(key, agreed)
      next.push(agreed)
    }
    newest = next
  }
  return [...found.values()]
}

/** The same with its amounts in other units and its days in other orders. */
export function remeasured(forms: string[][], language: Language): string[][] {
  const dated = forms.flatMap((form) => [form, ...otherDates(form, language)])
  return dated.flatMap((form) => [form, ...otherUnits(form, language)])
}

/** A fact's own forms: whose "its" is. The rest is left to the mail's rules. */
export const factForms = (tokens: string[], language: Language): string[][] =>
  language === 'en' ? [tokens, ...ownThing(tokens)] : [tokens]
