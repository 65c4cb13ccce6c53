import { describe, expect, test } from 'vitest'
import {
  EARTH_RADIUS_KM,
  nearestLongitude,
  poleOf,
  ringArea_km2,
  toRing,
  unwrap,
} from '../../../shared/geometry/ring.ts'

/** A parallel once round the earth, to the east. */
const parallel = (lat: number) => [0, 90, 180, -90, 0].map((lon) => [lon, lat])

describe('unwrapping', () => {
  test.each<[string, number[][], number[][]]>([
    [
      'an edge of exactly 180° to the east',
      [
        [-90, 1],
        [90, 2],
      ],
      [
        [-90, 1],
        [90, 2],
      ],
    ],
    [
      'an edge of exactly 180° to the west',
      [
        [90, 1],
        [-90, 2],
      ],
      [
        [90, 1],
        [-90, 2],
      ],
    ],
    [
      'the short way over 180° to the east',
      [
        [170, 1],
        [-170, 2],
      ],
      [
        [170, 1],
        [190, 2],
      ],
    ],
    [
      'the short way over 180° to the west',
      [
        [-170, 1],
        [170, 2],
      ],
      [
        [-170, 1],
        [-190, 2],
      ],
    ],
    [
      'a vertex whose longitude is several turns away',
      [
        [0, 1],
        [725, 2],
      ],
      [
        [0, 1],
        [5, 2],
      ],
    ],
    [
      'the same to the west',
      [
        [0, 1],
        [-725, 2],
      ],
      [
        [0, 1],
        [-5, 2],
      ],
    ],
    [
      'on the second turn as on the first',
      [...parallel(5), [90, 6]],
      [0, 90, 180, 270, 360].map((lon) => [lon, 5]).concat([[450, 6]]),
    ],
    [
      'a position that is repeated',
      [
        [1, 1],
        [1, 1],
        [1, 2],
        [1, 2],
        [2, 2],
      ],
      [
        [1, 1],
        [1, 2],
        [2, 2],
      ],
    ],
    [
      'a position repeated on the other side of 180°',
      [
        [180, 1],
        [-180, 1],
        [-170, 1],
      ],
      [
        [180, 1],
        [190, 1],
      ],
    ],
  ])('%s', (_, positions, path) => {
    expect(unwrap(positions)).toEqual(path)
  })

  test('a longitude is shifted to within 180° of another', () => {
    expect(nearestLongitude(-170, 170)).toBe(190)
    expect(nearestLongitude(170, -170)).toBe(-190)
    expect(nearestLongitude(10, 725)).toBe(730)
  })
})

describe('rings around a pole', () => {
  test.each<[string, number[][], number, number]>([
    [
      'a square winds around nothing',
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 0],
      ],
      0,
      0,
    ],
    ['to the east in the north', parallel(60), 1, 1],
    ['to the west in the north', parallel(60).toReversed(), -1, 1],
    ['to the east in the south', parallel(-60), 1, -1],
    ['along the equator', parallel(0), 1, 1],
  ])('%s', (_, positions, winding, pole) => {
    const ring = toRing(positions)
    expect(ring.winding).toBe(winding)
    expect(poleOf(ring)).toBe(pole)
  })

  test('the vertex where it closes counts once for the mean latitude', () => {
    // Counted twice, −50 would make the mean negative.
    expect(
      poleOf(
        toRing([
          [0, -50],
          [90, 30],
          [180, 30],
          [-90, 1],
          [0, -50],
        ]),
      ),
    ).toBe(1)
  })

  test('a cap has the same area from either direction and at either pole', () => {
    const cap = 2 * Math.PI * EARTH_RADIUS_KM ** 2 * (1 - Math.sin(Math.PI / 3))
    for (const ring of [parallel(60), parallel(60).toReversed(), parallel(-60)])
      expect(ringArea_km2(toRing(ring)) / cap).toBeCloseTo(1, 9)
  })
})
