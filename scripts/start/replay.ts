import { createPool, type Database, inTransaction } from '../../functions/db.ts'
import type { Feed, FeedState } from '../../functions/feeds/feed.ts'
import { resume } from '../../functions/feeds/replay/clock.ts'
import { loadReplays } from '../../functions/feeds/replay/load.ts'
import { feedOf, type Replay, revisionsOf } from '../../functions/feeds/replay/replay.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'

/**
 * prepareReplay stores the week before the start as history, once for each source, sets all of them to one
 * clock, and returns the feeds that replay. A source's row and its history are created in one transaction,
 * so the row tells when its replay began, and a start that was interrupted stores only what is missing.
 */
export async function prepareReplay(jobsUrl: string, log: (line: string) => void): Promise<Feed[]> {
  const replays = await loadReplays()
  const db = createPool({ url: jobsUrl, max: 1 })
  try {
    const startedAt = new Date()
    const feeds: Feed[] = []
    for (const replay of replays) {
      const began = await storeHistory(db, replay, startedAt, log)
      feeds.push(feedOf(replay, began))
    }
    await setClock(
      db,
      replays.map(({ source }) => source),
    )
    return feeds
  } finally {
    await db.end()
  }
}

/** Stores the history of a source that is new, and returns when its replay began. */
async function storeHistory(
  db: Database,
  replay: Replay,
  startedAt: Date,
  log: (line: string) => void,
): Promise<Date> {
  const { source, title, attribution, types, interval_seconds } = replay
  return inTransaction(db, async (sql) => {
    const [made] = await sql`
      insert into watchpost.sources (source, title, attribution, types, interval_seconds, created_at)
      values (${source}, ${title}, ${attribution}, ${types}, ${interval_seconds}, ${startedAt.toISOString()})
      on conflict (source) do nothing
      returning source`
    if (!made) {
      const [known] = await sql<{ created_at: string }>`
        select created_at from watchpost.sources where source = ${source}`
      return new Date(known?.created_at ?? startedAt)
    }
    let stored = 0
    for (const part of revisionsOf(replay.history(startedAt))) {
      const events = part.map(({ event, first_seen_at }) => ({ ...event, first_seen_at }))
      const { inserted } = await ingestEvents(sql, source, events, { match: false })
      stored += inserted
    }
    log(
      `Stored the past as ${source}: ${stored} ${types.includes('vessel') ? 'positions' : 'events'}`,
    )
    return startedAt
  })
}

/** Sets what the sources have played to one clock that goes on now. */
async function setClock(db: Database, sources: string[]): Promise<void> {
  await inTransaction(db, async (sql) => {
    const rows = await sql<{ source: string; state: FeedState }>`
      select source, state from watchpost.sources where source = any(${sources})
      order by source for update`
    const states = resume(
      rows.map(({ state }) => state),
      new Date(),
    )
    for (const [index, { source }] of rows.entries()) {
      await sql`
        update watchpost.sources set state = ${states[index] ?? {}} where source = ${source}`
    }
  })
}
