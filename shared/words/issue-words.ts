/** What is wrong with a value, in words; zod's own messages are written for programmers. */
import { z } from 'zod'

type RawIssue = Parameters<z.core.$ZodErrorMap>[0]

const KINDS: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}
const FORMATS: Record<string, string> = {
  datetime: 'Must be a time in ISO 8601, as in 2026-03-01T12:00:00Z.',
  date: 'Must be a day, as in 2026-03-01.',
  uuid: 'Must be a UUID.',
  guid: 'Must be a UUID.',
  email: 'Must be an e-mail address.',
  url: 'Must be a URL, as in https://example.com/.',
}

z.config({ customError: sentenceOf })

/** The sentence for an issue of zod; undefined where zod's own will do. */
function sentenceOf(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'Required.'
      return KINDS[issue.expected] && `Must be ${KINDS[issue.expected]}.`
    case 'invalid_value':
      if (issue.input === undefined) return 'Required.'
      return `Must be ${listed(issue.values)}.`
    case 'invalid_format':
      return FORMATS[issue.format]
    case 'too_small':
      return bound(
        issue.origin,
        issue.minimum,
        issue.inclusive === false ? 'more than' : 'at least',
      )
    case 'too_big':
      return bound(issue.origin, issue.maximum, issue.inclusive === false ? 'less than' : 'at most')
    case 'not_multiple_of':
      return `Must be a multiple of ${issue.divisor}.`
    case 'invalid_union':
      if (!Array.isArray(issue.options)) return undefined
      return `Must be ${listed(issue.options)}.`
    default:
      return undefined
  }
}

function bound(origin: string, limit: number | bigint, words: string): string {
  const isLength = ['string', 'array', 'set', 'map'].includes(origin)
  if (!isLength) return `Must be ${words} ${limit}.`
  if (limit === 1 && words === 'at least') return 'Must not be empty.'
  const unit = origin === 'string' ? 'character' : 'entry'
  const units = origin === 'string' ? 'characters' : 'entries'
  return `Must have ${words} ${limit} ${limit === 1 ? unit : units}.`
}

function listed(values: readonly unknown[]): string {
  const texts = values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value)))
  return texts.length > 1 ? `one of ${texts.join(', ')}` : String(texts[0])
}
