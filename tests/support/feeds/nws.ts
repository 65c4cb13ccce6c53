import { nws } from '../../../functions/feeds/nws.ts'
import { normalise, type Reply, upstream } from './feeds.ts'

export type Over = Record<string, unknown> & {
  geometry?: unknown
  vtec?: string[]
  refs?: string[]
}

export const PLACE = {
  type: 'Polygon',
  coordinates: [
    [
      [-90, 40],
      [-88, 40],
      [-88, 42],
      [-90, 42],
      [-90, 40],
    ],
  ],
}
export const urn = (name: string) => `urn:oid:2.49.0.1.840.0.${name}.001.1`
export const id = (name: string) => `nws:${urn(name)}`

/** An alert as the API lists it, with a polygon unless the test gives another geometry. */
export function feature(
  name: string,
  { geometry = PLACE, vtec = [], refs = [], ...over }: Over = {},
) {
  return {
    id: `https://api.weather.gov/alerts/${urn(name)}`,
    type: 'Feature',
    geometry,
    properties: {
      '@id': `https://api.weather.gov/alerts/${urn(name)}`,
      id: urn(name),
      areaDesc: 'Lake; Cook',
      geocode: { SAME: ['017097'], UGC: ['ILZ006', 'ILC031'] },
      affectedZones: null,
      references: refs.map((ref) => ({ identifier: urn(ref), sender: 'x', sent: 'y' })),
      sent: '2026-03-01T05:00:00-06:00',
      effective: '2026-03-01T05:00:00-06:00',
      onset: '2026-03-01T06:00:00-06:00',
      expires: '2026-03-01T12:00:00-06:00',
      ends: '2026-03-02T06:00:00-06:00',
      status: 'Actual',
      messageType: 'Alert',
      category: 'Met',
      severity: 'Severe',
      certainty: 'Likely',
      urgency: 'Expected',
      event: 'Winter Storm Warning',
      headline: 'Winter Storm Warning issued March 1',
      parameters: vtec.length > 0 ? { VTEC: vtec } : {},
      ...over,
    },
  }
}

export const vtec = (action: string, hazard = 'KLOT.WS.W.0013', product = 'O') =>
  `/${product}.${action}.${hazard}.260301T1200Z-260302T1200Z/`
export const list = (features: unknown[]) => ({ type: 'FeatureCollection', features })
export const read = (...features: unknown[]) => normalise(nws, JSON.stringify(list(features)))

export const ACTIVE = 'https://api.weather.gov/alerts/active?status=actual'
export const at = (minute: number) => `2026-03-01T12:${String(minute).padStart(2, '0')}:00.000Z`

/** The alerts that are active, and where zones lie. */
export function world() {
  const state: { active: Reply; zones: Record<string, Reply> } = {
    active: { json: list([]) },
    zones: {},
  }
  const feed = upstream(nws, (url) => {
    if (url.href === ACTIVE) return state.active
    return state.zones[url.pathname.replace('/zones/', '')] ?? { status: 404 }
  })
  return {
    feed,
    zones: state.zones,
    set(...features: unknown[]) {
      state.active = { json: list(features) }
    },
    reply(active: Reply) {
      state.active = active
    },
    zonesAsked: () => feed.asked.map(({ url }) => url.pathname.replace('/zones/', '')).slice(1),
    async poll(minute: number) {
      const result = await feed.poll(at(minute))
      return { ...result, lines: result.events.map((e) => `${e.id.slice(27, 28)} ${e.status}`) }
    },
  }
}

export const zone = (lon: number, lat: number, type = 'Polygon') => {
  const ring = [
    [lon - 1, lat - 1],
    [lon + 1, lat - 1],
    [lon + 1, lat + 1],
    [lon - 1, lat + 1],
    [lon - 1, lat - 1],
  ]
  if (type === 'GeometryCollection') {
    return { json: { geometry: { type, geometries: [{ type: 'Polygon', coordinates: [ring] }] } } }
  }
  return { json: { geometry: { type, coordinates: type === 'Polygon' ? [ring] : [[ring]] } } }
}
