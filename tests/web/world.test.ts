import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { MultiPolygon, Position } from 'geojson'
import { beforeAll, expect, test } from 'vitest'
import { bordersOf, landOf, type World } from '../../web/map/world.ts'

let world: World
let land: { name: string; polygons: Position[][][] }[]
beforeAll(async () => {
  const path = createRequire(import.meta.url).resolve('world-atlas/countries-50m.json')
  world = JSON.parse(await readFile(path, 'utf8'))
  const names = world.objects.countries.geometries.map(({ properties = {} }) =>
    'name' in properties ? properties.name : '',
  )
  land = [...landOf(world)].map(({ geometry, properties }) => ({
    name: names[properties?.nr] ?? '',
    polygons: (geometry as MultiPolygon).coordinates, // safe: landOf makes nothing else
  }))
})

const ringsOf = (name: string) => land.find((one) => one.name === name)?.polygons.flat() ?? []
const lons = (ring: Position[]) => ring.map(([lon = 0]) => lon)

test('no edge of any land runs back around the world, and each area is closed', () => {
  expect(land.length).toBeGreaterThan(200)
  for (const { name, polygons } of land) {
    for (const ring of polygons.flat()) {
      expect(ring.at(-1), name).toEqual(ring[0])
      for (const [i, [lon = 0, lat = 0]] of ring.entries()) {
        const [before = lon] = ring[i - 1] ?? []
        // Only along a pole, which no flat map shows.
        if (Math.abs(lon - before) > 90) expect([name, Math.abs(lat)]).toEqual(['Antarctica', 90])
      }
    }
  }
})

test('Russia goes on past 180°, and Fiji lies across it', () => {
  const mainland = ringsOf('Russia').sort((one, two) => two.length - one.length)[0] ?? []
  expect(Math.min(...lons(mainland))).toBeGreaterThan(25)
  expect(Math.max(...lons(mainland))).toBeGreaterThan(185)
  expect(Math.max(...lons(mainland))).toBeLessThan(195)
  for (const ring of ringsOf('Fiji')) {
    expect(Math.max(...lons(ring)) - Math.min(...lons(ring))).toBeLessThan(3)
  }
})

test('Antarctica reaches its pole once, all the way round', () => {
  const rings = ringsOf('Antarctica').filter(
    (ring) => Math.max(...lons(ring)) - Math.min(...lons(ring)) > 180,
  )
  expect(rings).toHaveLength(1)
  const [ring = []] = rings
  expect(Math.max(...lons(ring)) - Math.min(...lons(ring))).toBeCloseTo(360, 5)
  expect(ring.filter(([, lat]) => lat === -90)).toHaveLength(2)
  expect(ring.some(([, lat = -90]) => lat > -64)).toBe(true)
})

test('no border crosses 180°', () => {
  for (const { geometry } of bordersOf(world)) {
    if (geometry.type !== 'LineString') throw new Error('not a line')
    for (const [i, [lon = 0]] of geometry.coordinates.entries()) {
      const [before = lon] = geometry.coordinates[i - 1] ?? []
      expect(Math.abs(lon - before)).toBeLessThan(90)
    }
  }
})
