import { describe, expect, test } from 'vitest'
import type { Reply } from '../../support/feeds/feeds.ts'
import {
  at,
  feature,
  id,
  list,
  type Over,
  PLACE,
  urn,
  vtec,
  world,
  zone,
} from '../../support/feeds/nws.ts'

describe('a chain of messages', () => {
  const sent = (minute: number) => ({ sent: at(minute) })

  test('an update revises the event of the message that it refers to', async () => {
    const { set, poll } = world()
    set(feature('a', { vtec: [vtec('NEW')] }))
    await poll(0)
    set(feature('b', { ...sent(1), refs: ['a'], severity: 'Extreme', vtec: [vtec('CON')] }))
    expect((await poll(1)).events).toMatchObject([
      { id: id('a'), severity: 90, revised_at: at(1), aliases: [id('b'), id('a')] },
    ])
    set(feature('c', { ...sent(2), refs: ['b'], vtec: [vtec('EXT')] }))
    expect((await poll(2)).lines).toEqual(['a active'])
  })

  test('older messages are named in expiredReferences', async () => {
    const { set, poll } = world()
    set(feature('a'))
    await poll(0)
    const parameters = {
      expiredReferences: [`w-nws,${urn('a')},${at(0)} w-nws,${urn('z')},${at(0)}`],
    }
    set(feature('c', { ...sent(2), refs: ['b'], parameters }))
    expect((await poll(1)).lines).toEqual(['a active'])
  })

  test('one that refers to several continues the oldest and ends the others', async () => {
    const { set, poll } = world()
    set(feature('b', sent(0)), feature('a'))
    await poll(0)
    set(feature('c', { ...sent(1), refs: ['b', 'a'] }))
    expect((await poll(1)).lines.sort()).toEqual(['a active', 'b ended'])
  })

  test('a new one does not go on from another of its hazard, one that also continues does', async () => {
    const { set, poll } = world()
    set(feature('a', { vtec: [vtec('NEW')] }))
    await poll(0)
    set(feature('b', { ...sent(1), vtec: [vtec('CON'), vtec('NEW', 'KLOT.WW.Y.0002')] }))
    expect((await poll(1)).lines).toEqual(['a active'])
    set(feature('c', { ...sent(2), vtec: [vtec('NEW')] }))
    expect((await poll(2)).lines).toEqual(['c active'])
  })

  test('zones of alerts that are nowhere yet are asked for before others', async () => {
    const { set, poll, zones, zonesAsked } = world()
    const around = (name: string, severity: string, ...codes: string[]) =>
      feature(name, { geometry: null, severity, geocode: { UGC: codes } })
    zones['forecast/ILZ001'] = zone(-89, 41)
    set(around('a', 'Extreme', 'ILZ001'))
    await poll(0)
    set(
      around('a', 'Extreme', 'ILZ002', 'ILZ001'),
      around('b', 'Minor', 'ILZ003', 'ILZ004'),
      around('c', 'Severe', 'ILZ005', 'ILZ006'),
    )
    await poll(1)
    expect(zonesAsked()).toEqual(
      ['005', '003', '006', '004', '002'].map((code) => `forecast/ILZ${code}`),
    )
  })

  test('two at once under one VTEC are two events', async () => {
    const { set, poll } = world()
    set(feature('a', { vtec: [vtec('CON')] }), feature('b', { vtec: [vtec('CON')] }))
    const { events } = await poll(0)
    expect(events.map((event) => [event.id, event.subject])).toEqual([
      [id('a'), 'vtec:KLOT.WS.W.0013'],
      [id('b'), 'vtec:KLOT.WS.W.0013'],
    ])
    expect((await poll(1)).lines).toEqual(['a active', 'b active'])
  })

  test.each(['CAN', 'EXP', 'UPG'])(
    '%s ends it, whatever the message calls itself',
    async (action) => {
      const { set, poll } = world()
      set(feature('a', { vtec: [vtec('NEW')] }))
      await poll(0)
      set(feature('b', { ...sent(1), refs: ['a'], vtec: [vtec(action)] }))
      expect((await poll(1)).events).toMatchObject([
        { id: id('a'), status: 'ended', revised_at: at(1), geometry: PLACE, title: /^Winter/ },
      ])
      expect((await poll(2)).events).toEqual([])
    },
  )

  test('without references a VTEC ends the only warning of its hazard, but not one of several', async () => {
    const { set, poll } = world()
    set(feature('a', { vtec: [vtec('NEW')] }))
    await poll(0)
    set(feature('b', { ...sent(1), vtec: [vtec('CAN')] }))
    expect((await poll(1)).lines).toEqual(['a ended'])

    const other = world()
    other.set(feature('a', { vtec: [vtec('NEW')] }), feature('b', { vtec: [vtec('NEW')] }))
    await other.poll(0)
    const both = [feature('a', { vtec: [vtec('NEW')] }), feature('b', { vtec: [vtec('NEW')] })]
    other.set(...both, feature('c', { ...sent(1), vtec: [vtec('CAN')] }))
    const { lines, rejected } = await other.poll(1)
    expect(lines).toEqual(['a active', 'b active'])
    expect(rejected[0]?.reason).toContain('not known')
  })

  test('a cancel ends it', async () => {
    const { set, poll } = world()
    set(feature('a'))
    await poll(0)
    set(feature('b', { ...sent(1), messageType: 'Cancel', refs: ['a'] }))
    expect((await poll(1)).lines).toEqual(['a ended'])
  })
})

describe('what is gone from the list', () => {
  const features = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name) => feature(name))

  test('has ended when two answers in a row lack it', async () => {
    const { set, poll } = world()
    set(...features)
    await poll(0)
    set(...features.slice(1))
    expect((await poll(1)).lines).not.toContain('a ended')
    expect((await poll(2)).lines).toContain('a ended')
    expect((await poll(3)).lines).not.toContain('a ended')
  })

  test('and comes back as active, although its message is older than its end', async () => {
    const { set, poll } = world()
    set(...features)
    await poll(0)
    set(...features.slice(1))
    await poll(1)
    await poll(2)
    set(...features)
    const { events } = await poll(3)
    expect(events.find((event) => event.id === id('a'))).toMatchObject({
      status: 'active',
      revised_at: at(3),
    })
    expect((await poll(4)).lines).not.toContain('a ended')
    expect((await poll(5)).lines).not.toContain('a ended')
  })

  test('is not gone when it was only unreadable, or replaced by something unreadable', async () => {
    const { set, poll } = world()
    set(...features)
    await poll(0)
    set(
      feature('a', { onset: 'x' }),
      feature('z', { refs: ['b'], sent: 'x' }),
      ...features.slice(2),
    )
    await poll(1)
    expect((await poll(2)).lines.filter((line) => line.endsWith('ended'))).toEqual([])
  })

  test('has not ended when most are gone at once', async () => {
    const { set, poll } = world()
    set(...features)
    await poll(0)
    set(...features.slice(5))
    for (const n of [1, 2, 3]) expect((await poll(n)).lines.join()).not.toContain('ended')
    set(...features.slice(4))
    await poll(4)
    expect((await poll(5)).lines.filter((line) => line.endsWith('ended'))).toHaveLength(4)
  })

  test('is left to its own end when that has passed', async () => {
    const { set, poll, feed } = world()
    set(feature('a', { ends: at(1) }), ...features.slice(1))
    await poll(0)
    set(...features.slice(1))
    for (const n of [2, 3, 4]) expect((await poll(n)).lines.join()).not.toContain('a ended')
    expect(JSON.stringify(feed.state)).not.toContain(id('a'))
  })
})

describe('an alert without a polygon', () => {
  const dark = (name: string, zones: string[], over: Over = {}) =>
    feature(name, {
      ...over,
      geometry: null,
      affectedZones: zones.map((code) => `https://api.weather.gov/zones/${code}`),
    })

  test('is placed by the centroids of its zones, each asked for once', async () => {
    const { set, poll, zones, zonesAsked } = world()
    zones['forecast/ILZ006'] = zone(-88, 42)
    zones['fire/ILZ103'] = zone(-87, 41, 'MultiPolygon')
    zones['county/ILC031'] = zone(-89, 43, 'GeometryCollection')
    const alert = dark('a', ['forecast/ILZ006', 'fire/ILZ103', 'county/ILC031'])
    set(alert)
    const { events, rejected } = await poll(0)
    expect(rejected).toEqual([])
    expect(events).toMatchObject([
      {
        lon: -88,
        lat: 42,
        geometry: {
          type: 'MultiPoint',
          coordinates: [
            [-88, 42],
            [-87, 41],
            [-89, 43],
          ],
        },
      },
    ])
    expect(zonesAsked()).toHaveLength(3)
    await poll(1)
    expect(zonesAsked()).toEqual([])
  })

  test('of one zone is a point; without `affectedZones` its UGC codes name it', async () => {
    const { set, poll, zones, zonesAsked } = world()
    zones['forecast/ILZ006'] = zone(-88, 42)
    set(feature('a', { geometry: null, geocode: { UGC: ['ILZ006', 'IL', '../x'] } }))
    expect((await poll(0)).events).toMatchObject([{ lon: -88, lat: 42, geometry: null }])
    expect(zonesAsked()).toEqual(['forecast/ILZ006'])
  })

  test('of which a part is located says so, and one of which nothing is waits', async () => {
    const { set, poll, zones } = world()
    zones['forecast/ILZ006'] = zone(-88, 42)
    zones['forecast/ILZ008'] = { json: { geometry: null } }
    set(dark('a', ['forecast/ILZ006', 'forecast/ILZ007']), dark('b', ['forecast/ILZ008']))
    const { lines, rejected } = await poll(0)
    expect(lines).toEqual(['a active'])
    expect(rejected).toEqual([
      { item: urn('a'), reason: 'affectedZones: 1 of 2 zones are not located yet' },
      { item: urn('b'), reason: expect.stringMatching(/^no-geometry.*forecast\/ILZ008/) },
      { item: 'zones/forecast/ILZ008', reason: 'geometry: is missing or no place' },
      { item: 'zones/forecast/ILZ007', reason: 'answered HTTP 404' },
    ])
  })

  test('zones come 20 a poll, those of the worst alerts first, and the list in full meanwhile', async () => {
    const { set, poll, zones, zonesAsked, feed, reply } = world()
    const codes = Array.from({ length: 30 }, (_, n) => `forecast/ILZ${String(n).padStart(3, '0')}`)
    for (const code of codes) zones[code] = zone(-88, 42)
    zones['forecast/TXZ001'] = zone(-98, 30)
    const features = [dark('a', codes), dark('b', ['forecast/TXZ001'], { severity: 'Extreme' })]
    reply({ json: list(features), headers: { etag: '"1"' } })
    expect((await poll(0)).lines).toEqual(['a active', 'b active'])
    expect(zonesAsked()).toHaveLength(20)
    expect(zonesAsked().slice(0, 2)).toEqual(['forecast/TXZ001', 'forecast/ILZ000'])
    const { events } = await poll(1)
    expect(feed.asked[0]?.headers.has('if-none-match')).toBe(false)
    expect(zonesAsked()).toHaveLength(11)
    expect(events[0]?.geometry).toMatchObject({ coordinates: { length: 30 } })
    await poll(2)
    expect(feed.asked[0]?.headers.get('if-none-match')).toBe('"1"')
    set()
  })

  test('a zone that fails is asked for again after six hours; 429 ends the round', async () => {
    const { set, feed, zones } = world()
    zones['forecast/ILZ001'] = { status: 500 }
    zones['forecast/ILZ002'] = { status: 429 }
    const codes = ['forecast/ILZ001', 'forecast/ILZ002', 'forecast/ILZ003']
    set(dark('a', codes, { ends: '2026-03-09T00:00:00Z' }))
    const asked = async (time: string) => {
      await feed.poll(time)
      return feed.asked.slice(1).map(({ url }) => url.pathname.slice(-3))
    }
    expect(await asked('2026-03-01T12:00:00Z')).toEqual(['001', '002'])
    expect(await asked('2026-03-01T12:01:00Z')).toEqual(['002'])
    zones['forecast/ILZ002'] = zone(-88, 42)
    expect(await asked('2026-03-01T12:02:00Z')).toEqual(['002', '003'])
    expect(await asked('2026-03-01T18:01:00Z')).toEqual(['001'])
  })

  test('only zones of the service itself are asked for', async () => {
    const { set, poll, zonesAsked } = world()
    const odd = [
      'https://evil.example.com/zones/x',
      'https://api.weather.gov/zones/../../x',
      'nonsense',
    ]
    set(feature('a', { geometry: null, geocode: {}, affectedZones: odd }))
    await poll(0)
    expect(zonesAsked()).toEqual([])
  })
})

describe('polling', () => {
  test('304 is a success that changes nothing, and the validators go back', async () => {
    const { poll, reply, feed } = world()
    reply({ json: list([feature('a')]), headers: { etag: '"1"', 'cache-control': 'max-age=120' } })
    expect(await poll(0)).toMatchObject({ next_poll_seconds: 120, not_modified: false })
    reply({ status: 304 })
    const state = feed.state
    expect(await poll(1)).toMatchObject({ not_modified: true, events: [] })
    expect(feed.state).toEqual(state)
    expect(feed.asked[0]?.headers.get('if-none-match')).toBe('"1"')
    expect(feed.asked[0]?.headers.get('accept')).toBe('application/geo+json')
  })

  test.each<[string, Reply, string]>([
    ['a web page', { body: '<html>' }, 'not_json'],
    ['nothing', { body: '' }, 'not_json'],
    ['half an answer', { body: '{"features":[{' }, 'not_json'],
    ['other JSON', { json: { title: 'Forbidden' } }, 'not_json'],
    ['too many', { json: { features: Array(10_001).fill(0) } }, 'too_large'],
    ['403', { status: 403 }, 'http_status'],
    ['429', { status: 429, headers: { 'retry-after': '5' } }, 'rate_limited'],
    ['no answer', new TypeError('reset'), 'unreachable'],
  ])('%s is an error that ends nothing', async (_, answer, code) => {
    const { set, reply, poll, feed } = world()
    set(feature('a'))
    await poll(0)
    const state = feed.state
    reply(answer)
    await expect(poll(1)).rejects.toMatchObject({ name: 'FeedError', code })
    expect(feed.state).toEqual(state)
  })

  test('an old or damaged state starts afresh', async () => {
    const { set, poll, feed } = world()
    feed.state = { zones: { a: 'b' }, memory: 5 }
    set(feature('a'))
    expect((await poll(0)).lines).toEqual(['a active'])
  })

  test('the state stays below 1 MB with 1,600 alerts and every zone there is', async () => {
    const { set, poll, feed } = world()
    const hex = (n: number) => n.toString(16).padStart(40, '0')
    feed.state = {
      zones: Object.fromEntries(
        Array.from({ length: 9000 }, (_, n) => [`forecast/ZZZ${n}`, [-100.123, 40.123]]),
      ),
    }
    const title =
      'Small Craft Advisory issued May 14 at 9:29AM AKDT until May 16 at 5:00AM AKDT by NWS Juneau AK'
    set(
      ...Array.from({ length: 1600 }, (_, n) =>
        feature(hex(n), { vtec: [vtec('NEW')], headline: title }),
      ),
    )
    expect((await poll(0)).events).toHaveLength(1600)
    expect(JSON.stringify(feed.state).length).toBeLessThan(1_000_000)
  })
})
