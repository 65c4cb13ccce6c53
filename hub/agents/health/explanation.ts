import { bilingual, type Language, type Words } from '../../i18n/words.ts'
import { sentencesOf } from '../evidence/sentences.ts'
import { numbersIn, typedIn } from '../run/facts.ts'
import { wordsOf } from '../run/words.ts'
import { explanationText } from './explanation.text.ts'

/** A shorter sentence may well be said again: "Yes." */
const MIN_WORDS = 4
const say = bilingual(explanationText)

/**
 * faultIn returns what is wrong with an explanation of measurements and its reasons: a number that
 * was not measured, a sentence said twice, or another language. Undefined where it may stand.
 */
export function faultIn(
  texts: string[],
  { known, language }: { known: string[]; language: Language },
): Words | undefined {
  const measured = new Set(known.flatMap(numbersIn).flatMap((number) => [number, rounded(number)]))
  const invented = texts.flatMap(numbersIn).filter((number) => !measured.has(number))
  if (invented.length > 0) return say.numbers([...new Set(invented)].slice(0, 5).join(', '))
  const [explanation = ''] = texts
  if (typedIn(explanation, language) !== language) return say.language
  const sentences = texts
    .flatMap((text) => sentencesOf(text, language))
    .map((sentence) => wordsOf(sentence))
    .filter((words) => words.length >= MIN_WORDS)
    .map((words) => words.join(' '))
  const again = sentences.find((sentence, at) => sentences.indexOf(sentence) < at)
  return again === undefined ? undefined : say.repeated(again.slice(0, 80))
}

const rounded = (number: string) => String(Math.round(Number(number)))
