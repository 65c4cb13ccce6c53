import { describe, expect, test } from 'vitest'
import type { DecidableEvent, ZoneRule } from '../../../shared/decide/checks.ts'
import { decide } from '../../../shared/decide/decide.ts'
import type { Memory } from '../../../shared/decide/match-memory.ts'
import { zoneDefaults } from '../../../shared/schemas/zone.ts'

// What is carried from one revision to the next, and what of it must not change.
const NOON = Date.parse('2026-03-01T12:00:00.000Z')
const at = (minutes: number) => new Date(NOON + minutes * 60_000).toISOString()
const zone = (more: Partial<ZoneRule> = {}): ZoneRule => ({
  ...zoneDefaults({ label: 'Home', lat: 0, lon: 0, radius_km: 100 }),
  ...more,
})
const event = (more: Partial<DecidableEvent> = {}): DecidableEvent => ({
  id: 'usgs:us1',
  source: 'usgs',
  type: 'earthquake',
  title: 'M 5.7',
  lat: 0,
  lon: 0,
  ts: at(0),
  severity: 50,
  subject: null,
  status: 'active',
  geometry: null,
  ...{ magnitude: null, depth_km: null, ends_at: null, flag: null },
  known_since: more.ts ?? at(0),
  ...more,
})
const ship = (minutes: number, severity: number, lon = 0) =>
  event({
    id: `ais:${minutes}`,
    type: 'vessel',
    subject: 'mmsi:230',
    ts: at(minutes),
    severity,
    lon,
  })

/** Decides one after the other, each with its rule and seen a minute after the one before. */
function follow(steps: [ZoneRule, DecidableEvent][]) {
  let memory: Memory | null = null
  return steps.map(([rule, next], minute) => {
    const decision = decide(rule, next, memory, new Date(at(minute)))
    memory = decision.memory
    return decision
  })
}
const newsOf = (steps: [ZoneRule, DecidableEvent][]) =>
  follow(steps).map(({ outcome, update }) => update ?? outcome)

/** Kilometres to the east, at the equator. */
const east = (km: number) => km / 111.195

describe('an event that moved', () => {
  test.each([
    [0.99, 'none'],
    [1.01, 'revised'],
    [1.5, 'revised'],
  ])('by %s km since it was told is %s', (km, news) => {
    expect(
      newsOf([
        [zone(), event()],
        [zone(), event({ lon: east(km) })],
      ])[1],
    ).toBe(news)
  })

  test.each([
    [59_999, 'none'],
    [60_000, 'revised'],
    [-60_000, 'revised'],
  ])('by %i ms in time since it was told is %s', (ms, news) => {
    const ts = new Date(NOON + ms).toISOString()
    expect(
      newsOf([
        [zone(), event()],
        [zone(), event({ ts })],
      ])[1],
    ).toBe(news)
  })

  test('bit by bit is told once the bits add up, whatever else was remembered between', () => {
    // The middle one is worth more because the zone was changed, which is no news of the event.
    const moved = (km: number) => event({ lon: east(km) })
    const heavier = zone({ severity_multiplier: 1.1 })
    expect(
      newsOf([
        [zone(), event()],
        [heavier, moved(0.7)],
        [heavier, moved(1.4)],
      ]),
    ).toEqual(['raised', 'none', 'revised'])
  })
})

describe('the highest severity so far', () => {
  test('of an event counts, however weak it was meanwhile', () => {
    const of = (severity: number): [ZoneRule, DecidableEvent] => [zone(), event({ severity })]
    expect(newsOf([of(50), of(85), of(45), of(85), of(79)])).toEqual([
      'raised',
      'escalated',
      'revised',
      'revised',
      'revised',
    ])
  })

  test('of a stay counts, however weak a position was meanwhile', () => {
    const of = (minutes: number, severity: number): [ZoneRule, DecidableEvent] => [
      zone(),
      ship(minutes, severity),
    ]
    expect(newsOf([of(0, 50), of(1, 85), of(2, 45), of(3, 85), of(4, 99)])).toEqual([
      'raised',
      'escalated',
      'none',
      'none',
      'none',
    ])
  })

  test('takes no account of a position outside, nor of one below the threshold', () => {
    // 100 km are 0.8993°: 1.2 km outside ends no stay by itself.
    const near = 0.91
    const [, outside, inside] = follow([
      [zone(), ship(0, 50)],
      [zone(), ship(1, 95, near)],
      [zone(), ship(2, 95)],
    ])
    expect(outside).toMatchObject({ outcome: 'none', update: null, memory: { peak: 50 } })
    expect(inside?.update).toBe('escalated')
    const strict = zone({ min_severity: 96 })
    const [, below] = follow([
      [zone(), ship(0, 50)],
      [strict, ship(1, 95)],
    ])
    expect(below).toMatchObject({ outcome: 'none', update: null, memory: { peak: 50 } })
  })
})

describe('a stay', () => {
  test('that is over remembers nothing of its alert', () => {
    const [told, over, still] = follow([
      [zone(), ship(0, 50)],
      [zone(), ship(1, 50, 5)],
      [zone(), ship(2, 50, 5)],
    ])
    expect(told?.memory).toMatchObject({ alert: 'raised', peak: 50, began_at: at(0) })
    for (const decision of [over, still]) {
      expect(decision?.memory).toMatchObject({ began_at: null, alert: null, peak: null })
      expect(decision?.checks.find(({ name }) => name === 'duplicate')).toMatchObject({
        alert: null,
      })
    }
  })

  test('of a position that comes late is not said to have lasted', () => {
    const [, late] = follow([
      [zone({ dwell_minutes: 5 }), ship(10, 50)],
      [zone({ dwell_minutes: 5 }), ship(3, 50)],
    ])
    expect(late?.checks.find(({ name }) => name === 'dwell')).toMatchObject({
      passed: false,
      began_at: null,
      stayed_minutes: null,
    })
  })

  test('remembers since when it stays and when it was last seen', () => {
    const [, , outside] = follow([
      [zone(), ship(0, 50)],
      [zone(), ship(7, 50)],
      [zone(), ship(9, 50, 0.91)],
    ])
    expect(outside?.memory).toMatchObject({
      began_at: at(0),
      last_seen_at: at(9),
    })
  })
})

describe('news of an alert that is held', () => {
  const quiet = { quiet_hours_start: '11:00', quiet_hours_end: '13:00' }

  test.each<[string, Partial<ZoneRule>]>([
    ['while it is quiet', quiet],
    ['when the zone is quiet no more', {}],
    ['when the zone drops by now', { ...quiet, quiet_mode: 'drop' }],
    ['when the zone is snoozed by now', { ...quiet, snoozed_until: at(600) }],
  ])('waits as long as the alert: %s', (_, now) => {
    const [held, news] = follow([
      [zone(quiet), event()],
      [zone(now), event({ title: 'M 5.8' })],
    ])
    expect(held).toMatchObject({ outcome: 'held', held_until: new Date(at(60)) })
    expect(news).toMatchObject({
      update: 'revised',
      update_delivery: 'held',
      held_until: new Date(at(60)),
    })
  })
})
