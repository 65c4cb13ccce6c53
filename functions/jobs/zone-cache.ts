import type { OffReason } from '../../shared/checks.ts'
import { type PreparedZone, prepareZone } from '../../shared/geometry/geometry.ts'
import type { Sql } from '../../shared/sql.ts'
import type { ZoneFields } from '../../shared/zone.ts'
import {
  type OwnerState,
  offReason,
  parseZoneVersion,
  type ZoneVersion,
} from '../../shared/zone-version.ts'
import { createPacer } from '../scheduling.ts'
import type { CurrentZone, ZoneIndex } from './zone-index.ts'

/** A zone as it was at some time, prepared for decisions. */
export type ZoneAtTime = {
  id: string
  version: number
  label: string
  prepared: PreparedZone<ZoneFields>
  owned: Pick<ZoneVersion, 'owner_id' | 'deleted_at' | 'enabled'>
}

type Zones = {
  all: ZoneAtTime[]
  /** The zone at a time, unless it was off then. */
  at: (id: string, at: Date) => ZoneAtTime | undefined
  /** The zone at a time, with why it was off then. */
  stateOf: (id: string, at: Date) => { zone: ZoneAtTime; off: OffReason | null } | undefined
}

/** Counts the vertices of all zones plus one per zone: about 200 MB. */
const MAX_CACHED = 1_000_000
// A version never changes, so a cached one is never out of date.
const cache = new Map<string, ZoneAtTime>()
let cached = 0

type Kept = { zone_id: string; version: number; valid_from: string; definition: unknown }

/**
 * The zones of the candidates, each as it was at a given time, except those that were off then: deleted, disabled or
 * paused by the plan or a ban of their owner. With `now`, every zone is taken as it is. `all`: every version that `at` may
 * answer.
 */
export async function loadZones(
  sql: Sql,
  candidates: { zone_ids: string[]; first_seen_at: string }[],
  now?: Date,
  index?: ZoneIndex,
): Promise<Zones> {
  const ids = [...new Set(candidates.flatMap((candidate) => candidate.zone_ids))]
  if (ids.length === 0) return { all: [], at: () => undefined, stateOf: () => undefined }
  const current = await loadCurrent(sql, ids, index)
  // Candidates are in the order in which they were first seen.
  const oldest = candidates[0]?.first_seen_at ?? ''
  const isChanged = (zone: CurrentZone) => !now && zone.valid_from > oldest && zone.version > 1
  const changed = current.filter(isChanged)
  // Read from the cache now, because it may be cleared while this batch is being processed.
  const ready = new Map<string, ZoneAtTime>()
  const missing: CurrentZone[] = []
  for (const zone of current.filter((zone) => !isChanged(zone))) {
    const known = cache.get(keyOf(zone.id, zone.version))
    if (known) ready.set(keyOf(zone.id, zone.version), known)
    else missing.push(zone)
  }
  const kept =
    missing.length + changed.length === 0
      ? []
      : await sql<Kept>`
    select v.zone_id, v.version, v.valid_from, private.version_definition(v) as definition
    from unnest(
      ${missing.map((zone) => zone.id)}::uuid[], ${missing.map((zone) => zone.version)}::integer[]) as m (id, version)
    join watchpost.zone_versions v on v.zone_id = m.id and v.version = m.version
    union all
    select v.zone_id, v.version, v.valid_from, private.version_definition(v)
    from watchpost.zone_versions v
    where v.zone_id = any(${changed.map((zone) => zone.id)}::uuid[])`
  const pace = createPacer()
  for (const row of kept) {
    const zone = prepare(row)
    ready.set(keyOf(row.zone_id, row.version), zone)
    keep(keyOf(row.zone_id, row.version), zone)
    await pace(40 + 10 * zone.prepared.vertices)
  }

  const owner_ids = new Set([...ready.values()].map(({ owned }) => owned.owner_id))
  const owners = Map.groupBy(
    await sql<OwnerState>`
      select user_id, valid_from, plan, banned_until from watchpost.account_states
      where user_id = any(${[...owner_ids]}::uuid[])
      order by valid_from`,
    ({ user_id }) => user_id,
  )
  const found = new Map<string, { zone: ZoneAtTime; valid_from: string }[]>()
  for (const { id, version, valid_from } of current) {
    const zone = ready.get(keyOf(id, version))
    if (zone) found.set(id, [{ zone, valid_from }])
  }
  for (const row of kept) {
    const versions = found.get(row.zone_id)
    const zone = ready.get(keyOf(row.zone_id, row.version))
    if (versions && zone && versions[0]?.zone.version !== row.version) {
      versions.push({ zone, valid_from: row.valid_from })
    }
  }
  for (const versions of found.values()) versions.sort((a, b) => b.zone.version - a.zone.version)
  const stateOf: Zones['stateOf'] = (id, at) => {
    const versions = found.get(id)
    const moment = at.toISOString()
    const then = now ? versions?.[0] : versions?.find(({ valid_from }) => valid_from <= moment)
    if (!then) return undefined
    const { owned } = then.zone
    const theirs = owners.get(owned.owner_id) ?? []
    // The database's clock may be ahead of this machine's.
    const latest = now && Date.parse(theirs.at(-1)?.valid_from ?? '')
    const time = latest && latest > at.getTime() ? new Date(latest) : at
    return { zone: then.zone, off: offReason(owned, theirs, time) }
  }
  return {
    all: [...ready.values()],
    stateOf,
    at: (id, at) => {
      const state = stateOf(id, at)
      return state?.off ? undefined : state?.zone
    },
  }
}

/** Which version of each zone is valid: from memory where that knows, or else from the database. */
async function loadCurrent(sql: Sql, ids: string[], index?: ZoneIndex): Promise<CurrentZone[]> {
  const known = ids.flatMap((id) => index?.current(id) ?? [])
  const unknown = index ? ids.filter((id) => !index.current(id)) : ids
  if (unknown.length === 0) return known
  const read = await sql<CurrentZone>`
    select z.id, z.version, v.valid_from
    from watchpost.zones z
    join watchpost.zone_versions v on v.zone_id = z.id and v.version = z.version
    where z.id = any(${unknown}::uuid[])`
  return [...known, ...read]
}

function keep(key: string, zone: ZoneAtTime): void {
  const size = 1 + zone.prepared.vertices
  if (cached + size > MAX_CACHED) {
    cache.clear()
    cached = 0
  }
  if (!cache.has(key)) cached += size
  cache.set(key, zone)
}

const keyOf = (id: string, version: number) => `${id}:${version}`

function prepare(row: Kept): ZoneAtTime {
  const fields = parseZoneVersion(row.definition)
  const { owner_id, deleted_at, enabled } = fields
  return {
    id: row.zone_id,
    version: row.version,
    label: fields.label,
    prepared: prepareZone(fields),
    owned: { owner_id, deleted_at, enabled },
  }
}
