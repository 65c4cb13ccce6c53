import { expect, test } from 'vitest'
import { digitraffic } from '../../../functions/feeds/digitraffic.ts'
import {
  describeRecordings,
  expectHarmless,
  expectRobust,
  normalise,
  type Reply,
  recording,
  upstream,
} from '../../support/feeds/feeds.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const feature = ({
  mmsi = 241_930_000,
  at = NOW - 5_000,
  navStat = 0,
  coordinates = [20.86, 58.47],
} = {}) => ({
  mmsi,
  type: 'Feature',
  geometry: { type: 'Point', coordinates },
  properties: { mmsi, sog: 10.2, navStat, timestamp: 41, timestampExternal: at },
})
const answer = (...features: object[]) => ({ type: 'FeatureCollection', features })

test('a vessel becomes an event of when it was received', async () => {
  const { events } = await normalise(digitraffic, JSON.stringify(answer(feature({ navStat: 6 }))))
  expect(events).toMatchObject([
    {
      id: 'digitraffic:241930000:1772366395',
      type: 'vessel',
      title: '241930000',
      lat: 58.47,
      lon: 20.86,
      ts: '2026-03-01T11:59:55.000Z',
      severity: 70,
      subject: 'mmsi:241930000',
    },
  ])
})

test.each([
  [{ at: NOW - 30 * 60_000 - 1 }, /^timestampExternal: .* more than 30 minutes ago/],
  [{ coordinates: [181, 91] }, /^lat, lon: the sender has no position/],
  [{ coordinates: [0, 91] }, /^lat, lon: the sender has no position/],
  [{ coordinates: [-181, 0] }, /^lat, lon: the sender has no position/],
  [{ mmsi: 0 }, /nobody’s/],
])('%j is rejected', async (over, reason) => {
  const { events, rejected } = await normalise(digitraffic, JSON.stringify(answer(feature(over))))
  expect(events).toEqual([])
  expect(rejected).toEqual([{ item: expect.any(String), reason: expect.stringMatching(reason) }])
})

test('heard half an hour ago, at the edge of the map, a vessel still counts', async () => {
  const given = { at: NOW - 30 * 60_000, coordinates: [-180, -90] }
  const { events } = await normalise(digitraffic, JSON.stringify(answer(feature(given))))
  expect(events).toMatchObject([{ ts: '2026-03-01T11:30:00.000Z', lat: -90, lon: -180 }])
})

test('it asks for what is new, says who it is, takes gzip, and learns names once an hour', async () => {
  const names: Reply = { json: [{ mmsi: 241_930_000, name: 'AISOPOS ' }, { mmsi: 'x' }] }
  const world = upstream(digitraffic, ({ pathname }) =>
    pathname.endsWith('/vessels') ? names : { json: answer(feature()) },
  )
  const { events } = await world.poll('2026-03-01T12:00:00Z')
  expect(events[0]?.title).toBe('AISOPOS')
  const [first, second] = world.asked
  expect(first?.url.searchParams.get('from')).toBe(String(NOW - 30 * 60_000))
  expect(first?.headers.get('digitraffic-user')).toMatch(/^self-hosted\/Watchpost /)
  expect(first?.headers.get('accept-encoding')).toBe('gzip')
  expect(second?.url.pathname).toBe('/api/ais/v1/vessels')
  expect(second?.url.searchParams.get('from')).toBe(String(NOW - 24 * 60 * 60_000))

  await world.poll('2026-03-01T12:01:00Z')
  expect(world.asked).toHaveLength(1)
  expect(world.asked[0]?.url.searchParams.get('from')).toBe(String(NOW - 5_000 - 120_000))
  await world.poll('2026-03-01T13:00:00Z')
  expect(world.asked).toHaveLength(2)
})

test('without names positions still come, and names are asked for again', async () => {
  const world = upstream(digitraffic, ({ pathname }) =>
    pathname.endsWith('/vessels') ? { status: 503 } : { json: answer(feature()) },
  )
  const { events, rejected } = await world.poll('2026-03-01T12:00:00Z')
  expect([events.length, rejected]).toEqual([1, [{ item: 'vessels', reason: 'answered HTTP 503' }]])
  await world.poll('2026-03-01T12:09:00Z')
  expect(world.asked).toHaveLength(1)
  await world.poll('2026-03-01T12:10:00Z')
  expect(world.asked).toHaveLength(2)
})

test('names are trimmed and cut; a vessel without one is known by its number', async () => {
  const named = [
    { mmsi: 241_930_000, name: ` ${'x'.repeat(70)} ` },
    { mmsi: 230_000_001, name: '  ' },
    { mmsi: 230_000_002, name: null },
    { mmsi: 230_000_003 },
    { mmsi: 0, name: 'NOBODY' },
    'nonsense',
    { mmsi: 230_000_004, name: 'LAST' },
  ]
  const world = upstream(digitraffic, ({ pathname }) =>
    pathname.endsWith('/vessels') ? { json: named } : { json: answer(feature()) },
  )
  await world.poll('2026-03-01T12:00:00Z')
  expect(world.state.names).toEqual({ 241930000: 'x'.repeat(60), 230000004: 'LAST' })
  const many = Array.from({ length: 25_001 }, (_, n) => ({ mmsi: 230_000_001 + n, name: 'X' }))
  world.answer = ({ pathname }) => ({ json: pathname.endsWith('/vessels') ? many : answer() })
  await world.poll('2026-03-01T13:00:00Z')
  expect(Object.keys(world.state.names ?? {})).toHaveLength(25_000)
})

test('names that did not change, or are no list, stay as they were', async () => {
  let names: Reply = { json: [{ mmsi: 241_930_000, name: 'AISOPOS' }] }
  const world = upstream(digitraffic, ({ pathname }) =>
    pathname.endsWith('/vessels') ? names : { json: answer(feature({ at: NOW + 3_600_000 })) },
  )
  await world.poll('2026-03-01T13:00:00Z')
  names = { status: 304 }
  const { rejected } = await world.poll('2026-03-01T14:00:00Z')
  expect(rejected.map(({ item }) => item)).not.toContain('vessels')
  expect(world.state.names).toEqual({ 241930000: 'AISOPOS' })
  names = { json: { vessels: [] } }
  expect((await world.poll('2026-03-01T15:00:00Z')).rejected).toContainEqual({
    item: 'vessels',
    reason: 'vessels: answered with JSON that is not a list',
  })
  expect(world.state.names).toEqual({ 241930000: 'AISOPOS' })
})

test('an answer that did not change keeps the place, and the newest position counts', async () => {
  const positions = [feature({ at: NOW - 5_000 }), feature({ at: NOW - 9_000 })]
  const world = upstream(digitraffic, ({ pathname }) => ({
    json: pathname.endsWith('/vessels') ? [] : answer(...positions),
  }))
  expect(await world.poll('2026-03-01T12:00:00Z')).toMatchObject({ not_modified: false })
  expect(world.state.newest).toBe(NOW - 5_000)
  world.answer = () => ({ status: 304 })
  const unchanged = { not_modified: true, events: [], rejected: [] }
  expect(await world.poll('2026-03-01T12:01:00Z')).toMatchObject(unchanged)
  expect(world.state.newest).toBe(NOW - 5_000)
  world.answer = () => ({ json: answer(), headers: { 'cache-control': 'max-age=61' } })
  expect(await world.poll('2026-03-01T12:02:00Z')).toMatchObject({ next_poll_seconds: 61 })
  const empty = upstream(digitraffic, () => ({ json: answer() }))
  await empty.poll('2026-03-01T12:00:00Z')
  expect(empty.state.newest).toBe(NOW - 30 * 60_000)
})

test('a failure is a FeedError, and a state that cannot be read starts afresh', async () => {
  const world = upstream(digitraffic, () => ({ body: '<html>' }))
  world.state = { newest: 'never', names: 3 }
  await expect(world.poll('2026-03-01T12:00:00Z')).rejects.toThrow('answered with a web page')
  world.answer = () => ({ json: [] })
  await expect(world.poll('2026-03-01T12:00:00Z')).rejects.toMatchObject({
    code: 'not_json',
    message: 'answered with JSON that is not a FeatureCollection',
  })
})

test('broken answers do no harm', async () => {
  const json = answer(feature(), feature({ mmsi: 230_123_450 }))
  await expectHarmless(digitraffic, JSON.stringify(json))
  await expectRobust(digitraffic, json)
})

describeRecordings('recordings', () => {
  test('one vessel, which was heard eight days before its answer', async () => {
    const text = recording('digitraffic/ais-v1-locations-2026-04-06-1feature.json')
    const late = await normalise(digitraffic, text, new Date('2026-04-06T10:23:33Z'))
    expect([late.events.length, late.rejected.length]).toEqual([0, 1])
    const then = await normalise(digitraffic, text, new Date(1_774_756_010_000))
    expect(then.events).toMatchObject([{ id: 'digitraffic:241930000:1774756004' }])
  })
})
