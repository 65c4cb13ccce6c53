import { groupMainshocks, type MainshockState } from '../decide/aftershock.ts'
import type { BurstMemory } from '../decide/burst.ts'
import type { DecidableEvent, OffReason, ZoneRule } from '../decide/checks.ts'
import { decisionCost, isInside } from '../decide/decide.ts'
import { decideLinked, type LinkedDecision } from '../decide/decide-linked.ts'
import type { Escalation } from '../decide/escalation.ts'
import { type Memory, memoryKey } from '../decide/match-memory.ts'
import { type PreparedZone, prepareZone } from '../geometry/geometry.ts'
import type { Steps } from '../geometry/steps.ts'

export const DAY_MS = 24 * 60 * 60 * 1000

type PreviewCheck =
  | 'enabled'
  | 'filter'
  | 'severity'
  | 'aftershock'
  | 'duplicate'
  | 'dwell'
  | 'quiet_hours'
  | 'burst'

/** A stored revision; `first_seen_at` is the time of its decision. */
export interface Revision {
  event: DecidableEvent
  first_seen_at: Date
}

/** What is previewed besides the zone and the revisions. */
export interface PreviewOptions {
  /** 1–90 UTC days: today, by `now`, and the days before. */
  days: number
  now: Date
  /** The start of the stored data; absent: there is data for the whole window. */
  data_from?: Date
  /** Why the zone was off at a time, although it is on now. */
  off_at?: (at: Date) => OffReason | null
  /** Whether a snooze other than the current one touches the window. */
  was_snoozed?: boolean
  /** The page of events: the most of them, and only those raised before this one. */
  page?: { limit: number; before: EventPosition | undefined }
  /** Memories as they stood before the first revision, by {@link memoryKey}. */
  memory_before?: ReadonlyMap<string, Memory>
  /** For a zone that excludes aftershocks: the earthquakes that may have caused the events. */
  mainshocks?: readonly MainshockState[]
  /** The steps of the zone, which no decision depends on. */
  escalation?: Escalation | null
}

/** Where an event stands in the list, which is sorted by time and id. */
type EventPosition = [raised_at: string, event_id: string]

/** The final result of an event or a stay. */
export interface Entry {
  result: 'raised' | Exclude<PreviewCheck, 'duplicate'>
  revision: Revision
  effective: number
}

/** What became of all events. */
export interface Tally {
  entries: Map<string, Entry>
  duplicates: number
}

/** replay decides the revisions in their order, and tells what became of each event in the window. */
export function* replay(
  rule: ZoneRule,
  revisions: Revision[],
  options: PreviewOptions,
): Steps<Tally> {
  const prepared = prepareZone(rule)
  const [start, end] = windowOf(options)
  const memories = new Map(options.memory_before)
  const mainshocks = groupMainshocks(options.mainshocks ?? [])
  let burst: BurstMemory | null = null
  const tally: Tally = { entries: new Map(), duplicates: 0 }
  for (const revision of revisions) {
    const { event, first_seen_at } = revision
    yield decisionCost(prepared, event, mainshocks)
    const remembered = (key: string) => memories.get(key) ?? null
    const before = remembered(memoryKey(event))
    const off = options.off_at?.(first_seen_at) ?? null
    const facts = { brief: true, off, mainshocks, burst }
    const decision: LinkedDecision = decideLinked(prepared, event, remembered, first_seen_at, facts)
    for (const [key, memory] of decision.memories) memories.set(key, memory)
    burst = decision.burst
    const at = first_seen_at.getTime()
    // A position that leaves the stay unchanged came late or does not concern the zone.
    const isLate = before?.kind === 'stay' && decision.memory === before
    if (at >= start && at < end && !isLate) count(tally, prepared, revision, decision)
  }
  return tally
}

function count(
  tally: Tally,
  prepared: PreparedZone<ZoneRule>,
  revision: Revision,
  decision: LinkedDecision,
): void {
  const { event } = revision
  const { failed_at, memory, effective_severity: effective, outcome } = decision
  // Its rule is never snoozed.
  if (event.status !== 'active' || failed_at === 'geometry' || failed_at === 'snooze') return
  if ((failed_at === 'enabled' || failed_at === 'filter') && !isInside(prepared, event)) return
  const stay = memory?.kind === 'stay' ? memory : null
  // In a group it is no longer an entry of its own.
  if (decision.group_id !== null) tally.entries.delete(event.id)
  if (failed_at === 'duplicate') {
    if (stay || decision.link) tally.duplicates++
    return
  }
  // A later revision below the threshold does not undo an alert.
  const isAlerted = stay ? stay.alert !== null : memory !== null
  if (isAlerted && outcome === 'none') return
  const key = stay ? `${memoryKey(event)} ${stay.began_at}` : (decision.group_id ?? event.id)
  // Deleted first, so that the entries are in the order of their last change.
  tally.entries.delete(key)
  tally.entries.set(key, { result: failed_at ?? 'raised', revision, effective })
}

/** The days of the window, today included, for which there is data. */
export function daysWithData(options: PreviewOptions): number {
  const [start, end] = windowOf(options)
  const from = Math.max(start, options.data_from?.getTime() ?? start)
  return Math.max(1, Math.ceil((end - from) / DAY_MS))
}

/** The first millisecond of the window and of the day after it. */
export function windowOf({ days, now }: PreviewOptions): [start: number, end: number] {
  const end = (Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS
  return [end - days * DAY_MS, end]
}
