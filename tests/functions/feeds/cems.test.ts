import { describe, expect, test } from 'vitest'
import { cems } from '../../../functions/feeds/cems.ts'
import {
  describeRecordings,
  expectHarmless,
  expectRobust,
  normalise,
  type Reply,
  recording,
  upstream,
} from '../../support/feeds/feeds.ts'

const activation = (over: object = {}) => ({
  code: 'EMSR888',
  countries: [{ short_name: 'Spain' }],
  category: { slug: 'fire', name: 'Wildfire' },
  name: 'Wildfires in Testland',
  centroid: 'POINT (3.02 41.85)',
  activationTime: '2026-07-03T16:38:00',
  lastUpdate: '2026-07-06T11:41:14.133381',
  closed: false,
  ...over,
})
const list = (...results: unknown[]) => ({
  count: 1022,
  next: 'http://x/',
  previous: null,
  results,
})
const read = (over: object = {}) => normalise(cems, JSON.stringify(list(activation(over))))

describe('an activation becomes an event', () => {
  test('with every field of the canonical form', async () => {
    expect(await read()).toEqual({
      rejected: [],
      events: [
        {
          id: 'cems:EMSR888',
          source: 'cems',
          type: 'wildfire',
          title: 'Wildfires in Testland',
          lat: 41.85,
          lon: 3.02,
          ts: '2026-07-03T16:38:00.000Z',
          severity: 50,
          subject: null,
          status: 'active',
          url: 'https://mapping.emergency.copernicus.eu/activations/EMSR888/',
          geometry: null,
          ends_at: null,
          revised_at: '2026-07-06T11:41:14.133Z',
          aliases: [],
        },
      ],
    })
  })

  test.each([
    [{ slug: 'flood', name: 'Flood' }, 'flood'],
    [{ slug: 'storm', name: 'Storm' }, 'storm'],
    [{ slug: 'earthquake', name: 'Earthquake' }, 'earthquake'],
    [{ slug: 'volcan', name: 'Volcanic activity' }, 'volcano'],
    [{ slug: 'mass', name: 'Mass movement' }, 'other'],
    [{ slug: null, name: 'Drought' }, 'drought'],
    [{ slug: 'tsunami' }, 'tsunami'],
    [null, 'other'],
    ['fire', 'other'],
    [{ slug: 'fl', name: 'ood' }, 'other'],
  ])('of category %j is of type %s', async (category, type) => {
    expect((await read({ category })).events).toMatchObject([{ type }])
  })

  test('lies where its point is, however far and however it is written', async () => {
    for (const [centroid, lon, lat] of [
      ['POINT (103.25 -41.85)', 103.25, -41.85],
      ['POINT Z (-103 41 12)', -103, 41],
      ['point( 7   8)', 7, 8],
    ] as const) {
      expect((await read({ centroid })).events).toMatchObject([{ lon, lat }])
    }
  })

  test('that is at no place is rejected by its code, or its number', async () => {
    expect((await read({ centroid: 'x' })).rejected).toEqual([
      { item: 'EMSR888', reason: 'centroid: is not a point' },
    ])
    expect((await read({ code: '' })).rejected).toMatchObject([{ item: '#1' }])
  })

  test('that is closed has ended', async () => {
    expect((await read({ closed: true })).events).toMatchObject([{ status: 'ended', severity: 20 }])
    expect((await read({ closed: null })).events).toMatchObject([
      { status: 'active', severity: 50 },
    ])
  })

  test('what it lacks has its place taken', async () => {
    expect((await read({ name: null, lastUpdate: null })).events).toMatchObject([
      { title: 'Wildfire EMSR888', revised_at: null },
    ])
    expect((await read({ name: ' ', category: null })).events).toMatchObject([
      { title: 'Activation EMSR888' },
    ])
    for (const centroid of ['SRID=4326;POINT(3 41)', 'POINT Z (3 41 0)', 'pointz ( 3  41 )']) {
      const { events } = await read({ centroid })
      expect(events, centroid).toMatchObject([{ lat: 41, lon: 3 }])
    }
    expect((await normalise(cems, JSON.stringify(activation()))).events).toHaveLength(1)
  })

  test.each<[string, object, string]>([
    ['code', { code: 'none' }, 'code'],
    ['place', { centroid: null }, 'centroid'],
    ['readable place', { centroid: 'POLYGON ((1 2))' }, 'centroid: is not a point'],
    ['latitude on earth', { centroid: 'POINT (3 95)' }, 'lat'],
    ['time', { activationTime: 'July' }, 'ts'],
    ['readable update', { lastUpdate: 'July' }, 'revised_at'],
    ['boolean', { closed: 'no' }, 'closed'],
  ])('without a %s it is rejected', async (_, over, field) => {
    const { events, rejected } = await read(over)
    expect(events).toEqual([])
    expect(rejected[0]?.reason).toContain(field)
  })
})

describe('polling', () => {
  const AT = '2026-07-06T12:00:00.000Z'

  test('asks for the newest with the validators, and 304 is a success that changes nothing', async () => {
    const feed = upstream(cems, () => ({
      json: list(activation()),
      headers: { etag: '"1"', 'cache-control': 'max-age=3600' },
    }))
    expect(await feed.poll(AT)).toMatchObject({ events: [{}], next_poll_seconds: 3600 })
    expect(feed.asked.map(({ url }) => url.search)).toEqual(['?limit=50&offset=0'])
    feed.answer = () => ({ status: 304 })
    expect(await feed.poll(AT)).toMatchObject({
      not_modified: true,
      events: [],
      state: { etag: '"1"' },
    })
    expect(feed.asked[0]?.headers.get('if-none-match')).toBe('"1"')
  })

  test('what the list no longer has is old, not over', async () => {
    const feed = upstream(cems, () => ({ json: list(activation()) }))
    await feed.poll(AT)
    feed.answer = () => ({ json: list(activation({ code: 'EMSR889' })) })
    for (const _ of [1, 2, 3]) {
      expect((await feed.poll(AT)).events.map(({ id }) => id)).toEqual(['cems:EMSR889'])
    }
  })

  test.each<[string, Reply, string]>([
    ['a web page', { body: '<html>' }, 'not_json'],
    ['nothing', { body: '' }, 'not_json'],
    ['half an answer', { body: '{"results":[{' }, 'not_json'],
    ['other JSON', { json: { detail: 'Not found.' } }, 'not_json'],
    ['500', { status: 500 }, 'http_status'],
    ['429', { status: 429 }, 'rate_limited'],
    ['no answer', new TypeError('reset'), 'unreachable'],
  ])('%s is an error', async (_, reply, code) => {
    await expect(upstream(cems, () => reply).poll(AT)).rejects.toMatchObject({
      name: 'FeedError',
      code,
    })
  })
})

test('broken answers do no harm', async () => {
  await expectHarmless(cems, JSON.stringify(list(activation())))
  await expectRobust(cems, list(activation()), 200)
})

describeRecordings('activations-2026-07-06.json', () => {
  const FILE = 'copernicus-ems/activations-2026-07-06.json'
  test('holds 2 wildfires', async () => {
    const { events, rejected } = await normalise(cems, recording(FILE))
    expect(rejected).toEqual([])
    expect(events.map(({ id, type, severity, lat }) => [id, type, severity, lat])).toEqual([
      ['cems:EMSR888', 'wildfire', 50, 41.85008701143381],
      ['cems:EMSR887', 'wildfire', 50, 42.64167229370756],
    ])
  })
  test('broken does no harm', async () => {
    await expectHarmless(cems, recording(FILE))
  })
})
