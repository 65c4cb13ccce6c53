import { ApiError } from '../shared/problem.ts'
import { issueWords } from './issue.ts'
import { problemText } from './problem.text.ts'
import { inEach, isWords, joined, said, verbatim, type Words } from './words.ts'

/** A failure that says itself what it is in both languages. */
export class WordsError extends Error {
  readonly words: Words
  constructor(words: Words, options?: { cause?: unknown }) {
    super(words.en, options)
    this.words = words
  }
}

const { codes } = said(problemText)

/** failureOf is what a person reads of an error: its own words where it has some. */
export function failureOf(error: unknown): Words {
  if (error instanceof Error && 'words' in error && isWords(error.words)) return error.words
  if (!(error instanceof ApiError)) {
    return verbatim(error instanceof Error ? error.message : String(error))
  }
  const { code, detail, issues = [] } = error
  const general: Words = Reflect.get(codes, code) ?? verbatim(error.message)
  const whole = isWords(detail) ? detail : { ...general, en: error.message }
  const named = issues.map((issue) => {
    const words = isWords(issue.message) ? issue.message : issueWords(issue)
    return inEach((language) => `${issue.path}: ${words[language]}`)
  })
  return joined([whole, ...named])
}
