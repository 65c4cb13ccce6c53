/** The shapes of zones, as the wire has them and as geometry reads them. */
import { z } from 'zod'
import { Polygons, Rings } from './positions.ts'

/** RFC 7946 §3.1.6 and §3.1.7; positions are (lon, lat), a third number is ignored. */
export const ZonePolygon = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('Polygon'), coordinates: Rings }),
    z.object({ type: z.literal('MultiPolygon'), coordinates: Polygons }),
  ])
  .meta({
    id: 'ZonePolygon',
    description:
      'GeoJSON Polygon or MultiPolygon of (lon, lat) positions, at most 10,000 vertices, holes honoured, edges inside. ' +
      'Longitudes may run −360…360; edges are straight in lon/lat and go the short way when longer than 180°; ' +
      'a ring that winds once round the earth holds the pole of its mean latitude’s sign.',
    example: {
      type: 'Polygon',
      coordinates: [
        [
          [28.5, 40.8],
          [29.5, 40.8],
          [29.5, 41.3],
          [28.5, 41.3],
          [28.5, 40.8],
        ],
      ],
    },
  })
export type ZonePolygon = z.infer<typeof ZonePolygon>

/** The part of a zone that geometry reads. */
export type ZoneShape = {
  shape_type: 'circle' | 'polygon'
  lat: number
  lon: number
  radius_km: number
  polygon: ZonePolygon | null
}
