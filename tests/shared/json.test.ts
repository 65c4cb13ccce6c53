import { describe, expect, test } from 'vitest'
import { requireBoundedJson } from '../../shared/json.ts'
import { ApiError } from '../../shared/problem.ts'

/** The path and code of what is refused; null where nothing is. */
function refusalOf(text: string) {
  try {
    requireBoundedJson(text)
    return null
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const [issue] = error.issues ?? []
    return { path: issue?.path, code: issue?.code, message: issue?.message }
  }
}
const list = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const text = (length: number) => JSON.stringify('x'.repeat(length))

describe('a body of JSON may have', () => {
  test.each([
    ['nothing', ''],
    ['lists 32 deep', list(32)],
    ['many lists beside each other', `[${Array(1000).fill(list(31)).join()}]`],
    ['60,000 values', JSON.stringify(Array(59_999).fill(1))],
    ['a text of 64 KiB', `{"a":${text(65_535)}}`],
    ['brackets, commas and quotation marks in a text', JSON.stringify('[{",'.repeat(10_000))],
    ['a text that ends with a backslash', JSON.stringify({ a: '\\', b: [['[[['.repeat(50)]] })],
    ['a text without end', `{"a": "${'['.repeat(100)}`],
  ])('%s', (_, body) => {
    expect(refusalOf(body)).toBeNull()
  })
})

test.each([
  [`{"a":{"b":${text(65_537)}}}`, '"a" holds a text of over 65536 characters'],
  [list(33), 'The body holds lists or objects more than 32 deep'],
  [JSON.stringify(Array(60_001).fill(1)), 'The body holds over 60000 values'],
])('what is too much is said, and in which field', (body, said) => {
  expect(refusalOf(body)?.message).toBe(`${said}, which is more than any request needs: send less.`)
})

describe('and not', () => {
  test.each([
    ['lists 33 deep', list(33), 'too_deep', ''],
    ['objects 33 deep', '{"a":'.repeat(33), 'too_deep', 'a'],
    ['lists 33 deep in a field', `{"zones" : ${list(33)}}`, 'too_deep', 'zones'],
    ['more values', JSON.stringify(Array(60_001).fill(1)), 'too_many_values', ''],
    ['a text of more', `{"a":1,"b":${text(65_537)}}`, 'text_too_long', 'b'],
    ['a name of more', `{${text(65_537)}:1}`, 'text_too_long', 'x'.repeat(64)],
    ['lists behind a text with escapes', `["\\"\\\\",${list(33)}]`, 'too_deep', ''],
  ])('%s', (_, body, code, path) => {
    expect(refusalOf(body)).toEqual({
      path,
      code,
      message: expect.stringContaining(path === '' ? 'The body holds' : `"${path}" holds`),
    })
  })
})
