import { expect, test } from 'vitest'
import { absent, failureOf, refusalWords, WordsError } from '../../../hub/i18n/failure.ts'
import { issueWords } from '../../../hub/i18n/issue.ts'
import { ApiError } from '../../../shared/problem.ts'

const words = { en: 'It is full.', tr: 'Dolu.' }
const issue = (code: string, message: string) => ({ path: 'name', code, message })

test.each([
  ['too_small', 'Çok kısa ya da boş.'],
  ['required', 'Zorunlu alan.'],
  ['no code of ours', 'Kabul edilmedi.'],
])('what a schema has against a value is said by its code: %s', (code, tr) => {
  expect(issueWords(issue(code, 'Whatever it is.'))).toMatchObject({ tr })
})

test('a sentence of a field’s own is said instead of what its code means', () => {
  const own = 'Use 2 to 41 characters from a-z, 0-9 and -, not starting with -.'
  expect(issueWords(issue('invalid_format', own))).toEqual({
    en: own,
    tr: 'a-z, 0-9 ve - karakterlerinden 2 ila 41 tane kullanın; - ile başlamasın.',
  })
})

test('a refusal keeps its English sentence, and in Turkish says what its code means', () => {
  const issues = [issue('too_small', 'Is empty.'), { path: 'logo', code: 'wrong', message: words }]
  const refused = refusalWords(new ApiError('invalid', 'Look at the fields.', { issues }))
  expect(refused).toEqual({
    detail: { en: 'Look at the fields.', tr: 'Bazı alanlar geçerli değil.' },
    errors: [
      { path: 'name', code: 'too_small', message: { en: 'Is empty.', tr: 'Çok kısa ya da boş.' } },
      { path: 'logo', code: 'wrong', message: words },
    ],
  })
  expect(refusalWords(new ApiError('conflict', words))).toEqual({ detail: words })
  // A code of the other product has no Turkish sentence here.
  expect(refusalWords(new ApiError('plan_required', 'Not in this plan.'))).toEqual({
    detail: { en: 'Not in this plan.', tr: 'Not in this plan.' },
  })
})

test.each([
  ['its own words', new WordsError(words), words],
  ['the words of its refusal', new ApiError('conflict', words), words],
  [
    'each field that is refused',
    new ApiError('invalid', words, { issues: [issue('wrong', 'Is wrong.')] }),
    { en: 'It is full. name: Is wrong.', tr: 'Dolu. name: Doğru değil.' },
  ],
  ['its message', new Error('ENOENT'), { en: 'ENOENT', tr: 'ENOENT' }],
  [
    'its message, where its words are of one language',
    Object.assign(new Error('ENOENT'), { words: { en: 'Gone.' } }),
    { en: 'ENOENT', tr: 'ENOENT' },
  ],
  ['what was thrown', 'no', { en: 'no', tr: 'no' }],
])('of an error a person reads %s', (_, error, read) => {
  expect(failureOf(error)).toEqual(read)
})

test('what is absent is named, and an error with words keeps its cause', () => {
  expect(absent('lead')).toMatchObject({ code: 'not_found', message: 'There is no such lead.' })
  const cause = new Error('below')
  expect(new WordsError(words, { cause })).toMatchObject({ message: words.en, words, cause })
})
