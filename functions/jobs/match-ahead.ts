import type { DecidableEvent } from '../../shared/decide/checks.ts'
import { linkRuleOf } from '../../shared/decide/link.ts'
import { type Memory, memoryKey } from '../../shared/decide/match-memory.ts'
import { isMoving } from '../../shared/schemas/event.ts'
import type { Sql } from '../../shared/sql.ts'
import type { ZoneIndex } from './zone-index.ts'

/** A stored revision or position, and the zones whose boxes it meets. */
export type Candidate = DecidableEvent & {
  revision: number
  first_seen_at: string
  url: string | null
  zone_ids: string[]
}

/** How many pairs of an event and a zone are matched in one go. */
export type Portions = {
  /** Decided in the first transaction; the events of a zone are never parted. */
  at_once: number
  /** In the others of the same batches, when the first messages have left: more of them share a statement. */
  later?: number
  /** The same of what moves, which seldom tells anybody of anything: no first message waits for the others. */
  moving?: number
  /** Read ahead, so that batches which concern a million zones are not held in memory. */
  ahead: number
  /** How many connections share the others; absent: one, for where there are few. */
  abreast?: number
}

export const PORTIONS: Portions = { at_once: 1000, later: 4000, moving: 4000, ahead: 20_000 }

/** What batches that are being matched concern: the next zones, with the events that each of them may hear of. */
export type Ahead = {
  ids: string[]
  /** The last zone that is done; null: none is. */
  after: string | null
  /** Where they are not all taken at once, each with its zones in their order. */
  candidates: Candidate[]
  /** How many candidates each zone has, in the order of the zones that are not done; empty where all are taken at once. */
  pairs: [zone_id: string, count: number][]
  /** The last zone that was looked at, if there are others after it that were not read. */
  cut_at: string | null
  /** What is remembered of the candidates, locked by the transaction that takes them all at once. */
  own?: MemoryRow[] | undefined
}

/** A row of the match memory. */
export type MemoryRow = { zone_id: string; key: string; memory: Memory; seen_at: string | null }

/** With the zones in memory so many times the pairs are read ahead at once: a zone that is near is a reference there. */
const TIMES_HERE = 10

type Found = Pick<Ahead, 'candidates' | 'cut_at' | 'own'>

/** Reads what batches concern beyond the zone `after`. */
export async function lookAhead(
  sql: Sql,
  { ids, after }: Pick<Ahead, 'ids' | 'after'>,
  portions: Portions,
  index?: ZoneIndex,
): Promise<Ahead> {
  const from = { ids, after }
  const here = index ? await findHere(sql, from, TIMES_HERE * portions.ahead, index) : null
  const { candidates, cut_at, own } = here ?? (await findThere(sql, from, portions.ahead))
  const isWhole =
    after === null && cut_at === null && countPairs(candidates) <= firstOf(candidates, portions)
  if (isWhole) return { ids, after, candidates, pairs: [], cut_at, own }
  const sorted = candidates.map((one) => ({ ...one, zone_ids: one.zone_ids.toSorted() }))
  return { ids, after, candidates: sorted, pairs: pairsOf(sorted), cut_at }
}

async function findThere(
  sql: Sql,
  { ids, after }: Pick<Ahead, 'ids' | 'after'>,
  most: number,
): Promise<Found> {
  const candidates = await sql<Candidate & { cut_at: string | null }>`
    select * from private.batch_candidates(${ids}::uuid[], ${after}::uuid, ${most})`
  return { candidates, cut_at: candidates[0]?.cut_at ?? null }
}

const firstOf = (candidates: Candidate[], { at_once, moving = at_once }: Portions) =>
  candidates.every(({ subject }) => isMoving(subject)) ? moving : at_once

const countPairs = (candidates: Candidate[]) =>
  candidates.reduce((sum, { zone_ids }) => sum + zone_ids.length, 0)

function pairsOf(candidates: Candidate[]): Ahead['pairs'] {
  const counts = new Map<string, number>()
  for (const { zone_ids } of candidates) {
    for (const id of zone_ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
}

type Revision = Omit<Candidate, 'zone_ids'> & { is_private: boolean }
/** A zone that what has this key may concern wherever it is; without a key: whatever a batch tells of. */
type Known = { key: string | null; zone_id: string }

/**
 * What private.batch_candidates answers, but with the boxes that are in memory. Null for more pairs than are wanted, and
 * for events of an account or organisation, of which only the database knows who may hear.
 */
async function findHere(
  sql: Sql,
  { ids, after }: Pick<Ahead, 'ids' | 'after'>,
  most: number,
  index: ZoneIndex,
): Promise<Found | null> {
  const [revisions, told] = await Promise.all([
    sql<Revision>`
      select event_id as id, revision, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, url,
        geometry, magnitude, depth_km, ends_at, flag, known_since, tenant_id is not null as is_private
      from private.batch_revisions(${ids}::uuid[]) r
      order by r.first_seen_at, r.ts, r.event_id, r.revision`,
    // What moves is asked about below, mostly in another way.
    batchZones(sql, { ids, after }, { unlessMoving: true }),
  ])
  if (revisions.some(({ is_private }) => is_private)) return null
  const isAlone = after === null && revisions.every(movesAlone)
  const own = isAlone ? await lockMemories(sql, revisions.map(memoryKey)) : undefined
  const known = own
    ? [...own, ...(await changedZones(sql, revisions))]
    : revisions.some(({ subject }) => isMoving(subject))
      ? await batchZones(sql, { ids, after }, { unlessMoving: false })
      : told
  const changed = known.flatMap(({ key, zone_id }) => (key === null ? [zone_id] : []))
  const remembering = Map.groupBy(known, ({ key }) => key)
  const candidates: Candidate[] = []
  let pairs = 0
  for (const { is_private: _, ...event } of revisions) {
    const boxes = index.near(event)
    const near = after === null ? boxes : boxes.filter((id) => id > after)
    const others = remembering.get(memoryKey(event)) ?? []
    const zone_ids =
      others.length + changed.length === 0
        ? near
        : [...new Set([...near, ...others.map(({ zone_id }) => zone_id), ...changed])]
    pairs += zone_ids.length
    if (pairs > most) return null
    if (zone_ids.length > 0) candidates.push({ ...event, zone_ids })
  }
  return { candidates, cut_at: null, own }
}

/** Of what moves and is linked with nothing, a zone remembers one thing. */
const movesAlone = (event: Revision) => isMoving(event.subject) && linkRuleOf(event) === null

/** In the order in which effects are stored: of a ship that two sources hear, one batch waits for the other. */
export function lockMemories(sql: Sql, keys: string[]): Promise<MemoryRow[]> {
  return sql<MemoryRow>`
    select zone_id, key, memory, seen_at from watchpost.match_memory
    where key = any(${[...new Set(keys)]})
    order by zone_id, key
    for update`
}

/** As private.batch_zones has it, of revisions that begin with the oldest. */
async function changedZones(sql: Sql, [oldest]: Revision[]): Promise<Known[]> {
  if (!oldest) return []
  return sql<Known>`
    select null as key, id as zone_id from watchpost.zones
    where updated_at > ${oldest.first_seen_at}::timestamptz`
}

/** Unless they have positions, if so asked: then there are none. */
const batchZones = (
  sql: Sql,
  { ids, after }: Pick<Ahead, 'ids' | 'after'>,
  { unlessMoving }: { unlessMoving: boolean },
) =>
  sql<Known>`
    select key, zone_id from private.batch_zones(${ids}::uuid[])
    where (${after}::uuid is null or zone_id > ${after}::uuid)
      and (not ${unlessMoving}::boolean
        or not exists (select from watchpost.positions where batch_id = any(${ids}::uuid[]))
          and not exists (select from watchpost.passing_positions where batch_id = any(${ids}::uuid[])))`

export type Some = {
  candidates: Candidate[]
  /** The zones of these candidates; undefined: all that the batches concern. */
  zone_ids: string[] | undefined
  /** The last of the zones; null when none follow. */
  last: string | null
  /** What is ahead of them, where that was read. */
  rest: Ahead | null
}

/** The candidates of the next zones, in the order in which they were first seen. */
export function takeSome(ahead: Ahead, portions: Portions): Some {
  const { candidates, pairs, cut_at, after } = ahead
  const { at_once, later = at_once } = portions
  const most = after === null ? firstOf(candidates, portions) : later
  const taken = pairs.slice(0, endOfSome(pairs, most))
  const following = pairs.slice(taken.length)
  if (following.length === 0 && cut_at === null && after === null) {
    return { candidates, zone_ids: undefined, last: null, rest: null }
  }
  const zone_ids = taken.map(([id]) => id)
  const end = zone_ids.at(-1) ?? ''
  const last = following.length > 0 ? end : cut_at
  const part = (ids: string[]) =>
    ids.slice(after === null ? 0 : countUpTo(ids, after), countUpTo(ids, end))
  return {
    candidates: withZones(candidates, part),
    zone_ids,
    last,
    rest: following.length > 0 ? { ...ahead, after: last, pairs: following } : null,
  }
}

/** How many zones make so many pairs; at least one. */
function endOfSome(pairs: Ahead['pairs'], most: number): number {
  let sum = 0
  const end = pairs.findIndex(([, count]) => {
    sum += count
    return sum >= most
  })
  return end === -1 ? pairs.length : end + 1
}

/** How many of sorted ids are not after one. */
function countUpTo(ids: string[], last: string): number {
  let [low, high] = [0, ids.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ids[middle] ?? '') <= last) low = middle + 1
    else high = middle
  }
  return low
}

const withZones = (candidates: Candidate[], choose: (zone_ids: string[]) => string[]) =>
  candidates.flatMap((candidate) => {
    const zone_ids = choose(candidate.zone_ids)
    return zone_ids.length > 0 ? [{ ...candidate, zone_ids }] : []
  })
