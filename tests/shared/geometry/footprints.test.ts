import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  boxesOf,
  boxOfEvent,
  containsPoint,
  prepareZone,
  touchesGeometry,
} from '../../../shared/geometry/geometry.ts'
import type { Geometry } from '../../../shared/schemas/event.ts'
import { area, circle, firstVertex, rectangle, shapes } from '../../support/attacks/shapes.ts'

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
    expect(touches(square, polygon(rectangle(4, 4, 6, 6)))).toBe(true)
    expect(touches(square, line([4, 4], [6, 4]))).toBe(true)
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

  it('touch a circle whose edge they only reach, and not one a millimetre smaller', () => {
    const [far, near] = [
      [0, 2],
      [0, 1],
    ]
    const distance_km = containsPoint(circle(0, 0, 1), 1, 0).distance_km ?? Number.NaN
    expect(touches(circle(0, 0, distance_km), line(far, near))).toBe(true)
    expect(touches(circle(0, 0, distance_km - 5e-10), line(far, near))).toBe(true)
    expect(touches(circle(0, 0, distance_km - 1e-6), line(far, near))).toBe(false)
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

  it('of many lines have a few boxes, apart where the gaps are widest', () => {
    // A wide line over the first of the others, whose eastern end is what counts for the next gap.
    const wide = [
      [0, 0],
      [30, 0],
    ]
    const points = [5, 10, 60, 61, 100, 101, 140, 141, -60, -61, -100, -101, -140, -141, -170]
    const coordinates = [
      wide,
      ...points.map((lon) => [
        [lon, 0],
        [lon, 1],
      ]),
    ]
    const boxes = boxOfEvent({
      lat: 0,
      lon: 0,
      geometry: { type: 'MultiLineString', coordinates },
    })
    expect(boxes.map(({ west, east }) => [Math.round(west), Math.round(east)])).toEqual([
      [-170, -140],
      [-101, -100],
      [-61, -60],
      [-0, 30],
      [60, 61],
      [100, 101],
      [140, 141],
    ])
  })
})
