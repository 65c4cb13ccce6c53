import { nextPollSeconds } from '../../shared/backoff.ts'
import { extentOfEvent } from '../../shared/geometry/geometry.ts'
import { isMoving, NormalisedEvent } from '../../shared/schemas/event.ts'
import type { Sql } from '../../shared/sql.ts'
import { type Database, inTransaction } from '../db.ts'
import {
  type AnyFeed,
  type Feed,
  type FeedError,
  type FeedResult,
  type FeedState,
  isFeedError,
  type Rejected,
} from '../feeds/feed.ts'
import { standInsOf } from '../feeds/stand-ins.ts'
import { traceCall } from '../tracing/tracing.ts'
import { each, type JobContext, type Queue, type Work } from './queue.ts'

const CHUNK = 1000
/** In the first answer of a source, what happened longer ago than this is history. */
const HISTORY_AFTER_MS = 60 * 60_000

type Source = {
  state: FeedState
  failing_for_seconds: number
  last_success_at: string | null
  is_paused: boolean
}

/** Polls one feed and stores its events and its state in one transaction. */
export const ingest: Queue = {
  name: 'ingest',
  slots: 4,
  run: each(async (context, job) => {
    const { deps } = context
    const feed = deps.feeds.find(({ source }) => source === job.data.source)
    if (!feed || !('poll' in feed)) {
      await context.finish(job, async () => undefined)
      return { source: job.data.source, skipped: 'this process has no such feed' }
    }
    const [source] = await context.step(
      (sql) => sql<Source>`
        select state, last_success_at, paused_at is not null as is_paused,
          -- Hours without a poll, as after a stop, are no hours of failing: at most twice the last wait.
          case when error_at is null then 0 else extract(epoch from least(
            now() - coalesce(last_success_at, created_at), 2 * (now() - error_at))) end::float8 as failing_for_seconds
        from watchpost.sources
        where source = ${feed.source}`,
    )
    if (source?.is_paused) {
      await context.finish(job, async () => undefined)
      return { source: feed.source, skipped: 'an operator has paused it' }
    }
    const now = new Date()
    const last_success_at = source?.last_success_at ? new Date(source.last_success_at) : null
    try {
      const result = await feed.poll({
        state: source?.state ?? {},
        now,
        last_success_at,
        fetch: deps.fetch,
        contact: deps.contact,
      })
      return await store(context, job, feed, result, last_success_at ? null : now)
    } catch (error) {
      if (!isFeedError(error)) throw error
      return await fail(context, job, feed, {
        error,
        failing_for_seconds: source?.failing_for_seconds ?? 0,
      })
    }
  }),
}

/** Stores what a feed answered; `began`: when it was polled, if that was its first answer. */
async function store(
  context: JobContext,
  job: Work,
  feed: Feed,
  result: FeedResult,
  began: Date | null,
) {
  const { tracing } = context
  const isPast = (event: NormalisedEvent) => began !== null && isHistory(event, began)
  const counts = await context.finish(job, async (sql) => {
    const counts = { inserted: 0, revised: 0, unchanged: 0, dropped: 0, flagged: 0, history: 0 }
    const add = async (events: NormalisedEvent[], options: { match: boolean }) => {
      for (let from = 0; from < events.length; from += CHUNK) {
        const some = events.slice(from, from + CHUNK)
        const stored = await traceCall({ tracing, sql }, { name: 'ingest_events' }, () =>
          ingestEvents(sql, feed.source, some, options),
        )
        counts.inserted += stored.inserted
        counts.revised += stored.revised
        counts.unchanged += stored.unchanged
        counts.dropped += stored.dropped
        counts.flagged += stored.flagged
        if (!options.match) counts.history += stored.inserted
      }
    }
    await add(result.events.filter(isPast), { match: false })
    await add(
      result.events.filter((event) => !isPast(event)),
      { match: true },
    )
    await countItems(sql, feed.source, result.events.length, result.rejected)
    await sql`
      update watchpost.sources
      set state = ${result.state}, last_success_at = now(), error = null, error_at = null, updated_at = now(),
          next_poll_at = greatest(next_poll_at, now() + make_interval(secs => ${result.next_poll_seconds ?? 0}))
      where source = ${feed.source}`
    return counts
  })
  return {
    source: feed.source,
    ...counts,
    not_modified: result.not_modified,
    ...(result.rejected.length > 0
      ? { rejected: result.rejected.slice(0, 5), rejected_count: result.rejected.length }
      : {}),
  }
}

/** Counts what an answer had, or a minute of a stream. `rejected_count`: if more were rejected than are given. */
export async function countItems(
  sql: Sql,
  source: string,
  accepted: number,
  rejected: readonly Rejected[],
  rejected_count = rejected.length,
): Promise<void> {
  if (accepted + rejected_count === 0) return
  await sql`
    select private.count_items(${source}, ${accepted + rejected_count}, ${rejected_count}, ${rejected.at(-1)?.reason ?? null})`
}

/**
 * Whether an event of the first answer of a source was over before it was watched: its alerts would come
 * for weeks past. What still stands is matched.
 */
function isHistory({ ts, ends_at, subject }: NormalisedEvent, began: Date): boolean {
  if (isMoving(subject) || (ends_at !== null && Date.parse(ends_at) > began.getTime())) return false
  return Date.parse(ts) < began.getTime() - HISTORY_AFTER_MS
}

async function fail(
  context: JobContext,
  job: Work,
  feed: Feed,
  { error, failing_for_seconds }: { error: FeedError; failing_for_seconds: number },
) {
  const wait = nextPollSeconds({
    interval_seconds: feed.interval_seconds,
    failing_for_seconds,
    retry_after_seconds: error.retry_after_seconds,
    random: Math.random,
  })
  await context.finish(
    job,
    (sql) => sql`
      update watchpost.sources
      set error = ${error.message}, error_code = ${error.code}, error_at = now(), updated_at = now(),
          next_poll_at = now() + make_interval(secs => ${wait})
      where source = ${feed.source}`,
  )
  return { source: feed.source, feed_error: error.message, next_poll_seconds: Math.round(wait) }
}

type Stored = {
  inserted: number
  revised: number
  unchanged: number
  batch_id: string | null
  /** Positions older than the latest of their subject, or too far ahead of the clock. */
  dropped: number
  /** Positions after a gap or a jump. */
  flagged: number
}

/**
 * Stores normalised events in the caller's transaction. `first_seen_at` of an event is for history;
 * `match: false` stores without matching. Throws a ZodError that names the field of an invalid
 * event.
 */
export async function ingestEvents(
  sql: Sql,
  source: string,
  events: (NormalisedEvent & { first_seen_at?: string })[],
  { match = true }: { match?: boolean } = {},
): Promise<Stored> {
  const rows = events.map(({ first_seen_at, ...event }) => ({
    ...NormalisedEvent.parse(event),
    ts: new Date(event.ts).toISOString(),
    box: extentOfEvent(event),
    ...(first_seen_at ? { first_seen_at } : {}),
  }))
  const [stored] = await sql<Stored>`
    select inserted, revised, unchanged, batch_id, dropped, flagged
    from private.ingest_events(${source}, ${JSON.stringify(rows)}::jsonb, ${match})`
  if (!stored) throw new Error('ingest_events answers one row')
  return stored
}

/**
 * Stores which sources there are, and keeps the state of each. Feeds that are not given are disabled;
 * those in `disabled` are stored with the reason.
 */
export async function registerFeeds(
  db: Database,
  feeds: readonly AnyFeed[],
  disabled: readonly { feed: AnyFeed; reason: string }[] = [],
): Promise<void> {
  const rows = [...feeds.map((feed) => ({ feed, reason: null })), ...disabled]
  await inTransaction(db, async (sql) => {
    for (const { feed, reason } of rows) {
      const { source, title, attribution, types, interval_seconds, ceilings = {} } = feed
      const region = feed.region?.({}) ?? null
      const boxes = region?.map(
        ([west, south, east, north]) => `(${east},${north}),(${west},${south})`,
      )
      await sql`
        insert into watchpost.sources as s (
          source, title, attribution, types, interval_seconds, ceilings, region, stand_ins, enabled, error, next_poll_at)
        values (${source}, ${title}, ${attribution}, ${types}, ${interval_seconds}, ${JSON.stringify(ceilings)}::jsonb,
          ${boxes ? `{${boxes.join(';')}}` : null}::box[], ${JSON.stringify(standInsOf(source))}::jsonb,
          ${reason === null}, ${reason}, coalesce(${'poll' in feed ? null : 'infinity'}::timestamptz, now()))
        on conflict (source) do update
        set title = excluded.title, attribution = excluded.attribution, types = excluded.types,
          interval_seconds = excluded.interval_seconds, ceilings = excluded.ceilings, enabled = excluded.enabled,
          region = excluded.region, stand_ins = excluded.stand_ins,
          -- Why a feed was disabled is no error of its upstream.
          error = case when s.enabled and excluded.enabled then s.error else excluded.error end, updated_at = now()
        where (s.title, s.attribution, s.types, s.interval_seconds, s.ceilings, s.enabled, s.stand_ins, s.region::text)
          is distinct from
          (excluded.title, excluded.attribution, excluded.types, excluded.interval_seconds,
           excluded.ceilings, excluded.enabled, excluded.stand_ins, excluded.region::text)
          or not excluded.enabled and s.error is distinct from excluded.error`
    }
    await sql`
      update watchpost.sources
      set enabled = false, error = null, updated_at = now()
      where enabled and source <> all(${rows.map(({ feed }) => feed.source)}) and source not like 'custom%'`
  })
}
