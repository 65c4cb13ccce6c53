import type { DecidableEvent } from '../../shared/checks.ts'
import { type Decision, decide, decisionCost } from '../../shared/decide.ts'
import type { PreparedZone } from '../../shared/geometry/geometry.ts'
import type { Memory } from '../../shared/match-memory.ts'
import { memoryKey } from '../../shared/preview.ts'
import type { Sql } from '../../shared/sql.ts'
import type { ZoneFields } from '../../shared/zone.ts'
import { createPacer } from '../scheduling.ts'
import { Effects } from './effects.ts'
import type { Queue } from './queue.ts'
import { loadZones } from './zone-cache.ts'

/** A stored revision or position, and the zones whose boxes it meets. */
export type Candidate = DecidableEvent & {
  revision: number
  first_seen_at: string
  url: string | null
  zone_ids: string[]
}

/**
 * Matches a source's batches with the zones near their events. A job only wakes this up: batches of
 * a source are matched one at a time in the order of their arrival, whichever process runs the job.
 */
export const match: Queue = {
  name: 'match',
  slots: 2,
  run: async (context, job) => {
    const source = job.data.source ?? ''
    const counts = { batches: 0, revisions: 0, pairs: 0, alerts: 0, updates: 0, thinned: 0 }
    const one = (sql: Sql) => matchNext(sql, source, counts)
    while (await context.step(one)) counts.batches += 1
    await context.finish(job, async () => undefined)
    return { source, ...counts }
  },
}

type Counts = {
  revisions: number
  pairs: number
  alerts: number
  updates: number
  thinned: number
}

/**
 * Matches the oldest unmatched batch of a source in the caller's transaction; returns false if
 * there is none.
 */
async function matchNext(sql: Sql, source: string, counts: Counts): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`match:${source}`}, 0))`
  const [batch] = await sql<{ id: string }>`
    select id from watchpost.batches
    where source = ${source} and matched_at is null
    order by seq
    limit 1`
  if (!batch) return false
  const candidates = await sql<Candidate>`select * from private.batch_candidates(${batch.id})`
  const done = await decideAll(sql, candidates, batch.id)
  const [row] = await sql<{ thinned: number }>`
    select private.thin_positions(${batch.id}, ${[...done.decisive]}) as thinned`
  await sql`update watchpost.batches set matched_at = now() where id = ${batch.id}`
  counts.revisions += candidates.length
  counts.pairs += done.pairs
  counts.alerts += done.alerts
  counts.updates += done.updates
  counts.thinned += row?.thinned ?? 0
  return true
}

/**
 * Decides every candidate with each of its zones, as the zone was when the revision was first seen
 * (or at `at`), and stores the results: alerts, deliveries, their jobs, and match memory.
 */
export async function decideAll(
  sql: Sql,
  candidates: Candidate[],
  runId: string,
  options: { at?: Date } = {},
): Promise<{ pairs: number; alerts: number; updates: number; decisive: Set<string> }> {
  const zones = await loadZones(sql, candidates, options.at)
  const memories = await loadMemories(sql, candidates)
  const effects = new Effects(runId)
  // Pauses regularly, because the API may run in this process.
  const pace = createPacer()
  let pairs = 0
  const decisive = new Set<string>()
  for (const event of candidates) {
    const at = options.at ?? new Date(event.first_seen_at)
    const key = memoryKey(event)
    for (const zoneId of event.zone_ids) {
      const zone = zones.at(zoneId, at)
      if (!zone) continue
      pairs += 1
      await pace(decisionCost(zone.prepared, event))
      const slot = `${zoneId} ${key}`
      const before = memories.get(slot) ?? null
      const decision = decidePair(zone.prepared, event, before, at)
      if (isDecisive(decision, before)) decisive.add(event.id)
      if (decision.memory && decision.memory !== before) {
        memories.set(slot, decision.memory)
        effects.remember(zoneId, key, decision.memory)
      }
      if (decision.outcome !== 'none')
        effects.alert(zone, event, decision, { at, existed: hasAlert(before, decision) })
      if (decision.update) effects.update(zone, event, decision, decision.update, at)
    }
  }
  await effects.store(sql)
  return { pairs, alerts: effects.alertCount, updates: effects.updateCount, decisive }
}

/**
 * Whether a later decision would differ without this one: a stay began, was completed or ended, or its alert
 * changed. That the subject was merely seen again is told by the next sample as well.
 */
function isDecisive({ memory, outcome, update }: Decision, before: Memory | null): boolean {
  if (outcome !== 'none' || update) return true
  if (!memory || memory === before) return false
  if (memory.kind !== 'stay' || before?.kind !== 'stay') return true
  return STAY_FIELDS.some((field) => memory[field] !== before[field])
}

/** All but when the subject was seen last. */
const STAY_FIELDS = ['began_at', 'outside_in_a_row', 'alert', 'peak', 'held_until'] as const

/** Brief first: most pairs fail early, and only those with an effect need all numbers. */
function decidePair(
  prepared: PreparedZone<ZoneFields>,
  event: DecidableEvent,
  memory: Memory | null,
  at: Date,
): Decision {
  const brief = decide(prepared, event, memory, at, { brief: true })
  if (brief.outcome === 'none' && !brief.update) return brief
  return decide(prepared, event, memory, at)
}

/**
 * Whether the alert exists already (it was held or suppressed before) and this decision only
 * changes it.
 */
function hasAlert(before: Memory | null, decision: Decision): boolean {
  if (before === null) return false
  if (before.kind === 'event') return true
  const stays = decision.memory?.kind === 'stay' && decision.memory.began_at === before.began_at
  return stays && before.alert !== null
}

async function loadMemories(sql: Sql, candidates: Candidate[]): Promise<Map<string, Memory>> {
  const keys = [...new Set(candidates.map(memoryKey))]
  const rows = await sql<{ zone_id: string; key: string; memory: Memory }>`
    select zone_id, key, memory from watchpost.match_memory where key = any(${keys}) for update`
  return new Map(rows.map((row) => [`${row.zone_id} ${row.key}`, row.memory]))
}
