/** Shapes and bodies that once delayed all other requests. */

type Position = [lon: number, lat: number]

const closed = (ring: Position[]) => [...ring, ...ring.slice(0, 1)]
const polygonOf = (ring: Position[]) => ({
  type: 'Polygon' as const,
  coordinates: [closed(ring)] as number[][][],
})

/** diagonals is one outline of long parallel edges, of which every two have intersecting boxes. */
export function diagonals(edges: number) {
  const zigzag = Array.from({ length: edges - 2 }, (_, i): Position => {
    const lon = Math.round(i * 1e3) / 1e6
    return i % 2 === 1 ? [lon + 40, 60] : [lon, 0]
  })
  return polygonOf([...zigzag, [60, 60], [60, -10], [0, -10]].slice(0, edges) as Position[])
}

/** star moves every second vertex far out. */
export function star(vertices: number, [near, far] = [10, 40]) {
  return polygonOf(
    Array.from({ length: vertices }, (_, i): Position => {
      const angle = (2 * Math.PI * i) / vertices
      const reach = i % 2 === 1 ? far : near
      return [29 + reach * Math.cos(angle), 10 + reach * Math.sin(angle)]
    }),
  )
}

/** coast is an outline like those of maps: many short edges. */
export function coast(vertices: number) {
  return polygonOf(
    Array.from({ length: vertices }, (_, i): Position => {
      const angle = (2 * Math.PI * i) / vertices
      const reach = 30 + 2 * Math.sin(angle * 37) + 0.3 * Math.sin(angle * 311)
      return [29 + reach * Math.cos(angle), 10 + reach * Math.sin(angle)]
    }),
  )
}

const draft = { label: 'A draft', lat: 30, lon: 29 }
const asText = (polygon: object) => JSON.stringify({ ...draft, polygon })

/** Bodies for a zone that are far larger than what is read before the sender is known. */
export const EXPENSIVE_BODIES: { [what: string]: string } = {
  '9,988 near-parallel diagonals': asText(diagonals(9988)),
  '500,000 positions of one number': JSON.stringify({
    ...draft,
    polygon: '-',
  }).replace('"-"', `{"type":"Polygon","coordinates":[[${'[1],'.repeat(499_999)}[1]]]}`),
  'lists a million deep': '['.repeat(1_000_000),
  'objects 300,000 deep': `${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}`,
  '150,000 unknown fields': `{${Array.from({ length: 150_000 }, (_, i) => `"f${i}":1`).join()}}`,
  'a text of 2 MB': JSON.stringify({ ...draft, label: 'x'.repeat(2_000_000) }),
  'a text of 2 MB full of escapes': `{"label":"${'\\u0041'.repeat(300_000)}"}`,
  '2 MB of commas': `{"a":[${','.repeat(2_000_000)}`,
}

/** Bodies near the limits of values and bytes, in each form of events of one's own. */
export function pushes(): Record<string, object> {
  const event = (id: number, coordinates: unknown[]) => ({
    id: `${id}`,
    type: 'flood',
    title: 'A flood',
    lat: 10,
    lon: 29,
    ts: new Date().toISOString(),
    geometry: { type: 'MultiPoint', coordinates },
  })
  const points = (count: number) => Array.from({ length: count }, () => [29.123456, 10.123456])
  const feature = ({ geometry, ...properties }: ReturnType<typeof event>) => ({
    type: 'Feature',
    geometry,
    properties,
  })
  const list = (count: number, size: number) =>
    Array.from({ length: count }, (_, id) => event(id, points(size)))
  return {
    '1,000 footprints': { events: list(1000, 15) },
    'a footprint of 9,999 positions': { events: list(1, 9999) },
    'a footprint that is too large': { events: list(1, 19_000) },
    '1,000 features': {
      geojson: { type: 'FeatureCollection', features: list(1000, 14).map(feature) },
    },
    '30 CAP documents of elements': { cap: Array(30).fill(`<a>${'<b/>'.repeat(16_000)}</a>`) },
    '1,000 sentences': {
      nmea: Array(1000).fill('!AIVDM,1,1,,A,15RTgt0PAso;90TKcjM8h6g208CQ,0*4A'),
    },
  }
}
