import type { OffReason } from '../../shared/decide/checks.ts'
import { prepareZone } from '../../shared/geometry/geometry.ts'
import { type OwnerState, offReason, parseZoneVersion } from '../../shared/schemas/zone-version.ts'
import type { Sql } from '../../shared/sql.ts'
import { createPacer } from '../scheduling.ts'
import type { CurrentZone, ZoneIndex } from './zone-index.ts'
import { createZoneStore, type ZoneAtTime } from './zone-store.ts'

type Zones = {
  all: ZoneAtTime[]
  /** The zone at a time, unless it was off then. */
  at: (id: string, at: Date) => ZoneAtTime | undefined
  /** The zone at a time, with why it was off then. */
  stateOf: (id: string, at: Date) => { zone: ZoneAtTime; off: OffReason | null } | undefined
}

// The version of a zone that was needed last. It never changes, so it is never out of date.
const cache = createZoneStore()

/**
 * A version of a zone as it is stored. private.version_definition puts one together too, but joining the JSON takes the
 * database 11 µs more a zone; tests/sql/versions.test.ts holds both to each other.
 */
type Kept = {
  zone_id: string
  version: number
  valid_from: string
  definition: object
  polygon: unknown
}

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
  const changed: CurrentZone[] = []
  const missing: CurrentZone[] = []
  // Read from the cache now, because it may be emptied while this batch is being processed.
  const found = new Map<string, { zone: ZoneAtTime; valid_from: string }[]>()
  for (const one of current) {
    const zone = cache.get(one.id)
    if (isChanged(one)) changed.push(one)
    else if (zone?.version !== one.version) missing.push(one)
    else found.set(one.id, [{ zone, valid_from: one.valid_from }])
  }
  const kept =
    missing.length + changed.length === 0
      ? []
      : await sql<Kept>`
    select v.zone_id, v.version, v.valid_from, v.definition, s.polygon
    from unnest(
      ${missing.map((zone) => zone.id)}::uuid[], ${missing.map((zone) => zone.version)}::integer[]) as m (id, version)
    join watchpost.zone_versions v on v.zone_id = m.id and v.version = m.version
    left join watchpost.zone_shapes s on s.zone_id = v.zone_id and s.hash = v.shape_hash
    union all
    select v.zone_id, v.version, v.valid_from, v.definition, s.polygon
    from watchpost.zone_versions v
    left join watchpost.zone_shapes s on s.zone_id = v.zone_id and s.hash = v.shape_hash
    where v.zone_id = any(${changed.map((zone) => zone.id)}::uuid[])`
  const pace = createPacer()
  for (const row of kept) {
    const zone = prepare(row)
    const versions = found.get(row.zone_id) ?? []
    versions.push({ zone, valid_from: row.valid_from })
    found.set(row.zone_id, versions)
    cache.keep(zone)
    await pace(40 + 10 * zone.prepared.vertices)
  }

  const all = [...found.values()].flatMap((versions) => versions.map(({ zone }) => zone))
  const owner_ids = new Set(all.map(({ owned }) => owned.owner_id))
  const owners = Map.groupBy(
    await sql<OwnerState>`
      select user_id, valid_from, plan, banned_until from watchpost.account_states
      where user_id = any(${[...owner_ids]}::uuid[])
      order by valid_from`,
    ({ user_id }) => user_id,
  )
  for (const versions of found.values()) versions.sort((a, b) => b.zone.version - a.zone.version)
  // All zones are asked for one event after the other.
  let asked: { at: Date; moment: string } | null = null
  const stateOf: Zones['stateOf'] = (id, at) => {
    const versions = found.get(id)
    if (asked?.at !== at) asked = { at, moment: at.toISOString() }
    const { moment } = asked
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
    all,
    stateOf,
    at: (id, at) => {
      const state = stateOf(id, at)
      return state?.off ? undefined : state?.zone
    },
  }
}

/** Which version of each zone is valid: from memory where that knows, or else from the database. */
async function loadCurrent(sql: Sql, ids: string[], index?: ZoneIndex): Promise<CurrentZone[]> {
  const known: CurrentZone[] = []
  const unknown: string[] = []
  for (const id of ids) {
    const zone = index?.current(id)
    if (zone) known.push(zone)
    else unknown.push(id)
  }
  if (unknown.length === 0) return known
  const read = await sql<CurrentZone>`
    select z.id, z.version, v.valid_from
    from watchpost.zones z
    join watchpost.zone_versions v on v.zone_id = z.id and v.version = z.version
    where z.id = any(${unknown}::uuid[])`
  return [...known, ...read]
}

function prepare(row: Kept): ZoneAtTime {
  const fields = parseZoneVersion(Object.assign(row.definition, { polygon: row.polygon }))
  const { owner_id, deleted_at, enabled } = fields
  return {
    id: row.zone_id,
    version: row.version,
    label: fields.label,
    prepared: prepareZone(fields),
    owned: { owner_id, deleted_at, enabled },
  }
}
