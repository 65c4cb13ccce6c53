import { describe, expect, test } from 'vitest'
import { usgsVolcano } from '../../../functions/feeds/usgs-volcano.ts'
import { NormalisedEvent } from '../../../shared/schemas/event.ts'
import {
  expectHarmless,
  expectRobust,
  normalise,
  type Reply,
  upstream,
} from '../../support/feeds/feeds.ts'

/** A volcano as the list of elevated ones has it, with the place that the real list lacks. */
const volcano = (vnum: string, over: object = {}) => ({
  obs_fullname: 'Hawaiian Volcano Observatory',
  obs_abbr: 'hvo',
  volcano_name: 'Kilauea',
  vnum,
  notice_type_cd: 'DU',
  sent_utc: '2026-03-01 10:30:00',
  color_code: 'ORANGE',
  alert_level: 'WATCH',
  notice_url: 'https://volcanoes.usgs.gov/hans-public/notice/DOI-USGS-HVO-1',
  ...over,
})
const placed = (vnum: string, over: object = {}) =>
  volcano(vnum, { latitude: 19.421, longitude: -155.287, ...over })
const read = (...list: unknown[]) => normalise(usgsVolcano, JSON.stringify(list))

describe('a volcano becomes an event', () => {
  test('with every field of the canonical form', async () => {
    expect(await read(placed('332010'))).toEqual({
      rejected: [],
      events: [
        {
          id: 'usgs-volcano:332010',
          source: 'usgs-volcano',
          type: 'volcano',
          title: 'Kilauea - WATCH / ORANGE',
          lat: 19.421,
          lon: -155.287,
          ts: '2026-03-01T10:30:00.000Z',
          severity: 60,
          subject: 'volcano:332010',
          status: 'active',
          url: 'https://volcanoes.usgs.gov/hans-public/notice/DOI-USGS-HVO-1',
          geometry: null,
          ends_at: null,
          revised_at: '2026-03-01T10:30:00.000Z',
          aliases: [],
        },
      ],
    })
  })

  test.each([
    ['GREEN', 'NORMAL', 10],
    ['YELLOW', 'ADVISORY', 30],
    ['ORANGE', 'WATCH', 60],
    ['RED', 'WARNING', 90],
    ['red', null, 90],
    ['YELLOW', 'WARNING', 30],
    ['UNASSIGNED', 'WATCH', 60],
    [null, 'ADVISORY', 30],
    ['MAUVE', 'ODD', 10],
  ])('%s and %s are severity %i', async (color_code, alert_level, severity) => {
    expect((await read(placed('1234', { color_code, alert_level }))).events).toMatchObject([
      { severity },
    ])
  })

  test('numbers as text or not, and what is missing', async () => {
    const odd = {
      vnum: 332010,
      latitude: '19.421',
      longitude: '-155',
      volcano_name: null,
      color_code: null,
    }
    expect(
      (await read(placed('1', { ...odd, alert_level: 7, notice_url: 'none' }))).events,
    ).toMatchObject([
      { id: 'usgs-volcano:332010', lat: 19.421, lon: -155, title: 'Volcano 332010', url: null },
    ])
  })

  test.each<[string, unknown, string]>([
    ['place', volcano('332010'), 'no-geometry'],
    ['time', placed('332010', { sent_utc: null }), 'sent_utc'],
    ['readable time', placed('332010', { sent_utc: 'today' }), 'ts'],
    ['number', placed('hi3'), 'vnum'],
    ['number alone', placed('hi332010'), 'vnum'],
    ['number of eight digits at most', placed('332010332'), 'vnum'],
    ['latitude beside its longitude', placed('332010', { latitude: null }), 'no-geometry'],
    ['longitude beside its latitude', placed('332010', { longitude: null }), 'no-geometry'],
    ['latitude on earth', placed('332010', { latitude: 91 }), 'lat'],
    ['latitude that is a number', placed('332010', { latitude: 'N19.4' }), 'latitude'],
    ['longitude that is a number alone', placed('332010', { longitude: '-155W' }), 'longitude'],
    ['content', null, 'item'],
  ])('without a %s it is rejected', async (_, item, field) => {
    const { events, rejected } = await read(item)
    expect(events).toEqual([])
    expect(rejected[0]?.reason).toContain(field)
  })
})

const at = (minute: number) =>
  new Date(Date.parse('2026-03-01T12:00:00Z') + minute * 60_000).toISOString()

function world() {
  const replies: { elevated: Reply; places: Reply } = {
    elevated: { json: [] },
    places: {
      json: [{ vnum: '1001', latitude: 19, longitude: -155 }, { vnum: '1002', latitude: null }, 7],
    },
  }
  const feed = upstream(usgsVolcano, (url) =>
    url.pathname.endsWith('getElevatedVolcanoes') ? replies.elevated : replies.places,
  )
  return {
    feed,
    replies,
    asked: () => feed.asked.map(({ url }) => url.pathname.split('/').at(-1)),
    set(...list: unknown[]) {
      replies.elevated = { json: list }
    },
    async poll(minute: number) {
      const result = await feed.poll(at(minute))
      for (const event of result.events) NormalisedEvent.parse(event)
      return { ...result, lines: result.events.map((e) => `${e.id.split(':')[1]} ${e.status}`) }
    },
  }
}

test('a name of spaces is none', async () => {
  expect((await read(placed('332010', { volcano_name: ' ' }))).events).toMatchObject([
    { title: 'Volcano 332010 - WATCH / ORANGE' },
  ])
})

describe('polling', () => {
  test('the places come from the list of all volcanoes, once a week', async () => {
    const { set, poll, asked } = world()
    set(volcano('1001'))
    expect((await poll(0)).events).toMatchObject([{ lat: 19, lon: -155 }])
    expect(asked()).toEqual(['getElevatedVolcanoes', 'getUSVolcanoes'])
    await poll(10)
    await poll(6 * 24 * 60)
    expect(asked()).toEqual(['getElevatedVolcanoes'])
    await poll(7 * 24 * 60)
    expect(asked()).toHaveLength(2)
  })

  test('for one that is not in it, every hour; until then it waits and the list comes in full', async () => {
    const { set, poll, asked, feed, replies } = world()
    replies.elevated = { json: [volcano('1002')], headers: { etag: '"1"' } }
    const { events, rejected } = await poll(0)
    expect(events).toEqual([])
    expect(rejected).toMatchObject([
      { item: '1002', reason: expect.stringContaining('no-geometry') },
    ])
    await poll(50)
    expect(asked()).toHaveLength(1)
    expect(feed.asked[0]?.headers.has('if-none-match')).toBe(false)
    replies.places = { json: [{ vnum: 1002, latitude: 1, longitude: 2 }] }
    expect((await poll(60)).lines).toEqual(['1002 active'])
    set()
  })

  test('when the places cannot be fetched this is named, and tried again in an hour', async () => {
    const { set, poll, asked, replies } = world()
    set(placed('1001'), volcano('1003'))
    replies.places = { status: 500 }
    const { lines, rejected } = await poll(0)
    expect(lines).toEqual(['1001 active'])
    expect(rejected.map(({ item }) => item)).toEqual(['1003', 'getUSVolcanoes'])
    await poll(50)
    expect(asked()).toHaveLength(1)
    await poll(60)
    expect(asked()).toHaveLength(2)
  })

  test('known places stay when a list of others comes, and a broken list is named', async () => {
    const { set, poll, feed, replies } = world()
    set(volcano('1001'))
    await poll(0)
    set(volcano('1001'), volcano('1003'), null)
    replies.places = { json: [{ vnum: '1003', latitude: 1, longitude: 2 }, 'nonsense'] }
    expect((await poll(60)).lines).toEqual(['1001 active', '1003 active'])
    replies.places = { json: { volcanoes: [] } }
    set(volcano('1005'))
    expect((await poll(200)).rejected).toContainEqual({
      item: 'getUSVolcanoes',
      reason: 'answered with JSON that is not a list of volcanoes',
    })
    expect(Object.keys(feed.state.places ?? {})).toEqual(['1001', '1003'])
  })

  test('an empty list asks for no places, and one that was read may be asked for by its tag', async () => {
    const { set, poll, asked, feed, replies } = world()
    set()
    await poll(0)
    expect(asked()).toEqual(['getElevatedVolcanoes'])
    replies.elevated = {
      json: [placed('1001'), placed('1002', { sent_utc: 'x' })],
      headers: { etag: '"1"' },
    }
    expect(await poll(1)).toMatchObject({ rejected: [{ item: '1002' }], not_modified: false })
    await poll(2)
    expect(feed.asked[0]?.headers.get('if-none-match')).toBe('"1"')
  })

  test('a new notice revises it, and what two lists in a row lack has ended', async () => {
    const { set, poll } = world()
    set(placed('1001'), placed('1002'))
    await poll(0)
    set(placed('1001', { color_code: 'RED', sent_utc: '2026-03-01 12:05:00' }))
    expect((await poll(10)).events).toMatchObject([
      { severity: 90, revised_at: '2026-03-01T12:05:00.000Z' },
    ])
    expect((await poll(20)).lines).toEqual(['1001 active', '1002 ended'])
    expect((await poll(30)).lines).toEqual(['1001 active'])
    set()
    expect((await poll(40)).lines).toEqual([])
    expect((await poll(50)).lines).toEqual(['1001 ended'])
  })

  test('one that comes back as it was does not lose against its end', async () => {
    const { set, poll } = world()
    set(placed('1001'))
    const [first] = (await poll(0)).events
    set()
    await poll(10)
    expect((await poll(20)).events).toEqual([{ ...first, status: 'ended' }])
    set(placed('1001'))
    expect((await poll(30)).events).toEqual([first])
  })

  test('what is unreadable has not ended, and most at once have not either', async () => {
    const { set, poll } = world()
    set(placed('1001'), placed('1002'), placed('1003'), placed('1004'), placed('1005'))
    await poll(0)
    set(placed('1001', { sent_utc: 'x' }))
    await poll(10)
    expect((await poll(20)).lines).toEqual([])
    set(
      placed('1001'),
      placed('1002', { sent_utc: null }),
      placed('1003'),
      placed('1004'),
      placed('1005'),
    )
    await poll(30)
    expect((await poll(40)).lines.join()).not.toContain('ended')
  })

  test('304 is a success that changes nothing', async () => {
    const { poll, replies, feed } = world()
    replies.elevated = {
      json: [placed('1001')],
      headers: { etag: '"1"', 'cache-control': 'max-age=1200' },
    }
    expect(await poll(0)).toMatchObject({ next_poll_seconds: 1200 })
    replies.elevated = { status: 304 }
    const { state } = feed
    expect(await poll(10)).toMatchObject({ not_modified: true, events: [] })
    expect(feed.state).toEqual(state)
    expect(feed.asked[0]?.headers.get('if-none-match')).toBe('"1"')
  })

  test.each<[string, Reply, string]>([
    ['a web page', { body: '<html>' }, 'not_json'],
    ['nothing', { body: '' }, 'not_json'],
    ['half an answer', { body: '[{"vnum"' }, 'not_json'],
    ['an object', { json: { error: 'no' } }, 'not_json'],
    ['500', { status: 500 }, 'http_status'],
    ['429', { status: 429, headers: { 'retry-after': '60' } }, 'rate_limited'],
    ['no answer', new TypeError('reset'), 'unreachable'],
  ])('%s is an error that ends nothing', async (_, reply, code) => {
    const { set, poll, replies, feed } = world()
    set(placed('1001'))
    await poll(0)
    const { state } = feed
    replies.elevated = reply
    await expect(poll(10)).rejects.toMatchObject({ name: 'FeedError', code })
    expect(feed.state).toEqual(state)
  })

  test('an old or damaged state starts afresh', async () => {
    const { set, poll, feed } = world()
    feed.state = { places: 1, open: [] }
    set(volcano('1001'))
    expect((await poll(0)).lines).toEqual(['1001 active'])
  })
})

test('broken answers do no harm', async () => {
  await expectHarmless(usgsVolcano, JSON.stringify([placed('332010'), volcano('332020')]))
  await expectRobust(usgsVolcano, [placed('332010')], 200)
})
