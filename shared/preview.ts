/** What a zone would have done: the decision folded over stored revisions. */
import { z } from 'zod'
import { groupMainshocks, type MainshockState } from './aftershock.ts'
import { stepTimes } from './alert-step.ts'
import type { BurstMemory } from './burst.ts'
import type { DecidableEvent, OffReason, ZoneRule } from './checks.ts'
import { decisionCost, isInside } from './decide.ts'
import { decideLinked, type LinkedDecision } from './decide-linked.ts'
import type { Escalation } from './escalation.ts'
import { Severity } from './event.ts'
import { type PreparedZone, prepareZone } from './geometry/geometry.ts'
import { runToEnd, type Steps } from './geometry/steps.ts'
import { type Memory, memoryKey } from './match-memory.ts'
import { Instant } from './time.ts'

const PREVIEW_CHECKS = [
  'enabled',
  'filter',
  'severity',
  'aftershock',
  'duplicate',
  'dwell',
  'quiet_hours',
  'burst',
] as const
type PreviewCheck = (typeof PREVIEW_CHECKS)[number]

const Count = z.int().min(0)

const PreviewEvent = z.object({
  event_id: z.string(),
  title: z.string(),
  ts: Instant,
  raised_at: Instant.meta({ description: 'When the revision that raised it was first seen.' }),
  severity: Severity,
  effective_severity: z.number(),
  steps_at: z.array(Instant).meta({
    description:
      'When the steps of `escalation` would have run, in their order, unless somebody had acknowledged the alert or it had ' +
      'ended before: who would have, nobody can know. Without those that quiet hours drop.',
  }),
})

export const Preview = z.object({
  count: Count.meta({ description: 'How many alerts would have been sent at once.' }),
  per_day: z.number().min(0).meta({
    description: '`count` divided by `days_with_data`, rounded to two decimals.',
  }),
  days_with_data: z.int().min(1).meta({
    description: 'The days of the window, today included, for which revisions are stored.',
  }),
  by_source: z.array(z.object({ source: z.string(), count: Count })),
  by_day: z.array(z.object({ day: z.iso.date(), count: Count })).meta({
    description:
      'Every UTC day of the window, oldest first; an alert counts on the day it was raised.',
  }),
  suppressed: z
    .object({
      enabled: Count.meta({
        description:
          'Events inside while the zone was deleted, disabled or paused by the plan of its owner.',
      }),
      filter: Count,
      severity: Count,
      aftershock: Count,
      duplicate: Count,
      dwell: Count,
      quiet_hours: Count,
      burst: Count.meta({
        description: 'Alerts beyond max_alerts_per_hour, which would have been sent in a digest.',
      }),
    })
    .meta({ description: 'Events inside the zone by the check that failed.' }),
  snooze_ignored: z.boolean().meta({
    description:
      'True when a snooze touches the window. A preview never applies it, so more alerts are counted than were sent.',
  }),
  events: z
    .array(PreviewEvent)
    .meta({ description: 'A page of the events that raised an alert, newest first.' }),
  suggestion: z.string().nullable(),
  suggested_threshold: z.object({ min_severity: Severity, count: Count }).nullable().meta({
    description:
      'The threshold that `suggestion` names, and how many alerts it would have sent at once; null where another one would not help.',
  }),
})
export type Preview = z.infer<typeof Preview>

/** A stored revision; `first_seen_at` is the time of its decision. */
export interface Revision {
  event: DecidableEvent
  first_seen_at: Date
}

interface PreviewOptions {
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

const DAY_MS = 24 * 60 * 60 * 1000
/** From this many alerts a day on, a higher threshold is suggested. */
const MANY_A_DAY = 20
const COMFORTABLE_A_DAY = 5
const DEFAULT_EVENTS = 100

/**
 * Applies `decide` to revisions sorted by `first_seen_at` and counts each event once, by its final result: an event that
 * was first held or suppressed and later raised counts as raised, on the day it was raised; otherwise it counts under the
 * check that failed last. Events of several sources that are the same count once, the others under `duplicate`. For
 * moving subjects each stay counts once, and `duplicate` counts further positions of a stay that has an alert. Revisions
 * outside the zone, ended or retracted ones and late positions are not counted.
 *
 * Revisions before the window are decided but not counted. Pass them, or `memory_before`, so that an alert raised before
 * the window is not raised again in it.
 */
export function preview(
  zone: ZoneRule | PreparedZone<ZoneRule>,
  revisions: Iterable<Revision>,
  options: PreviewOptions,
): Preview {
  return runToEnd(previewInSteps(zone, revisions, options))
}

/** `preview` as Steps, one per decision, so that other work can run in between. */
export function* previewInSteps(
  zone: ZoneRule | PreparedZone<ZoneRule>,
  revisions: Iterable<Revision>,
  options: PreviewOptions,
): Steps<Preview> {
  const given = 'stay_margin_m' in zone ? zone.zone : zone
  const rule = { ...given, snoozed_until: null }
  const list = [...revisions]
  const tally = yield* replay(rule, list, options)
  const summary = yield* summarise(rule, tally, options)
  const [start] = windowOf(options)
  const isSnoozed = given.snoozed_until !== null && Date.parse(given.snoozed_until) > start
  return {
    ...summary,
    snooze_ignored: isSnoozed || (options.was_snoozed ?? false),
    ...(yield* suggest(rule, list, options, tally)),
  }
}

/** The final result of an event or a stay. */
interface Entry {
  result: 'raised' | Exclude<PreviewCheck, 'duplicate'>
  revision: Revision
  effective: number
}

interface Tally {
  entries: Map<string, Entry>
  duplicates: number
}

function* replay(rule: ZoneRule, revisions: Revision[], options: PreviewOptions): Steps<Tally> {
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
function daysWithData(options: PreviewOptions): number {
  const [start, end] = windowOf(options)
  const from = Math.max(start, options.data_from?.getTime() ?? start)
  return Math.max(1, Math.ceil((end - from) / DAY_MS))
}

/** The first millisecond of the window and of the day after it. */
function windowOf({ days, now }: PreviewOptions): [start: number, end: number] {
  const end = (Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS
  return [end - days * DAY_MS, end]
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

function* summarise(
  rule: ZoneRule,
  tally: Tally,
  options: PreviewOptions,
): Steps<Omit<Preview, keyof Suggestion | 'snooze_ignored'>> {
  const none = {
    enabled: 0,
    filter: 0,
    severity: 0,
    aftershock: 0,
    dwell: 0,
    quiet_hours: 0,
    burst: 0,
  }
  const suppressed = { ...none, duplicate: tally.duplicates }
  const [start] = windowOf(options)
  const byDay = new Map<string, number>()
  for (let day = 0; day < options.days; day++) byDay.set(dayOf(start + day * DAY_MS), 0)
  const bySource = new Map<string, number>()
  const raised: Entry[] = []
  for (const entry of tally.entries.values()) {
    yield 10
    if (entry.result !== 'raised') {
      suppressed[entry.result]++
      continue
    }
    const { event, first_seen_at } = entry.revision
    const day = dayOf(first_seen_at.getTime())
    byDay.set(day, (byDay.get(day) ?? 0) + 1)
    bySource.set(event.source, (bySource.get(event.source) ?? 0) + 1)
    raised.push(entry)
  }
  const days_with_data = daysWithData(options)
  return {
    count: raised.length,
    per_day: Math.round((100 * raised.length) / days_with_data) / 100,
    days_with_data,
    by_source: [...bySource]
      .map(([source, count]) => ({ source, count }))
      .sort((a, b) => b.count - a.count || (a.source < b.source ? -1 : 1)),
    by_day: [...byDay].map(([day, count]) => ({ day, count })),
    suppressed,
    events: pageOf(rule, raised, options),
  }
}

/** Newest first, by time and id. The entries come nearly sorted, oldest first. */
function pageOf(
  rule: ZoneRule,
  raised: Entry[],
  { page, escalation = null }: PreviewOptions,
): Preview['events'] {
  const { limit, before } = page ?? { limit: DEFAULT_EVENTS, before: undefined }
  const until = before ? Date.parse(before[0]) : Infinity
  const isOnPage = ({ revision: { event, first_seen_at } }: Entry) => {
    const at = first_seen_at.getTime()
    return at < until || (at === until && before !== undefined && event.id < before[1])
  }
  const order = (a: Entry, b: Entry) =>
    a.revision.first_seen_at.getTime() - b.revision.first_seen_at.getTime() ||
    (a.revision.event.id < b.revision.event.id ? -1 : 1)
  const rest = raised.filter(isOnPage).sort(order).slice(-limit).reverse()
  return rest.map(({ revision: { event, first_seen_at }, effective }) => ({
    event_id: event.id,
    title: event.title,
    ts: event.ts,
    raised_at: first_seen_at.toISOString(),
    severity: event.severity,
    effective_severity: effective,
    steps_at: stepTimes({ ...rule, escalation }, effective, first_seen_at).map((at) =>
      at.toISOString(),
    ),
  }))
}

type Suggestion = Pick<Preview, 'suggestion' | 'suggested_threshold'>
const says = (suggestion: string | null): Suggestion => ({ suggestion, suggested_threshold: null })

/** A suggestion for a zone with no alerts or far too many. Its numbers come from replaying with other thresholds. */
function* suggest(
  rule: ZoneRule,
  revisions: Revision[],
  options: PreviewOptions,
  tally: Tally,
): Steps<Suggestion> {
  const entries = [...tally.entries.values()]
  const having = (fate: Entry['result']) => entries.filter((entry) => entry.result === fate)
  const raised = having('raised')
  const raisedAt = function* (min_severity: number): Steps<number> {
    const { entries } = yield* replay({ ...rule, min_severity }, revisions, options)
    return [...entries.values()].filter(({ result }) => result === 'raised').length
  }
  if (raised.length === 0) return yield* suggestMore(rule, options, entries, having, raisedAt)
  const days = daysWithData(options)
  const perDay = raised.length / days
  if (perDay < MANY_A_DAY) return says(null)
  const strongestFirst = raised.map(({ effective }) => effective).sort((a, b) => b - a)
  const wanted = strongestFirst[Math.floor(COMFORTABLE_A_DAY * days)] ?? 0
  const threshold = Math.min(Math.ceil((wanted + 1) / 5) * 5, 100)
  const left = threshold > rule.min_severity ? yield* raisedAt(threshold) : raised.length
  const many = `${plural(raised.length, 'alert')} in ${plural(days, 'day')} is too many to read`
  if (left === 0 || left >= raised.length) {
    return says(`${many}; narrow the zone, its types or its sources.`)
  }
  return {
    suggestion: `${many}; min_severity ${threshold} would have fired ${plural(left, 'time')}.`,
    suggested_threshold: { min_severity: threshold, count: left },
  }
}

function* suggestMore(
  rule: ZoneRule,
  options: PreviewOptions,
  entries: Entry[],
  having: (fate: Entry['result']) => Entry[],
  raisedAt: (min_severity: number) => Steps<number>,
): Steps<Suggestion> {
  if (!rule.enabled) {
    return says('Nothing would have fired: the zone is switched off, enable it first.')
  }
  if (entries.length === 0) {
    const days = daysWithData(options)
    const isAll = days < options.days
    const more = isAll ? 'there is no older data' : 'a larger zone or more days would show more'
    return says(`Nothing happened inside the zone in ${plural(days, 'day')}; ${more}.`)
  }
  const weak = having('severity')
  if (weak.length > 0) {
    const strongest = weak.reduce((most, { effective }) => Math.max(most, effective), 0)
    const threshold = strongest >= 5 ? Math.floor(strongest / 5) * 5 : Math.floor(strongest)
    const fires = yield* raisedAt(threshold)
    const inside = `Nothing would have fired. The strongest event inside was ${strongest}`
    if (fires > 0) {
      return {
        suggestion: `${inside}; min_severity ${threshold} would have fired ${plural(fires, 'time')}.`,
        suggested_threshold: { min_severity: threshold, count: fires },
      }
    }
  }
  const [fate, number] = FATES.map((name) => [name, having(name).length] as const).reduce(
    (most, next) => (next[1] > most[1] ? next : most),
  )
  return says(
    `Nothing would have fired at once: ${plural(number, 'event')} inside ${WHY[fate](number, rule)}.`,
  )
}

const FATES = [
  'enabled',
  'quiet_hours',
  'burst',
  'dwell',
  'aftershock',
  'filter',
  'severity',
] as const

const WHY: Record<
  Exclude<Entry['result'], 'raised'>,
  (number: number, rule: ZoneRule) => string
> = {
  quiet_hours: (_, { quiet_mode }) =>
    quiet_mode === 'hold' ? 'waited for the end of quiet hours' : 'fell into quiet hours',
  enabled: () => 'came while the zone was deleted, switched off or paused',
  burst: (_, { max_alerts_per_hour }) =>
    `came after ${plural(max_alerts_per_hour ?? 0, 'alert')} in an hour and waited`,
  aftershock: (n) => (n === 1 ? 'is an aftershock' : 'are aftershocks'),
  dwell: (_, { dwell_minutes }) => `stayed for less than ${dwell_minutes} minutes`,
  filter: (n) => `${n === 1 ? 'is' : 'are'} not of its sources and types`,
  severity: (_, { min_severity }) => `stayed below ${min_severity}`,
}

const plural = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`
