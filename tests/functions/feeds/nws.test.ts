import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nws } from '../../../functions/feeds/nws.ts'
import {
  describeRecordings,
  expectHarmless,
  expectRobust,
  normalise,
  recording,
  upstream,
} from '../../support/feeds/feeds.ts'
import {
  ACTIVE,
  at,
  feature,
  id,
  list,
  type Over,
  PLACE,
  read,
  urn,
  vtec,
  world,
  zone,
} from '../../support/feeds/nws.ts'

describe('an alert becomes an event', () => {
  test('with every field of the canonical form', async () => {
    const { events, rejected } = await read(feature('a', { vtec: [vtec('NEW')] }))
    expect(rejected).toEqual([])
    expect(events).toEqual([
      {
        id: id('a'),
        source: 'nws',
        type: 'storm',
        title: 'Winter Storm Warning issued March 1',
        lat: 41,
        lon: -89,
        ts: '2026-03-01T12:00:00.000Z',
        severity: 70,
        subject: 'vtec:KLOT.WS.W.0013',
        status: 'active',
        url: `https://api.weather.gov/alerts/${urn('a')}`,
        geometry: PLACE,
        ends_at: '2026-03-02T12:00:00.000Z',
        revised_at: '2026-03-01T11:00:00.000Z',
        aliases: [id('a')],
      },
    ])
  })

  test('without `ends` the message’s `expires` is its end', async () => {
    const { events } = await read(feature('a', { ends: null }))
    expect(events).toMatchObject([{ ends_at: '2026-03-01T18:00:00.000Z', subject: null }])
  })

  test('of several codes that of the hazard that goes on is the subject', async () => {
    const codes = [vtec('UPG', 'KLOT.WW.Y.0002'), vtec('NEW', 'KLOT.WS.W.0013')]
    const { events } = await read(feature('a', { vtec: codes }))
    expect(events).toMatchObject([{ subject: 'vtec:KLOT.WS.W.0013', status: 'active' }])
  })

  test.each<[string, Over, string]>([
    ['a test', { status: 'Test' }, 'status: "Test"'],
    ['a test VTEC', { vtec: [vtec('NEW', 'KLOT.WS.W.0013', 'T')] }, 'VTEC: is that of a test'],
    [
      'a time that is none',
      { onset: 'date:now +5 seconds' },
      'onset: "date:now +5 seconds" is not a time',
    ],
    ['an end that is none', { ends: 'later' }, 'ends: "later" is not a time'],
    ['no sent', { sent: null }, 'sent: is missing'],
    [
      'no polygon',
      { geometry: null },
      'no-geometry: no polygon, and no zone of it is located yet; forecast/ILZ006, county/ILC031',
    ],
    [
      'no code either',
      { geometry: null, geocode: null },
      'no-geometry: no polygon, and no zone of it is located yet; ',
    ],
    [
      'codes of other kinds',
      { geometry: null, geocode: { FIPS6: ['ILC099'], UGC: ['ILZ006'] } },
      'located yet; forecast/ILZ006',
    ],
    [
      'a latitude of 95',
      {
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [1, 95],
              [2, 3],
              [4, 5],
              [1, 95],
            ],
          ],
        },
      },
      'not a place',
    ],
    ['an odd geometry', { geometry: { type: 'Blob' } }, 'geometry'],
    ['a cancel of nothing known', { messageType: 'Cancel', refs: ['z'] }, 'not known'],
    ['an expiry of nothing known', { vtec: [vtec('EXP')] }, 'not known'],
  ])('%s is rejected', async (_, over, reason) => {
    const { events, rejected } = await read(feature('a', over))
    expect(events).toEqual([])
    expect(rejected[0]).toMatchObject({ item: urn('a'), reason: expect.stringContaining(reason) })
  })

  test('what it replaces and nobody knows is named as an alias', async () => {
    const { events } = await read(feature('b', { refs: ['a'] }))
    expect(events).toMatchObject([{ aliases: [id('b'), id('a')] }])
  })

  test.each([
    [10_000, true],
    [10_001, false],
  ])('of %i positions: its place is kept whole: %s', async (count, is_whole) => {
    const coordinates = Array.from({ length: count }, (_, n) => [n / 1000, 40])
    const { events, rejected } = await read(
      feature('a', { geometry: { type: 'LineString', coordinates } }),
    )
    expect(events).toMatchObject([{ lat: 40, lon: (count - 1) / 1000 }])
    expect(events[0]?.geometry !== null).toBe(is_whole)
    expect(rejected.map(({ reason }) => reason)).toEqual(
      is_whole ? [] : [`geometry: has ${count} positions, more than 10000; only the point is kept`],
    )
  })

  test('ten thousand alerts are the most', async () => {
    const many = (count: number) => read(...Array(count).fill(null))
    expect((await many(10_000)).rejected).toHaveLength(10_000)
    await expect(many(10_001)).rejects.toMatchObject({
      ...{ code: 'too_large', message: 'answered 10001 alerts, more than 10000' },
    })
  })

  test('what is no feature is named by its position', async () => {
    expect((await read(null, 'x', {})).rejected.map(({ item }) => item)).toEqual(['#1', '#2', '#3'])
  })
})

describe('broken answers', () => {
  const sample = list([
    feature('a', { vtec: [vtec('NEW')] }),
    feature('b', {
      refs: ['a'],
      geometry: null,
      affectedZones: ['https://api.weather.gov/zones/fire/ILZ006'],
    }),
  ])
  test('do no harm', async () => {
    await expectHarmless(nws, JSON.stringify(sample))
  })
  test('nor does any value in the place of another', async () => {
    await expectRobust(nws, sample, 100)
  })
  test('chains in any order keep the rules', async () => {
    const names = ['a', 'b', 'c', 'd']
    const message = fc.record({
      name: fc.constantFrom(...names),
      refs: fc.subarray(names),
      action: fc.constantFrom('NEW', 'CON', 'CAN'),
      minute: fc.integer({ min: 0, max: 59 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(message, { maxLength: 4 }), { maxLength: 5 }),
        async (polls) => {
          const { set, poll } = world()
          const open = new Set<string>()
          for (const [n, messages] of polls.entries()) {
            set(
              ...messages.map(({ name, refs, action, minute }) =>
                feature(name, {
                  refs,
                  vtec: [vtec(action)],
                  sent: at(minute),
                  ends: null,
                  expires: '2026-03-09T00:00:00Z',
                }),
              ),
            )
            const { events } = await poll(n)
            expect(new Set(events.map((event) => event.id)).size).toBe(events.length)
            for (const event of events) {
              // Only what was opened before is ended.
              if (event.status === 'ended') expect(open.delete(event.id)).toBe(true)
              else open.add(event.id)
            }
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})

describeRecordings('recorded answers', () => {
  const RELATIVE = 'nws/active-2026-05-14-relative-dates.json'
  const reasons = (rejected: { reason: string }[]) => {
    const counts: Record<string, number> = {}
    for (const { reason } of rejected) {
      const key = reason.replace(/"[^"]*"/, '…').replace(/; .*/, '')
      counts[key] = (counts[key] ?? 0) + 1
    }
    return counts
  }
  /** `date:now -383 seconds` as a time of the day on which it was recorded. */
  const expanded = () =>
    recording(RELATIVE).replaceAll(/date:now ([+-]?\d+) seconds?/g, (_, seconds) =>
      new Date(Date.parse('2026-05-14T16:35:00Z') + Number(seconds) * 1000).toISOString(),
    )

  test('active-area-IL-2026-09-14.json: 2 alerts whose zones are not known yet', async () => {
    const { events, rejected } = await normalise(
      nws,
      recording('nws/active-area-IL-2026-09-14.json'),
    )
    expect(events).toEqual([])
    expect(reasons(rejected)).toEqual({
      'no-geometry: no polygon, and no zone of it is located yet': 2,
    })
  })

  test('relative dates are no times: 246 rejected', async () => {
    const { events, rejected } = await normalise(nws, recording(RELATIVE))
    expect(events).toEqual([])
    expect(reasons(rejected)).toEqual({ 'sent: … is not a time in ISO 8601 with an offset': 246 })
  })

  test('as times of their day: 14 have a polygon, 231 wait for zones, 1 ends something unknown', async () => {
    const { events, rejected } = await normalise(nws, expanded(), new Date('2026-05-14T16:40:00Z'))
    expect(events).toHaveLength(14)
    expect(reasons(rejected)).toEqual({
      'no-geometry: no polygon, and no zone of it is located yet': 231,
      'ends a warning that is not known, or that has ended already': 1,
    })
  })

  test('with their zones all 245 are events, within a bounded number of requests a poll', async () => {
    const body = expanded()
    const feed = upstream(nws, (url) => (url.href === ACTIVE ? { body } : zone(-100, 40)))
    const counts: number[] = []
    for (let n = 0; n < 3; n += 1) {
      counts.push((await feed.poll('2026-05-14T16:40:00Z')).events.length)
      expect(feed.asked).toHaveLength(21)
    }
    expect(counts).toEqual([43, 66, 89])
    const urls = body.matchAll(/zones\/([a-z]+\/[A-Z]{3}\d{3})"/g)
    const zones = Object.fromEntries([...urls].map(([, code]) => [code, [-100, 40]]))
    feed.state = { ...feed.state, zones }
    expect((await feed.poll('2026-05-14T16:41:00Z')).events).toHaveLength(245)
    expect(feed.asked).toHaveLength(1)
    expect(Object.keys(zones)).toHaveLength(810)
    expect(JSON.stringify(feed.state).length).toBeLessThan(250_000)
  })

  test('broken copies of it do no harm', async () => {
    await expectHarmless(nws, recording('nws/active-area-IL-2026-09-14.json'))
  })
})
