import { z } from 'zod'
import { parseRetryAfter } from '../../shared/backoff.ts'
import { VERSION } from '../../shared/version.ts'
import { type FeedError, feedError, isFeedError, type PollInput, type Rejected } from './feed.ts'

const TIMEOUT_MS = 30_000
const MAX_BYTES = 16 * 1024 * 1024
const MAX_REDIRECTS = 5

/** Validators for a conditional request (RFC 9110 §13), as a state keeps them. */
export const Validators = z.object({
  etag: z.string().optional(),
  last_modified: z.string().optional(),
})
export type Validators = z.infer<typeof Validators>

type Options = Pick<PollInput, 'fetch' | 'now' | 'contact' | 'signal'> & {
  validators?: Validators | undefined
  /** The Accept header. */
  accept?: string
  headers?: Record<string, string>
  timeout_ms?: number
  max_bytes?: number
  /** 204 No Content is an answer too: an empty text, or null as JSON. */
  may_be_empty?: boolean
  /** Whether a redirect may lead to an address; by default to any. */
  mayFollow?: ((url: URL) => boolean) | undefined
}

type Unchanged = { max_age_seconds: number; not_modified: true }
type Answered = {
  max_age_seconds: number
  not_modified: false
  validators: Validators
  no_content?: true
}

export type Fetched = Unchanged | (Answered & { json: unknown })
type FetchedBytes = Unchanged | (Answered & { bytes: Uint8Array; content_type: string | null })
type FetchedText = Unchanged | (Answered & { text: string })

/** Fetches JSON with a User-Agent and conditional headers. Throws a FeedError. */
export async function fetchFeed(url: string, options: Options): Promise<Fetched> {
  const fetched = await fetchText(url, { accept: 'application/json', ...options })
  if (fetched.not_modified) return fetched
  const { text, ...answered } = fetched
  return { ...answered, json: answered.no_content ? null : parseJson(text) }
}

/** Fetches text, decoded by its byte order mark or declared encoding. Throws a FeedError. */
export async function fetchText(url: string, options: Options): Promise<FetchedText> {
  const fetched = await fetchBytes(url, options)
  if (fetched.not_modified) return fetched
  const { bytes, content_type, ...answered } = fetched
  return { ...answered, text: decodeText(bytes, content_type) }
}

/** Fetches an answer as it is. Throws a FeedError. */
export async function fetchBytes(url: string, options: Options): Promise<FetchedBytes> {
  // Destructured, because Workers refuse a `fetch` that is called as a method.
  const { fetch, validators = {}, timeout_ms = TIMEOUT_MS, max_bytes = MAX_BYTES } = options
  const timeout = AbortSignal.timeout(timeout_ms)
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout
  const headers = new Headers({
    accept: options.accept ?? '*/*',
    // All three runtimes decompress it, but workerd does not request it by default.
    'accept-encoding': 'gzip',
    'user-agent': agent(options.contact),
    ...options.headers,
  })
  if (validators.etag) headers.set('if-none-match', validators.etag)
  if (validators.last_modified) headers.set('if-modified-since', validators.last_modified)

  const { response, bytes } = await request()
  const max_age_seconds = maxAge(response.headers.get('cache-control'))
  if (response.status === 304) return { not_modified: true, max_age_seconds }
  return {
    not_modified: false,
    ...(response.status === 204 ? { no_content: true as const } : {}),
    max_age_seconds,
    bytes,
    content_type: response.headers.get('content-type'),
    validators: {
      etag: response.headers.get('etag') ?? undefined,
      last_modified: response.headers.get('last-modified') ?? undefined,
    },
  }

  async function request(): Promise<{ response: Response; bytes: Uint8Array }> {
    try {
      const response = await follow()
      const is_expected = response.status === 204 && options.may_be_empty
      if (response.status !== 304 && !is_expected) refuseFailure(response, options.now)
      return { response, bytes: await readBytes(response, max_bytes) }
    } catch (cause) {
      if (isFeedError(cause)) throw cause
      const why = timeout.aborted ? `gave no answer within ${timeout_ms} ms` : 'cannot be reached'
      throw feedError('unreachable', `${new URL(url).host} ${why}`, { cause })
    }
  }

  async function follow(): Promise<Response> {
    const { mayFollow } = options
    if (!mayFollow) return await fetch(url, { headers, signal })
    let at = new URL(url)
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      const response = await fetch(at.href, { headers, signal, redirect: 'manual' })
      const location = response.headers.get('location')
      if (![301, 302, 303, 307, 308].includes(response.status) || !location) return response
      response.body?.cancel().catch(() => {})
      const next = URL.canParse(location, at.href) ? new URL(location, at.href) : null
      if (!next || !mayFollow(next)) {
        const where = next ? next.host : 'no address'
        throw feedError('http_status', `redirects to ${where}, which it may not`)
      }
      at = next
    }
    throw feedError('http_status', `redirects more than ${MAX_REDIRECTS} times`)
  }
}

/** The answer of each of several addresses: its text, null if it is unchanged, or why there is none. */
export type Answers = {
  answers: { url: string; text: string | null }[]
  failed: Rejected[]
  validators: Record<string, Validators>
  /** The longest time for which one of them may be cached. */
  max_age_seconds: number
  not_modified: boolean
}

/**
 * Fetches several addresses one after the other, each with its validators. An address that fails does
 * not affect the others: it is listed in `failed` under `names`, which must hold no secret. Throws the
 * FeedError of the last one if all fail; a 429 stops the round.
 */
export async function fetchEach(
  urls: readonly string[],
  options: Omit<Options, 'validators'> & {
    validators?: Record<string, Validators> | undefined
    /** How an address is named in errors; its host and path by default. */
    name?: (url: string) => string
  },
): Promise<Answers> {
  const { validators = {}, name = hostAndPath, ...rest } = options
  const answers: Answers['answers'] = []
  const failed: Rejected[] = []
  const next: Record<string, Validators> = {}
  let max_age_seconds = 0
  let last: FeedError | undefined
  for (const url of urls) {
    try {
      const fetched = await fetchText(url, { ...rest, validators: validators[url] })
      max_age_seconds = Math.max(max_age_seconds, fetched.max_age_seconds)
      next[url] = fetched.not_modified ? (validators[url] ?? {}) : fetched.validators
      answers.push({ url, text: fetched.not_modified ? null : fetched.text })
    } catch (error) {
      if (!isFeedError(error)) throw error
      last = error
      failed.push({ item: name(url), reason: error.message })
      if (error.code === 'rate_limited') break
    }
  }
  if (last && (answers.length === 0 || last.code === 'rate_limited')) throw last
  const not_modified = failed.length === 0 && answers.every(({ text }) => text === null)
  return { answers, failed, validators: next, max_age_seconds, not_modified }
}

/** The addresses of a setting, separated by commas, spaces or lines. */
export function addressesIn(setting: string | undefined): string[] {
  const given = (setting ?? '').split(/[\s,]+/).filter((url) => url !== '')
  return [...new Set(given)]
}

/** An address without its query, which may hold a key. */
export function hostAndPath(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

function refuseFailure(response: Response, now: Date): void {
  if (response.status === 200) return
  // An unread body would keep its connection open.
  response.body?.cancel().catch(() => {})
  const retry_after_seconds = parseRetryAfter(response.headers.get('retry-after'), now)
  const code = response.status === 429 ? 'rate_limited' : 'http_status'
  const { status } = response
  throw feedError(code, `answered HTTP ${status}`, { status, retry_after_seconds })
}

async function readBytes(response: Response, max_bytes: number): Promise<Uint8Array> {
  if (!response.body) return new Uint8Array()
  const parts: Uint8Array[] = []
  let size = 0
  const reader = response.body.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.byteLength
    if (size > max_bytes) {
      reader.cancel().catch(() => {})
      throw feedError('too_large', `answered more than ${max_bytes} bytes`)
    }
    parts.push(part.value)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.byteLength
  }
  return bytes
}

/**
 * Decodes an answer: by its byte order mark, else the charset of its Content-Type, else that of its XML
 * declaration, else UTF-8. A byte that the encoding does not have becomes U+FFFD. A byte order mark is
 * left out, also one that was encoded twice.
 */
export function decodeText(bytes: Uint8Array, content_type: string | null = null): string {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 100))
  const declared =
    /charset=["']?([\w.:-]+)/i.exec(content_type ?? '')?.[1] ??
    /^[^<]{0,3}<\?xml[^>]{0,60}encoding=["']([\w.:-]+)/i.exec(start)?.[1]
  const marked = /^\xff\xfe/.test(start) ? 'utf-16le' : /^\xfe\xff/.test(start) ? 'utf-16be' : null
  const encoding = start.startsWith('\xef\xbb\xbf') ? 'utf-8' : (marked ?? declared ?? 'utf-8')
  const text = decoderOf(encoding).decode(bytes)
  return text.replace(/^(\ufeff|\u00ef\u00bb\u00bf)+/, '')
}

function decoderOf(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding)
  } catch {
    return new TextDecoder()
  }
}

/** Parses JSON. Throws a FeedError that says what came instead. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    // Some services answer errors or maintenance with an HTML page and status 200.
    const what = /^\s*</.test(text) ? 'a web page' : 'something that is not JSON'
    throw feedError('not_json', `answered with ${what}`, { cause })
  }
}

/** The pause that an answer asks for by its max-age, where that is longer than the interval; an hour at most. */
export function pauseFor(
  max_age_seconds: number,
  interval_seconds: number,
  longest_seconds: number = 60 * 60,
): { next_poll_seconds?: number } {
  if (max_age_seconds <= interval_seconds) return {}
  return { next_poll_seconds: Math.min(max_age_seconds, longest_seconds) }
}

function maxAge(header: string | null): number {
  const found = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(header ?? '')
  return found ? Number(found[1]) : 0
}

function agent(contact: string | undefined): string {
  return `Watchpost/${VERSION} (${contact ? `+${contact}` : 'self-hosted'})`
}
