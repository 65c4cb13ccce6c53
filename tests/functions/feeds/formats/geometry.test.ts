import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  circle,
  countVertices,
  readGeometry,
  representativePoint,
  toGeometry,
  toRing,
  wrapLongitude,
} from '../../../../functions/feeds/formats/geometry.ts'
import { containsPoint, prepareZone } from '../../../../shared/geometry/geometry.ts'

const box = (west: number, south: number, east: number, north: number) => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]

describe('a ring', () => {
  test('is closed', () => {
    expect(
      toRing([
        [0, 0],
        [1, 0],
        [1, 1],
      ]),
    ).toEqual([
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ])
  })

  test('goes on past 180° instead of round the earth', () => {
    expect(toRing(box(179, -1, -179, 1)).map(([lon]) => lon)).toEqual([179, 181, 181, 179, 179])
  })

  test('may reach half round the earth', () => {
    const half = [
      [0, 70],
      [90, 60],
      [180, 70],
    ]
    expect(toRing(half)).toEqual([...half, [0, 70]])
  })

  test.each([
    [[], 'fewer than three corners'],
    [[[0, 0]], 'fewer than three corners'],
    [
      [
        [0, 0],
        [1, 1],
      ],
      'fewer than three corners',
    ],
    [box(0, 0, 1, 91), 'not a place'],
    [box(0, 0, 400, 1), 'not a place'],
    [
      [
        [0, 0],
        [Number.NaN, 1],
        [1, 1],
      ],
      'not a place',
    ],
    [
      [
        [0, 70],
        [120, 70],
        [-120, 70],
        [-1, 70],
      ],
      'round a pole',
    ],
  ])('%j is refused', (positions, reason) => {
    expect(() => toRing(positions)).toThrow(reason)
  })
})

describe('the point that stands for a geometry', () => {
  test('of a polygon is its centroid', () => {
    expect(representativePoint({ type: 'Polygon', coordinates: [box(0, 0, 4, 2)] })).toEqual([2, 1])
  })

  test('of a polygon far from the first meridian and the equator is its centroid, too', () => {
    const corners = [
      [100, 50],
      [103, 50],
      [100, 53],
      [100, 50],
    ]
    const [lon, lat] = representativePoint({ type: 'Polygon', coordinates: [corners] }) ?? []
    expect([lon, lat]).toEqual([expect.closeTo(101, 9), expect.closeTo(51, 9)])
  })

  test.each([
    [-10, -9, 5, 5.5, -9.5],
    [-10, -9.5, 5, 6, 5.5],
    [3, 4, 10, 12, 11],
    [3, 5, 10, 11, 4],
  ])('of a horseshoe with arms from %d to %d and %d to %d is at %d', (a, b, c, d, lon) => {
    const horseshoe = [
      [a, 0],
      [d, 0],
      [d, 10],
      [c, 10],
      [c, 0.1],
      [b, 0.1],
      [b, 10],
      [a, 10],
      [a, 0],
    ]
    expect(representativePoint({ type: 'Polygon', coordinates: [horseshoe] })?.[0]).toBe(lon)
  })

  test('of a polygon across 180° is on the map', () => {
    const polygon = readGeometry({ type: 'Polygon', coordinates: [box(179, -1, -175, 1)] })
    expect(representativePoint(polygon)).toEqual([-178, 0])
  })

  test('of a horseshoe lies in it, though its centroid does not', () => {
    const horseshoe = [
      [0, 0],
      [10, 0],
      [10, 10],
      [9, 10],
      [9, 1],
      [1, 1],
      [1, 10],
      [0, 10],
      [0, 0],
    ]
    const [lon, lat] = representativePoint({ type: 'Polygon', coordinates: [horseshoe] }) ?? []
    expect(lat).toBeCloseTo(104 / 28, 9)
    expect([0.5, 9.5]).toContain(lon)
  })

  test('of a ring with a hole does not lie in the hole', () => {
    const polygon = [box(0, 0, 10, 10), box(1, 1, 9, 9)]
    const [lon] = representativePoint({ type: 'Polygon', coordinates: polygon }) ?? []
    expect([0.5, 9.5]).toContain(lon)
  })

  test('of several polygons is in the one with the largest area, not the most degrees', () => {
    const north = box(0, 80, 4, 82)
    const south = box(20, 0, 22, 2)
    const geometry = toGeometry([[toRing(north)], [toRing(south)]])
    expect(geometry.type).toBe('MultiPolygon')
    expect(representativePoint(geometry)).toEqual([21, 1])
  })

  test('of points is the one next to their middle, also across 180°', () => {
    expect(
      representativePoint({
        type: 'MultiPoint',
        coordinates: [
          [170, 0],
          [-179, 0],
          [-168, 0],
        ],
      }),
    ).toEqual([-179, 0])
  })

  test('of points is the one next to their middle in kilometres, not in degrees', () => {
    const coordinates = [
      [0, 62],
      [3, 60],
      [-3, 58],
    ]
    expect(representativePoint({ type: 'MultiPoint', coordinates })).toEqual([3, 60])
  })

  test('of points far from the first meridian is one of them', () => {
    const coordinates = [80, 120, 100].map((lon) => [lon, 1])
    expect(representativePoint({ type: 'MultiPoint', coordinates })).toEqual([100, 1])
  })

  test('of a kite is its centroid, though a corner lies at the same latitude', () => {
    const kite = [
      [0, -1],
      [1, 0],
      [0, 1],
      [-3, 0],
      [0, -1],
    ]
    const [lon, lat] = representativePoint({ type: 'Polygon', coordinates: [kite] }) ?? []
    expect(lon).toBeCloseTo(-2 / 3, 9)
    expect(lat).toBeCloseTo(0, 9)
  })

  test.each([
    ['an arrow is in its tip, between two corners', [0, -5, 4, 0, 0, 5, 3, 0, 0, -5], [3.5, 0]],
    [
      'two triangles that touch is in one of them',
      [-1, -1, 1, -1, 0, 0, 1, 1, -1, 1, 0, 0, -1, -1],
      [0, 0.026],
    ],
    [
      'a horseshoe is in the wider of its legs, in the east',
      [0, 0, 10, 0, 10, 10, 8, 10, 8, 1, 1, 1, 1, 10, 0, 10, 0, 0],
      [9, 4.148_65],
    ],
    [
      'a horseshoe is in the wider of its legs, in the west',
      [0, 0, 10, 0, 10, 10, 9, 10, 9, 1, 2, 1, 2, 10, 0, 10, 0, 0],
      [1, 4.148_65],
    ],
  ])('of %s', (_, numbers, [lon = 0, lat = 0]) => {
    const ring = Array.from({ length: numbers.length / 2 }, (_, at) =>
      numbers.slice(2 * at, 2 * at + 2),
    )
    const point = representativePoint({ type: 'Polygon', coordinates: [ring] })
    expect(point?.[0]).toBeCloseTo(lon, 6)
    expect(point?.[1]).toBeCloseTo(lat, 3)
  })

  test('of a flat ring and a box is in the box', () => {
    const flat = [
      [1, 1],
      [2, 2],
      [1, 1],
    ]
    const coordinates = [[flat], [box(20, 0, 22, 2)]]
    expect(representativePoint({ type: 'MultiPolygon', coordinates })).toEqual([21, 1])
  })

  test('of a line is its last vertex', () => {
    const line = [
      [0, 0],
      [2, 1],
      [5, 6],
    ]
    const lines = [[[8, 8]], line.toReversed(), line]
    expect(representativePoint({ type: 'LineString', coordinates: line })).toEqual([5, 6])
    expect(representativePoint({ type: 'MultiLineString', coordinates: lines })).toEqual([5, 6])
    expect(representativePoint({ type: 'MultiLineString', coordinates: [] })).toBeNull()
    expect(representativePoint({ type: 'Point', coordinates: [] })).toBeNull()
    expect(representativePoint({ type: 'Point', coordinates: [5] })).toBeNull()
    expect(representativePoint({ type: 'Point', coordinates: [190, 6] })).toEqual([-170, 6])
  })

  test('of nothing is none, of a flat ring its first corner', () => {
    expect(representativePoint({ type: 'MultiPoint', coordinates: [] })).toBeNull()
    expect(representativePoint({ type: 'Polygon', coordinates: [] })).toBeNull()
    const flat = [
      [1, 1],
      [2, 2],
      [3, 3],
      [1, 1],
    ]
    expect(representativePoint({ type: 'Polygon', coordinates: [flat] })).toEqual([1, 1])
  })

  test('of any star lies in it', () => {
    const star = fc
      .tuple(fc.integer({ min: -179, max: 179 }), fc.integer({ min: -60, max: 60 }))
      .chain(([lon, lat]) =>
        fc
          .array(fc.double({ min: 0.2, max: 3, noNaN: true }), { minLength: 5, maxLength: 12 })
          .map((radii) =>
            radii.map((radius, index) => {
              const angle = (2 * Math.PI * index) / radii.length
              return [lon + radius * Math.cos(angle), lat + radius * Math.sin(angle)]
            }),
          ),
      )
    fc.assert(
      fc.property(star, (positions) => {
        const ring = toRing(positions)
        const geometry = toGeometry([[ring]])
        const [lon = 0, lat = 0] = representativePoint(geometry) ?? []
        const zone = prepareZone({
          shape_type: 'polygon',
          polygon: { type: 'Polygon', coordinates: [ring] },
          lat,
          lon,
          radius_km: null,
        } as unknown as Parameters<typeof prepareZone>[0])
        expect(containsPoint(zone, lat, lon).inside).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a circle', () => {
  test('has all corners at its radius and is wound as GeoJSON asks', () => {
    const ring = circle([10, 50], 100) ?? []
    expect(ring).toHaveLength(49)
    const km = ring.map(([lon, lat]) =>
      Math.hypot(
        (lon - 10) * 111.195 * Math.cos((((lat + 50) / 2) * Math.PI) / 180),
        (lat - 50) * 111.195,
      ),
    )
    for (const radius of km) expect(radius).toBeCloseTo(100, 0)
    // All round, from the north by the west: a degree of longitude has 71.5 km there.
    expect(ring[12]?.[0]).toBeCloseTo(10 - 100 / 71.5, 2)
    expect(ring[24]).toEqual([10, expect.closeTo(50 - 100 / 111.195, 3)])
    expect(ring[36]?.[0]).toBeCloseTo(10 + 100 / 71.5, 2)
    const twice = ring
      .slice(1)
      .reduce((sum, [x, y], i) => sum + (ring[i]?.[0] ?? 0) * y - x * (ring[i]?.[1] ?? 0), 0)
    expect(twice).toBeGreaterThan(0)
  })

  test('over a pole or half the earth is none', () => {
    expect(circle([0, 89], 500)).toBeNull()
    expect(circle([0, 0], 6000)).toBeNull()
    expect(circle([0, 0], 5001)).toBeNull()
    expect(circle([0, 0], 5000)).not.toBeNull()
  })

  test.each([1, -1])('that ends a degree from the pole is none (%d)', (side) => {
    expect(circle([0, 88 * side], 111.195)).toBeNull()
    expect(circle([0, 88 * side], 111)).not.toBeNull()
  })
})

test('positions are counted through all levels, and a third coordinate is dropped', () => {
  const shape = readGeometry({
    type: 'MultiPolygon',
    coordinates: [[box(0, 0, 1, 1)], [box(2, 2, 3, 3)]],
  })
  expect(shape).toEqual({
    type: 'MultiPolygon',
    coordinates: [[box(0, 0, 1, 1)], [box(2, 2, 3, 3)]],
  })
  expect(countVertices(shape)).toBe(10)
  expect(readGeometry({ type: 'Point', coordinates: [1, 2, 3] })).toEqual({
    type: 'Point',
    coordinates: [1, 2],
  })
  expect(() => readGeometry({ type: 'Point', coordinates: [1, 92] })).toThrow('not a place')
})

test.each([
  [90, 0],
  [-90, 360],
  [0, -360],
])('the position %d,%d is a place, and nothing beyond it', (lat, lon) => {
  const point = [lon, lat]
  expect(readGeometry({ type: 'Point', coordinates: point })).toEqual({
    type: 'Point',
    coordinates: point,
  })
  expect(toRing([point, [1, 1], [2, 1]]).length).toBe(4)
  const beyond = [lon * 1.01, lat * 1.01]
  expect(() => readGeometry({ type: 'Point', coordinates: beyond })).toThrow('not a place')
  expect(() => toRing([beyond, [1, 1], [2, 1]])).toThrow('not a place')
})

test('points and lines are read as they are, with two coordinates each', () => {
  const [given, read] = [
    [
      [1, 2, 3],
      [4, 5],
    ],
    [
      [1, 2],
      [4, 5],
    ],
  ]
  for (const type of ['MultiPoint', 'LineString'] as const) {
    expect(readGeometry({ type, coordinates: given })).toEqual({ type, coordinates: read })
  }
  expect(readGeometry({ type: 'MultiLineString', coordinates: [given, given] })).toEqual({
    type: 'MultiLineString',
    coordinates: [read, read],
  })
})

test.each([
  [181, -179],
  [-181, 179],
  [180, 180],
  [-180, -180],
  [540, -180],
  [12, 12],
])('longitude %d is %d', (lon, wrapped) => {
  expect(wrapLongitude(lon)).toBe(wrapped)
})
