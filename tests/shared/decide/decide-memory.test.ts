import { describe, expect, it } from 'vitest'
import { decide, decisionCost } from '../../../shared/decide/decide.ts'
import { checkOf, follow, later, NOON, quake, ship, tell, zone } from '../../support/decisions.ts'

const snoozed = { snoozed_until: later(60) }

describe('the check for a duplicate', () => {
  const inside = follow(zone({ min_severity: 0 }), [[ship(0, 0)]]).memory

  it('knows of no alert and of no late position while the zone is off or the event is filtered', () => {
    for (const rule of [
      zone({ min_severity: 0, enabled: false }),
      zone({ min_severity: 0, types: ['storm'] }),
    ]) {
      for (const minutes of [-10, 10]) {
        const decision = tell(rule, ship(minutes, 0), inside)
        expect(checkOf(decision, 'duplicate')).toMatchObject({ alert: null, late: false })
        expect(decision.memory).toBe(inside)
      }
    }
    expect(
      checkOf(tell(zone({ min_severity: 0 }), ship(-10, 0), inside), 'duplicate'),
    ).toMatchObject({
      alert: 'raised',
      late: true,
    })
  })

  it('calls nothing late that does not move', () => {
    const { memory } = follow(zone(), [[quake()]])
    expect(checkOf(tell(zone(), quake(), memory), 'duplicate')).toMatchObject({ late: false })
    expect(checkOf(tell(zone(), quake({ ts: later(-600) }), memory), 'duplicate').late).toBe(false)
  })

  it('says that a severity escalates only where all checks before it pass', () => {
    const { memory } = follow(zone(), [[quake({ severity: 50 })]])
    const escalates = (rule = zone(), event = quake({ severity: 90 })) =>
      checkOf(tell(rule, event, memory), 'duplicate').escalates
    expect(escalates()).toBe(true)
    expect(escalates(zone({ enabled: false }))).toBe(false)
    expect(escalates(zone({ types: ['storm'] }))).toBe(false)
    expect(escalates(zone(), quake({ severity: 90, lon: 3 }))).toBe(false)
    expect(escalates(zone({ min_severity: 95 }))).toBe(false)
    expect(escalates(zone(), quake({ severity: 59 }))).toBe(false)
  })
})

describe('an escalation', () => {
  it('within a band is none until the emergency severity is reached', () => {
    const rule = zone({ emergency_severity: 55 })
    const next = (severity: number) =>
      follow(rule, [[quake({ severity: 41 })], [quake({ severity })]]).outcomes[1]
    expect(next(54)).toBe('none revised')
    expect(next(55)).toBe('none escalated')
    expect(next(59)).toBe('none escalated')
    const twice = [[quake({ severity: 56 })], [quake({ severity: 58 })]] as [
      ReturnType<typeof quake>,
    ][]
    expect(follow(rule, twice).outcomes).toEqual(['raised', 'none revised'])
  })

  it('is measured by the highest severity so far, also one that changed only by the zone', () => {
    const first = tell(zone(), quake({ severity: 41 }))
    expect(first.memory).toMatchObject({ peak: 41 })
    const louder = tell(zone({ severity_multiplier: 1.4 }), quake({ severity: 41 }), first.memory)
    expect(louder).toMatchObject({ update: null, memory: { peak: 57.4 } })
    const much = tell(zone({ severity_multiplier: 1.8 }), quake({ severity: 41 }), louder.memory)
    expect(much).toMatchObject({ update: 'escalated', memory: { peak: 73.8 } })
    const back = tell(zone(), quake({ severity: 41 }), much.memory)
    expect(back).toMatchObject({ update: null, memory: { peak: 73.8 } })
  })

  it('of a moving subject needs a higher band than that of its stay, though its alert was not sent', () => {
    const rule = zone({ min_severity: 0 })
    const first = tell({ ...rule, ...snoozed }, ship(0, 0, { severity: 45 }))
    expect(first).toMatchObject({
      outcome: 'suppressed',
      memory: { alert: 'suppressed', peak: 45 },
    })
    const same = tell(rule, ship(10, 0, { severity: 55 }), first.memory, later(120))
    expect(same).toMatchObject({ outcome: 'none', failed_at: 'duplicate' })
    const higher = tell(rule, ship(10, 0, { severity: 65 }), first.memory, later(120))
    expect(higher).toMatchObject({ outcome: 'raised', memory: { alert: 'raised', peak: 65 } })
  })
})

describe('a memory of the other kind', () => {
  it('counts as none', () => {
    const rule = zone({ min_severity: 0 })
    const ofEvent = tell(rule, quake()).memory
    const ofStay = tell(rule, ship(0, 0)).memory
    expect(tell(rule, ship(10, 0), ofEvent)).toEqual(tell(rule, ship(10, 0)))
    expect(tell(rule, quake(), ofStay)).toEqual(tell(rule, quake()))
  })
})

describe('the cost of a decision', () => {
  it('grows with the vertices, and twice as fast for a footprint', () => {
    type Given = Parameters<typeof decisionCost>
    const cost = (vertices: number, event: { geometry?: unknown }, mainshocks?: object[]) =>
      decisionCost({ vertices } as Given[0], event, mainshocks as Given[2]) // safe: it reads no more
    expect(cost(0, {})).toBe(40)
    expect(cost(400, {})).toBe(140)
    expect(cost(400, { geometry: null })).toBe(140)
    expect(cost(400, { geometry: { type: 'Point' } })).toBe(240)
    expect(cost(0, {}, Array(50).fill({}))).toBe(45)
  })
})

it('a brief decision ends with the first check that failed, and says the same', () => {
  for (const event of [quake(), quake({ severity: 1 }), quake({ lon: 3 }), ship(0, 3)]) {
    const whole = decide(zone(), event, null, new Date(NOON))
    const brief = decide(zone(), event, null, new Date(NOON), { brief: true })
    const failed = whole.checks.findIndex(({ passed }) => !passed)
    expect(brief.checks).toEqual(failed < 0 ? whole.checks : whole.checks.slice(0, failed + 1))
    const reason = failed < 0 ? whole.reason : ''
    expect({ ...brief, checks: [] }).toEqual({ ...whole, checks: [], reason })
  }
})
