import type { StyleSpecification } from 'maplibre-gl'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import worldUrl from 'world-atlas/countries-50m.json?url'

/** The colours of the base map, those of the theme on the page. */
export function coloursOf(page: HTMLElement) {
  const style = getComputedStyle(page)
  const of = (name: string) => style.getPropertyValue(name).trim()
  return {
    water: of('--map-water'),
    land: of('--map-land'),
    border: of('--map-border'),
    text: of('--text'),
    halo: of('--map-water'),
    accent: of('--accent'),
    severity: {
      minor: of('--severity-minor'),
      low: of('--severity-low'),
      moderate: of('--severity-moderate'),
      severe: of('--severity-severe'),
      extreme: of('--severity-extreme'),
    },
    bad: of('--bad'),
    muted: of('--muted'),
  }
}
export type Colours = ReturnType<typeof coloursOf>

type World = Topology<{
  countries: GeometryCollection<{ name: string }>
}>
let world: Promise<World> | undefined

/** Land and borders of Natural Earth, 1:50 million, which come with the console: no tile server is asked. */
async function loadWorld() {
  world ??= fetch(worldUrl).then((response) => response.json())
  const topology = await world
  return {
    // Of countries: the outline of all land runs across the antimeridian, where a flat map would draw bands.
    land: feature(topology, topology.objects.countries),
    borders: mesh(topology, topology.objects.countries, (one, other) => one !== other),
  }
}

/** The style of an empty map: water, land and borders. */
export async function baseStyle(colours: Colours): Promise<StyleSpecification> {
  const { land, borders } = await loadWorld()
  return {
    version: 8,
    projection: { type: 'mercator' },
    sources: {
      land: { type: 'geojson', data: land, attribution: 'Natural Earth' },
      borders: { type: 'geojson', data: { type: 'Feature', properties: {}, geometry: borders } },
    },
    layers: [
      { id: 'water', type: 'background', paint: { 'background-color': colours.water } },
      { id: 'land', type: 'fill', source: 'land', paint: { 'fill-color': colours.land } },
      {
        id: 'borders',
        type: 'line',
        source: 'borders',
        paint: { 'line-color': colours.border, 'line-width': 0.8 },
      },
    ],
  }
}
