import type {
  Map as MapLibre,
  RasterLayerSpecification,
  RasterSourceSpecification,
  StyleSpecification,
} from 'maplibre-gl'
import worldUrl from 'world-atlas/countries-50m.json?url'
import { knownSettings, type Settings } from '../api/settings.ts'
import { addInPortions } from './portions.ts'
import { bordersOf, landOf, type World } from './world.ts'

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
    isDark: style.colorScheme === 'dark',
    bad: of('--bad'),
    muted: of('--muted'),
  }
}
export type Colours = ReturnType<typeof coloursOf>

let world: Promise<World> | undefined

/** fetchWorld brings what `fillBase` draws; asked for early, it comes while the map is made ready. */
export function fetchWorld(): Promise<World> {
  world ??= fetch(worldUrl)
    .then((response) => response.json())
    .catch((error) => {
      // Whoever opens a map next asks again.
      world = undefined
      throw error
    })
  return world
}

/**
 * The style of an empty map: water, land and borders, which `fillBase` brings, and over them the tiles of
 * a server, where the operator chose one.
 */
export function baseStyle(colours: Colours): StyleSpecification {
  const data = { type: 'FeatureCollection' as const, features: [] }
  const { tiles } = knownSettings()
  return {
    version: 8,
    projection: { type: 'mercator' },
    sources: {
      land: { type: 'geojson', data, promoteId: 'nr', attribution: 'Natural Earth' },
      borders: { type: 'geojson', data, promoteId: 'nr' },
      ...(tiles ? { tiles: tileSource(tiles) } : {}),
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
      ...(tiles ? [tileLayer(colours)] : []),
    ],
  }
}

function tileSource({
  url,
  attribution,
}: NonNullable<Settings['tiles']>): RasterSourceSpecification {
  // MapLibre takes it for HTML.
  const named = attribution.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)
  return { type: 'raster', tiles: [url], tileSize: 256, attribution: named }
}

/** Tiles are drawn for bright pages: a dark one dims them. */
const tileLayer = ({ isDark }: Colours): RasterLayerSpecification => ({
  id: 'tiles',
  type: 'raster',
  source: 'tiles',
  paint: isDark ? { 'raster-brightness-max': 0.6, 'raster-saturation': -0.4 } : {},
})

/**
 * Brings land and borders of Natural Earth, 1:50 million, which come with the console; the element of the map has
 * `data-base` once they have come. Returns what stops it.
 */
export function fillBase(map: MapLibre): () => void {
  let stop = (): void => undefined
  let isOver = false
  const { dataset } = map.getContainer()
  delete dataset.base
  const fill = async () => {
    const topology = await fetchWorld()
    if (isOver) return
    dataset.base = ''
    const stops = [
      addInPortions(map, 'land', landOf(topology)),
      addInPortions(map, 'borders', bordersOf(topology)),
    ]
    stop = () => {
      for (const one of stops) one()
    }
  }
  fill().catch((error) => console.error('map:', error))
  return () => {
    isOver = true
    stop()
  }
}
