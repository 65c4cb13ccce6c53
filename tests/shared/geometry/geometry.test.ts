import { destination } from '@turf/destination'
import { distance } from '@turf/distance'
import { describe, expect, it } from 'vitest'
import {
  boxesOf,
  containsPoint,
  distanceOutside_m,
  prepareZone,
} from '../../../shared/geometry/geometry.ts'
import { ringArea_km2, toRing } from '../../../shared/geometry/ring.ts'
import {
  area,
  circle,
  inBox,
  isIn,
  parallel,
  rectangle,
  shapeOf,
} from '../../support/attacks/shapes.ts'

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
