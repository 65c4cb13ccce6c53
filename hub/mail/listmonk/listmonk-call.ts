import { Agent, type Dispatcher, request } from 'undici'
import { z } from 'zod'
import { bilingual, joined, verbatim, type Words } from '../../i18n/words.ts'
import { serverText } from '../smtp/servers.text.ts'

const { listmonk: say } = bilingual(serverText)

/** The address of a listmonk, and the API user and token with which the hub calls it. */
export const ListmonkSettings = z.object({
  url: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, '')),
  user: z.string().min(1).max(200),
  token: z.string().min(1).max(500),
})
export type ListmonkSettings = z.infer<typeof ListmonkSettings>

/**
 * What a failed call means. `refused`: listmonk refused it, nothing happened. `not_sent`: no
 * connection was made, nothing happened. `unclear`: the request may have arrived and taken effect.
 */
export type ListmonkFailure = 'refused' | 'not_sent' | 'unclear'

/** A failed call to listmonk; `message` has listmonk's answer or says what to check. */
export class ListmonkError extends Error {
  readonly kind: ListmonkFailure
  /** The HTTP status of a refusal, otherwise null. */
  readonly status: number | null
  /** The message in both languages. */
  readonly words: Words

  constructor(
    kind: ListmonkFailure,
    call: string,
    message: Words,
    options: { status?: number; cause?: unknown } = {},
  ) {
    const words = joined([verbatim(`${call}:`), message])
    super(words.en, { cause: options.cause })
    this.words = words
    this.kind = kind
    this.status = options.status ?? null
  }

  /** The same failure, with whom the call was about in front. */
  about(whom: string): ListmonkError {
    const { kind, words, status } = this
    return new ListmonkError(kind, whom, words, { cause: this, ...(status ? { status } : {}) })
  }
}

type Query = Record<string, string | number | boolean | (string | number)[] | undefined>
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One call: `schema` parses the `data` of the answer. */
export type Call = <S extends z.ZodType>(
  method: Method,
  path: string,
  schema: S,
  options?: { query?: Query; body?: unknown; bare?: boolean },
) => Promise<z.output<S>>

const CONNECT_TIMEOUT_MS = 5_000
const ANSWER_TIMEOUT_MS = 30_000
const MAX_ANSWER_BYTES = 50_000_000

/** Errors before the first byte of a request can be sent: name, route, refused connection, TLS. */
const NOT_CONNECTED =
  /^(ENOTFOUND|EAI_AGAIN|EAI_FAIL|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_.*|ERR_SSL_.*|CERT_.*|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.*|EPROTO)$/

export type CallOptions = {
  dispatcher?: Dispatcher
  signal?: AbortSignal
  answer_timeout_ms?: number
}

/** Calls to one listmonk, without cookies and redirects; connections are reused. */
export function caller(settings: ListmonkSettings, options: CallOptions = {}): Call {
  const { answer_timeout_ms = ANSWER_TIMEOUT_MS } = options
  const dispatcher =
    options.dispatcher ?? new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, connections: 4 })
  const authorization = `token ${settings.user}:${settings.token}`
  return async (method, path, schema, { query = {}, body, bare = false } = {}) => {
    const call = `${method} ${path}`
    let status: number
    let text: string
    try {
      const response = await request(`${settings.url}/api${path}${search(query)}`, {
        method,
        dispatcher,
        signal: options.signal ?? null,
        headersTimeout: answer_timeout_ms,
        bodyTimeout: answer_timeout_ms,
        headers: {
          authorization,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      })
      status = response.statusCode
      text = await limited(response.body)
    } catch (cause) {
      throw lost(call, method, cause)
    }
    const answer = parse(text)
    if (status < 200 || status > 299) throw refusal(call, status, answer)
    const envelope = bare ? answer : z.object({ data: z.unknown() }).safeParse(answer).data?.data
    const read = schema.safeParse(envelope)
    if (read.success) return read.data
    const [issue] = read.error.issues
    const what = say.strange_answer(`${issue?.path.join('.') || 'data'}: ${issue?.message}`)
    throw new ListmonkError(method === 'GET' ? 'refused' : 'unclear', call, what, { status })
  }
}

function search(query: Query): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) parameters.append(name, String(one))
    }
  }
  return parameters.size ? `?${parameters}` : ''
}

async function limited(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_ANSWER_BYTES) throw new Error(`The answer is longer than ${MAX_ANSWER_BYTES}`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function lost(call: string, method: Method, cause: unknown): ListmonkError {
  const code = codeOf(cause)
  if (NOT_CONNECTED.test(code)) {
    return new ListmonkError('not_sent', call, say.no_connection(code), { cause })
  }
  const reason = code || (cause instanceof Error ? cause.message : String(cause))
  const kind = method === 'GET' ? 'not_sent' : 'unclear'
  return new ListmonkError(kind, call, say.no_answer(reason), { cause })
}

/** The code of an error; if several addresses failed, that of the first. */
function codeOf(error: unknown): string {
  const { code, errors } = z
    .object({ code: z.string().catch(''), errors: z.array(z.unknown()).catch([]) })
    .catch({ code: '', errors: [] })
    .parse(error)
  return code || (errors.length ? codeOf(errors[0]) : '')
}

/**
 * A 4xx is listmonk's own refusal; a 5xx may come after the request took effect, or from a proxy.
 */
function refusal(call: string, status: number, answer: unknown): ListmonkError {
  const message = z.object({ message: z.string() }).safeParse(answer).data?.message
  const kind = status >= 500 && !call.startsWith('GET ') ? 'unclear' : 'refused'
  const isElsewhere = status >= 300 && status < 400
  const hint = isElsewhere ? say.redirects : message ? verbatim(message) : say.without_reason
  const words = say.answered(status, hint)
  return new ListmonkError(kind, call, words, { status })
}
