import { expect, test } from 'vitest'
import { type Narrowing, type Sought, ZoneIndex } from '../../../../functions/jobs/zone-index.ts'

const zone = (id: string, fields: Partial<Narrowing> = {}): Narrowing => ({
  ...{ id, version: 1, valid_from: '2026-01-01T00:00:00.000Z', min_severity: 40 },
  ...{ sources: null, types: null, boxes: [[10, 20, 12, 22]] },
  ...fields,
})
const event = (fields: Partial<Sought> = {}): Sought => ({
  ...{ source: 'usgs', type: 'earthquake', lat: 21, lon: 11, severity: 60 },
  ...{ subject: null, geometry: null },
  ...fields,
})
function indexOf(...zones: Narrowing[]): ZoneIndex {
  const index = new ZoneIndex()
  for (const one of zones) index.set(one)
  return index
}

test('a zone is found by its box, up to its edges', () => {
  const index = indexOf(zone('a'), zone('b', { boxes: [[12, 20, 13, 22]] }))
  expect(index.near(event())).toEqual(['a'])
  expect(index.near(event({ lon: 12 })).sort()).toEqual(['a', 'b'])
  expect(index.near(event({ lon: 12.1 }))).toEqual(['b'])
  for (const place of [{ lon: 9.9 }, { lat: 19.9 }, { lat: 22.1 }, { lon: 13.1 }])
    expect(index.near(event(place))).toEqual([])
})

test('an event that fills an area finds the zones that its box meets', () => {
  const index = indexOf(zone('a'), zone('b', { boxes: [[12, 20, 13, 22]] }))
  const geometry = {
    type: 'Polygon' as const,
    coordinates: [
      [
        [11.5, 21],
        [12.5, 21],
        [12.5, 21.5],
        [11.5, 21],
      ],
    ],
  }
  expect(index.near(event({ geometry, lat: 21, lon: 11.6 })).sort()).toEqual(['a', 'b'])
})

test('a zone with several boxes is found once', () => {
  const boxes: Narrowing['boxes'] = [
    [170, 0, 180, 10],
    [-180, 0, -170, 10],
    [175, 0, 180, 10],
  ]
  const index = indexOf(zone('a', { boxes }))
  expect(index.near(event({ lat: 5, lon: 176 }))).toEqual(['a'])
  expect(index.near(event({ lat: 5, lon: -176 }))).toEqual(['a'])
})

test('an event that is not severe enough finds no zone, unless it moves', () => {
  const index = indexOf(zone('a'))
  expect(index.near(event({ severity: 40 }))).toEqual(['a'])
  expect(index.near(event({ severity: 39 }))).toEqual([])
  expect(index.near(event({ severity: 0, subject: 'mmsi:1' }))).toEqual(['a'])
})

test('a zone is found by events of its sources and types', () => {
  const index = indexOf(zone('a', { sources: ['usgs', 'emsc'] }), zone('b', { types: ['storm'] }))
  expect(index.near(event())).toEqual(['a'])
  expect(index.near(event({ source: 'gdacs' }))).toEqual([])
  expect(index.near(event({ source: 'gdacs', type: 'storm' }))).toEqual(['b'])
  expect(index.near(event({ subject: 'mmsi:1', type: 'storm', source: 'gdacs' }))).toEqual(['b'])
})

test('a changed zone is found where it is now, and one without boxes no more', () => {
  const index = indexOf(zone('a'))
  index.set(zone('a', { version: 2, boxes: [[30, 20, 32, 22]] }))
  expect(index.near(event())).toEqual([])
  expect(index.near(event({ lon: 31 }))).toEqual(['a'])
  expect(index.current('a')).toMatchObject({ version: 2, valid_from: '2026-01-01T00:00:00.000Z' })
  expect(index.size).toBe(1)
  index.set(zone('a', { version: 3, boxes: [] }))
  expect(index.near(event({ lon: 31 }))).toEqual([])
  expect(index.current('a')).toBeUndefined()
  expect(index.size).toBe(0)
})

test('packed in trees and changed many times over, it finds what a plain list does', () => {
  const index = new ZoneIndex()
  const zones = new Map<string, Narrowing>()
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let round = 0; round < 12; round += 1) {
    for (let nr = 0; nr < 700; nr += 1) {
      const [west, south] = [random(300) - 150, random(120) - 60]
      const boxes: Narrowing['boxes'] =
        random(10) === 0 ? [] : [[west, south, west + random(20), south + random(20)]]
      const id = `zone-${random(1500)}`
      const made = zone(id, { version: round, boxes, min_severity: random(100) })
      index.set(made)
      zones.set(id, made)
    }
    index.pack({ all: round % 3 === 0 })
    for (let nr = 0; nr < 50; nr += 1) {
      // Away from whole degrees, at which boxes begin and end.
      const [lat, lon] = [random(120) - 60.5, random(300) - 150.5]
      const found = index.near(event({ lat, lon, severity: 50 }))
      const plain = [...zones.values()].filter(
        ({ boxes, min_severity }) =>
          min_severity <= 50 &&
          boxes.some(([w, s, e, n]) => w <= lon && lon <= e && s <= lat && lat <= n),
      )
      expect(found.sort()).toEqual(plain.map(({ id }) => id).sort())
    }
    for (const [id, { version, boxes }] of zones)
      expect(index.current(id)?.version).toBe(boxes.length > 0 ? version : undefined)
  }
})

/** Packed, and among those that are not: what is found is the same. */
const BOTH = [true, false]

test.each(BOTH)(
  'a box is met by what touches it, and by nothing beyond; packed: %s',
  (is_packed) => {
    const index = indexOf(zone('a'))
    if (is_packed) index.pack({ all: true })
    const near = (lon: number, lat: number) => index.near(event({ lon, lat })).length
    for (const [lon, lat] of [
      [10, 21],
      [12, 21],
      [11, 20],
      [11, 22],
      // The boxes of the index are a little less exact than those of the database.
      [9.999_98, 21],
      [12.000_02, 21],
      [11, 19.999_98],
      [11, 22.000_02],
    ] as const)
      expect([lon, lat, near(lon, lat)]).toEqual([lon, lat, 1])
    for (const [lon, lat] of [
      [9.999, 21],
      [12.001, 21],
      [11, 19.999],
      [11, 22.001],
    ] as const)
      expect([lon, lat, near(lon, lat)]).toEqual([lon, lat, 0])
  },
)

test.each(BOTH)('all zones at a place are found, each once; packed: %s', (is_packed) => {
  const ids = Array.from({ length: 40 }, (_, nr) => `zone-${nr}`)
  const box: Narrowing['boxes'][number] = [10, 20, 12, 22]
  const index = indexOf(...ids.map((id) => zone(id, { boxes: [box, box, [50, 50, 51, 51]] })))
  if (is_packed) index.pack({ all: true })
  for (let search = 0; search < 3; search += 1) {
    expect(index.near(event()).sort()).toEqual(ids.toSorted())
    expect(index.near(event({ lon: 50.5, lat: 50.5 }))).toHaveLength(40)
  }
})

test('zones are numbered anew once most of what is held are former states', () => {
  const index = indexOf(
    zone('a', { sources: ['usgs'], version: 7, valid_from: '2026-02-02T00:00:00.000Z' }),
    zone('b', {
      min_severity: 70,
      boxes: [
        [10, 20, 12, 22],
        [30, 30, 31, 31],
      ],
    }),
  )
  for (let version = 1; version <= 512; version += 1) index.set(zone('c', { version }))
  index.pack({ all: true })
  // Twice as many as there are zones, and 512 more, are no reason yet.
  for (let version = 513; version <= 516; version += 1) index.set(zone('c', { version }))
  index.pack()
  expect(index.held.slots).toBe(518)
  index.set(zone('c', { version: 517, types: ['storm'], boxes: [[10, 20, 11.5, 22]] }))
  index.pack()
  expect(index.held).toEqual({ slots: 3, boxes: 4 })
  expect(index.size).toBe(3)
  expect(index.current('a')).toEqual({
    ...{ id: 'a', version: 7, valid_from: '2026-02-02T00:00:00.000Z' },
  })
  expect(index.current('c')?.version).toBe(517)
  const near = (fields: Partial<Sought>) => index.near(event(fields)).sort()
  expect(near({})).toEqual(['a'])
  expect(near({ source: 'emsc' })).toEqual([])
  expect(near({ type: 'storm' })).toEqual(['a', 'c'])
  expect(near({ severity: 70 })).toEqual(['a', 'b'])
  expect(near({ severity: 70, lon: 30.5, lat: 30.5 })).toEqual(['b'])
  expect(near({ lon: 11.8, type: 'storm' })).toEqual(['a'])
  index.pack({ all: true })
  expect(near({ type: 'storm', severity: 70 })).toEqual(['a', 'b', 'c'])
  expect(index.held).toEqual({ slots: 3, boxes: 4 })
  index.set(zone('a', { version: 8 }))
  expect(near({ source: 'emsc' })).toEqual(['a'])
})

test('few boxes wait to be packed, and small trees are packed together', () => {
  const index = new ZoneIndex()
  const add = (from: number, count: number) => {
    for (let nr = from; nr < from + count; nr += 1) index.set(zone(`zone-${nr}`))
  }
  add(0, 511)
  index.pack()
  add(511, 1)
  index.pack()
  add(512, 600)
  index.pack()
  expect(index.held).toEqual({ slots: 1112, boxes: 1112 })
  expect(new Set(index.near(event())).size).toBe(1112)
  // What became of a former state of those that were packed before is forgotten with the next tree.
  for (let nr = 0; nr < 300; nr += 1) index.set(zone(`zone-${nr}`, { version: 2 }))
  index.pack({ all: true })
  expect(index.held).toEqual({ slots: 1412, boxes: 1112 })
  expect(index.near(event())).toHaveLength(1112)
})

test('when all that is to be packed was deleted, nothing is found, and others can be added', () => {
  const index = indexOf(zone('a'))
  index.set(zone('a', { version: 2, boxes: [] }))
  index.pack({ all: true })
  expect(index.held.boxes).toBe(0)
  expect(index.near(event())).toEqual([])
  index.set(zone('b'))
  index.pack({ all: true })
  expect(index.near(event())).toEqual(['b'])
})

test('packing forgets the boxes of former states, and zones that change all the time do not fill the memory', () => {
  const index = new ZoneIndex()
  const change = (version: number) => {
    for (let nr = 0; nr < 100; nr += 1) index.set(zone(`zone-${nr}`, { version }))
  }
  for (let version = 1; version <= 6; version += 1) change(version)
  expect(index.held).toEqual({ slots: 600, boxes: 600 })
  index.pack({ all: true })
  expect(index.held).toEqual({ slots: 600, boxes: 100 })
  for (let version = 7; version <= 100; version += 1) {
    change(version)
    index.pack()
    expect(index.held.slots).toBeLessThanOrEqual(900)
  }
  expect(index.near(event())).toHaveLength(100)
})
