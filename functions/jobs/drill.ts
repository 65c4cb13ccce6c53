import { decideLinked } from '../../shared/decide/decide-linked.ts'
import type { Memory } from '../../shared/decide/match-memory.ts'
import type { PreparedZone } from '../../shared/geometry/geometry.ts'
import { DRILL_SOURCE, type DrillEvent } from '../../shared/schemas/drill.ts'
import { isMoving } from '../../shared/schemas/event.ts'
import type { ZoneFields } from '../../shared/schemas/zone.ts'
import type { Sql } from '../../shared/sql.ts'
import { drillTitle } from '../channels/message/words.ts'
import { Effects } from './effects.ts'
import type { Candidate } from './match-ahead.ts'
import { each, type Queue } from './queue.ts'
import { loadMainshocks, lockBursts } from './swarm.ts'
import { loadZones } from './zone-cache.ts'

/** Decides a drill like a batch of one event, and sends its alert like any other; a later job ends it. */
export const drill: Queue = {
  name: 'drill',
  slots: 1,
  run: each(async (context, job) => {
    const drill_id = job.data.drill_id ?? job.id
    const is_end = job.data.ends !== undefined
    const done = await context.finish(job, async (sql) =>
      is_end ? endDrill(sql, drill_id) : runDrill(sql, drill_id),
    )
    return { drill_id, ...done }
  }),
}

type Row = { zone_id: string; event: DrillEvent; ignores_quiet_hours: boolean }

/**
 * The decision and its effects are those of matching, with what matching remembers of the zone's bursts; but nothing is
 * remembered of a drill, so that it changes no decision about a real event, and is linked with none.
 */
async function runDrill(sql: Sql, id: string) {
  const [row] = await sql<Row>`
    select zone_id, event, ignores_quiet_hours from watchpost.drills where id = ${id} and decided_at is null`
  if (!row) return { skipped: true }
  const at = new Date()
  const event = candidateOf(id, row, at)
  const zones = await loadZones(sql, [event], at)
  const found = zones.stateOf(row.zone_id, at)
  if (!found) return { skipped: true }
  const { zone, off } = found
  const mainshocks = await loadMainshocks(sql, [zone], [event])
  const burst = (await lockBursts(sql, [zone])).get(zone.id) ?? null
  const stay = stayOf(event, zone.prepared.zone, at)
  const decide = (prepared: PreparedZone<ZoneFields>) =>
    decideLinked(prepared, event, () => stay, at, { off, mainshocks, burst })
  const decision = decide(zone.prepared)
  const sent = row.ignores_quiet_hours ? decide(withoutQuietHours(zone.prepared)) : decision
  const is_sent = sent.outcome === 'raised'
  if (is_sent) {
    const effects = new Effects(id, id)
    effects.alert(zone, { ...event, source: DRILL_SOURCE }, sent, at)
    await effects.store(sql)
  }
  const { outcome, raised, reason, checks, held_until } = decision
  const told = { zone_version: zone.version, outcome, raised, is_sent, reason, checks, held_until }
  await sql`select private.settle_drill(${id}, ${JSON.stringify(told)}::jsonb)`
  return { outcome, is_sent, failed_at: decision.failed_at }
}

/** Ends a drill, or enqueues a later job for that while it still rings. */
async function endDrill(sql: Sql, id: string) {
  const [row] = await sql<{ ended: boolean }>`select private.end_drill(${id}) as ended`
  return { ended: row?.ended }
}

function candidateOf(id: string, { zone_id, event }: Row, at: Date): Candidate {
  const now = at.toISOString()
  return {
    ...event,
    id: `drill:${id}`,
    title: drillTitle(event.type, 'en'),
    ts: now,
    subject: SUBJECTS[event.type]?.(id) ?? null,
    ...{ status: 'active', url: null, geometry: null, ends_at: null, flag: null },
    ...{ magnitude: null, depth_km: null },
    ...{ revision: 1, first_seen_at: now, known_since: now, zone_ids: [zone_id] },
  }
}

/** What moves has a subject, so that the dwell of the zone is tested. */
const SUBJECTS: Partial<Record<string, (id: string) => string>> = {
  vessel: (id) => `mmsi:drill-${id}`,
  aircraft: (id) => `icao24:drill-${id}`,
}

/** What moves has stayed in the zone for just as long as its dwell: a drill is one position, and nobody waits for more. */
function stayOf(
  { subject }: Candidate,
  { dwell_minutes }: Pick<ZoneFields, 'dwell_minutes'>,
  at: Date,
): Memory | null {
  if (!isMoving(subject)) return null
  return {
    kind: 'stay',
    began_at: new Date(at.getTime() - dwell_minutes * 60_000).toISOString(),
    last_seen_at: new Date(at.getTime() - 1).toISOString(),
    outside_in_a_row: 0,
    ...{ alert: null, alert_event_id: null, peak: null, held_until: null },
  }
}

function withoutQuietHours(prepared: PreparedZone<ZoneFields>): PreparedZone<ZoneFields> {
  const none = { quiet_hours_start: null, quiet_hours_end: null, quiet_windows: null }
  return { ...prepared, zone: { ...prepared.zone, ...none } }
}
