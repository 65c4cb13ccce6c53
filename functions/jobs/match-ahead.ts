import type { DecidableEvent } from '../../shared/checks.ts'
import type { Sql } from '../../shared/sql.ts'

/** A stored revision or position, and the zones whose boxes it meets. */
export type Candidate = DecidableEvent & {
  revision: number
  first_seen_at: string
  url: string | null
  zone_ids: string[]
}

/** How many pairs of an event and a zone are matched in one go. */
export type Portions = {
  /** Decided in a transaction; the events of a zone are never parted. */
  at_once: number
  /** Read ahead, so that batches which concern a million zones are not held in memory. */
  ahead: number
}

export const PORTIONS: Portions = { at_once: 1000, ahead: 20_000 }

/** What batches that are being matched concern: the next zones, with the events that each of them may hear of. */
export type Ahead = {
  ids: string[]
  /** The last zone that is done; null: none is. */
  after: string | null
  candidates: Candidate[]
  /** How many candidates each zone has, in the order of the zones that are not done. */
  pairs: [zone_id: string, count: number][]
  /** The last zone that was looked at, if there are others after it that were not read. */
  cut_at: string | null
}

/** Reads what batches concern beyond the zone `after`. */
export async function lookAhead(
  sql: Sql,
  { ids, after }: Pick<Ahead, 'ids' | 'after'>,
  portions: Portions,
): Promise<Ahead> {
  const candidates = await sql<Candidate & { cut_at: string | null }>`
    select * from private.batch_candidates(${ids}::uuid[], ${after}::uuid, ${portions.ahead})`
  const counts = new Map<string, number>()
  for (const { zone_ids } of candidates) {
    for (const id of zone_ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  const pairs = [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
  return { ids, after, candidates, pairs, cut_at: candidates[0]?.cut_at ?? null }
}

type Some = {
  candidates: Candidate[]
  /** The zones of these candidates; undefined: all that the batches concern. */
  zone_ids: string[] | undefined
  /** The last of the zones; null when none follow. */
  last: string | null
  /** What is ahead of them, where that was read. */
  rest: Ahead | null
}

/** The candidates of the next zones, in the order in which they were first seen. */
export function takeSome(ahead: Ahead, { at_once }: Portions): Some {
  const { candidates, pairs, cut_at, after } = ahead
  const taken = pairs.slice(0, endOfSome(pairs, at_once))
  const following = pairs.slice(taken.length)
  if (following.length === 0 && cut_at === null && after === null) {
    return { candidates, zone_ids: undefined, last: null, rest: null }
  }
  const zone_ids = taken.map(([id]) => id)
  const last = following.length > 0 ? (zone_ids.at(-1) ?? null) : cut_at
  return {
    candidates: withZones(candidates, new Set(zone_ids)),
    zone_ids,
    last,
    rest: following.length > 0 ? { ...ahead, after: last, pairs: following } : null,
  }
}

/** How many zones make so many pairs; at least one. */
function endOfSome(pairs: Ahead['pairs'], at_once: number): number {
  let sum = 0
  const end = pairs.findIndex(([, count]) => {
    sum += count
    return sum >= at_once
  })
  return end === -1 ? pairs.length : end + 1
}

const withZones = (candidates: Candidate[], zones: Set<string>) =>
  candidates.flatMap((candidate) => {
    const zone_ids = candidate.zone_ids.filter((id) => zones.has(id))
    return zone_ids.length > 0 ? [{ ...candidate, zone_ids }] : []
  })
