import { expect, test } from 'vitest'
import { ChatRequest, Health, ProtocolError, Usage } from '../../../hub/model/protocol.ts'
import { HEALTH } from '../support/model-state.ts'

const messages = [{ role: 'user', content: 'Hello' }]
const schema = { schema: { type: 'object' } }

test.each<[object, isTaken: boolean]>([
  [{ messages }, true],
  [{}, false],
  [{ messages: [] }, false],
  ...['system', 'user', 'assistant'].map((role): [object, boolean] => [
    { messages: [{ role, content: '' }] },
    true,
  ]),
  [{ messages: [{ role: 'tool', content: '' }] }, false],
  [{ messages: [{ role: 'user', content: null }] }, false],
  [{ messages: [{ role: 'user' }] }, false],
  [{ messages, response_format: { type: 'text' } }, true],
  [{ messages, response_format: { type: 'json_schema', json_schema: schema } }, true],
  [{ messages, response_format: { type: 'json_schema' } }, false],
  [{ messages, response_format: { type: 'json_schema', json_schema: {} } }, false],
  [{ messages, response_format: { type: 'json_object' } }, false],
  [{ messages, max_tokens: 1 }, true],
  [{ messages, max_tokens: 0 }, false],
  [{ messages, max_tokens: 1.5 }, false],
  [{ messages, temperature: 0 }, true],
  [{ messages, temperature: 2 }, true],
  [{ messages, temperature: 2.1 }, false],
  [{ messages, temperature: -0.1 }, false],
  [{ messages, seed: 7 }, true],
  [{ messages, seed: 7.5 }, false],
  [{ messages, stream: true }, true],
  [{ messages, stream: 'yes' }, false],
])('whether the process takes the request %j: %s', (request, isTaken) => {
  const read = ChatRequest.safeParse(request)
  expect(read.success).toBe(isTaken)
  if (isTaken) expect(read.data).toEqual(request)
})

test('fields that it does not know are left out', () => {
  expect(ChatRequest.parse({ messages, top_p: 1 })).toEqual({ messages })
})

test.each<[object, isTaken: boolean]>([
  [{}, true],
  [{ state: 'none', model: null, context_size: null, sequences: null, threads: null }, true],
  [{ state: 'starting', detail: { en: 'Soon.', tr: 'Birazdan.' } }, true],
  [{ state: 'crashed' }, false],
  [{ detail: 'Soon.' }, false],
  [{ memory_bytes: null }, false],
  [{ busy: 0.5 }, false],
  [{ waiting: null }, false],
])('whether its health may be %j: %s', (more, isTaken) => {
  expect(Health.safeParse({ ...HEALTH, ...more }).success).toBe(isTaken)
})

test.each<[object, read: object | null]>([
  [{ message: 'No.' }, { message: 'No.' }],
  [
    { message: 'No.', type: 'x', code: 'y', n_ctx: 1, n_prompt_tokens: 2 },
    { message: 'No.', type: 'x', code: 'y', n_ctx: 1, n_prompt_tokens: 2 },
  ],
  [
    { message: 'No.', code: 400, type: null },
    { message: 'No.', code: 400, type: null },
  ],
  [
    { message: 'No.', code: null, prompt_tokens: 1, max_tokens: 2, context_size: 3 },
    { message: 'No.', code: null, prompt_tokens: 1, max_tokens: 2, context_size: 3 },
  ],
  [
    { message: 'No.', words: { en: 'No.', tr: 'Hayır.' } },
    { message: 'No.', words: { en: 'No.', tr: 'Hayır.' } },
  ],
  // Words of others are none of ours.
  [{ message: 'No.', words: 'No.' }, { message: 'No.' }],
  [{ message: 5 }, null],
  [{}, null],
  [{ message: 'No.', prompt_tokens: 'many' }, null],
])('the error %j is read as %j', (error, read) => {
  expect(ProtocolError.safeParse({ error }).data?.error ?? null).toEqual(read)
})

test('usage is counted in whole tokens', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4 }
  expect(Usage.parse({ ...usage, total_tokens: 7 })).toEqual(usage)
  expect(Usage.safeParse({ ...usage, prompt_tokens: 0.5 }).success).toBe(false)
  expect(Usage.safeParse({ prompt_tokens: 3 }).success).toBe(false)
})
