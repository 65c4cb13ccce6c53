import { expect, test } from 'vitest'
import { areaFrom, boxOf, cornersOf, middleOf } from '../../web/pages/zones/corners.ts'

const SQUARE = {
  type: 'Polygon' as const,
  coordinates: [
    [
      [28, 40],
      [30, 40],
      [30, 42],
      [28, 42],
      [28, 40],
    ],
  ],
}
const [ring = []] = SQUARE.coordinates

test('corners are written a line each, and read again', () => {
  expect(cornersOf(SQUARE)).toBe('40, 28\n40, 30\n42, 30\n42, 28')
  expect(areaFrom(cornersOf(SQUARE))).toEqual(SQUARE)
  expect(cornersOf(null)).toBe('')
})

test('what is more than one ring is written as GeoJSON, and read again', () => {
  const two = { type: 'MultiPolygon' as const, coordinates: [[ring], [ring]] }
  const hole = { type: 'Polygon' as const, coordinates: [ring, ring] }
  expect(areaFrom(cornersOf(two))).toEqual(two)
  expect(areaFrom(cornersOf(hole))).toEqual(hole)
})

test.each(['', 'hello', '40, 28', '40, 28\n40, 30', '{"type":', 'POINT(1 2)', 'name,lat,lon'])(
  '%j is no area',
  (text) => expect(areaFrom(text)).toBeNull(),
)

test('WKT and corners that close themselves are read', () => {
  expect(areaFrom('POLYGON((28 40, 30 40, 30 42, 28 42, 28 40))')).toEqual(SQUARE)
  expect(areaFrom('40, 28\n40, 30\n42, 30\n42, 28\n40, 28')).toEqual(SQUARE)
})

test('two areas are not one', () => {
  const twice = { type: 'GeometryCollection', geometries: [SQUARE, SQUARE] }
  expect(areaFrom(JSON.stringify(twice))).toBeNull()
})

test('the label stands in the middle of the box', () => {
  expect(middleOf(SQUARE)).toEqual({ lat: 41, lon: 29 })
  expect(boxOf(SQUARE)).toEqual([28, 40, 30, 42])
})
