import { expect, test } from 'vitest'
import type { Check, CheckOf } from '../../../shared/decide/checks.ts'
import { english } from '../../../shared/reason/english.ts'
import {
  decisionReason,
  explainReason,
  type News,
  tellReason,
  updateReason,
} from '../../../shared/reason/reason.ts'
import { turkish } from '../../../shared/reason/turkish.ts'

const clock = (instant: string) => `<${instant}>`
const until = '2026-03-01T06:00:00.000Z'
const filter: CheckOf<'filter'> = {
  ...{ name: 'filter', passed: false, source: 'usgs', sources: null, type: 'earthquake' },
  ...{ types: null, status: 'active', visible: true, late: true, delay_hours: 30.26 },
  ...{ news_for_hours: 24, ends_at: null, flag: null },
}
const circle: CheckOf<'geometry'> = {
  ...{ name: 'geometry', passed: true, shape_type: 'circle', match: 'point', inside: true },
  ...{ footprint_touches: null, distance_km: 12.34, radius_km: 50 },
}
const polygon: CheckOf<'geometry'> = {
  ...circle,
  ...{ shape_type: 'polygon', distance_km: null, radius_km: null },
}
const severity: CheckOf<'severity'> = {
  ...{ name: 'severity', passed: true, severity: 40, multiplier: 1.5, effective: 60 },
  ...{ min_severity: 50 },
}
const duplicate: CheckOf<'duplicate'> = {
  ...{ name: 'duplicate', passed: false, alert: 'raised', peak: 61.25, escalates: false },
  ...{ late: false, linked_event_id: null, link: null },
}
const link: CheckOf<'duplicate'>['link'] = {
  ...{ rule: 'earthquake', event_id: 'emsc:1', seconds_apart: 5400, distance_km: 12.34 },
  ...{ magnitude_apart: 0.26, name: 'IKE' },
} as CheckOf<'duplicate'>['link'] // safe: what the sentences read of it
const of = (rule: string) => ({
  ...duplicate,
  linked_event_id: 'emsc:2',
  link: { ...link, rule } as CheckOf<'duplicate'>['link'], // safe: one of the rules
})
const dwell: CheckOf<'dwell'> = {
  ...{ name: 'dwell', passed: true, not_applicable: false, dwell_minutes: 30 },
  ...{ stayed_minutes: 31.26, began_at: until },
}
const quiet: CheckOf<'quiet_hours'> = {
  ...{ name: 'quiet_hours', passed: false, window_start: until, window_end: until },
  ...{ quiet_mode: 'hold', emergency_severity: 80, overridden_by_emergency: false },
}
const aftershock: CheckOf<'aftershock'> = {
  ...{ name: 'aftershock', passed: false, magnitude: 4.5, magnitude_gap: 1.5 },
  mainshock: {
    ...{ event_id: 'usgs:main', magnitude: 7.1, ts: until, distance_km: 12.34 },
    ...{ limit_km: 88.88, days: 100, until },
  },
  ...{ emergency_severity: 80, overridden_by_emergency: false },
}
const burst: CheckOf<'burst'> = {
  ...{ name: 'burst', passed: false, sent: 5, max_alerts_per_hour: 5, window_end: until },
  ...{ held_until: until, emergency_severity: 80, overridden_by_emergency: false },
}
const enabled = (reason: CheckOf<'enabled'>['reason']): Check => ({
  ...{ name: 'enabled', passed: false, enabled: false, reason },
})

/** Every form of every check. */
const FORMS: Check[] = [
  ...[null, 'deleted', 'disabled', 'paused_by_plan', 'owner_banned'].map((reason) =>
    enabled(reason as CheckOf<'enabled'>['reason']),
  ),
  { ...filter, visible: false },
  { ...filter, sources: ['emsc', 'gdacs'] },
  { ...filter, sources: ['usgs'], types: ['storm', 'flood'] },
  { ...filter, sources: ['usgs'], types: ['earthquake'], status: 'ended' },
  { ...filter, status: 'retracted' },
  { ...filter, flag: 'jump' },
  filter,
  circle,
  { ...circle, passed: false, inside: false, distance_km: 50.004 },
  { ...circle, inside: false, footprint_touches: true, distance_km: 80 },
  { ...circle, distance_km: 49.96 },
  polygon,
  { ...polygon, passed: false, inside: false },
  { ...polygon, inside: false },
  severity,
  { ...severity, severity: 80, effective: 100 },
  { ...severity, severity: 50, multiplier: 2, effective: 100 },
  { ...severity, passed: false, severity: 10, effective: 15 },
  duplicate,
  { ...duplicate, alert: 'held', peak: null },
  { ...duplicate, alert: 'suppressed', escalates: true, passed: true },
  { ...duplicate, late: true },
  { ...duplicate, linked_event_id: 'emsc:2' },
  ...['earthquake', 'storm', 'wildfire', 'tsunami'].map(of),
  dwell,
  { ...dwell, dwell_minutes: 0 },
  { ...dwell, stayed_minutes: null },
  { name: 'snooze', passed: false, snoozed_until: until },
  { name: 'snooze', passed: false, snoozed_until: null },
  quiet,
  { ...quiet, quiet_mode: 'drop' },
  { ...quiet, passed: true, overridden_by_emergency: true },
  aftershock,
  { ...aftershock, mainshock: null },
  { ...aftershock, passed: true, overridden_by_emergency: true },
  burst,
  { ...burst, sent: 1, max_alerts_per_hour: 1 },
  { ...burst, passed: true, overridden_by_emergency: true },
]

test.each([
  ['en', english],
  ['tr', turkish],
] as const)('the sentences in %s read as they were agreed', async (language, sentences) => {
  const lines = FORMS.map(
    (check) =>
      `${check.name}\n  because: ${sentences.because(check, clock)}\n  why not: ${sentences.whyNot(check, clock)}\n`,
  )
  const overs = Object.entries(sentences.over).map(([how, text]) => `${how}: ${text}\n`)
  const changes = (['revised', 'escalated'] as const).map(
    (update) => `${update}: ${sentences.changed(update, 'x')}\n`,
  )
  await expect([...lines, ...overs, ...changes].join('')).toMatchFileSnapshot(
    `sentences.${language}.txt`,
  )
})

const checks = [dwell, circle, severity, { ...burst, passed: true }, { ...filter, passed: true }]
const title = 'M 6.1'

test('a decision tells the check that failed, or those that passed in the order of a reader', () => {
  expect(decisionReason({ title }, checks, { ...severity, passed: false })).toBe(
    'M 6.1: severity 40 × 1.5 = 60 stays below 50.',
  )
  expect(decisionReason({ title }, checks, null)).toBe(
    'M 6.1: severity 40 × 1.5 = 60 reaches 50; 12.3 km from the centre, inside 50 km; inside for 31.3 of 30 minutes.',
  )
  // What has failed is no reason for an alert.
  expect(decisionReason({ title }, [{ ...severity, passed: false }, circle], null)).toBe(
    'M 6.1: 12.3 km from the centre, inside 50 km.',
  )
  // Times are in UTC, as in the data.
  expect(decisionReason({ title }, checks, quiet)).toContain(until)
})

test('an update tells how a stay or an event ended, or the numbers of now', () => {
  const away: CheckOf<'geometry'> = { ...circle, passed: false, inside: false, distance_km: 80 }
  // What has let it through is nothing new.
  const now = [away, severity, dwell, { ...burst, passed: true }]
  expect(updateReason({ title }, now, 'ended')).toBe('M 6.1: the source says it is over.')
  expect(updateReason({ title }, now, 'retracted')).toBe('M 6.1: the source has withdrawn it.')
  expect(updateReason({ title }, now, 'ended', 'left')).toBe('M 6.1: it has left the zone.')
  expect(updateReason({ title }, now, 'escalated', null)).toBe(
    'M 6.1: escalated, now severity 40 × 1.5 = 60 reaches 50; 80 km from the centre, outside 50 km.',
  )
})

test.each<[language: 'en' | 'tr', news: News | null, told: string]>([
  ['en', null, 'Severity 40 × 1.5 = 60 reaches 50.'],
  ['en', { update: 'ended', how: 'unseen', checks: [] }, 'It was not seen for 24 hours.'],
  ['tr', { update: 'ended', how: null, checks: [] }, 'Kaynağın bildirdiğine göre sona erdi.'],
  ['tr', { update: 'ended', how: 'left', checks: [] }, 'Bölgeden ayrıldı.'],
])('in %s, %j is told as a sentence of its own', (language, news, told) => {
  expect(tellReason({ checks: [severity], news }, { language, clock })).toBe(told)
})

test('nothing to tell is told as nothing', () => {
  expect(tellReason({ checks: [], news: null }, { language: 'en', clock })).toBe('')
  expect(explainReason([], { language: 'en', clock })).toBe('')
})

test('times are told by the clock of the reader', () => {
  const news: News = {
    update: 'revised',
    how: null,
    checks: [{ ...severity, passed: false }, polygon],
  }
  expect(tellReason({ checks: [], news }, { language: 'tr', clock })).toMatch(
    /^Güncellendi; şu an /,
  )
  expect(english.whyNot(quiet, clock)).toContain(`<${until}>`)
})

test('a decision is explained in either language: by what failed, or by why all passed', () => {
  const failed = { ...severity, passed: false, effective: 40, multiplier: 1 }
  expect(explainReason([circle, failed, filter], { language: 'tr', clock })).toBe(
    `${upper(turkish.whyNot(failed, clock))}.`,
  )
  expect(explainReason([circle, severity], { language: 'tr', clock })).toBe(
    `${upper(turkish.because(severity, clock) ?? '')}; ${turkish.because(circle, clock)}.`,
  )
  const sentence = explainReason([circle, severity], { language: 'en', clock })
  expect(decisionReason({ title: 'M 5' }, [circle, severity], null).toLowerCase()).toBe(
    `m 5: ${sentence.toLowerCase()}`,
  )
})

const upper = (text: string) => `${text.charAt(0).toLocaleUpperCase('tr')}${text.slice(1)}`
