import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon'
import { destination } from '@turf/destination'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boxesOf, distanceOutside_m, prepareZone } from '../../../shared/geometry/geometry.ts'
import type { ZonePolygon } from '../../../shared/geometry/polygon.ts'
import { isFlat, toRing } from '../../../shared/geometry/ring.ts'
import { simplify } from '../../../shared/geometry/simplify.ts'
import {
  area,
  inBox,
  isIn,
  parallel,
  rectangle,
  shapeOf,
  shapes,
  star,
} from '../../support/attacks/shapes.ts'

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
