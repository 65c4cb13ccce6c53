import { describe, expect, test } from 'vitest'
import { isMoving, NormalisedEvent } from '../../../shared/schemas/event.ts'
import { Push, PushedEvent } from '../../../shared/schemas/push.ts'
import '../../../shared/words/issue-words.ts'

const EVENT = {
  ...{ id: 'station-7', type: 'flood', title: 'High water', lat: 1, lon: 2 },
  ts: '2026-03-01T12:00:00Z',
}
const text = (length: number) => 'x'.repeat(length)
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)
const line = (count: number) => ({ type: 'LineString', coordinates: times(count, [1, 2]) })

describe('an event of one’s own', () => {
  const sentences = (given: object) => {
    const { error } = PushedEvent.safeParse({ ...EVENT, ...given })
    return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? []
  }

  test('needs an id, a type, a title, a place and a time; the rest has defaults', () => {
    expect(PushedEvent.parse(EVENT)).toEqual({
      ...EVENT,
      ...{ severity: 0, subject: null, status: 'active', url: null, geometry: null },
      ...{ ends_at: null, revised_at: null, magnitude: null, depth_km: null },
    })
    for (const field of Object.keys(EVENT)) {
      const named = sentences({ [field]: undefined }).map((sentence) => sentence.split(':')[0])
      expect(named).toEqual([field])
    }
  })

  test.each<[string, unknown[]]>([
    ['id', ['x', text(120), 'ölçüm-7']],
    ['title', ['x', text(500), `  ${text(500)}  `]],
    ['lat', [-90, 90]],
    ['lon', [-180, 180]],
    ['severity', [0, 100]],
    ['subject', [null, 'mmsi:230123456', text(128)]],
    ['status', ['active', 'ended', 'retracted']],
    ['url', [null, 'http://a.example', 'https://a.example/b?c#d']],
    ['geometry', [null, line(2), line(10_000), { type: 'Point', coordinates: [360, 90] }]],
    ['geometry', [{ type: 'Point', coordinates: [-360, -90, 12] }]],
    ['ends_at', [null, '2026-03-01T12:00:00+03:00']],
    ['magnitude', [null, -1.5, 9]],
    ['depth_km', [null, -1.5, 600]],
  ])('takes a %s (%#)', (field, values) => {
    for (const value of values) expect(sentences({ [field]: value })).toEqual([])
  })

  const UNICODE = 'Must be valid Unicode without U+0000'
  const WORD = 'Must not be empty or contain spaces'
  const URL_ONLY = 'Must be an http or https URL'
  const DEGREES = 'Must hold (lon, lat) positions in degrees'
  test.each<[string, unknown, string]>([
    ['id', '', WORD],
    ['id', 'a b', WORD],
    ['id', ' a', WORD],
    ['id', 'a\n', WORD],
    ['id', 'a\0', UNICODE],
    ['id', text(121), 'Must have at most 120 characters.'],
    ['title', '  ', 'Must not be empty.'],
    ['title', '\ud800', UNICODE],
    ['title', text(501), 'Must have at most 500 characters.'],
    ['type', 'ufo', 'Must be one of "earthquake"'],
    ['lat', -90.1, 'Must be at least -90.'],
    ['lat', 90.1, 'Must be at most 90.'],
    ['lon', -180.1, 'Must be at least -180.'],
    ['lon', 180.1, 'Must be at most 180.'],
    ['severity', 101, 'Must be at most 100.'],
    ['severity', 0.5, 'Must be a whole number.'],
    ['subject', 'a b', WORD],
    ['subject', text(129), 'Must have at most 128 characters.'],
    ['status', 'over', 'Must be one of "active", "ended", "retracted".'],
    ['url', 'ftp://a.example', URL_ONLY],
    ['url', 'httpx://a.example', URL_ONLY],
    ['url', 'xhttp://a.example', URL_ONLY],
    ['url', 'a.example', URL_ONLY],
    ['geometry', line(10_001), 'Must have at most 10000 positions'],
    ['geometry', line(0), DEGREES],
    ['geometry', { type: 'Point', coordinates: [360.1, 0] }, DEGREES],
    ['geometry', { type: 'Point', coordinates: [-360.1, 0] }, DEGREES],
    ['geometry', { type: 'Point', coordinates: [0, 90.1] }, DEGREES],
    ['geometry', { type: 'Point', coordinates: [0, -90.1] }, DEGREES],
    [
      'geometry',
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 91],
          ],
        ],
      },
      DEGREES,
    ],
    ['ends_at', 'tomorrow', 'Must be a time in ISO 8601'],
    ['magnitude', '5', 'Must be a number.'],
  ])('refuses the %s %j', (field, value, sentence) => {
    const [first, ...others] = sentences({ [field]: value })
    expect(others).toEqual([])
    expect(first?.startsWith(`${field}: ${sentence}`), first).toBe(true)
  })

  test('has no other fields', () => {
    expect(sentences({ colour: 'red' })).toEqual([': Unrecognized key: "colour"'])
  })
})

describe('what is pushed', () => {
  const sentences = (given: object) => {
    const { error } = Push.safeParse({ source: 'custom:buoys', ...given })
    return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? []
  }
  const collection = (features: unknown[]) => ({ type: 'FeatureCollection', features })

  test.each<[object]>([
    [{ events: [1] }],
    [{ events: times(1000, {}) }],
    [{ geojson: collection([1]) }],
    [{ geojson: collection(times(1000, {})) }],
    [{ cap: times(100, 'x') }],
    [{ cap: [text(64 * 1024)] }],
    [{ nmea: times(1000, 'x') }],
    [{ nmea: [text(1000)] }],
    [{ events: [1], org_id: null, source: `custom:${text(57)}` }],
    [{ events: [1], source: 'custom:b-2' }],
  ])('is one of four forms, within limits (%#)', (given) => {
    expect(sentences(given)).toEqual([])
  })

  const ONE = 'events: Send exactly one of events, geojson, cap and nmea.'
  const FORM = 'source: Must have the form custom:<name>, e.g. custom:buoys'
  test.each<[object, string]>([
    [{}, ONE],
    [{ events: [1], cap: ['x'] }, ONE],
    [{ geojson: collection([1]), nmea: ['x'] }, ONE],
    [{ events: [] }, 'events: Must not be empty.'],
    [{ events: times(1001, {}) }, 'events: Must have at most 1000 entries.'],
    [{ geojson: collection([]) }, 'geojson.features: Must not be empty.'],
    [{ geojson: collection(times(1001, 1)) }, 'geojson.features: Must have at most 1000 entries.'],
    [{ geojson: { type: 'Feature', features: [1] } }, 'geojson.type: Must be "FeatureCollection".'],
    [{ cap: [] }, 'cap: Must not be empty.'],
    [{ cap: times(101, 'x') }, 'cap: Must have at most 100 entries.'],
    [{ cap: [text(64 * 1024 + 1)] }, 'cap.0: Must have at most 65536 characters.'],
    [{ cap: ['\0'] }, 'cap.0: Must be valid Unicode without U+0000'],
    [{ nmea: [] }, 'nmea: Must not be empty.'],
    [{ nmea: times(1001, 'x') }, 'nmea: Must have at most 1000 entries.'],
    [{ nmea: [text(1001)] }, 'nmea.0: Must have at most 1000 characters.'],
    [{ events: [1], source: 'usgs' }, FORM],
    [{ events: [1], source: 'a custom:b' }, FORM],
    [{ events: [1], source: 'custom:b c' }, FORM],
    [{ events: [1], source: 'custom:2' }, FORM],
    [{ events: [1], source: 'custom:' }, FORM],
    [{ events: [1], source: `custom:${text(58)}` }, 'source: Must have at most 64 characters.'],
    [{ events: [1], org_id: 'x' }, 'org_id: Must be a UUID.'],
    [{ events: [1], colour: 1 }, ': Unrecognized key: "colour"'],
  ])('and nothing else (%#)', (given, sentence) => {
    expect(sentences(given)).toEqual([sentence])
  })
})

describe('an event of a feed', () => {
  const NORMALISED = {
    ...{ ...EVENT, id: 'usgs:us1', source: 'usgs', severity: 50, subject: null },
    ...{ status: 'active', url: null, geometry: null, ends_at: null, revised_at: null },
    aliases: [],
  }
  const fields = (given: object) =>
    NormalisedEvent.safeParse({ ...NORMALISED, ...given }).error?.issues.map(({ path }) => path[0])

  test.each<[object]>([
    [{}],
    [{ id: `usgs:${text(250)}`, source: text(64), title: text(500), subject: text(128) }],
    [{ source: 'custom:buoys', lat: 90, lon: 180, aliases: [text(255)] }],
    [{ geometry: { type: 'MultiPoint', coordinates: [[1, 2]] } }],
    [
      {
        geometry: {
          type: 'MultiLineString',
          coordinates: [
            [
              [1, 2],
              [3, 4],
            ],
          ],
        },
      },
    ],
    [
      {
        geometry: {
          type: 'MultiPolygon',
          coordinates: [
            [
              [
                [1, 2, 3],
                [3, 4],
              ],
            ],
          ],
        },
      },
    ],
    [{ lat: -90, lon: -180, magnitude: 5, depth_km: null, url: 'https://a.example' }],
  ])('has its form (%#)', (given) => {
    expect(fields(given)).toBeUndefined()
  })

  test.each<[object, string]>([
    [{ id: 'us1' }, 'id'],
    [{ id: 'x usgs:us1' }, 'id'],
    [{ id: 'usgs:' }, 'id'],
    [{ id: 'usgs:a b' }, 'id'],
    [{ id: `usgs:${text(251)}` }, 'id'],
    [{ source: 'USGS' }, 'source'],
    [{ source: 'US usgs' }, 'source'],
    [{ source: 'usgs.org' }, 'source'],
    [{ source: text(65) }, 'source'],
    [{ title: '' }, 'title'],
    [{ title: text(501) }, 'title'],
    [{ lat: 90.1 }, 'lat'],
    [{ lat: -90.1 }, 'lat'],
    [{ lon: 180.1 }, 'lon'],
    [{ lon: -180.1 }, 'lon'],
    [{ severity: -1 }, 'severity'],
    [{ subject: text(129) }, 'subject'],
    [{ aliases: [text(256)] }, 'aliases'],
    [{ geometry: { type: 'Point', coordinates: [1] } }, 'geometry'],
    [{ geometry: { type: 'Point', coordinates: [1, 2, 3, 4] } }, 'geometry'],
    [{ geometry: { type: 'GeometryCollection', geometries: [] } }, 'geometry'],
  ])('and no other (%#)', (given, field) => {
    expect(fields(given)).toEqual([field])
  })

  test.each([
    [null, false],
    ['mmsi:230123456', true],
    ['icao24:4b1814', true],
    ['storm:mmsi:1', false],
    ['imo:1', false],
    ['mmsi', false],
  ])('about %s moves: %s', (subject, moves) => {
    expect(isMoving(subject)).toBe(moves)
  })
})
