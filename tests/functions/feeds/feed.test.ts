import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  type Candidate,
  feedError,
  isFeedError,
  normaliseEach,
  reject,
  severityOfMagnitude,
  severityOfWind,
  toEvent,
  toInstant,
  toSeverity,
} from '../../../functions/feeds/feed.ts'
import { KNOWN_FEEDS, selectFeeds, settingsOf } from '../../../functions/feeds/feeds.ts'
import { standInsOf } from '../../../functions/feeds/stand-ins.ts'
import type { NormalisedEvent } from '../../../shared/schemas/event.ts'

const least: Candidate = {
  id: 'x:1',
  source: 'x',
  type: 'other',
  title: 'A title',
  lat: 1,
  lon: 2,
  ts: '2026-03-01T12:00:00.000Z',
  severity: 10,
}

describe('toEvent', () => {
  test('fills in what a feed leaves out', () => {
    expect(toEvent(least, '#1')).toEqual({
      event: {
        ...least,
        subject: null,
        status: 'active',
        url: null,
        geometry: null,
        ends_at: null,
        revised_at: null,
        aliases: [],
      },
    })
  })

  test.each<[Partial<Candidate>, Partial<NormalisedEvent>]>([
    [{ title: ' two\n  lines ' }, { title: 'two lines' }],
    [{ title: 'x'.repeat(600) }, { title: 'x'.repeat(500) }],
    [{ url: 'https://example.org/1' }, { url: 'https://example.org/1' }],
    [{ url: 'javascript:alert(1)' }, { url: null }],
    [{ url: 'http://example.org/1' }, { url: 'http://example.org/1' }],
    [{ url: 'javascript:"https://example.org"' }, { url: null }],
    [{ url: '' }, { url: null }],
    [{ url: 'https://' }, { url: null }],
  ])('%j becomes %j', (given, expected) => {
    expect(toEvent({ ...least, ...given }, '#1')).toMatchObject({ event: expected })
  })

  test.each<[Partial<Candidate>, string]>([
    [{ lat: 91 }, 'lat: '],
    [{ lon: Number.NaN }, 'lon: '],
    [{ ts: 'yesterday' }, 'ts: '],
    [{ severity: 10.5 }, 'severity: '],
    [{ title: '  ' }, 'title: '],
    [{ id: 'x: 1' }, 'id: '],
  ])('%j is rejected by the name of the field', (given, reason) => {
    const result = toEvent({ ...least, ...given }, 'item 7')
    expect(result).toEqual({
      rejected: { item: 'item 7', reason: expect.stringContaining(reason) },
    })
  })
})

test('reject names the whole item when no field is to blame, and cuts a long name', () => {
  const { error } = z.object({}).safeParse('text')
  expect(error && reject('x'.repeat(300), error)).toEqual({
    rejected: { item: 'x'.repeat(255), reason: expect.stringMatching(/^item: ./) },
  })
})

test('reject names a field inside another by its path', () => {
  const { error } = z.object({ a: z.array(z.object({ b: z.string() })) }).safeParse({ a: [{}] })
  expect(error && reject('x', error).rejected.reason).toMatch(/^a\.0\.b: ./)
})

test('an error of a feed is known as one, with what it knows', () => {
  const cause = new Error('why')
  const error = feedError('http_status', 'answered HTTP 503', {
    status: 503,
    retry_after_seconds: 30,
    cause,
  })
  expect(error).toMatchObject({
    message: 'answered HTTP 503',
    code: 'http_status',
    status: 503,
    retry_after_seconds: 30,
    cause,
  })
  expect(isFeedError(error)).toBe(true)
  expect(isFeedError(cause)).toBe(false)
  expect(isFeedError({ name: 'FeedError' })).toBe(false)
})

test('normaliseEach keeps what is an event, and goes on after an item that fails', () => {
  const result = normaliseEach(['ok', 'none', 'bad', 'throws', 'two'], (word, position) => {
    if (word === 'none') return null
    if (word === 'bad') return reject(position, 'is bad')
    if (word === 'throws') throw new Error('cannot be read')
    const one = toEvent({ ...least, title: word }, position)
    return word === 'two' ? [one, one] : one
  })
  expect(result.events.map(({ title }) => title)).toEqual(['ok', 'two', 'two'])
  expect(result.rejected).toEqual([
    { item: '#3', reason: 'is bad' },
    { item: '#4', reason: 'cannot be read' },
  ])
})

describe('severities', () => {
  test.each([
    [49.5, 50],
    [49.4, 49],
    [-3, 0],
    [101, 100],
    [Number.POSITIVE_INFINITY, 100],
  ])('%d is %d', (given, severity) => {
    expect(toSeverity(given)).toBe(severity)
  })

  test('what is no number is the floor', () => {
    expect(toSeverity(Number.NaN)).toBe(0)
    expect(toSeverity(Number.NaN, 20)).toBe(20)
  })

  test.each([
    [null, 0],
    [undefined, 0],
    [-0.6, 0],
    [4, 43],
    [7.4, 100],
  ])('magnitude %s is %d', (magnitude, severity) => {
    expect(severityOfMagnitude(magnitude)).toBe(severity)
  })

  test.each([
    [null, 30],
    [33, 30],
    [34, 50],
    [63, 50],
    [64, 60],
    [82, 60],
    [83, 70],
    [96, 80],
    [113, 90],
    [136, 90],
    [137, 100],
  ])('%s knots are %d', (knots, severity) => {
    expect(severityOfWind(knots)).toBe(severity)
  })
})

test('toInstant gives text that is no time for what is none', () => {
  expect(toInstant(0)).toBe('1970-01-01T00:00:00.000Z')
  expect(toInstant(Number.NaN)).toBe('NaN')
  expect(toInstant(1e30)).toBe('1e+30')
})

describe('selectFeeds', () => {
  test('takes every feed that is not optional, unless some are named', () => {
    const { feeds, disabled } = selectFeeds(null, {})
    const usual = KNOWN_FEEDS.filter(({ is_optional }) => !is_optional)
    expect(
      [...feeds, ...disabled.map(({ feed }) => feed)].map(({ source }) => source).sort(),
    ).toEqual(usual.map(({ source }) => source).sort())
    expect(selectFeeds(['usgs', 'usgs'], {}).feeds.map(({ source }) => source)).toEqual(['usgs'])
    expect(selectFeeds([], {})).toEqual({ feeds: [], disabled: [] })
    expect(() => selectFeeds(['unknown'], {})).toThrow('There is no feed "unknown"')
  })

  test('a feed knows its own settings only', () => {
    const setting = { schema: z.string(), is_required: true }
    const [feed] = KNOWN_FEEDS
    if (!feed) throw new Error('there are feeds')
    const with_key = { ...feed, settings: { A_KEY: setting, B_KEY: setting } }
    expect(settingsOf(with_key, { A_KEY: 'a', B_KEY: undefined, C_KEY: 'c' })).toEqual({
      A_KEY: 'a',
    })
  })

  test('one that lacks a setting is disabled, and says which', () => {
    for (const { source, settings = {} } of KNOWN_FEEDS) {
      const required = Object.keys(settings).filter((name) => settings[name]?.is_required)
      const { disabled } = selectFeeds([source], {})
      expect(disabled.map(({ reason }) => reason)).toEqual(
        required.length > 0 ? [`${required.join(' and ')} not set`] : [],
      )
    }
  })
})

describe('the part of the world that a feed watches', () => {
  const settings = {
    ADSB_CIRCLES: '41,29,100;-17,179.5,250',
    AISSTREAM_KEY: 'key',
    AISSTREAM_BOXES: '50,-5,52,3;-10,170,0,180',
    FIRMS_MAP_KEY: 'key',
    FIRMS_AREA: '-80,-60,-30,15',
  }
  const watches = (source: string, lat: number, lon: number, values: object = settings) => {
    const [feed] = selectFeeds([source], { ...values }).feeds
    const region = feed?.region?.({}) ?? null
    return region === null
      ? 'the world'
      : region.some(
          ([west, south, east, north]) =>
            west <= lon && lon <= east && south <= lat && lat <= north,
        )
  }

  test.each<[string, [number, number][], [number, number][]]>([
    [
      'geonet',
      [
        [-41.3, 174.8],
        [-29.3, -177.9],
        [-50.7, 166.1],
      ],
      [
        [35.7, 139.7],
        [-33.9, 151.2],
        [-15, 174.8],
        [-15, -170],
      ],
    ],
    [
      'usgs-volcano',
      [
        [19.4, -155.3],
        [52, 172],
        [15, 145],
        [-14.3, -170.7],
      ],
      [
        [40.8, 14.4],
        [-14.3, 170],
      ],
    ],
    [
      'nhc',
      [
        [5, -90],
        [25.8, -80.2],
        [21.3, -157.9],
        [38.7, -27.2],
      ],
      [
        [14.6, 121],
        [35.7, 139.7],
      ],
    ],
    [
      'nws',
      [
        [25.8, -80.2],
        [64.8, -147.7],
        [18.5, -66.1],
        [52.9, 172.9],
        [13.4, 144.8],
        [-14.3, -170.7],
      ],
      [
        [51.5, -0.1],
        [35.7, 139.7],
        [-33.9, 151.2],
      ],
    ],
    [
      'meteoalarm',
      [
        [37.7, -25.7],
        [28.1, -15.4],
        [78.2, 15.6],
        [31.8, 35.2],
      ],
      [
        [40.7, -74],
        [55.8, 82.9],
      ],
    ],
    [
      'digitraffic',
      [
        [60.2, 24.9],
        [65, 25.4],
      ],
      [
        [51.5, -0.1],
        [41, 29],
      ],
    ],
    [
      'usgs-volcano',
      [
        [19.4, -155.3],
        [46.2, -122.2],
        [52.1, 173.4],
        [16.4, 145.7],
      ],
      [
        [40.8, 14.4],
        [35.4, 138.7],
      ],
    ],
    [
      'adsb',
      [
        [41.5, 29.5],
        [-17, 178],
        [-17, -178],
      ],
      [
        [45, 29],
        [0, 0],
      ],
    ],
    [
      'aisstream',
      [
        [51, 0],
        [-5, 175],
      ],
      [
        [0, 51],
        [-5, -175],
      ],
    ],
    [
      'firms',
      [[-23.5, -46.6]],
      [
        [41, 29],
        [40.7, -74],
      ],
    ],
  ])('%s', (source, inside, outside) => {
    expect(inside.map(([lat, lon]) => watches(source, lat, lon))).toEqual(inside.map(() => true))
    expect(outside.map(([lat, lon]) => watches(source, lat, lon))).toEqual(outside.map(() => false))
  })

  test('is all of it by default', () => {
    expect(watches('usgs', 0, 0)).toBe('the world')
    expect(watches('firms', 0, 0, { FIRMS_MAP_KEY: 'key' })).toBe('the world')
    expect(watches('firms', 0, 0, { FIRMS_MAP_KEY: 'key', FIRMS_AREA: 'world' })).toBe('the world')
    expect(watches('aisstream', 80, 179, { AISSTREAM_KEY: 'key' })).toBe(true)
  })
})

test('a source that stands in for another is one of ours, and has its types', () => {
  const lines = KNOWN_FEEDS.flatMap(({ source }) =>
    standInsOf(source).map(({ by, types, from_severity }) => ({
      source,
      by,
      types,
      from_severity,
    })),
  )
  expect(lines.map(({ source, by }) => `${source} ${by}`)).toEqual([
    'usgs emsc',
    'emsc usgs',
    'nhc gdacs',
  ])
  for (const { source, by, types } of lines) {
    const [feed, other] = [source, by].map((name) => KNOWN_FEEDS.find((one) => one.source === name))
    expect(feed?.types).toEqual(expect.arrayContaining([...types]))
    expect(other?.types.some((type) => types.includes(type))).toBe(true)
  }
})
