import type { EventType, Geometry } from '../../../shared/schemas/event.ts'
import { type Normalised, reject, toEvent, toSeverity } from '../feed.ts'
import { brief, type CapAlert, type CapArea, type CapInfo } from './cap.ts'
import {
  circle,
  countVertices,
  type LonLat,
  MAX_VERTICES,
  representativePoint,
  toGeometry,
  toRing,
} from './geometry.ts'

const SEVERITIES: Record<string, number> = {
  extreme: 90,
  severe: 70,
  moderate: 50,
  minor: 30,
}
const UNKNOWN_SEVERITY = 20

/** The severity word, and 10 more if it is immediate and observed or likely. */
export function severityOfCap({
  severity,
  urgency,
  certainty,
}: Pick<CapInfo, 'severity' | 'urgency' | 'certainty'>): number {
  const base = SEVERITIES[severity.toLowerCase()] ?? UNKNOWN_SEVERITY
  const is_now =
    urgency.toLowerCase() === 'immediate' && /^(observed|(very )?likely)$/i.test(certainty)
  return toSeverity(base + (is_now ? 10 : 0))
}

/** Words of the name of an event, the first that is found decides. */
const WORDS: [words: RegExp, type: EventType][] = [
  [/tsunami/i, 'tsunami'],
  [/volcan|\bash ?fall/i, 'volcano'],
  [/earthquake|seismic/i, 'earthquake'],
  // Weather in which fires spread is no fire.
  [/red flag|fire weather|fire danger|forest-?fire/i, 'weather'],
  [/wild ?fire|bush ?fire|forest fire|\bfire warning/i, 'wildfire'],
  [/flood|hydrologic|storm surge|high water/i, 'flood'],
  [/storm|hurricane|typhoon|cyclone|tornado/i, 'storm'],
  [/drought/i, 'drought'],
]

/** The type of an event by its name in English, or else by its category. */
function typeOfCap({ event, categories }: Pick<CapInfo, 'event' | 'categories'>): EventType {
  const found = WORDS.find(([words]) => words.test(event))
  if (found) return found[1]
  if (categories.includes('Met')) return 'weather'
  return categories.includes('Fire') ? 'wildfire' : 'other'
}

/** Why an alert is no event by rule; null for one that is. Cancels pass: they end others. */
export function refuseCap({ status, msg_type }: CapAlert): string | null {
  if (status.toLowerCase() !== 'actual') return `status: "${brief(status)}" is not an actual alert`
  if (/^(alert|update|cancel)$/i.test(msg_type)) return null
  return `msgType: "${brief(msg_type)}" does not warn of anything`
}

/** The infos of one language: English, or else that of the first. */
export function infosOf({ infos }: CapAlert, prefer = 'en'): CapInfo[] {
  const language = ({ language }: CapInfo) => language.toLowerCase()
  const of = (wanted: string) =>
    infos.filter((info) => (language(info) || 'en-us').split('-')[0] === wanted)
  const preferred = of(prefer)
  if (preferred.length > 0) return preferred
  const [first] = infos
  return first ? infos.filter((info) => language(info) === language(first)) : []
}

/** Where an alert applies: its footprint, the point that stands for it, and what could not be read. */
export type Place = { point: LonLat | null; geometry: Geometry | null; problems: string[] }

/** The polygons and circles of areas; a circle becomes a polygon of 48 corners. */
export function placeOf(areas: readonly CapArea[]): Place {
  const problems: string[] = []
  const polygons: LonLat[][] = []
  const centres: LonLat[] = []
  for (const { polygons: rings, circles } of areas) {
    for (const text of rings) attempt('polygon', () => polygons.push(readPolygon(text)))
    for (const text of circles) attempt('circle', () => readCircle(text))
  }
  const unique = [...new Map(polygons.map((ring) => [JSON.stringify(ring), ring])).values()]
  const geometry = unique.length > 0 ? toGeometry(unique.map((ring) => [ring])) : pointsOf(centres)
  const point = geometry ? representativePoint(geometry) : (centres[0] ?? null)
  const count = geometry ? countVertices(geometry) : 0
  if (count <= MAX_VERTICES) return { point, geometry, problems }
  problems.push(
    `polygon: has ${count} positions, more than ${MAX_VERTICES}; only the point is kept`,
  )
  return { point, geometry: null, problems }

  function attempt(field: string, read: () => unknown): void {
    try {
      read()
    } catch (error) {
      problems.push(`${field}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  function readCircle(text: string): void {
    const [centre = '', radius = ''] = text.trim().split(/\s+/)
    const place = readPosition(centre)
    const radius_km = radius === '' ? 0 : Number(radius)
    if (!(radius_km >= 0)) throw new Error(`the radius "${brief(radius)}" is not a number of km`)
    const ring = radius_km > 0 ? circle(place, radius_km) : null
    if (ring) polygons.push(ring)
    else centres.push(place)
  }
}

/** Places of areas without an outline: points, and the one that stands for them. */
export function placeOfPoints(points: LonLat[], problems: string[] = []): Place {
  const geometry = pointsOf(points)
  const point = geometry ? representativePoint(geometry) : (points[0] ?? null)
  return { point, geometry, problems }
}

function pointsOf(centres: LonLat[]): Geometry | null {
  return centres.length > 1 ? { type: 'MultiPoint', coordinates: centres } : null
}

function readPolygon(text: string): LonLat[] {
  return toRing(text.trim().split(/\s+/).map(readPosition))
}

function readPosition(text: string): LonLat {
  const read = /^(-?\d+(?:\.\d*)?),(-?\d+(?:\.\d*)?)$/.exec(text)
  if (!read) throw new Error(`"${brief(text)}" is not a latitude and a longitude`)
  const [lat, lon] = [Number(read[1]), Number(read[2])]
  if (Math.abs(lat) > 90 || Math.abs(lon) > 180)
    throw new Error(`"${brief(text)}" is not a place on Earth`)
  return [lon, lat]
}

/** The codes of areas as an error names them. */
export function codesOf(areas: readonly CapArea[]): string {
  const codes = areas.flatMap(({ geocodes }) => geocodes.map(([name, value]) => `${name} ${value}`))
  const unique = [...new Set(codes)]
  if (unique.length === 0) return 'no codes'
  return unique.length > 5
    ? `${unique.slice(0, 5).join(', ')} and ${unique.length - 5} more`
    : unique.join(', ')
}

type CapMapping = {
  source: string
  /** The id of the event. */
  id: string
  /** Without it, the polygons and circles of the alert. */
  place?: Place
  severity?: number
  type?: EventType
  subject?: string | null
  url?: string | null
  /** When the hazard ends, where the feed says it apart from `expires`. */
  ends_at?: string
  /** How long an alert stands that says no end. */
  default_hours?: number
}

/**
 * Maps an alert onto an event; beside it, as rejected, the parts of its area that could not be read. An alert
 * whose infos all say "AllClear" is ended.
 */
export function capEvent(alert: CapAlert, mapping: CapMapping): Normalised[] {
  const infos = infosOf(alert)
  const item = alert.identifier
  const [worst] = infos.toSorted((a, b) => severityOfCap(b) - severityOfCap(a))
  if (!worst) return [reject(item, 'info: is missing')]
  const areas = infos.flatMap((info) => info.areas)
  const place = mapping.place ?? placeOf(areas)
  const notes = place.problems.map((problem) => reject(item, problem))
  if (!place.point) {
    return [...notes, reject(item, `no-geometry: no polygon and no circle; ${codesOf(areas)}`)]
  }
  const starts = infos.map(({ onset, effective }) => onset ?? effective ?? alert.sent)
  const ts = starts.toSorted()[0] ?? alert.sent
  const [lon, lat] = place.point
  const event = toEvent(
    {
      id: mapping.id,
      source: mapping.source,
      type: mapping.type ?? typeOfCap(worst),
      title: titleOf(worst),
      lat,
      lon,
      ts,
      severity: mapping.severity ?? severityOfCap(worst),
      subject: mapping.subject ?? null,
      status: infos.every(({ responses }) => responses.includes('AllClear')) ? 'ended' : 'active',
      url: mapping.url === undefined ? worst.web : mapping.url,
      geometry: place.geometry,
      ends_at: mapping.ends_at ?? endOf(infos, ts) ?? hoursAfter(ts, mapping.default_hours),
      revised_at: alert.sent,
    },
    item,
  )
  return [event, ...notes]
}

/** The latest `expires`; null if there is none or if the message lapses before the hazard begins. */
function endOf(infos: readonly CapInfo[], ts: string): string | null {
  const ends = infos.flatMap(({ expires }) => expires ?? [])
  const latest = ends.toSorted().at(-1)
  return latest !== undefined && latest > ts ? latest : null
}

function titleOf({ headline, event, areas }: CapInfo): string {
  if (headline !== '') return headline
  const where = areas.flatMap(({ description }) => description || []).join('; ')
  return [event || 'Alert', where].filter((text) => text !== '').join(' - ')
}

function hoursAfter(time: string, hours: number | undefined): string | null {
  return hours === undefined ? null : new Date(Date.parse(time) + hours * 3_600_000).toISOString()
}
