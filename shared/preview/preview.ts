/** What a zone would have done: the decision folded over stored revisions. */
import { z } from 'zod'
import { stepTimes } from '../decide/alert-step.ts'
import type { ZoneRule } from '../decide/checks.ts'
import type { PreparedZone } from '../geometry/geometry.ts'
import { runToEnd, type Steps } from '../geometry/steps.ts'
import { Severity } from '../schemas/event.ts'
import { Instant } from '../time.ts'
import { type Suggestion, suggest } from './suggestion.ts'
import {
  DAY_MS,
  daysWithData,
  type Entry,
  type PreviewOptions,
  type Revision,
  replay,
  type Tally,
  windowOf,
} from './tally.ts'

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
