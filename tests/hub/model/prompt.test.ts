import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readAnswer, retryMessages, toMessages } from '../../../hub/model/prompt.ts'

const schema = z.object({ name: z.string().max(10), tags: z.array(z.string()).optional() })
const read = (text: string, is_cut = false) => readAnswer(schema, { text, is_cut })

test('the system comes first as it is, then the task and the form of its answer', () => {
  const form = { type: 'object', properties: { name: { type: 'string', maxLength: 10 } } }
  expect(toMessages('You sell.', 'Write.', form)).toEqual([
    { role: 'system', content: 'You sell.' },
    {
      role: 'user',
      content:
        'Write.\n\nAnswer with one JSON object and nothing else, in this form:\n' +
        '{\n  "name": string of at most 10 characters\n}',
    },
  ])
})

test('a second attempt shows what was answered and what was wrong with it', () => {
  const first = [{ role: 'user' as const, content: 'Write.' }]
  const [task, answer, wrong, ...more] = retryMessages(first, 'x'.repeat(2001), 'No name.')
  expect(more).toEqual([])
  expect(task).toEqual(first[0])
  expect(answer).toEqual({ role: 'assistant', content: 'x'.repeat(2000) })
  expect(wrong).toEqual({
    role: 'user',
    content: expect.stringMatching(/^That answer cannot be used:\nNo name\.\nAnswer again: /),
  })
  expect(retryMessages(first, '', 'No name.')[1]).toEqual({
    role: 'assistant',
    content: '(nothing)',
  })
})

describe('an answer', () => {
  test.each([
    ['{"name": "Can"}', { name: 'Can' }],
    ['Here it is:\n```json\n{"name": "Can"}\n```\nBye.', { name: 'Can' }],
    ['<think>{"name":\n"No"}</think>{"name": "Can"}', { name: 'Can' }],
    ['{"name":<think> } </think> "Can"}', { name: 'Can' }],
    ['<think>a</think>{"name": "</think>"}', { name: '</think>' }],
    ['{"name": "C\\u0000a\\u0000n", "tags": ["\\u0000x"]}', { name: 'Can', tags: ['x'] }],
    ['{"name": "\\ud800Can"}', { name: '\ufffdCan' }],
  ])('%j can be used', async (text, data) => {
    expect(await read(text)).toEqual({ success: true, data })
    // One that is whole may well have used up its budget.
    expect(await read(text, true)).toEqual({ success: true, data })
  })

  test.each(['', 'Can', '{"name": ', '{"name" "Can"}', '} {', '}{"name": "Can"', '["Can"]'])(
    '%j is no JSON object, or one that broke off',
    async (text) => {
      expect(await read(text)).toMatchObject({
        success: false,
        problem: 'The answer is not a JSON object.',
        failure: { reason: 'invalid_output', is_retryable: false },
      })
      expect(await read(text, true)).toMatchObject({
        success: false,
        problem: expect.stringContaining('too long and broke off'),
        failure: { reason: 'out_of_budget' },
      })
    },
  )

  test.each([
    ['{}', 'name'],
    ['{"name": 5}', 'name'],
    ['{"name": null}', 'name'],
    ['{"name": "longer than ten"}', 'name'],
    ['{"name": "Can", "tags": [null]}', 'tags[0]'],
  ])('%j of another form tells where it is wrong', async (text, where) => {
    const answer = await read(text)
    if (answer.success) throw new Error('It was taken.')
    expect(answer.problem).toContain(`→ at ${where}`)
    expect(answer.failure.reason).toBe('invalid_output')
    // A person is told the same in one line.
    for (const words of Object.values(answer.failure.words)) {
      expect(words).toContain(` → at ${where}`)
      expect(words).not.toMatch(/\n|\s\s/)
    }
  })

  test('that is wrong all over tells no more than a prompt has room for', async () => {
    const list = z.object({ all: z.array(z.string()) })
    const text = JSON.stringify({ all: Array.from({ length: 500 }, () => 1) })
    const answer = await readAnswer(list, { text, is_cut: false })
    expect(answer).toMatchObject({ success: false, problem: expect.stringMatching(/^.{2000}$/s) })
  })
})
