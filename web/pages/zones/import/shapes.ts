import type { Geometry, MultiPolygon, Polygon, Position } from 'geojson'

/** A zone that a file or pasted text describes; without a polygon it is a circle around its place. */
export type Shape = {
  label: string
  lat: number
  lon: number
  radius_km: number | null
  polygon: Polygon | MultiPolygon | null
}
type Form = 'geojson' | 'kml' | 'gpx' | 'wkt' | 'coordinates'
/** What a text has: the shapes, and how many of its parts are no areas or places (lines, empty rows). */
export type Parsed = { form: Form; shapes: Shape[]; skipped: number }

/** Why a text cannot be read; the page has a sentence for each. */
export class Unreadable extends Error {
  readonly reason: 'unknown_form' | 'not_json' | 'not_xml' | 'not_wkt'
  constructor(reason: Unreadable['reason']) {
    super(reason)
    this.reason = reason
  }
}

/** parseShapes reads GeoJSON, KML, GPX, WKT, or lines of coordinates. */
export function parseShapes(text: string): Parsed {
  const given = text.trim()
  if (/^[[{]/.test(given)) return fromGeojson(given)
  if (given.startsWith('<')) return fromXml(given)
  if (/^(SRID=\d+;)?\s*(MULTI)?(POLYGON|POINT)/i.test(given)) return fromWkt(given)
  const coordinates = fromCoordinates(given)
  if (coordinates) return coordinates
  throw new Unreadable('unknown_form')
}

/** A shape of a geometry; null for what is neither a place nor an area. */
function shapeOf(label: string, geometry: Geometry): Shape | null {
  if (geometry.type === 'Point') {
    const [lon = 0, lat = 0] = geometry.coordinates
    return { label, lat, lon, radius_km: null, polygon: null }
  }
  if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') return null
  const rings = geometry.type === 'Polygon' ? geometry.coordinates : geometry.coordinates.flat()
  const flat = rings.flat()
  if (flat.length === 0) return null
  const middle = (at: number) => {
    const values = flat.map((position) => position[at] ?? 0)
    return (
      (values.reduce((one, two) => Math.min(one, two)) +
        values.reduce((one, two) => Math.max(one, two))) /
      2
    )
  }
  // Heights are no part of a zone.
  const plan = (ring: Position[]) => ring.map(([lon = 0, lat = 0]) => [lon, lat])
  const polygon: Polygon | MultiPolygon =
    geometry.type === 'Polygon'
      ? { type: 'Polygon', coordinates: geometry.coordinates.map(plan) }
      : { type: 'MultiPolygon', coordinates: geometry.coordinates.map((part) => part.map(plan)) }
  return { label, lat: middle(1), lon: middle(0), radius_km: null, polygon }
}

function gather(form: Form, found: (Shape | null)[]): Parsed {
  const shapes = found.filter((shape) => shape !== null)
  return { form, shapes, skipped: found.length - shapes.length }
}

type Json = { type?: string; [name: string]: unknown }

function fromGeojson(text: string): Parsed {
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch {
    throw new Unreadable('not_json')
  }
  return gather('geojson', featuresOf(data as Json, '')) // safe: looked at member by member
}

function featuresOf(data: Json, label: string): (Shape | null)[] {
  const list = (name: string) => (Array.isArray(data[name]) ? (data[name] as Json[]) : []) // safe: looked at member by member
  if (data.type === 'FeatureCollection')
    return list('features').flatMap((one) => featuresOf(one, ''))
  if (data.type === 'GeometryCollection') {
    return list('geometries').flatMap((one) => featuresOf(one, label))
  }
  if (data.type === 'Feature') {
    const names = Object(data.properties)
    const name = [names.name, names.label, names.title, names.NAME].find(
      (one) => typeof one === 'string',
    )
    return data.geometry ? featuresOf(data.geometry as Json, name ?? '') : [null] // safe: looked at member by member
  }
  if (!Array.isArray(data.coordinates)) return [null]
  return [shapeOf(label, data as unknown as Geometry)] // safe: the API refuses coordinates that are none
}

function fromXml(text: string): Parsed {
  const xml = new DOMParser().parseFromString(text, 'text/xml')
  if (xml.querySelector('parsererror')) throw new Unreadable('not_xml')
  const all = (inside: Document | Element, name: string) => [
    ...inside.getElementsByTagNameNS('*', name),
  ]
  const said = (inside: Element, name: string) => all(inside, name)[0]?.textContent?.trim() ?? ''
  if (xml.documentElement.localName === 'gpx') {
    const at = (node: Element): Position => [
      Number(node.getAttribute('lon')),
      Number(node.getAttribute('lat')),
    ]
    const places = all(xml, 'wpt').map((node) =>
      shapeOf(said(node, 'name'), { type: 'Point', coordinates: at(node) }),
    )
    const ways = [...all(xml, 'rte'), ...all(xml, 'trk')].map((way) => {
      const ring = [...all(way, 'rtept'), ...all(way, 'trkpt')].map(at)
      return isClosed(ring)
        ? shapeOf(said(way, 'name'), { type: 'Polygon', coordinates: [ring] })
        : null
    })
    return gather('gpx', [...places, ...ways])
  }
  const positions = (node: Element): Position[] =>
    said(node, 'coordinates')
      .split(/\s+/)
      .map((one) => one.split(',').map(Number))
      .filter((one) => one.length >= 2)
  const found = all(xml, 'Placemark').flatMap((mark) => {
    const label = said(mark, 'name')
    const polygons = all(mark, 'Polygon').map((polygon): Geometry => {
      const rings = ['outerBoundaryIs', 'innerBoundaryIs'].flatMap((name) => all(polygon, name))
      return { type: 'Polygon', coordinates: rings.map(positions) }
    })
    const points = all(mark, 'Point').map(
      (point): Geometry => ({ type: 'Point', coordinates: positions(point)[0] ?? [] }),
    )
    const both = [...polygons, ...points]
    return both.length > 0 ? both.map((geometry) => shapeOf(label, geometry)) : [null]
  })
  return gather('kml', found)
}

const isClosed = (ring: Position[]) =>
  ring.length >= 4 && ring[0]?.[0] === ring.at(-1)?.[0] && ring[0]?.[1] === ring.at(-1)?.[1]

function fromWkt(text: string): Parsed {
  const parts = text.match(/(?:MULTI)?(?:POLYGON|POINT)\s*(?:ZM?|M)?\s*\([^a-df-z]*/gi) ?? []
  return gather(
    'wkt',
    parts.map((part) => {
      const name = (part.match(/^[a-z]+/i)?.[0] ?? '').toUpperCase()
      const numbers = part.slice(part.indexOf('('), part.lastIndexOf(')') + 1)
      // Nested brackets and pairs of numbers are arrays as JSON writes them.
      const nested = numbers
        .replace(
          /-?\d+(\.\d+)?(e[-+]?\d+)?(\s+-?\d+(\.\d+)?(e[-+]?\d+)?)+/gi,
          (pair) => `[${pair.trim().split(/\s+/).join(',')}]`,
        )
        .replaceAll('(', '[')
        .replaceAll(')', ']')
      let coordinates: unknown
      try {
        coordinates = JSON.parse(nested)
      } catch {
        throw new Unreadable('not_wkt')
      }
      const [first] = coordinates as Position[] // safe: the brackets were just written
      if (name === 'POINT') return shapeOf('', { type: 'Point', coordinates: first ?? [] })
      const type = name === 'POLYGON' ? 'Polygon' : 'MultiPolygon'
      if (name === 'MULTIPOINT') return null
      return shapeOf('', { type, coordinates } as Geometry) // safe: the API refuses coordinates that are none
    }),
  )
}

const DEGREES =
  /(\d+(?:[.,]\d+)?)\s*°\s*(?:(\d+(?:[.,]\d+)?)\s*['′’]\s*)?(?:(\d+(?:[.,]\d+)?)\s*(?:["″”]|'')\s*)?([NSEWKGDB])/gi
const DECIMAL = /^\s*\(?\s*([-+]?\d{1,2}(?:\.\d+)?)\s*[,;\s]\s*([-+]?\d{1,3}(?:\.\d+)?)\s*\)?\s*$/

/** Lines of "lat, lon"; a closed list of at least four is one area. Null when a line is something else. */
function fromCoordinates(text: string): Parsed | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const places = lines.map(placeOf)
  if (lines.length === 0 || places.some((place) => place === null)) return null
  const ring = places.filter((place) => place !== null).map(({ lat, lon }) => [lon, lat])
  if (isClosed(ring)) {
    return gather('coordinates', [shapeOf('', { type: 'Polygon', coordinates: [ring] })])
  }
  return gather(
    'coordinates',
    ring.map((coordinates) => shapeOf('', { type: 'Point', coordinates })),
  )
}

function placeOf(line: string): { lat: number; lon: number } | null {
  const [, lat, lon] = line.match(DECIMAL) ?? []
  if (lat && lon) return { lat: Number(lat), lon: Number(lon) }
  const [one, two] = [...line.matchAll(DEGREES)]
  if (!one || !two) return null
  const value = ([, degrees = '0', minutes = '0', seconds = '0', side = '']: RegExpMatchArray) => {
    const [whole = 0, sixtieths = 0, rest = 0] = [degrees, minutes, seconds].map((part) =>
      Number(part.replace(',', '.')),
    )
    // South and west; in Turkish güney and batı.
    return (whole + sixtieths / 60 + rest / 3600) * (/[SWGB]/i.test(side) ? -1 : 1)
  }
  return { lat: value(one), lon: value(two) }
}
