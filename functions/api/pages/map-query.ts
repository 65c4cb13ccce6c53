import { z } from 'zod'
import { EVENT_TYPES, EventType } from '../../../shared/schemas/event.ts'
import { QueryInstant } from '../../../shared/time.ts'

/** The width of a tile of a map in pixels. */
const TILE_PX = 512
const LON = '-?(180|(1[0-7]\\d|\\d{1,2})(\\.\\d{1,15})?)'
const LAT = '-?(90|[1-8]?\\d(\\.\\d{1,15})?)'
const TYPE = EVENT_TYPES.join('|')
const BBOX = 'Must be west,south,east,north in degrees, as in -10,35,30,60.'
const Box = z
  .string()
  .transform((text) =>
    text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part))),
  )
  .refine(
    ([west, south, east, north, ...rest]) =>
      rest.length === 0 &&
      isWithin(west, 180) &&
      isWithin(south, 90) &&
      isWithin(east, 180) &&
      isWithin(north, 90),
    { message: BBOX, abort: true },
  )
  // safe: tested above
  .transform((given) => given as [west: number, south: number, east: number, north: number])
  .refine(([, south, , north]) => south <= north, 'south must not be greater than north.')
  .meta({
    type: 'string',
    pattern: `^${LON},${LAT},${LON},${LAT}$`,
    description:
      'west,south,east,north in degrees. West greater than east crosses the antimeridian. Default: the whole earth.',
    example: '-10,35,30,60',
  })

/** What of the world and of time a map shows. */
export const MapQuery = z.strictObject({
  bbox: Box.optional(),
  from: QueryInstant.optional().meta({
    description: 'Only events from this time on, by `ts`. Default: 24 hours before `to`.',
  }),
  to: QueryInstant.optional().meta({
    description: 'Only events before this time, by `ts`. Default: now.',
  }),
  zoom: z.coerce.number().min(0).max(22).optional().meta({
    type: 'number',
    minimum: 0,
    maximum: 22,
    description:
      'The zoom of the map, as tile maps have it; says how large clusters are. Default: as the width of `bbox` needs.',
  }),
  types: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(EventType))
    .optional()
    .meta({
      type: 'string',
      pattern: `^(${TYPE})(,(${TYPE}))*$`,
      description: 'Only events of these types, separated by commas.',
      example: 'storm,flood',
    }),
  min_severity: z.coerce.number().min(0).max(100).optional().meta({
    type: 'number',
    minimum: 0,
    maximum: 100,
    description: 'Only events of at least this severity.',
  }),
})

/** The whole earth. */
export const WORLD: Bbox = [-180, -90, 180, 90]

export type Bbox = [west: number, south: number, east: number, north: number]

/** As an array of Postgres boxes: two where it crosses the antimeridian. */
export function boxesOf([west, south, east, north]: Bbox): string {
  const box = (from: number, to: number) => `(${to},${north}),(${from},${south})`
  return west <= east ? `{${box(west, east)}}` : `{${box(west, 180)};${box(-180, east)}}`
}

/** What filters of a map are in SQL: null where all are asked for. */
export function filterOf({
  types,
  min_severity,
}: Pick<z.output<typeof MapQuery>, 'types' | 'min_severity'>) {
  return {
    types: types ?? null,
    min_severity: min_severity === undefined ? null : Math.ceil(min_severity),
  }
}

/** The width of a pixel of a map in degrees of longitude; 0 without a zoom. */
export function pixelAt(zoom: number | undefined): number {
  return zoom === undefined ? 0 : 360 / (TILE_PX * 2 ** zoom)
}

function isWithin(value: number | undefined, limit: number): boolean {
  return value !== undefined && Math.abs(value) <= limit
}
