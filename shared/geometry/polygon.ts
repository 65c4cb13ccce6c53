/** The shapes of zones, in the form of the API. */
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
      'A GeoJSON Polygon or MultiPolygon of (lon, lat) positions with at most 10,000 vertices. Holes are honoured, and ' +
      'points on an edge are inside. Longitudes may range from −360 to 360. Edges are straight in lon/lat and take the ' +
      'short way round when longer than 180°. A ring that winds once round the earth contains the pole on its side.',
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

const Feature = z.looseObject({ type: z.literal('Feature'), geometry: ZonePolygon })

/** A polygon as a caller may send it: by itself or in a Feature, as drawing tools export it. */
export const GivenPolygon = z
  .discriminatedUnion('type', [
    ...ZonePolygon.options,
    Feature,
    z.looseObject({
      type: z.literal('FeatureCollection'),
      features: z
        .array(Feature)
        .length(1, 'A zone has one shape: send one feature, or a MultiPolygon of all its parts.'),
    }),
  ])
  .meta({
    id: 'GivenPolygon',
    description:
      'A GeoJSON Polygon or MultiPolygon (see ZonePolygon), or a Feature or a FeatureCollection of one, of which ' +
      'only the geometry is kept.',
  })
  .transform((given): ZonePolygon => {
    if (given.type === 'Feature') return given.geometry
    if (given.type === 'FeatureCollection')
      return (given.features[0] as z.infer<typeof Feature>).geometry // safe: its length is 1
    return given
  })

/** The fields of a zone that describe its shape. */
export type ZoneShape = {
  shape_type: 'circle' | 'polygon'
  lat: number
  lon: number
  radius_km: number
  polygon: ZonePolygon | null
}
