import { groupMainshocks, type Mainshocks } from '../../shared/decide/aftershock.ts'
import { BURST_KEY, type BurstMemory } from '../../shared/decide/burst.ts'
import type { Sql } from '../../shared/sql.ts'
import { selectMainshocks } from '../mainshocks.ts'
import type { ZoneAtTime } from './zone-store.ts'

/** The earthquakes that may have caused the events; none when no zone excludes aftershocks. */
export async function loadMainshocks(
  sql: Sql,
  zones: readonly ZoneAtTime[],
  events: readonly { type: string; ts: string }[],
): Promise<Mainshocks> {
  const times = events.flatMap(({ type, ts }) => (type === 'earthquake' ? [ts] : [])).sort()
  const [first, last] = [times[0], times.at(-1)]
  const excludes = zones.some(({ prepared }) => prepared.zone.aftershocks !== null)
  if (!excludes || !first || !last) return []
  return groupMainshocks(await selectMainshocks(sql, first, last))
}

/**
 * What the zones with a limit an hour sent lately. The rows stay locked until the end of the transaction, so that sources
 * matched at the same time share the limit; always in the same order, so that they do not wait for each other in a circle.
 */
export async function lockBursts(
  sql: Sql,
  zones: readonly ZoneAtTime[],
): Promise<Map<string, BurstMemory>> {
  const limited = zones.filter(({ prepared }) => prepared.zone.max_alerts_per_hour !== null)
  const ids = [...new Set(limited.map(({ id }) => id))]
  if (ids.length === 0) return new Map()
  const none: BurstMemory = { kind: 'burst', sent: [], until: null }
  await sql`
    insert into watchpost.match_memory (zone_id, key, memory)
    select id, ${BURST_KEY}, ${JSON.stringify(none)}::jsonb from unnest(${ids}::uuid[]) as limited (id)
    order by id
    on conflict do nothing`
  const rows = await sql<{ zone_id: string; memory: BurstMemory }>`
    select zone_id, memory from watchpost.match_memory
    where key = ${BURST_KEY} and zone_id = any(${ids}::uuid[])
    order by zone_id
    for update`
  return new Map(rows.map(({ zone_id, memory }) => [zone_id, memory]))
}
