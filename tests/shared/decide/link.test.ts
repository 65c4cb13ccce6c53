import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { loadQuakes } from '../../../functions/feeds/replay/load.ts'
import { compareEvents, linkFactsOf, linkKeys, linkRuleOf } from '../../../shared/decide/link.ts'
import { stormName } from '../../../shared/decide/storm-name.ts'
import type { NormalisedEvent } from '../../../shared/schemas/event.ts'
import { kindOf, PAIRS, type Pair } from '../../support/feeds/link-pairs.ts'

function compare({ a, b }: Pair) {
  const { rule } = kindOf({ what: '', same: true, a, b })
  return compareEvents(rule, linkFactsOf(a), linkFactsOf(b))
}

describe('labelled pairs', () => {
  test.each(PAIRS.filter(({ same }) => !same))('$what: not the same', (pair) => {
    expect(compare(pair)).toBeNull()
  })
  test.each(PAIRS.filter(({ missed }) => missed))('$what: the same, but too different', (pair) => {
    expect(compare(pair)).toBeNull()
  })
  test.each(PAIRS.filter(({ same, missed }) => same && !missed))(
    '$what: the same, whichever came first',
    (pair) => {
      const found = compare(pair)
      const back = compare({ ...pair, a: pair.b, b: pair.a })
      expect(found?.link).toMatchObject({ event_id: pair.b.id })
      expect(back?.link).toEqual({ ...found?.link, event_id: pair.a.id })
      expect(found?.apart).toBeLessThanOrEqual(1)
      // Each finds the other where it looks.
      const { rule } = kindOf(pair)
      const [home] = linkKeys(rule, linkFactsOf(pair.a))
      expect(linkKeys(rule, linkFactsOf(pair.b))).toContain(home)
    },
  )

  test('the table in docs/zones.md says how many there are and how many were found', () => {
    const rows = Map.groupBy(PAIRS, (pair) => `${kindOf(pair).rule} | ${kindOf(pair).sources}`)
    const table = [...rows].map(([kind, pairs]) => {
      const same = pairs.filter(({ same }) => same)
      const found = pairs.filter((pair) => compare(pair) !== null)
      const right = found.filter(({ same }) => same)
      const percent = (part: number, all: number) =>
        all === 0 ? '–' : `${Math.round((100 * part) / all)} %`
      const [precision, recall] = [
        percent(right.length, found.length),
        percent(right.length, same.length),
      ]
      return `| ${kind} | ${same.length} | ${pairs.length - same.length} | ${precision} | ${recall} |`
    })
    const page = readFileSync(new URL('../../../docs/zones.md', import.meta.url), 'utf8')
    expect(
      page.split('\n').filter((line) => / \| \d+ \| \d+ \| .* % \| .* % \|/.test(line)),
    ).toEqual(table.sort())
  })
})

test('what one source reports, or one’s own sensor, has no rule', () => {
  expect(linkRuleOf({ source: 'usgs', type: 'earthquake' })).toBe('earthquake')
  expect(linkRuleOf({ source: 'usgs', type: 'volcano' })).toBeNull()
  expect(linkRuleOf({ source: 'custom:emsc', type: 'earthquake' })).toBeNull()
  expect(linkRuleOf({ source: 'nws', type: 'storm' })).toBeNull()
  expect(linkRuleOf({ source: 'aisstream', type: 'vessel' })).toBeNull()
  expect(linkRuleOf({ source: 'gdacs', type: 'flood' })).toBeNull()
})

test('two events of one source are never the same, however near', () => {
  const facts = linkFactsOf({ ...(PAIRS[0]?.a ?? fail()), source: 'usgs', magnitude: 5 })
  expect(compareEvents('earthquake', facts, { ...facts, id: 'usgs:other' })).toBeNull()
  expect(compareEvents('earthquake', facts, { ...facts, source: 'emsc' })?.apart).toBe(0)
})
function fail(): never {
  throw new Error('there are pairs')
}

describe('the limits for earthquakes', () => {
  const at = (more: object) => ({
    ...linkFactsOf({
      ...{ id: 'usgs:1', source: 'usgs', type: 'earthquake', title: '', subject: null },
      ...{ lat: 0, lon: 0, ts: '2026-03-01T12:00:00.000Z', geometry: null },
      ...{ magnitude: 5, depth_km: 10 },
    }),
    ...more,
  })
  const later = (seconds: number) =>
    new Date(Date.parse('2026-03-01T12:00:00Z') + seconds * 1000).toISOString()
  /** So many km on the equator, a hair less. */
  const east = (km: number) => (km - 0.001) / 111.19508
  const pair = (a: object, b: object) =>
    compareEvents('earthquake', at(a), at({ id: 'emsc:1', source: 'emsc', ...b })) !== null

  test.each<[string, object, object, boolean]>([
    ['5 s at magnitude 5', {}, { ts: later(5) }, true],
    ['5.1 s at magnitude 5', {}, { ts: later(5.1) }, false],
    ['11 s at 36 km', {}, { ts: later(10.9), lon: east(36) }, true],
    ['11.1 s at 36 km', {}, { ts: later(11.1), lon: east(36) }, false],
    ['10 s at 40 km of depth', {}, { ts: later(10), depth_km: 50 }, true],
    ['10 s without a depth', {}, { ts: later(10), depth_km: null }, false],
    ['5.1 s without a depth', { depth_km: 40 }, { ts: later(5.1), depth_km: null }, false],
    ['30 s at most', {}, { ts: later(30), lon: east(99), depth_km: 300 }, true],
    ['more than 30 s', {}, { ts: later(30.1), lon: east(99), depth_km: 300 }, false],
    ['100 km', {}, { lon: east(100) }, true],
    ['100.1 km', {}, { lon: east(100.1) }, false],
    ['half a magnitude', { magnitude: 4.9 }, { magnitude: 4.4 }, true],
    ['more than half a magnitude', { magnitude: 4.9 }, { magnitude: 4.39 }, false],
    ['0.88 of a magnitude 7', { magnitude: 7 }, { magnitude: 6.13 }, true],
    ['0.89 of a magnitude 7', { magnitude: 7 }, { magnitude: 6.11 }, false],
    ['1.5 of a magnitude 9.5', { magnitude: 9.5 }, { magnitude: 8 }, true],
    ['more than 1.5', { magnitude: 9.6 }, { magnitude: 8.05 }, false],
    ['200 km of a magnitude 9', { magnitude: 9 }, { magnitude: 9, lon: east(200) }, true],
    ['201 km of a magnitude 9', { magnitude: 9 }, { magnitude: 9, lon: east(201) }, false],
    ['1 s of a small one', { magnitude: 2 }, { magnitude: 2, ts: later(1) }, true],
    ['1.1 s of a small one', { magnitude: 2 }, { magnitude: 2, ts: later(1.1) }, false],
    ['15 s of a great one', { magnitude: 8 }, { magnitude: 8, ts: later(15) }, true],
    ['15.1 s of a great one', { magnitude: 8 }, { magnitude: 8, ts: later(15.1) }, false],
  ])('%s', (_, a, b, same) => {
    expect(pair(a, b)).toBe(same)
    expect(pair(b, a)).toBe(same)
  })

  test('twice as wide for what is linked already', () => {
    const wide = { ...at({ ts: later(9.9) }), id: 'emsc:1', source: 'emsc' }
    expect(compareEvents('earthquake', at({}), wide)).toBeNull()
    expect(compareEvents('earthquake', at({}), wide, 2)).not.toBeNull()
    expect(compareEvents('earthquake', at({}), { ...wide, ts: later(10.1) }, 2)).toBeNull()
  })
})

/** A fire so many hours after the report, and so far north of it. */
const fire = (source: string, hours = 0, north_km = 0) =>
  linkFactsOf({
    ...{ id: `${source}:1`, source, type: 'wildfire', title: '', subject: null, geometry: null },
    ...{ lat: 40 + north_km / 111.195, lon: 20 },
    ts: new Date(Date.UTC(2026, 7, 1) + hours * 3_600_000).toISOString(),
  })

test.each([
  [-48, true],
  [-48.01, false],
  [0, true],
  [7 * 24, true],
  [7 * 24 + 0.01, false],
])('a fire that was seen %d hours after its report is the same: %s', (hours, same) => {
  const seen = fire('firms', hours)
  expect(compareEvents('wildfire', seen, fire('eonet')) !== null).toBe(same)
})

test('of several fires the one seen closest to its report, in time and place, is the same', () => {
  const apart = (hours: number, north_km = 0) =>
    compareEvents('wildfire', fire('firms', hours, north_km), fire('eonet'))?.apart
  expect(apart(0)).toBe(0)
  // A week counts as much as 20 km.
  expect(apart(84)).toBeCloseTo(0.25, 3)
  expect(apart(-42)).toBeCloseTo(0.125, 3)
  expect(apart(0, 1)).toBeCloseTo(0.025, 3)
  expect(apart(84, 1)).toBeCloseTo(0.275, 3)
})

test('a recorded week of 1,707 events: none is mistaken for another one', async () => {
  const { items } = await loadQuakes()
  const quakes = items.map(({ event }) => event).filter(({ type }) => type === 'earthquake')
  expect(quakes.length).toBeGreaterThan(1600)
  quakes.sort((a, b) => (a.ts < b.ts ? -1 : 1))
  const mistaken: string[] = []
  let found = 0
  for (const [index, quake] of quakes.entries()) {
    const facts = linkFactsOf(quake)
    if (facts.magnitude === null) continue
    const copy = asAnother(quake, index)
    if (compareEvents('earthquake', copy, facts)) found += 1
    for (const other of quakes.slice(index + 1, index + 30)) {
      const link = compareEvents('earthquake', { ...linkFactsOf(other), source: 'emsc' }, facts)
      if (link) mistaken.push(`${quake.id} ${other.id}`)
    }
  }
  // The same earthquake twice: 2.2 s and 20 km apart, listed by the same network.
  expect(mistaken).toEqual(['usgs:ak18383983 usgs:ak18384001'])
  // As another agency might have told of it, within the usual differences.
  expect(found).toBe(quakes.filter(({ magnitude }) => magnitude != null).length)
})

/** A variant with the differences that are usual between agencies: they grow from local earthquakes to distant ones. */
function asAnother(quake: NormalisedEvent, seed: number) {
  const facts = linkFactsOf(quake)
  const random = (nr: number) => {
    const value = Math.sin(seed * 12.9898 + nr * 78.233) * 43_758.5453
    return 2 * (value - Math.floor(value)) - 1
  }
  const isLarge = (facts.magnitude ?? 0) >= 4
  const [seconds, km, magnitude] = isLarge ? [4, 25, 0.4] : [0.8, 5, 0.3]
  return {
    ...facts,
    id: quake.id.replace('usgs', 'emsc'),
    source: 'emsc',
    ts: new Date(Date.parse(facts.ts) + random(1) * seconds * 1000).toISOString(),
    lat: Math.min(89, facts.lat + (random(2) * km) / 111),
    lon: facts.lon + (random(3) * km) / 111,
    magnitude: Math.round(10 * ((facts.magnitude ?? 0) + random(4) * magnitude)) / 10,
  }
}

test.each<[string, string | null]>([
  ['Hurricane Teddy', 'TEDDY'],
  ['Major Hurricane Nolo', 'NOLO'],
  ['Post-Tropical Cyclone Teddy', 'TEDDY'],
  ['Orange Tropical Cyclone POLO-26 in Mexico from: 21 Sep 2026', 'POLO'],
  [
    'Green alert for tropical cyclone SARAI-19. Population affected by Category 1 (120 km/h)',
    'SARAI',
  ],
  ['Typhoon Co-May', 'CO-MAY'],
  ['Tropical Storm José', 'JOSE'],
  ['Super Typhoon Ragasa', 'RAGASA'],
  ['Potential Tropical Cyclone Nine', null],
  ['Tropical Depression Twenty-One', null],
  ['Tropical Depression TWENTYONE', null],
  ['Tropical Depression Nine-E', null],
  ['Orange Tropical Cyclone ONE-26 in India', null],
  ['Tropical Cyclone 02B-26', null],
  ['Tropical Storm Warning', null],
  ['Severe storm in Texas', null],
  ['Tropical Storm  Ana', 'ANA'],
  ['Tropical Depression Twelve', null],
  ['Tropical Cyclone Zero-21', null],
  ...['Unnamed', 'Invest', 'of the century', 'from the sea', 'watch', 'surge', 'alert'].map(
    (word): [string, null] => [`Tropical Storm ${word}`, null],
  ),
  ['Iceberg B22A', null],
])('the storm in "%s" is %s', (title, name) => {
  expect(stormName(title)).toBe(name)
})

describe('where a zone remembers what may be linked', () => {
  const facts = (more: object) => ({
    ...linkFactsOf({
      ...{ id: 'usgs:1', source: 'usgs', type: 'earthquake', title: '', subject: null },
      ...{ lat: 10, lon: 20, ts: '2026-03-01T12:30:00.000Z', geometry: null },
    }),
    ...more,
  })
  test('an hour, or two next to its edge', () => {
    expect(linkKeys('earthquake', facts({}))).toHaveLength(1)
    const before = linkKeys('earthquake', facts({ ts: '2026-03-01T12:59:30.000Z' }))
    const after = linkKeys('earthquake', facts({ ts: '2026-03-01T13:00:10.000Z' }))
    expect(before).toEqual([after[1], after[0]].toReversed().toReversed())
    expect(new Set([...before, ...after]).size).toBe(2)
  })
  test('a degree square and its neighbours, also across the antimeridian', () => {
    expect(linkKeys('wildfire', facts({ lat: 10.5, lon: 20.5 }))).toEqual(['link:wildfire:10:20'])
    expect(linkKeys('wildfire', facts({ lat: 10.1, lon: 179.9 })).sort()).toEqual([
      'link:wildfire:10:-180',
      'link:wildfire:10:179',
      'link:wildfire:9:-180',
      'link:wildfire:9:179',
    ])
  })
  test('one place for storms', () => {
    expect(linkKeys('storm', facts({}))).toEqual(['link:storm'])
  })
})
