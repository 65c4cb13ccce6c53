import type { PreparedZone } from '../../shared/geometry/geometry.ts'
import type { ZoneFields } from '../../shared/schemas/zone.ts'
import type { ZoneVersion } from '../../shared/schemas/zone-version.ts'

/** A zone as it was at some time, prepared for decisions. */
export type ZoneAtTime = {
  id: string
  version: number
  label: string
  prepared: PreparedZone<ZoneFields>
  owned: Pick<ZoneVersion, 'owner_id' | 'deleted_at' | 'enabled'>
}

/** Counts vertices: of 200 bytes each, about 200 MB in all. */
const MAX_SIZE = 1_000_000
/** What the rest of a zone takes, in vertices. */
const ZONE_SIZE = 8

/** Keeps one version of each zone, up to a size in all: those that were kept first make room for others. */
export function createZoneStore(max_size = MAX_SIZE) {
  const zones = new Map<string, ZoneAtTime>()
  let size = 0
  const drop = (id: string) => {
    const zone = zones.get(id)
    if (zone && zones.delete(id)) size -= sizeOf(zone)
  }
  return {
    get: (id: string) => zones.get(id),
    keep: (zone: ZoneAtTime) => {
      drop(zone.id)
      for (const id of zones.keys()) {
        if (size + sizeOf(zone) <= max_size) break
        drop(id)
      }
      zones.set(zone.id, zone)
      size += sizeOf(zone)
    },
  }
}

const sizeOf = ({ prepared }: ZoneAtTime) => ZONE_SIZE + prepared.vertices
