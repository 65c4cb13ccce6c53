import { type PreparedZone, prepareZone } from '../../shared/geometry/geometry.ts'
import type { Sql } from '../../shared/sql.ts'
import type { ZoneFields } from '../../shared/zone.ts'
import { parseZoneVersion } from '../../shared/zone-version.ts'
import { createPacer } from '../scheduling.ts'

/** A zone as it was at some time, prepared for decisions. */
export type ZoneAtTime = {
  id: string
  version: number
  label: string
  prepared: PreparedZone<ZoneFields>
}

/** Counts the vertices of all zones plus one per zone: about 200 MB. */
const MAX_CACHED = 1_000_000
// A version never changes, so a cached one is never out of date.
const cache = new Map<string, ZoneAtTime>()
let cached = 0

type Current = { id: string; version: number; valid_from: string }
type Kept = { zone_id: string; version: number; valid_from: string; definition: unknown }

/**
 * The zones of the candidates, each as it was at a given time, except those of accounts that are
 * paused by their plan or a ban. With `now`, every zone is taken as it is.
 */
export async function loadZones(
  sql: Sql,
  candidates: { zone_ids: string[]; first_seen_at: string }[],
  now?: Date,
): Promise<{ at: (id: string, at: Date) => ZoneAtTime | undefined }> {
  const ids = [...new Set(candidates.flatMap((candidate) => candidate.zone_ids))]
  if (ids.length === 0) return { at: () => undefined }
  const current = await sql<Current>`
    select z.id, z.version, v.valid_from
    from watchpost.zones z
    join watchpost.zone_versions v on v.zone_id = z.id and v.version = z.version
    join watchpost.accounts a on a.user_id = z.owner_id
    where z.id = any(${ids}::uuid[]) and z.deleted_at is null
      and a.plan <> 'free' and not private.is_banned(a.banned_until)`
  // Candidates are in the order in which they were first seen.
  const oldest = candidates[0]?.first_seen_at ?? ''
  const isChanged = (zone: Current) => !now && zone.valid_from > oldest && zone.version > 1
  const changed = current.filter(isChanged)
  // Read from the cache now, because it may be cleared while this batch is being processed.
  const ready = new Map<string, ZoneAtTime>()
  const missing: Current[] = []
  for (const zone of current.filter((zone) => !isChanged(zone))) {
    const known = cache.get(keyOf(zone.id, zone.version))
    if (known) ready.set(keyOf(zone.id, zone.version), known)
    else missing.push(zone)
  }
  const kept = await sql<Kept>`
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
  return {
    at: (id, at) => {
      const versions = found.get(id)
      if (now) return versions?.[0]?.zone
      const moment = at.toISOString()
      return versions?.find(({ valid_from }) => valid_from <= moment)?.zone
    },
  }
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
  return {
    id: row.zone_id,
    version: row.version,
    label: fields.label,
    prepared: prepareZone(fields),
  }
}
