import { z } from 'zod'
import type { NormalisedEvent } from '../../../shared/schemas/event.ts'
import { isFeedError, normaliseEach, type PollInput, type Rejected } from '../feed.ts'
import { fetchFeed } from '../fetch.ts'
import { normaliseUsgs, notGeoJson, Summary } from '../formats/usgs-feature.ts'

const SEARCH = 'https://earthquake.usgs.gov/fdsnws/event/1/query'
const HOUR_MS = 60 * 60_000
const DAY_MS = 24 * HOUR_MS
const RETRY_MS = 5 * 60_000
const OVERLAP_MS = 5 * 60_000
/** A page stays far below the most that an answer may have. */
const LIMIT = 5_000
const MAX_PAGES = 4
/** As long as events are kept. */
const WINDOW_MS = 90 * DAY_MS
const MAX_LOOK_BACK_MS = 7 * DAY_MS

export const SearchState = z
  .object({
    /** When it is searched next, in ms since 1970. */
    due: z.number(),
    /** The end of the last complete search, in ms since 1970. */
    updated_after: z.number().nullable(),
    /** What happened long before the first search is no news, however late it is revised. */
    watching_since: z.number().nullable(),
  })
  .catch({ due: 0, updated_after: null, watching_since: null })
export type SearchState = z.infer<typeof SearchState>

type Found = { events: NormalisedEvent[]; rejected: Rejected[]; state: SearchState }

export function isSearchDue({ due }: SearchState, now: Date): boolean {
  return now.getTime() >= due
}

/**
 * Searches for all that was revised or deleted since the last search, also events that have left the
 * summaries. A search that fails is repeated soon and named in `rejected`.
 */
export async function searchUpdates(state: SearchState, input: PollInput): Promise<Found> {
  const now = input.now.getTime()
  const watching_since = state.watching_since ?? now
  const query = new URLSearchParams({
    format: 'geojson',
    includedeleted: 'true',
    orderby: 'time',
    starttime: new Date(Math.max(now - WINDOW_MS, watching_since - DAY_MS)).toISOString(),
    updatedafter: new Date(lookBack(state, now)).toISOString(),
    limit: String(LIMIT),
  })
  const found: Found = {
    events: [],
    rejected: [],
    state: { due: now + HOUR_MS, updated_after: now, watching_since },
  }
  try {
    for (let page = 0; page < MAX_PAGES; page++) {
      query.set('offset', String(1 + page * LIMIT))
      const count = await addPage(`${SEARCH}?${query}`, input, found)
      if (count < LIMIT) return found
    }
    const reason = `features: more than ${MAX_PAGES * LIMIT} changed; the oldest were not fetched`
    found.rejected.push({ item: 'search', reason })
    return found
  } catch (error) {
    if (!isFeedError(error)) throw error
    const wait_ms = Math.max(RETRY_MS, 1000 * (error.retry_after_seconds ?? 0))
    // What was found so far counts, and is found again.
    return {
      events: found.events,
      rejected: [...found.rejected, { item: 'search', reason: error.message }],
      state: { ...state, due: now + wait_ms, watching_since },
    }
  }
}

async function addPage(url: string, input: PollInput, found: Found): Promise<number> {
  const fetched = await fetchFeed(url, { ...input, may_be_empty: true })
  // Nothing changed: 204 No Content.
  if (fetched.not_modified || fetched.json === null) return 0
  const answer = Summary.safeParse(fetched.json)
  if (!answer.success) throw notGeoJson()
  const { events, rejected } = normaliseEach(answer.data.features, normaliseUsgs)
  found.events.push(...events)
  found.rejected.push(...rejected)
  return answer.data.features.length
}

function lookBack({ updated_after }: SearchState, now: number): number {
  if (updated_after === null) return now - HOUR_MS - OVERLAP_MS
  return Math.max(Math.min(updated_after, now) - OVERLAP_MS, now - MAX_LOOK_BACK_MS)
}
