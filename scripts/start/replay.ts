import { createPool, inTransaction } from '../../functions/db.ts'
import type { Feed } from '../../functions/feeds/feed.ts'
import { loadRecording } from '../../functions/feeds/usgs-recording.ts'
import { historyOf, usgsReplay } from '../../functions/feeds/usgs-replay.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'

/**
 * prepareReplay stores the recorded week as history, once, and returns the feed that replays it.
 * The source's row and the history are created in one transaction, so the row tells when the replay
 * began.
 */
export async function prepareReplay(jobsUrl: string): Promise<{ feed: Feed; stored: number }> {
  const recording = await loadRecording()
  const db = createPool({ url: jobsUrl, max: 1 })
  try {
    return await inTransaction(db, async (sql) => {
      const startedAt = new Date()
      const { source, title, attribution, types, interval_seconds } = usgsReplay(recording, {
        startedAt,
      })
      const [made] = await sql`
        insert into watchpost.sources (source, title, attribution, types, interval_seconds, created_at)
        values (${source}, ${title}, ${attribution}, ${types}, ${interval_seconds}, ${startedAt.toISOString()})
        on conflict (source) do nothing
        returning source`
      if (made) {
        const events = historyOf(recording, startedAt).map(({ event, first_seen_at }) => ({
          ...event,
          first_seen_at,
        }))
        const { inserted } = await ingestEvents(sql, source, events, { match: false })
        return { feed: usgsReplay(recording, { startedAt }), stored: inserted }
      }
      const [known] = await sql<{ created_at: string }>`
        select created_at from watchpost.sources where source = ${source}`
      return {
        feed: usgsReplay(recording, { startedAt: new Date(known?.created_at ?? startedAt) }),
        stored: 0,
      }
    })
  } finally {
    await db.end()
  }
}
