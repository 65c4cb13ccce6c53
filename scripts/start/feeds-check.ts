import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../functions/config.ts'
import { createPool, inTransaction } from '../../functions/db.ts'

const LOOK_EVERY_MS = 500
/** Longer than the timeout of a feed. */
const GIVE_UP_MS = 45_000

/** How many failing feeds are named. */
const MAX_TOLD = 3

type JobsLogin = Pick<Config, 'jobs_database_url' | 'prepared_statements'>
type Heard = { source: string; is_heard: boolean; error: string | null }

/**
 * watchFeeds waits for the first results of the feeds from now on. It returns undefined if one of
 * them answers, or if none is polled in time, and the errors if all of them fail.
 */
export function watchFeeds(
  login: JobsLogin,
  closing: (() => Promise<void>)[],
): Promise<string | undefined> {
  const stopping = new AbortController()
  const waiting = waitForNews(login, stopping.signal)
  closing.push(async () => {
    stopping.abort()
    await waiting.catch(() => {})
  })
  return waiting
}

async function waitForNews(
  { jobs_database_url: url, prepared_statements: prepared }: JobsLogin,
  signal: AbortSignal,
): Promise<string | undefined> {
  const db = createPool({ url, prepared, max: 1 })
  try {
    const [clock] = await inTransaction(db, (sql) => sql<{ now: string }>`select now()`)
    const since = clock?.now
    const deadline = performance.now() + GIVE_UP_MS
    while (performance.now() < deadline) {
      const sources = await inTransaction(
        db,
        (sql) => sql<Heard>`
          select source, coalesce(last_success_at > ${since}, false) as is_heard,
            case when error_at > ${since} then error end as error
          from watchpost.sources
          where enabled and source not like 'custom%'
          order by source`,
      )
      if (sources.some(({ is_heard }) => is_heard)) return undefined
      if (sources.length > 0 && sources.every(({ error }) => error !== null)) {
        const told = sources.slice(0, MAX_TOLD).map(({ source, error }) => `${source}: ${error}`)
        const rest = sources.length - told.length
        return [...told, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ')
      }
      await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
      if (signal.aborted) return undefined
    }
    return undefined
  } finally {
    await db.end()
  }
}
