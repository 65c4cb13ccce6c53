import type { Feature, Position } from 'geojson'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import { poleOf, toRing } from '../../shared/geometry/ring.ts'

/** The countries of the world-atlas: TopoJSON of Natural Earth. */
export type World = Topology<{
  countries: GeometryCollection<{ name: string }>
}>

/**
 * The countries as areas that a flat map can fill: what crosses 180° (Russia, Fiji) goes on past it
 * instead of back around the world, and what surrounds a pole (Antarctica) reaches it.
 */
export function* landOf(world: World): Generator<Feature> {
  for (const [nr, country] of world.objects.countries.geometries.entries()) {
    const found = feature(world, country)
    if (found.type !== 'Feature') continue
    const { geometry } = found
    const polygons =
      geometry.type === 'Polygon'
        ? [geometry.coordinates]
        : geometry.type === 'MultiPolygon'
          ? geometry.coordinates
          : []
    yield {
      type: 'Feature',
      properties: { nr },
      geometry: { type: 'MultiPolygon', coordinates: polygons.map(flat) },
    }
  }
}

/** The borders between countries, none of which crosses 180°. */
export function* bordersOf(world: World): Generator<Feature> {
  const { coordinates } = mesh(world, world.objects.countries, (one, two) => one !== two)
  for (const [nr, line] of coordinates.entries()) {
    yield {
      type: 'Feature',
      properties: { nr },
      geometry: { type: 'LineString', coordinates: line },
    }
  }
}

function flat(polygon: Position[][]): Position[][] {
  const rings = polygon.map(toRing)
  const closed = rings.filter(({ winding }) => winding === 0).map(({ path }) => path)
  // A second ring around the pole is the pole itself, as the sphere has it.
  const [coast] = rings
    .filter(({ winding }) => winding !== 0)
    .sort((one, two) => reach(one.path) - reach(two.path))
  const [first, last] = [coast?.path[0], coast?.path.at(-1)]
  if (!coast || !first || !last) return closed.map((path) => path.map(([lon, lat]) => [lon, lat]))
  const pole = 90 * poleOf(coast)
  const outline = [...coast.path, [last[0], pole], [first[0], pole], first]
  return [outline, ...closed].map((path) => path.map(([lon = 0, lat = 0]) => [lon, lat]))
}

/** How near a ring comes to the equator, in degrees. */
const reach = (path: readonly (readonly number[])[]) =>
  path.reduce((least, [, lat = 90]) => Math.min(least, Math.abs(lat)), 90)
