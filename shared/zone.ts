/** The watch zone on the wire, its defaults, and the rules that span several of its fields. */
import { z } from 'zod'
import { EventType } from './event.ts'
import { containsPoint, prepareZone } from './geometry/geometry.ts'
import { ZonePolygon } from './geometry/polygon.ts'
import { findCrossing, isFlat, ringArea_km2, toRing } from './geometry/ring.ts'
import { atOnce, type Steps } from './geometry/work.ts'
import { Instant } from './time.ts'

const MAX_VERTICES = 10_000
/**
 * Pairs of edges that a shape may need compared: 100 times what 10,000 vertices drawn from a map
 * need, and as much as 2,000 edges that all run side by side.
 */
export const MOST_PAIRS = 2_000_000
/** Below this a shape is a line or a point, whatever rounding says. */
const MIN_AREA_KM2 = 1e-6
const TRACKED_TYPES: readonly string[] = ['vessel', 'aircraft']

const Threshold = z.number().min(0).max(100)
const ClockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'is a time of day, HH:MM')

/** Every field a caller can set, as it is stored: nothing missing, null where there is nothing. */
export const ZoneFields = z.object({
  label: z
    .string()
    .min(1)
    .max(120)
    .regex(/^[^\p{Cc}]*$/u, 'has no control characters')
    .regex(/\S/u, 'is not blank')
    .meta({
      description: 'The name people see, 1–120 characters, not blank.',
      pattern: '^[^\\p{Cc}]*[^\\p{Cc}\\s][^\\p{Cc}]*$',
      example: 'Bosphorus',
    }),
  lat: z.number().min(-90).max(90).meta({
    description: 'Latitude in degrees: the centre; for a polygon only where the label stands.',
    example: 41.05,
  }),
  lon: z.number().min(-180).max(180).meta({
    description: 'Longitude in degrees: the centre; for a polygon only where the label stands.',
    example: 29.03,
  }),
  radius_km: z
    .number()
    .min(0.1)
    .max(5000)
    .meta({ description: 'Radius of a circle in kilometres. Default 50.', example: 50 }),
  shape_type: z.enum(['circle', 'polygon']).meta({
    description: 'Default `polygon` when a polygon is given, else `circle`.',
    example: 'circle',
  }),
  // Lazy, because the OpenAPI generator forgets the null of a named union otherwise.
  polygon: z.lazy(() => ZonePolygon).nullable(),
  match: z.enum(['point', 'footprint']).meta({
    description:
      '`point`: the event’s point is inside; `footprint`: also when its geometry touches the zone. Default `footprint`.',
    example: 'footprint',
  }),
  min_severity: Threshold.meta({
    description:
      'An event counts when severity × severity_multiplier (unrounded, at most 100) reaches this. ' +
      'Default 40; 0 when `types` names only vessel or aircraft.',
    example: 40,
  }),
  severity_multiplier: z
    .number()
    .min(0.1)
    .max(5)
    .meta({ description: 'Multiplies every event’s severity. Default 1.', example: 1 }),
  dwell_minutes: z.number().min(0).max(10_080).meta({
    description:
      'How long a moving subject (`mmsi:`, `icao24:`) must have stayed inside. Default 0. Other events pass.',
    example: 0,
  }),
  quiet_hours_start: ClockTime.nullable().meta({
    description: 'HH:MM; both or neither, may cross midnight, start = end means off.',
    example: '22:00',
  }),
  quiet_hours_end: ClockTime.nullable().meta({
    description: 'HH:MM; the first minute that is no longer quiet.',
    example: '07:00',
  }),
  quiet_hours_tz: z.string().min(1).max(64).meta({
    description: 'IANA time zone of the quiet hours. Default `UTC`.',
    example: 'Europe/Istanbul',
  }),
  quiet_mode: z.enum(['hold', 'drop']).meta({
    description:
      '`hold`: recorded, one digest at the window’s end; `drop`: recorded as suppressed. Default `hold`.',
    example: 'hold',
  }),
  emergency_severity: Threshold.nullable().meta({
    description:
      'An effective severity at or above this passes quiet hours, never snooze, dwell or the threshold.',
    example: 90,
  }),
  color: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'is a colour, #rrggbb')
    .toLowerCase()
    .nullable()
    .meta({ example: '#d9480f' }),
  icon: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/, 'is 1–32 of a–z, 0–9 and -')
    .nullable()
    .meta({ example: 'anchor' }),
  org_id: z.uuid().nullable().meta({
    description: 'Shares the zone with an organisation the caller belongs to.',
    example: null,
  }),
  channel_ids: z.array(z.uuid()).max(100).nullable().meta({
    description:
      'Where its alerts go; `[]` nowhere; null: every enabled channel of the owner and of the organisation.',
    example: null,
  }),
  sources: z
    .array(
      z
        .string()
        .regex(/^[a-z][a-z0-9-]*$/, 'is the name of a source')
        .max(64),
    )
    .min(1)
    .max(100)
    .nullable()
    .meta({ description: 'Only events of these sources; null = all.', example: ['usgs'] }),
  types: z
    .array(EventType)
    .min(1)
    .max(100)
    .nullable()
    .meta({
      description: 'Only events of these types; null = all.',
      example: ['earthquake'],
    }),
  snoozed_until: Instant.nullable().meta({
    description: 'No alert goes out before this time.',
    example: null,
  }),
  enabled: z.boolean().meta({ description: 'Default true.', example: true }),
})
export type ZoneFields = z.infer<typeof ZoneFields>

/** Body of an update: an absent field is unchanged, null clears where a zone can be without. */
export const ZonePatch = z.strictObject(ZoneFields.partial().shape).meta({
  id: 'ZonePatch',
  description: 'An absent field is unchanged; null clears.',
})
export type ZonePatch = z.infer<typeof ZonePatch>

/** Body of a create; what is absent gets its default from {@link zoneDefaults}. */
export const ZoneCreate = ZonePatch.required({ label: true, lat: true, lon: true }).meta({
  id: 'ZoneCreate',
  description: 'A new zone. What is absent gets its default.',
})
export type ZoneCreate = z.infer<typeof ZoneCreate>

/** A zone as the API answers it. */
export const Zone = ZoneFields.extend({
  id: z.uuid(),
  owner_id: z.uuid(),
  version: z.int().min(1).meta({ description: 'Goes up by one with every change.', example: 1 }),
  created_at: Instant,
  updated_at: Instant,
  coverage: z
    .array(z.object({ source: z.string(), status: z.enum(['ok', 'stale', 'down', 'disabled']) }))
    .meta({
      description: 'The sources this zone listens to, and whether they can be heard.',
      example: [{ source: 'usgs', status: 'ok' }],
    }),
}).meta({ id: 'Zone', description: 'A watch zone.' })
export type Zone = z.infer<typeof Zone>

/** `zoneDefaults` fills what a create left out. Never used on update. */
export function zoneDefaults(input: ZoneCreate): ZoneFields {
  const tracksOnly = input.types?.every((type) => TRACKED_TYPES.includes(type)) ?? false
  const defaults = {
    radius_km: 50,
    shape_type: input.polygon ? 'polygon' : 'circle',
    polygon: null,
    match: 'footprint',
    min_severity: tracksOnly ? 0 : 40,
    severity_multiplier: 1,
    dwell_minutes: 0,
    quiet_hours_start: null,
    quiet_hours_end: null,
    quiet_hours_tz: 'UTC',
    quiet_mode: 'hold',
    emergency_severity: null,
    color: null,
    icon: null,
    org_id: null,
    channel_ids: null,
    sources: null,
    types: null,
    snoozed_until: null,
    enabled: true,
  } as const
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  // safe: defaults and input together name every field, and both are typed.
  return { ...defaults, ...Object.fromEntries(given) } as ZoneFields
}

/** One thing wrong with a request: where (`polygon.coordinates.0`), a stable word, and what to do next. */
export interface Issue {
  path: string
  code: string
  message: string
}

/** `checkZone` tests the rules across fields on the whole zone: after defaults on create, after merging on update. */
export function checkZone(fields: ZoneFields): Issue[] {
  const issues = checkFields(fields)
  if (!fields.polygon) return issues
  const inShape = checkShape(fields.polygon)
  return [...issues, ...(inShape.length > 0 ? inShape : checkSwapped(fields.polygon, fields))]
}

/** `checkShape` is what `checkZone` says of a polygon itself, and all of it that can take long. */
export function checkShape(polygon: ZonePolygon): Issue[] {
  return atOnce(checkShapeInSteps(polygon))
}

/** `checkFields` is what `checkZone` says of everything but its polygon. */
export function checkFields(fields: ZoneFields): Issue[] {
  const issues: Issue[] = []
  const { quiet_hours_start: start, quiet_hours_end: end, quiet_hours_tz: tz } = fields
  if ((start === null) !== (end === null)) {
    issues.push({
      path: start === null ? 'quiet_hours_start' : 'quiet_hours_end',
      code: 'required',
      message: `Quiet hours need both times: send quiet_hours_${start === null ? 'start' : 'end'} too, or null for both.`,
    })
  }
  if (!isTimeZone(tz)) {
    issues.push({
      path: 'quiet_hours_tz',
      code: 'unknown_time_zone',
      message: `"${tz}" is not a known time zone: send an IANA name such as "Europe/Berlin" or "UTC".`,
    })
  }
  if (fields.shape_type === 'polygon' && fields.polygon === null) {
    issues.push({
      path: 'polygon',
      code: 'required',
      message: 'A polygon zone needs its polygon: send one, or shape_type "circle".',
    })
  }
  return issues
}

/** An IANA name that this runtime knows; offsets such as +02:00 are no names. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** `checkShapeInSteps` is `checkShape` for who must not be kept: its worst takes about 0.1 s. */
export function* checkShapeInSteps(polygon: ZonePolygon): Steps<Issue[]> {
  const single = polygon.type === 'Polygon'
  const polygons = single ? [polygon.coordinates] : polygon.coordinates
  const rings = polygons.flatMap((part, p) =>
    part.map((ring, r) => ({ ring, path: `polygon.coordinates.${single ? r : `${p}.${r}`}` })),
  )
  const vertices = rings.reduce((sum, { ring }) => sum + ring.length, 0)
  if (vertices > MAX_VERTICES) {
    return [
      {
        path: 'polygon',
        code: 'too_many_vertices',
        message: `The polygon has ${vertices} vertices, the limit is ${MAX_VERTICES}: simplify it.`,
      },
    ]
  }
  const work = { pairs: 0 }
  const issues: Issue[] = []
  for (const { ring, path } of rings) {
    const issue = yield* checkRing(ring, path, work)
    if (issue) issues.push(issue)
  }
  return issues
}

/** `checkSwapped` says whether the label lies in the polygon only with its coordinates swapped. */
export function checkSwapped(polygon: ZonePolygon, label: { lat: number; lon: number }): Issue[] {
  const shape = prepareZone({ ...label, radius_km: 0, shape_type: 'polygon', polygon })
  const { lat, lon } = label
  const isSwapped =
    Math.abs(lon) <= 90 &&
    !containsPoint(shape, lat, lon).inside &&
    containsPoint(shape, lon, lat).inside
  if (!isSwapped) return []
  return [
    {
      path: 'polygon',
      code: 'swapped_coordinates',
      message: `(lat ${lat}, lon ${lon}) lies outside the polygon but inside it with the two swapped: GeoJSON positions are (lon, lat).`,
    },
  ]
}

/** The first thing wrong with a ring; what comes after it would only be a consequence. */
function* checkRing(
  positions: number[][],
  path: string,
  work: { pairs: number },
): Steps<Issue | null> {
  for (const [index, [lon = 0, lat = 0]] of positions.entries()) {
    if (Math.abs(lat) > 90) {
      return {
        path: `${path}.${index}`,
        code: 'latitude_out_of_range',
        message: `Latitude ${lat} is beyond ±90: positions are (lon, lat), are they swapped?`,
      }
    }
    if (Math.abs(lon) > 360) {
      return {
        path: `${path}.${index}`,
        code: 'longitude_out_of_range',
        message: `Longitude ${lon} is beyond ±360: move the shape by whole turns.`,
      }
    }
  }
  const [first, last] = [positions[0], positions.at(-1)]
  const isClosed =
    first?.[0] !== undefined &&
    last?.[0] !== undefined &&
    first[1] === last[1] &&
    (last[0] - first[0]) % 360 === 0
  if (!isClosed) {
    return {
      path,
      code: 'open_ring',
      message: 'The ring is open: repeat its first position as its last.',
    }
  }
  const ring = toRing(positions)
  const noArea: Issue = {
    path,
    code: 'no_area',
    message:
      'The ring encloses no area: give at least three corners that are not in line. An edge longer than 180° goes the short way; put vertices in between.',
  }
  if (ring.winding === 0 && isFlat(ring)) return noArea
  // What winds round the earth more than once crosses itself somewhere.
  // What it takes to lay out and index the ring, before any pair is compared.
  yield 40 + 10 * positions.length
  const search = findCrossing(ring)
  let step = search.next()
  for (; !step.done; step = search.next()) {
    work.pairs += step.value
    if (work.pairs > MOST_PAIRS) return tangled(path)
    yield step.value
  }
  const crossing = step.value
  if (crossing) {
    const where = `(lon ${round(crossing[0])}, lat ${round(crossing[1])})`
    return {
      path,
      code: 'self_crossing_ring',
      message: `The ring crosses or overlaps itself near ${where}: draw each outline once, and holes as rings of their own.`,
    }
  }
  return ringArea_km2(ring) < MIN_AREA_KM2 ? noArea : null
}

const tangled = (path: string): Issue => ({
  path,
  code: 'too_tangled',
  message:
    'Too many long edges run side by side for all to be compared: send fewer than 2,000 of them, or make several zones.',
})

const round = (degrees: number) => Math.round(degrees * 1e5) / 1e5
