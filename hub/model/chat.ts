import type { IncomingMessage, ServerResponse } from 'node:http'
import PQueue from 'p-queue'
import { z } from 'zod'
import { bilingual, type Words } from '../i18n/words.ts'
import type { Engine, Generated } from './engine.ts'
import { ContextLengthError, GrammarError } from './error.ts'
import { modelText } from './model.text.ts'
import { ChatRequest, PRIORITIES, PRIORITY_HEADER, type ProtocolError } from './protocol.ts'

const say = bilingual(modelText)

/** More bytes than any context can hold. */
const MAX_BODY_BYTES = 4 * 1024 * 1024

/** How often a stream sends a keep-alive while a prompt waits or is being read. */
const KEEP_ALIVE_MS = 10_000

/** What the log line of a generation contains. */
type Finished = {
  outcome: 'done' | 'cancelled' | 'failed'
  waited_ms: number
  duration_ms: number
  error?: unknown
} & Partial<Omit<Generated, 'text'>>

/**
 * createChat serves `POST /v1/chat/completions` with one engine; calls beyond its capacity wait.
 */
export function createChat(engine: Engine, finished: (line: Finished) => void) {
  const queue = new PQueue({ concurrency: engine.sequences })

  async function chat(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrived = performance.now()
    const input = ChatRequest.safeParse(await readJson(request))
    if (!input.success) {
      return refuse(response, 400, { message: z.prettifyError(input.error), code: 'invalid' })
    }
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const reply = input.data.stream ? streamed(response, engine) : whole(response, engine)
    const priority = PRIORITIES[priorityOf(request)]
    // The signal goes to the engine, not to the queue: the next call must not start before the
    // sequence is free again.
    await queue.add(
      async () => {
        if (gone.signal.aborted) return
        const started = performance.now()
        const line = { waited_ms: Math.round(started - arrived) }
        const timed = () => ({ ...line, duration_ms: Math.round(performance.now() - started) })
        try {
          const { text, ...numbers } = await generate(engine, input.data, gone.signal, reply.text)
          reply.end({ text, ...numbers })
          finished({ outcome: 'done', ...timed(), ...numbers })
        } catch (error) {
          if (gone.signal.aborted) return finished({ outcome: 'cancelled', ...timed() })
          reply.fail(...problemOf(error))
          finished({ outcome: 'failed', ...timed(), error })
        }
      },
      { priority },
    )
  }

  return { chat, busy: () => queue.pending, waiting: () => queue.size }
}

function generate(
  engine: Engine,
  { messages, response_format, max_tokens, temperature, seed }: ChatRequest,
  signal: AbortSignal,
  onText: (text: string) => void,
): Promise<Generated> {
  const schema =
    response_format?.type === 'json_schema' ? response_format.json_schema.schema : undefined
  return engine.complete({ messages, schema, max_tokens, temperature, seed, signal, onText })
}

function problemOf(error: unknown): [number, ProtocolError] {
  if (error instanceof ContextLengthError) {
    const { words, prompt_tokens, max_tokens, context_size } = error
    const numbers = { prompt_tokens, max_tokens, context_size }
    return [400, { ...inWords(words), code: 'context_length_exceeded', ...numbers }]
  }
  if (error instanceof GrammarError)
    return [400, { ...inWords(say.no_grammar), code: 'invalid_schema' }]
  return [500, { ...inWords(say.failed), code: 'internal' }]
}

type Reply = {
  text: (text: string) => void
  end: (generated: Generated) => void
  fail: (status: number, error: ProtocolError) => void
}

function whole(response: ServerResponse, engine: Engine): Reply {
  return {
    text: () => {},
    end: ({ text, finish_reason, ...numbers }) => {
      const message = { role: 'assistant', content: text }
      sendJson(response, 200, {
        ...headOf('chat.completion', engine.name),
        choices: [{ index: 0, message, finish_reason }],
        usage: usageOf(numbers),
      })
    },
    fail: (status, error) => refuse(response, status, error),
  }
}

/** Server-sent chunks. The status is sent with the first of them. */
function streamed(response: ServerResponse, engine: Engine): Reply {
  const head = headOf('chat.completion.chunk', engine.name)
  const start = () => {
    if (response.headersSent) return
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  }
  const send = (value: unknown) => {
    start()
    response.write(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`)
  }
  const alive = setInterval(() => {
    start()
    response.write(': still here\n\n')
  }, KEEP_ALIVE_MS)
  response.once('close', () => clearInterval(alive))
  return {
    text: (content) =>
      send({ ...head, choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
    end: ({ finish_reason, ...numbers }) => {
      send({ ...head, choices: [{ index: 0, delta: {}, finish_reason }] })
      send({ ...head, choices: [], usage: usageOf(numbers) })
      send('[DONE]')
      response.end()
    },
    fail: (status, error) => {
      if (!response.headersSent) return refuse(response, status, error)
      send({ error })
      response.end()
    },
  }
}

function headOf(object: string, model: string) {
  return {
    id: `chatcmpl-${crypto.randomUUID()}`,
    object,
    created: Math.floor(Date.now() / 1000),
    model,
  }
}

function usageOf(numbers: Omit<Generated, 'text' | 'finish_reason'>) {
  const { prompt_tokens, completion_tokens, cached_tokens } = numbers
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens },
  }
}

function priorityOf(request: IncomingMessage): keyof typeof PRIORITIES {
  const given = String(request.headers[PRIORITY_HEADER] ?? '')
  return given === 'user' || given === 'background' ? given : 'mission'
}

/**
 * readJson returns undefined for a body that is not JSON or too long; the schema then reports it.
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    return undefined
  }
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** The message of an error: in English for OpenAI's clients, in both languages for the hub. */
export function inWords(words: Words): Pick<ProtocolError, 'message' | 'words'> {
  return { message: words.en, words }
}

/** Sends an error in the form of OpenAI's API. */
export function refuse(response: ServerResponse, status: number, error: ProtocolError): void {
  const type = status < 500 ? 'invalid_request_error' : 'server_error'
  sendJson(response, status, { error: { type, param: null, ...error } })
}
