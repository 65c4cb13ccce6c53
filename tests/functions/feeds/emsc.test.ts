import { describe, expect, test } from 'vitest'
import { emsc, normaliseEmsc } from '../../../functions/feeds/emsc.ts'
import {
  describeRecordings,
  expectHarmless,
  expectRobust,
  normalise,
  recording,
  upstream,
} from '../../support/feeds/feeds.ts'

function feature(over: Record<string, unknown> = {}) {
  const properties = {
    source_id: '1643105',
    source_catalog: 'EMSC-RTS',
    lastupdate: '2026-03-01T11:58:24.385933Z',
    time: '2026-03-01T11:50:58.59Z',
    flynn_region: 'NEW GUINEA, PAPUA NEW GUINEA',
    lat: -4.027,
    lon: 143.2849,
    depth: 10.5,
    evtype: 'ke',
    auth: 'NEIC',
    mag: 4.6,
    magtype: 'mb',
    unid: '20260301_0000303',
    ...over,
  }
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [143.2849, -4.027, -10.5] },
    id: properties.unid,
    properties,
  }
}

const answer = (...features: unknown[]) => ({
  type: 'FeatureCollection',
  metadata: { count: features.length },
  features,
})

describe('a feature becomes an event', () => {
  test('with every field of the canonical form, and the depth with its right sign', () => {
    expect(normaliseEmsc(feature())).toEqual({
      event: {
        id: 'emsc:20260301_0000303',
        source: 'emsc',
        type: 'earthquake',
        title: 'M 4.6 - NEW GUINEA, PAPUA NEW GUINEA',
        lat: -4.027,
        lon: 143.2849,
        ts: '2026-03-01T11:50:58.590Z',
        severity: 53,
        subject: null,
        status: 'active',
        url: 'https://www.emsc-csem.org/Earthquake_information/earthquake.php?id=1643105',
        geometry: null,
        ends_at: null,
        magnitude: 4.6,
        depth_km: 10.5,
        revised_at: '2026-03-01T11:58:24.385Z',
        aliases: [],
      },
    })
  })

  test.each([
    ['ke', 'earthquake', 77],
    ['se', 'earthquake', 77],
    ['ki', 'earthquake', 77],
    [null, 'earthquake', 77],
    ['kn', 'other', 77],
    ['km', 'other', 20],
    ['sx', 'other', 20],
    ['ls', 'other', 20],
    ['k', 'other', 20],
  ])('a magnitude 6 of kind %s is of type %s and severity %i', (evtype, type, severity) => {
    expect(normaliseEmsc(feature({ mag: 6, evtype }))).toMatchObject({ event: { type, severity } })
  })

  test('what is unknown is left out', () => {
    const unknown = { mag: null, flynn_region: null, depth: null, source_id: null }
    expect(normaliseEmsc(feature(unknown))).toMatchObject({
      event: {
        title: 'Magnitude unknown - -4.03, 143.28',
        severity: 0,
        magnitude: null,
        depth_km: null,
        url: null,
      },
    })
  })

  test.each([
    [{ lat: 91 }, 'lat'],
    [{ lon: -181 }, 'lon'],
    [{ lat: null }, 'lat'],
    [{ time: 'yesterday' }, 'ts'],
    [{ time: '2026-02-30T00:00:00Z' }, 'ts'],
    [{ lastupdate: '2026-03-01T11:58:24' }, 'revised_at'],
    [{ lastupdate: null }, 'lastupdate'],
    [{ unid: '' }, 'unid'],
    [{ mag: '4.6' }, 'mag'],
  ])('%j is rejected, and the reason names the field', (over, field) => {
    const result = normaliseEmsc(feature(over))
    expect(result).toHaveProperty('rejected.reason', expect.stringContaining(field))
  })

  test('a frame of the websocket, several of them, or a single feature normalise too', async () => {
    const frame = JSON.stringify({ action: 'update', data: feature() })
    for (const [text, count] of [
      [frame, 1],
      [`${frame}\n${frame}\n`, 2],
      [`  ${frame}\n \n ${frame}`, 2],
      [JSON.stringify(feature()), 1],
      [JSON.stringify(answer(feature(), 'nonsense')), 1],
    ] as const) {
      const { events } = await normalise(emsc, text)
      expect(events.map(({ id }) => id)).toEqual(Array(count).fill('emsc:20260301_0000303'))
    }
  })
})

test('broken frames among others are rejected by their number; one alone is no answer', async () => {
  const frame = JSON.stringify({ action: 'update', data: feature() })
  const content = await normalise(emsc, `${frame}\n{"action": 1`)
  expect([content.events.length, content.rejected.length]).toEqual([1, 1])
  expect(content.rejected[0]?.item).toBe('#2')
  for (const text of ['{"action":', `x${frame}\nx${frame}`, `<a>\n${frame}`]) {
    await expect(normalise(emsc, text)).rejects.toMatchObject({ code: 'not_json' })
  }
  expect(normaliseEmsc('nonsense')).toMatchObject({ rejected: { item: '#1' } })
})

test('its stream is the websocket of seismicportal.eu', () => {
  expect(emsc.stream?.connections({})).toEqual([
    {
      name: 'the websocket of seismicportal.eu',
      url: 'wss://www.seismicportal.eu/standing_order/websocket',
    },
  ])
})

test('a region of spaces is none', () => {
  expect(normaliseEmsc(feature({ flynn_region: ' ' }))).toMatchObject({
    event: { title: 'M 4.6 - -4.03, 143.28' },
  })
})

describe('polling', () => {
  test('asks for what changed since the last revision, with an overlap', async () => {
    const world = upstream(emsc, () => ({ json: answer(feature()) }))
    const first = await world.poll('2026-03-01T12:00:00.000Z')
    expect(first).toMatchObject({ events: [{}], rejected: [], not_modified: false })
    expect(Object.fromEntries(world.asked[0]?.url.searchParams ?? [])).toEqual({
      format: 'json',
      orderby: 'time',
      start: '2026-02-28T12:00:00.000Z',
      updatedafter: '2026-02-28T12:00:00.000Z',
      limit: '1000',
      offset: '1',
    })
    const since = () => world.asked[0]?.url.searchParams.get('updatedafter')
    expect(since()).toBe('2026-02-28T12:00:00.000Z')
    await world.poll('2026-03-01T12:01:00.000Z')
    expect(since()).toBe('2026-03-01T11:53:24.385Z')
    await world.poll('2026-04-01T12:01:00.000Z')
    expect(since()).toBe('2026-03-25T12:01:00.000Z')
  })

  test('asks for nothing that happened long before the first poll, or 30 days ago', async () => {
    const world = upstream(emsc, () => ({ json: answer() }))
    const start = () => world.asked[0]?.url.searchParams.get('start')
    await world.poll('2026-03-01T12:00:00.000Z')
    expect(start()).toBe('2026-02-28T12:00:00.000Z')
    await world.poll('2026-03-11T12:00:00.000Z')
    expect(start()).toBe('2026-02-28T12:00:00.000Z')
    await world.poll('2026-05-01T12:00:00.000Z')
    expect(start()).toBe('2026-04-01T12:00:00.000Z')
  })

  test('nothing new, also as 204, keeps the place', async () => {
    const world = upstream(emsc, () => ({ json: answer(feature()) }))
    await world.poll('2026-03-01T12:00:00.000Z')
    const { state } = world
    world.answer = () => ({ status: 204 })
    expect(await world.poll('2026-03-01T12:01:00.000Z')).toMatchObject({ events: [], state })
    world.answer = () => ({ json: answer() })
    expect(await world.poll('2026-03-01T12:02:00.000Z')).toMatchObject({ events: [], state })
  })

  test('the newest revision counts, wherever it stands, and what is no event is named', async () => {
    const revised = ['11:30', '11:59', '11:40'].map((time) =>
      feature({ lastupdate: `2026-03-01T${time}:00Z` }),
    )
    const world = upstream(emsc, () => ({ json: answer(...revised, 'nonsense') }))
    const { rejected } = await world.poll('2026-03-01T12:00:00.000Z')
    expect(rejected).toMatchObject([{ item: '#4' }])
    expect(world.state.updated_after).toBe('2026-03-01T11:59:00.000Z')
    world.answer = () => ({ json: answer(feature({ lastupdate: '2026-03-01T11:00:00Z' })) })
    await world.poll('2026-03-01T12:01:00.000Z')
    expect(world.state.updated_after).toBe('2026-03-01T11:59:00.000Z')
    world.answer = () => ({ status: 304 })
    expect(await world.poll('2026-03-01T12:02:00.000Z')).toMatchObject({ events: [], rejected: [] })
  })

  test('a revision in the future does not hide those after it', async () => {
    const world = upstream(emsc, () => ({
      json: answer(feature({ lastupdate: '2126-03-01T00:00:00Z' })),
    }))
    await world.poll('2026-03-01T12:00:00.000Z')
    await world.poll('2026-03-01T12:01:00.000Z')
    const since = world.asked[0]?.url.searchParams.get('updatedafter')
    expect(since).toBe('2026-03-01T11:56:00.000Z')
  })

  test('a full page is followed by the next; what is left out after five is said', async () => {
    const page = (count: number) => answer(...Array.from({ length: count }, () => feature()))
    const world = upstream(emsc, (url) => ({
      json: page(url.searchParams.get('offset') === '2001' ? 3 : 1000),
    }))
    const { events, rejected } = await world.poll('2026-03-01T12:00:00.000Z')
    expect(events).toHaveLength(2003)
    expect(rejected).toEqual([])
    world.answer = () => ({ json: page(1000) })
    const full = await world.poll('2026-03-01T12:01:00.000Z')
    expect(world.asked).toHaveLength(5)
    expect(full.rejected).toEqual([
      { item: 'search', reason: expect.stringContaining('more than 5000 changed') },
    ])
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
    ['other JSON', { json: { error: 'x' } }, { code: 'not_json' }],
    ['no answer', new TypeError('reset'), { code: 'unreachable' }],
  ])('%s is a FeedError, and the state is kept', async (_, reply, error) => {
    const world = upstream(emsc, () => ({ json: answer(feature()) }))
    await world.poll('2026-03-01T12:00:00.000Z')
    const { state } = world
    world.answer = () => reply
    await expect(world.poll('2026-03-01T12:01:00.000Z')).rejects.toMatchObject(error)
    expect(world.state).toEqual(state)
  })

  test('a damaged state starts afresh', async () => {
    const world = upstream(emsc, () => ({ json: answer() }))
    world.state = { updated_after: 'soon' }
    await world.poll('2026-03-01T12:00:00.000Z')
    expect(world.asked[0]?.url.searchParams.get('updatedafter')).toBe('2026-02-28T12:00:00.000Z')
    expect(world.state).toEqual({
      updated_after: null,
      watching_since: '2026-03-01T12:00:00.000Z',
    })
  })
})

describe('broken answers', () => {
  test('do no harm', async () => {
    await expectHarmless(emsc, JSON.stringify(answer(feature(), feature({ mag: null }))))
    await expectRobust(emsc, answer(feature(), feature()))
  })

  test('of 20,000 items each comes out', async () => {
    const many = Array.from({ length: 20_000 }, (_, n) => feature({ mag: n % 2 ? 4 : 'x' }))
    const { events, rejected } = await normalise(emsc, JSON.stringify(answer(...many)))
    expect([events.length, rejected.length]).toEqual([10_000, 10_000])
  })
})

describeRecordings('recorded answers', () => {
  test.each([
    ['emsc/fdsnws-event-2026-10-03.json', 11],
    ['emsc/websocket-update-frame-2024-04-06.json', 1],
  ])('%s gives %i events', async (file, count) => {
    const { events, rejected } = await normalise(emsc, recording(file))
    expect([events.length, rejected]).toEqual([count, []])
  })
})

test('a frame of the websocket is read by itself', () => {
  const read = emsc.stream?.createReader()
  const input = { now: new Date('2026-03-01T12:00:00Z'), item: '#7', from: '' }
  expect(read?.('{"action":"create","data":{}}', input)).toMatchObject({
    events: [],
    rejected: [{ item: '#7', reason: expect.stringMatching(/^properties/) }],
  })
  expect(read?.('<html>', input)).toEqual({
    events: [],
    rejected: [{ item: expect.any(String), reason: 'answered with a web page' }],
  })
})
