import { parseRetryAfter } from '../../shared/backoff.ts'
import type { EventType, NormalisedEvent } from '../../shared/event.ts'
import { VERSION } from '../../shared/version.ts'

const TIMEOUT_MS = 30_000
const MAX_BYTES = 16 * 1024 * 1024

type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined }

/** The state that a feed keeps between polls, stored as JSON; `{}` at first. */
export type FeedState = { [key: string]: Json | undefined }

/** An item that could not be parsed. It is counted and logged; the other items are not affected. */
export type Rejected = { reason: string; id?: string }

export type PollInput = {
  state: FeedState
  now: Date
  fetch: typeof fetch
  /** How to reach the operator, a URL or an email address; sent in the User-Agent. */
  contact?: string | undefined
  signal?: AbortSignal | undefined
}

export type FeedResult = {
  events: NormalisedEvent[]
  /** The state to store; the same object as given when it is unchanged. */
  state: FeedState
  /** Every answer was 304 Not Modified. */
  not_modified: boolean
  rejected: Rejected[]
  /** The upstream asks for a longer pause than the interval. */
  next_poll_seconds?: number
}

/** An upstream. `poll` throws a FeedError on failure; the state is then kept. */
export type Feed = {
  source: string
  title: string
  attribution: string
  types: EventType[]
  /** The highest severity that a type can get, where that is below 100. */
  ceilings?: Partial<Record<EventType, number>>
  interval_seconds: number
  poll(input: PollInput): Promise<FeedResult>
}

type FeedErrorCode = 'unreachable' | 'http_status' | 'not_json' | 'too_large' | 'rate_limited'

export type FeedError = Error & { code: FeedErrorCode; retry_after_seconds?: number | undefined }

export function feedError(
  code: FeedErrorCode,
  message: string,
  extra: { retry_after_seconds?: number | undefined; cause?: unknown } = {},
): FeedError {
  const { retry_after_seconds, cause } = extra
  const error = new Error(message, { cause })
  return Object.assign(error, { name: 'FeedError', code, retry_after_seconds })
}

export function isFeedError(error: unknown): error is FeedError {
  return error instanceof Error && error.name === 'FeedError'
}

/** Validators for a conditional request (RFC 9110 §13). */
export type Validators = { etag?: string | undefined; last_modified?: string | undefined }

export type Fetched = { max_age_seconds: number } & (
  | { not_modified: true }
  | { not_modified: false; json: unknown; validators: Validators }
)

/** Fetches JSON with a User-Agent and conditional headers. Throws a FeedError. */
export async function fetchFeed(
  url: string,
  input: Pick<PollInput, 'fetch' | 'now' | 'contact' | 'signal'> & {
    validators?: Validators
    timeout_ms?: number
    max_bytes?: number
  },
): Promise<Fetched> {
  // Destructured, because Workers refuse a `fetch` that is called as a method.
  const { fetch, validators = {}, timeout_ms = TIMEOUT_MS, max_bytes = MAX_BYTES } = input
  const timeout = AbortSignal.timeout(timeout_ms)
  const signal = input.signal ? AbortSignal.any([input.signal, timeout]) : timeout
  const headers = new Headers({
    accept: 'application/json',
    // All three runtimes decompress it, but workerd does not request it by default.
    'accept-encoding': 'gzip',
    'user-agent': agent(input.contact),
  })
  if (validators.etag) headers.set('if-none-match', validators.etag)
  if (validators.last_modified) headers.set('if-modified-since', validators.last_modified)

  const { response, text } = await request()
  const max_age_seconds = maxAge(response.headers.get('cache-control'))
  if (response.status === 304) return { not_modified: true, max_age_seconds }
  return {
    not_modified: false,
    max_age_seconds,
    json: parse(text),
    validators: {
      etag: response.headers.get('etag') ?? undefined,
      last_modified: response.headers.get('last-modified') ?? undefined,
    },
  }

  async function request(): Promise<{ response: Response; text: string }> {
    try {
      const response = await fetch(url, { headers, signal })
      if (response.status !== 304) refuseFailure(response, input.now)
      return { response, text: await readText(response, max_bytes) }
    } catch (cause) {
      if (isFeedError(cause)) throw cause
      const why = timeout.aborted ? `gave no answer within ${timeout_ms} ms` : 'cannot be reached'
      throw feedError('unreachable', `${new URL(url).host} ${why}`, { cause })
    }
  }
}

function refuseFailure(response: Response, now: Date): void {
  if (response.status === 200) return
  // An unread body would keep its connection open.
  response.body?.cancel().catch(() => {})
  const retry_after_seconds = parseRetryAfter(response.headers.get('retry-after'), now)
  const code = response.status === 429 ? 'rate_limited' : 'http_status'
  throw feedError(code, `answered HTTP ${response.status}`, { retry_after_seconds })
}

async function readText(response: Response, max_bytes: number): Promise<string> {
  if (!response.body) return ''
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  const reader = response.body.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.byteLength
    if (size > max_bytes) {
      reader.cancel().catch(() => {})
      throw feedError('too_large', `answered more than ${max_bytes} bytes`)
    }
    text += decoder.decode(part.value, { stream: true })
  }
  return text + decoder.decode()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    // Some services answer errors or maintenance with an HTML page and status 200.
    const what = /^\s*</.test(text) ? 'a web page' : 'something that is not JSON'
    throw feedError('not_json', `answered with ${what}`, { cause })
  }
}

function maxAge(header: string | null): number {
  const found = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(header ?? '')
  return found ? Number(found[1]) : 0
}

function agent(contact: string | undefined): string {
  return `Watchpost/${VERSION} (${contact ? `+${contact}` : 'self-hosted'})`
}
