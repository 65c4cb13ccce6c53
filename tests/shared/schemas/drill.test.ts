import { expect, test } from 'vitest'
import { DrillRequest, isUnderWay, pretend } from '../../../shared/schemas/drill.ts'
import { type ZoneCreate, zoneDefaults } from '../../../shared/schemas/zone.ts'

const drill = (zone: Partial<ZoneCreate>, asked: object = {}) =>
  pretend(zoneDefaults({ label: 'Home', lat: 5, lon: 6, ...zone }), DrillRequest.parse(asked))
const ring = (west: number, east: number) => [
  [west, 0],
  [east, 0],
  [east, 2],
  [west, 2],
  [west, 0],
]

test('a drill pretends what just raises an alert in the middle of the zone', () => {
  expect(drill({})).toEqual({
    ...{ type: 'earthquake', source: 'drill', severity: 40, lat: 5, lon: 6 },
  })
  expect(drill({ types: ['storm', 'flood'], sources: ['nhc', 'gdacs'] })).toMatchObject({
    ...{ type: 'storm', source: 'nhc' },
  })
})

test('or what was asked for', () => {
  const asked = { type: 'flood', source: 'usgs', severity: 0, lat: -1, lon: -2 }
  expect(drill({ types: ['storm'], sources: ['nhc'] }, asked)).toEqual(asked)
  expect(drill({}, { lat: 0, lon: 0 })).toMatchObject({ lat: 0, lon: 0 })
})

test.each([
  [0, 1, 0],
  [40, 1, 40],
  [40, 2, 20],
  [41, 2, 21],
  [100, 1, 100],
  [100, 0.5, 100],
  [50, 0.5, 100],
  [49.6, 1, 50],
])(
  'the least that reaches %d with the factor %d is %d',
  (min_severity, severity_multiplier, least) => {
    expect(drill({ min_severity, severity_multiplier }).severity).toBe(least)
  },
)

test('in a polygon it is at the label, or at a corner where that lies outside', () => {
  const square = { type: 'Polygon' as const, coordinates: [ring(0, 10)] }
  expect(drill({ polygon: square, lat: 1, lon: 3 })).toMatchObject({ lat: 1, lon: 3 })
  expect(drill({ polygon: square, lat: 9, lon: 3 })).toMatchObject({ lat: 0, lon: 0 })
  const parts = { type: 'MultiPolygon' as const, coordinates: [[ring(20, 30)], [ring(0, 10)]] }
  expect(drill({ polygon: parts, lat: 9, lon: 3 })).toMatchObject({ lat: 0, lon: 20 })
  // A shape beyond ±180° has its corner where maps have it.
  const east = { type: 'Polygon' as const, coordinates: [ring(190, 200)] }
  expect(drill({ polygon: east, lat: 9, lon: 3 })).toMatchObject({ lat: 0, lon: -170 })
  const west = { type: 'Polygon' as const, coordinates: [ring(-200, -190)] }
  expect(drill({ polygon: west, lat: 9, lon: 3 })).toMatchObject({ lat: 0, lon: 160 })
})

test.each([
  ['waiting', true],
  ['sending', true],
  ['stopped', false],
  ['held', false],
  ['no_channel', false],
  ['done', false],
] as const)('a drill that is %s may still change: %s', (status, may) => {
  expect(isUnderWay({ status })).toBe(may)
})
