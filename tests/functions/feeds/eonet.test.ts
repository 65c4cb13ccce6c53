import { describe, expect, test } from 'vitest'
import { eonet } from '../../../functions/feeds/eonet.ts'
import type { NormalisedEvent } from '../../../shared/schemas/event.ts'
import {
  describeRecordings,
  expectHarmless,
  expectRobust,
  normalise,
  type Reply,
  recording,
  upstream,
} from '../../support/feeds/feeds.ts'

const seen = (date: string, coordinates: unknown, over: Record<string, unknown> = {}) => ({
  magnitudeValue: null,
  magnitudeUnit: null,
  date,
  type: 'Point',
  coordinates,
  ...over,
})

const item = (over: Record<string, unknown> = {}) => {
  const { category = 'severeStorms', value = 40, unit = 'kts', ...rest } = over
  return {
    id: 'EONET_24786',
    title: 'Hurricane Nolo',
    description: null,
    link: 'https://eonet.gsfc.nasa.gov/api/v3/events/EONET_24786',
    closed: null,
    categories: [{ id: category, title: 'Title' }],
    sources: [{ id: 'JTWC', url: 'https://www.metoc.navy.mil/ep1526.tcw' }],
    geometry: [
      seen('2026-03-01T06:00:00Z', [-155.8, 14.6], { magnitudeValue: value, magnitudeUnit: unit }),
    ],
    ...rest,
  }
}
const answer = (...events: unknown[]) => ({ title: 'EONET Events', events })

async function only(over: Record<string, unknown> = {}): Promise<NormalisedEvent> {
  const { events, rejected } = await normalise(eonet, JSON.stringify(answer(item(over))))
  if (!events[0]) throw new Error(rejected[0]?.reason)
  return events[0]
}

describe('an item becomes an event', () => {
  test('with every field of the canonical form', async () => {
    expect(await only()).toEqual({
      id: 'eonet:EONET_24786',
      source: 'eonet',
      type: 'storm',
      title: 'Hurricane Nolo',
      lat: 14.6,
      lon: -155.8,
      ts: '2026-03-01T06:00:00.000Z',
      severity: 50,
      subject: 'eonet:EONET_24786',
      status: 'active',
      url: 'https://eonet.gsfc.nasa.gov/api/v3/events/EONET_24786',
      geometry: null,
      ends_at: null,
      revised_at: null,
      aliases: [],
    })
  })

  test('is where it was last observed, wherever that stands in the list', async () => {
    const geometry = [
      seen('2026-03-01T06:00:00Z', [178.75, -70]),
      seen('2026-03-01T12:00:00Z', [-179.72, -71]),
      seen('2026-02-01T06:00:00Z', [170, -69]),
    ]
    expect(await only({ geometry })).toMatchObject({
      lon: -179.72,
      lat: -71,
      ts: '2026-03-01T12:00:00.000Z',
    })
  })

  test('of two observations at once the later in the list counts', async () => {
    const date = '2026-03-01T12:00:00Z'
    expect(await only({ geometry: [seen(date, [1, 1]), seen(date, [2, 2])] })).toMatchObject({
      lon: 2,
    })
  })

  test('areas are a footprint as well', async () => {
    const square = (lon: number) => [
      [lon, 0],
      [lon + 1, 0],
      [lon + 1, 1],
      [lon, 0],
    ]
    const coordinates = [[square(0)], [square(5)]]
    const geometry = [seen('2026-03-01T12:00:00Z', coordinates, { type: 'MultiPolygon' })]
    expect((await only({ geometry })).geometry).toEqual({ type: 'MultiPolygon', coordinates })
  })

  test('alone is read like one of a list', async () => {
    const { events } = await normalise(eonet, JSON.stringify(item()))
    expect(events).toEqual([await only()])
  })

  test('an area is a footprint with a point inside, also across the antimeridian', async () => {
    const ring = [
      [179, 0],
      [-179, 0],
      [-179, 2],
      [179, 2],
      [179, 0],
    ]
    const geometry = [seen('2026-03-01T12:00:00Z', [ring], { type: 'Polygon' })]
    const event = await only({ geometry })
    expect(event.geometry).toMatchObject({ type: 'Polygon' })
    expect([Math.abs(event.lon), event.lat]).toEqual([180, 1])
  })

  test.each([
    ['severeStorms', 'kts', 137, 'storm', 100],
    ['severeStorms', null, null, 'storm', 30],
    ['severeStorms', 'km/h', 200, 'storm', 30],
    ['wildfires', 'acres', 999, 'wildfire', 30],
    ['wildfires', 'acres', 1000, 'wildfire', 40],
    ['wildfires', 'acres', 10_000, 'wildfire', 60],
    ['wildfires', 'acres', 50_000, 'wildfire', 70],
    ['wildfires', 'hectares', 50_000, 'wildfire', 30],
    ['wildfires', null, null, 'wildfire', 30],
    ['volcanoes', null, null, 'volcano', 50],
    ['floods', null, null, 'flood', 50],
    ['drought', null, null, 'drought', 40],
    ['earthquakes', 'mag', 6, 'earthquake', 77],
    ['seaLakeIce', 'NM^2', 912, 'other', 10],
    ['dustHaze', null, null, 'weather', 30],
    ['snow', null, null, 'weather', 30],
    ['tempExtremes', null, null, 'weather', 30],
    ['newCategory', null, null, 'other', 30],
  ])('%s of %s %s is of type %s and severity %i', async (category, unit, value, type, severity) => {
    const event = await only({ category, unit, value })
    expect([event.type, event.severity]).toEqual([type, severity])
  })

  test.each([
    ['Prescribed Fire D2 Dye RX, Arizona', 10],
    ['Wildfire D2 Dye RX, Arizona', 10],
    ['Wildfire RXTON, Arizona', 70],
    ['No Prescribed Fire, Arizona', 70],
  ])('the fire "%s" has severity %i', async (title, severity) => {
    const fire = { category: 'wildfires', unit: 'acres', value: 90_000, title }
    expect((await only(fire)).severity).toBe(severity)
  })

  test('a closed one has ended; without a link it has that of its source', async () => {
    expect(await only({ closed: '2026-03-01T00:00:00Z' })).toMatchObject({ status: 'ended' })
    expect((await only({ link: null })).url).toBe('https://www.metoc.navy.mil/ep1526.tcw')
    for (const sources of [[], undefined]) {
      expect((await only({ link: null, sources })).url).toBeNull()
    }
  })

  test('a fire whose size is not given has the lowest severity', async () => {
    const observed = seen('2026-03-01T12:00:00Z', [0, 0], {
      ...{ magnitudeUnit: 'acres', magnitudeValue: undefined },
    })
    expect((await only({ category: 'wildfires', geometry: [observed] })).severity).toBe(30)
  })

  test.each([
    [{ id: '24786' }, 'id: must have the form EONET_<number>'],
    [{ id: 'X_EONET_24786' }, 'id: must have the form'],
    [{ id: 'EONET_24786b' }, 'id: must have the form'],
    [{ geometry: [] }, 'geometry: has no observation'],
    [{ categories: [] }, 'categories'],
    [{ geometry: [seen('soon', [0, 0])] }, 'date'],
    [{ geometry: [seen('2026-03-01', [0, 0])] }, 'date'],
    [{ geometry: [seen('2026-03-01T12:00:00Z', [0, 91])] }, 'lat'],
    [{ geometry: [seen('2026-03-01T12:00:00Z', [])] }, 'coordinates'],
    [{ geometry: [seen('2026-03-01T12:00:00Z', [0, 0], { type: 'Circle' })] }, 'type: "Circle"'],
    [{ geometry: [seen('2026-03-01T12:00:00Z', [[[0, 0]]], { type: 'Polygon' })] }, 'geometry'],
  ])('%j is rejected, and the reason names the field', async (over, field) => {
    const { events, rejected } = await normalise(eonet, JSON.stringify(answer(item(over))))
    expect([events, rejected[0]?.reason]).toEqual([[], expect.stringContaining(field)])
  })
})

test('what is no event is named by its id, or by its place in the list', async () => {
  const text = JSON.stringify(answer(item({ title: '' }), { id: '' }, null))
  const { rejected } = await normalise(eonet, text)
  expect(rejected.map((one) => one.item)).toEqual(['EONET_24786', '#2', '#3'])
  await expect(normalise(eonet, '{}')).rejects.toThrow(
    'answered with JSON without a list of events',
  )
})

describe('polling', () => {
  const at = (hour: number, minute = 0) =>
    new Date(Date.UTC(2026, 2, 1, hour, minute)).toISOString()
  const world = () => {
    const replies: { open: Reply; closed: Reply } = {
      open: { json: answer(item()), headers: { etag: '"o"' } },
      closed: { json: answer(item({ id: 'EONET_1', closed: '2026-02-20T00:00:00Z' })) },
    }
    const polled = upstream(eonet, (url) =>
      url.search.includes('status=open') ? replies.open : replies.closed,
    )
    return Object.assign(polled, { replies })
  }

  test('asks for open events every time, for closed ones once a day', async () => {
    const polled = world()
    const asked: string[][] = []
    for (const time of [at(12), at(12, 15), at(35), at(36)]) {
      await polled.poll(time)
      asked.push(polled.asked.map(({ url }) => url.search))
    }
    const [open, closed] = ['?status=open&days=90', '?status=closed&days=30']
    expect(asked).toEqual([[open, closed], [open], [open], [open, closed]])
  })

  test('a closed event ends; an open one that is left out does not', async () => {
    const polled = world()
    const { events } = await polled.poll(at(12))
    expect(events.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'eonet:EONET_24786 active',
      'eonet:EONET_1 ended',
    ])
    polled.replies.open = { json: answer() }
    for (const minute of [15, 30, 45]) {
      expect((await polled.poll(at(12, minute))).events).toEqual([])
    }
  })

  test('a 304 changes nothing', async () => {
    const polled = world()
    await polled.poll(at(12))
    const { state } = polled
    polled.replies.open = { status: 304 }
    expect(await polled.poll(at(12, 15))).toMatchObject({ not_modified: true, events: [], state })
    expect(polled.asked[0]?.headers.get('if-none-match')).toBe('"o"')
  })

  test('when the closed events come, it is no 304, whatever the open ones say', async () => {
    const polled = world()
    polled.replies.open = { status: 304 }
    polled.replies.closed = { json: answer(item({ closed: '2026-02-20T00:00:00Z' }), 'nonsense') }
    expect(await polled.poll(at(12))).toMatchObject({
      not_modified: false,
      events: [{ status: 'ended' }],
      rejected: [{ item: '#2' }],
    })
    expect(polled.state.closed_due).toBe(Date.parse(at(36)))
    polled.replies.open = { json: answer(item()) }
    polled.replies.closed = { status: 304 }
    expect(await polled.poll(at(36))).toMatchObject({
      events: [{ status: 'active' }],
      rejected: [],
    })
  })

  test('a 304 without the closed events says nothing', async () => {
    const polled = world()
    await polled.poll(at(12))
    polled.replies.open = { status: 304, headers: { 'cache-control': 'max-age=1800' } }
    expect(await polled.poll(at(13))).toEqual({
      events: [],
      rejected: [],
      state: polled.state,
      not_modified: true,
      next_poll_seconds: 1800,
    })
  })

  test('without the closed events the open ones count, and they are asked for again', async () => {
    const polled = world()
    polled.replies.closed = { status: 503 }
    const { events, rejected } = await polled.poll(at(12))
    expect(events).toHaveLength(1)
    expect(rejected).toEqual([{ item: 'closed events', reason: 'answered HTTP 503' }])
    await polled.poll(at(12, 45))
    expect(polled.asked).toHaveLength(1)
    await polled.poll(at(13))
    expect(polled.asked).toHaveLength(2)
  })

  test.each([
    [
      'a rate limit',
      { status: 429, headers: { 'retry-after': '90' } },
      { retry_after_seconds: 90 },
    ],
    ['a failure', { status: 503 }, { status: 503 }],
    ['a web page', { body: '<html>' }, { code: 'not_json' }],
    ['an empty body', { body: '' }, { code: 'not_json' }],
    ['other JSON', { json: {} }, { code: 'not_json' }],
  ])('%s is a FeedError, and the state is kept', async (_, reply, error) => {
    const polled = world()
    await polled.poll(at(12))
    const { state } = polled
    polled.replies.open = reply
    await expect(polled.poll(at(12, 15))).rejects.toMatchObject(error)
    expect(polled.state).toEqual(state)
  })
})

describe('broken answers', () => {
  test('do no harm', async () => {
    await expectHarmless(eonet, JSON.stringify(answer(item(), item({ category: 'wildfires' }))))
    await expectRobust(eonet, answer(item(), item()))
  })
})

describeRecordings('recorded answers', () => {
  test('four events, each where it was last seen', async () => {
    const { events, rejected } = await normalise(eonet, recording('eonet/events-2026-09-28.json'))
    expect(rejected).toEqual([])
    expect(events.map(({ id, severity, ts }) => [id, severity, ts])).toEqual([
      ['eonet:EONET_24786', 90, '2026-09-28T06:00:00.000Z'],
      ['eonet:EONET_24719', 10, '2026-09-17T17:44:00.000Z'],
      ['eonet:EONET_24487', 60, '2026-09-14T11:43:00.000Z'],
      ['eonet:EONET_2736', 10, '2026-09-10T00:00:00.000Z'],
    ])
  })
})
