import { describe, expect, test } from 'vitest'
import {
  compareEvents,
  Link,
  type LinkableEvent,
  LinkFacts,
  type LinkRule,
  linkFactsOf,
  linkKeys,
} from '../../../shared/decide/link.ts'

const facts = (more: Partial<LinkableEvent>) =>
  linkFactsOf({
    ...{ id: 'usgs:1', source: 'usgs', type: 'earthquake', title: '', subject: null },
    ...{ lat: 0, lon: 0, ts: '2026-03-01T12:00:00.000Z', geometry: null },
    ...more,
  })
const hoursLater = (hours: number) =>
  new Date(Date.UTC(2026, 2, 1, 12) + hours * 3_600_000).toISOString()
/** So many km on the equator, a hair less. */
const kmEast = (km: number) => (km - 0.001) / 111.19508

describe('what is compared of an event', () => {
  const nws = { source: 'nws', type: 'tsunami', id: 'nws:1' } as const
  const centre = { source: 'tsunami', type: 'tsunami' } as const
  test.each<[string, Partial<LinkableEvent>, string | null]>([
    ['the centre that a VTEC names', { ...nws, subject: 'vtec:PAAQ.TS.W.0001' }, 'PAAQ'],
    ['nothing of a VTEC of another hazard', { ...nws, subject: 'vtec:PAAQ.TO.W.0001' }, null],
    ['nothing of a VTEC within a subject', { ...nws, subject: 'not vtec:PAAQ.TS.W.0001' }, null],
    ['nothing of a VTEC in small letters', { ...nws, subject: 'vtec:paaq.TS.W.0001' }, null],
    ['the centre that a bulletin names', { ...centre, id: 'tsunami:PHEB-lqw6d6' }, 'PHEB'],
    ['nothing of a bulletin within an id', { ...centre, id: 'x-tsunami:PHEB-lqw6d6' }, null],
    ['nothing of a bulletin without a centre', { ...centre, id: 'tsunami:1-lqw6d6' }, null],
    ['no centre of an earthquake', { subject: 'vtec:PAAQ.TS.W.0001' }, null],
    ['the name of a storm', { source: 'nhc', type: 'storm', title: 'Hurricane Teddy' }, 'TEDDY'],
    ['no name of an earthquake', { title: 'Hurricane Teddy' }, null],
  ])('%s', (_, event, name) => {
    expect(facts(event).name).toBe(name)
  })

  test('its numbers, or null', () => {
    expect(facts({ magnitude: 5, depth_km: 7 })).toMatchObject({ magnitude: 5, depth_km: 7 })
    expect(facts({})).toMatchObject({ magnitude: null, depth_km: null, outline: null })
  })

  const row = (count: number) => Array.from({ length: count }, (_, index) => [index, 0])
  const outline = (geometry: LinkableEvent['geometry'], source = 'firms') =>
    facts({ source, type: 'wildfire', geometry }).outline
  test.each([
    [40, 40],
    [41, 21],
    [42, 22],
    [80, 41],
    [81, 28],
  ])('of a fire that was seen at %d places %d of them, the last one too', (count, kept) => {
    const places = outline({ type: 'MultiPoint', coordinates: row(count) })
    expect(places).toHaveLength(kept)
    expect(places?.[0]).toEqual([0, 0])
    expect(places?.at(-1)).toEqual([count - 1, 0])
  })
  test('of the footprint of a fire the first ring, and nothing of a line or of no fire', () => {
    const area = { type: 'Polygon' as const, coordinates: [row(4), row(9)] }
    expect(outline(area)).toEqual(row(4))
    expect(outline({ type: 'LineString', coordinates: row(4) })).toBeNull()
    expect(outline(null)).toBeNull()
    expect(facts({ geometry: area }).outline).toBeNull()
  })
})

test('the link has the numbers to two places, and the difference in magnitude of earthquakes only', () => {
  const other = { ts: hoursLater(1.234_567 / 3600), lon: kmEast(10), magnitude: 5.333_333 }
  const usgs = facts({ magnitude: 5 })
  expect(
    compareEvents('earthquake', usgs, facts({ ...other, source: 'emsc', id: 'emsc:1' })),
  ).toEqual({
    link: {
      ...{ event_id: 'emsc:1', rule: 'earthquake', seconds_apart: 1.23, distance_km: 10 },
      ...{ magnitude_apart: 0.33, name: null },
    },
    // 1.235 of 6.67 seconds, 10 of 100 km, a third of half a magnitude.
    apart: expect.closeTo((1.235 / 6.6665 + 0.1 + 2 / 3) / 3, 3),
  })
  // No magnitude is not a magnitude of 0.
  const tiny = { magnitude: 0.2 }
  expect(compareEvents('earthquake', facts({}), facts({ source: 'emsc', ...tiny }))).toBeNull()
  expect(compareEvents('earthquake', facts(tiny), facts({ source: 'emsc' }))).toBeNull()
  const storm = (source: string) =>
    facts({ source, type: 'storm', title: 'Hurricane Teddy', magnitude: 3 })
  expect(compareEvents('storm', storm('nhc'), storm('gdacs'))?.link).toMatchObject({
    ...{ magnitude_apart: null, name: 'TEDDY', rule: 'storm' },
  })
})

describe('the limits for storms', () => {
  const storm = (source: string, hours = 0, km = 0, title = 'Hurricane Teddy') =>
    facts({ source, type: 'storm', title, ts: hoursLater(hours), lon: kmEast(km) })
  test.each<[string, boolean, number, number, string?]>([
    ['200 km at the same time', true, 0, 200],
    ['201 km at the same time', false, 0, 201],
    ['240 km after an hour', true, 1, 240],
    ['241 km after an hour', false, 1, 241],
    ['48 hours', true, 48, 0],
    ['more than 48 hours', false, 48.01, 0],
    ['another name', false, 0, 0, 'Hurricane Ana'],
    ['no name', false, 0, 0, 'Tropical Depression Nine'],
  ])('%s: %s', (_, same, hours, km, title) => {
    const [one, two] = [storm('nhc'), storm('gdacs', hours, km, title)]
    expect(compareEvents('storm', one, two) !== null).toBe(same)
    expect(compareEvents('storm', two, one) !== null).toBe(same)
  })
  test('nor are two without a name the same', () => {
    const nine = (source: string) => storm(source, 0, 0, 'Tropical Depression Nine')
    expect(compareEvents('storm', nine('nhc'), nine('gdacs'))).toBeNull()
  })
  test('of several with its name the closest is the least apart', () => {
    const apart = compareEvents('storm', storm('nhc'), storm('gdacs', 12, 68))?.apart
    expect(apart).toBeCloseTo((12 / 48 + 68 / 680) / 2, 4)
    expect(compareEvents('storm', storm('nhc'), storm('gdacs', 90, 0), 2)).not.toBeNull()
  })
})

describe('the limits for tsunamis', () => {
  const warning = (hours: number, subject = 'vtec:PAAQ.TS.W.0001') =>
    facts({ source: 'nws', type: 'tsunami', id: 'nws:1', subject, ts: hoursLater(hours) })
  const bulletin = facts({ source: 'tsunami', type: 'tsunami', id: 'tsunami:PAAQ-lqw6d6' })
  test.each<[string, boolean, LinkFacts]>([
    ['at once', true, warning(0)],
    ['after 3 hours', true, warning(3)],
    ['after more than 3 hours', false, warning(3.01)],
    ['before the earthquake', false, warning(-0.01)],
    ['of another centre', false, warning(1, 'vtec:PHEB.TS.W.0001')],
  ])('a warning %s: %s', (_, same, other) => {
    expect(compareEvents('tsunami', bulletin, other) !== null).toBe(same)
    expect(compareEvents('tsunami', other, bulletin) !== null).toBe(same)
  })
  test('a warning of no centre, and twice as long for what is linked already', () => {
    const nameless = { ...bulletin, name: null }
    expect(compareEvents('tsunami', nameless, warning(1, 'vtec:1'))).toBeNull()
    expect(compareEvents('tsunami', bulletin, warning(5), 2)?.apart).toBeCloseTo(5 / 6, 6)
  })
})

describe('a fire that is reported', () => {
  const square = [
    [0, 0],
    [0, 1],
    [1, 1],
    [1, 0],
  ]
  const seen = (coordinates: number[][], hours = 0) =>
    facts({
      ...{ source: 'firms', id: 'firms:1', type: 'wildfire', ts: hoursLater(hours) },
      geometry: { type: 'MultiPoint', coordinates },
    })
  const report = (lat: number, lon: number) =>
    facts({ source: 'eonet', id: 'eonet:1', type: 'wildfire', lat, lon })
  test.each<[string, boolean, number[][], number, number]>([
    ['within a closed ring', true, [...square, [0, 0]], 0.5, 0.5],
    ['amid places that are no ring', false, square, 0.5, 0.5],
    ['amid places of which two have a longitude', false, [...square, [0, 0.4]], 0.5, 0.5],
    ['amid places of which two have a latitude', false, [...square, [0.4, 0]], 0.5, 0.5],
    ['1.9 km from one of the places', true, square, 1 + 1.9 / 111.195, 1],
    ['2.1 km from all places', false, square, 1 + 2.1 / 111.195, 1],
    ['between two places', false, [...square.slice(0, 2), [0, 0]], 0.5, 0],
  ])('%s: %s', (_, same, places, lat, lon) => {
    expect(compareEvents('wildfire', seen(places), report(lat, lon)) !== null).toBe(same)
    expect(compareEvents('wildfire', report(lat, lon), seen(places)) !== null).toBe(same)
  })
  test('may be twice as far away, in space and time, when it is linked already', () => {
    const wide = (lat: number, hours = 0) =>
      compareEvents('wildfire', seen(square, hours), report(lat, 1), 2) !== null
    const km = 1 / 111.195
    expect([wide(1 + 3.9 * km), wide(1 + 4.1 * km)]).toEqual([true, false])
    expect([wide(1, 13.9 * 24), wide(1, 14.1 * 24)]).toEqual([true, false])
    expect([wide(1, -3.9 * 24), wide(1, -4.1 * 24)]).toEqual([true, false])
  })
  test('is as much apart as any may be, when it is far away', () => {
    const far = compareEvents('wildfire', seen([...square, [0, 0], [9, 9]]), report(9, 9))
    expect(far?.apart).toBe(1)
  })
})

test('what is compared and why it is the same are as their schemas say', () => {
  const geometry = { type: 'MultiPoint' as const, coordinates: [[1, 2]] }
  const seen = facts({ source: 'firms', type: 'wildfire', geometry, lat: 2, lon: 1 })
  const reported = facts({ source: 'eonet', type: 'wildfire', lat: 2, lon: 1 })
  expect(LinkFacts.parse(seen)).toEqual(seen)
  const link = compareEvents('wildfire', seen, reported)?.link
  expect(Link.parse(link)).toEqual(link)
})

test.each<[LinkRule, string, string[]]>([
  ['earthquake', '1970-01-01T05:30:00Z', ['5']],
  ['earthquake', '1970-01-01T05:00:30Z', ['5', '4']],
  ['earthquake', '1970-01-01T05:59:30Z', ['5', '6']],
  ['earthquake', '1970-01-01T05:58:59Z', ['5']],
  ['tsunami', '1970-01-03T12:00:00Z', ['2']],
  ['tsunami', '1970-01-03T02:59:00Z', ['2', '1']],
  ['tsunami', '1970-01-03T21:00:00Z', ['2', '3']],
  ['tsunami', '1970-01-03T20:59:00Z', ['2']],
])(
  'a zone remembers an event of the rule %s at %s under %j, where it began a group first',
  (rule, ts, keys) => {
    expect(linkKeys(rule, facts({ ts }))).toEqual(keys.map((key) => `link:${rule}:${key}`))
  },
)

test('a zone remembers a fire under more squares of a degree near the pole, where they are narrow', () => {
  const keys = (lat: number, lon: number) =>
    linkKeys('wildfire', facts({ lat, lon })).map((key) => key.replace('link:wildfire:', ''))
  expect(keys(60.5, 10.4)).toEqual(['60:10', '60:9'])
  expect(keys(60.5, 10.6)).toEqual(['60:10', '60:11'])
  expect(keys(60.5, 10.5)).toEqual(['60:10', '60:9', '60:11'])
  expect(keys(60.5, 10.51)).toEqual(['60:10', '60:11'])
  expect(keys(89.5, 10.5)).toEqual(['89:10', '89:9', '89:11'])
  expect(keys(-0.5, -0.5)).toEqual(['-1:-1'])
  expect(keys(0.1, 0.5)).toEqual(['0:0', '-1:0'])
  expect(keys(0.9, 0.5)).toEqual(['0:0', '1:0'])
})
