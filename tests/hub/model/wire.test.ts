import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ModelError } from '../../../hub/model/error.ts'
import { createWire } from '../../../hub/model/wire.ts'
import { temporaryFolder } from '../support/model.ts'

/** In place of the model process: a server at its socket. */
let handler: RequestListener
const asked: { method?: string; url?: string; body: unknown }[] = []
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  const { method = '', url = '' } = request
  asked.push({ method, url, body: text === '' ? undefined : JSON.parse(text) })
  handler(request, response)
})
let folder: Awaited<ReturnType<typeof temporaryFolder>>
let path: string
let wire: ReturnType<typeof createWire>

beforeAll(async () => {
  folder = await temporaryFolder()
  path = join(folder.folder, 'model.sock')
  await new Promise<void>((resolve) => void server.listen(path, resolve))
  wire = createWire({ kind: 'socket', path })
})
afterAll(async () => {
  await wire.close()
  server.closeAllConnections()
  server.close()
  await folder.remove()
})
beforeEach(() => {
  asked.length = 0
})

const send =
  (status: number, value: unknown): RequestListener =>
  (_, response) =>
    void response.writeHead(status).end(JSON.stringify(value))
const stream =
  (...events: unknown[]): RequestListener =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    response.end(events.map((data) => `data: ${JSON.stringify(data)}\n\n`).join(''))
  }
const call = {
  messages: [{ role: 'user' as const, content: 'Hello' }],
  name: 'step',
  schema: { type: 'object' as const, properties: {} },
  max_tokens: 10,
  temperature: 0,
  seed: undefined,
  priority: 'user' as const,
  signal: undefined,
  on_token: undefined,
} as Parameters<typeof wire.chat>[0] // safe: a schema with everything that is sent
const refusal = (of = wire) =>
  of.chat(call).then(
    () => undefined,
    (error: ModelError) => error,
  )

describe('the model process', () => {
  test('is asked for a stream even where nobody looks on, and its pieces are one text', async () => {
    handler = stream(
      { choices: [{ delta: { content: '{"a"' } }] },
      { choices: [{ delta: { content: null } }] },
      { choices: [{ delta: { content: ':1}' }, finish_reason: 'stop' }] },
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } },
    )
    expect(await wire.chat(call)).toEqual({
      text: '{"a":1}',
      is_cut: false,
      usage: { prompt_tokens: 3, completion_tokens: 4 },
    })
    expect(asked).toMatchObject([
      {
        method: 'POST',
        url: '/v1/chat/completions',
        body: { model: 'local', stream: true, stream_options: { include_usage: true } },
      },
    ])
  })

  test('whose answer ran out of tokens is cut, and one that says nothing is empty', async () => {
    handler = stream({ choices: [{ delta: {}, finish_reason: 'length' }] })
    expect(await wire.chat(call)).toEqual({ text: '', is_cut: true, usage: undefined })
    handler = send(200, {
      choices: [{ message: { content: null }, finish_reason: 'stop' }],
      usage: null,
    })
    expect(await wire.chat(call)).toEqual({ text: '', is_cut: false, usage: undefined })
  })

  test('that fails within a stream says in both languages why', async () => {
    const words = { en: 'It failed.', tr: 'Olmadı.' }
    handler = stream({ error: { message: 'It failed.', words } })
    expect(await refusal()).toMatchObject({ reason: 'unreachable', words })
  })

  test.each([
    [503, {}, 'starting', true],
    [500, {}, 'crashed', true],
    [408, {}, 'unreachable', true],
    [409, {}, 'unreachable', false],
    [429, {}, 'unreachable', true],
    [502, {}, 'unreachable', true],
    [503, { code: 'no_model' }, 'no_model', false],
    [500, { prompt_tokens: 900, max_tokens: 200, context_size: 1000 }, 'too_long', false],
  ])('that answers %i %j is %s', async (status, more, reason, is_retryable) => {
    handler = send(status, { error: { message: ' So \n it is', ...more } })
    const error = await refusal()
    expect(error).toMatchObject({ reason, is_retryable })
    // One line, which ends as a sentence does.
    expect(error?.message).toContain('So it is.')
  })

  test.each([
    [{ prompt_tokens: 900, max_tokens: 200, context_size: 1000 }, 100],
    [{ prompt_tokens: 1100, context_size: 1000 }, 100],
    [{ n_prompt_tokens: 1100, n_ctx: 1000 }, 101],
    [{ message: 'The context length is 1000 tokens.\nYou requested 1100.' }, 100],
    [{ prompt_tokens: 1100 }, undefined],
    [{ context_size: 1000 }, undefined],
    [{ n_prompt_tokens: 1100 }, undefined],
    [{ n_ctx: 1000 }, undefined],
  ])('says by how much a prompt is too long: %j', async (more, excess_tokens) => {
    handler = send(400, { error: { message: 'Refused!', ...more } })
    const error = await refusal()
    expect(error?.excess_tokens).toBe(excess_tokens)
    if (excess_tokens) expect(error?.message).toContain(`Shorten the input by ${excess_tokens} `)
    else expect(error?.message).toMatch(/: Refused!$/)
  })

  test('that ends during a call has crashed, and one that is not there does not run', async () => {
    handler = (request) => request.socket.destroy()
    expect(await refusal()).toMatchObject({
      reason: 'crashed',
      message: expect.stringContaining('stopped during the call'),
      cause: { code: 'UND_ERR_SOCKET' },
    })
    const away = createWire({ kind: 'socket', path: join(folder.folder, 'nobody.sock') })
    expect(await refusal(away)).toMatchObject({
      reason: 'unreachable',
      is_retryable: true,
      message: expect.stringContaining('is not running'),
      cause: { code: 'ENOENT' },
    })
    await away.close()
  })

  test('that answers in another form is not asked again by itself', async () => {
    handler = stream({ nothing: true })
    expect(await refusal()).toMatchObject({
      reason: 'unreachable',
      is_retryable: false,
      cause: expect.anything(),
    })
  })

  test('counts tokens, says how it is, and is told to load its model again', async () => {
    handler = send(200, { counts: [2, 3] })
    expect(await wire.count({ texts: ['a b', 'a b c'] })).toEqual([2, 3])
    const health = {
      state: 'ready',
      model: 'tiny',
      detail: null,
      memory_bytes: 1,
      context_size: 1024,
      sequences: 2,
      threads: 1,
      busy: 0,
      waiting: 0,
    }
    handler = send(200, health)
    expect(await wire.health(AbortSignal.timeout(20_000))).toEqual(health)
    await wire.reload()
    expect(asked).toEqual([
      { method: 'POST', url: '/tokenize', body: { texts: ['a b', 'a b c'] } },
      { method: 'GET', url: '/health', body: undefined },
      { method: 'POST', url: '/reload', body: {} },
    ])
  })

  test('is looked at beside its routes, and what is no JSON is nothing', async () => {
    const signal = AbortSignal.timeout(20_000)
    handler = send(200, { n_ctx: 1024 })
    expect(await wire.look('props', signal)).toEqual({ n_ctx: 1024 })
    expect(await wire.look('v1/models', signal, { a: 1 })).toEqual({ n_ctx: 1024 })
    expect(asked).toEqual([
      { method: 'GET', url: '/props', body: undefined },
      { method: 'POST', url: '/v1/models', body: { a: 1 } },
    ])
    handler = (_, response) => void response.end('<html>')
    expect(await wire.look('props', signal)).toBeUndefined()
    handler = send(404, {})
    expect(await wire.look('props', signal)).toBeUndefined()
  })
})
