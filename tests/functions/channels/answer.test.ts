import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answerOf, CUT } from '../../../functions/channels/answer.ts'
import { httpsUrl, maskKey } from '../../../functions/channels/check.ts'
import { fieldsOf, isTemporary } from '../../../functions/channels/classify.ts'
import { failedSend, type SendResult } from '../../../functions/channels/transport/send.ts'

const answered = (body: string, headers: Record<string, string> = {}): SendResult => ({
  ok: true,
  status: 500,
  headers: new Headers(headers),
  body,
  duration_ms: 1,
})
const bytes = (text: string) => new TextEncoder().encode(text).length

test('1 KB of an answer is kept whole; a longer one is cut, and says so', () => {
  expect(answerOf(answered('x'.repeat(1024)))).toEqual({ response_excerpt: 'x'.repeat(1024) })
  const { response_excerpt = '' } = answerOf(answered('x'.repeat(1025)))
  expect(response_excerpt.replace(CUT, '')).toMatch(/^x{1000,}$/)
  expect(response_excerpt.endsWith(CUT)).toBe(true)
  expect(bytes(response_excerpt)).toBe(1024)
})

test.each(['é', '€', '😀'])('of %j no half is kept', (letter) => {
  for (const before of ['', 'x', 'xx', 'xxx']) {
    const { response_excerpt = '' } = answerOf(answered(before + letter.repeat(1100)))
    expect(response_excerpt.replace(before, '').replace(CUT, '').replaceAll(letter, '')).toBe('')
  }
})

test('what is kept fits, can be stored and does not end in half a character', () => {
  const unit = fc.oneof(fc.constantFrom('\0', '😀', 'é', '\n'), fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 1500 }), (parts) => {
      const body = parts.join('')
      const { response_excerpt = '' } = answerOf(answered(body))
      expect(bytes(response_excerpt)).toBeLessThanOrEqual(1024)
      expect(response_excerpt).not.toContain('\0')
      expect(response_excerpt.isWellFormed()).toBe(true)
      const whole = body.replaceAll('\0', '').toWellFormed()
      expect(whole.startsWith(response_excerpt.replace(CUT, ''))).toBe(true)
    }),
  )
})

test.each([
  [{ 'X-Request-Id': 'abc', 'CF-Ray': 'def' }, 'abc'],
  [{ 'x-slack-req-id': 'slack-1' }, 'slack-1'],
  [{ 'cf-ray': '8f-FRA' }, '8f-FRA'],
  [{ 'x-request-id': 'with spaces', 'cf-ray': '8f' }, '8f'],
  [{ 'x-request-id': 'x'.repeat(200) }, 'x'.repeat(200)],
  [{ 'x-request-id': 'x'.repeat(201) }, undefined],
  [{}, undefined],
])('of %j the id of the request is %j', (headers, id) => {
  expect(answerOf(answered('', headers)).request_id).toBe(id)
})

test('who did not answer said nothing', () => {
  expect(answerOf(failedSend('timeout'))).toEqual({})
})

test('a status says whether the same message may be accepted later', () => {
  const statuses = Array.from({ length: 500 }, (_, n) => 100 + n)
  expect(statuses.filter((status) => status < 500 && isTemporary(status))).toEqual([408, 425, 429])
  expect(statuses.filter((status) => status >= 500 && !isTemporary(status))).toEqual([])
})

test('what a database cannot store is left out of an answer', () => {
  expect(answerOf(answered('a\0b\0'))).toEqual({ response_excerpt: 'ab' })
  expect(answerOf(answered('\0'))).toEqual({})
  expect(answerOf(answered('a\ud83d'))).toEqual({ response_excerpt: 'a\ufffd' })
})

test.each([
  ['{"a":1,"b":[2]}', { a: 1, b: [2] }],
  ['{}', {}],
  ['["a"]', {}],
  ['"text"', {}],
  ['null', {}],
  ['7', {}],
  ['', {}],
  ['{"a":', {}],
])('of the body %s the fields are %j', (body, fields) => {
  expect(fieldsOf(body)).toEqual(fields)
})

test.each([
  ['https://a.example/b', 'https://a.example/b'],
  ['https://A.example', 'https://a.example/'],
  ['http://a.example/b', undefined],
  ['https://u@a.example/b', undefined],
  ['https://:p@a.example/b', undefined],
  ['https://a.example:8443/b', undefined],
  [' https://a.example/b', undefined],
  ['https://a.example/b\n', undefined],
  ['a.example/b', undefined],
])('%j is a plain address: %s', (target, href) => {
  expect(httpsUrl(target)?.href).toBe(href)
})

test('the end of a key tells it from others, unless it is short', () => {
  expect(maskKey('0123456789abcdefghij')).toBe('…ghij')
  expect(maskKey('0123456789abcdefghi')).toBe('…')
})
