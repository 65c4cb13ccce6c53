import { doublingDelay, jittered } from '../../shared/backoff.ts'
import { pause } from '../../shared/pause.ts'
import type { NormalisedEvent } from '../../shared/schemas/event.ts'
import { type AnyFeed, type Connection, isFeedError, type Rejected, type Stream } from './feed.ts'

/**
 * Opens a connection and calls `onFrame` with each message or line, until it ends. It throws when the
 * connection breaks, and returns when the other side ends it or `signal` aborts.
 */
export type Open = (
  connection: Connection,
  hooks: {
    signal: AbortSignal
    onFrame: (frame: string, from: string) => void
    /** A sign of life without data: a pong. */
    onAlive: () => void
  },
) => Promise<void>

export type StreamBatch = {
  events: NormalisedEvent[]
  /** The first few of those that were rejected. */
  rejected: Rejected[]
  rejected_count: number
  /** Events that were given up because they came faster than they could be stored. */
  dropped: number
  /** Whether something readable (or of a quiet upstream a pong) came since the last batch. */
  is_alive: boolean
  /** Why a connection was opened anew, or could not be opened. */
  problems: Problem[]
}

type Problem = {
  connection: string
  error: string
  /** It was open but silent, which is no error of the upstream. */
  is_silence: boolean
  retry_ms: number
}

type StreamInput = {
  open: Open
  signal: AbortSignal
  now?: () => Date
  random?: () => number
  /** Times in ms; shorter in tests. */
  wait_ms?: { first: number; longest: number }
  batch_ms?: number
  silence_ms?: number
  max_waiting?: number
}

const BATCH_SIZE = 1_000
const BATCH_MS = 1_000
const MAX_WAITING = 20_000
const MAX_REJECTED = 5
const WAIT_MS = { first: 1_000, longest: 60_000 }

/**
 * Holds the connections of a feed and yields what came, at least every second: one batch for each thousand
 * events. While nobody takes a batch, events wait; beyond `max_waiting` the oldest are dropped and counted.
 */
export async function* streamFeed(
  { stream }: { stream: Stream },
  input: StreamInput,
): AsyncGenerator<StreamBatch, void> {
  const { batch_ms = BATCH_MS, max_waiting = MAX_WAITING } = input
  const stop = new AbortController()
  const signal = AbortSignal.any([input.signal, stop.signal])
  const waiting: NormalisedEvent[] = []
  let rest = emptyRest()

  const sink: Sink = {
    event: (event) => {
      waiting.push(event)
      if (waiting.length <= max_waiting) return
      rest.dropped += waiting.splice(0, Math.ceil(max_waiting / 10)).length
    },
    rejected: (item) => {
      rest.rejected_count += 1
      if (rest.rejected.length < MAX_REJECTED) rest.rejected.push(item)
    },
    alive: () => {
      rest.is_alive = true
    },
    problem: (problem) => rest.problems.push(problem),
  }
  const held = stream
    .connections({})
    .map((connection) => hold(stream, connection, { ...input, signal, sink }))
  try {
    while (!input.signal.aborted) {
      await pause(batch_ms, input.signal)
      do {
        const taken = rest
        rest = emptyRest()
        yield { ...taken, events: waiting.splice(0, BATCH_SIZE) }
      } while (waiting.length >= BATCH_SIZE)
    }
  } finally {
    stop.abort()
    await Promise.allSettled(held)
  }
}

type Rest = Omit<StreamBatch, 'events'>

function emptyRest(): Rest {
  return { rejected: [], rejected_count: 0, dropped: 0, is_alive: false, problems: [] }
}

type Sink = {
  event: (event: NormalisedEvent) => void
  rejected: (item: Rejected) => void
  alive: () => void
  problem: (problem: Problem) => void
}

/** Opens one connection again and again, with a pause that doubles while nothing readable comes. */
async function hold(
  stream: Stream,
  connection: Connection,
  input: StreamInput & { sink: Sink },
): Promise<void> {
  const { signal, sink, random = Math.random, wait_ms = WAIT_MS } = input
  let failures = 0
  while (!signal.aborted) {
    const end = await holdOnce(stream, connection, input)
    if (signal.aborted) return
    failures = end.was_readable ? 1 : failures + 1
    const retry_ms = Math.round(jittered(doublingDelay(failures, wait_ms), random))
    const { error, is_silence } = end
    sink.problem({ connection: connection.name, error, is_silence, retry_ms })
    await pause(retry_ms, signal)
  }
}

type End = { error: string; is_silence: boolean; was_readable: boolean }

/** Holds a connection until it ends, is silent for too long, or says that it is of no use. */
async function holdOnce(
  stream: Stream,
  connection: Connection,
  {
    open,
    signal,
    sink,
    now = () => new Date(),
    silence_ms = stream.silence_seconds * 1000,
  }: StreamInput & {
    sink: Sink
  },
): Promise<End> {
  const read = stream.createReader()
  const end: End = { error: 'the other side ended it', is_silence: false, was_readable: false }
  const giveUp = new AbortController()
  let frames = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const refuse = (error: string, is_silence = false) => {
    Object.assign(end, { error, is_silence })
    giveUp.abort()
  }
  const live = () => {
    clearTimeout(timer)
    timer = setTimeout(
      () => refuse(`nothing readable came for ${silence_ms / 1000} s`, true),
      silence_ms,
    )
  }
  const heard = () => {
    sink.alive()
    live()
  }
  const onAlive = () => {
    if (stream.is_often_quiet) heard()
  }
  const onFrame = (frame: string, from: string) => {
    if (giveUp.signal.aborted || signal.aborted) return
    frames += 1
    try {
      const { events, rejected } = read(frame, { now: now(), item: `#${frames}`, from })
      for (const event of events) sink.event(event)
      for (const item of rejected) sink.rejected(item)
      if (rejected.length > 0 && events.length === 0) return
      end.was_readable = true
      heard()
    } catch (error) {
      if (isFeedError(error)) return refuse(error.message)
      sink.rejected({ item: `#${frames}`, reason: messageOf(error) })
    }
  }
  live()
  try {
    await open(connection, { signal: AbortSignal.any([signal, giveUp.signal]), onFrame, onAlive })
  } catch (error) {
    if (!giveUp.signal.aborted) end.error = messageOf(error)
  } finally {
    clearTimeout(timer)
  }
  return end
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Whether a feed streams. */
export function isStreamed(feed: AnyFeed): feed is AnyFeed & { stream: Stream } {
  return feed.stream !== undefined
}
