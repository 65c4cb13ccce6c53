import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon'
import { destination } from '@turf/destination'
import { distance } from '@turf/distance'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Geometry } from '../../../shared/event.ts'
import type { Box } from '../../../shared/geometry/area.ts'
import {
  boxesOf,
  boxOfEvent,
  containsPoint,
  distanceOutside_m,
  prepareZone,
  simplify,
  touchesGeometry,
} from '../../../shared/geometry/geometry.ts'
import type { ZonePolygon, ZoneShape } from '../../../shared/geometry/polygon.ts'
import { isFlat, ringArea_km2, toRing } from '../../../shared/geometry/ring.ts'

const circle = (lat: number, lon: number, radius_km: number) =>
  prepareZone({ shape_type: 'circle', lat, lon, radius_km, polygon: null })

const shapeOf = (polygon: ZonePolygon): ZoneShape => ({
  shape_type: 'polygon',
  lat: 0,
  lon: 0,
  radius_km: 50,
  polygon,
})
const area = (...rings: number[][][]) =>
  prepareZone(shapeOf({ type: 'Polygon', coordinates: rings }))

const rectangle = (west: number, south: number, east: number, north: number) => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]
/** A ring round the earth at one latitude, a vertex every 60°. */
const parallel = (lat: number, lons = [-180, -120, -60, 0, 60, 120, 180]) =>
  lons.map((lon) => [lon, lat])

const isIn = (zone: ReturnType<typeof area>, lat: number, lon: number) =>
  containsPoint(zone, lat, lon).inside
const inBox = (boxes: Box[], lat: number, lon: number) =>
  boxes.some((b) => b.west <= lon && lon <= b.east && b.south <= lat && lat <= b.north)

describe('circles', () => {
  it('measure the haversine distance from Berlin to Paris', () => {
    const { inside, distance_km } = containsPoint(circle(52.52, 13.405, 880), 48.8566, 2.3522)
    expect(distance_km).toBeCloseTo(877.46, 1)
    expect(inside).toBe(true)
    expect(containsPoint(circle(52.52, 13.405, 870), 48.8566, 2.3522).inside).toBe(false)
  })

  it('reach over the antimeridian', () => {
    const fiji = circle(-17, 179.5, 200)
    expect(isIn(fiji, -17, -179.5)).toBe(true)
    expect(isIn(fiji, -17, -177)).toBe(false)
    expect(boxesOf(fiji)).toHaveLength(2)
    expect(inBox(boxesOf(fiji), -17, -179.5)).toBe(true)
  })

  it('of 5,000 km reach over a pole and down the other side', () => {
    const arctic = circle(70, 20, 5000)
    expect(isIn(arctic, 90, -77)).toBe(true)
    expect(isIn(arctic, 66, -160)).toBe(true)
    expect(isIn(arctic, 60, -160)).toBe(false)
    expect(boxesOf(arctic)).toEqual([
      { west: -180, south: expect.closeTo(25.034, 2), east: 180, north: 90 },
    ])
  })

  it('count their edge as inside', () => {
    const far = destination([10, 50], 300, 37).geometry.coordinates
    expect(isIn(circle(50, 10, 300), far[1] ?? 0, far[0] ?? 0)).toBe(true)
  })

  it('are left by max(100 m, 2 % of the radius)', () => {
    expect(circle(0, 0, 1).stay_margin_m).toBe(100)
    expect(circle(0, 0, 300).stay_margin_m).toBe(6000)
  })
})

describe('polygons', () => {
  it('count edges and vertices as inside', () => {
    const square = area(rectangle(0, 0, 10, 10))
    for (const [lat, lon] of [
      [0, 0],
      [10, 10],
      [0, 5],
      [5, 10],
      [5, 5],
    ] as const) {
      expect(isIn(square, lat, lon)).toBe(true)
    }
    for (const [lat, lon] of [
      [-0.001, 5],
      [5, 10.001],
      [11, 11],
    ] as const) {
      expect(isIn(square, lat, lon)).toBe(false)
    }
  })

  it('hold a point of a slanted edge that rounding moved', () => {
    const slanted = area([
      [0, 0],
      [1, 3],
      [0, 3],
      [0, 0],
    ])
    for (let i = 1; i < 100; i++) expect(isIn(slanted, (i / 100) * 3, i / 100)).toBe(true)
    expect(isIn(slanted, 1.5, 0.5 + 1e-7)).toBe(false)
  })

  it('leave their holes out, but not the edges of the holes', () => {
    const ring = area(rectangle(0, 0, 10, 10), rectangle(4, 4, 6, 6))
    expect(isIn(ring, 5, 5)).toBe(false)
    expect(isIn(ring, 4, 5)).toBe(true)
    expect(isIn(ring, 4, 4)).toBe(true)
    expect(isIn(ring, 3, 5)).toBe(true)
  })

  it('may have several parts', () => {
    const parts = prepareZone(
      shapeOf({
        type: 'MultiPolygon',
        coordinates: [
          [rectangle(0, 0, 1, 1)],
          [rectangle(10, 0, 11, 1), rectangle(10.4, 0.4, 10.6, 0.6)],
        ],
      }),
    )
    expect(isIn(parts, 0.5, 0.5)).toBe(true)
    expect(isIn(parts, 0.2, 10.2)).toBe(true)
    expect(isIn(parts, 0.5, 10.5)).toBe(false)
    expect(isIn(parts, 0.5, 5)).toBe(false)
  })

  it.each([
    ['signs that change', rectangle(170, -20, -170, -10)],
    ['longitudes beyond 180', rectangle(170, -20, 190, -10)],
    ['longitudes below −180', rectangle(-190, -20, -170, -10)],
    ['longitudes below −180 and beyond 180', rectangle(-190, -20, 190, -10)],
  ])('cross the antimeridian when written with %s', (_, ring) => {
    const fiji = area(ring)
    for (const lon of [175, 180, -180, -175, 185, -185]) expect(isIn(fiji, -15, lon)).toBe(true)
    for (const lon of [0, 169, -169, 90]) expect(isIn(fiji, -15, lon)).toBe(false)
    const boxes = boxesOf(fiji)
    expect(boxes).toHaveLength(2)
    expect(inBox(boxes, -15, 180) && inBox(boxes, -15, -180)).toBe(true)
    expect(inBox(boxes, -15, 0)).toBe(false)
  })

  it('that end at the antimeridian hold it at both signs', () => {
    for (const zone of [area(rectangle(170, 0, 180, 10)), area(rectangle(-180, 0, -170, 10))]) {
      for (const lon of [180, -180]) {
        expect(isIn(zone, 5, lon)).toBe(true)
        expect(inBox(boxesOf(zone), 5, lon)).toBe(true)
      }
    }
  })

  it('take the short way when an edge is longer than 180°, and the written way at 180°', () => {
    const pacific = area(rectangle(-100, -10, 100, 10))
    expect(isIn(pacific, 0, 150)).toBe(true)
    expect(isIn(pacific, 0, 0)).toBe(false)
    const half = area(rectangle(-90, -10, 90, 10))
    expect(isIn(half, 0, 0)).toBe(true)
    expect(isIn(half, 0, 150)).toBe(false)
  })

  it('cover the whole world with vertices in between', () => {
    const world = area([
      [-180, -90],
      [0, -90],
      [180, -90],
      [180, 90],
      [0, 90],
      [-180, 90],
      [-180, -90],
    ])
    for (const lat of [-90, 0, 90])
      for (const lon of [-180, 0, 179]) expect(isIn(world, lat, lon)).toBe(true)
    expect(boxesOf(world)[0]).toEqual({ west: -180, south: -90, east: 180, north: 90 })
  })

  it.each([
    ['eastward', parallel(70)],
    ['westward', parallel(70).toReversed()],
    ['from the middle', parallel(70, [30, 120, -150, -60, 30])],
  ])('that wind once round hold the north pole, drawn %s', (_, ring) => {
    const arctic = area(ring)
    for (const lon of [-180, -33, 0, 30, 180]) {
      expect(isIn(arctic, 80, lon)).toBe(true)
      expect(isIn(arctic, 70, lon)).toBe(true)
      expect(isIn(arctic, 90, lon)).toBe(true)
      expect(isIn(arctic, 69.9, lon)).toBe(false)
      expect(isIn(arctic, -80, lon)).toBe(false)
    }
    expect(boxesOf(arctic)[0]).toMatchObject({ west: -180, east: 180, north: 90 })
  })

  it('that wind once round in the south hold the south pole, with a hole about it too', () => {
    const antarctic = area(parallel(-60))
    expect(isIn(antarctic, -90, 12)).toBe(true)
    expect(isIn(antarctic, -61, 12)).toBe(true)
    expect(isIn(antarctic, -59, 12)).toBe(false)
    const belt = area(parallel(-60), parallel(-80))
    expect(isIn(belt, -70, 179.9)).toBe(true)
    expect(isIn(belt, -85, 0)).toBe(false)
    expect(isIn(belt, -90, 0)).toBe(false)
  })

  it('that wind back over their own start on the way round a pole are met three times there', () => {
    const folded = area([
      [0, 60],
      [90, 60],
      [180, 60],
      [-90, 60],
      [-20, 60],
      [-20, 50],
      [20, 50],
      [0, 60],
    ])
    for (const [lat, expected] of [
      [85, true],
      [61, true],
      [59, false],
      [55, true],
      [49, false],
    ] as const) {
      expect(isIn(folded, lat, 5)).toBe(expected)
      expect(isIn(folded, lat, 365)).toBe(expected)
    }
    expect(isIn(folded, 55, -10)).toBe(true)
    expect(isIn(folded, 55, 25)).toBe(false)
  })

  it('that touch a pole hold it at every longitude', () => {
    const wedge = area([
      [0, 80],
      [10, 80],
      [10, 90],
      [0, 90],
      [0, 80],
    ])
    expect(isIn(wedge, 90, -120)).toBe(true)
    expect(inBox(boxesOf(wedge), 90, -120)).toBe(true)
    expect(isIn(wedge, 89, -120)).toBe(false)
  })

  it('measure their area on the sphere', () => {
    const octant = toRing([
      [0, 0],
      [90, 0],
      [90, 90],
      [0, 90],
      [0, 0],
    ])
    expect(ringArea_km2(octant)).toBeCloseTo((4 * Math.PI * 6371.0088 ** 2) / 8, 0)
    const cap = ringArea_km2(toRing(parallel(60)))
    expect(cap).toBeCloseTo(2 * Math.PI * 6371.0088 ** 2 * (1 - Math.sin(Math.PI / 3)), 0)
    expect(ringArea_km2(toRing(parallel(-60).toReversed()))).toBeCloseTo(cap, 3)
  })

  it('are left by 2 % of the radius of the circle of equal area', () => {
    // 1° × 1° at the equator: 12,364 km², as a circle 62.7 km.
    expect(area(rectangle(0, -0.5, 1, 0.5)).stay_margin_m / 1000).toBeCloseTo(62.7 * 0.02, 2)
  })
})

describe('the distance outside', () => {
  it('is 0 inside and metres outside, for circles and polygons', () => {
    expect(distanceOutside_m(circle(0, 0, 100), 0, 0.5)).toBe(0)
    expect(distanceOutside_m(circle(0, 0, 100), 0, 1)).toBeCloseTo(11_195, -1)
    const square = area(rectangle(0, 0, 10, 10))
    expect(distanceOutside_m(square, 5, 5)).toBe(0)
    expect(distanceOutside_m(square, 5, -1)).toBeCloseTo(110_772, -2)
    expect(distanceOutside_m(square, 11, 11) / 1000).toBeCloseTo(distance([10, 10], [11, 11]), 2)
  })

  it('is measured over the antimeridian and from inside a hole', () => {
    expect(distanceOutside_m(area(rectangle(170, 0, 180, 10)), 5, -179.9)).toBeCloseTo(11_077, -2)
    const ring = area(rectangle(0, 0, 10, 10), rectangle(4, 4, 6, 6))
    expect(distanceOutside_m(ring, 5, 5.9)).toBeCloseTo(11_077, -2)
  })

  it('finds the nearest point of a long edge near a pole', () => {
    expect(distanceOutside_m(area(parallel(80)), 79, 33) / 1000).toBeCloseTo(111.195, 2)
  })
})

describe('footprints', () => {
  const touches = (zone: ReturnType<typeof area>, geometry: Geometry) =>
    touchesGeometry(zone, geometry)
  const square = area(rectangle(0, 0, 10, 10))
  const line = (...coordinates: number[][]): Geometry => ({ type: 'LineString', coordinates })
  const polygon = (...coordinates: number[][][]): Geometry => ({ type: 'Polygon', coordinates })

  it('touch with a point, a line that only passes through, or an area that reaches in', () => {
    expect(touches(square, { type: 'Point', coordinates: [5, 5] })).toBe(true)
    expect(
      touches(square, {
        type: 'MultiPoint',
        coordinates: [
          [20, 20],
          [10, 10],
        ],
      }),
    ).toBe(true)
    expect(touches(square, line([-5, 5], [15, 5]))).toBe(true)
    expect(touches(square, line([-5, 5], [-5, 15]))).toBe(false)
    expect(touches(square, polygon(rectangle(9, 9, 20, 20)))).toBe(true)
    expect(touches(square, polygon(rectangle(10, 10, 20, 20)))).toBe(true)
    expect(touches(square, polygon(rectangle(10.001, 10, 20, 20)))).toBe(false)
  })

  it('touch when one lies within the other, not when it lies in a hole', () => {
    expect(touches(square, polygon(rectangle(-5, -5, 15, 15)))).toBe(true)
    expect(touches(square, polygon(rectangle(-9, -9, 19, 19), rectangle(-5, -5, 15, 15)))).toBe(
      false,
    )
    const ring = area(rectangle(0, 0, 10, 10), rectangle(2, 2, 8, 8))
    expect(touches(ring, polygon(rectangle(4, 4, 6, 6)))).toBe(false)
    expect(touches(ring, polygon(rectangle(4, 4, 9, 6)))).toBe(true)
  })

  it('touch a circle by passing near its centre or by surrounding it', () => {
    const spot = circle(0, 0, 50)
    expect(touches(spot, line([-5, 0.4], [5, 0.4]))).toBe(true)
    expect(touches(spot, line([-5, 0.5], [5, 0.5]))).toBe(false)
    expect(touches(spot, polygon(rectangle(-5, -5, 5, 5)))).toBe(true)
    expect(touches(spot, polygon(rectangle(-5, -5, 5, 5), rectangle(-2, -2, 2, 2)))).toBe(false)
  })

  it('touch across the antimeridian', () => {
    const fiji = area(rectangle(170, -20, -170, -10))
    expect(touches(fiji, line([-175, -30], [-175, 0]))).toBe(true)
    expect(touches(fiji, line([165, -15], [-165, -15]))).toBe(true)
    expect(touches(circle(0, 179.9, 50), line([-179.9, -5], [-179.9, 5]))).toBe(true)
    expect(touches(fiji, line([0, -30], [0, 0]))).toBe(false)
  })

  it('that touch share a box with the zone', () => {
    fc.assert(
      fc.property(shapes, shapes, ([zone], [other]) => {
        if (other.shape_type !== 'polygon' || !other.polygon) return
        const prepared = prepareZone(zone)
        if (!touchesGeometry(prepared, other.polygon)) return
        const [lon = 0, lat = 0] = firstVertex(other.polygon)
        const theirs = boxOfEvent({ lat, lon: ((lon + 540) % 360) - 180, geometry: other.polygon })
        const meets = boxesOf(prepared).some((a) =>
          theirs.some(
            (b) => a.west <= b.east && b.west <= a.east && a.south <= b.north && b.south <= a.north,
          ),
        )
        expect(meets).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})

const firstVertex = (polygon: ZonePolygon) =>
  (polygon.type === 'Polygon' ? polygon.coordinates[0]?.[0] : polygon.coordinates[0]?.[0]?.[0]) ??
  []

/** A star-shaped ring about a point: never crosses itself. */
const star = fc
  .record({
    lat: fc.double({ min: -89, max: 89, noNaN: true }),
    lon: fc.double({ min: -180, max: 180, noNaN: true }),
    spokes: fc.array(fc.double({ min: 0.2, max: 1, noNaN: true }), { minLength: 3, maxLength: 12 }),
    size: fc.double({ min: 0.01, max: 60, noNaN: true }),
  })
  .map(({ lat, lon, spokes, size }) => {
    const ring = spokes.map((reach, i) => {
      const turn = (2 * Math.PI * i) / spokes.length
      const y = lat + size * reach * Math.sin(turn)
      return [lon + size * reach * Math.cos(turn), Math.max(-90, Math.min(90, y))]
    })
    return { lat, lon, ring: [...ring, ring[0] ?? []] }
  })
const polar = fc
  .record({
    sign: fc.constantFrom(1, -1),
    lats: fc.array(fc.double({ min: 20, max: 89, noNaN: true }), { minLength: 4, maxLength: 9 }),
    start: fc.double({ min: -180, max: 180, noNaN: true }),
  })
  .map(({ sign, lats, start }) => {
    const ring = lats.map((lat, i) => {
      const lon = start + (360 * i) / lats.length
      return [lon > 180 ? lon - 360 : lon, sign * lat]
    })
    return { lat: 89 * sign, lon: start, ring: [...ring, ring[0] ?? []] }
  })
const shapes: fc.Arbitrary<[ZoneShape]> = fc.oneof(
  fc
    .record({
      lat: fc.double({ min: -90, max: 90, noNaN: true }),
      lon: fc.double({ min: -180, max: 180, noNaN: true }),
      radius_km: fc.double({ min: 0.1, max: 5000, noNaN: true }),
    })
    .map((c): [ZoneShape] => [{ ...c, shape_type: 'circle', polygon: null }]),
  fc.oneof(star, polar).map(({ lat, lon, ring }): [ZoneShape] => [
    {
      lat,
      lon,
      radius_km: 1,
      shape_type: 'polygon',
      polygon: { type: 'Polygon', coordinates: [ring] },
    },
  ]),
)

describe('boxes', () => {
  it('hold every point that is inside, anywhere on earth', () => {
    let inside = 0
    const near = fc.record({
      bearing: fc.double({ min: 0, max: 360, noNaN: true }),
      reach: fc.double({ min: 0, max: 1.1, noNaN: true }),
    })
    fc.assert(
      fc.property(shapes, fc.array(near, { minLength: 20, maxLength: 20 }), ([zone], points) => {
        const prepared = prepareZone(zone)
        const boxes = boxesOf(prepared)
        for (const box of boxes) {
          expect(-180 <= box.west && box.west <= box.east && box.east <= 180).toBe(true)
          expect(-90 <= box.south && box.south <= box.north && box.north <= 90).toBe(true)
        }
        const scale = zone.shape_type === 'circle' ? zone.radius_km : 4000
        for (const { bearing, reach } of points) {
          const [x = 0, lat = 0] = destination([zone.lon, zone.lat], scale * reach, bearing)
            .geometry.coordinates
          const lon = ((((x + 180) % 360) + 360) % 360) - 180
          if (!isIn(prepared, lat, lon)) continue
          inside++
          expect(inBox(boxes, lat, lon)).toBe(true)
        }
        for (const vertex of zone.polygon?.type === 'Polygon'
          ? (zone.polygon.coordinates[0] ?? [])
          : []) {
          const [x = 0, lat = 0] = vertex
          const lon = ((((x + 180) % 360) + 360) % 360) - 180
          expect(isIn(prepared, lat, lon)).toBe(true)
          expect(inBox(boxes, lat, lon)).toBe(true)
        }
      }),
      { numRuns: 500 },
    )
    expect(inside).toBeGreaterThan(1000)
  })

  it('hold the edge of a circle in all directions', () => {
    fc.assert(
      fc.property(shapes, fc.double({ min: 0, max: 360, noNaN: true }), ([zone], bearing) => {
        if (zone.shape_type !== 'circle') return
        const [x = 0, lat = 0] = destination([zone.lon, zone.lat], zone.radius_km, bearing).geometry
          .coordinates
        const lon = ((((x + 180) % 360) + 360) % 360) - 180
        expect(inBox(boxesOf(zone), lat, lon)).toBe(true)
      }),
    )
  })

  it('stay few for a shape of a thousand parts', () => {
    const parts = Array.from({ length: 1000 }, (_, i) => [
      rectangle(
        (i % 100) * 3.6 - 180,
        Math.floor(i / 100),
        (i % 100) * 3.6 - 179,
        Math.floor(i / 100) + 0.5,
      ),
    ])
    const zone = prepareZone(shapeOf({ type: 'MultiPolygon', coordinates: parts }))
    const boxes = boxesOf(zone)
    expect(boxes.length).toBeLessThan(10)
    for (const [[first = []] = []] of parts)
      expect(inBox(boxes, first[1] ?? 0, first[0] ?? 0)).toBe(true)
  })
})

describe('turf agrees', () => {
  it('on points in polygons that do not wrap', () => {
    const point = fc.tuple(
      fc.double({ min: -60, max: 60, noNaN: true }),
      fc.double({ min: -60, max: 60, noNaN: true }),
    )
    fc.assert(
      fc.property(
        fc.array(point, { minLength: 3, maxLength: 10 }),
        fc.array(point, { maxLength: 20 }),
        (corners, points) => {
          const ring = [...corners, corners[0] ?? [0, 0]]
          fc.pre(!isFlat(toRing(ring)))
          const zone = area(ring)
          for (const [lon, lat] of [...points, ...corners]) {
            const expected = booleanPointInPolygon([lon, lat], {
              type: 'Polygon',
              coordinates: [ring],
            })
            // Within 0.1 mm of an edge we say inside on purpose.
            if (isIn(zone, lat, lon) !== expected) expect(distanceOutside_m(zone, lat, lon)).toBe(0)
            if (expected) expect(isIn(zone, lat, lon)).toBe(true)
          }
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('turning the earth', () => {
  it('by any whole number of degrees changes nothing', () => {
    fc.assert(
      fc.property(
        star,
        fc.integer({ min: -180, max: 180 }),
        fc.array(fc.tuple(fc.integer({ min: -89, max: 89 }), fc.integer({ min: -180, max: 180 }))),
        ({ ring }, turn, points) => {
          const whole = ring.map(([x = 0, y = 0]) => [Math.round(x), Math.round(y)])
          const moved = whole.map(([x = 0, y = 0]) => [x + turn, y])
          const [zone, turned] = [area(whole), area(moved)]
          for (const [lat, lon] of points) {
            const there = ((((lon + turn + 180) % 360) + 360) % 360) - 180
            expect(isIn(turned, lat, there)).toBe(isIn(zone, lat, lon))
          }
        },
      ),
    )
  })
})

describe('simplification', () => {
  const coast = (count: number, turn = 0) =>
    Array.from({ length: count + 1 }, (_, i) => {
      const angle = (2 * Math.PI * (i % count)) / count
      const lon = 178 + turn + 4 * Math.cos(angle)
      return [lon > 180 ? lon - 360 : lon, 4 * Math.sin(angle)]
    })

  it('thins a ring of thousands and keeps its meaning, across the antimeridian too', () => {
    for (const turn of [0, -100]) {
      const full: ZonePolygon = { type: 'Polygon', coordinates: [coast(5000, turn)] }
      const thin = simplify(full)
      const [before, after] = [prepareZone(shapeOf(full)), prepareZone(shapeOf(thin))]
      expect(thin.coordinates[0]?.length).toBeLessThan(200)
      for (let lon = -180; lon < 180; lon++) {
        for (const lat of [-3, 0, 2]) expect(isIn(after, lat, lon)).toBe(isIn(before, lat, lon))
      }
    }
  })

  it('leaves alone what would turn into something else', () => {
    const world: ZonePolygon = {
      type: 'MultiPolygon',
      coordinates: [
        [
          [
            [-180, -80],
            [-90, -80],
            [0, -80],
            [90, -80],
            [180, -80],
            [180, 80],
            [90, 80],
            [0, 80],
            [-90, 80],
            [-180, 80],
            [-180, -80],
          ],
        ],
      ],
    }
    expect(simplify(world)).toEqual(world)
    const arctic: ZonePolygon = { type: 'Polygon', coordinates: [parallel(70)] }
    expect(simplify(arctic)).toEqual(arctic)
  })
})
