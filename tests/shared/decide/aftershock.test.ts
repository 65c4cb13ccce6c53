import { describe, expect, it } from 'vitest'
import {
  AftershockCheck,
  Aftershocks,
  aftershockDays,
  aftershockLimit_km,
  checkAftershock,
  GivenAftershocks,
  groupMainshocks,
  type MainshockState,
  ruptureLength_km,
} from '../../../shared/decide/aftershock.ts'
import { zone as circle, later, NOON, quake, tell } from '../../support/decisions.ts'

const DAY = 24 * 60
/** One degree of longitude on the equator. */
const DEGREE_KM = 111.195_08

/** M 7.8 at noon, seen three minutes later; twice its rupture length are 290.4 km. */
const main = (more: Partial<MainshockState> = {}): MainshockState => ({
  event_id: 'usgs:main',
  first_seen_at: later(3),
  ts: NOON,
  lat: 0,
  lon: 0,
  magnitude: 7.8,
  counts: true,
  ...more,
})

type Given = { gap?: number; emergency?: number | null; effective?: number; at?: string }

/** The check of an earthquake, by default of magnitude 4.5 an hour after noon and one degree east. */
function check(
  event: { id?: string; type?: string; magnitude?: number | null; lon?: number; ts?: string },
  states: MainshockState[],
  { gap = 2, emergency = null, effective = 40, at = later(200 * DAY) }: Given = {},
) {
  const rule = { aftershocks: { magnitude_gap: gap }, emergency_severity: emergency }
  const given = { id: 'usgs:after', type: 'earthquake', lat: 0, lon: 1, ts: later(60) }
  const facts = { at: new Date(at), effective, mainshocks: groupMainshocks(states) }
  const made = checkAftershock(rule, { ...given, magnitude: 4.5, ...event }, facts)
  if (!made) throw new Error('the zone excludes aftershocks')
  return AftershockCheck.parse(made)
}
const isExcluded = (...given: Parameters<typeof check>) => !check(...given).passed

describe('the rule', () => {
  it('has the rupture lengths of Wells and Coppersmith, table 2A, for all types of slip', () => {
    // log10(SRL) = −3.22 + 0.69 M, worked out by hand.
    const lengths = [5.5, 6, 6.5, 7, 7.5, 8].map((magnitude) => ruptureLength_km(magnitude))
    expect(lengths.map((km) => Number(km.toFixed(2)))).toEqual([
      3.76, 8.32, 18.41, 40.74, 90.16, 199.53,
    ])
    expect(aftershockLimit_km(7)).toBeCloseTo(81.476, 3)
  })

  it('lasts as long as the USGS says', () => {
    const days = [5.5, 5.99, 6, 6.49, 6.5, 6.99, 7, 7.99, 8, 9.5].map(aftershockDays)
    expect(days).toEqual([10, 10, 20, 20, 30, 30, 60, 60, 120, 120])
  })

  it('takes a gap of 0.5 to 5, by default 2, and nothing else', () => {
    expect(GivenAftershocks.parse({})).toEqual({ magnitude_gap: 2 })
    for (const magnitude_gap of [0.5, 5]) {
      expect(Aftershocks.parse({ magnitude_gap })).toEqual({ magnitude_gap })
      expect(GivenAftershocks.safeParse({ magnitude_gap }).success).toBe(true)
    }
    for (const given of [{ magnitude_gap: 0.49 }, { magnitude_gap: 5.01 }, { gap: 2 }]) {
      expect(GivenAftershocks.safeParse(given).success).toBe(false)
    }
  })
})

describe('an aftershock', () => {
  it('is told with the numbers of its mainshock', () => {
    expect(check({}, [main()])).toEqual({
      name: 'aftershock',
      passed: false,
      magnitude: 4.5,
      magnitude_gap: 2,
      mainshock: {
        event_id: 'usgs:main',
        magnitude: 7.8,
        ts: NOON,
        distance_km: expect.closeTo(DEGREE_KM, 2),
        limit_km: expect.closeTo(290.42, 2),
        days: 60,
        until: later(60 * DAY),
      },
      emergency_severity: null,
      overridden_by_emergency: false,
    })
  })

  it('is as near as twice the rupture length', () => {
    const edge = aftershockLimit_km(7.8) / DEGREE_KM
    expect(isExcluded({ lon: edge - 0.001 }, [main()])).toBe(true)
    expect(isExcluded({ lon: edge + 0.001 }, [main()])).toBe(false)
    expect(check({ lon: edge + 0.001 }, [main()]).mainshock).toBeNull()
  })

  it('is nearer across the antimeridian than it looks', () => {
    expect(isExcluded({ lon: -179.5 }, [main({ lon: 179.5 })])).toBe(true)
  })

  it('comes before the time of its mainshock is over', () => {
    expect(isExcluded({ ts: later(60 * DAY - 0.01) }, [main()])).toBe(true)
    expect(isExcluded({ ts: later(60 * DAY) }, [main()])).toBe(false)
    expect(isExcluded({ ts: later(120 * DAY - 0.01) }, [main({ magnitude: 8 })])).toBe(true)
    expect(isExcluded({ ts: later(10 * DAY), lon: 0.01 }, [main({ magnitude: 5.6 })])).toBe(false)
    // Also that of a mainshock that was taken for a greater one before.
    const lesser = [main({ magnitude: 8 }), main({ first_seen_at: later(30) })]
    expect(isExcluded({ ts: later(60 * DAY - 0.01) }, lesser)).toBe(true)
    expect(isExcluded({ ts: later(60 * DAY) }, lesser)).toBe(false)
  })

  it('is below the mainshock by more than the gap', () => {
    expect(isExcluded({ magnitude: 5.79 }, [main()])).toBe(true)
    expect(isExcluded({ magnitude: 5.8 }, [main()])).toBe(false)
    expect(isExcluded({ magnitude: 5.8 }, [main()], { gap: 1.9 })).toBe(true)
    expect(isExcluded({ magnitude: 4.5 }, [main()], { gap: 3.3 })).toBe(false)
  })

  it('is told of although it passes: the mainshock shows why', () => {
    const { passed, mainshock } = check({ magnitude: 5.8 }, [main()])
    expect({ passed, of: mainshock?.event_id }).toEqual({ passed: true, of: 'usgs:main' })
  })

  it('is not compared with floating-point noise', () => {
    for (let tenth = 55; tenth <= 95; tenth++) {
      const [magnitude, below] = [tenth / 10, (tenth - 20) / 10]
      expect([
        magnitude,
        isExcluded({ magnitude: below, lon: 0.01 }, [main({ magnitude })]),
      ]).toEqual([magnitude, false])
    }
  })

  it('of two mainshocks is one of the stronger', () => {
    const second = main({ event_id: 'usgs:second', magnitude: 7.5, ts: later(9 * 60), lon: 0.8 })
    for (const states of [
      [main(), second],
      [second, main()],
    ]) {
      const made = check({ magnitude: 5.6, ts: later(10 * 60) }, states)
      expect([made.passed, made.mainshock?.event_id]).toEqual([false, 'usgs:main'])
    }
    const equal = [main(), { ...second, magnitude: 7.8 }]
    expect(check({ ts: later(10 * 60) }, equal).mainshock?.event_id).toBe('usgs:main')
    // Before the second it can only be one of the first.
    expect(check({ ts: later(60) }, [second]).mainshock).toBeNull()
  })
})

describe('no aftershock is', () => {
  it('what came before, or within a minute: it may be the mainshock as another agency saw it', () => {
    expect(isExcluded({ ts: later(-60) }, [main()])).toBe(false)
    expect(isExcluded({ ts: NOON, magnitude: 5 }, [main()])).toBe(false)
    expect(isExcluded({ ts: later(1), magnitude: 5 }, [main()])).toBe(false)
    expect(isExcluded({ ts: later(1.01), magnitude: 5 }, [main()])).toBe(true)
  })

  it('the mainshock itself, whatever its time and magnitude are now', () => {
    expect(isExcluded({ id: 'usgs:main', ts: later(30), magnitude: 4 }, [main()])).toBe(false)
  })

  it('the second of a doublet', () => {
    expect(isExcluded({ magnitude: 7.5, ts: later(9 * 60), lon: 0.8 }, [main()])).toBe(false)
  })

  it('what has no magnitude, or is no earthquake', () => {
    expect(check({ magnitude: null }, [main()])).toMatchObject({ passed: true, magnitude: null })
    expect(check({ type: 'volcano' }, [main()])).toMatchObject({ passed: true, mainshock: null })
  })

  it('an emergency', () => {
    const given = { emergency: 40, effective: 40 }
    const { passed, overridden_by_emergency } = check({}, [main()], given)
    expect({ passed, overridden_by_emergency }).toEqual({
      passed: true,
      overridden_by_emergency: true,
    })
    expect(isExcluded({}, [main()], { emergency: 40, effective: 39.9 })).toBe(true)
    const elsewhere = check({ lon: 9 }, [main()], given)
    expect(elsewhere.overridden_by_emergency).toBe(false)
  })
})

describe('a mainshock counts as it was known at the time', () => {
  it('not before it was seen', () => {
    expect(isExcluded({}, [main()], { at: later(2.9) })).toBe(false)
    expect(isExcluded({}, [main()], { at: later(3) })).toBe(true)
  })

  it('with the magnitude and the place of the latest revision', () => {
    const states = [main({ magnitude: 6.3 }), main({ first_seen_at: later(30) })]
    const [before, after] = [{ at: later(29) }, { at: later(30) }]
    expect(isExcluded({}, states, before)).toBe(false)
    expect(isExcluded({}, states, after)).toBe(true)
    expect(isExcluded({}, states.toReversed(), after)).toBe(true)
  })

  it('from the time that was known then, although it was corrected to a later one', () => {
    const states = [main(), main({ ts: later(20), first_seen_at: later(40) })]
    expect(isExcluded({ ts: later(10) }, states, { at: later(39) })).toBe(true)
    expect(isExcluded({ ts: later(10) }, states, { at: later(40) })).toBe(false)
  })

  it('until it is retracted, or turns out to be smaller', () => {
    const gone = [main(), main({ first_seen_at: later(30), counts: false })]
    expect(isExcluded({}, gone, { at: later(29) })).toBe(true)
    expect(isExcluded({}, gone, { at: later(30) })).toBe(false)
    const smaller = [main({ magnitude: 8 }), main({ magnitude: 6.9, first_seen_at: later(30) })]
    const near = { lon: 0.1, ts: later(40 * DAY) }
    expect(isExcluded(near, smaller, { at: later(29) })).toBe(true)
    expect(isExcluded(near, smaller, { at: later(30) })).toBe(false)
    // Only what never counted is left out.
    expect(groupMainshocks([main({ counts: false })])).toEqual([])
    expect(groupMainshocks(gone)).toHaveLength(1)
  })
})

describe('decide', () => {
  const rule = circle({ aftershocks: { magnitude_gap: 2 }, radius_km: 300 })
  const event = quake({ lon: 1, severity: 45, ts: later(60), magnitude: 4.5 })
  const mainshocks = groupMainshocks([main()])
  const at = later(61)

  it('lists the check after severity, only for a zone that has it', () => {
    const names = (zone: typeof rule) => tell(zone, event, null, at).checks.map(({ name }) => name)
    expect(names(rule).slice(3, 6)).toEqual(['severity', 'aftershock', 'duplicate'])
    expect(names(circle())).not.toContain('aftershock')
  })

  it('raises nothing, says why, and remembers nothing, so that a stronger revision passes', () => {
    const first = tell(rule, event, null, at, { mainshocks })
    expect(first).toMatchObject({ outcome: 'none', failed_at: 'aftershock', memory: null })
    expect(first.reason).toBe(
      'M 5.7 - 10 km E of Home: an aftershock of usgs:main: M 4.5 is below 7.8 − 2, ' +
        '111.2 km away, within 290.4 km, until 2026-04-30T12:00:00.000Z.',
    )
    const brief = tell(rule, event, null, at, { mainshocks, brief: true })
    expect(brief.checks.at(-1)?.name).toBe('aftershock')
    const stronger = tell(rule, { ...event, magnitude: 5.9 }, first.memory, at, { mainshocks })
    expect(stronger.outcome).toBe('raised')
  })

  it('says that an emergency is one although', () => {
    const emergency = tell({ ...rule, emergency_severity: 45 }, event, null, at, { mainshocks })
    expect(emergency.outcome).toBe('raised')
    expect(emergency.reason).toContain('; an emergency (45 or more), although an aftershock.')
  })

  it('still updates an alert that was raised before the mainshock was known', () => {
    const before = tell(rule, event, null, at)
    const revised = { ...event, title: 'M 4.6', severity: 46 }
    const after = tell(rule, revised, before.memory, later(70), { mainshocks })
    expect([before.outcome, after.outcome, after.update]).toEqual(['raised', 'none', 'revised'])
  })
})
