import { describe, expect, it, test } from 'vitest'
import { checkFilter } from '../../../shared/decide/checks.ts'
import { latenessOf } from '../../../shared/decide/lateness.ts'
import { EVENT_TYPES } from '../../../shared/schemas/event.ts'
import { checkOf, later, NOON, quake, ship, tell, zone } from '../../support/decisions.ts'

const HOUR = 60
const seenAfter = (hours: number) => ({ known_since: later(hours * HOUR) })

describe('an event is late', () => {
  test.each([
    ['earthquake', 6],
    ['tsunami', 24],
    ['weather', 48],
    ['conflict', 48],
    ['storm', 72],
    ['wildfire', 168],
    ['flood', 168],
    ['other', 168],
    ['volcano', 336],
    ['drought', 1440],
  ] as const)('a %s that was first seen after more than %i hours', (type, hours) => {
    const event = { ...quake({ type, severity: 59 }), ...seenAfter(hours) }
    expect(latenessOf(event)).toEqual({ late: false, delay_hours: hours, news_for_hours: hours })
    expect(latenessOf({ ...event, known_since: later(hours * HOUR + 1) }).late).toBe(true)
  })

  it('unless it is severe and was seen within three days', () => {
    const event = { ...quake({ severity: 60 }), ...seenAfter(72) }
    expect(latenessOf(event)).toMatchObject({ late: false, news_for_hours: 72 })
    expect(latenessOf({ ...event, known_since: later(72 * HOUR + 1) }).late).toBe(true)
    expect(latenessOf({ ...event, type: 'drought' }).news_for_hours).toBe(1440)
  })

  it('never when it was announced before its time, or is a position', () => {
    expect(latenessOf({ ...quake(), ...seenAfter(-5) })).toMatchObject({
      late: false,
      delay_hours: 0,
    })
    const position = { ...ship(0, 0), ...seenAfter(9_999) }
    expect(latenessOf(position)).toMatchObject({ late: false, news_for_hours: null })
  })

  test.each(EVENT_TYPES)('by a rule for each type: %s', (type) => {
    expect(latenessOf(quake({ type, severity: 0 })).news_for_hours).toBeGreaterThan(0)
  })
})

describe('a late event', () => {
  const event = quake({ severity: 50, ...seenAfter(7) })

  it('raises no alert, and the check says why', () => {
    const decision = tell(zone(), event, null, later(7 * HOUR))
    expect(decision).toMatchObject({ outcome: 'none', failed_at: 'filter', memory: null })
    expect(checkOf(decision, 'filter')).toMatchObject({
      late: true,
      delay_hours: 7,
      news_for_hours: 6,
    })
    expect(decision.reason).toContain('first seen 7 hours after it happened, which is news for 6')
  })

  it('raises one as long as it lasts', () => {
    const lasting = { ...event, ends_at: later(8 * HOUR) }
    expect(tell(zone(), lasting, null, later(7 * HOUR)).outcome).toBe('raised')
    expect(tell(zone(), lasting, null, later(8 * HOUR)).outcome).toBe('none')
  })

  it('is judged by when the event was first seen, not by this revision', () => {
    const known = { ...event, known_since: NOON }
    expect(tell(zone(), known, null, later(30 * HOUR)).outcome).toBe('raised')
  })

  it('raises one when a revision makes it severe', () => {
    expect(tell(zone(), { ...event, severity: 60 }, null, later(7 * HOUR)).outcome).toBe('raised')
  })
})

describe('a position after a jump', () => {
  const rule = zone({ min_severity: 0 })

  it('does not count, and the check says why', () => {
    const decision = tell(rule, ship(0, 0, { flag: 'jump' }))
    expect(decision).toMatchObject({ outcome: 'none', failed_at: 'filter', memory: null })
    expect(decision.reason).toContain('nothing moves that fast')
  })

  it('does not end a stay either', () => {
    const { memory } = tell(rule, ship(0, 0))
    const away = tell(rule, ship(5, 50, { flag: 'jump' }), memory)
    expect(away.memory).toBe(memory)
  })

  it('counts after a gap', () => {
    expect(tell(rule, ship(0, 0, { flag: 'gap' })).outcome).toBe('raised')
  })
})

test('the check of an event in time names the numbers too', () => {
  expect(checkFilter(zone(), quake(), new Date(NOON))).toMatchObject({
    passed: true,
    late: false,
    delay_hours: 0,
    news_for_hours: 72,
    ends_at: null,
    flag: null,
  })
})
