import { z } from 'zod'
import type { EventType } from '../../../shared/schemas/event.ts'
import {
  type Content,
  type FeedError,
  feedError,
  type Normalised,
  normaliseEach,
  reject,
  severityOfMagnitude,
  toEvent,
  toInstant,
} from '../feed.ts'
import { parseJson } from '../fetch.ts'

/** The most that anything but an earthquake gets: a quarry blast has a magnitude too. */
export const OTHER_CEILING = 20

const Feature = z.object({
  id: z.string().regex(/^\S+$/),
  properties: z.object({
    mag: z.number().nullish(),
    place: z.string().nullish(),
    time: z.number(),
    updated: z.number().nullish(),
    url: z.string().nullish(),
    title: z.string().nullish(),
    status: z.string().nullish(),
    type: z.string().nullish(),
    alert: z.string().nullish(),
    ids: z.string().nullish(),
  }),
  // The third coordinate is the depth in km; it may be negative or null.
  geometry: z.object({ coordinates: z.tuple([z.number(), z.number()], z.unknown()) }),
})
type Properties = z.infer<typeof Feature>['properties']

/** A summary or the answer of a search. */
export const Summary = z.object({
  metadata: z.object({ generated: z.number(), count: z.number().optional() }).optional(),
  features: z.array(z.unknown()),
})

/**
 * Turns a GeoJSON feature into an event, or returns why it cannot be one. A rejected feature is named by
 * its id, or else by its position.
 */
export function normaliseUsgs(feature: unknown, position = '#1'): Normalised {
  const read = Feature.safeParse(feature)
  if (!read.success) return reject(idOf(feature) ?? position, read.error)
  const { id, properties, geometry } = read.data
  const [lon, lat] = geometry.coordinates
  return toEvent(
    {
      id: `usgs:${id}`,
      source: 'usgs',
      type: eventType(properties.type),
      title: title(properties, lat, lon),
      lat,
      lon,
      ts: toInstant(properties.time),
      severity: severity(properties),
      status: properties.status?.toLowerCase() === 'deleted' ? 'retracted' : 'active',
      url: properties.url ?? null,
      magnitude: properties.mag ?? null,
      depth_km: depth(geometry.coordinates[2]),
      revised_at: properties.updated == null ? null : toInstant(properties.updated),
      aliases: (properties.ids ?? '')
        .split(',')
        .filter((alias) => /^\S+$/.test(alias))
        .map((alias) => `usgs:${alias}`),
    },
    id,
  )
}

/** Normalises a summary, the answer of a search, or a single event with its details. */
export function normaliseAnswer(text: string): Content {
  const json = parseJson(text)
  const summary = Summary.safeParse(json)
  if (summary.success) return normaliseEach(summary.data.features, normaliseUsgs)
  if (!Feature.safeParse(json).success) throw notGeoJson()
  return normaliseEach([json], normaliseUsgs)
}

export function notGeoJson(): FeedError {
  return feedError('not_json', 'answered with JSON that is not a FeatureCollection')
}

function idOf(feature: unknown): string | undefined {
  return z.object({ id: z.string() }).safeParse(feature).data?.id
}

/**
 * (mag − 1.5) × 17, rounded, within 0–100. PAGER's impact alerts raise it: yellow to at least 60, orange
 * to 80, red to 100. Everything but earthquakes (quarry blasts, explosions …) is at most 20.
 */
function severity({ mag, alert, type }: Properties): number {
  const by_magnitude = severityOfMagnitude(mag)
  const by_impact = { yellow: 60, orange: 80, red: 100 }[alert?.toLowerCase() ?? ''] ?? 0
  const cap = eventType(type) === 'earthquake' ? 100 : OTHER_CEILING
  return Math.min(Math.max(by_magnitude, by_impact, 0), cap)
}

function depth(third: unknown): number | null {
  return typeof third === 'number' && Number.isFinite(third) ? third : null
}

function eventType(type: string | null | undefined): EventType {
  // Very old answers carry no type; they hold earthquakes only.
  if (type == null || type === 'earthquake') return 'earthquake'
  return type.replace('_', ' ') === 'volcanic eruption' ? 'volcano' : 'other'
}

function title({ title, mag, place }: Properties, lat: number, lon: number): string {
  if (title && place) return title
  const where = place?.trim() || `${lat.toFixed(2)}, ${lon.toFixed(2)}`
  return `${mag == null ? 'Magnitude unknown' : `M ${mag.toFixed(1)}`} - ${where}`
}
