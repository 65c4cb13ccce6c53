import fc from 'fast-check'
import type { Box } from '../../../shared/geometry/area.ts'
import { containsPoint, prepareZone } from '../../../shared/geometry/geometry.ts'
import type { ZonePolygon, ZoneShape } from '../../../shared/geometry/polygon.ts'

export const circle = (lat: number, lon: number, radius_km: number) =>
  prepareZone({ shape_type: 'circle', lat, lon, radius_km, polygon: null })

export const shapeOf = (polygon: ZonePolygon): ZoneShape => ({
  shape_type: 'polygon',
  lat: 0,
  lon: 0,
  radius_km: 50,
  polygon,
})
export const area = (...rings: number[][][]) =>
  prepareZone(shapeOf({ type: 'Polygon', coordinates: rings }))

export const rectangle = (west: number, south: number, east: number, north: number) => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]
/** A ring round the earth at one latitude, a vertex every 60°. */
export const parallel = (lat: number, lons = [-180, -120, -60, 0, 60, 120, 180]) =>
  lons.map((lon) => [lon, lat])

export const isIn = (zone: ReturnType<typeof area>, lat: number, lon: number) =>
  containsPoint(zone, lat, lon).inside
export const inBox = (boxes: Box[], lat: number, lon: number) =>
  boxes.some((b) => b.west <= lon && lon <= b.east && b.south <= lat && lat <= b.north)

export const firstVertex = (polygon: ZonePolygon) =>
  (polygon.type === 'Polygon' ? polygon.coordinates[0]?.[0] : polygon.coordinates[0]?.[0]?.[0]) ??
  []

/** A star-shaped ring about a point: never crosses itself. */
export const star = fc
  .record({
    lat: fc.double({ min: -89, max: 89, noNaN: true }),
    lon: fc.double({ min: -180, max: 180, noNaN: true }),
    spokes: fc.array(fc.double({ min: 0.2, max: 1, noNaN: true }), { minLength: 3, maxLength: 12 }),
    size: fc.double({ min: 0.01, max: 60, noNaN: true }),
  })
  .map(({ lat, lon, spokes, size }) => {
    const ring = spokes.map((reach, i) => {
      const turn = (2 * Math.PI * i) / spokes.length
      const y = lat + size * reach * Math.sin(turn)
      return [lon + size * reach * Math.cos(turn), Math.max(-90, Math.min(90, y))]
    })
    return { lat, lon, ring: [...ring, ring[0] ?? []] }
  })
const polar = fc
  .record({
    sign: fc.constantFrom(1, -1),
    lats: fc.array(fc.double({ min: 20, max: 89, noNaN: true }), { minLength: 4, maxLength: 9 }),
    start: fc.double({ min: -180, max: 180, noNaN: true }),
  })
  .map(({ sign, lats, start }) => {
    const ring = lats.map((lat, i) => {
      const lon = start + (360 * i) / lats.length
      return [lon > 180 ? lon - 360 : lon, sign * lat]
    })
    return { lat: 89 * sign, lon: start, ring: [...ring, ring[0] ?? []] }
  })
export const shapes: fc.Arbitrary<[ZoneShape]> = fc.oneof(
  fc
    .record({
      lat: fc.double({ min: -90, max: 90, noNaN: true }),
      lon: fc.double({ min: -180, max: 180, noNaN: true }),
      radius_km: fc.double({ min: 0.1, max: 5000, noNaN: true }),
    })
    .map((c): [ZoneShape] => [{ ...c, shape_type: 'circle', polygon: null }]),
  fc.oneof(star, polar).map(({ lat, lon, ring }): [ZoneShape] => [
    {
      lat,
      lon,
      radius_km: 1,
      shape_type: 'polygon',
      polygon: { type: 'Polygon', coordinates: [ring] },
    },
  ]),
)
