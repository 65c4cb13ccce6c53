/** How detections are grouped into fires, and how a fire is named, told and drawn. */
import { describe, expect, test } from 'vitest'
import type { Detection } from '../../../../functions/feeds/formats/firms-csv.ts'
import { hash } from '../../../../functions/feeds/memory/alert-memory.ts'
import { type Fire, idsOf, toFireEvent, toFires } from '../../../../functions/feeds/memory/fires.ts'

const NOON = Date.parse('2026-03-01T12:00:00.000Z')
const HOUR_MS = 60 * 60_000
/** 0.999 km along a meridian. */
const KM = 0.99 / 111.195

const seen = (
  key: string,
  lat: number,
  lon: number,
  given: Partial<Detection> = {},
): Detection => ({
  ...{ key, lat, lon, at: NOON, frp: 10, instrument: 'MODIS', confidence: '80', severity: 30 },
  ...given,
})
const keys = (detections: Detection[]) =>
  toFires(detections).map((fire) => fire.map(({ key }) => key).join(''))
const event = (...fire: Fire) => toFireEvent(fire, 'x')

describe('detections', () => {
  test.each([
    ['north', KM, 0],
    ['south', -KM, 0],
    ['east', 0, KM],
    ['west', 0, -KM],
    ['north-east', KM * 0.7, KM * 0.7],
    ['south-west', -KM * 0.7, -KM * 0.7],
    ['south-east', -KM * 0.7, KM * 0.7],
  ])('less than a kilometre to the %s belong together, all around the globe', (_, north, east) => {
    for (const [lat, lon] of [
      [0, 0],
      [0.003, 90.003],
      [45.002, -135.004],
      [-45.006, 30.001],
      [60.001, 179.999],
      [-80.003, -90.007],
    ] as const) {
      const other = seen('b', lat + north, lon + east / Math.cos((lat * Math.PI) / 180))
      expect(keys([seen('a', lat, lon), other])).toEqual(['ab'])
    }
  })

  test('of the same minute are in the order of their names, whatever their order in the file', () => {
    const [a, b, c] = [seen('a', 0, 0), seen('b', 0, 0.001), seen('c', 0, 0.002)]
    for (const order of [
      [a, b, c],
      [c, b, a],
      [b, c, a],
    ]) {
      expect(keys(order)).toEqual(['abc'])
    }
  })

  test('are in the order of their times, and fires in the order of their first ones', () => {
    const [late, early] = [seen('a', 0, 0), seen('b', 0, 0.001, { at: NOON - HOUR_MS })]
    const earliest = seen('c', 10, 0, { at: NOON - 2 * HOUR_MS })
    expect(keys([late, early, earliest])).toEqual(['c', 'ba'])
  })

  test('in the same square kilometre are still more than a kilometre apart', () => {
    const [a, b, c] = [
      seen('a', 0.0005, 0.0005),
      seen('b', 0.0085, 0.0085),
      seen('c', 0.001, 0.0005),
    ]
    expect(keys([a, b, c])).toEqual(['ac', 'b'])
  })

  test('at most twelve hours apart belong together', () => {
    const seenLater = (hours: number, key = 'b') =>
      seen(key, 0, 0.001, { at: NOON + hours * HOUR_MS })
    const first = seen('a', 0, 0)
    expect(keys([first, seenLater(12)])).toEqual(['ab'])
    expect(keys([first, seenLater(12.01)])).toEqual(['a', 'b'])
    expect(keys([first, seenLater(9), seenLater(18, 'c')])).toEqual(['abc'])
  })

  test('that join two fires make one of them, and leave the next one alone', () => {
    const row = [0, 2, 1, 9].map((n, index) => seen('abcd'[index] ?? '', n * KM, 0))
    expect(keys(row)).toEqual(['abc', 'd'])
  })
})

test('a fire is where it is strongest, as grave as its gravest detection and as late as its last', () => {
  const fire: Fire = [
    seen('a', 1, 1, { frp: null, severity: 40 }),
    seen('b', 2, 2, { frp: 30, severity: 50 }),
    seen('c', 3, 3, { frp: 30, severity: 30, at: NOON + HOUR_MS }),
  ]
  const told = {
    ...{ id: 'firms:x', source: 'firms', type: 'wildfire', status: 'active', aliases: [] },
    ...{ lat: 2, lon: 2, severity: 50 },
    ...{ ts: '2026-03-01T13:00:00.000Z', ends_at: '2026-03-02T01:00:00.000Z' },
  }
  expect(event(...fire)).toMatchObject(told)
  const [a, b, c] = fire
  if (b && c) expect(event(b, a, c)).toMatchObject(told)
  const one = (confidence: string) => event(seen('a', 0, 0, { confidence })).title
  expect(one('80')).toBe('Fire 10 MW (MODIS, confidence 80%)')
  expect(one('level 2')).toBe('Fire 10 MW (MODIS, confidence level 2)')
})

describe('the id of a fire', () => {
  const [a, b, c, d] = [seen('a', 0, 0), seen('b', 1, 0), seen('c', 2, 0), seen('d', 3, 0)]

  test('is made of its first detection', () => {
    expect(idsOf([[a, b], [c]], {})).toEqual([hash('a'), hash('c')])
  })

  test('is that under which one of its detections was known, the oldest of several', () => {
    expect(idsOf([[a, b, c]], { [hash('b')]: 'B', [hash('c')]: 'C' })).toEqual(['B'])
  })

  test('is new when the fire it was known by goes on without it', () => {
    const known = { [hash('a')]: 'A', [hash('b')]: 'A' }
    expect(idsOf([[a], [b]], known)).toEqual(['A', hash('b')])
    // The first of its detections that names no other fire.
    expect(idsOf([[a], [b, c]], { [hash('a')]: hash('b') })).toEqual([hash('b'), hash('c')])
  })

  test('is that of no other fire, even when its only detection names one', () => {
    const known = { [hash('a')]: hash('b'), [hash('d')]: hash('c') }
    const [first, second, third, ...others] = idsOf([[a], [d], [b], [c]], known)
    expect([first, second]).toEqual([hash('b'), hash('c')])
    expect(new Set([first, second, third, ...others]).size).toBe(4)
    expect(idsOf([[b]], { [hash('b')]: String(third) })).toEqual([third])
    const [, ab] = idsOf([[c], [a, b]], { [hash('c')]: hash('a'), [hash('b')]: hash('a') })
    expect(ab).toBe(hash('b'))
  })
})

describe('the title of a fire', () => {
  test.each<[string, Partial<Detection>]>([
    ['Fire 10 MW (MODIS, confidence 80%)', {}],
    ['Fire 10 MW (VIIRS, confidence high)', { instrument: 'VIIRS', confidence: 'high' }],
    ['Fire 0 MW (MODIS, confidence 80%)', { frp: null }],
    ['Fire 10.3 MW (MODIS, confidence 80%)', { frp: 10.26 }],
  ])('%s', (title, given) => {
    expect(event(seen('a', 0, 0, given)).title).toBe(title)
  })

  test('names each instrument once, in the order of the alphabet', () => {
    const fire: Fire = [
      seen('a', 0, 0, { instrument: 'VIIRS' }),
      seen('b', 0, 0, { frp: null }),
      seen('c', 0, 0),
    ]
    expect(event(...fire).title).toBe('Fire 20 MW, 3 detections (MODIS, VIIRS)')
  })
})

describe('the footprint of a fire', () => {
  const drawn = (...places: [lon: number, lat: number][]) => {
    const [first, ...others] = places.map(([lon, lat], n) => seen(`${n}`, lat, lon))
    return first ? event(first, ...others).geometry : null
  }

  test('is nothing for one place, however often it was seen', () => {
    expect(drawn([1, 2])).toBeNull()
    expect(drawn([1, 2], [1, 2])).toBeNull()
  })

  test('is its places when they have no area, from west to east and south to north', () => {
    expect(drawn([3, 3], [1, 1], [2, 2])).toEqual({
      type: 'MultiPoint',
      coordinates: [
        [1, 1],
        [2, 2],
        [3, 3],
      ],
    })
    expect(drawn([1, 2], [1, 1])?.coordinates).toEqual([
      [1, 1],
      [1, 2],
    ])
  })

  test('is the hull of its places: what lies inside or on a side is no corner of it', () => {
    const hull = [
      [
        [1, 1],
        [3, 1],
        [3, 3],
        [1, 3],
        [1, 1],
      ],
    ]
    expect(drawn([2, 2], [3, 3], [1, 1], [3, 1], [1, 3], [2, 1], [3, 2], [2, 3], [1, 2])).toEqual({
      type: 'Polygon',
      coordinates: hull,
    })
  })

  test('has every corner of a round fire', () => {
    const corners = Array.from({ length: 12 }, (_, n): [number, number] => {
      const angle = ((n - 6) * Math.PI) / 6
      return [Math.cos(angle) / 1000, Math.sin(angle) / 1000]
    })
    const inside = corners.map(([lon, lat]): [number, number] => [lon / 2, lat / 2])
    expect(drawn(...inside, ...corners)?.coordinates).toEqual([[...corners, corners[0]]])
  })

  test.each([
    [179.999, -179.999, 179.999, 180.001],
    [-179.999, 179.999, -180.001, -179.999],
  ])('from %f to %f it crosses the antimeridian', (from, to, west, east) => {
    const ring = [
      [west, 0],
      [east, 0],
      [east, 0.002],
      [west, 0.002],
      [west, 0],
    ]
    expect(drawn([from, 0], [to, 0], [to, 0.002], [from, 0.002])?.coordinates).toEqual([ring])
  })
})
