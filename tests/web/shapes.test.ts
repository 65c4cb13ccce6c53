import { describe, expect, test } from 'vitest'
import { parseShapes } from '../../web/pages/zones/import/shapes.ts'

const RING = [
  [28, 40],
  [30, 40],
  [30, 42],
  [28, 40],
]

/** XML is read by the browser's own parser: tests/web/zones.test.ts imports such files. */
describe('what is pasted becomes zones', () => {
  test('GeoJSON: areas with their names and holes, places as circles; lines are counted', () => {
    const text = JSON.stringify({
      type: 'FeatureCollection',
      features: [
        {
          type: 'Feature',
          properties: { name: 'Bay' },
          geometry: { type: 'Polygon', coordinates: [RING] },
        },
        {
          type: 'Feature',
          properties: null,
          geometry: { type: 'Point', coordinates: [29, 41, 7] },
        },
        { type: 'Feature', properties: {}, geometry: { type: 'LineString', coordinates: RING } },
        { type: 'Feature', properties: {}, geometry: null },
      ],
    })
    expect(parseShapes(text)).toEqual({
      form: 'geojson',
      skipped: 2,
      shapes: [
        {
          label: 'Bay',
          lat: 41,
          lon: 29,
          radius_km: null,
          polygon: { type: 'Polygon', coordinates: [RING] },
        },
        { label: '', lat: 41, lon: 29, radius_km: null, polygon: null },
      ],
    })
    expect(() => parseShapes('{"type": ')).toThrow('not_json')
  })

  test('WKT: areas, several areas with holes and places', () => {
    const { shapes } = parseShapes(
      'SRID=4326;POLYGON((28 40, 30 40, 30 42, 28 40))\nPOINT (29.5 -1e1)\nMULTIPOLYGON (((0 0,1 0,1 1,0 0),(0.1 0.1,0.2 0.1,0.2 0.2,0.1 0.1)),((5 5,6 5,6 6,5 5)))',
    )
    expect(shapes.map(({ polygon }) => polygon?.type)).toEqual([
      'Polygon',
      undefined,
      'MultiPolygon',
    ])
    expect(shapes[0]?.polygon?.coordinates).toEqual([RING])
    expect(shapes[1]).toMatchObject({ lat: -10, lon: 29.5 })
    expect(shapes[2]?.polygon?.coordinates[0]).toHaveLength(2)
    expect(() => parseShapes('POLYGON((28 40, 30')).toThrow('not_wkt')
  })

  test.each([
    ['41.0, 29.5', { lat: 41, lon: 29.5 }],
    ['-33.9 151.2', { lat: -33.9, lon: 151.2 }],
    ['41°00\'36"N 28°58\'48"E', { lat: 41.01, lon: 28.98 }],
    ['33°52′S 151°12′E', { lat: -33.866_666, lon: 151.2 }],
  ])('coordinates: %s', (text, place) => {
    const [shape] = parseShapes(text).shapes
    expect(shape?.lat).toBeCloseTo(place.lat, 4)
    expect(shape?.lon).toBeCloseTo(place.lon, 4)
  })

  test('a closed list of coordinates is an area, an open one several places', () => {
    const lines = ['40, 28', '40, 30', '42, 30']
    expect(parseShapes(lines.join('\n')).shapes).toHaveLength(3)
    const closed = parseShapes([...lines, '40, 28'].join('\n')).shapes
    expect(closed.map(({ polygon }) => polygon?.coordinates)).toEqual([[RING]])
  })

  test('what is none of them is said', () => {
    expect(() => parseShapes('hello')).toThrow('unknown_form')
  })
})
