import { expect, test } from 'vitest'
import { simplifyFootprint } from '../../../shared/geometry/simplify.ts'

const square = (lon: number, lat: number, side: number) => [
  [lon, lat],
  [lon + side, lat],
  [lon + side, lat + side],
  [lon, lat + side],
  [lon, lat],
]
/** A square whose sides have many corners, a little off the line. */
const rough = square(10, 10, 4)
  .slice(0, 4)
  .flatMap(([x = 0, y = 0], side) =>
    Array.from({ length: 50 }, (_, n) => {
      const [east = 0, north = 0] =
        [
          [1, 0],
          [0, 1],
          [-1, 0],
          [0, -1],
        ][side] ?? []
      return [x + east * n * 0.08 + (n % 2) * 0.0011, y + north * n * 0.08 + (n % 2) * 0.0011]
    }),
  )
rough.push([10, 10])

test('corners within half a pixel go, and what is left is rounded to a tenth of one', () => {
  const thin = simplifyFootprint({ type: 'Polygon', coordinates: [rough] }, 0.05)
  expect(thin).toEqual({ type: 'Polygon', coordinates: [square(10, 10, 4)] })
  const whole = { type: 'Polygon' as const, coordinates: [rough] }
  expect(simplifyFootprint(whole, 0)).toBe(whole)
})

test.each([
  [1e-7, [10.1234568, 20.9876543], [10.123457, 20.987654]],
  [0.05, [10.1234568, 20.9876543], [10.123, 20.988]],
  [0.4, [10.1234568, 20.9876543], [10.12, 20.99]],
  [3, [10.1234568, 20.9876543], [10.1, 21]],
  [30, [10.1234568, 20.9876543], [10, 21]],
])('where a pixel is %d° large, a corner keeps so many digits', (pixel, corner, rounded) => {
  const line = (first: number[]) => ({
    ...{ type: 'MultiLineString' as const, coordinates: [[first, [60, 50]]] },
  })
  expect(simplifyFootprint(line(corner), pixel)).toEqual(line(rounded))
})

test('parts and holes that are smaller than a pixel go, but never the last part', () => {
  const [big, hole, dot] = [square(0, 0, 8), square(2, 2, 3), square(20, 20, 0.01)]
  expect(
    simplifyFootprint(
      { type: 'MultiPolygon', coordinates: [[big, hole, square(6, 6, 0.01)], [dot]] },
      0.1,
    ),
  ).toEqual({ type: 'MultiPolygon', coordinates: [[big, hole]] })
  const last = simplifyFootprint({ type: 'MultiPolygon', coordinates: [[dot]] }, 0.1)
  expect(last).toEqual({ type: 'MultiPolygon', coordinates: [[dot]] })
})

test('lines lose corners, points nothing; longitudes past 180° stay', () => {
  const lines = [
    [
      [179, 0],
      [180, 0.001],
      [181, 0],
    ],
  ]
  expect(simplifyFootprint({ type: 'MultiLineString', coordinates: lines }, 0.1)).toEqual({
    type: 'MultiLineString',
    coordinates: [
      [
        [179, 0],
        [181, 0],
      ],
    ],
  })
  const line = { type: 'LineString' as const, coordinates: lines[0] ?? [] }
  expect(simplifyFootprint(line, 0.1)).toMatchObject({
    type: 'LineString',
    coordinates: { length: 2 },
  })
  const points = { type: 'MultiPoint' as const, coordinates: [[1, 2]] }
  expect(simplifyFootprint(points, 1)).toBe(points)
})
