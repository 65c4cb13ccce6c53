import { endUnseenStay } from '../../shared/decide/alert-change.ts'
import type { StayMemory } from '../../shared/decide/match-memory.ts'
import type { EventReference } from '../../shared/schemas/alert.ts'
import type { Sql } from '../../shared/sql.ts'
import { Effects } from './effects.ts'
import { loadZones } from './zone-cache.ts'

type Row = {
  zone_id: string
  key: string
  memory: StayMemory
  /** What its alert told last; null when the alert was deleted. */
  event: EventReference | null
  event_revision: number
}

/**
 * Ends stays whose subject was not seen for 24 hours and which have an alert, up to `limit` of them: no position will
 * come that would. Those that another process is matching are left to the next call. Returns how many alerts were told.
 */
export async function endUnseenStays(sql: Sql, limit = 500): Promise<number> {
  const now = new Date()
  const rows = await sql<Row>`select * from private.unseen_stays(${now.toISOString()}, ${limit})`
  const candidates = rows.map(({ zone_id }) => ({
    zone_ids: [zone_id],
    first_seen_at: now.toISOString(),
  }))
  const zones = await loadZones(sql, candidates, now)
  const effects = new Effects(crypto.randomUUID())
  for (const { zone_id, key, memory, event, event_revision } of rows) {
    const zone = zones.at(zone_id, now)
    // A zone that is off is told nothing, as when a subject leaves it.
    const told = zone && event ? { zone, event: { ...event, revision: event_revision } } : null
    const end = endUnseenStay(told && [told.zone.prepared, told.event], memory, now)
    if (!end) continue
    effects.remember(zone_id, key, end.memory)
    if (told && end.update) effects.update(told.zone, told.event, end, end.update, now)
  }
  await effects.store(sql)
  return effects.updateCount
}
