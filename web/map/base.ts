import type { Feature } from 'geojson'
import type { Map as MapLibre, StyleSpecification } from 'maplibre-gl'
import { feature, mesh } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import worldUrl from 'world-atlas/countries-50m.json?url'
import { addInPortions } from './portions.ts'

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

/** The style of an empty map: water, land and borders, which `fillBase` brings. */
export function baseStyle(colours: Colours): StyleSpecification {
  const data = { type: 'FeatureCollection' as const, features: [] }
  return {
    version: 8,
    projection: { type: 'mercator' },
    sources: {
      land: { type: 'geojson', data, promoteId: 'nr', attribution: 'Natural Earth' },
      borders: { type: 'geojson', data, promoteId: 'nr' },
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

/**
 * Brings land and borders of Natural Earth, 1:50 million, which come with the console: no tile server
 * is asked. Returns what stops it.
 */
export function fillBase(map: MapLibre): () => void {
  let stop = (): void => undefined
  let isOver = false
  const fill = async () => {
    world ??= fetch(worldUrl).then((response) => response.json())
    const topology = await world
    if (isOver) return
    const stops = [
      addInPortions(map, 'land', landOf(topology)),
      addInPortions(map, 'borders', bordersOf(topology)),
    ]
    stop = () => {
      for (const one of stops) one()
    }
  }
  fill().catch((error) => {
    // Whoever opens a map next asks again.
    world = undefined
    console.error('map:', error)
  })
  return () => {
    isOver = true
    stop()
  }
}

/** Of countries: the outline of all land runs across the antimeridian, where a flat map would draw bands. */
function* landOf(topology: World): Generator<Feature> {
  for (const [nr, country] of topology.objects.countries.geometries.entries()) {
    const found = feature(topology, country)
    if (found.type === 'Feature') yield { ...found, properties: { nr } }
  }
}

function* bordersOf(topology: World): Generator<Feature> {
  const { coordinates } = mesh(topology, topology.objects.countries, (one, two) => one !== two)
  for (const [nr, line] of coordinates.entries()) {
    yield {
      type: 'Feature',
      properties: { nr },
      geometry: { type: 'LineString', coordinates: line },
    }
  }
}
