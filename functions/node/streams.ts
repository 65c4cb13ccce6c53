import { randomUUID } from 'node:crypto'
import { pause } from '../../shared/pause.ts'
import type { Sql } from '../../shared/sql.ts'
import { type Database, inTransaction } from '../db.ts'
import type { AnyFeed } from '../feeds/feed.ts'
import { isStreamed, type Open, type StreamBatch, streamFeed } from '../feeds/stream.ts'
import { countItems, ingestEvents } from '../jobs/ingest.ts'
import type { Log } from '../log.ts'
import { NO_TRACING, type Tracing, traceCall } from '../tracing/tracing.ts'

type StreamDeps = {
  db: Database
  feeds: AnyFeed[]
  open: Open
  log: Log
  /** Absent where nothing is traced. */
  tracing?: Tracing | undefined
  /** Times in ms; shorter in tests. */
  lease_ms?: number
  report_ms?: number
  stream?: Pick<
    Parameters<typeof streamFeed>[1],
    'wait_ms' | 'batch_ms' | 'silence_ms' | 'max_waiting'
  >
}

/** Another process takes over a stream when its holder has been silent for this long. */
const LEASE_MS = 15_000
const REPORT_MS = 60_000

class LeaseLost extends Error {}

/**
 * Holds the streams of the feeds. Of several processes one holds a stream, by a lease in its row of sources,
 * which is renewed in every transaction that stores what came.
 */
export function runStreams(deps: StreamDeps): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const holder = randomUUID()
  const running = deps.feeds
    .filter(isStreamed)
    .map((feed) => keepStream(deps, feed, { holder, signal: stopping.signal }))
  return {
    stop: async () => {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

type Held = { holder: string; signal: AbortSignal }

/** Waits for the lease and holds the stream while it has it, again and again. */
async function keepStream(
  deps: StreamDeps,
  feed: Parameters<typeof streamFeed>[0] & AnyFeed,
  held: Held,
): Promise<void> {
  const { db, log, lease_ms = LEASE_MS } = deps
  const { source } = feed
  while (!held.signal.aborted) {
    try {
      const is_mine = await inTransaction(db, (sql) => renew(sql, source, held.holder, lease_ms))
      if (is_mine) await holdStream(deps, feed, held)
    } catch (error) {
      log({ msg: 'stream', source, error: error instanceof Error ? error.message : String(error) })
    }
    await pause(lease_ms / 3, held.signal)
  }
  await inTransaction(db, (sql) => release(sql, source, held.holder)).catch(() => undefined)
}

async function holdStream(
  {
    db,
    open,
    log,
    tracing = NO_TRACING,
    lease_ms = LEASE_MS,
    report_ms = REPORT_MS,
    stream,
  }: StreamDeps,
  feed: Parameters<typeof streamFeed>[0] & AnyFeed,
  { holder, signal }: Held,
): Promise<void> {
  const { source } = feed
  const report = createReport(source, log)
  let renewed = performance.now()
  let reported = renewed
  let counted = renewed
  let uncounted = emptyCount()
  const lost = new AbortController()
  const batches = streamFeed(feed, {
    open,
    signal: AbortSignal.any([signal, lost.signal]),
    ...stream,
  })
  try {
    for await (const batch of batches) {
      const now = performance.now()
      for (const problem of batch.problems) log({ msg: 'stream', source, ...problem })
      report.count(batch)
      uncounted.accepted += batch.events.length
      uncounted.rejected_count += batch.rejected_count
      if (batch.rejected.length > 0) uncounted.rejected = batch.rejected
      if (now - reported >= report_ms) {
        reported = now
        report.write()
      }
      const has_news = batch.events.length > 0 || batch.is_alive || batch.problems.length > 0
      if (!has_news && now - renewed < lease_ms / 3) continue
      const is_minute = now - counted >= report_ms
      const storing = inTransaction(db, async (sql) => {
        if (!(await renew(sql, source, holder, lease_ms))) throw new LeaseLost('the lease was lost')
        if (is_minute) {
          const { accepted, rejected, rejected_count } = uncounted
          await countItems(sql, source, accepted, rejected, rejected_count)
        }
        return storeBatch({ tracing, sql }, source, batch)
      })
      storing.catch(() => report.countNotStored(batch))
      report.countStored(await storing)
      renewed = now
      if (is_minute) {
        counted = now
        uncounted = emptyCount()
      }
    }
  } finally {
    lost.abort()
    report.write()
  }
}

/** What came since it was counted last: the counts of a minute are those of an answer. */
function emptyCount(): Pick<StreamBatch, 'rejected' | 'rejected_count'> & { accepted: number } {
  return { accepted: 0, rejected: [], rejected_count: 0 }
}

/** Takes or renews the lease; false if another process has it. */
async function renew(sql: Sql, source: string, holder: string, lease_ms: number): Promise<boolean> {
  const rows = await sql`
    update watchpost.sources
    set stream_holder = ${holder}, stream_until = now() + make_interval(secs => ${lease_ms / 1000})
    where source = ${source} and enabled and paused_at is null
      and (stream_holder = ${holder} or stream_until is null or stream_until < now())
    returning source`
  return rows.length > 0
}

async function release(sql: Sql, source: string, holder: string): Promise<void> {
  await sql`
    update watchpost.sources set stream_holder = null, stream_until = null
    where source = ${source} and stream_holder = ${holder}`
}

async function storeBatch(
  { tracing, sql }: { tracing: Tracing; sql: Sql },
  source: string,
  batch: StreamBatch,
) {
  const { events, is_alive } = batch
  const named = { name: 'ingest_events', attributes: { 'watchpost.source': source } }
  const stored =
    events.length > 0
      ? await traceCall({ tracing, sql }, named, () => ingestEvents(sql, source, events))
      : null
  const failure = batch.problems.findLast(({ is_silence }) => !is_silence)
  if (is_alive) {
    await sql`
      update watchpost.sources set last_success_at = now(), error = null, error_at = null, updated_at = now()
      where source = ${source}`
  } else if (failure) {
    await sql`
      update watchpost.sources
      set error = ${`${failure.connection}: ${failure.error}`}, error_code = null, error_at = now(), updated_at = now()
      where source = ${source}`
  }
  return stored
}

type Stored = Awaited<ReturnType<typeof storeBatch>>

/** Sums up what came, for one line of the log a minute. */
function createReport(source: string, log: Log) {
  const empty = () => ({
    events: 0,
    inserted: 0,
    revised: 0,
    unchanged: 0,
    dropped_late: 0,
    flagged: 0,
    dropped_full: 0,
    not_stored: 0,
    rejected_count: 0,
  })
  let counts = empty()
  let rejected: StreamBatch['rejected'] = []
  return {
    count: (batch: StreamBatch) => {
      counts.events += batch.events.length
      counts.dropped_full += batch.dropped
      counts.rejected_count += batch.rejected_count
      if (rejected.length === 0) rejected = batch.rejected
    },
    /** A stream does not send again what the database did not take. */
    countNotStored: (batch: StreamBatch) => {
      counts.not_stored += batch.events.length
    },
    countStored: (stored: Stored) => {
      if (!stored) return
      counts.inserted += stored.inserted
      counts.revised += stored.revised
      counts.unchanged += stored.unchanged
      counts.dropped_late += stored.dropped
      counts.flagged += stored.flagged
    },
    write: () => {
      if (Object.values(counts).every((count) => count === 0)) return
      log({ msg: 'stream', source, ...counts, ...(rejected.length > 0 ? { rejected } : {}) })
      counts = empty()
      rejected = []
    },
  }
}
