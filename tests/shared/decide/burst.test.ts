import { describe, expect, it } from 'vitest'
import {
  BurstCheck,
  BurstMemory,
  type BurstRule,
  burstEnd,
  checkBurst,
  rememberBurst,
} from '../../../shared/decide/burst.ts'
import type { DecidableEvent, ZoneRule } from '../../../shared/decide/checks.ts'
import { Memory } from '../../../shared/decide/match-memory.ts'
import {
  checkOf,
  zone as circle,
  later,
  MORNING,
  NIGHT,
  NOON,
  night,
  quake,
  tell,
} from '../../support/decisions.ts'

const rule = (more: Partial<BurstRule> = {}): BurstRule => ({
  ...circle({ max_alerts_per_hour: 2 }),
  ...more,
})
const sentAt = (...minutes: number[]): BurstMemory => ({
  kind: 'burst',
  sent: minutes.map((minute) => later(minute)),
  until: null,
})

function check(
  memory: BurstMemory | null,
  minute: number,
  { effective = 50, is_first = true, ...more }: Partial<BurstRule> & Record<string, unknown> = {},
) {
  const facts = { at: new Date(later(minute)), effective: Number(effective), is_first: !!is_first }
  const made = checkBurst(rule(more), memory, facts)
  if (!made) throw new Error('the zone has a limit')
  return BurstCheck.parse(made)
}

describe('the check', () => {
  it('tells how many were sent, and until when an alert waits', () => {
    expect(check(sentAt(0, 5), 10)).toEqual({
      name: 'burst',
      passed: false,
      sent: 2,
      max_alerts_per_hour: 2,
      window_end: later(60),
      held_until: later(60),
      emergency_severity: null,
      overridden_by_emergency: false,
    })
    expect(check(null, 10)).toMatchObject({ passed: true, sent: 0, window_end: null })
    expect(check(sentAt(5), 10)).toMatchObject({ passed: true, sent: 1, held_until: null })
  })

  it('counts the hour before, to the millisecond', () => {
    expect(check(sentAt(0, 5), 60 - 1 / 60_000)).toMatchObject({ passed: false, sent: 2 })
    expect(check(sentAt(0, 5), 60)).toMatchObject({ passed: true, sent: 1 })
  })

  it('counts what another source sent after the time of this event', () => {
    expect(check(sentAt(11, 12), 10)).toMatchObject({ passed: false, window_end: later(71) })
  })

  it('lets pass what is no first alert, and an emergency', () => {
    expect(check(sentAt(0, 5), 10, { is_first: false })).toMatchObject({
      passed: true,
      window_end: later(60),
      overridden_by_emergency: false,
    })
    const given = { emergency_severity: 50 }
    expect(check(sentAt(0, 5), 10, given)).toMatchObject({
      passed: true,
      overridden_by_emergency: true,
    })
    expect(check(sentAt(0, 5), 10, { ...given, effective: 49.9 }).passed).toBe(false)
    expect(check(sentAt(0), 10, given).overridden_by_emergency).toBe(false)
  })

  it('does not end in quiet hours, even where they drop alerts', () => {
    for (const quiet_mode of ['hold', 'drop'] as const) {
      const quiet = { quiet_hours_start: '12:30', quiet_hours_end: '14:00', quiet_mode }
      const made = check(sentAt(0, 5), 10, quiet)
      expect(made).toMatchObject({ window_end: later(60), held_until: later(120) })
    }
  })

  it('is none without a limit', () => {
    const facts = { at: new Date(NOON), effective: 50, is_first: true }
    expect(checkBurst(rule({ max_alerts_per_hour: null }), sentAt(0, 0), facts)).toBeNull()
    expect(burstEnd({ max_alerts_per_hour: null }, sentAt(0, 0), new Date(NOON))).toBeNull()
  })
})

describe('the memory', () => {
  const at = new Date(later(30))
  const limit = { max_alerts_per_hour: 2 }

  it('keeps no more times than the limit, in order', () => {
    const memory = rememberBurst(limit, sentAt(0, 40), { at, raised: true, held: null })
    expect(BurstMemory.parse(memory)).toEqual(sentAt(30, 40))
    expect(rememberBurst(limit, null, { at, raised: true, held: null })).toEqual(sentAt(30))
  })

  it('is the same object when nothing was sent or held', () => {
    const memory = sentAt(0)
    expect(rememberBurst(limit, memory, { at, raised: false, held: null })).toBe(memory)
    const none = { max_alerts_per_hour: null }
    expect(rememberBurst(none, memory, { at, raised: true, held: null })).toBe(memory)
  })

  it('keeps the end of a burst, although emergencies are sent in it', () => {
    const held = check(sentAt(0, 5), 10)
    const first = rememberBurst(limit, sentAt(0, 5), { at, raised: false, held })
    expect(first).toEqual({ ...sentAt(0, 5), until: later(60) })
    expect(rememberBurst(limit, first, { at, raised: false, held })).toBe(first)
    const emergency = rememberBurst(limit, first, { at, raised: true, held: null })
    expect(emergency).toEqual({ ...sentAt(5, 30), until: later(60) })
    expect(check(emergency, 40)).toMatchObject({ passed: false, sent: 2, window_end: later(60) })
    // When it is over, the emergency counts like any other.
    expect(check(emergency, 60)).toMatchObject({ passed: false, window_end: later(65) })
  })

  it('follows a limit that was changed', () => {
    const memory = { ...sentAt(0, 5), until: later(60) }
    expect(check(memory, 10, { max_alerts_per_hour: 3 }).passed).toBe(true)
    expect(check(sentAt(0, 5, 8), 10, { max_alerts_per_hour: 1 })).toMatchObject({
      passed: false,
      sent: 3,
      window_end: later(68),
    })
  })
})

/** Decides one event after another, each seen at its own time; answers the outcomes. */
function follow(zone: ZoneRule, events: DecidableEvent[]) {
  const memories = new Map<string, Memory>()
  let burst = null as BurstMemory | null
  const told = events.map((event) => {
    const before = memories.get(event.id) ?? null
    const options = { burst }
    const decision = tell(zone, event, before, event.ts, options)
    const brief = tell(zone, event, before, event.ts, { ...options, brief: true })
    const reason = decision.failed_at === null ? decision.reason : ''
    expect(brief).toEqual({ ...decision, checks: brief.checks, reason })
    if (decision.memory) memories.set(event.id, Memory.parse(decision.memory))
    burst = decision.burst && BurstMemory.parse(JSON.parse(JSON.stringify(decision.burst)))
    return decision
  })
  return { told, outcomes: told.map(({ outcome, update }) => update ?? outcome), burst }
}
const one = (id: number, minute: number, more: Partial<DecidableEvent> = {}) =>
  quake({ id: `usgs:${id}`, ts: later(minute), ...more })

describe('decide', () => {
  const zone = circle({ max_alerts_per_hour: 2 })

  it('lists the check last, only for a zone that has a limit', () => {
    expect(tell(zone, quake()).checks.at(-1)?.name).toBe('burst')
    expect(tell(circle(), quake()).checks.at(-1)?.name).toBe('quiet_hours')
    expect(tell(circle(), quake()).burst).toBeNull()
  })

  it('sends as many an hour, and holds the others until the hour is over', () => {
    const minutes = [0, 1, 2, 30, 59, 60, 61, 62]
    const { told, outcomes } = follow(
      zone,
      minutes.map((minute, id) => one(id, minute)),
    )
    const [two, three] = [Array(2).fill('raised'), Array(3).fill('held')]
    expect(outcomes).toEqual([...two, ...three, ...two, 'held'])
    expect(told.map(({ held_until }) => held_until?.toISOString() ?? null)).toEqual([
      ...[null, null, later(60), later(60), later(60)],
      ...[null, null, later(120)],
    ])
    expect(told[2]?.reason).toBe(
      'M 5.7 - 10 km E of Home: 2 alerts were sent in the hour before, of at most 2, ' +
        `so it waits with the others until ${later(60)}.`,
    )
    const single = follow(circle({ max_alerts_per_hour: 1 }), [one(1, 0), one(2, 1)])
    expect(single.told[1]?.reason).toContain('1 alert was sent in the hour before, of at most 1')
  })

  it('neither counts nor holds updates and escalations', () => {
    const { told, outcomes, burst } = follow(zone, [
      one(1, 0),
      one(1, 1, { title: 'M 5.8', severity: 72 }),
      one(1, 2, { severity: 90 }),
      one(2, 3),
      one(3, 4, { severity: 50 }),
      one(3, 5, { title: 'M 5.0', severity: 51 }),
      // A held alert that gets worse goes out at once, and does not count.
      one(3, 6, { severity: 65 }),
      one(4, 7),
    ])
    expect(outcomes).toEqual([
      ...['raised', 'revised', 'escalated', 'raised'],
      ...['held', 'revised', 'raised', 'held'],
    ])
    expect(burst?.sent).toEqual([later(0), later(3)])
    // An update of an alert that was sent goes out at once; that of a held one waits with it.
    expect(told[1]).toMatchObject({ update_delivery: 'now', held_until: null })
    expect(told[5]).toMatchObject({ update_delivery: 'held', held_until: new Date(later(60)) })
  })

  it('counts emergencies and never holds them', () => {
    const emergencies = { ...zone, emergency_severity: 80 }
    const { told, outcomes } = follow(emergencies, [
      one(1, 0),
      one(2, 1, { severity: 90 }),
      one(3, 2, { severity: 90 }),
      one(4, 3),
    ])
    expect(outcomes).toEqual(['raised', 'raised', 'raised', 'held'])
    expect(told[2]?.reason).toContain(
      '; an emergency (80 or more), although 2 alerts were sent in the hour before, of at most 2.',
    )
    expect(told[3]?.held_until?.toISOString()).toBe(later(61))
  })

  it('lets nothing that was held wait longer for an emergency in between', () => {
    const emergencies = { ...zone, emergency_severity: 80 }
    const { told } = follow(emergencies, [
      ...[one(1, 0), one(2, 5), one(3, 10)],
      ...[one(4, 20, { severity: 90 }), one(5, 30)],
    ])
    expect(told.map(({ held_until }) => held_until?.toISOString() ?? null)).toEqual([
      ...[null, null, later(60), null, later(60)],
    ])
  })

  it('counts nothing that quiet hours hold, and lets them have the say', () => {
    const quiet = { ...zone, ...night }
    const nightly = (id: number) => quake({ id: `usgs:${id}`, ts: NIGHT })
    const { told, burst } = follow(quiet, [nightly(1), nightly(2), nightly(3)])
    expect(told.map(({ failed_at }) => failed_at)).toEqual(Array(3).fill('quiet_hours'))
    expect(told.map(({ held_until }) => held_until?.toISOString())).toEqual(Array(3).fill(MORNING))
    expect(burst).toBeNull()
  })

  it('holds until the morning what would go out at night', () => {
    const quiet = { ...zone, ...night, quiet_mode: 'drop' as const }
    const evening = (id: number) => quake({ id: `usgs:${id}`, ts: '2026-03-01T21:50:00.000Z' })
    const { told } = follow(quiet, [evening(1), evening(2), evening(3)])
    expect(told[2]?.outcome).toBe('held')
    expect(told[2]?.held_until?.toISOString()).toBe(MORNING)
    expect(checkOf(told[2] ?? tell(quiet, quake()), 'burst').window_end).toBe(
      '2026-03-01T22:50:00.000Z',
    )
  })

  it('does not count what is suppressed by a snooze', () => {
    const snoozed = { ...zone, snoozed_until: later(60) }
    const { outcomes, burst } = follow(snoozed, [one(1, 0), one(2, 1)])
    expect([outcomes, burst]).toEqual([['suppressed', 'suppressed'], null])
  })
})
