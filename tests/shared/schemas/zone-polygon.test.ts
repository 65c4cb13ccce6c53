import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ZonePolygon } from '../../../shared/geometry/polygon.ts'
import { checkZone, type ZoneFields, zoneDefaults } from '../../../shared/schemas/zone.ts'

const base = { label: 'Home', lat: 5, lon: 5 }
const zone = (more: Partial<ZoneFields> = {}): ZoneFields => ({ ...zoneDefaults(base), ...more })
const issues = (ring: number[][], more: Partial<ZoneFields> = {}) =>
  checkZone(
    zone({ shape_type: 'polygon', polygon: { type: 'Polygon', coordinates: [ring] }, ...more }),
  )
const codes = (ring: number[][], more: Partial<ZoneFields> = {}) =>
  issues(ring, more).map(({ code }) => code)
const square = [
  [0, 0],
  [10, 0],
  [10, 10],
  [0, 10],
  [0, 0],
]

describe('a polygon', () => {
  it('is accepted with holes, parts, heights, beyond ±180 and round a pole', () => {
    expect(codes(square)).toEqual([])
    expect(codes(square.map(([x = 0, y = 0]) => [x, y, 7]))).toEqual([])
    expect(
      codes([
        [170, 0],
        [190, 0],
        [190, 10],
        [170, 10],
        [170, 0],
      ]),
    ).toEqual([])
    expect(
      codes([
        [170, 0],
        [-170, 0],
        [-170, 10],
        [170, 10],
        [170, 0],
      ]),
    ).toEqual([])
    expect(
      codes([
        [-180, 70],
        [-90, 70],
        [0, 70],
        [90, 70],
        [180, 70],
      ]),
    ).toEqual([])
    expect(
      codes([
        [0, 70],
        [120, 70],
        [-120, 70],
        [0, 70],
      ]),
    ).toEqual([])
  })

  it('may touch itself in a vertex', () => {
    expect(
      codes([
        [0, 0],
        [4, 0],
        [2, 2],
        [4, 4],
        [0, 4],
        [2, 2],
        [0, 0],
      ]),
    ).toEqual([])
    expect(
      codes([
        [0, 0],
        [4, 0],
        [4, 4],
        [2, 0],
        [0, 4],
        [0, 0],
      ]),
    ).toEqual([])
  })

  it.each([
    ['an open ring', 'open_ring', square.slice(0, 4)],
    ['an empty ring', 'open_ring', []],
    [
      'a bow tie',
      'self_crossing_ring',
      [
        [0, 0],
        [10, 10],
        [10, 0],
        [0, 10],
        [0, 0],
      ],
    ],
    [
      'a bow tie with a vertex in its middle',
      'self_crossing_ring',
      [
        [0, 0],
        [5, 5],
        [10, 10],
        [10, 0],
        [5, 5],
        [0, 10],
        [0, 0],
      ],
    ],
    [
      'a ring that crosses itself in a vertex of one side',
      'self_crossing_ring',
      [
        [0, 0],
        [10, 0],
        [10, 10],
        [5, 10],
        [5, 0],
        [4, -5],
        [0, -5],
        [0, 0],
      ],
    ],
    [
      'a ring with a spike',
      'self_crossing_ring',
      [
        [0, 0],
        [10, 0],
        [10, 10],
        [10, 20],
        [10, 10],
        [0, 10],
        [0, 0],
      ],
    ],
    [
      'a ring that runs along itself',
      'self_crossing_ring',
      [
        [0, 0],
        [10, 0],
        [10, 5],
        [4, 5],
        [4, 0],
        [3, 0],
        [3, 5],
        [0, 5],
        [0, 0],
      ].toSpliced(5, 1, [6, 0], [6, -1], [3, -1]),
    ],
    [
      'a ring that turns back on its own edge',
      'self_crossing_ring',
      [
        [0, 0],
        [10, 0],
        [5, 0],
        [5, 5],
        [0, 5],
        [0, 0],
      ],
    ],
    [
      'a keyhole instead of a hole',
      'self_crossing_ring',
      [
        [0, 0],
        [10, 0],
        [10, 10],
        [5, 10],
        [5, 7],
        [7, 5],
        [3, 5],
        [5, 7],
        [5, 10],
        [0, 10],
        [0, 0],
      ],
    ],
    [
      'a crossing over the antimeridian',
      'self_crossing_ring',
      [
        [175, 0],
        [-175, 10],
        [-175, 0],
        [175, 10],
        [175, 0],
      ],
    ],
    [
      'a ring that winds round twice',
      'self_crossing_ring',
      [
        [0, 70],
        [120, 70],
        [-120, 70],
        [0, 80],
        [120, 80],
        [-120, 80],
        [0, 70],
      ],
    ],
    [
      'a line',
      'no_area',
      [
        [0, 0],
        [10, 10],
        [5, 5],
        [0, 0],
      ],
    ],
    [
      'a point',
      'no_area',
      [
        [1, 1],
        [1, 1],
        [1, 1],
        [1, 1],
      ],
    ],
    [
      'two positions',
      'no_area',
      [
        [1, 1],
        [1, 1],
      ],
    ],
    [
      'a rectangle that goes the short way round to nothing',
      'no_area',
      [
        [-180, 0],
        [180, 0],
        [180, 10],
        [-180, 10],
        [-180, 0],
      ],
    ],
    [
      'a latitude beyond 90',
      'latitude_out_of_range',
      [
        [0, 0],
        [10, 0],
        [10, 91],
        [0, 0],
      ],
    ],
    [
      'a longitude beyond 360',
      'longitude_out_of_range',
      [
        [0, 0],
        [361, 0],
        [10, 10],
        [0, 0],
      ],
    ],
    ['too many vertices', 'too_many_vertices', Array.from({ length: 10_001 }, () => [0, 0])],
  ])('that is %s is refused as %s', (_, code, ring) => {
    const found = issues(ring)
    expect(found.map((issue) => issue.code)).toEqual([code])
    expect(found[0]?.message.length).toBeGreaterThan(20)
  })

  it('is judged the same wherever its ring begins, in either direction and on either side of ±180', () => {
    const corner = fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }))
    let refused = 0
    fc.assert(
      fc.property(fc.array(corner, { minLength: 3, maxLength: 8 }), (corners) => {
        const closed = (list: number[][]) => [...list, list[0] ?? []]
        const found = codes(closed(corners), { lat: -50, lon: 0 })
        const turned = [...corners.slice(1), ...corners.slice(0, 1)]
        const moved = corners.map(([x, y]) => [x + 177 > 180 ? x - 183 : x + 177, y])
        for (const same of [turned, corners.toReversed(), moved]) {
          expect(codes(closed(same), { lat: -50, lon: 0 })).toEqual(found)
        }
        if (found.includes('self_crossing_ring')) refused++
      }),
      { numRuns: 500 },
    )
    expect(refused).toBeGreaterThan(50)
  })

  it('is refused with the place where it crosses itself', () => {
    expect(
      issues([
        [0, 0],
        [10, 10],
        [10, 0],
        [0, 10],
        [0, 0],
      ])[0],
    ).toMatchObject({
      path: 'polygon.coordinates.0',
      message: expect.stringContaining('(lon 5, lat 5)'),
    })
  })

  it('names the ring of a hole and of a part', () => {
    const open = [
      [1, 1],
      [2, 1],
      [2, 2],
    ]
    const hole: ZonePolygon = { type: 'Polygon', coordinates: [square, open] }
    const part: ZonePolygon = { type: 'MultiPolygon', coordinates: [[square], [square, open]] }
    const paths = (polygon: ZonePolygon) =>
      checkZone(zone({ shape_type: 'polygon', polygon })).map(({ path }) => path)
    expect(paths(hole)).toEqual(['polygon.coordinates.1'])
    expect(paths(part)).toEqual(['polygon.coordinates.1.1'])
  })

  it('with latitudes first is recognised by the place of its label', () => {
    const berlin = { lat: 52.5, lon: 13.4 }
    const right = [
      [13, 52],
      [14, 52],
      [14, 53],
      [13, 53],
      [13, 52],
    ]
    const swapped = right.map(([lon = 0, lat = 0]) => [lat, lon])
    expect(codes(right, berlin)).toEqual([])
    expect(codes(swapped, berlin)).toEqual(['swapped_coordinates'])
    expect(codes(swapped, { lat: 0, lon: 0 })).toEqual([])
    expect(issues(swapped, berlin)).toMatchObject([
      {
        path: 'polygon',
        message:
          '(lat 52.5, lon 13.4) lies outside the polygon, but inside it with the two swapped. GeoJSON positions are (lon, lat).',
      },
    ])
    // A longitude beyond 90° is no latitude.
    const band = [
      [-1, 80],
      [1, 80],
      [1, 90],
      [-1, 90],
      [-1, 80],
    ]
    expect(codes(band, { lat: 0, lon: 85 })).toEqual(['swapped_coordinates'])
    expect(codes(band, { lat: 0, lon: 91 })).toEqual([])
  })

  it('reaches the poles and ±360°, and names the position that is beyond', () => {
    const cornered = (lon: number, lat: number) => [
      [0, 0],
      [lon / 3, 0],
      [(2 * lon) / 3, 0],
      [lon, lat],
      [0, 0],
    ]
    for (const [lon, lat] of [
      [150, 90],
      [150, -90],
      [360, 40],
      [-360, 40],
    ] as const) {
      expect(codes(cornered(lon, lat))).not.toContain('latitude_out_of_range')
      expect(codes(cornered(lon, lat))).not.toContain('longitude_out_of_range')
    }
    expect(issues(cornered(150, 90.1))).toMatchObject([
      { path: 'polygon.coordinates.0.3', code: 'latitude_out_of_range' },
    ])
    expect(issues(cornered(-360.1, 40))).toMatchObject([
      { path: 'polygon.coordinates.0.3', code: 'longitude_out_of_range' },
    ])
    const many = Array.from({ length: 10_001 }, () => [0, 0])
    expect(issues(many)).toMatchObject([{ path: 'polygon' }])
  })

  it('is open unless its last position is its first, at most whole turns away', () => {
    const ending = (lon: number, lat: number) => codes([...square.slice(0, -1), [lon, lat]])
    expect(ending(0, 0)).toEqual([])
    expect(ending(1, 0)).toEqual(['open_ring'])
    expect(ending(0, 1)).toEqual(['open_ring'])
    expect(ending(180, 0)).toEqual(['open_ring'])
    expect(ending(360, 0)).not.toContain('open_ring')
  })

  it('of ten thousand vertices is checked', () => {
    const ring = Array.from({ length: 9999 }, (_, i) => {
      const angle = (2 * Math.PI * i) / 9999
      const reach = i % 2 ? 40 : 39
      return [reach * Math.cos(angle), reach * Math.sin(angle)]
    })
    expect(codes([...ring, ring[0] ?? []])).toEqual([])
  })
})
