import { describe, expect, test } from 'vitest'
import type { DecidableEvent, ZoneRule } from '../../../shared/decide/checks.ts'
import { decideLinked, type LinkedDecision } from '../../../shared/decide/decide-linked.ts'
import { Memory } from '../../../shared/decide/match-memory.ts'
import { preview } from '../../../shared/preview/preview.ts'
import { later, NIGHT, NOON, night, quake, ship, zone } from '../../support/decisions.ts'

const usgs = (more: Partial<DecidableEvent> = {}) => quake({ magnitude: 5.7, ...more })
const emsc = (more: Partial<DecidableEvent> = {}) =>
  quake({ id: 'emsc:1', source: 'emsc', magnitude: 5.6, title: 'M 5.6 - HOME', ...more })
const geonet = (more: Partial<DecidableEvent> = {}) =>
  emsc({ id: 'geonet:1', source: 'geonet', ...more })

/** Decides revisions in their order; what is remembered passes through JSON, as in the database. */
function follow(rule: ZoneRule, events: DecidableEvent[], at = NOON) {
  const memories = new Map<string, Memory>()
  const decisions: LinkedDecision[] = []
  for (const event of events) {
    const decision = decideLinked(rule, event, (key) => memories.get(key) ?? null, new Date(at))
    for (const [key, memory] of decision.memories) {
      memories.set(key, Memory.parse(JSON.parse(JSON.stringify(memory))))
    }
    decisions.push(decision)
  }
  const told = decisions.map(({ outcome, update, update_delivery }) =>
    [outcome, update, update && update_delivery].filter((word) => word !== null).join(' '),
  )
  return { decisions, told, memories, last: decisions.at(-1) }
}
const seconds = (count: number) => later(count / 60)

describe('an event that is the same as one that was alerted about', () => {
  test('is added to its alert, which is recorded and not sent', () => {
    const { told, last } = follow(zone(), [usgs(), emsc({ ts: seconds(2) })])
    expect(told).toEqual(['raised', 'none linked suppressed'])
    expect(last).toMatchObject({
      has_alert: true,
      alert_event_id: 'usgs:us1',
      failed_at: 'duplicate',
      link: { event_id: 'usgs:us1', seconds_apart: 2, distance_km: 0, magnitude_apart: 0.1 },
      reason: expect.stringContaining('the same was reported as usgs:us1'),
    })
    expect(last?.checks.filter((check) => 'linked_event_id' in check)).toHaveLength(1)
    expect(last?.checks.find(({ name }) => name === 'duplicate')).toMatchObject({
      passed: false,
      alert: 'raised',
      peak: 71,
      linked_event_id: 'usgs:us1',
      link: { rule: 'earthquake' },
    })
  })
  test('has no news until it changes, and then tells of that alone', () => {
    const { told, decisions } = follow(zone(), [
      ...[usgs(), emsc(), emsc(), usgs(), emsc({ severity: 65 }), emsc({ severity: 65 })],
    ])
    expect(told).toEqual([
      'raised',
      'none linked suppressed',
      'none',
      'none',
      'none revised now',
      'none',
    ])
    expect(decisions[2]?.memories).toEqual([])
    expect(decisions[3]?.alert_event_id).toBeNull()
    expect(decisions[4]).toMatchObject({
      alert_event_id: 'usgs:us1',
      link: null,
      alert_severity: 71,
    })
    expect(decisions[3]?.checks.find(({ name }) => name === 'duplicate')).toMatchObject({
      linked_event_id: null,
      link: null,
    })
  })
  test.each<[string, Partial<ZoneRule>, Partial<DecidableEvent>, string[]]>([
    ['is a band higher', {}, { severity: 85 }, ['raised', 'none escalated now']],
    [
      'is an emergency',
      { emergency_severity: 75 },
      { severity: 76 },
      ['raised', 'none escalated now'],
    ],
    ['is more severe in the band', {}, { severity: 79 }, ['raised', 'none linked suppressed']],
    ['is another thing', {}, { ts: seconds(20) }, ['raised', 'raised']],
  ])('when it %s: %j %j', (_, rule, more, expected) => {
    expect(follow(zone(rule), [usgs(), emsc(more)]).told).toEqual(expected)
  })
  test('escalates once, whichever source follows', () => {
    const { told, decisions } = follow(zone(), [
      ...[usgs(), emsc({ severity: 85 }), usgs({ severity: 86 }), geonet({ severity: 90 })],
    ])
    expect(told.slice(1)).toEqual([
      'none escalated now',
      'none revised now',
      'none linked suppressed',
    ])
    expect(decisions.map(({ alert_severity }) => alert_severity)).toEqual([71, 85, 86, 90])
  })
  test('counts for the severity of the alert as long as it stands', () => {
    const gone = { status: 'retracted' } as const
    const { decisions } = follow(zone(), [
      ...[usgs(), emsc({ severity: 85 }), emsc({ severity: 85, ...gone }), usgs(gone)],
    ])
    expect(decisions.map(({ alert_severity }) => alert_severity)).toEqual([71, 85, 71, 71])
  })
  test('is not recorded again when the zone weighs it anew', () => {
    const { memories } = follow(zone(), [usgs(), emsc()])
    const heavier = zone({ severity_multiplier: 1.1 })
    const remembered = (key: string) => memories.get(key) ?? null
    const again = decideLinked(heavier, emsc(), remembered, new Date(NOON))
    expect(again).toMatchObject({ outcome: 'none', update: null, alert_event_id: 'usgs:us1' })
  })
  test('may come as a revision of what was too weak before', () => {
    const rule = zone({ min_severity: 60 })
    const { told } = follow(rule, [emsc({ severity: 50 }), usgs(), emsc({ severity: 62 })])
    expect(told).toEqual(['none', 'raised', 'none linked suppressed'])
  })
})

describe('an event that does not reach the zone stands in for none', () => {
  test.each<[string, Partial<ZoneRule>, Partial<DecidableEvent>]>([
    ['its source is not wanted', { sources: ['emsc'] }, {}],
    ['it is too weak', {}, { severity: 30 }],
    ['it is outside', {}, { lon: 0.95 }],
    ['it was withdrawn', {}, { status: 'retracted' }],
  ])('%s', (_, rule, first) => {
    expect(follow(zone(rule), [usgs(first), emsc({ lon: 0.8 })]).told).toEqual(['none', 'raised'])
  })
  test('one that was withdrawn after its alert neither', () => {
    const { told } = follow(zone(), [usgs(), usgs({ status: 'retracted' }), emsc()])
    expect(told).toEqual(['raised', 'none retracted now', 'raised'])
  })
})

describe('a group', () => {
  test('has one standing event of a source', () => {
    const twin = emsc({ id: 'emsc:2' })
    expect(follow(zone(), [usgs(), emsc(), twin]).told[2]).toBe('raised')
    const again = follow(zone(), [usgs(), emsc(), emsc({ status: 'retracted' }), twin])
    expect(again.told.slice(2)).toEqual(['none unlinked suppressed', 'none linked suppressed'])
  })
  test.each([
    [3, 'usgs:us2'],
    [2, 'usgs:us1'],
    [1, 'usgs:us1'],
  ])('takes the event that is nearest, of two the first: %d s', (ts, nearest) => {
    const after = usgs({ id: 'usgs:us2', ts: seconds(4) })
    const { last } = follow(zone(), [usgs(), after, emsc({ ts: seconds(ts) })])
    expect(last?.alert_event_id).toBe(nearest)
  })
  test.each([
    [3, 'geonet:1'],
    [1, 'usgs:us1'],
  ])('names the nearest of its events as the same: %d s', (ts, nearest) => {
    const between = geonet({ ts: seconds(4), magnitude: 5.7 })
    const { last } = follow(zone(), [usgs(), between, emsc({ ts: seconds(ts), magnitude: 5.7 })])
    expect(last).toMatchObject({ alert_event_id: 'usgs:us1', link: { event_id: nearest } })
  })
  test('keeps an event as long as it is near one of the others', () => {
    const { told } = follow(zone(), [
      ...[usgs(), geonet({ ts: seconds(4) }), emsc(), emsc({ ts: seconds(12) })],
      emsc({ ts: seconds(20) }),
    ])
    expect(told.slice(3)).toEqual(['none', 'raised'])
  })
  test('ends with the last of its events, and was withdrawn if none of them ended', () => {
    const gone = { status: 'retracted' } as const
    const over = { status: 'ended' } as const
    expect(follow(zone(), [usgs(), emsc(), usgs(gone), emsc(gone)]).told.slice(2)).toEqual([
      'none unlinked suppressed',
      'none retracted now',
    ])
    expect(follow(zone(), [usgs(), emsc(), usgs(over), emsc(gone)]).told.slice(2)).toEqual([
      'none unlinked suppressed',
      'none ended now',
    ])
  })
  test('loses an event that is revised to be another one', () => {
    const { told, decisions } = follow(zone(), [
      ...[usgs(), emsc(), emsc({ ts: seconds(9) }), emsc({ ts: seconds(30) })],
      ...[emsc({ ts: seconds(31), severity: 85 }), usgs({ severity: 85 })],
    ])
    expect(told.slice(1)).toEqual([
      'none linked suppressed',
      'none',
      'raised',
      'none escalated now',
      'none escalated now',
    ])
    expect(decisions.slice(3).map(({ has_alert }) => has_alert)).toEqual([false, true, true])
  })
  test('has nothing to do with it any more, and may be joined by another of its source', () => {
    const gone = { status: 'retracted' } as const
    const away = emsc({ ts: seconds(30) })
    expect(follow(zone(), [usgs(), emsc(), away, usgs(gone)]).told[3]).toBe('none retracted now')
    const twin = emsc({ id: 'emsc:2' })
    expect(follow(zone(), [usgs(), emsc(), away, twin]).last?.alert_event_id).toBe('usgs:us1')
  })
  test('is left for another one, hours away', () => {
    const next = { ts: later(120) }
    const { told, last } = follow(zone(), [usgs(), emsc(), geonet(next), emsc(next)])
    expect(told.slice(2)).toEqual(['raised', 'none linked suppressed'])
    expect(last?.alert_event_id).toBe('geonet:1')
  })
  test('keeps an event that is revised to be another one and too weak for an alert', () => {
    const { last } = follow(zone(), [usgs(), emsc(), emsc({ ts: seconds(30), severity: 20 })])
    expect(last).toMatchObject({ outcome: 'none', alert_event_id: 'usgs:us1' })
  })
  test('keeps the event of its alert, wherever that is now', () => {
    const moved = usgs({ ts: seconds(600), lon: 0.5 })
    expect(follow(zone(), [usgs(), emsc(), moved]).told[2]).toBe('none revised now')
  })
  test('that was held is raised by an emergency, and its alert is about that event', () => {
    const rule = zone({ ...night, emergency_severity: 75 })
    const at = { ts: NIGHT }
    const { told, decisions } = follow(
      rule,
      [usgs(at), emsc({ ...at, severity: 80 }), usgs({ ...at, severity: 70 }), geonet(at)],
      NIGHT,
    )
    expect(told[0]).toBe('held')
    expect(decisions[1]).toMatchObject({
      outcome: 'raised',
      update: null,
      has_alert: true,
      alert_event_id: 'usgs:us1',
      reason: expect.stringContaining('the same was reported as usgs:us1 (0 s, 0 km and 0.1 in'),
    })
    expect(decisions[2]).toMatchObject({ update: 'revised', alert_event_id: 'emsc:1' })
    expect(decisions[3]).toMatchObject({ update: 'linked', alert_event_id: 'emsc:1' })
  })
})

describe('what a zone remembers of groups', () => {
  const groupsOf = (memories: Map<string, Memory>, key: string) => {
    const memory = memories.get(key)
    return memory?.kind === 'links' ? memory.groups.map(({ alert }) => alert) : []
  }
  const storm = (days: number, name: string) =>
    quake({
      ...{ id: `nhc:${name}`, source: 'nhc', type: 'storm', title: `Hurricane ${name}` },
      ts: later(days * 24 * 60),
    })
  test('lasts ten days for storms', () => {
    const { memories } = follow(zone(), [storm(0, 'Ana'), storm(1, 'Bob'), storm(10.5, 'Cleo')])
    expect(groupsOf(memories, 'link:storm')).toEqual(['nhc:Bob', 'nhc:Cleo'])
  })
  test('lasts from the latest time in a group', () => {
    const seen = quake({ ...storm(1.5, 'Ana'), id: 'gdacs:1', source: 'gdacs' })
    const { memories } = follow(zone(), [storm(0, 'Ana'), seen, storm(11.5, 'Cleo')])
    expect(groupsOf(memories, 'link:storm')).toEqual(['nhc:Ana', 'nhc:Cleo'])
  })
  test.each<[string, string, Partial<DecidableEvent>, days: number, kept: string[]]>([
    [
      'a fire of 15 days ago',
      'link:wildfire:0:0',
      { type: 'wildfire', source: 'eonet' },
      15,
      ['a', 'b'],
    ],
    ['no older fire', 'link:wildfire:0:0', { type: 'wildfire', source: 'eonet' }, 15.01, ['b']],
    [
      'every tsunami of a day',
      'link:tsunami:20513',
      { type: 'tsunami', source: 'tsunami' },
      0.4,
      ['a', 'b'],
    ],
  ])('is %s', (_, key, more, days, kept) => {
    const first = quake({ ...more, id: 'a', lat: 0.5, lon: 0.5 })
    const next = {
      ...first,
      id: 'b',
      ts: later(days * 24 * 60),
      known_since: later(days * 24 * 60),
    }
    expect(groupsOf(follow(zone(), [first, next]).memories, key)).toEqual(kept)
  })
  test('is at most a hundred under a key, the latest', () => {
    const names = Array.from({ length: 101 }, (_, index) => `usgs:us${index}`)
    const { memories } = follow(
      zone(),
      names.map((id) => usgs({ id })),
    )
    const [key = ''] = [...memories.keys()].filter((key) => key.startsWith('link:'))
    expect(groupsOf(memories, key)).toEqual(names.slice(1))
    // What was dropped goes on by itself.
    const own = memories.get('usgs:us0')
    expect(own).toMatchObject({ kind: 'event', link: { key } })
    const remembered = (key: string) => memories.get(key) ?? null
    const event = usgs({ id: 'usgs:us0', severity: 85 })
    expect(decideLinked(zone(), event, remembered, new Date(NOON))).toMatchObject({
      update: 'escalated',
      has_alert: true,
      alert_event_id: null,
    })
  })
})

test('a warning that may be of either of two tsunamis is of none', () => {
  const tsunami = (incident: string) =>
    quake({ id: `tsunami:PAAQ-${incident}`, source: 'tsunami', type: 'tsunami', severity: 100 })
  const warning = quake({
    ...{ id: 'nws:1', source: 'nws', type: 'tsunami', severity: 100 },
    ...{ subject: 'vtec:PAAQ.TS.W.0001', ts: later(10) },
  })
  expect(follow(zone(), [tsunami('a'), warning]).told).toEqual(['raised', 'none linked suppressed'])
  expect(follow(zone(), [tsunami('a'), tsunami('b'), warning]).told[2]).toBe('raised')
})

test('a fire is compared with all that satellites saw of another', () => {
  const geometry = {
    type: 'MultiPoint' as const,
    coordinates: [
      [0.3, 0],
      [0.31, 0.01],
    ],
  }
  const seen = quake({ id: 'firms:1', source: 'firms', type: 'wildfire', lon: 0.2, geometry })
  const named = quake({ id: 'eonet:1', source: 'eonet', type: 'wildfire', lon: 0.305 })
  expect(follow(zone(), [seen, named]).told).toEqual(['raised', 'none linked suppressed'])
  expect(follow(zone(), [{ ...seen, geometry: null }, named]).told[1]).toBe('raised')
})

test('what moves is remembered by its subject and linked with nothing', () => {
  const steps = [
    ship(0, 0.1, { severity: 60 }),
    ship(5, 0.1),
    ship(4, 0.1),
    ship(9, 3),
    ship(12, 0),
  ]
  const { told, decisions, memories } = follow(zone({ min_severity: 0 }), steps)
  expect(told).toEqual(['raised', 'none', 'none', 'none ended now', 'raised'])
  // Its alert is that of the same stay; a late position changes nothing.
  expect(decisions.map(({ has_alert }) => has_alert)).toEqual([false, true, true, false, false])
  expect(decisions[2]?.memories).toEqual([])
  expect([...memories.keys()]).toEqual(['mmsi:230123456'])
})

test('an alert from before groups were remembered goes on by itself', () => {
  const { memories } = follow(zone(), [quake({ source: 'test', id: 'usgs:us1' })])
  const own = memories.get('usgs:us1') ?? null
  const decision = decideLinked(
    zone(),
    usgs({ severity: 85 }),
    (key) => (key === 'usgs:us1' ? own : null),
    new Date(NOON),
  )
  expect(decision).toMatchObject({ update: 'escalated', has_alert: true, group_id: null })
})

test('a preview counts what several sources report once', () => {
  const seen = [usgs(), emsc(), geonet({ severity: 30 }), geonet()].map((event, index) => ({
    event,
    first_seen_at: new Date(later(index)),
  }))
  const now = new Date(later(60))
  expect(preview(zone(), seen, { days: 1, now })).toMatchObject({
    count: 1,
    by_source: [{ source: 'usgs', count: 1 }],
    suppressed: { duplicate: 2, severity: 0 },
  })
  expect(preview(zone({ sources: ['emsc'] }), seen, { days: 1, now })).toMatchObject({
    count: 1,
    by_source: [{ source: 'emsc', count: 1 }],
  })
})
