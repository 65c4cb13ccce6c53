import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DecidableEvent, ZoneRule } from '../../../shared/decide/checks.ts'
import { decide, type Memory } from '../../../shared/decide/decide.ts'
import { memoryKey } from '../../../shared/decide/match-memory.ts'
import { Preview, preview } from '../../../shared/preview/preview.ts'
import type { Revision } from '../../../shared/preview/tally.ts'
import { zoneDefaults } from '../../../shared/schemas/zone.ts'

const NOW = new Date('2026-03-07T15:00:00.000Z')
const WINDOW = { days: 7, now: NOW }
const NIGHT = { quiet_hours_start: '22:00', quiet_hours_end: '07:00' }

const zone = (more: Partial<ZoneRule> = {}): ZoneRule => ({
  ...zoneDefaults({ label: 'Home', lat: 0, lon: 0, radius_km: 100 }),
  ...more,
})
const revision = (
  first_seen_at: string,
  more: Partial<DecidableEvent> = {},
  ts = new Date(first_seen_at).toISOString(),
): Revision => ({
  first_seen_at: new Date(first_seen_at),
  event: {
    id: 'usgs:us1',
    source: 'usgs',
    type: 'earthquake',
    title: 'M 5.7',
    lat: 0,
    lon: 0,
    ts,
    severity: 50,
    subject: null,
    status: 'active',
    geometry: null,
    ...{ magnitude: null, depth_km: null, ends_at: null, flag: null },
    known_since: first_seen_at,
    ...more,
  },
})
const position = (first_seen_at: string, lon: number, more: Partial<DecidableEvent> = {}) =>
  revision(first_seen_at, {
    id: `ais:230:${first_seen_at}`,
    source: 'ais',
    type: 'vessel',
    subject: 'mmsi:230',
    lon,
    ...more,
  })
const none = {
  ...{ enabled: 0, filter: 0, severity: 0, aftershock: 0, duplicate: 0 },
  ...{ dwell: 0, quiet_hours: 0, burst: 0 },
}
const run = (rule: ZoneRule, ...revisions: Revision[]) => preview(rule, revisions, WINDOW)

describe('a preview', () => {
  it('has every day of its window, today the last, also without events', () => {
    const empty = run(zone())
    expect(empty.by_day.map(({ day }) => day)).toEqual([
      '2026-03-01',
      '2026-03-02',
      '2026-03-03',
      '2026-03-04',
      '2026-03-05',
      '2026-03-06',
      '2026-03-07',
    ])
    expect(empty).toMatchObject({ count: 0, by_source: [], suppressed: none, events: [] })
    expect(preview(zone(), [], { days: 1, now: NOW }).by_day).toEqual([
      { day: '2026-03-07', count: 0 },
    ])
    expect(preview(zone(), [], { days: 90, now: NOW }).by_day).toHaveLength(90)
  })

  it('counts an event once, on the day it was raised', () => {
    const result = run(
      zone({ severity_multiplier: 1.5 }),
      revision('2026-03-02T23:59:00Z', { severity: 10 }),
      revision('2026-03-03T00:01:00Z'),
      revision('2026-03-04T00:01:00Z', { severity: 60 }),
      revision('2026-03-04T00:02:00Z', { id: 'emsc:1', source: 'emsc' }),
      revision('2026-03-04T00:03:00Z', { id: 'usgs:us2' }),
    )
    expect(result).toMatchObject({
      count: 3,
      by_source: [
        { source: 'usgs', count: 2 },
        { source: 'emsc', count: 1 },
      ],
      suppressed: none,
      suggestion: null,
    })
    expect(result.by_day.filter(({ count }) => count > 0)).toEqual([
      { day: '2026-03-03', count: 1 },
      { day: '2026-03-04', count: 2 },
    ])
    expect(result.events.map(({ event_id }) => event_id)).toEqual([
      'usgs:us2',
      'emsc:1',
      'usgs:us1',
    ])
    expect(result.events[2]).toEqual({
      event_id: 'usgs:us1',
      title: 'M 5.7',
      ts: '2026-03-03T00:01:00.000Z',
      raised_at: '2026-03-03T00:01:00.000Z',
      severity: 50,
      effective_severity: 75,
      steps_at: [],
    })
    expect(Preview.parse(result)).toEqual(result)
  })

  it('starts with the first moment of its first day and remembers what came before', () => {
    const before = revision('2026-02-28T23:59:59.999Z')
    expect(run(zone(), before).count).toBe(0)
    expect(run(zone(), revision('2026-03-01T00:00:00Z')).count).toBe(1)
    const again = revision('2026-03-02T00:00:00Z', { severity: 10 })
    expect(run(zone(), before, again)).toMatchObject({ count: 0, suppressed: none })
    const { memory } = decide(zone(), before.event, null, before.first_seen_at)
    const memory_before = new Map([['usgs:us1', memory as Memory]])
    expect(
      preview(zone(), [revision('2026-03-02T00:00:00Z')], { ...WINDOW, memory_before }).count,
    ).toBe(0)
    expect(memory_before.get('usgs:us1')).toBe(memory)
  })

  it('ends with the last moment of today', () => {
    const day = (time: string) => run(zone(), revision(time)).count
    expect(day('2026-03-07T23:59:59.999Z')).toBe(1)
    expect(day('2026-03-08T00:00:00.000Z')).toBe(0)
  })

  it('lists sources by how much they bring, and by name where that is the same', () => {
    const of = (source: string, nth: number) =>
      revision('2026-03-03T00:00:00Z', { source, id: `${source}:${nth}` })
    const all = [of('b', 1), of('c', 1), of('a', 1), of('d', 1), of('d', 2)]
    for (const order of [all, all.toReversed()])
      expect(run(zone(), ...order).by_source.map(({ source }) => source)).toEqual([
        'd',
        'a',
        'b',
        'c',
      ])
  })

  it.each([
    ['filter', { sources: ['emsc'] }, revision('2026-03-03T12:00:00Z')],
    ['filter', { types: ['storm' as const] }, revision('2026-03-03T12:00:00Z')],
    ['severity', { min_severity: 51 }, revision('2026-03-03T12:00:00Z')],
    ['dwell', { dwell_minutes: 5 }, position('2026-03-03T12:00:00Z', 0)],
    ['enabled', { enabled: false }, revision('2026-03-03T12:00:00Z')],
    ['quiet_hours', NIGHT, revision('2026-03-03T23:00:00Z')],
    ['quiet_hours', { ...NIGHT, quiet_mode: 'drop' as const }, revision('2026-03-03T23:00:00Z')],
  ])('counts under %s what %j kept back', (name, rule, only) => {
    expect(run(zone(rule), only)).toMatchObject({ count: 0, suppressed: { ...none, [name]: 1 } })
  })

  it('counts nothing outside the zone, whatever else would have kept it back', () => {
    const rules = [{}, { sources: ['emsc'] }, { min_severity: 99 }, { enabled: false }]
    for (const rule of rules.map(zone)) {
      expect(run(rule, revision('2026-03-03T12:00:00Z', { lon: 3 }))).toMatchObject({
        count: 0,
        suppressed: none,
      })
    }
  })

  it('counts under enabled what came while the zone was off, and nothing of it stays behind', () => {
    const from = new Date('2026-03-03T00:00:00Z')
    const until = new Date('2026-03-04T00:00:00Z')
    const off_at = (at: Date) => (at >= from && at < until ? ('deleted' as const) : null)
    const tuesday = revision('2026-03-03T12:00:00Z')
    expect(preview(zone(), [tuesday], { ...WINDOW, off_at })).toMatchObject({
      count: 0,
      suppressed: { ...none, enabled: 1 },
      suggestion:
        'Nothing would have fired at once: 1 event inside came while the zone was deleted, switched off or paused.',
    })
    const later = revision('2026-03-05T12:00:00Z')
    expect(preview(zone(), [tuesday, later], { ...WINDOW, off_at })).toMatchObject({
      count: 1,
      suppressed: none,
    })
  })

  it('ignores a snooze, and says so when one touches the window', () => {
    const only = revision('2026-03-03T12:00:00Z')
    const snoozed = zone({ snoozed_until: '2026-03-04T00:00:00Z' })
    expect(run(snoozed, only)).toMatchObject({ count: 1, snooze_ignored: true })
    const before = zone({ snoozed_until: '2026-03-01T00:00:00Z' })
    expect(run(before, only)).toMatchObject({ count: 1, snooze_ignored: false })
    expect(preview(zone(), [only], { ...WINDOW, was_snoozed: true }).snooze_ignored).toBe(true)
  })

  it('divides by the days there are data for', () => {
    const two = [
      revision('2026-03-06T12:00:00Z'),
      revision('2026-03-07T12:00:00Z', { id: 'usgs:2' }),
    ]
    const of = (data_from?: string) => {
      const options = data_from ? { ...WINDOW, data_from: new Date(data_from) } : WINDOW
      const { per_day, days_with_data } = preview(zone(), two, options)
      return [per_day, days_with_data]
    }
    expect(of()).toEqual([0.29, 7])
    expect(of('2026-02-01T00:00:00Z')).toEqual([0.29, 7])
    expect(of('2026-03-06T18:00:00Z')).toEqual([1, 2])
    expect(of('2026-03-07T00:00:00Z')).toEqual([2, 1])
    expect(of('2026-03-07T14:59:59Z')).toEqual([2, 1])
  })

  it('pages its events by time and id, newest first', () => {
    const all = ['a', 'b', 'c'].map((id) => revision('2026-03-03T12:00:00Z', { id }))
    const list = [...all, revision('2026-03-02T12:00:00Z', { id: 'd' })].sort(
      (a, b) => +a.first_seen_at - +b.first_seen_at,
    )
    const pageAfter = (before: [string, string] | undefined) =>
      preview(zone(), list, { ...WINDOW, page: { limit: 2, before } }).events
    const first = pageAfter(undefined)
    expect(first.map(({ event_id }) => event_id)).toEqual(['c', 'b'])
    const rest = pageAfter(['2026-03-03T12:00:00.000Z', 'b'])
    expect(rest.map(({ event_id }) => event_id)).toEqual(['a', 'd'])
    expect(pageAfter(['2026-03-02T12:00:00.000Z', 'd'])).toEqual([])
  })

  it('does not count what ended or was retracted, nor takes back what was raised', () => {
    const gone = revision('2026-03-03T13:00:00Z', { status: 'retracted' })
    expect(run(zone(), gone)).toMatchObject({ count: 0, suppressed: none })
    expect(run(zone(), revision('2026-03-03T12:00:00Z'), gone).count).toBe(1)
  })

  it('counts as raised what was held and then escalated to an emergency', () => {
    const result = run(
      zone({ ...NIGHT, emergency_severity: 80 }),
      revision('2026-03-03T23:00:00Z'),
      revision('2026-03-04T01:00:00Z', { severity: 90 }),
    )
    expect(result).toMatchObject({ count: 1, suppressed: none })
    expect(result.by_day.find(({ count }) => count > 0)?.day).toBe('2026-03-04')
    expect(result.events[0]?.severity).toBe(90)
  })

  it('leaves under quiet hours what was held and later fell below the threshold', () => {
    const later = revision('2026-03-04T08:00:00Z', { severity: 10 })
    expect(run(zone(NIGHT), revision('2026-03-03T23:00:00Z'), later).suppressed).toEqual({
      ...none,
      quiet_hours: 1,
    })
  })

  it('counts each stay once, and its repeated positions as duplicates', () => {
    const result = run(
      zone({ min_severity: 0, dwell_minutes: 10 }),
      position('2026-03-03T12:00:00Z', 0),
      position('2026-03-03T12:10:00Z', 0),
      position('2026-03-03T12:20:00Z', 0),
      position('2026-03-03T12:30:00Z', 0),
      { ...position('2026-03-03T12:05:00Z', 0), first_seen_at: new Date('2026-03-03T12:31:00Z') },
      position('2026-03-03T12:40:00Z', 3),
      position('2026-03-03T13:00:00Z', 0),
    )
    expect(result).toMatchObject({ count: 1, suppressed: { ...none, duplicate: 2, dwell: 1 } })
    expect(result.events[0]?.event_id).toBe('ais:230:2026-03-03T12:10:00Z')
  })

  it('equals deciding by hand', () => {
    const revisions = fc
      .array(
        fc.record({
          minute: fc.integer({ min: -1000, max: 9000 }),
          lag: fc.integer({ min: 0, max: 30 }),
          which: fc.integer({ min: 0, max: 3 }),
          moves: fc.boolean(),
          lon: fc.constantFrom(0, 0.1, 0.91, 3),
          severity: fc.integer({ min: 0, max: 100 }),
          status: fc.constantFrom('active' as const, 'active' as const, 'ended' as const),
        }),
        { minLength: 10, maxLength: 60 },
      )
      .map((all) =>
        all
          .map(({ minute, lag, which, moves, ...more }): Revision => {
            const ts = Date.UTC(2026, 2, 1) + minute * 60_000
            const seen = new Date(ts + lag * 60_000).toISOString()
            const event = moves
              ? position(seen, more.lon, { ...more, subject: `mmsi:${which}` })
              : revision(seen, { ...more, id: `usgs:${which}` })
            return { ...event, event: { ...event.event, ts: new Date(ts).toISOString() } }
          })
          .sort((a, b) => +a.first_seen_at - +b.first_seen_at),
      )
    const rules = fc.record({
      min_severity: fc.constantFrom(0, 40),
      dwell_minutes: fc.constantFrom(0, 60),
      emergency_severity: fc.constantFrom(null, 80),
      quiet_hours_start: fc.constant('20:00'),
      quiet_hours_end: fc.constantFrom('20:00', '09:00'),
    })
    let counted = 0
    fc.assert(
      fc.property(rules, revisions, (more, all) => {
        const rule = zone(more)
        const memories = new Map<string, Memory | null>()
        const raised: string[] = []
        for (const { event, first_seen_at } of all) {
          const key = memoryKey(event)
          const decision = decide(rule, event, memories.get(key) ?? null, first_seen_at)
          memories.set(key, decision.memory)
          const day = first_seen_at.toISOString().slice(0, 10)
          if (decision.raised && day >= '2026-03-01' && day <= '2026-03-07') raised.push(event.id)
        }
        const result = run(rule, ...all)
        expect(result.events.map(({ event_id }) => event_id).sort()).toEqual(raised.sort())
        expect(result.count).toBe(raised.length)
        expect(result.by_day.reduce((sum, { count }) => sum + count, 0)).toBe(result.count)
        expect(result.by_source.reduce((sum, { count }) => sum + count, 0)).toBe(result.count)
        expect(result.by_day).toHaveLength(7)
        expect(result.suggestion === null || /[.]$/.test(result.suggestion)).toBe(true)
        counted += raised.length
      }),
      { numRuns: 200 },
    )
    expect(counted).toBeGreaterThan(100)
  })
})

describe('a suggestion', () => {
  const quakes = (count: number, severity: (i: number) => number) =>
    Array.from({ length: count }, (_, i) =>
      revision(new Date(Date.UTC(2026, 2, 3, 0, i)).toISOString(), {
        id: `usgs:${i}`,
        severity: severity(i),
      }),
    )

  it('names the threshold that would have fired, with a count that is true', () => {
    const all = quakes(5, (i) => [3, 15, 16, 17, 8][i] ?? 0)
    expect(run(zone(), ...all).suggestion).toBe(
      'Nothing would have fired. The strongest event inside was 17; min_severity 15 would have fired 3 times.',
    )
    expect(run(zone(), ...all).suggested_threshold).toEqual({ min_severity: 15, count: 3 })
    expect(run(zone({ min_severity: 15 }), ...all)).toMatchObject({
      count: 3,
      suggestion: null,
      suggested_threshold: null,
    })
  })

  it('tells what kept the alerts back when it was not the threshold', () => {
    expect(run(zone()).suggestion).toBe(
      'Nothing happened inside the zone in 7 days; a larger zone or more days would show more.',
    )
    const data_from = new Date('2026-03-06T10:00:00Z')
    expect(preview(zone(), [], { ...WINDOW, data_from }).suggestion).toBe(
      'Nothing happened inside the zone in 2 days; there is no older data.',
    )
    expect(run(zone({ enabled: false })).suggestion).toContain('switched off')
    expect(run(zone({ sources: ['emsc'] }), ...quakes(2, () => 50)).suggestion).toBe(
      'Nothing would have fired at once: 2 events inside are not of its sources and types.',
    )
    expect(run(zone(NIGHT), revision('2026-03-03T23:00:00Z')).suggestion).toBe(
      'Nothing would have fired at once: 1 event inside waited for the end of quiet hours.',
    )
  })

  it('raises the threshold of a zone that never stops', () => {
    const all = quakes(300, (i) => 40 + (i % 50))
    const { count, suggestion, suggested_threshold } = run(zone(), ...all)
    expect(count).toBe(300)
    const [, threshold, left] =
      /min_severity (\d+) would have fired (\d+) times/.exec(suggestion ?? '') ?? []
    expect(run(zone({ min_severity: Number(threshold) }), ...all).count).toBe(Number(left))
    expect(suggested_threshold).toEqual({ min_severity: Number(threshold), count: Number(left) })
    expect(Number(left)).toBeLessThanOrEqual(35)
    const flood = run(zone(), ...quakes(300, () => 50))
    expect(flood.suggestion).toContain('narrow the zone')
    expect(flood.suggested_threshold).toBeNull()
    // No threshold is beyond 100, which those of 100 still reach.
    const extreme = quakes(300, (i) => (i < 40 ? 100 : 50))
    expect(run(zone(), ...extreme).suggestion).toContain(
      'min_severity 100 would have fired 40 times',
    )
  })

  it('is made from twenty alerts a day on', () => {
    expect(run(zone(), ...quakes(139, () => 50)).suggestion).toBeNull()
    expect(run(zone(), ...quakes(140, () => 50)).suggestion).toContain('140 alerts in 7 days')
    const data_from = new Date('2026-03-03T00:00:00Z')
    const short = preview(
      zone(),
      quakes(100, () => 50),
      { ...WINDOW, data_from },
    )
    expect(short.suggestion).toContain('100 alerts in 5 days')
  })
})
