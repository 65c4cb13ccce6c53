import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bandOf } from '../../../shared/decide/bands.ts'
import {
  CHECK_NAMES,
  Check,
  type CheckName,
  type DecidableEvent,
  effectiveSeverity,
  type ZoneRule,
} from '../../../shared/decide/checks.ts'
import { decide, Memory } from '../../../shared/decide/decide.ts'
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

  it('is compared with "at least"', () => {
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

  const still = { moves: false, minutes: 0, lag: 0, lon: 0 as const, status: 'active' as const }
  /** Few random histories escalate; this one always does. */
  const rising = [45, 85].map((severity) => ({ ...still, severity }))

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
          const reason = end < 0 ? full.reason : ''
          expect(brief).toEqual({ ...full, checks: shortened, reason })
          expect(JSON.stringify(memory)).toBe(frozen)
          if (full.memory) expect(Memory.parse(full.memory)).toEqual(full.memory)
          expect(full.raised).toBe(full.checks.every((check) => check.passed))
          seen.add(full.failed_at ?? 'raised').add(`${full.update}`)
          memories[String(moves)] = full.memory
        }
      }),
      { numRuns: 500, examples: [[zone(), rising]] },
    )
    expect([...seen].sort()).toEqual(
      [...CHECK_NAMES, 'raised', 'revised', 'escalated', 'ended', 'retracted', 'null'].sort(),
    )
  })
})
