import { createParser } from 'eventsource-parser'
import { Agent, type Dispatcher, request } from 'undici'
import { z } from 'zod'
import { bilingual, joined, verbatim, type Words } from '../i18n/words.ts'
import { cancelled, ModelError } from './error.ts'
import { modelText } from './model.text.ts'
import {
  Health,
  type Message,
  PRIORITY_HEADER,
  type Priority,
  ProtocolError,
  Usage,
} from './protocol.ts'
import type { Schema } from './schema.ts'

const say = bilingual(modelText)

/** Our own process sends a keep-alive every ten seconds; if it is silent this long, it hangs. */
const SILENCE_MS = 60_000

/** Where a model answers, and how to talk to it. */
export type Wire = ReturnType<typeof createWire>

type WireOptions =
  | { kind: 'socket'; path: string }
  | { kind: 'endpoint'; url: URL; model: string; api_key: string | undefined; timeout_ms: number }

type WireCall = {
  messages: Message[]
  name: string
  schema: Schema
  max_tokens: number
  temperature: number
  seed: number | undefined
  priority: Priority
  signal: AbortSignal | undefined
  on_token: ((text: string) => void) | undefined
}

type WireAnswer = { text: string; is_cut: boolean; usage: Usage | undefined }

const Completion = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullable() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage: Usage.nullish(),
})
const Chunk = z.union([
  ProtocolError,
  z.object({
    choices: z.array(
      z.object({
        delta: z.object({ content: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    ),
    usage: Usage.nullish(),
  }),
])
const Counts = z.object({ counts: z.array(z.int()) })

/** createWire speaks OpenAI's chat completions, to the model process or to any endpoint. */
export function createWire(options: WireOptions) {
  const isOurs = options.kind === 'socket'
  const silence_ms = isOurs ? SILENCE_MS : options.timeout_ms
  const agent = new Agent({
    ...(isOurs ? { connect: { socketPath: options.path } } : {}),
    connectTimeout: 10_000,
    headersTimeout: silence_ms,
    bodyTimeout: silence_ms,
  })
  const base = isOurs ? new URL('http://model/v1/') : options.url
  const authorization: Record<string, string> =
    !isOurs && options.api_key ? { authorization: `Bearer ${options.api_key}` } : {}

  // Some servers repeat the key that they refuse.
  const withoutKey = (text: string) =>
    !isOurs && options.api_key ? text.replaceAll(options.api_key, '…') : text

  async function send(
    url: URL,
    signal: AbortSignal | undefined,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Dispatcher.ResponseData> {
    const response = await request(url, {
      dispatcher: agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...authorization, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
    if (response.statusCode === 200) return response
    throw refusal(response, withoutKey(await response.body.text()), isOurs)
  }

  async function chat(call: WireCall): Promise<WireAnswer> {
    const { messages, name, schema, max_tokens, temperature, seed, priority, on_token } = call
    // A stream of ours also shows that a long prompt is still being read.
    const stream = isOurs || on_token !== undefined
    const body = {
      model: isOurs ? 'local' : options.model,
      messages,
      max_tokens,
      temperature,
      seed,
      response_format: { type: 'json_schema', json_schema: { name, schema, strict: true } },
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    }
    return translated(call.signal, isOurs, async () => {
      const url = new URL('chat/completions', base)
      const response = await send(url, call.signal, body, { [PRIORITY_HEADER]: priority })
      const isStream = String(response.headers['content-type']).startsWith('text/event-stream')
      return isStream ? readStream(response, isOurs, on_token) : readWhole(response)
    })
  }

  /** Whether the model answers at all: our own process with its health, an endpoint with null. */
  async function health(signal: AbortSignal): Promise<Health | null> {
    return translated(signal, isOurs, async () => {
      if (isOurs) {
        const response = await send(new URL('/health', base), signal)
        return Health.parse(await response.body.json())
      }
      const response = await send(new URL('models', base), signal)
      await response.body.dump()
      return null
    })
  }

  /** What an endpoint answers at another of its routes; undefined for anything but JSON. */
  async function look(path: string, signal: AbortSignal, body?: object): Promise<unknown> {
    // `v1/models` stands where the endpoint's routes begin, the others beside them.
    const url = path.startsWith('v1/')
      ? new URL(path.slice(3), base)
      : new URL(path, base.href.replace(/v1\/$/, ''))
    try {
      return await (await send(url, signal, body)).body.json()
    } catch {
      return undefined
    }
  }

  /** How many tokens texts or a whole prompt have; only our own process can tell. */
  async function count(what: { texts: string[] } | { messages: Message[] }): Promise<number[]> {
    return translated(undefined, isOurs, async () => {
      const response = await send(new URL('/tokenize', base), undefined, what)
      return Counts.parse(await response.body.json()).counts
    })
  }

  async function reload(): Promise<void> {
    await agent.request({ origin: base.origin, path: '/reload', method: 'POST', body: '{}' })
  }

  return { chat, health, look, count, reload, close: () => agent.destroy() }
}

async function readWhole(response: Dispatcher.ResponseData): Promise<WireAnswer> {
  const { choices, usage } = Completion.parse(await response.body.json())
  const text = choices[0]?.message.content ?? ''
  return { text, is_cut: choices[0]?.finish_reason === 'length', usage: usage ?? undefined }
}

async function readStream(
  response: Dispatcher.ResponseData,
  isOurs: boolean,
  on_token: ((text: string) => void) | undefined,
): Promise<WireAnswer> {
  const answer: WireAnswer = { text: '', is_cut: false, usage: undefined }
  let isDone = false
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') {
        isDone = true
        return
      }
      const chunk = Chunk.parse(JSON.parse(data))
      if ('error' in chunk) throw new ModelError('unreachable', wordsOf(chunk.error, isOurs))
      if (chunk.usage) answer.usage = chunk.usage
      const [choice] = chunk.choices
      if (choice?.finish_reason) isDone = true
      if (choice?.finish_reason === 'length') answer.is_cut = true
      const text = choice?.delta.content
      if (!text) return
      answer.text += text
      on_token?.(text)
    },
  })
  const decoder = new TextDecoder()
  for await (const bytes of response.body) parser.feed(decoder.decode(bytes, { stream: true }))
  if (!isDone) throw new ModelError('unreachable', say.broke_off)
  return answer
}

/** The error for a server's refusal. It contains the server's message, but never the key. */
function refusal(response: Dispatcher.ResponseData, body: string, isOurs: boolean): ModelError {
  const status = response.statusCode
  const read = ProtocolError.safeParse(parsed(body))
  const given = read.success ? read.data.error : undefined
  const words = given ? wordsOf(given, isOurs) : say.answered(status)
  if (given?.code === 'no_model') return new ModelError('no_model', words)
  if (isOurs && status === 503) return new ModelError('starting', words)
  const excess_tokens = given && excessOf(given)
  if (excess_tokens !== undefined) {
    const shorten = joined([words, say.shorten(excess_tokens)])
    return new ModelError('too_long', shorten, { excess_tokens })
  }
  if (given && /context.?(length|size|window)|too long/i.test(`${given.code} ${given.message}`)) {
    return new ModelError('too_long', words)
  }
  if (isOurs && status === 500) return new ModelError('crashed', words)
  if (status === 401 || status === 403) {
    return new ModelError('unreachable', say.wrong_key, { is_retryable: false })
  }
  if (status === 404) {
    const unknown = say.unknown(words)
    return new ModelError('no_model', unknown)
  }
  const is_retryable = status === 408 || status === 429 || status >= 500
  const refused = say.refused(status, words)
  return new ModelError('unreachable', refused, { is_retryable })
}

/** By how much a prompt was too long, in the form of our own process, llama-server or vLLM. */
function excessOf(said: ProtocolError): number | undefined {
  const { prompt_tokens, max_tokens = 0, context_size } = said
  if (prompt_tokens !== undefined && context_size !== undefined) {
    return prompt_tokens + max_tokens - context_size
  }
  if (said.n_prompt_tokens !== undefined && said.n_ctx !== undefined) {
    return said.n_prompt_tokens - said.n_ctx + 1
  }
  const words = /context length is (\d+) tokens.*?requested (\d+)/is.exec(said.message)
  return words ? Number(words[2]) - Number(words[1]) : undefined
}

/** Translates errors below HTTP. */
async function translated<T>(
  signal: AbortSignal | undefined,
  isOurs: boolean,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ModelError) throw error
    if (signal?.aborted) throw cancelled(error)
    const code = codeOf(error)
    if (error instanceof z.ZodError || error instanceof SyntaxError) {
      throw new ModelError('unreachable', say.no_protocol, { is_retryable: false, cause: error })
    }
    if (isOurs && ['ECONNREFUSED', 'ENOENT'].includes(code)) {
      throw new ModelError('unreachable', say.not_running, { cause: error })
    }
    if (isOurs && ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(code)) {
      throw new ModelError('crashed', say.ended_during, { cause: error })
    }
    const { silent, away } = isOurs ? say.process : say.endpoint
    const words = code.includes('TIMEOUT') ? silent : away(code)
    throw new ModelError('unreachable', words, { cause: error })
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.cause === undefined ? error.name : codeOf(error.cause)
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/**
 * The message of an error: from our own process in both languages, from others as they wrote it.
 */
function wordsOf({ message, words }: ProtocolError, isOurs: boolean): Words {
  if (isOurs && words) return words
  const line = message.replaceAll(/\s+/g, ' ').trim().slice(0, 300)
  return verbatim(/[.!?]$/.test(line) ? line : `${line}.`)
}
