import { type BANDS, bandOf } from '../../shared/decide/bands.ts'
import type { Alert } from '../../shared/schemas/alert.ts'
import type { EventType, Geometry } from '../../shared/schemas/event.ts'
import { type XmlValue, xmlOf } from './xml.ts'
import { headlineOf, linesOf, pageOf } from './zone-feed.ts'

export const CAP_TYPE = 'application/cap+xml'

/**
 * Of a zone that a user drew, never `Actual`: a receiver that relays warnings must not take it for one of
 * an authority. `Test` is what every receiver disregards.
 */
const STATUS = 'Test'
const NOTE =
  'Watchpost computed this from public data for a zone that one of its users drew. It is not a warning from an authority, ' +
  'which is why its status is Test. The source says more: see web.'
const RESTRICTION = 'For those who may see this zone.'

const CATEGORIES: Record<EventType, string> = {
  earthquake: 'Geo',
  volcano: 'Geo',
  tsunami: 'Geo',
  wildfire: 'Fire',
  storm: 'Met',
  flood: 'Met',
  weather: 'Met',
  drought: 'Env',
  vessel: 'Transport',
  aircraft: 'Transport',
  conflict: 'Security',
  other: 'Other',
}

/** What a source reports once it is there; the others may be forecasts. */
const OBSERVED: EventType[] = ['earthquake', 'volcano', 'vessel', 'aircraft', 'wildfire']

const SEVERITIES: Record<(typeof BANDS)[number], string> = {
  minor: 'Minor',
  low: 'Minor',
  moderate: 'Moderate',
  severe: 'Severe',
  extreme: 'Extreme',
}

/**
 * An alert as a message of the Common Alerting Protocol 1.2. Each update is a message of its own, whose
 * references name those before it. The order of the elements is that of the schema.
 */
export function capOf(
  alert: Alert,
  { geometry, public_url }: { geometry: Geometry | null; public_url: string },
): string {
  const sender = new URL(public_url).hostname
  const { updates, current } = alert
  const times = [alert.raised_at, ...updates.map(({ at }) => at)].map(timeOf)
  const identifier = (message: number) => `${alert.id}.${message}`
  const earlier = times.slice(0, -1).map((sent, at) => `${sender},${identifier(at)},${sent}`)
  const sent = times.at(-1) ?? ''
  const attributions = [...new Set(alert.event_ids.map(({ attribution }) => attribution))]
  const isOver = current.status !== 'active'
  return xmlOf({
    alert: {
      '@xmlns': 'urn:oasis:names:tc:emergency:cap:1.2',
      identifier: identifier(updates.length),
      sender,
      sent,
      status: STATUS,
      msgType: current.status === 'retracted' ? 'Cancel' : earlier.length > 0 ? 'Update' : 'Alert',
      source: attributions.join('; '),
      scope: 'Restricted',
      restriction: RESTRICTION,
      note: NOTE,
      references: earlier.length > 0 ? earlier.join(' ') : null,
      incidents: alert.event_ids.map(({ event_id }) => event_id).join(' '),
      info: {
        language: 'en',
        category: CATEGORIES[current.type],
        event: current.type,
        urgency: isOver ? 'Past' : timeOf(current.ts) > sent ? 'Future' : 'Unknown',
        severity: SEVERITIES[bandOf(alert.severity)],
        certainty: OBSERVED.includes(current.type) ? 'Observed' : 'Unknown',
        onset: timeOf(current.ts),
        expires: current.ends_at && timeOf(current.ends_at),
        senderName: 'Watchpost',
        headline: headlineOf(alert),
        description: linesOf({ ...alert, attributions }).join('\n'),
        web: pageOf(current),
        parameter: [
          ['severity', alert.severity],
          ['magnitude', current.magnitude],
          ['depth_km', current.depth_km],
          ['zone', alert.zone_name],
        ].flatMap(([valueName = null, value = null]) =>
          value === null ? [] : [{ valueName, value }],
        ),
        area: areaOf(alert, geometry),
      },
    },
  })
}

/** Where the event is: its outlines, or its point as a circle without a radius. CAP knows no holes. */
function areaOf({ zone_name, current }: Alert, geometry: Geometry | null): XmlValue {
  const rings = ringsOf(geometry).map((ring) => ring.map(pairOf).join(' '))
  return {
    areaDesc: `${rings.length > 0 ? 'The area' : 'The place'} of the event as its source gives it. It is in the zone ${zone_name}.`,
    ...(rings.length > 0
      ? { polygon: rings }
      : { circle: `${pairOf([current.lon, current.lat])} 0` }),
  }
}

type Ring = number[][]

function ringsOf(geometry: Geometry | null): Ring[] {
  if (geometry?.type === 'Polygon') return geometry.coordinates.slice(0, 1)
  if (geometry?.type === 'MultiPolygon')
    return geometry.coordinates.flatMap((part) => part.slice(0, 1))
  return []
}

/** `lat,lon`, the other way round than in GeoJSON. */
const pairOf = ([lon = 0, lat = 0]: number[]) => `${lat},${lon}`

/** A time in CAP: without fractions, and with -00:00 for UTC, because it forbids Z. */
const timeOf = (utc: string) => `${utc.slice(0, 19)}-00:00`
