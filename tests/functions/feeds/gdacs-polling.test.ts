import { describe, expect, test } from 'vitest'
import type { FeedResult } from '../../../functions/feeds/feed.ts'
import { gdacs } from '../../../functions/feeds/gdacs.ts'
import { describeRecordings, type Reply, recording, upstream } from '../../support/feeds/feeds.ts'
import { gdacsArea, gdacsFeature, gdacsItem, gdacsRss } from '../../support/feeds/gdacs.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 12, minute)).toISOString()
const storm = gdacsItem({ alertlevel: 'Green' })
const flood = gdacsItem({ eventtype: 'FL', eventid: '7', alertlevel: 'Green' })
const quake = gdacsItem({
  eventtype: 'EQ',
  eventid: '9',
  fromdate: 'Sun, 01 Mar 2026 10:00:00 GMT',
  alertlevel: 'Green',
})

/** A polled GDACS: what each of its addresses answers is set by the test. */
function world() {
  const replies: { standing: Reply; day: Reply; week: Reply; footprint: Reply } = {
    standing: { body: gdacsRss(storm) },
    day: { body: gdacsRss(storm) },
    week: { body: gdacsRss() },
    footprint: { json: { features: [] } },
  }
  const polled = upstream(gdacs, (url) => {
    if (url.pathname.endsWith('/rss.xml')) return replies.standing
    if (url.pathname.endsWith('/rss_7d.xml')) return replies.week
    return url.pathname.endsWith('/rss_24h.xml') ? replies.day : replies.footprint
  })
  return Object.assign(polled, { replies })
}

const brief = ({ events }: FeedResult) => events.map(({ id, status }) => `${id} ${status}`)

describe('polling', () => {
  test('an event in both feeds comes once; validators go back; a 304 changes nothing', async () => {
    const polled = world()
    polled.replies.standing = { body: gdacsRss(storm), headers: { etag: '"s"' } }
    expect(brief(await polled.poll(at(0)))).toEqual(['gdacs:TC1000643 active'])
    const { state } = polled
    polled.replies.standing = { status: 304 }
    polled.replies.day = { status: 304, headers: { 'cache-control': 'max-age=900' } }
    const quiet = await polled.poll(at(6))
    expect(quiet).toMatchObject({ not_modified: true, events: [], next_poll_seconds: 900 })
    expect(polled.state).toEqual(state)
    expect(polled.asked[0]?.headers.get('if-none-match')).toBe('"s"')
  })

  test('after an outage of a day the week is asked for, and a failure of it is said', async () => {
    const polled = world()
    const missed = gdacsItem({
      eventtype: 'EQ',
      eventid: '3',
      fromdate: 'Fri, 27 Feb 2026 10:00:00 GMT',
      alertlevel: 'Orange',
    })
    polled.replies.week = { body: gdacsRss(missed) }
    const hours = (n: number) => new Date(Date.parse(at(0)) - n * 3_600_000)
    for (const last_success_at of [null, hours(22.9)]) {
      expect(brief(await polled.poll(at(0), { last_success_at }))).not.toContain('gdacs:EQ3 active')
    }
    const back = await polled.poll(at(6), { last_success_at: hours(23.1) })
    expect(brief(back)).toContain('gdacs:EQ3 active')
    // It is no feed of what stands: what it lists is neither ended nor taken back later.
    for (const minute of [12, 18, 24, 30]) {
      expect(JSON.stringify(brief(await polled.poll(at(minute))))).not.toContain('EQ3')
    }
    polled.replies.week = { status: 503 }
    const { events, rejected } = await polled.poll(at(36), { last_success_at: hours(48) })
    expect(events).not.toEqual([])
    expect(rejected).toMatchObject([{ item: '/xml/rss_7d.xml', reason: expect.any(String) }])
  })

  test('what stands ends when both feeds lack it twice', async () => {
    const polled = world()
    polled.replies.standing = { body: gdacsRss(storm, flood) }
    await polled.poll(at(0))
    polled.replies.standing = { body: gdacsRss(flood) }
    expect(brief(await polled.poll(at(6)))).toContain('gdacs:TC1000643 active')
    polled.replies.day = { body: gdacsRss(quake) }
    expect(brief(await polled.poll(at(12)))).not.toContain('gdacs:TC1000643 ended')
    expect(brief(await polled.poll(at(18)))).toContain('gdacs:TC1000643 ended')
    expect(brief(await polled.poll(at(24)))).not.toContain('gdacs:TC1000643 ended')
  })

  test('what an unchanged feed listed still stands', async () => {
    const polled = world()
    polled.replies.day = { body: gdacsRss(quake) }
    await polled.poll(at(0))
    polled.replies.standing = { status: 304 }
    for (const minute of [6, 12, 18]) {
      expect(brief(await polled.poll(at(minute)))).toEqual(['gdacs:EQ9 active'])
    }
  })

  test('nothing ends while a feed fails, is cut, or cannot read the item', async () => {
    const broken = gdacsItem({ point: null })
    for (const reply of [
      { status: 500 },
      { body: gdacsRss(storm).slice(0, 400) },
      { body: gdacsRss(broken) },
      { body: '<html>' },
    ]) {
      const polled = world()
      await polled.poll(at(0))
      polled.replies.day = { body: gdacsRss(quake) }
      polled.replies.standing = reply
      for (const minute of [6, 12, 18]) {
        const result = await polled.poll(at(minute))
        expect(brief(result)).toEqual(['gdacs:EQ9 active'])
        expect(result.rejected).toHaveLength(1)
      }
    }
  })

  test('a poll in which a feed fails does not count, and is no reason for a 304', async () => {
    const polled = world()
    polled.replies.standing = { body: gdacsRss(storm, flood) }
    polled.replies.day = { body: gdacsRss(flood) }
    await polled.poll(at(0))
    polled.replies.standing = { body: gdacsRss(flood) }
    await polled.poll(at(6))
    polled.replies.standing = { body: '<html>', headers: { etag: '"broken"' } }
    expect(brief(await polled.poll(at(12)))).toEqual(['gdacs:FL7 active'])
    polled.replies.standing = { body: gdacsRss(flood) }
    expect(brief(await polled.poll(at(18)))).toContain('gdacs:TC1000643 ended')
    expect(polled.asked[0]?.headers.has('if-none-match')).toBe(false)
  })

  test('if both feeds fail the poll fails, and the state is kept', async () => {
    const polled = world()
    await polled.poll(at(0))
    const { state } = polled
    polled.replies.standing = { status: 500 }
    polled.replies.day = { body: '<html>' }
    await expect(polled.poll(at(6))).rejects.toMatchObject({ code: 'unreadable' })
    polled.replies.day = { status: 429, headers: { 'retry-after': '60' } }
    await expect(polled.poll(at(6))).rejects.toMatchObject({ retry_after_seconds: 60 })
    expect(polled.state).toEqual(state)
  })

  test('while one feed fails, what the other says is remembered, but not what has ended', async () => {
    const polled = world()
    const over = gdacsItem({ eventtype: 'FL', eventid: '7', iscurrent: 'false' })
    polled.replies.day = { status: 503 }
    polled.replies.standing = { body: gdacsRss(storm, over) }
    await polled.poll(at(0))
    polled.replies.day = polled.replies.standing = { body: gdacsRss(quake) }
    const lines: string[] = []
    for (const minute of [6, 12]) lines.push(...brief(await polled.poll(at(minute))))
    expect(lines).toEqual(['gdacs:EQ9 active', 'gdacs:EQ9 active', 'gdacs:TC1000643 ended'])
  })

  test('what only left the feed of the day is not retracted, and no storm ever is', async () => {
    const polled = world()
    polled.replies.standing = { body: gdacsRss(storm, quake) }
    polled.replies.day = { body: gdacsRss(storm, quake) }
    await polled.poll(at(0))
    const lines: string[] = []
    for (const [from, day, standing] of [
      [6, { body: gdacsRss(storm) }, { body: gdacsRss(storm, quake) }],
      [18, { status: 304 }, { body: gdacsRss(storm) }],
      [30, { body: gdacsRss(quake) }, { body: gdacsRss() }],
    ] as const) {
      Object.assign(polled.replies, { day, standing })
      for (const minute of [from, from + 6]) lines.push(...brief(await polled.poll(at(minute))))
    }
    expect(lines.filter((line) => !line.endsWith('active'))).toEqual(['gdacs:TC1000643 ended'])
  })

  test('of an outage the week is asked at 23 hours; what stands now is not undone by it', async () => {
    const polled = world()
    const last_success_at = new Date(Date.parse(at(0)) - 23 * 3_600_000)
    polled.replies.week = { body: gdacsRss(gdacsItem({ alertlevel: 'Red' })) }
    const { events } = await polled.poll(at(0), { last_success_at })
    expect(polled.asked.map(({ url }) => url.pathname)).toContain('/xml/rss_7d.xml')
    expect(events.map(({ id, severity }) => [id, severity])).toEqual([['gdacs:TC1000643', 50]])
    polled.replies.standing = polled.replies.day = { body: '<html>' }
    polled.replies.week = { status: 503 }
    await expect(polled.poll(at(6), { last_success_at })).rejects.toMatchObject({
      ...{ code: 'unreadable', message: 'answered HTTP 503' },
    })
  })

  test('a feed that cannot be read is named by its path', async () => {
    const polled = world()
    polled.replies.day = { body: '<feed><channel/></feed>' }
    expect((await polled.poll(at(0))).rejected).toEqual([
      { item: '/xml/rss_24h.xml', reason: 'answered with XML that is not an RSS channel' },
    ])
  })

  test('a flood that says the same moves with its time, and a drought that is gone is forgotten', async () => {
    const polled = world()
    const rss = (day: string, ...types: string[]) =>
      gdacsRss(
        ...types.map((eventtype) =>
          gdacsItem({ eventtype, iscurrent: 'false', todate: `${day} Mar 2026 12:00:00 GMT` }),
        ),
      )
    polled.replies.day = { body: gdacsRss() }
    const times: unknown[] = []
    for (const [minute, body] of [
      [0, rss('Sun, 01', 'FL', 'DR')],
      [6, rss('Mon, 02', 'FL')],
    ] as const) {
      polled.replies.standing = { body }
      const { events } = await polled.poll(at(minute))
      times.push(events.find(({ type }) => type === 'flood')?.ts)
      times.push(Object.keys(Object(polled.state.droughts)))
    }
    expect(times).toEqual([
      ...['2026-03-01T12:00:00.000Z', ['gdacs:DR1000643']],
      ...['2026-03-02T12:00:00.000Z', []],
    ])
  })

  test('an earthquake that the day lacks twice is retracted, one that grew old is not', async () => {
    const old = gdacsItem({
      ...{ eventtype: 'EQ', eventid: '8', alertlevel: 'Green' },
      fromdate: 'Sat, 28 Feb 2026 12:30:00 GMT',
    })
    const polled = world()
    polled.replies.day = { body: gdacsRss(quake, old) }
    await polled.poll(at(0))
    polled.replies.day = { body: gdacsRss(flood) }
    await polled.poll(at(6))
    expect(brief(await polled.poll(at(12)))).toEqual([
      'gdacs:TC1000643 active',
      'gdacs:FL7 active',
      'gdacs:EQ9 retracted',
    ])
  })

  test('a drought that says the same keeps its time from day to day', async () => {
    const drought = (todate: string, point = '10 10') =>
      gdacsRss(gdacsItem({ eventtype: 'DR', iscurrent: 'false', todate, point }))
    const polled = world()
    const times: (string | undefined)[] = []
    for (const [index, body] of [
      drought('Sun, 01 Mar 2026 12:00:00 GMT'),
      drought('Mon, 02 Mar 2026 12:00:00 GMT'),
      drought('Tue, 03 Mar 2026 12:00:00 GMT', '11 11'),
    ].entries()) {
      polled.replies.standing = { body }
      polled.replies.day = { body: gdacsRss() }
      const { events } = await polled.poll(at(index * 24 * 60))
      times.push(events[0]?.ts)
    }
    const first = '2026-03-01T00:00:00.000Z'
    expect(times).toEqual([first, first, '2026-03-03T00:00:00.000Z'])
  })

  test('a state that cannot be read is a fresh start', async () => {
    const polled = world()
    polled.state = { open: 7, listed: null }
    expect(brief(await polled.poll(at(0)))).toEqual(['gdacs:TC1000643 active'])
  })
})

describe('footprints', () => {
  const grave = (over: Record<string, string | null> = {}) =>
    gdacsRss(gdacsItem({ eventtype: 'FL', eventid: '7', ...over }))
  const areas = { json: { features: [gdacsFeature(), gdacsArea()] } }

  test('are asked for once an episode, from orange on, and kept', async () => {
    const polled = world()
    polled.replies.footprint = areas
    const asked: string[][] = []
    const shapes: (string | undefined)[] = []
    for (const [index, body] of [
      grave({ alertlevel: 'Green' }),
      grave(),
      grave(),
      grave({ episodeid: '2' }),
      grave({ iscurrent: 'false', episodeid: '3' }),
    ].entries()) {
      polled.replies.standing = { body }
      polled.replies.day = { body }
      const { events } = await polled.poll(at(index * 6))
      asked.push(polled.asked.slice(2).map(({ url }) => url.search))
      shapes.push(events[0]?.geometry?.type)
    }
    const query = '?eventtype=FL&eventid=7&episodeid='
    expect(asked).toEqual([[], [`${query}1`], [], [`${query}2`], []])
    expect(shapes).toEqual([undefined, 'Polygon', 'Polygon', 'Polygon', 'Polygon'])
  })

  test('that cannot be had are named, and the one before stays', async () => {
    const polled = world()
    polled.replies.footprint = areas
    polled.replies.standing = polled.replies.day = { body: grave() }
    await polled.poll(at(0))
    polled.replies.standing = polled.replies.day = { body: grave({ episodeid: '2' }) }
    polled.replies.footprint = { status: 500 }
    const { events, rejected } = await polled.poll(at(6))
    expect(events[0]?.geometry).toMatchObject({ type: 'Polygon' })
    expect(rejected).toEqual([{ item: 'FL7 footprint', reason: 'answered HTTP 500' }])
    polled.replies.footprint = { json: { features: [gdacsArea({}, [[[0, 0]]])] } }
    expect((await polled.poll(at(12))).rejected[0]?.reason).toContain('fewer than three corners')
  })

  test('of many events come two a poll, and all together stay bounded', async () => {
    const ring = Array.from({ length: 9_000 }, (_, n) => [n / 100, n % 2])
    const polled = world()
    const items = [1, 2, 3, 4, 5].map((n) => gdacsItem({ eventtype: 'FL', eventid: `${n}` }))
    polled.replies.standing = polled.replies.day = { body: gdacsRss(...items) }
    polled.replies.footprint = { json: { features: [gdacsArea({}, [ring])] } }
    const rejected: string[] = []
    for (const minute of [0, 6, 12, 18]) {
      const result = await polled.poll(at(minute))
      expect(polled.asked.length).toBeLessThanOrEqual(4)
      rejected.push(...result.rejected.map(({ reason }) => reason))
    }
    expect(rejected).toEqual([
      expect.stringContaining('36004 vertices'),
      expect.stringContaining('36004 vertices'),
    ])
    expect(JSON.stringify(polled.state).length).toBeLessThan(1_000_000)
  })
})

describeRecordings('the two snapshots 73 minutes apart', () => {
  test('replay without a false revision: only what is new comes as new', async () => {
    const [early, late] = ['rss_24h-2019-12-30T0022Z.xml', 'rss-2019-12-30T0135Z.xml'].map((file) =>
      recording(`gdacs/${file}`),
    )
    const polled = world()
    polled.replies.day = { body: early ?? '' }
    polled.replies.standing = { body: early ?? '' }
    const first = await polled.poll('2019-12-30T00:22:00.000Z')
    polled.replies.day = { status: 304 }
    polled.replies.standing = { body: late ?? '' }
    const second = await polled.poll('2019-12-30T01:35:00.000Z')
    const known = new Map(first.events.map((event) => [event.id, JSON.stringify(event)]))
    const changed = second.events.filter((event) => known.get(event.id) !== JSON.stringify(event))
    expect(changed.map(({ id }) => id).sort()).toEqual([
      'gdacs:EQ1199647',
      'gdacs:EQ1199929',
      'gdacs:TC1000641',
    ])
    expect(changed.map(({ status }) => status)).toEqual(['active', 'active', 'active'])
  })
})
