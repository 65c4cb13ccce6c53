import { describe, expect, test } from 'vitest'
import { toFootprint } from '../../../../functions/feeds/formats/footprint.ts'
import { MAX_VERTICES } from '../../../../functions/feeds/formats/geometry.ts'

const square = (lon: number, lat: number, size = 1) => [
  [lon, lat],
  [lon + size, lat],
  [lon + size, lat + size],
  [lon, lat + size],
  [lon, lat],
]
const polygon = (...coordinates: number[][][]) => ({ type: 'Polygon', coordinates })
const many = (...coordinates: number[][][][]) => ({ type: 'MultiPolygon', coordinates })

describe('areas become one footprint', () => {
  test('of one polygon, and of several in their order', () => {
    expect(toFootprint([polygon(square(1, 2))])).toEqual({ geometry: polygon(square(1, 2)) })
    expect(toFootprint([polygon(square(1, 2)), many([square(5, 6)], [square(8, 9)])])).toEqual({
      geometry: many([square(1, 2)], [square(5, 6)], [square(8, 9)]),
    })
  })

  test('with holes, rings closed, and coordinates to about ten metres', () => {
    const open = square(1.00004, 2).slice(0, -1)
    expect(toFootprint([polygon(square(0, 0, 10), open)])).toEqual({
      geometry: polygon(square(0, 0, 10), [
        [1, 2],
        [2, 2],
        [2, 3],
        [1, 3],
        [1, 2],
      ]),
    })
  })
})

describe('what cannot be one is refused, with the reason', () => {
  const circle = (count: number) =>
    Array.from({ length: count }, (_, at) => {
      const angle = (2 * Math.PI * at) / count
      return [Math.cos(angle) * 40, Math.sin(angle) * 40]
    })
  test.each([
    ['no area', [], 'geometry: has no area'],
    ['an empty one', [many()], 'geometry: has no area'],
    ['a polygon without rings', [polygon()], /^geometry\.coordinates: /],
    ['a point', [{ type: 'Point', coordinates: [1, 2] }], /^geometry\.type: /],
    ['nothing', [null], /^geometry\.: /],
    ['a position of text', [polygon([['1', 2] as never])], /^geometry\.coordinates\.0\.0\.0: /],
    [
      'a ring of two places',
      [
        polygon([
          [1, 2],
          [3, 4],
        ]),
      ],
      /^geometry: /,
    ],
    [
      'too many corners',
      [polygon(circle(MAX_VERTICES))],
      'geometry: 10001 vertices are more than 10000',
    ],
  ])('%s', (_, areas, reason) => {
    const read = toFootprint(areas)
    expect(read).toEqual({
      reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
    })
  })

  test('but not one with as many corners as may be', () => {
    expect(toFootprint([polygon(circle(MAX_VERTICES - 1))])).toHaveProperty('geometry')
  })
})
