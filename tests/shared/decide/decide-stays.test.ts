import { describe, expect, it } from 'vitest'
import { endUnseenStay } from '../../../shared/decide/alert-change.ts'
import type { DecidableEvent, ZoneRule } from '../../../shared/decide/checks.ts'
import { decide } from '../../../shared/decide/decide.ts'
import { StayMemory } from '../../../shared/decide/match-memory.ts'
import { prepareZone } from '../../../shared/geometry/geometry.ts'
import {
  checkOf,
  follow,
  later,
  MORNING,
  NIGHT,
  NOON,
  night,
  quake,
  ship,
  tell,
  zone,
} from '../../support/decisions.ts'

describe('a stay', () => {
  const rule = zone({ min_severity: 0 })
  const outcomes = (r: ZoneRule, ...steps: [minutes: number, lon: number][]) =>
    follow(
      r,
      steps.map(([minutes, lon]) => [ship(minutes, lon)]),
    ).outcomes

  it('raises once, however many positions', () => {
    expect(outcomes(rule, [0, 2], [10, 0], [20, 0.1], [30, 0.2])).toEqual([
      'none',
      'raised',
      'none',
      'none',
    ])
  })

  it('remembers nothing of a subject that was never inside', () => {
    expect(tell(rule, ship(0, 3)).memory).toBeNull()
  })

  it('survives one position just outside, and ends with the second in a row', () => {
    // 100 km is 0.8993°; 0.91° is 1.2 km outside, 2 % are 2 km.
    expect(outcomes(rule, [0, 0], [10, 0.91], [20, 0])).toEqual(['raised', 'none', 'none'])
    expect(outcomes(rule, [0, 0], [10, 0.91], [20, 0], [30, 0.91], [40, 0])).toEqual([
      'raised',
      'none',
      'none',
      'none',
      'none',
    ])
    expect(outcomes(rule, [0, 0], [10, 0.91], [20, 0.91], [30, 0])).toEqual([
      'raised',
      'none',
      'none ended',
      'raised',
    ])
  })

  it('ends with one position clearly outside', () => {
    expect(outcomes(rule, [0, 0], [10, 0.93], [20, 0])).toEqual(['raised', 'none ended', 'raised'])
  })

  it('ends after more than 24 hours unseen', () => {
    expect(outcomes(rule, [0, 0], [24 * 60, 0])).toEqual(['raised', 'none'])
    expect(outcomes(rule, [0, 0], [24 * 60 + 1, 0])).toEqual(['raised', 'raised ended'])
    expect(outcomes(rule, [0, 0], [24 * 60 + 1, 3])).toEqual(['raised', 'none ended'])
    expect(outcomes(rule, [0, 0], [600, 0], [1800, 0])).toEqual(['raised', 'none', 'none'])
  })

  it('takes no notice of positions out of order', () => {
    const { outcomes, last, memory } = follow(rule, [
      [ship(0, 0)],
      [ship(20, 0.1)],
      [ship(10, 3)],
      [ship(15, 3)],
      [ship(20, 3)],
    ])
    expect(outcomes).toEqual(['raised', 'none', 'none', 'none', 'none'])
    expect(memory).toMatchObject({ began_at: NOON, last_seen_at: later(20), outside_in_a_row: 0 })
    expect(checkOf(last, 'duplicate').late).toBe(true)
    expect(follow(rule, [[ship(0, 0)], [ship(30, 3)], [ship(20, 0)]]).outcomes).toEqual([
      'raised',
      'none ended',
      'none',
    ])
  })

  it('raises when the dwell is reached on a position inside, counted from the first', () => {
    const dwelling = zone({ min_severity: 0, dwell_minutes: 30 })
    expect(outcomes(dwelling, [0, 0], [29, 0], [30, 0], [40, 0])).toEqual([
      'none',
      'none',
      'raised',
      'none',
    ])
    expect(outcomes(dwelling, [0, 0], [20, 0.91], [30, 0.2])).toEqual(['none', 'none', 'raised'])
    expect(outcomes(dwelling, [0, 0], [35, 0.91], [40, 0.91], [50, 0])).toEqual([
      'none',
      'none',
      'none',
      'none',
    ])
    expect(outcomes(dwelling, [0, 0], [10, 3], [20, 0], [45, 0], [50, 0])).toEqual([
      'none',
      'none',
      'none',
      'none',
      'raised',
    ])
    const raised = follow(dwelling, [[ship(0, 0)], [ship(42, 0)]]).last
    expect(checkOf(raised, 'dwell')).toMatchObject({
      stayed_minutes: 42,
      began_at: NOON,
      not_applicable: false,
    })
    expect(raised.reason).toContain('inside for 42 of 30 minutes')
  })

  it('dwells by event time, whenever the positions were seen', () => {
    const dwelling = zone({ min_severity: 0, dwell_minutes: 30 })
    const seenAtOnce = [ship(0, 0), ship(30, 0)].map((e): [DecidableEvent, string] => [
      e,
      later(60),
    ])
    expect(follow(dwelling, seenAtOnce).outcomes).toEqual(['none', 'raised'])
  })

  it('compares the severity of the position that completes the dwell', () => {
    const dwelling = zone({ min_severity: 50, dwell_minutes: 30 })
    const severities = (...all: number[]) =>
      follow(
        dwelling,
        all.map((severity, i) => [ship(i * 30, 0, { severity })]),
      ).outcomes
    expect(severities(0, 60)).toEqual(['none', 'raised'])
    expect(severities(60, 0, 60)).toEqual(['none', 'none', 'raised'])
  })

  it('does not apply to an event that does not move', () => {
    const decision = tell(zone({ dwell_minutes: 30 }), quake({ subject: 'vtec:X' }))
    expect(checkOf(decision, 'dwell')).toMatchObject({ passed: true, not_applicable: true })
    expect(decision.raised).toBe(true)
  })

  it('that was alerted escalates, and one held or suppressed is raised by it', () => {
    const calm = ship(0, 0, { severity: 0 })
    const distress = ship(5, 0, { severity: 90, title: 'MAYDAY' })
    expect(follow(rule, [[calm], [distress], [ship(6, 0, { severity: 90 })]]).outcomes).toEqual([
      'raised',
      'none escalated',
      'none',
    ])
    const snoozed = zone({ min_severity: 0, snoozed_until: later(3) })
    expect(follow(snoozed, [[calm], [ship(4, 0, { severity: 0 })], [distress]]).outcomes).toEqual([
      'suppressed',
      'none',
      'raised',
    ])
  })

  it('escalates inside the zone only, and once for each band that its alert reaches', () => {
    const steps = (...all: [severity: number, lon?: number][]) =>
      follow(
        rule,
        all.map(([severity, lon = 0], i) => [ship(i, lon, { severity })]),
      ).outcomes
    // 0.91° is just outside, where the stay goes on.
    expect(steps([0], [90, 0.91], [90])).toEqual(['raised', 'none', 'none escalated'])
    expect(steps([60], [85], [60], [85])).toEqual(['raised', 'none escalated', 'none', 'none'])
  })

  it('escalates above the severity of its alert, whatever it was before', () => {
    const dwelling = zone({ min_severity: 0, dwell_minutes: 30 })
    const { outcomes } = follow(
      dwelling,
      [90, 60, 85].map((severity, i) => [ship(i * 30, 0, { severity })]),
    )
    expect(outcomes).toEqual(['none', 'raised', 'none escalated'])
  })

  it('names its alert when it ends, and says how', () => {
    const left = follow(rule, [[ship(0, 0)], [ship(5, 0)], [ship(10, 3)]]).last
    expect(left).toMatchObject({
      update: 'ended',
      update_delivery: 'now',
      stay_end: { how: 'left', alert_event_id: 'ais:230:0' },
      memory: { began_at: null, alert: null, alert_event_id: null, peak: null },
    })
    const aDay = follow(rule, [[ship(0, 0)], [ship(24 * 60, 3)]]).last
    expect(aDay.stay_end?.how).toBe('left')
    const back = follow(rule, [[ship(0, 0)], [ship(1500, 0)]]).last
    expect(back).toMatchObject({
      outcome: 'raised',
      stay_end: { how: 'unseen', alert_event_id: 'ais:230:0' },
      memory: { began_at: later(1500), alert_event_id: 'ais:230:1500' },
    })
  })

  it('tells its end only of an alert, once, and as quiet hours and snooze allow', () => {
    const high = zone({ min_severity: 80 })
    expect(follow(high, [[ship(0, 0)], [ship(10, 3)]]).last.update).toBeNull()
    expect(outcomes(rule, [0, 0], [10, 3], [20, 3], [30, 3])).toEqual([
      'raised',
      'none ended',
      'none',
      'none',
    ])
    const inside = follow(rule, [[ship(0, 0)]]).memory
    const leaving = (more: Partial<ZoneRule>, at: string) =>
      decide(zone({ min_severity: 0, ...more }), ship(10, 3), inside, new Date(at))
    expect(leaving({ snoozed_until: later(60) }, later(10)).update_delivery).toBe('suppressed')
    expect(leaving(night, NIGHT)).toMatchObject({
      update_delivery: 'held',
      held_until: new Date(MORNING),
    })
    expect(leaving({ ...night, quiet_mode: 'drop' }, NIGHT).update_delivery).toBe('suppressed')
    expect(leaving({ enabled: false }, later(10)).update).toBeNull()
  })

  it('whose subject was not seen for 24 hours is ended without a position', () => {
    const rule_ = prepareZone(rule)
    const memory = StayMemory.parse(follow(rule, [[ship(0, 0, { severity: 30 })]]).memory)
    const end = (
      minutes: number,
      told: Parameters<typeof endUnseenStay>[0] = [rule_, { severity: 30 }],
    ) => endUnseenStay(told, memory, new Date(later(minutes)))
    expect(end(24 * 60)).toBeNull()
    expect(end(24 * 60 + 1)).toMatchObject({
      update: 'ended',
      update_delivery: 'now',
      effective_severity: 30,
      stay_end: { how: 'unseen', alert_event_id: 'ais:230:0' },
      memory: { began_at: null, alert: null, last_seen_at: NOON },
    })
    expect(end(24 * 60 + 1, null)).toMatchObject({ update: null, memory: { began_at: null } })
    const over = StayMemory.parse(end(24 * 60 + 1)?.memory)
    expect(endUnseenStay([rule_, { severity: 30 }], over, new Date(later(9_999)))).toBeNull()
  })

  it('is not moved on by positions that the zone does not watch', () => {
    const { memory } = follow(rule, [[ship(0, 0)]])
    for (const other of [zone({ enabled: false }), zone({ types: ['storm'] })]) {
      expect(tell(other, ship(5, 3), memory).memory).toBe(memory)
    }
  })
})
