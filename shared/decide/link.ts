/** Whether events of two sources report the same thing: one rule for each kind of thing. In doubt they do not. */
import { z } from 'zod'
import { distance_km, prepareZone, touchesGeometry } from '../geometry/geometry.ts'
import type { Geometry, NormalisedEvent } from '../schemas/event.ts'
import { Instant } from '../time.ts'
import { stormName } from './storm-name.ts'

export const LINK_RULES = ['earthquake', 'storm', 'wildfire', 'tsunami'] as const
export type LinkRule = (typeof LINK_RULES)[number]

/** The sources of each rule; a rule never links two events of one source. */
const SOURCES: Record<LinkRule, readonly string[]> = {
  earthquake: ['usgs', 'emsc', 'geonet', 'gdacs'],
  storm: ['nhc', 'gdacs', 'eonet'],
  wildfire: ['firms', 'eonet'],
  tsunami: ['tsunami', 'nws'],
}

/** The fields of an event that the rules depend on. */
export type LinkableEvent = Pick<
  NormalisedEvent,
  | 'id'
  | 'source'
  | 'type'
  | 'title'
  | 'lat'
  | 'lon'
  | 'ts'
  | 'subject'
  | 'geometry'
  | 'magnitude'
  | 'depth_km'
>

/** What is compared of an event. */
export const LinkFacts = z.object({
  id: z.string(),
  source: z.string(),
  lat: z.number(),
  lon: z.number(),
  ts: Instant,
  magnitude: z.number().nullable(),
  depth_km: z.number().nullable(),
  /** The name of a storm, or the centre that warns of a tsunami. */
  name: z.string().nullable(),
  /** Of a fire: a closed ring about it, or the places where it was seen. */
  outline: z.array(z.tuple([z.number(), z.number()])).nullable(),
})
export type LinkFacts = z.infer<typeof LinkFacts>

export const Link = z
  .object({
    event_id: z.string().meta({ description: 'The event that it was compared with.' }),
    rule: z.enum(LINK_RULES),
    seconds_apart: z.number(),
    distance_km: z.number(),
    magnitude_apart: z.number().nullable().meta({ description: 'Of earthquakes.' }),
    name: z.string().nullable().meta({
      description: 'The name of the storm, or the centre that warns of the tsunami.',
    }),
  })
  .meta({
    id: 'Link',
    description: 'Why events of two sources are taken to be the same, with the numbers.',
  })
export type Link = z.infer<typeof Link>

const MAX_OUTLINE = 40

/** The rule for an event; null for what only one source reports, and for events of one's own. */
export function linkRuleOf({
  source,
  type,
}: Pick<LinkableEvent, 'source' | 'type'>): LinkRule | null {
  const rule = LINK_RULES.find((name) => name === type)
  return rule && SOURCES[rule].includes(source) ? rule : null
}

export function linkFactsOf(event: LinkableEvent): LinkFacts {
  const { id, source, lat, lon, ts, geometry } = event
  const rule = linkRuleOf(event)
  return {
    ...{ id, source, lat, lon, ts },
    magnitude: event.magnitude ?? null,
    depth_km: event.depth_km ?? null,
    name: rule === 'storm' ? stormName(event.title) : rule === 'tsunami' ? centreOf(event) : null,
    outline: rule === 'wildfire' ? outlineOf(geometry) : null,
  }
}

/** The centre in `vtec:PAAQ.TS.W.0001` and in `tsunami:PAAQ-lqw6d6`. */
function centreOf({ id, subject }: LinkableEvent): string | null {
  const found = /^vtec:([A-Z]{4})\.TS\./.exec(subject ?? '') ?? /^tsunami:([A-Z]{4})-/.exec(id)
  return found?.[1] ?? null
}

/** The first ring of a footprint, or its points; of many positions every second, third … one. */
function outlineOf(geometry: Geometry | null): LinkFacts['outline'] {
  const positions =
    geometry?.type === 'Polygon'
      ? geometry.coordinates[0]
      : geometry?.type === 'MultiPoint'
        ? geometry.coordinates
        : undefined
  if (!positions) return null
  const step = Math.ceil(positions.length / MAX_OUTLINE)
  const last = positions.length - 1
  return positions
    .filter((_, index) => index % step === 0 || index === last)
    .map(([lon = 0, lat = 0]) => [lon, lat])
}

/** Why two events are the same, with how far apart they are: 0 is identical, 1 the limit of the rule in every respect. */
export type Sameness = { link: Link; apart: number }

/**
 * Compares an event with one of another source; null: they are not the same. With `slack` every limit is so many times
 * wider.
 */
export function compareEvents(
  rule: LinkRule,
  event: LinkFacts,
  other: LinkFacts,
  slack = 1,
): Sameness | null {
  if (event.source === other.source) return null
  const seconds_apart = Math.abs(Date.parse(event.ts) - Date.parse(other.ts)) / 1000
  const distance = distance_km(event, other)
  const apart = RULES[rule]({ event, other, seconds_apart, distance, slack })
  if (apart === null) return null
  const isQuake = rule === 'earthquake'
  const link = {
    event_id: other.id,
    rule,
    seconds_apart: rounded(seconds_apart),
    distance_km: rounded(distance),
    magnitude_apart: isQuake ? rounded(magnitudeApart(event, other) ?? 0) : null,
    name: event.name,
  }
  return { link, apart }
}

const rounded = (value: number) => Math.round(value * 100) / 100

type Compared = {
  event: LinkFacts
  other: LinkFacts
  seconds_apart: number
  distance: number
  slack: number
}

const RULES: Record<LinkRule, (compared: Compared) => number | null> = {
  earthquake: sameQuake,
  storm: sameStorm,
  wildfire: sameFire,
  tsunami: sameTsunami,
}

/** The mean of what is apart, each in parts of its limit; null if one exceeds it. */
function within(slack: number, parts: [value: number, limit: number][]): number | null {
  if (parts.some(([value, limit]) => value > limit * slack + 1e-6)) return null
  return parts.reduce((sum, [value, limit]) => sum + value / (limit * slack), 0) / parts.length
}

function magnitudeApart(a: LinkFacts, b: LinkFacts): number | null {
  return a.magnitude === null || b.magnitude === null ? null : Math.abs(a.magnitude - b.magnitude)
}

/**
 * A quake that is misplaced is also mistimed, by as long as its waves need: 6 km/s along the surface, 8 km/s from the
 * depth. What happens seconds later at the same place is another quake. Of great quakes the early magnitudes
 * differ by more, and the place of a rupture of 200 km is less certain.
 */
function sameQuake({ event, other, seconds_apart, distance, slack }: Compared): number | null {
  const apart = magnitudeApart(event, other)
  if (apart === null) return null
  const largest = Math.max(event.magnitude ?? 0, other.magnitude ?? 0)
  const beyond = (magnitude: number) => Math.max(0, largest - magnitude)
  const deeper =
    event.depth_km === null || other.depth_km === null
      ? 0
      : Math.abs(event.depth_km - other.depth_km)
  // Small ones come in swarms, and local networks time them to a tenth of a second.
  const timed = 1 + 4 * Math.min(beyond(3.5), 1) + 5 * Math.min(beyond(6), 2)
  const seconds = timed + distance / 6 + deeper / 8
  return within(slack, [
    [seconds_apart, Math.min(seconds, 30)],
    [distance, 100 + 50 * Math.min(beyond(7), 2)],
    [apart, Math.min(0.5 + 0.25 * beyond(5.5), 1.5)],
  ])
}

/** The same name at nearly the same time, as far apart as a storm moves: a name comes again in other years and oceans. */
function sameStorm({ event, other, seconds_apart, distance, slack }: Compared): number | null {
  if (event.name === null || event.name !== other.name) return null
  const hours = seconds_apart / 3600
  return within(slack, [
    [hours, 48],
    [distance, 200 + 40 * hours],
  ])
}

/** The place that EONET names lies in what the satellites saw, or within 2 km, from 2 days before its report to 7 days after. */
function sameFire({ event, other, slack }: Compared): number | null {
  const [report, seen] = event.source === 'firms' ? [other, event] : [event, other]
  const days = (Date.parse(seen.ts) - Date.parse(report.ts)) / 86_400_000
  if (days < -2 * slack || days > 7 * slack) return null
  const reach = prepareZone({
    ...{ shape_type: 'circle', lat: report.lat, lon: report.lon, radius_km: 2 * slack },
    polygon: null,
  })
  if (!touchesGeometry(reach, seenShape(seen))) return null
  return Math.min(1, (Math.abs(days) / 7 + distance_km(report, seen) / 20) / 2)
}

function seenShape({ lat, lon, outline }: LinkFacts): Geometry {
  const positions = outline ?? [[lon, lat]]
  const [first, last] = [positions[0], positions.at(-1)]
  const isRing = positions.length > 3 && first?.[0] === last?.[0] && first?.[1] === last?.[1]
  return isRing
    ? { type: 'Polygon', coordinates: [positions] }
    : { type: 'MultiPoint', coordinates: positions }
}

/** A warning of the same centre that begins within 3 hours of the earthquake. It applies to coasts, wherever those are. */
function sameTsunami({ event, other, seconds_apart, slack }: Compared): number | null {
  if (event.name === null || event.name !== other.name) return null
  const [warning, bulletin] = event.source === 'nws' ? [event, other] : [other, event]
  if (warning.ts < bulletin.ts) return null
  return within(slack, [[seconds_apart / 3600, 3]])
}

const HOUR_MS = 3_600_000

/**
 * The keys under which a zone remembers events that this one may be linked with; the first is that of a new group.
 * They divide time or space, so that each has few.
 */
export function linkKeys(rule: LinkRule, { ts, lat, lon }: LinkFacts): [string, ...string[]] {
  const time = Date.parse(ts)
  switch (rule) {
    case 'earthquake':
      return around(rule, time, 60_000, HOUR_MS)
    case 'tsunami':
      return around(rule, time, 3 * HOUR_MS, 24 * HOUR_MS)
    case 'storm':
      return [`link:${rule}`]
    case 'wildfire': {
      const reach = Math.min(0.25 / Math.max(Math.cos((lat * Math.PI) / 180), 1e-6), 1)
      const cell = (north: number, east: number) =>
        `link:${rule}:${Math.floor(north)}:${Math.floor(((east + 540) % 360) - 180)}`
      const rows = [lat, lat - 0.25, lat + 0.25]
      const columns = [lon, lon - reach, lon + reach]
      return distinct(rows.flatMap((north) => columns.map((east) => cell(north, east))))
    }
  }
}

function around(rule: LinkRule, time: number, reach_ms: number, span_ms: number) {
  const times = [time, time - reach_ms, time + reach_ms]
  return distinct(times.map((at) => `link:${rule}:${Math.floor(at / span_ms)}`))
}

function distinct(keys: string[]): [string, ...string[]] {
  const [first = '', ...rest] = new Set(keys)
  return [first, ...rest]
}
