import type { z } from 'zod'
import { type EventType, NormalisedEvent } from '../../shared/schemas/event.ts'
// The reasons are for people, in every process.
import '../../shared/words/issue-words.ts'

type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined }

/** The state that a feed keeps between polls, stored as JSON; `{}` at first. */
export type FeedState = { [key: string]: Json | undefined }

/**
 * An item that did not become an event, and why: its id, or `#<position in the answer>`. It is counted
 * and logged; the other items are not affected.
 */
export type Rejected = { item: string; reason: string }

export type Normalised = { event: NormalisedEvent } | { rejected: Rejected }

/** The content of an answer: every item is either an event, rejected with a reason, or no event by rule. */
export type Content = { events: NormalisedEvent[]; rejected: Rejected[] }

export type PollInput = {
  state: FeedState
  now: Date
  /** When the last poll succeeded; null at first. After an outage a feed may ask for what it missed. */
  last_success_at?: Date | null
  fetch: typeof fetch
  /** The values of the feed's `settings` that are set. */
  settings?: Record<string, string>
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

/** An environment variable of a feed. */
export type Setting = {
  /** What a value must be; the message of an invalid one must not contain it. */
  schema: z.ZodType<string, string>
  /** Without it the feed is disabled. */
  is_required: boolean
}

/** One of the connections of a stream. */
export type Connection = {
  /** How it is named in logs and errors, without secrets. */
  name: string
  /** wss:, ws:, tcp: (lines) or udp: (datagrams of lines, received at this address). */
  url: string
  /** The first thing to send. */
  hello?: string
}

/** What a reader needs to know of a frame: a WebSocket message, or a line. */
type FrameInput = {
  now: Date
  /** How to name what is rejected, if it has no id. */
  item: string
  /** Who sent it, where several send to one connection. */
  from: string
}

/** How a feed holds connections instead of asking again and again. */
export type Stream = {
  connections(settings: Record<string, string>): Connection[]
  /**
   * Makes the reader of one connection. It throws a FeedError when a frame says that the connection is of no
   * use, such as a wrong key.
   */
  createReader(): (frame: string, input: FrameInput) => Content
  /** A connection on which nothing readable came for so long is opened anew. */
  silence_seconds: number
  /** The upstream may have nothing to say for long: then a pong shows that the connection is sound. */
  is_often_quiet?: boolean
}

/** West, south, east and north in degrees; one across the antimeridian is two. */
type Box = [west: number, south: number, east: number, north: number]

/** An upstream that only streams. It needs a process that stays, so an edge platform cannot use it. */
export type StreamedFeed = Omit<Feed, 'poll'> & { stream: Stream }

export type AnyFeed = Feed | StreamedFeed

/** An upstream. `poll` throws a FeedError on failure; the state is then kept. */
export type Feed = {
  source: string
  title: string
  attribution: string
  types: EventType[]
  /** The highest severity that a type can get, where that is below 100. */
  ceilings?: Partial<Record<EventType, number>>
  interval_seconds: number
  /** The part of the world that it watches, with its settings; null or absent: all of it. */
  region?: (settings: Record<string, string>) => Box[] | null
  /** Polled only if FEEDS names it. */
  is_optional?: boolean
  /** The environment variables that it reads, by name. */
  settings?: Record<string, Setting>
  poll(input: PollInput): Promise<FeedResult>
  /** Where the upstream also pushes: events come sooner, and polling finds what was missed. */
  stream?: Stream
  /**
   * Normalises one recorded answer without a network: what `poll` would make of it as its first. Throws a
   * FeedError if the text as a whole is not an answer of this upstream.
   */
  normalise?(text: string, input: Pick<PollInput, 'now' | 'settings'>): Content | Promise<Content>
}

type FeedErrorCode =
  | 'unreachable'
  | 'http_status'
  | 'not_json'
  | 'unreadable'
  | 'too_large'
  | 'rate_limited'

export type FeedError = Error & {
  code: FeedErrorCode
  status?: number | undefined
  retry_after_seconds?: number | undefined
}

export function feedError(
  code: FeedErrorCode,
  message: string,
  extra: { status?: number; retry_after_seconds?: number | undefined; cause?: unknown } = {},
): FeedError {
  const { status, retry_after_seconds, cause } = extra
  const error = new Error(message, { cause })
  return Object.assign(error, { name: 'FeedError', code, status, retry_after_seconds })
}

export function isFeedError(error: unknown): error is FeedError {
  return error instanceof Error && error.name === 'FeedError'
}

type Optional = 'subject' | 'status' | 'url' | 'geometry' | 'ends_at' | 'revised_at' | 'aliases'
/** An event before it is checked; what is left out is null, `active` or empty. */
export type Candidate = Omit<NormalisedEvent, Optional> & Partial<Pick<NormalisedEvent, Optional>>

/** Checks a candidate. A title that is too long is cut; an address that is not of the web becomes null. */
export function toEvent(candidate: Candidate, item: string): Normalised {
  const event = NormalisedEvent.safeParse({
    subject: null,
    status: 'active',
    geometry: null,
    ends_at: null,
    revised_at: null,
    aliases: [],
    ...candidate,
    title: candidate.title.replace(/\s+/g, ' ').trim().slice(0, 500),
    url: webAddress(candidate.url),
  })
  return event.success ? { event: event.data } : reject(item, event.error)
}

/** An item is rejected for the first problem of a schema. */
export function reject(item: string, problem: z.ZodError | string): { rejected: Rejected } {
  const reason = typeof problem === 'string' ? problem : sentence(problem)
  return { rejected: { item: item.slice(0, 255), reason } }
}

function sentence({ issues: [issue] }: z.ZodError): string {
  return `${issue?.path.join('.') || 'item'}: ${issue?.message ?? 'unreadable'}`
}

/**
 * Normalises items one by one. `normalise` gets each item with `#<position>` to name it by, and returns
 * null for what is no event by the rule of the feed; an item for which it throws is rejected.
 */
export function normaliseEach<T>(
  items: readonly T[],
  normalise: (item: T, position: string) => Normalised | Normalised[] | null,
): Content {
  const content: Content = { events: [], rejected: [] }
  for (const [index, item] of items.entries()) {
    const position = `#${index + 1}`
    for (const result of attempt(item, position)) {
      if ('event' in result) content.events.push(result.event)
      else content.rejected.push(result.rejected)
    }
  }
  return content

  function attempt(item: T, position: string): Normalised[] {
    try {
      const result = normalise(item, position)
      return result === null ? [] : [result].flat()
    } catch (error) {
      return [reject(position, error instanceof Error ? error.message : String(error))]
    }
  }
}

/** An address as given if it is http or https, else null. */
function webAddress(url: string | null | undefined): string | null {
  return url && /^https?:\/\//.test(url) && URL.canParse(url) ? url : null
}

/** A time in ms since 1970 as ISO 8601 in UTC; text that no schema accepts if it is out of range. */
export function toInstant(ms: number): string {
  const time = new Date(ms)
  return Number.isNaN(time.getTime()) ? String(ms) : time.toISOString()
}

/** A severity: rounded half up, within 0–100; `floor` for what is not a number. */
export function toSeverity(value: number, floor = 0): number {
  if (Number.isNaN(value)) return floor
  return Math.min(100, Math.max(0, Math.round(value)))
}

/** The severity of an earthquake by its magnitude: (mag − 1.5) × 17; 0 without one. */
export function severityOfMagnitude(magnitude: number | null | undefined): number {
  return toSeverity(((magnitude ?? 0) - 1.5) * 17)
}

/**
 * The severity of a tropical cyclone or storm by its sustained wind in knots, in steps of the
 * Saffir–Simpson scale; 30 without one.
 */
export function severityOfWind(knots: number | null | undefined): number {
  const steps = [34, 64, 83, 96, 113, 137]
  const severities = [30, 50, 60, 70, 80, 90, 100]
  const step = steps.filter((limit) => (knots ?? 0) >= limit).length
  return severities[step] ?? 30
}
