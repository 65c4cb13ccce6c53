import { link } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ModelError } from '../../../hub/model/error.ts'
import { PRIORITY_HEADER } from '../../../hub/model/protocol.ts'
import { createWire } from '../../../hub/model/wire.ts'
import { temporaryFolder } from '../support/model.ts'
import { HEALTH } from '../support/model-state.ts'

/** In place of the model process: a server at its socket. */
let handler: RequestListener
const asked: { method?: string; url?: string; body: unknown }[] = []
let headers: IncomingHttpHeaders = {}
const answer: RequestListener = async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  const { method = '', url = '' } = request
  headers = request.headers
  asked.push({ method, url, body: text === '' ? undefined : JSON.parse(text) })
  handler(request, response)
}
const server = createServer(answer)
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
        body: {
          model: 'local',
          stream: true,
          stream_options: { include_usage: true },
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'step', schema: call.schema, strict: true },
          },
        },
      },
    ])
  })

  test('is told what it gets, and how urgent it is', async () => {
    handler = stream({ choices: [{ delta: {}, finish_reason: 'stop' }] })
    await wire.chat(call)
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      [PRIORITY_HEADER]: 'user',
    })
    expect(headers.authorization).toBeUndefined()
  })

  test('may count before its last piece, split a letter, and end without a reason', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4 }
    const events = [
      { choices: [], usage },
      { choices: [{ delta: { content: 'Teşekkürler' } }] },
    ].map((event) => `data: ${JSON.stringify(event)}\n\n`)
    const bytes = Buffer.from([...events, 'data: [DONE]\n\n'].join(''))
    const within = bytes.indexOf('ş') + 1
    handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(bytes.subarray(0, within))
      response.end(bytes.subarray(within))
    }
    expect(await wire.chat(call)).toEqual({ text: 'Teşekkürler', is_cut: false, usage })
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

  test('that breaks off within its answer has not answered', async () => {
    handler = stream({ choices: [{ delta: { content: '{' }, finish_reason: null }] })
    expect(await refusal()).toMatchObject({ reason: 'unreachable', is_retryable: true })
    handler = stream()
    expect((await refusal())?.words.en).toBe('The answer was cut off. Try again.')
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

  test.each([
    ['Why?', ': Why?'],
    ['Why? So', ': Why? So.'],
    [' \n Why!\t', ': Why!'],
    ['x'.repeat(300), `: ${'x'.repeat(300)}.`],
    ['x'.repeat(301), `: ${'x'.repeat(300)}.`],
  ])('is quoted in one sentence of at most 300 characters: %s', async (message, end) => {
    handler = send(400, { error: { message } })
    expect((await refusal())?.message.endsWith(end)).toBe(true)
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
    // A process that was killed leaves its socket behind.
    const left = join(folder.folder, 'left.sock')
    const killed = createServer()
    await new Promise<void>((resolve) => void killed.listen(`${left}.old`, resolve))
    await link(`${left}.old`, left)
    await new Promise((resolve) => killed.close(resolve))
    const dead = createWire({ kind: 'socket', path: left })
    expect(await refusal(dead)).toMatchObject({
      reason: 'unreachable',
      message: expect.stringContaining('is not running'),
      cause: { code: 'ECONNREFUSED' },
    })
    await dead.close()
  })

  test('is asked nothing more once the wire is closed', async () => {
    const closed = createWire({ kind: 'socket', path })
    await closed.close()
    expect(await refusal(closed)).toMatchObject({ reason: 'unreachable' })
    expect(asked).toEqual([])
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
    handler = send(200, HEALTH)
    expect(await wire.health(AbortSignal.timeout(20_000))).toEqual(HEALTH)
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

describe('an endpoint', () => {
  const tcp = createServer(answer)
  let origin: string
  beforeAll(async () => {
    await new Promise<void>((resolve) => void tcp.listen(0, '127.0.0.1', resolve))
    // safe: it listens on a port
    origin = `http://127.0.0.1:${(tcp.address() as AddressInfo).port}`
  })
  afterAll(() => {
    tcp.closeAllConnections()
    tcp.close()
  })
  const at = (base: string, api_key?: string) =>
    createWire({
      kind: 'endpoint',
      url: new URL(base, origin),
      model: 'qwen',
      api_key,
      timeout_ms: 20_000,
    })

  test.each([
    ['/v1/', '/props', '/v1/models'],
    ['/proxy/v1/', '/proxy/props', '/proxy/v1/models'],
    ['/v1/openai/', '/v1/openai/props', '/v1/openai/models'],
    ['/openai/', '/openai/props', '/openai/models'],
  ])('at %s is looked at where its routes begin', async (base, props, models) => {
    handler = send(200, {})
    const wire = at(base)
    await wire.look('props', AbortSignal.timeout(20_000))
    await wire.look('v1/models', AbortSignal.timeout(20_000))
    await wire.close()
    expect(asked.map(({ url }) => url)).toEqual([props, models])
    expect(headers.authorization).toBeUndefined()
  })

  test('that repeats the key is quoted without it', async () => {
    const wire = at('/v1/', 'sk-secret')
    handler = send(400, { error: { message: 'Not with sk-secret, really sk-secret' } })
    expect((await refusal(wire))?.message).toContain('Not with …, really ….')
    expect(headers.authorization).toBe('Bearer sk-secret')
    handler = send(400, { error: { message: 'contextSize exceeded' } })
    expect(await refusal(wire)).toMatchObject({ reason: 'too_long' })
    // Only our own process speaks both languages, and only its 500 is a crash.
    const words = { en: 'Ours.', tr: 'Bizim.' }
    handler = send(500, { error: { message: 'Theirs.', words } })
    const error = await refusal(wire)
    expect(error).toMatchObject({ reason: 'unreachable', is_retryable: true })
    expect(error?.message).toContain('Theirs.')
    await wire.close()
  })
})
