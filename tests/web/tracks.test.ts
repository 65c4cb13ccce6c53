import { describe, expect, test } from 'vitest'
import type { MapFeature, Track } from '../../web/api/queries.ts'
import { extentOf, wayOf } from '../../web/map/extent.ts'
import { drawable, footprintFeature } from '../../web/map/footprints.ts'
import { movedTo, placeAt } from '../../web/map/moved.ts'
import {
  bearingOf,
  cutAt,
  headFeatures,
  splitAt180,
  stretchesOf,
  trackFeatures,
} from '../../web/map/tracks.ts'
import { around } from '../../web/map/view.ts'
import { filterIn } from '../../web/pages/map/filter.ts'

const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 1)
type Step = Track['steps'][number]

const step = (hour: number, lon: number, lat = 0, flag: Step['flag'] = null): Step => ({
  lon,
  lat,
  ts: new Date(START + hour * HOUR).toISOString(),
  severity: 30,
  flag,
})
const track = (steps: Step[], given: Partial<Track> = {}): Track => ({
  event_id: 'test:1',
  source: 'test',
  type: 'storm',
  title: 'Storm',
  severity: 60,
  subject: 'test:1',
  status: 'active',
  ts: steps.at(-1)?.ts ?? '',
  steps,
  ...given,
})
const lons = (steps: Step[]) => steps.map(({ lon }) => lon)

describe('a path ends at 180° and goes on at the other side', () => {
  test.each([
    [
      'eastward',
      [
        [179, 10],
        [-179, 12],
      ],
      [
        [
          [179, 10],
          [180, 11],
        ],
        [
          [-180, 11],
          [-179, 12],
        ],
      ],
    ],
    [
      'westward',
      [
        [-170, 0],
        [160, 3],
      ],
      [
        [
          [-170, 0],
          [-180, 1],
        ],
        [
          [180, 1],
          [160, 3],
        ],
      ],
    ],
    [
      'it stays on its side',
      [
        [10, 0],
        [-160, 0],
      ],
      [
        [
          [10, 0],
          [-160, 0],
        ],
      ],
    ],
    [
      'there and back',
      [
        [179, 0],
        [-179, 0],
        [179, 0],
      ],
      [
        [
          [179, 0],
          [180, 0],
        ],
        [
          [-180, 0],
          [-179, 0],
          [-180, 0],
        ],
        [
          [180, 0],
          [179, 0],
        ],
      ],
    ],
    [
      'it begins on the line',
      [
        [180, 4],
        [-179, 5],
      ],
      [
        [
          [180, 4],
          [180, 4],
        ],
        [
          [-180, 4],
          [-179, 5],
        ],
      ],
    ],
    ['one place is no line', [[5, 5]], []],
  ])('%s', (_, path, lines) => {
    expect(splitAt180(path)).toEqual(lines)
  })
})

test('the slider cuts a way at its time, the step at that time included', () => {
  const steps = [step(0, 0), step(1, 1), step(2, 2)]
  expect(lons(cutAt(steps, START - 1))).toEqual([])
  expect(lons(cutAt(steps, START + HOUR - 1))).toEqual([0])
  expect(lons(cutAt(steps, START + HOUR))).toEqual([0, 1])
  expect(lons(cutAt(steps, START + 9 * HOUR))).toEqual([0, 1, 2])
})

test('a gap is a stretch of its own; what is before and after it are others', () => {
  const steps = [step(0, 0), step(1, 1), step(9, 5, 0, 'gap'), step(10, 6), step(11, 60, 0, 'jump')]
  expect(stretchesOf(steps).map(({ look, steps }) => [look, lons(steps)])).toEqual([
    ['way', [0, 1]],
    ['gap', [1, 5]],
    ['way', [5, 6]],
    ['gap', [6, 60]],
  ])
  // What it would be marked for came before.
  expect(stretchesOf([step(0, 0, 0, 'gap'), step(1, 1)]).map(({ look }) => look)).toEqual(['way'])
})

test.each([
  [[step(0, 0), step(1, 1)], 90],
  [[step(0, 0), step(1, 0, -1), step(2, 0, -1)], 180],
  [[step(0, 179.5), step(1, -179.5)], 90],
  [[step(0, -179.5), step(1, 179.5)], 270],
  [[step(0, 0, 60), step(1, 2, 61)], 44.5],
])('the direction of the last move, case %#', (steps, degrees) => {
  expect(bearingOf(steps)).toBeCloseTo(degrees, 0)
})

test('what never moved has no direction', () => {
  expect(bearingOf([step(0, 3, 4), step(1, 3, 4)])).toBeNull()
  expect(bearingOf([])).toBeNull()
})

test('the chosen way is whole and strong, the others are tails that fade', () => {
  const hours = Array.from({ length: 25 }, (_, hour) => step(hour, hour))
  const drawn = (chosen: Track | undefined, until = 24) =>
    trackFeatures([track(hours)], {
      until: START + until * HOUR,
      span: 24 * HOUR,
      chosen,
    }).features.map(({ geometry, properties: { opacity, width } }) => ({
      opacity,
      width,
      from: geometry.coordinates[0]?.[0],
      to: geometry.coordinates.at(-1)?.[0],
    }))
  expect(drawn(undefined)).toEqual([
    { opacity: 0.2, width: 1.5, from: 17, to: 20 },
    { opacity: 0.4, width: 1.5, from: 20, to: 22 },
    { opacity: 0.65, width: 1.5, from: 22, to: 24 },
  ])
  expect(drawn(undefined, 12).at(-1)).toMatchObject({ to: 12 })
  // It is chosen by a position of before: the subject is the same.
  const chosen = track(hours, { event_id: 'test:0' })
  expect(drawn(chosen, 12)).toEqual([{ opacity: 0.95, width: 2.5, from: 0, to: 12 }])
  expect(drawn(track(hours, { event_id: 'test:0', subject: null }))).toHaveLength(4)
})

test('vessels stand where they were, and point where they went; storms have their own point', () => {
  const ship = track([step(0, 0), step(2, 0, 1), step(4, 9)], { type: 'vessel', subject: 'mmsi:1' })
  const shown = (hour: number) =>
    headFeatures([ship, track([step(0, 5)])], START + hour * HOUR).features.map(
      ({ geometry, properties }) => [geometry.coordinates, properties.symbol, properties.bearing],
    )
  expect(shown(-1)).toEqual([])
  expect(shown(1)).toEqual([[[0, 0], 'still-low', 0]])
  expect(shown(3)).toEqual([[[0, 1], 'mover-low', 0]])
})

test('a storm that has moved on since is shown where it was, and what came later is not', () => {
  const feature = (id: string, hour: number) =>
    ({
      type: 'Feature',
      id,
      geometry: { type: 'Point', coordinates: [9, 9] },
      properties: { cluster: false, ts: step(hour, 0).ts, severity: 60, lat: 9, lon: 9 },
    }) as unknown as MapFeature // safe: what is read of it
  const storm = track([step(0, 1), step(2, 3), step(8, 9, 9)])
  const features = [feature('test:1', 8), feature('test:2', 1), feature('test:3', 8)]
  expect(movedTo(features, [storm], undefined)).toBe(features)
  const before = movedTo(features, [storm], START + 3 * HOUR)
  expect(before).toMatchObject([
    { id: 'test:1', geometry: { coordinates: [3, 0] }, properties: { lon: 3, severity: 30 } },
    { id: 'test:2', geometry: { coordinates: [9, 9] } },
  ])
  expect(before).toHaveLength(2)
  expect(placeAt({ lat: 9, lon: 9 }, storm, START + HOUR)).toMatchObject({ lon: 1 })
  expect(placeAt({ lat: 9, lon: 9 }, storm, undefined)).toMatchObject({ lon: 9 })
  expect(placeAt({ lat: 9, lon: 9 }, null, START)).toEqual({ lat: 9, lon: 9 })
  expect(placeAt(undefined, null, START)).toBeNull()
})

const square = (lon: number, lat: number, side: number) => [
  [lon, lat],
  [lon + side, lat],
  [lon + side, lat + side],
  [lon, lat + side],
  [lon, lat],
]

test('a line is cut at 180°, an area goes on past it; what is small lies on top', () => {
  const area = { type: 'Polygon' as const, coordinates: [square(179, 0, 4)] }
  expect(drawable(area)).toBe(area)
  const line = {
    type: 'LineString' as const,
    coordinates: [
      [179, 0],
      [-179, 0],
    ],
  }
  expect(drawable(line)).toEqual({
    type: 'MultiLineString',
    coordinates: [
      [
        [179, 0],
        [180, 0],
      ],
      [
        [-180, 0],
        [-179, 0],
      ],
    ],
  })
  const properties = { severity: 60, ts: step(1, 0).ts }
  expect(footprintFeature({ id: 'a', geometry: area, properties }).properties).toEqual({
    id: 'a',
    severity: 60,
    at: START + HOUR,
    order: -4,
  })
})

test('a footprint in numbers: holes are no part of it, and 180° is no edge', () => {
  const extent = (coordinates: number[][][]) => extentOf({ type: 'Polygon', coordinates })
  const whole = extent([square(179, 0, 2)])
  expect(whole).toMatchObject({
    width_km: expect.closeTo(222, 0),
    height_km: expect.closeTo(222, 0),
  })
  const area = whole && 'area_km2' in whole ? whole.area_km2 : 0
  expect(area / 49_450).toBeCloseTo(1, 2)
  const hole = extent([square(0, 0, 2), square(0.5, 0.5, 1)])
  expect(hole && 'area_km2' in hole && hole.area_km2 / 37_090).toBeCloseTo(1, 2)
  // More than half of the way round the earth.
  const wide = extent([
    [
      [-120, 0],
      [0, 0],
      [120, 0],
      [120, 1],
      [0, 1],
      [-120, 1],
      [-120, 0],
    ],
  ])
  expect(wide).toMatchObject({ width_km: expect.closeTo(26_685, -2) })
  expect(
    extentOf({
      type: 'LineString',
      coordinates: [
        [179, 0],
        [-179, 0],
      ],
    }),
  ).toEqual({
    length_km: expect.closeTo(222.4, 1),
  })
  expect(extentOf({ type: 'MultiPoint', coordinates: [[1, 2]] })).toBeNull()
})

test('a way in numbers counts nothing of a gap', () => {
  const steps = [step(0, 0), step(1, 1), step(9, 5, 0, 'gap'), step(10, 5), step(11, 5)]
  expect(wayOf(steps)).toEqual({
    length_km: expect.closeTo(111.2, 1),
    seconds: 11 * 3600,
    gaps: 1,
    towards: 'e',
    moved_at: step(9, 0).ts,
  })
  expect(wayOf([step(0, 0), step(1, 0, -1)])).toMatchObject({ towards: 's' })
  expect(wayOf([step(0, 0)])).toBeNull()
})

test.each([
  ['10,20,30,40', 3, '0,0,45,45'],
  ['-124,-7,-16,51', 3, '-135,-22.5,0,67.5'],
  ['170,-10,-170,10', 4, '168.75,-11.25,-168.75,11.25'],
  ['100,-10,179,10', 3, '90,-22.5,180,22.5'],
  ['-149,-62,179,76', 1, '-180,-90,180,90'],
  ['12,41,13,42', 9, '12,41,13,42'],
])('around a view of %s at zoom %i', (bbox, zoom, found) => {
  expect(around({ bbox, zoom })).toEqual({ bbox: found, zoom })
})

test('the address names a filter; what it misspells asks for everything', () => {
  expect(filterIn('storm', 'severe')).toEqual({ types: 'storm', min_severity: 60 })
  expect(filterIn(null, 'minor')).toEqual({})
  expect(filterIn('hail', 'bad')).toEqual({})
})
