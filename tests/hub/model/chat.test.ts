import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createChat } from '../../../hub/model/chat.ts'
import type { Engine, Generated } from '../../../hub/model/engine.ts'
import { ContextLengthError, GrammarError } from '../../../hub/model/error.ts'
import { historyOf } from '../../../hub/model/history.ts'
import { PRIORITY_HEADER } from '../../../hub/model/protocol.ts'

type Call = Parameters<Engine['complete']>[0]
const GENERATED: Generated = {
  text: 'Yes.',
  finish_reason: 'stop',
  prompt_tokens: 11,
  completion_tokens: 7,
  cached_tokens: 3,
}

/** What the engine does with the next calls; it runs one at a time. */
let engineDoes: (call: Call) => Promise<Generated>
let calls: Call[] = []
// safe: all that a chat uses of an engine
const engine = {
  name: 'fake',
  sequences: 1,
  complete: (call: Call) => {
    calls.push(call)
    return engineDoes(call)
  },
} as unknown as Engine
let lines: Record<string, unknown>[] = []
const chat = createChat(engine, (line) => void lines.push(line))
const server = createServer((request, response) => void chat.chat(request, response))
let url = ''

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // safe: it listens on a port
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  calls = []
  lines = []
  engineDoes = async () => GENERATED
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

test('a model reads a chat by who said what, and the answer that is missing', () => {
  const chatted = [
    { role: 'system' as const, content: 'Be brief.' },
    { role: 'user' as const, content: 'Hello?' },
    { role: 'assistant' as const, content: 'Yes.' },
    { role: 'user' as const, content: 'Who?' },
  ]
  expect(historyOf(chatted)).toEqual([
    { type: 'system', text: 'Be brief.' },
    { type: 'user', text: 'Hello?' },
    { type: 'model', response: ['Yes.'] },
    { type: 'user', text: 'Who?' },
    { type: 'model', response: [] },
  ])
})

const ask = (
  content: string,
  { priority, ...more }: { priority?: string; stream?: boolean; signal?: AbortSignal } = {},
) => {
  const { signal, ...fields } = more
  return fetch(url, {
    method: 'POST',
    headers: priority === undefined ? {} : { [PRIORITY_HEADER]: priority },
    body: JSON.stringify({ messages: [{ role: 'user', content }], ...fields }),
    signal: signal ?? null,
  })
}
const until = (is: () => boolean) => vi.waitUntil(is, { timeout: 5_000, interval: 2 })
/** Holds the engine until it is released; `first` is the call that it holds. */
async function hold(stream = false) {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const then = engineDoes
  engineDoes = async (call) => {
    engineDoes = then
    await promise
    return then(call)
  }
  const first = ask('first', { stream })
  await until(() => calls.length === 1)
  return { first, release }
}
const asked = () => calls.map(({ messages }) => messages.at(-1)?.content)

describe('calls beyond the capacity wait,', () => {
  test('and are taken up by who waits for the answer: users, missions, then the rest', async () => {
    const { first, release } = await hold()
    const waiting = [
      ask('a background task', { priority: 'background' }),
      ask('what says nothing'),
      ask('an unknown word', { priority: 'boss' }),
      ask('a user', { priority: 'user' }),
    ]
    await until(() => chat.waiting() === 4)
    expect(chat.busy()).toBe(1)
    release()
    for (const { status } of await Promise.all([first, ...waiting])) expect(status).toBe(200)
    expect(asked()[1]).toBe('a user')
    expect(asked()[4]).toBe('a background task')
    await until(() => chat.busy() === 0)
  })

  test('and the log says how long each waited and took', async () => {
    let now = 1_000
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    engineDoes = async () => {
      now += 250
      return GENERATED
    }
    const { first, release } = await hold()
    const second = ask('second')
    await until(() => chat.waiting() === 1)
    release()
    await Promise.all([first, second])
    await until(() => lines.length === 2)
    const { text: _, ...numbers } = GENERATED
    expect(lines).toEqual([
      { outcome: 'done', waited_ms: 0, duration_ms: 250, ...numbers },
      { outcome: 'done', waited_ms: 250, duration_ms: 250, ...numbers },
    ])
  })

  test('and one whose caller has gone is never begun', async () => {
    const { first, release } = await hold()
    const gone = new AbortController()
    const second = ask('second', { signal: gone.signal }).catch(() => 'gone')
    await until(() => chat.waiting() === 1)
    const sockets = () =>
      new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
    const before = await sockets()
    gone.abort()
    expect(await second).toBe('gone')
    await vi.waitUntil(async () => (await sockets()) < before, { timeout: 5_000, interval: 2 })
    release()
    await first
    await until(() => chat.waiting() === 0 && chat.busy() === 0)
    expect(asked()).toEqual(['first'])
    expect(lines).toHaveLength(1)
  })
})

test('a call whose caller goes is cancelled in the engine, and is no failure', async () => {
  const gone = new AbortController()
  engineDoes = ({ signal }) =>
    new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('aborted')))
    })
  const left = ask('left', { signal: gone.signal }).catch(() => 'gone')
  await until(() => calls.length === 1)
  gone.abort()
  expect(await left).toBe('gone')
  await until(() => lines.length === 1)
  expect(lines).toMatchObject([{ outcome: 'cancelled' }])
  expect(lines[0]).not.toHaveProperty('error')
})

describe('an answer', () => {
  test('is in the form of OpenAI, with all that was asked of the engine', async () => {
    const schema = { type: 'object', properties: {} }
    const body = {
      messages: [{ role: 'user', content: 'Hello' }],
      response_format: { type: 'json_schema', json_schema: { schema } },
      ...{ max_tokens: 5, temperature: 0.5, seed: 3 },
    }
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
    const value = await answer.json()
    expect(value).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f-]{36}$/),
      object: 'chat.completion',
      model: 'fake',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' },
      ],
      usage: {
        ...{ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
        prompt_tokens_details: { cached_tokens: 3 },
      },
    })
    expect(Math.abs(value.created - Date.now() / 1000)).toBeLessThan(60)
    expect(calls).toMatchObject([
      { messages: body.messages, schema, max_tokens: 5, temperature: 0.5, seed: 3 },
    ])
    await ask('Plain words')
    expect(calls[1]?.schema).toBeUndefined()
  })

  test.each([
    ['not JSON', '{'],
    ['without messages', '{"messages": []}'],
    [
      'longer than any context',
      JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(4 * 1024 * 1024) }] }),
    ],
  ])('to a body %s is a refusal, and the engine is not asked', async (_, body) => {
    const answer = await fetch(url, { method: 'POST', body })
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { code: 'invalid', type: 'invalid_request_error', param: null } },
    ])
    expect(calls).toEqual([])
  })

  test.each<[string, Error, number, object]>([
    [
      'a prompt that is too long',
      new ContextLengthError({ prompt_tokens: 50, max_tokens: 10, context_size: 40 }),
      400,
      {
        ...{ code: 'context_length_exceeded', type: 'invalid_request_error' },
        ...{ prompt_tokens: 50, max_tokens: 10, context_size: 40 },
      },
    ],
    ['a schema without a grammar', new GrammarError(), 400, { code: 'invalid_schema' }],
    [
      'a fault of the engine',
      new Error('at /home/somebody/model.gguf'),
      500,
      { code: 'internal', type: 'server_error' },
    ],
  ])('to %s says so in words', async (_, error, status, expected) => {
    engineDoes = () => Promise.reject(error)
    const answer = await ask('Hello')
    const text = await answer.text()
    expect([answer.status, JSON.parse(text).error]).toMatchObject([
      status,
      { ...expected, words: { en: expect.any(String), tr: expect.any(String) } },
    ])
    expect(text).not.toContain('/home/')
    expect(lines).toMatchObject([{ outcome: 'failed', error }])
  })
})

describe('a stream', () => {
  test('sends each piece as it comes, then the usage and the end', async () => {
    engineDoes = async ({ onText }) => {
      onText?.('Ye')
      onText?.('s.')
      return GENERATED
    }
    const answer = await ask('Hello', { stream: true })
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    const parts = (await answer.text()).split('\n\n').filter(Boolean)
    expect(parts.at(-1)).toBe('data: [DONE]')
    const chunks = parts.slice(0, -1).map((part) => JSON.parse(part.replace('data: ', '')))
    expect(chunks.map(({ choices }) => choices[0])).toEqual([
      { index: 0, delta: { content: 'Ye' }, finish_reason: null },
      { index: 0, delta: { content: 's.' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'stop' },
      undefined,
    ])
    expect(chunks.at(-1)).toMatchObject({ usage: { total_tokens: 18 } })
  })

  test('that fails before its first piece is refused, and later says so and ends', async () => {
    engineDoes = () => Promise.reject(new GrammarError())
    expect((await ask('Hello', { stream: true })).status).toBe(400)
    engineDoes = async ({ onText }) => {
      onText?.('Ye')
      throw new Error('broken')
    }
    const answer = await ask('Hello', { stream: true })
    const parts = (await answer.text()).split('\n\n').filter(Boolean)
    expect(answer.status).toBe(200)
    expect(JSON.parse(parts.at(-1)?.replace('data: ', '') ?? '')).toMatchObject({
      error: { code: 'internal' },
    })
  })

  test('says every ten seconds that it is still there, until it ends', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { first, release } = await hold(true)
    vi.advanceTimersByTime(9_999)
    vi.advanceTimersByTime(1)
    const answer = await first
    vi.advanceTimersByTime(10_000)
    release()
    const text = await answer.text()
    expect(text.match(/^: still here$/gm)).toHaveLength(2)
    expect(text).toContain('data: [DONE]')
    await until(() => vi.getTimerCount() === 0)
  })
})
