import { describe, expect, test } from 'vitest'
import type { FeedState } from '../../../functions/feeds/feed.ts'
import { usgs } from '../../../functions/feeds/usgs.ts'
import { NormalisedEvent } from '../../../shared/schemas/event.ts'
import { quake, summary } from '../../support/feeds/quakes.ts'

type Reply = { status?: number; headers?: Record<string, string>; json?: unknown } | Error

/** A polled USGS: what each window answers is set by the test, what it was asked is kept. */
function upstream() {
  const replies: { hour: Reply; day: Reply } = { hour: { status: 304 }, day: { status: 304 } }
  const asked: { window: string; headers: Headers }[] = []
  let state: FeedState = {}
  const fetch: typeof globalThis.fetch = async (url, init) => {
    // The hourly search has its own tests.
    if (String(url).includes('/fdsnws/')) return new Response(null, { status: 204 })
    const window = String(url).includes('all_hour') ? 'hour' : 'day'
    asked.push({ window, headers: new Headers(init?.headers) })
    const reply = replies[window]
    if (reply instanceof Error) throw reply
    const { status = 200, headers = {}, json } = reply
    return new Response(json === undefined ? null : JSON.stringify(json), { status, headers })
  }
  return {
    replies,
    asked,
    get state() {
      return state
    },
    async poll(at: string) {
      asked.length = 0
      const result = await usgs.poll({ state, now: new Date(at), fetch })
      // What the database would do with it.
      state = JSON.parse(JSON.stringify(result.state))
      return result
    },
  }
}

const minute = (n: number) => `2026-03-01T12:${String(n).padStart(2, '0')}:00.000Z`

describe('polling', () => {
  test('all_hour is asked every time, all_day every 15 minutes', async () => {
    const world = upstream()
    const days: boolean[] = []
    for (const n of [0, 1, 14, 15, 16]) {
      await world.poll(minute(n))
      days.push(world.asked.some(({ window }) => window === 'day'))
      expect(world.asked[0]?.window).toBe('hour')
    }
    expect(days).toEqual([true, false, false, true, false])
  })

  test('validators go back, each to its own window, and a 304 is a success that changes nothing', async () => {
    const world = upstream()
    world.replies.hour = { json: summary([quake()], minute(0)), headers: { etag: '"h1"' } }
    const modified = 'Sun, 01 Mar 2026 11:59:00 GMT'
    world.replies.day = {
      json: summary([quake()], minute(0)),
      headers: { etag: '"d1"', 'last-modified': modified },
    }
    const first = await world.poll(minute(0))
    expect(first).toMatchObject({ not_modified: false, events: [{ id: 'usgs:xx1' }] })

    world.replies.hour = { status: 304 }
    world.replies.day = { status: 304 }
    await world.poll(minute(15))
    expect(world.asked.map(({ headers }) => headers.get('if-none-match'))).toEqual(['"h1"', '"d1"'])
    expect(world.asked[1]?.headers.get('if-modified-since')).toBe(modified)

    const state = world.state
    const quiet = await usgs.poll({
      state,
      now: new Date(minute(16)),
      fetch: async () => new Response(null, { status: 304 }),
    })
    expect(quiet).toMatchObject({ not_modified: true, events: [], rejected: [] })
    expect(quiet.state).toBe(state)
  })

  test('an event in both windows comes once, in its newest form', async () => {
    const world = upstream()
    const newer = quake({ mag: 5, updated: Date.parse(minute(0)) })
    world.replies.day = { json: summary([newer, quake({ id: 'xx2' })], minute(0)) }
    world.replies.hour = { json: summary([quake()], minute(0)) }
    const { events } = await world.poll(minute(0))
    expect(events.map(({ id, severity }) => [id, severity])).toEqual([
      ['usgs:xx1', 60],
      ['usgs:xx2', 43],
    ])
  })

  test('unreadable items are counted and named, the others arrive', async () => {
    const world = upstream()
    const broken = quake({ id: 'bad1', time: null })
    world.replies.hour = { json: summary([broken, quake(), 'nonsense'], minute(0)) }
    const { events, rejected } = await world.poll(minute(0))
    expect(events.map(({ id }) => id)).toEqual(['usgs:xx1'])
    expect(rejected).toHaveLength(2)
    expect(rejected[0]).toMatchObject({ item: 'bad1' })
  })

  test('one window may fail: the other’s events arrive, and the failure is named', async () => {
    const world = upstream()
    world.replies.day = { status: 503 }
    world.replies.hour = { json: summary([quake()], minute(0)) }
    const { events, rejected } = await world.poll(minute(0))
    expect(events).toHaveLength(1)
    expect(rejected).toEqual([{ item: 'all_day', reason: 'answered HTTP 503' }])

    world.replies.hour = new TypeError('reset')
    world.replies.day = { json: summary([quake({ id: 'xx2' })], minute(6)) }
    expect((await world.poll(minute(6))).events).toMatchObject([{ id: 'usgs:xx2' }])
  })

  test('when nothing was reached the poll fails with a code and the old state stays', async () => {
    const world = upstream()
    world.replies.hour = new TypeError('reset')
    world.replies.day = { status: 500 }
    await expect(world.poll(minute(0))).rejects.toMatchObject({ code: 'unreachable' })
    expect(world.state).toEqual({})
  })

  test('told to slow down, it asks nothing more and passes the hint on', async () => {
    const world = upstream()
    world.replies.hour = { status: 429, headers: { 'retry-after': '120' } }
    const failure = { code: 'rate_limited', retry_after_seconds: 120 }
    await expect(world.poll(minute(0))).rejects.toMatchObject(failure)
    expect(world.asked).toHaveLength(1)
  })

  test('a day that failed is asked for again after five minutes, or when it says', async () => {
    for (const [headers, minutes] of [
      [{}, 5],
      [{ 'retry-after': '60' }, 5],
      [{ 'retry-after': '1200' }, 20],
    ] as const) {
      const world = upstream()
      world.replies.day = { status: 503, headers }
      await world.poll(minute(0))
      await world.poll(minute(minutes - 1))
      expect(world.asked).toHaveLength(1)
      await world.poll(minute(minutes))
      expect(world.asked).toHaveLength(2)
    }
  })

  test('the pause is that of the hour, and a copy without metadata is read', async () => {
    const world = upstream()
    const { metadata: _, ...bare } = summary([quake()], minute(0))
    world.replies.day = { json: bare, headers: { 'cache-control': 'max-age=900' } }
    world.replies.hour = { json: bare, headers: { 'cache-control': 'max-age=90' } }
    expect(await world.poll(minute(0))).toMatchObject({ next_poll_seconds: 90, events: [{}] })
    world.replies.hour = { status: 503 }
    expect(await world.poll(minute(20))).not.toHaveProperty('next_poll_seconds')
    world.replies.hour = { json: { ...bare, features: [] } }
    for (const n of [1, 2, 3]) expect((await world.poll(minute(n))).events).toEqual([])
  })

  test('JSON that is no FeatureCollection is an error', async () => {
    const world = upstream()
    world.replies.hour = { json: { error: 'maintenance' } }
    world.replies.day = world.replies.hour
    await expect(world.poll(minute(0))).rejects.toMatchObject({ code: 'not_json' })
  })

  test('a longer max-age is obeyed, a shorter one is not a reason to hurry', async () => {
    const world = upstream()
    world.replies.hour = { status: 304, headers: { 'cache-control': 'public, max-age=300' } }
    expect((await world.poll(minute(0))).next_poll_seconds).toBe(300)
    world.replies.hour = { status: 304, headers: { 'cache-control': 'max-age=10' } }
    expect(await world.poll(minute(1))).not.toHaveProperty('next_poll_seconds')
  })

  test('a state that cannot be read is a fresh start', async () => {
    const fetch = async () => Response.json(summary([quake()], minute(0)))
    const state = { memory: { xx9: ['rubbish'] }, day_due: 'never' }
    const result = await usgs.poll({ state, now: new Date(minute(0)), fetch })
    expect(result.events).toHaveLength(1)
  })
})

describe('an event that vanishes', () => {
  const other = quake({ id: 'yy1', ids: ',yy1,' })
  const hour = (features: unknown[], n: number, count?: number) => ({
    json: summary(features, minute(n), count),
  })

  test('from two complete fetches while young enough is retracted, once', async () => {
    const world = upstream()
    world.replies.hour = hour([quake({ ids: ',us7,xx1,' }), other], 0)
    const [original] = (await world.poll(minute(0))).events

    world.replies.hour = hour([other], 1)
    expect((await world.poll(minute(1))).events.map(({ id }) => id)).toEqual(['usgs:yy1'])

    world.replies.hour = hour([other], 2)
    const [, retracted] = (await world.poll(minute(2))).events
    expect(retracted).toEqual({
      ...original,
      // Not remembered; what is stored of them stays.
      magnitude: undefined,
      depth_km: undefined,
      status: 'retracted',
      revised_at: minute(2),
      aliases: ['usgs:xx1', 'usgs:us7'],
    })
    NormalisedEvent.parse(retracted)

    world.replies.hour = hour([other], 3)
    expect((await world.poll(minute(3))).events).toHaveLength(1)
  })

  test('from one fetch only has not vanished', async () => {
    const world = upstream()
    for (const [n, features] of [[quake(), other], [other], [quake(), other], [other]].entries()) {
      world.replies.hour = hour(features, n)
      const { events } = await world.poll(minute(n))
      expect(events.filter(({ status }) => status === 'retracted')).toEqual([])
    }
  })

  test('by growing older than the window has aged out', async () => {
    const world = upstream()
    const time = Date.parse('2026-03-01T11:02:30.000Z')
    world.replies.hour = hour([quake({ time }), other], 0)
    await world.poll(minute(0))
    for (const n of [1, 2, 3, 4]) {
      world.replies.hour = hour([other], n)
      expect((await world.poll(minute(n))).events.map(({ id }) => id)).toEqual(['usgs:yy1'])
    }
  })

  test('from copies that were cut has not vanished', async () => {
    const world = upstream()
    world.replies.hour = hour([quake(), other], 0)
    await world.poll(minute(0))
    for (const n of [1, 2, 3]) {
      world.replies.hour = hour([other], n, 2)
      expect((await world.poll(minute(n))).events.map(({ id }) => id)).toEqual(['usgs:yy1'])
    }
  })

  test('because it cannot be read has not vanished', async () => {
    const world = upstream()
    world.replies.hour = hour([quake(), other], 0)
    await world.poll(minute(0))
    for (const n of [1, 2, 3]) {
      world.replies.hour = hour([quake({ time: null }), other], n)
      expect((await world.poll(minute(n))).events.map(({ id }) => id)).toEqual(['usgs:yy1'])
    }
  })

  test('together with most of the catalogue is an upstream’s mistake', async () => {
    const world = upstream()
    const many = Array.from({ length: 12 }, (_, n) => quake({ id: `zz${n}` }))
    world.replies.hour = hour(many, 0)
    await world.poll(minute(0))
    for (const n of [1, 2, 3]) {
      world.replies.hour = hour([], n)
      expect((await world.poll(minute(n))).events).toEqual([])
    }
  })

  test('under another preferred id is still there', async () => {
    const world = upstream()
    world.replies.hour = hour([quake(), other], 0)
    await world.poll(minute(0))
    for (const n of [1, 2, 3]) {
      world.replies.hour = hour([quake({ id: 'us9', ids: ',us9,xx1,' }), other], n)
      const { events } = await world.poll(minute(n))
      expect(events.map(({ id, status }) => [id, status])).toEqual([
        ['usgs:us9', 'active'],
        ['usgs:yy1', 'active'],
      ])
    }
    // Even when the id by which it was known is no longer named.
    for (const n of [4, 5, 6]) {
      world.replies.hour = hour([quake({ id: 'xx1', ids: ',xx1,' }), other], n)
      const { events } = await world.poll(minute(n))
      expect(events.filter(({ status }) => status === 'retracted')).toEqual([])
    }
  })

  test('after its preferred id changed is retracted once, under the last one', async () => {
    const world = upstream()
    const renamed = quake({ id: 'us9', ids: ',us9,xx1,' })
    const retracted: string[] = []
    for (const [n, features] of [[quake(), other], [renamed, other], [other], [other]].entries()) {
      world.replies.hour = hour(features, n)
      const { events } = await world.poll(minute(n))
      retracted.push(...events.filter(({ status }) => status === 'retracted').map(({ id }) => id))
    }
    expect(retracted).toEqual(['usgs:us9'])
  })

  test('after it was marked as deleted needs no second retraction', async () => {
    const world = upstream()
    const deleted = quake({ status: 'deleted' })
    const statuses: string[][] = []
    for (const [n, features] of [[quake(), other], [deleted, other], [other], [other]].entries()) {
      world.replies.hour = hour(features, n)
      const { events } = await world.poll(minute(n))
      statuses.push(events.filter(({ id }) => id === 'usgs:xx1').map(({ status }) => status))
    }
    expect(statuses).toEqual([['active'], ['retracted'], [], []])
  })

  test('from all_day is retracted too, though all_hour never held it', async () => {
    const world = upstream()
    const time = Date.parse('2026-03-01T03:00:00.000Z')
    world.replies.day = hour([quake({ time }), other], 0)
    await world.poll(minute(0))
    world.replies.day = hour([other], 15)
    await world.poll(minute(15))
    world.replies.day = hour([other], 30)
    const { events } = await world.poll(minute(30))
    expect(events.map(({ id, status }) => [id, status])).toContainEqual(['usgs:xx1', 'retracted'])
  })

  test('and comes back is active again, and newer than its retraction', async () => {
    const world = upstream()
    for (const [n, features] of [[quake(), other], [other], [other]].entries()) {
      world.replies.hour = hour(features, n)
      await world.poll(minute(n))
    }
    world.replies.hour = hour([quake(), other], 3)
    const [back] = (await world.poll(minute(3))).events
    expect(back).toMatchObject({ id: 'usgs:xx1', status: 'active', revised_at: minute(3) })
  })

  test('and is listed by an older copy of the other window stays retracted', async () => {
    const world = upstream()
    for (const [index, features] of [[quake(), other], [other], [other]].entries()) {
      world.replies.hour = hour(features, index + 14)
      if (index === 2) world.replies.day = hour([quake(), other], 12)
      const now = index === 2 ? 16 : index
      const { events } = await world.poll(minute(now))
      const seen = events.filter(({ id }) => id === 'usgs:xx1')
      expect(seen.map(({ status }) => status)).toEqual([['active'], [], ['retracted']][index])
    }
    world.replies.hour = { status: 304 }
    world.replies.day = hour([quake(), other], 13)
    const { events } = await world.poll(minute(40))
    expect(events.map(({ id }) => id)).toEqual(['usgs:yy1'])
  })

  test('is forgotten after a day, and the memory stays bounded', async () => {
    const world = upstream()
    const swarm = Array.from({ length: 6_000 }, (_, n) => quake({ id: `zz${n}` }))
    world.replies.day = { json: summary(swarm, minute(0)) }
    await world.poll(minute(0))
    const remembered = () => Object.keys(world.state.memory as object).length
    expect(remembered()).toBe(5_000)
    expect(JSON.stringify(world.state).length / remembered()).toBeLessThan(160)

    world.replies.day = { json: summary([], '2026-03-02T13:00:00.000Z') }
    await world.poll('2026-03-02T13:00:00.000Z')
    expect(remembered()).toBe(0)
  })
})
