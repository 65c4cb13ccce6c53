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
  [{ mmsi: 0 }, /nobody’s/],
])('%j is rejected', async (over, reason) => {
  const { events, rejected } = await normalise(digitraffic, JSON.stringify(answer(feature(over))))
  expect(events).toEqual([])
  expect(rejected).toEqual([{ item: expect.any(String), reason: expect.stringMatching(reason) }])
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

test('a failure is a FeedError, and a state that cannot be read starts afresh', async () => {
  const world = upstream(digitraffic, () => ({ body: '<html>' }))
  world.state = { newest: 'never', names: 3 }
  await expect(world.poll('2026-03-01T12:00:00Z')).rejects.toThrow('answered with a web page')
  world.answer = () => ({ json: [] })
  await expect(world.poll('2026-03-01T12:00:00Z')).rejects.toThrow('not a FeatureCollection')
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
