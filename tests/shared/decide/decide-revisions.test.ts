import { describe, expect, it } from 'vitest'
import type { DecidableEvent } from '../../../shared/decide/checks.ts'
import {
  checkOf,
  follow,
  later,
  MORNING,
  NIGHT,
  night,
  quake,
  tell,
  zone,
} from '../../support/decisions.ts'

describe('a second revision', () => {
  it.each([
    ['another title', { title: 'M 5.8' }, 'revised'],
    ['another severity in the same band', { severity: 75 }, 'revised'],
    ['less severity', { severity: 30 }, 'revised'],
    ['a place 2 km away', { lon: 0.12 }, 'revised'],
    ['a place 500 m away', { lon: 0.1045 }, null],
    ['a time a minute later', { ts: later(1) }, 'revised'],
    ['a time a second later', { ts: later(1 / 60) }, null],
    ['a place outside the zone', { lon: 3, severity: 100 }, 'revised'],
    ['a higher band', { severity: 80 }, 'escalated'],
    ['its end', { status: 'ended' }, 'ended'],
    ['its retraction', { status: 'retracted', severity: 99 }, 'retracted'],
  ] as const)('with %s raises nothing and is %4$s', (_, change, update) => {
    const { last } = follow(zone(), [[quake()], [quake(change)]])
    expect(last).toMatchObject({ outcome: 'none', update, update_delivery: update && 'now' })
  })

  it('that reaches the emergency severity for the first time escalates within its band', () => {
    const rule = zone({ emergency_severity: 75 })
    const { outcomes } = follow(rule, [
      [quake()],
      [quake({ severity: 75 })],
      [quake({ severity: 76 })],
    ])
    expect(outcomes).toEqual(['raised', 'none escalated', 'none revised'])
  })

  it('escalates against the highest so far, not the last', () => {
    const steps = [85, 30, 70, 85].map((severity): [DecidableEvent] => [quake({ severity })])
    expect(follow(zone(), steps).outcomes).toEqual([
      'raised',
      'none revised',
      'none revised',
      'none revised',
    ])
  })

  it('tells an end or retraction once, and a return to life as a revision', () => {
    const ended = quake({ status: 'ended' })
    const gone = quake({ status: 'retracted' })
    expect(
      follow(zone(), [[quake()], [ended], [ended], [gone], [gone], [quake()]]).outcomes,
    ).toEqual(['raised', 'none ended', 'none', 'none retracted', 'none', 'none revised'])
  })

  it('raises when the first stayed below the threshold, or outside', () => {
    expect(follow(zone(), [[quake({ severity: 20 })], [quake()]]).outcomes).toEqual([
      'none',
      'raised',
    ])
    expect(follow(zone(), [[quake({ lon: 3 })], [quake()]]).outcomes).toEqual(['none', 'raised'])
  })

  it('keeps quiet hours and snooze when it only brings news', () => {
    const drifted = quake({ title: 'M 5.8' })
    const held = follow(zone(night), [[quake()], [drifted, NIGHT]]).last
    expect(held).toMatchObject({
      update: 'revised',
      update_delivery: 'held',
      held_until: new Date(MORNING),
    })
    const dropped = follow(zone({ ...night, quiet_mode: 'drop' }), [
      [quake()],
      [drifted, NIGHT],
    ]).last
    expect(dropped.update_delivery).toBe('suppressed')
    const { memory } = tell(zone(), quake())
    expect(tell(zone({ snoozed_until: later(9) }), drifted, memory).update_delivery).toBe(
      'suppressed',
    )
  })
})

describe('an alert that did not go out', () => {
  const worse = quake({ severity: 85 })

  it('is raised when a held event escalates to an emergency', () => {
    const rule = zone({ ...night, emergency_severity: 80 })
    const { outcomes, last } = follow(rule, [
      [quake(), NIGHT],
      [worse, later(10, NIGHT)],
    ])
    expect(outcomes).toEqual(['held', 'raised'])
    expect(checkOf(last, 'duplicate')).toMatchObject({
      passed: true,
      escalates: true,
      alert: 'held',
      peak: 71,
    })
    expect(last.reason).toContain('up from 71')
    expect(last.memory).toMatchObject({ status: 'raised', peak: 85, held_until: null })
  })

  it('stays held when it escalates in quiet hours without being an emergency', () => {
    const { outcomes, last } = follow(zone(night), [
      [quake(), NIGHT],
      [worse, later(10, NIGHT)],
    ])
    expect(outcomes).toEqual(['held', 'none escalated'])
    expect(last).toMatchObject({
      failed_at: 'duplicate',
      update_delivery: 'held',
      held_until: new Date(MORNING),
    })
  })

  it('counts as raised once its window is over', () => {
    const { outcomes, last } = follow(zone(night), [
      [quake(), NIGHT],
      [worse, MORNING],
    ])
    expect(outcomes).toEqual(['held', 'none escalated'])
    expect(last.update_delivery).toBe('now')
    expect(checkOf(last, 'duplicate').alert).toBe('raised')
  })

  it('is raised when a snoozed event escalates after the snooze, not when it merely comes again', () => {
    const rule = zone({ snoozed_until: later(30) })
    expect(follow(rule, [[quake()], [quake(), later(60)]]).outcomes).toEqual(['suppressed', 'none'])
    expect(follow(rule, [[quake()], [worse, later(20)]]).outcomes).toEqual([
      'suppressed',
      'none escalated',
    ])
    expect(follow(rule, [[quake()], [worse, later(60)]]).outcomes).toEqual(['suppressed', 'raised'])
  })

  it('is held when a snoozed event escalates in quiet hours after the snooze', () => {
    const rule = zone({ ...night, snoozed_until: later(30) })
    const { outcomes, last } = follow(rule, [[quake()], [worse, NIGHT]])
    expect(outcomes).toEqual(['suppressed', 'held'])
    expect(last.memory).toMatchObject({ status: 'held', held_until: MORNING })
  })

  it('brings no news to anybody while it is suppressed', () => {
    const rule = zone({ snoozed_until: later(30) })
    const { last } = follow(rule, [[quake()], [quake({ title: 'M 5.8' }), later(60)]])
    expect(last).toMatchObject({ update: 'revised', update_delivery: 'suppressed' })
  })

  it('is not raised by an escalation outside the zone', () => {
    const rule = zone({ snoozed_until: later(30) })
    const { last } = follow(rule, [[quake()], [quake({ severity: 85, lon: 3 }), later(60)]])
    expect(last).toMatchObject({ outcome: 'none', failed_at: 'geometry', update: 'revised' })
    expect(last.memory).toMatchObject({ peak: 71 })
  })
})
