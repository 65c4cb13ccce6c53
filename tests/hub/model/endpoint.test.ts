import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { pathsIn } from '../../../hub/config.ts'
import { createModel, type Model, ModelError } from '../../../hub/model/model.ts'
import { startModel } from '../support/model.ts'

const Answer = z.object({ answer: z.string().max(20) })
const call = { schema: Answer, name: 'step', system: 'System.', task: 'Task.' }
const KEY = 'sk-secret-1234'

type Handler = (request: IncomingMessage, response: ServerResponse, body: unknown) => void
let handler: Handler
let bodies: Record<string, unknown>[] = []
let origin = ''
const closed: string[] = []

const stub = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  const body = text === '' ? undefined : JSON.parse(text)
  if (body) bodies.push(body)
  response.once('close', () => {
    if (!response.writableFinished) closed.push(request.url ?? '')
  })
  handler(request, response, body)
})

let model: Model
let close: () => Promise<void>
let lines: Record<string, unknown>[]

beforeAll(async () => {
  await new Promise<void>((resolve) => void stub.listen(0, '127.0.0.1', resolve))
  // safe: it listens on a port
  origin = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`
  ;({ model, close, lines } = await startModel({
    settings: { kind: 'endpoint', url: origin, model: 'qwen', api_key: KEY },
    timeout_ms: 1_000,
  }))
})
afterAll(async () => {
  await close()
  stub.closeAllConnections()
  stub.close()
})
beforeEach(() => {
  bodies = []
  closed.length = 0
})

function send(status: number, value: unknown): Handler {
  return (_, response) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  }
}

function says(content: string, more: object = {}) {
  return {
    choices: [
      { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop', ...more },
    ],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  }
}

async function refusal(): Promise<ModelError> {
  const error = await model.complete(call).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ModelError)
  // safe: asserted on the line above
  return error as ModelError
}

describe('an endpoint', () => {
  test('gets the schema, the key and the prompt, and its usage counts', async () => {
    let headers: IncomingMessage['headers'] = {}
    let path: string | undefined
    handler = (request, response, body) => {
      headers = request.headers
      path = request.url
      send(200, says('{"answer":"yes"}'))(request, response, body)
    }
    const { value, tokens, attempts } = await model.complete({ ...call, priority: 'user' })
    expect(value).toEqual({ answer: 'yes' })
    expect(tokens).toEqual({ prompt: 11, completion: 7 })
    expect(attempts).toBe(1)
    expect(path).toBe('/v1/chat/completions')
    expect(headers.authorization).toBe(`Bearer ${KEY}`)
    expect(bodies[0]).toMatchObject({
      model: 'qwen',
      messages: [
        { role: 'system', content: 'System.' },
        { role: 'user', content: expect.stringContaining('"answer": string of at most 20') },
      ],
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'step',
          strict: true,
          schema: { type: 'object', required: ['answer'], additionalProperties: false },
        },
      },
    })
  })

  test('that knows no grammar may wrap the answer in thoughts and a fence', async () => {
    handler = send(200, says('<think>{so}</think>Sure!\n```json\n{"answer":"a\\u0000b"}\n```'))
    expect((await model.complete(call)).value).toEqual({ answer: 'ab' })
  })

  test('that answers wrongly is told so, and asked once more', async () => {
    const answers = ['{"answer":"far too long for twenty"}', '{"answer":"short"}']
    handler = (request, response, body) =>
      send(200, says(answers[bodies.length - 1] ?? ''))(request, response, body)
    const { value, tokens, attempts } = await model.complete(call)
    expect(value).toEqual({ answer: 'short' })
    expect(attempts).toBe(2)
    expect(tokens).toEqual({ prompt: 22, completion: 14 })
    expect(JSON.stringify(bodies[1])).toContain('Must have at most 20 characters.')
    expect(bodies[1]).toMatchObject({ messages: { length: 4 } })
  })

  test('that answers wrongly twice has given an invalid output', async () => {
    handler = send(200, says('I cannot do that.'))
    const error = await refusal()
    expect(error.reason).toBe('invalid_output')
    expect(error.tokens).toEqual({ prompt: 22, completion: 14 })
    expect(bodies).toHaveLength(2)
  })

  test('that is cut off twice is out of budget', async () => {
    handler = send(200, says('{"answer":"', { finish_reason: 'length' }))
    expect((await refusal()).reason).toBe('out_of_budget')
  })

  test('streams where somebody looks on', async () => {
    handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const content of ['{"answer"', ':"ye', 's"}']) {
        response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\r\n\r\n`)
      }
      response.write('data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n')
      response.write('data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\n')
      response.end('data: [DONE]\n\n')
    }
    const pieces: string[] = []
    const { value, tokens } = await model.complete({
      ...call,
      on_token: (text) => pieces.push(text),
    })
    expect(value).toEqual({ answer: 'yes' })
    expect(pieces).toEqual(['{"answer"', ':"ye', 's"}'])
    expect(tokens).toEqual({ prompt: 3, completion: 4 })
    expect(bodies[0]).toMatchObject({ stream: true })
  })

  test('whose stream breaks off has not answered', async () => {
    handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: {"choices":[{"delta":{"content":"{\\"answer\\""}}]}\n\n')
    }
    const error = await refusal()
    expect(error.reason).toBe('unreachable')
    expect(error.is_retryable).toBe(true)
  })

  test('is left when the call is cancelled', async () => {
    const cancel = new AbortController()
    handler = () => cancel.abort()
    const error = await model.complete({ ...call, signal: cancel.signal }).catch((e: unknown) => e)
    expect(error).toMatchObject({ reason: 'cancelled', is_retryable: false })
    await expect.poll(() => closed).toEqual(['/v1/chat/completions'])
  })

  test.each([
    [401, { error: { message: `Incorrect key ${KEY}` } }, 'unreachable', false, 'API key'],
    [403, 'no', 'unreachable', false, 'API key'],
    [404, { error: { message: 'model "qwen" not found' } }, 'no_model', false, 'not found'],
    [400, { error: { message: `Bad request with ${KEY}` } }, 'unreachable', false, 'Bad request'],
    [429, { error: { message: 'Slow down' } }, 'unreachable', true, 'Slow down'],
    [500, '<html>oops</html>', 'unreachable', true, '500'],
    [503, { error: { message: 'Loading model' } }, 'unreachable', true, 'Loading model'],
    [200, '<html>hello</html>', 'unreachable', false, 'OpenAI protocol'],
    [200, { choices: [] }, 'unreachable', false, 'OpenAI protocol'],
  ])('that answers %i %j is %s', async (status, value, reason, is_retryable, words) => {
    handler = send(status, value)
    const error = await refusal()
    expect(error).toMatchObject({ reason, is_retryable })
    expect(error.message).toContain(words)
    expect(JSON.stringify([error.message, error.words])).not.toContain(KEY)
    expect(bodies).toHaveLength(1)
  })

  test.each([
    ['llama-server', { message: 'too big', n_prompt_tokens: 5000, n_ctx: 4096 }, 905],
    [
      'vLLM',
      {
        message:
          "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
      },
      904,
    ],
    ['OpenAI', { message: 'Too many.', code: 'context_length_exceeded' }, undefined],
    ['others', { message: 'The prompt exceeds the context window.' }, undefined],
    ['others', { message: 'Larger than the context size' }, undefined],
    ['others', { message: 'Your input is too long.', code: 400 }, undefined],
  ])('says that a prompt is too long (%s)', async (_, error, excess_tokens) => {
    handler = send(400, { error })
    expect(await refusal()).toMatchObject({ reason: 'too_long', excess_tokens })
  })

  test('that says nothing is given up in time', async () => {
    handler = () => {}
    const error = await refusal()
    expect(error).toMatchObject({ reason: 'unreachable', is_retryable: true })
    expect(error.message).toContain('did not answer in time')
    expect(error.words.tr).toContain('zamanında yanıt vermedi')
  })

  test('is ready while it lists its models, and unreachable when nobody listens', async () => {
    const asked: unknown[] = []
    handler = (request, response, body) => {
      asked.push([request.method, request.url, request.headers.authorization])
      send(request.url === '/v1/models' ? 200 : 404, { data: [] })(request, response, body)
    }
    expect(await model.state()).toMatchObject({ kind: 'endpoint', name: 'qwen', state: 'ready' })
    expect(asked).toEqual([['GET', '/v1/models', `Bearer ${KEY}`]])
    const away = await startModel({
      settings: { kind: 'endpoint', url: 'http://127.0.0.1:9/v1', model: 'qwen' },
    })
    try {
      expect(await away.model.state()).toMatchObject({ state: 'unreachable', memory_bytes: null })
      await expect(away.model.complete(call)).rejects.toMatchObject({ reason: 'unreachable' })
    } finally {
      await away.close()
    }
  })

  test('has its tokens estimated', async () => {
    expect(await model.count(['twelve bytes', ''])).toEqual([4, 0])
    const parts = Array.from({ length: 100 }, () => 'x'.repeat(600))
    const { left_out } = await model.fit(call, parts)
    expect(left_out).toBeGreaterThan(50)
  })

  test('leaves neither key nor prompt in the log', () => {
    expect(JSON.stringify(lines)).not.toMatch(/sk-secret|Task\.|System\./)
    expect(lines.length).toBeGreaterThan(0)
  })
})

test('settings that are chosen while the hub starts are not undone by the start', async () => {
  const chosen = await startModel({ settings: { kind: 'none' } })
  const { model } = chosen
  try {
    const late = createModel({
      settings: { kind: 'none' },
      paths: pathsIn(chosen.folder),
      log: () => {},
    })
    await late.configure({ kind: 'endpoint', url: origin, model: 'qwen' })
    await late.start()
    expect((await late.state()).kind).toBe('endpoint')
    await late.close()
    expect((await model.state()).kind).toBe('none')
  } finally {
    await chosen.close()
  }
})
