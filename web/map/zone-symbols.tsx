import type { FeatureCollection, Point } from 'geojson'
import type { Map as MapLibre } from 'maplibre-gl'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'
import type { Zone } from '../api/queries.ts'
import { zoneIcon } from '../event/zone-icons.ts'
import type { Colours } from './base.ts'
import { areaOf, holds } from './shapes.ts'

const PREFIX = 'zone-icon'
const RATIO = 2
const SIZE_PX = 26
const ICON_PX = 16

/** The icons of the zones that have one, as points of the map. */
export function zoneIconFeatures(zones: Zone[]): FeatureCollection<Point> {
  return {
    type: 'FeatureCollection',
    features: zones
      .filter(({ icon }) => icon)
      .map((zone) => ({
        type: 'Feature',
        geometry: { type: 'Point', coordinates: placeOf(zone) },
        properties: { id: zone.id, symbol: [PREFIX, zone.icon, zone.color ?? ''].join(' ') },
      })),
  }
}

/** Where the icon stands: at the place of the zone, or amid its corners where that lies outside. */
function placeOf(zone: Zone): [lon: number, lat: number] {
  if (zone.shape_type === 'circle' || holds(zone, zone)) return [zone.lon, zone.lat]
  const area = areaOf(zone)
  const ring = (area.type === 'Polygon' ? area.coordinates : area.coordinates[0])?.[0] ?? []
  // The first corner comes again at the end.
  const corners = ring.slice(1)
  const mean = (axis: 0 | 1) =>
    corners.reduce((sum, corner) => sum + (corner[axis] ?? 0), 0) / corners.length
  return corners.length > 0 ? [mean(0), mean(1)] : [zone.lon, zone.lat]
}

/**
 * Draws the icon that the map misses by its name, in the colour of its zone; other names are left alone.
 * `isOver` says whether the map was dressed anew in the meantime.
 */
export async function addZoneSymbol(
  map: MapLibre,
  name: string,
  colours: Colours,
  isOver: () => boolean,
): Promise<void> {
  const [prefix, icon, color] = name.split(' ')
  if (prefix !== PREFIX || !icon) return
  const image = new Image()
  image.src = `data:image/svg+xml,${encodeURIComponent(svgOf(icon, color || colours.accent, colours))}`
  await image.decode()
  const size = SIZE_PX * RATIO
  const brush = new OffscreenCanvas(size, size).getContext('2d', { willReadFrequently: true })
  if (!brush || isOver() || map.hasImage(name)) return
  brush.drawImage(image, 0, 0, size, size)
  map.addImage(name, brush.getImageData(0, 0, size, size), { pixelRatio: RATIO })
}

/** The icon on a disc, as the text of an SVG. */
function svgOf(name: string, colour: string, colours: Colours): string {
  const Icon = zoneIcon(name)
  const middle = SIZE_PX / 2
  const edge = (SIZE_PX - ICON_PX) / 2
  const place = document.createElement('div')
  const root = createRoot(place)
  flushSync(() =>
    root.render(
      <svg
        xmlns="http://www.w3.org/2000/svg"
        width={SIZE_PX * RATIO}
        height={SIZE_PX * RATIO}
        viewBox={`0 0 ${SIZE_PX} ${SIZE_PX}`}
        aria-hidden
      >
        <circle
          cx={middle}
          cy={middle}
          r={middle - 1}
          fill={colours.halo}
          stroke={colour}
          strokeWidth={1.5}
        />
        <Icon x={edge} y={edge} size={ICON_PX} color={colour} />
      </svg>,
    ),
  )
  const text = place.firstElementChild
    ? new XMLSerializer().serializeToString(place.firstElementChild)
    : ''
  root.unmount()
  return text
}
