import { ApiError, type Issue } from '../../shared/problem.ts'
import { issueWords } from './issue.ts'
import { problemText } from './problem.text.ts'
import { bilingual, isWords, joined, verbatim, type Words } from './words.ts'

/** A failure that says itself what it is in both languages. */
export class WordsError extends Error {
  readonly words: Words
  constructor(words: Words, options?: { cause?: unknown }) {
    super(words.en, options)
    this.words = words
  }
}

const { codes } = bilingual(problemText)

/** What an ApiError says in both languages; in Turkish what its codes mean, where it is English alone. */
export function refusalWords({ code, message, detail, issues }: ApiError) {
  const general: Words = Reflect.get(codes, code) ?? verbatim(message)
  return {
    detail: isWords(detail) ? detail : { ...general, en: message },
    ...(issues ? { errors: issues.map((issue) => ({ ...issue, message: ofIssue(issue) })) } : {}),
  }
}

function ofIssue(issue: Issue): Words {
  const { message } = issue
  if (isWords(message)) return message
  return { ...issueWords(issue), en: typeof message === 'string' ? message : message.en }
}

/** failureOf is what a person reads of an error: its own words where it has some. */
export function failureOf(error: unknown): Words {
  if (error instanceof Error && 'words' in error && isWords(error.words)) return error.words
  if (!(error instanceof ApiError)) {
    return verbatim(error instanceof Error ? error.message : String(error))
  }
  const { detail, errors = [] } = refusalWords(error)
  const named = errors.map(({ path, message }) => joined([verbatim(path), message], ': '))
  return joined([detail, ...named])
}

/** 404 for one thing. */
export function absent(thing: string): ApiError {
  return new ApiError('not_found', `There is no such ${thing}.`)
}
