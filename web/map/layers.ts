import type { FeatureCollection } from 'geojson'
import type {
  ExpressionSpecification,
  GeoJSONSource,
  LayerSpecification,
  Map as MapLibre,
} from 'maplibre-gl'
import type { Colours } from './base.ts'

export const EMPTY: FeatureCollection = { type: 'FeatureCollection', features: [] }
/** At this zoom every event stands for itself. */
const MAX_CLUSTER_ZOOM = 5
const CLUSTER_RADIUS_PX = 36

/** Adds what changes: zones, a footprint, and the events with their clusters. */
export function addLayers(map: MapLibre, colours: Colours): void {
  map.addSource('zones', { type: 'geojson', data: EMPTY, promoteId: 'id' })
  map.addSource('footprint', { type: 'geojson', data: EMPTY })
  map.addSource('place', { type: 'geojson', data: EMPTY })
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
  for (const layer of layersOf(colours)) map.addLayer(layer)
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
  return [
    {
      id: 'zone-areas',
      type: 'fill',
      source: 'zones',
      paint: {
        'fill-color': colour,
        'fill-opacity': ['case', isLook('off'), 0.04, 0.12],
      },
    },
    line('zones-on', ['on']),
    line('zones-snoozed', ['snoozed', 'off'], [2, 2]),
    line('zones-blind', ['blind'], [4, 2]),
    {
      id: 'footprint-area',
      type: 'fill',
      source: 'footprint',
      paint: { 'fill-color': colours.text, 'fill-opacity': 0.1 },
    },
    {
      id: 'footprint-line',
      type: 'line',
      source: 'footprint',
      paint: { 'line-color': colours.text, 'line-width': 1.5 },
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
      id: 'selected',
      type: 'circle',
      source: 'events',
      filter: ['==', ['get', 'id'], ''],
      paint: {
        'circle-radius': 16,
        'circle-color': 'transparent',
        'circle-stroke-color': colours.accent,
        'circle-stroke-width': 2.5,
      },
    },
  ]
}

/** Replaces the data of one of the sources, once the map has them. */
export function setData(
  map: MapLibre | undefined,
  source: 'events' | 'zones' | 'footprint' | 'place',
  data: FeatureCollection,
): void {
  map?.getSource<GeoJSONSource>(source)?.setData(data)
}
