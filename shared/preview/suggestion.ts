import type { ZoneRule } from '../decide/checks.ts'
import type { Steps } from '../geometry/steps.ts'
import {
  daysWithData,
  type Entry,
  type PreviewOptions,
  type Revision,
  replay,
  type Tally,
} from './tally.ts'

/** From this many alerts a day on, a higher threshold is suggested. */
const MANY_A_DAY = 20
const COMFORTABLE_A_DAY = 5

/** What would make the zone more useful; null where nothing would. */
export type Suggestion = {
  suggestion: string | null
  suggested_threshold: { min_severity: number; count: number } | null
}

const says = (suggestion: string | null): Suggestion => ({ suggestion, suggested_threshold: null })

/** A suggestion for a zone with no alerts or far too many. Its numbers come from replaying with other thresholds. */
export function* suggest(
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
