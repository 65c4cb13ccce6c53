import { z } from 'zod'
import type { EventType, Geometry, NormalisedEvent } from '../../../shared/schemas/event.ts'
import { type Rejected, reject, severityOfWind, toEvent, toSeverity } from '../feed.ts'
import { toFootprint } from './footprint.ts'
import { instantOfIso, instantOfRfc822 } from './times.ts'
import { childOf, textOf, type XmlElement } from './xml.ts'

const KNOTS_PER_KMH = 1 / 1.852
const LEVELS: Record<string, number> = { green: 20, orange: 60, red: 90 }
/** An alert that nobody has confirmed yet. */
const TEMPORARY_CEILING = 30

const TYPES: Record<string, EventType> = {
  EQ: 'earthquake',
  TC: 'storm',
  FL: 'flood',
  FF: 'flood',
  VO: 'volcano',
  DR: 'drought',
  WF: 'wildfire',
  TS: 'tsunami',
}

const Code = z.string().regex(/^[A-Z]{2,3}$/, 'must be a code such as EQ or TC')
/** Booleans are strings in both formats. */
const Flag = z
  .union([z.boolean(), z.string()])
  .nullish()
  .transform((flag) => (flag == null ? null : /^(true|1)$/i.test(String(flag).trim())))

/** What both formats say of an event. */
const Item = z.object({
  eventtype: Code,
  eventid: z
    .union([z.string(), z.number()])
    .transform(String)
    .pipe(z.string().regex(/^\d{1,20}$/, 'must be a number')),
  episodeid: z.union([z.string(), z.number()]).nullish(),
  title: z.string().min(1),
  alertlevel: z.string().nullish(),
  iscurrent: Flag,
  istemporary: Flag,
  fromdate: z.string(),
  todate: z.string(),
  datemodified: z.string().nullish(),
  lat: z.number(),
  lon: z.number(),
  value: z.number().nullish(),
  unit: z.string().nullish(),
  text: z.string().nullish(),
})
type Item = z.infer<typeof Item>

/** An event with what its footprint is asked for by: each episode has its own. */
export type Assessed = { event: NormalisedEvent; type: string; number: string; episode: string }
export type Assessment = Assessed | { rejected: Rejected }

/** Normalises an item of the RSS feed. */
export function normaliseItem(element: XmlElement, position: string): Assessment {
  const gdacs = (name: string) => textOf(element, `gdacs:${name}`) ?? textOf(element, name)
  const severity = childOf(element, 'gdacs:severity')
  const [lat, lon] = pointOf(element)
  return fromItem(
    {
      eventtype: gdacs('eventtype'),
      eventid: gdacs('eventid'),
      episodeid: gdacs('episodeid'),
      title: textOf(element, 'title'),
      alertlevel: gdacs('alertlevel'),
      iscurrent: gdacs('iscurrent'),
      istemporary: gdacs('temporary') ?? gdacs('istemporary'),
      fromdate: gdacs('fromdate'),
      todate: gdacs('todate'),
      datemodified: gdacs('datemodified'),
      lat,
      lon,
      value: toNumber(severity?.attributes.value),
      unit: severity?.attributes.unit,
      text: severity?.text,
    },
    textOf(element, 'guid') ?? position,
  )
}

const Feature = z.object({
  properties: z.looseObject({
    url: z.unknown().optional(),
    severitydata: z
      .object({
        severity: z.number().nullish(),
        severitytext: z.string().nullish(),
        severityunit: z.string().nullish(),
      })
      .nullish(),
  }),
  geometry: z.object({
    type: z.literal('Point', 'must be a Point'),
    coordinates: z.tuple([z.number(), z.number()], z.unknown()),
  }),
})

/** Normalises a feature of the event list, of an event or of an episode. */
export function normaliseFeature(
  feature: unknown,
  position: string,
  areas: unknown[] = [],
): Assessment {
  const read = Feature.safeParse(feature)
  if (!read.success) return reject(nameOf(feature) ?? position, read.error)
  const { properties, geometry } = read.data
  const { severitydata } = properties
  const footprint = areas.length > 0 ? toFootprint(areas) : null
  if (footprint && 'reason' in footprint) return reject(position, footprint.reason)
  return fromItem(
    {
      ...properties,
      title: firstText(properties.htmldescription, properties.description, properties.name),
      lon: geometry.coordinates[0],
      lat: geometry.coordinates[1],
      value: severitydata?.severity,
      unit: severitydata?.severityunit,
      text: severitydata?.severitytext,
    },
    nameOf(feature) ?? position,
    footprint?.geometry,
  )
}

/** The name of the event that a feature belongs to, such as `TC1000643`. */
export function nameOf(feature: unknown): string | undefined {
  const Named = z.object({
    properties: z.object({ eventtype: Code, eventid: z.union([z.string(), z.number()]) }),
  })
  const { data } = Named.safeParse(feature)
  return data && `${data.properties.eventtype}${data.properties.eventid}`
}

function fromItem(given: object, name: string, geometry: Geometry | null = null): Assessment {
  const read = Item.safeParse(given)
  if (!read.success) return reject(name, read.error)
  const item = read.data
  const { eventtype, eventid, lat, lon } = item
  const is_quake = eventtype === 'EQ'
  const event = toEvent(
    {
      id: `gdacs:${eventtype}${eventid}`,
      source: 'gdacs',
      type: TYPES[eventtype] ?? 'other',
      title: item.title.replace(/<[^>]*>/g, ' '),
      lat,
      lon,
      ts: timeOf(item),
      severity: severity(item),
      status: item.iscurrent === false ? 'ended' : 'active',
      // Without the episode, so that a new one is not a new address.
      url: `https://www.gdacs.org/report.aspx?eventtype=${eventtype}&eventid=${eventid}`,
      geometry,
      magnitude: is_quake && isUnit(item, 'm') ? item.value : null,
      depth_km: is_quake ? depth(item) : null,
      revised_at: item.datemodified ? toUtc(item.datemodified) : null,
    },
    name,
  )
  if ('rejected' in event) return event
  const episode = String(item.episodeid ?? '')
  return { ...event, type: eventtype, number: eventid, episode }
}

/**
 * When it happened; of what lasts, its latest state. The end of a drought that lasts is when the feed was
 * built, so only its day counts.
 */
function timeOf({ eventtype, fromdate, todate }: Item): string {
  if (eventtype === 'EQ' || eventtype === 'VO') return toUtc(fromdate)
  const time = toUtc(todate)
  return eventtype === 'DR' ? time.replace(/(?<=^\d{4}-\d\d-\d\d)T.*Z$/, 'T00:00:00.000Z') : time
}

function toUtc(text: string): string {
  const time = instantOfRfc822(text)
  return time === text ? instantOfIso(text, { local: 'utc' }) : time
}

function severity(item: Item): number {
  const by_level = LEVELS[item.alertlevel?.trim().toLowerCase() ?? ''] ?? 20
  const is_storm = item.eventtype === 'TC' && isUnit(item, 'km/h') && item.value != null
  const by_wind = is_storm ? severityOfWind((item.value ?? 0) * KNOTS_PER_KMH) : 0
  const cap = item.istemporary ? TEMPORARY_CEILING : 100
  return Math.min(toSeverity(Math.max(by_level, by_wind)), cap)
}

function isUnit({ unit }: Item, name: string): boolean {
  return unit?.trim().toLowerCase() === name
}

function depth({ text }: Item): number | null {
  const found = /depth:?\s*(-?\d+(?:\.\d+)?)\s*km/i.exec(text ?? '')
  return found ? Number(found[1]) : null
}

function pointOf(element: XmlElement): [number | undefined, number | undefined] {
  const point = childOf(element, 'geo:Point') ?? element
  const lat = textOf(point, 'geo:lat')
  const lon = textOf(point, 'geo:long')
  if (lat !== undefined || lon !== undefined) return [toNumber(lat), toNumber(lon)]
  const [first, second] = (textOf(element, 'georss:point') ?? '').split(/[\s,]+/)
  return [toNumber(first), toNumber(second)]
}

/** A number as text; undefined for none, NaN for other text, which no schema accepts. */
function toNumber(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  return /^[+-]?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN
}

function firstText(...texts: unknown[]): string | undefined {
  return texts.find((text): text is string => typeof text === 'string' && text.trim() !== '')
}
