import type { FeatureCollection } from 'geojson'
import type {
  ExpressionSpecification,
  GeoJSONSource,
  LayerSpecification,
  Map as MapLibre,
} from 'maplibre-gl'
import type { Colours } from './base.ts'
import { ARROW } from './symbols.ts'

export const EMPTY: FeatureCollection = { type: 'FeatureCollection', features: [] }
/** At this zoom every event stands for itself. */
const MAX_CLUSTER_ZOOM = 5
const CLUSTER_RADIUS_PX = 36

/** A line through the places of several points would be drawn otherwise. */
const NO_POINTS: ExpressionSpecification = ['!=', ['geometry-type'], 'Point']
const POINTS: ExpressionSpecification = ['==', ['geometry-type'], 'Point']
const AREAS: ExpressionSpecification = ['==', ['geometry-type'], 'Polygon']

/**
 * Adds what changes: zones, footprints, ways, and the events with their clusters. A layer a frame: the
 * page waits while the programs of a layer are compiled. `isOver` says whether the map was given up.
 */
export async function addLayers(
  map: MapLibre,
  colours: Colours,
  isOver: () => boolean,
): Promise<void> {
  map.addSource('zones', { type: 'geojson', data: EMPTY, promoteId: 'id' })
  map.addSource('footprints', { type: 'geojson', data: EMPTY, promoteId: 'id' })
  map.addSource('footprint', { type: 'geojson', data: EMPTY })
  map.addSource('tracks', { type: 'geojson', data: EMPTY })
  map.addSource('heads', { type: 'geojson', data: EMPTY })
  map.addSource('zone-icons', { type: 'geojson', data: EMPTY })
  map.addSource('place', { type: 'geojson', data: EMPTY })
  map.addSource('chosen', { type: 'geojson', data: EMPTY })
  map.addSource('events', {
    type: 'geojson',
    data: EMPTY,
    cluster: true,
    clusterMaxZoom: MAX_CLUSTER_ZOOM,
    clusterRadius: CLUSTER_RADIUS_PX,
    clusterProperties: {
      worst: ['max', ['get', 'severity']],
      total: ['+', ['get', 'count']],
    },
  })
  for (const layer of layersOf(colours)) {
    map.addLayer(layer)
    await new Promise(requestAnimationFrame)
    if (isOver()) return
  }
}

const bySeverity = (colours: Colours, of: string): ExpressionSpecification => [
  'step',
  ['get', of],
  colours.severity.minor,
  20,
  colours.severity.low,
  40,
  colours.severity.moderate,
  60,
  colours.severity.severe,
  80,
  colours.severity.extreme,
]

function layersOf(colours: Colours): LayerSpecification[] {
  const colour: ExpressionSpecification = ['coalesce', ['get', 'color'], colours.accent]
  const isLook = (...looks: string[]): ExpressionSpecification => [
    'in',
    ['get', 'look'],
    ['literal', looks],
  ]
  const line = (id: string, looks: string[], dash?: number[]): LayerSpecification => ({
    id,
    type: 'line',
    source: 'zones',
    filter: isLook(...looks),
    paint: {
      'line-color': looks.includes('blind')
        ? colours.bad
        : looks.includes('off')
          ? colours.muted
          : colour,
      'line-width': 2,
      ...(dash ? { 'line-dasharray': dash } : {}),
    },
  })
  const way = (id: string, look: string, dash?: number[]): LayerSpecification => ({
    id,
    type: 'line',
    source: 'tracks',
    filter: isLook(look),
    layout: { 'line-cap': 'round', 'line-join': 'round' },
    paint: {
      'line-color': bySeverity(colours, 'severity'),
      'line-opacity': ['get', 'opacity'],
      'line-width': ['get', 'width'],
      ...(dash ? { 'line-dasharray': dash } : {}),
    },
  })
  return [
    {
      id: 'zone-areas',
      type: 'fill',
      source: 'zones',
      paint: {
        'fill-color': colour,
        'fill-opacity': ['case', isLook('off'), 0.04, 0.12],
        // The lines are drawn anyway.
        'fill-antialias': false,
      },
    },
    line('zones-on', ['on']),
    line('zones-snoozed', ['snoozed', 'off'], [2, 2]),
    line('zones-blind', ['blind'], [4, 2]),
    {
      id: 'footprints',
      type: 'fill',
      source: 'footprints',
      filter: AREAS,
      layout: { 'fill-sort-key': ['get', 'order'] },
      paint: {
        'fill-color': bySeverity(colours, 'severity'),
        'fill-opacity': 0.16,
        'fill-antialias': false,
      },
    },
    {
      id: 'footprint-lines',
      type: 'line',
      source: 'footprints',
      filter: NO_POINTS,
      paint: {
        'line-color': bySeverity(colours, 'severity'),
        'line-width': 1.25,
        'line-opacity': 0.8,
      },
    },
    {
      id: 'footprint-points',
      type: 'circle',
      source: 'footprints',
      filter: POINTS,
      paint: {
        'circle-radius': 2.5,
        'circle-color': bySeverity(colours, 'severity'),
        'circle-opacity': 0.6,
      },
    },
    {
      id: 'footprint-area',
      type: 'fill',
      source: 'footprint',
      paint: { 'fill-color': colours.text, 'fill-opacity': 0.1, 'fill-antialias': false },
    },
    {
      id: 'footprint-line',
      type: 'line',
      source: 'footprint',
      filter: NO_POINTS,
      paint: { 'line-color': colours.text, 'line-width': 1.5 },
    },
    way('tracks', 'way'),
    way('track-gaps', 'gap', [2, 2]),
    {
      id: 'track-arrows',
      type: 'symbol',
      source: 'tracks',
      filter: ['all', ['==', ['get', 'look'], 'way'], ['>', ['get', 'width'], 2]],
      layout: {
        'symbol-placement': 'line',
        'symbol-spacing': 60,
        'icon-image': ARROW,
        'icon-allow-overlap': true,
        'icon-ignore-placement': true,
        'icon-rotation-alignment': 'map',
      },
    },
    {
      id: 'zone-icons',
      type: 'symbol',
      source: 'zone-icons',
      layout: {
        'icon-image': ['get', 'symbol'],
        'icon-allow-overlap': true,
        'icon-ignore-placement': true,
      },
    },
    {
      id: 'place',
      type: 'circle',
      source: 'place',
      paint: {
        'circle-radius': 5,
        'circle-color': colours.halo,
        'circle-stroke-color': colours.accent,
        'circle-stroke-width': 2,
      },
    },
    {
      id: 'clusters',
      type: 'circle',
      source: 'events',
      filter: ['has', 'point_count'],
      paint: {
        'circle-color': bySeverity(colours, 'worst'),
        'circle-opacity': 0.35,
        'circle-stroke-color': bySeverity(colours, 'worst'),
        'circle-stroke-width': 1.5,
        'circle-radius': ['interpolate', ['linear'], ['log10', ['get', 'total']], 0, 9, 3, 26],
      },
    },
    {
      id: 'event-clusters',
      type: 'circle',
      source: 'events',
      filter: ['all', ['!', ['has', 'point_count']], ['>', ['get', 'count'], 1]],
      paint: {
        'circle-color': bySeverity(colours, 'severity'),
        'circle-opacity': 0.35,
        'circle-stroke-color': bySeverity(colours, 'severity'),
        'circle-stroke-width': 1.5,
        'circle-radius': ['interpolate', ['linear'], ['log10', ['get', 'count']], 0, 9, 3, 26],
      },
    },
    {
      id: 'events',
      type: 'symbol',
      source: 'events',
      filter: ['all', ['!', ['has', 'point_count']], ['==', ['get', 'count'], 1]],
      layout: {
        'icon-image': ['get', 'symbol'],
        'icon-allow-overlap': true,
        'symbol-sort-key': ['get', 'severity'],
      },
    },
    {
      id: 'heads',
      type: 'symbol',
      source: 'heads',
      layout: {
        'icon-image': ['get', 'symbol'],
        'icon-rotate': ['get', 'bearing'],
        'icon-rotation-alignment': 'map',
        'icon-allow-overlap': true,
        'symbol-sort-key': ['get', 'severity'],
      },
    },
    {
      id: 'chosen',
      type: 'circle',
      source: 'chosen',
      paint: {
        'circle-radius': 16,
        'circle-color': 'transparent',
        'circle-stroke-color': colours.accent,
        'circle-stroke-width': 2.5,
      },
    },
  ]
}

type Source =
  | 'events'
  | 'zones'
  | 'zone-icons'
  | 'footprint'
  | 'footprints'
  | 'tracks'
  | 'heads'
  | 'place'
  | 'chosen'

/** Replaces the data of one of the sources, once the map has them. */
export function setData(map: MapLibre | undefined, source: Source, data: FeatureCollection): void {
  map?.getSource<GeoJSONSource>(source)?.setData(data)
}

/** One place as the data of a source. */
export function placeData(at: { lat: number; lon: number } | null): FeatureCollection {
  if (!at) return EMPTY
  const geometry = { type: 'Point' as const, coordinates: [at.lon, at.lat] }
  return { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry }] }
}

/** Shows the footprints of what had happened by a time, in milliseconds. */
export function showFootprintsUntil(map: MapLibre, until: number | undefined): void {
  const isPast: ExpressionSpecification[] =
    until === undefined ? [] : [['<=', ['get', 'at'], until]]
  map.setFilter('footprints', ['all', AREAS, ...isPast])
  map.setFilter('footprint-lines', ['all', NO_POINTS, ...isPast])
  map.setFilter('footprint-points', ['all', POINTS, ...isPast])
}
