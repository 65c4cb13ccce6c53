import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bandOf,
  CHECK_NAMES,
  Check,
  type CheckName,
  type DecidableEvent,
  effectiveSeverity,
  type ZoneRule,
} from '../../shared/checks.ts'
import { type Decision, decide, Memory } from '../../shared/decide.ts'
import { prepareZone } from '../../shared/geometry/geometry.ts'
import { zoneDefaults } from '../../shared/zone.ts'

const NOON = '2026-03-01T12:00:00.000Z'
const later = (minutes: number, from = NOON) =>
  new Date(Date.parse(from) + minutes * 60_000).toISOString()

const zone = (more: Partial<ZoneRule> = {}): ZoneRule => ({
  ...zoneDefaults({ label: 'Home', lat: 0, lon: 0, radius_km: 100 }),
  ...more,
})
const quake = (more: Partial<DecidableEvent> = {}): DecidableEvent => ({
  id: 'usgs:us1',
  source: 'usgs',
  type: 'earthquake',
  title: 'M 5.7 - 10 km E of Home',
  lat: 0,
  lon: 0.1,
  ts: NOON,
  severity: 71,
  subject: null,
  status: 'active',
  geometry: null,
  ...more,
})
/** Degrees east of the centre; 100 km are 0.8993°. */
const ship = (minutes: number, lon: number, more: Partial<DecidableEvent> = {}): DecidableEvent =>
  quake({
    id: `ais:230:${minutes}`,
    source: 'ais',
    type: 'vessel',
    title: 'MS Test',
    ts: later(minutes),
    lon,
    subject: 'mmsi:230123456',
    ...more,
  })

const tell = (rule: ZoneRule, event: DecidableEvent, memory: Memory | null = null, at = NOON) =>
  decide(rule, event, memory, new Date(at))
const checkOf = <N extends CheckName>(decision: Decision, name: N) => {
  const check = decision.checks.find((c) => c.name === name)
  if (!check) throw new Error(`no check ${name}`)
  return check as Extract<Check, { name: N }>
}
/** Folds revisions, each first seen when it says; gives the outcomes and the last decision. */
function follow(rule: ZoneRule, steps: [event: DecidableEvent, at?: string][]) {
  let memory: Memory | null = null
  const outcomes: string[] = []
  let last: Decision | null = null
  for (const [event, at = event.ts] of steps) {
    last = tell(rule, event, memory, at)
    memory = last.memory === null ? null : Memory.parse(JSON.parse(JSON.stringify(last.memory)))
    outcomes.push(last.update ? `${last.outcome} ${last.update}` : last.outcome)
  }
  if (!last) throw new Error('no steps')
  return { outcomes, last, memory }
}

const night = { quiet_hours_start: '22:00', quiet_hours_end: '07:00' }
const NIGHT = '2026-03-01T23:00:00.000Z'
const MORNING = '2026-03-02T07:00:00.000Z'

describe('a decision', () => {
  it('lists all eight checks in order, each as its schema says', () => {
    for (const rule of [zone(), zone({ enabled: false }), zone({ min_severity: 99 })]) {
      for (const event of [quake(), ship(0, 0), ship(0, 9)]) {
        const { checks } = tell(rule, event)
        expect(checks.map(({ name }) => name)).toEqual(CHECK_NAMES)
        for (const check of checks) expect(Check.parse(check)).toEqual(check)
      }
    }
  })

  it('raises what passes all of them and says why with the numbers', () => {
    const decision = tell(zone(), quake())
    expect(decision).toMatchObject({
      outcome: 'raised',
      raised: true,
      failed_at: null,
      effective_severity: 71,
      held_until: null,
      update: null,
      reason:
        'M 5.7 - 10 km E of Home: severity 71 × 1 = 71 reaches 40; 11.1 km from the centre, inside 100 km.',
    })
    expect(decision.memory).toMatchObject({ kind: 'event', status: 'raised', peak: 71 })
  })

  const failing: [CheckName, Partial<ZoneRule>, DecidableEvent, string, string][] = [
    ['enabled', { enabled: false }, quake(), 'none', 'switched off'],
    ['filter', { sources: ['emsc'] }, quake(), 'none', 'source usgs is not among emsc'],
    ['filter', { types: ['storm', 'flood'] }, quake(), 'none', 'not among storm, flood'],
    ['filter', {}, quake({ status: 'ended' }), 'none', 'the event is ended'],
    ['filter', {}, quake({ status: 'retracted' }), 'none', 'the event is retracted'],
    ['geometry', {}, quake({ lon: 2 }), 'none', '222.4 km from the centre, outside 100 km'],
    ['severity', { min_severity: 72 }, quake(), 'none', 'severity 71 × 1 = 71 stays below 72'],
    ['dwell', { dwell_minutes: 30 }, ship(0, 0), 'none', 'inside for 0 of 30 minutes'],
    ['snooze', { snoozed_until: later(1) }, quake(), 'suppressed', 'snoozed until'],
    [
      'quiet_hours',
      { quiet_hours_start: '11:00', quiet_hours_end: '13:00' },
      quake(),
      'held',
      'hold it until 2026-03-01T13:00',
    ],
    [
      'quiet_hours',
      { quiet_hours_start: '11:00', quiet_hours_end: '13:00', quiet_mode: 'drop' },
      quake(),
      'suppressed',
      'drop it',
    ],
  ]
  it.each(failing)('fails at %s alone with %j', (name, rule, event, outcome, words) => {
    const decision = tell(zone(rule), event)
    expect(decision.checks.filter((c) => !c.passed).map((c) => c.name)).toEqual([name])
    expect(decision).toMatchObject({ failed_at: name, outcome, raised: false })
    expect(decision.reason).toContain(words)
  })

  it('fails at duplicate alone when told again', () => {
    const { last } = follow(zone(), [[quake()], [quake()]])
    expect(last.checks.filter((c) => !c.passed).map((c) => c.name)).toEqual(['duplicate'])
    expect(last).toMatchObject({ failed_at: 'duplicate', outcome: 'none', update: null })
  })

  it('is the same for a zone prepared once', () => {
    expect(decide(prepareZone(zone()), quake(), null, new Date(NOON))).toEqual(
      tell(zone(), quake()),
    )
  })

  it('returns the very memory it was given when nothing changed', () => {
    const { memory } = tell(zone(), quake())
    expect(tell(zone(), quake(), memory).memory).toBe(memory)
    expect(tell(zone({ enabled: false }), quake({ severity: 90 }), memory).memory).toBe(memory)
  })

  it('takes a footprint that touches the zone, unless only points match', () => {
    const storm = quake({
      lon: 5,
      geometry: {
        type: 'LineString',
        coordinates: [
          [5, 0],
          [0.5, 0],
        ],
      },
    })
    const touched = tell(zone(), storm)
    expect(touched.outcome).toBe('raised')
    expect(touched.reason).toContain('outside 100 km, but its footprint touches the zone')
    expect(tell(zone({ match: 'point' }), storm).failed_at).toBe('geometry')
  })

  it('never hides in the sentence on which side of the radius an event lies', () => {
    const near = tell(zone(), quake({ lon: 0.8995 }))
    expect(near.reason).toContain('100.02 km from the centre, outside 100 km')
  })
})

describe('severity', () => {
  it('has bands that begin at 0, 20, 40, 60 and 80', () => {
    expect([0, 19.9, 20, 39.9, 40, 59.9, 60, 79.9, 80, 100].map(bandOf)).toEqual([
      'minor',
      'minor',
      'low',
      'low',
      'moderate',
      'moderate',
      'severe',
      'severe',
      'extreme',
      'extreme',
    ])
  })

  it('is multiplied without rounding, capped at 100, and free of binary noise', () => {
    expect(effectiveSeverity(71, 5)).toBe(100)
    expect(effectiveSeverity(39, 1.024)).toBe(39.936)
    expect(effectiveSeverity(100, 0.57)).toBe(57)
    expect(effectiveSeverity(0, 5)).toBe(0)
  })

  it('is compared by at least', () => {
    const rule = (multiplier: number) => zone({ severity_multiplier: multiplier, min_severity: 40 })
    expect(tell(rule(0.5), quake({ severity: 80 })).raised).toBe(true)
    expect(tell(rule(1.024), quake({ severity: 39 })).failed_at).toBe('severity')
    expect(tell(rule(1), quake({ severity: 40 })).raised).toBe(true)
    expect(tell(rule(1), quake({ severity: 39 })).failed_at).toBe('severity')
    expect(
      tell(zone({ min_severity: 100, severity_multiplier: 5 }), quake({ severity: 20 })).raised,
    ).toBe(true)
    expect(tell(zone({ min_severity: 0 }), quake({ severity: 0 })).raised).toBe(true)
  })
})

describe('snooze', () => {
  it('ends at its very moment', () => {
    expect(tell(zone({ snoozed_until: NOON }), quake()).raised).toBe(true)
    expect(tell(zone({ snoozed_until: NOON }), quake(), null, later(-0.001)).outcome).toBe(
      'suppressed',
    )
  })
})

describe('quiet hours', () => {
  it('hold until the end of their window', () => {
    const decision = tell(zone(night), quake({ ts: NIGHT }), null, NIGHT)
    expect(decision.held_until?.toISOString()).toBe(MORNING)
    expect(checkOf(decision, 'quiet_hours')).toMatchObject({
      window_start: '2026-03-01T22:00:00.000Z',
      window_end: MORNING,
      overridden_by_emergency: false,
    })
    expect(decision.memory).toMatchObject({ status: 'held', held_until: MORNING })
  })

  it('yield to an emergency by the effective severity', () => {
    const rule = zone({ ...night, emergency_severity: 80, severity_multiplier: 2 })
    const decision = tell(rule, quake({ severity: 40 }), null, NIGHT)
    expect(decision.outcome).toBe('raised')
    expect(checkOf(decision, 'quiet_hours').overridden_by_emergency).toBe(true)
    expect(decision.reason).toContain('passes quiet hours')
    expect(tell(rule, quake({ severity: 39 }), null, NIGHT).outcome).toBe('held')
  })

  it('alone yield: an emergency passes neither snooze nor dwell nor threshold', () => {
    const emergency = { emergency_severity: 50 }
    expect(tell(zone({ ...emergency, snoozed_until: later(1) }), quake()).failed_at).toBe('snooze')
    expect(tell(zone({ ...emergency, min_severity: 80 }), quake()).failed_at).toBe('severity')
    expect(tell(zone({ ...emergency, dwell_minutes: 1 }), ship(0, 0)).failed_at).toBe('dwell')
  })
})

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
      'none',
      'raised',
    ])
  })

  it('ends with one position clearly outside', () => {
    expect(outcomes(rule, [0, 0], [10, 0.93], [20, 0])).toEqual(['raised', 'none', 'raised'])
  })

  it('ends after more than 24 hours unseen', () => {
    expect(outcomes(rule, [0, 0], [24 * 60, 0])).toEqual(['raised', 'none'])
    expect(outcomes(rule, [0, 0], [24 * 60 + 1, 0])).toEqual(['raised', 'raised'])
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
      'none',
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

  it('of an event that does not move is not asked for', () => {
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

  it('is not moved on by positions that the zone does not watch', () => {
    const { memory } = follow(rule, [[ship(0, 0)]])
    for (const other of [zone({ enabled: false }), zone({ types: ['storm'] })]) {
      expect(tell(other, ship(5, 3), memory).memory).toBe(memory)
    }
  })
})

describe('a brief decision', () => {
  const clock = fc.constantFrom(null, '00:00', '06:00', '12:00', '22:00')
  const rules = fc
    .record({
      enabled: fc.constantFrom(true, true, true, false),
      sources: fc.constantFrom(null, null, ['usgs', 'ais'] as string[], ['emsc']),
      types: fc.constantFrom(null, null, ['vessel'] as ZoneRule['types']),
      min_severity: fc.constantFrom(0, 20, 40, 60),
      severity_multiplier: fc.constantFrom(0.5, 1, 2),
      dwell_minutes: fc.constantFrom(0, 0, 30),
      quiet: clock,
      quiet_mode: fc.constantFrom('hold' as const, 'drop' as const),
      emergency_severity: fc.constantFrom(null, 70, 90),
      snoozed_until: fc.constantFrom(null, later(60), later(600)),
    })
    .map(({ quiet, ...more }) =>
      zone({ ...more, quiet_hours_start: quiet, quiet_hours_end: quiet && '09:00' }),
    )
  const steps = fc.array(
    fc.record({
      moves: fc.boolean(),
      minutes: fc.integer({ min: 0, max: 3000 }),
      lag: fc.integer({ min: 0, max: 60 }),
      lon: fc.constantFrom(0, 0.1, 0.91, 0.93, 3),
      severity: fc.integer({ min: 0, max: 100 }),
      status: fc.constantFrom(
        'active' as const,
        'active' as const,
        'active' as const,
        'ended' as const,
        'retracted' as const,
      ),
    }),
    { maxLength: 12 },
  )

  it('says the same as a full one, but for the checks after the first that failed', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(rules, steps, (rule, all) => {
        const memories: Record<string, Memory | null> = {}
        for (const { moves, minutes, lag, ...more } of all) {
          const event = moves
            ? ship(minutes, more.lon, more)
            : quake({ ts: later(minutes), ...more })
          const at = new Date(later(minutes + lag))
          const memory = memories[String(moves)] ?? null
          const frozen = JSON.stringify(memory)
          const full = decide(rule, event, memory, at)
          const brief = decide(prepareZone(rule), event, memory, at, { brief: true })
          const end = full.checks.findIndex((check) => !check.passed)
          const shortened = end < 0 ? full.checks : full.checks.slice(0, end + 1)
          expect(brief).toEqual({ ...full, checks: shortened })
          expect(JSON.stringify(memory)).toBe(frozen)
          if (full.memory) expect(Memory.parse(full.memory)).toEqual(full.memory)
          expect(full.raised).toBe(full.checks.every((check) => check.passed))
          seen.add(full.failed_at ?? 'raised').add(`${full.update}`)
          memories[String(moves)] = full.memory
        }
      }),
      { numRuns: 500 },
    )
    expect([...seen].sort()).toEqual(
      [...CHECK_NAMES, 'raised', 'revised', 'escalated', 'ended', 'retracted', 'null'].sort(),
    )
  })
})
