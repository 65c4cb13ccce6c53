import { describe, expect, test } from 'vitest'
import { meteoalarm } from '../../../functions/feeds/meteoalarm.ts'
import {
  describeRecordings,
  expectHarmless,
  expectRobust,
  normalise,
  type Reply,
  recording,
  upstream,
} from '../../support/feeds/feeds.ts'

type Over = { alert?: object; info?: object; area?: object; level?: string; type?: string }

function warning(
  name: string,
  { alert = {}, info = {}, area = {}, level = '3; orange; Severe', type = '1; Wind' }: Over = {},
) {
  const one = (language: string, headline: string) => ({
    language,
    category: ['Met'],
    event: 'Severe wind warning',
    urgency: 'Future',
    severity: 'Severe',
    certainty: 'Likely',
    effective: '2026-03-01T11:00:00+01:00',
    onset: '2026-03-01T18:00:00+01:00',
    expires: '2026-03-02T06:00:00+01:00',
    headline,
    web: 'https://example.org/',
    parameter: [
      { valueName: 'awareness_level', value: level },
      { valueName: 'awareness_type', value: type },
    ],
    area: [
      {
        areaDesc: 'Drenthe',
        geocode: [{ valueName: 'EMMA_ID', value: 'NL018' }],
        polygon: ['52,6 52,7 53,7 53,6 52,6'],
        ...area,
      },
    ],
    ...info,
  })
  return {
    uuid: name,
    alert: {
      identifier: `2.49.0.0.528.0.NL.${name}`,
      incidents: 'Alert',
      sender: 'x@knmi.nl',
      sent: '2026-03-01T11:00:00+01:00',
      status: 'Actual',
      msgType: 'Alert',
      info: [one('nl-NL', 'Zware windstoten'), one('en-GB', 'Severe gusts in Drenthe')],
      ...alert,
    },
  }
}
const id = (name: string) => `meteoalarm:2.49.0.0.528.0.NL.${name}`
const list = (...warnings: unknown[]) => ({ warnings })
const read = (...warnings: unknown[]) => normalise(meteoalarm, JSON.stringify(list(...warnings)))

describe('a warning becomes an event', () => {
  test('with every field of the canonical form, in English', async () => {
    expect(await read(warning('a'))).toEqual({
      rejected: [],
      events: [
        {
          id: id('a'),
          source: 'meteoalarm',
          type: 'weather',
          title: 'Severe gusts in Drenthe',
          lat: 52.5,
          lon: 6.5,
          ts: '2026-03-01T17:00:00.000Z',
          severity: 70,
          subject: null,
          status: 'active',
          url: 'https://example.org/',
          geometry: expect.objectContaining({ type: 'Polygon' }),
          ends_at: '2026-03-02T05:00:00.000Z',
          revised_at: '2026-03-01T10:00:00.000Z',
          aliases: [id('a')],
        },
      ],
    })
  })

  test.each([
    ['2; yellow; Moderate', 40],
    ['3; orange; Severe', 70],
    ['4; red; Extreme', 90],
    ['4', 90],
  ])('level %s is severity %i', async (level, severity) => {
    expect((await read(warning('a', { level }))).events).toMatchObject([{ severity }])
  })

  test.each([
    ['1; Wind', 'weather'],
    ['3; Thunderstorm', 'storm'],
    ['8; forest-fire', 'weather'],
    ['12; flooding', 'flood'],
    ['13; rain-flood', 'flood'],
    ['', 'weather'],
  ])('kind %s is of type %s', async (type, expected) => {
    expect((await read(warning('a', { type }))).events).toMatchObject([{ type: expected }])
  })

  test('of several levels the highest counts, and of the names it does not know it has aliases', async () => {
    const levels = ['2; yellow', '4; red', '3; orange'].map(
      (level) => warning('a', { level }).alert.info[1],
    )
    const { events } = await read(
      warning('a', {
        alert: { info: levels, references: 'x,2.49.0.0.528.0.NL.z,2026-03-01T10:00:00+01:00' },
      }),
    )
    expect(events).toMatchObject([{ severity: 90, aliases: [id('a'), id('z')] }])
  })

  test.each([
    [' 3 ; orange', 70],
    ['3', 70],
    ['x3; orange', null],
    ['13; orange', null],
    ['3x; orange', null],
    ['5; violet', null],
  ])('level "%s" is severity %s', async (level, severity) => {
    expect((await read(warning('a', { level }))).events).toMatchObject(
      severity === null ? [] : [{ severity }],
    )
  })

  test('a kind that only holds a number is none', async () => {
    expect((await read(warning('a', { type: 'x3; Thunderstorm' }))).events).toMatchObject([
      { type: 'weather' },
    ])
  })

  test('one without a name is rejected by its number', async () => {
    expect((await read({ alert: { sent: 1 } }, {})).rejected.map(({ item }) => item)).toEqual([
      '#1',
      '#2',
    ])
  })

  test('twenty thousand warnings are the most', async () => {
    const many = (count: number) => read(...Array(count).fill(0))
    expect((await many(20_000)).events).toEqual([])
    await expect(many(20_001)).rejects.toMatchObject({
      ...{ code: 'too_large', message: 'answered 20001 warnings, more than 20000' },
    })
    await expect(normalise(meteoalarm, '{}')).rejects.toMatchObject({
      ...{ code: 'not_json', message: 'answered with JSON that has no warnings' },
    })
  })

  test.each<[string, Over, string]>([
    ['green', { level: '1; green; Minor' }, 'awareness_level: green is not a warning'],
    ['without a level', { level: '' }, 'awareness_level: "" is not a level'],
    ['of level 7', { level: '7; pink' }, 'awareness_level: "7; pink" is not a level'],
    ['without a polygon', { area: { polygon: null } }, 'does not locate its codes: EMMA_ID NL018'],
    ['with a broken polygon', { area: { polygon: ['1,2'] } }, 'fewer than three corners'],
    ['as a test', { alert: { status: 'Test' } }, 'status: "Test"'],
    ['with a broken time', { info: { onset: 'soon' } }, 'onset: "soon" is not a time'],
    ['without an identifier', { alert: { identifier: null } }, 'identifier: is missing'],
    ['that cancels nothing known', { alert: { msgType: 'Cancel' } }, 'not known'],
  ])('%s it is rejected', async (_, over, reason) => {
    const { events, rejected } = await read(warning('a', over))
    expect(events).toEqual([])
    expect(rejected.map((each) => each.reason).join()).toContain(reason)
  })
})

const FEEDS = '/api/v1/warnings/feeds-'
const at = (minute: number) => `2026-03-01T12:${String(minute).padStart(2, '0')}:00.000Z`

function world(countries = 'netherlands') {
  const replies: Record<string, Reply> = {}
  const feed = upstream(
    meteoalarm,
    (url) => replies[url.pathname.replace(FEEDS, '')] ?? { status: 404 },
    countries === '' ? {} : { METEOALARM_COUNTRIES: countries },
  )
  return {
    feed,
    replies,
    asked: () => feed.asked.map(({ url }) => url.pathname.replace(FEEDS, '')),
    async poll(minute: number) {
      const result = await feed.poll(at(minute))
      return { ...result, lines: result.events.map((e) => `${e.id.split('.').at(-1)} ${e.status}`) }
    },
  }
}

describe('polling', () => {
  test('each country is asked for every 5 minutes, a part of them each minute', async () => {
    const { asked, poll, replies } = world('')
    const all = 'austria belgium bosnia-herzegovina bulgaria croatia cyprus czechia denmark'.split(
      ' ',
    )
    const times = new Map<string, number[]>()
    for (const name of all) replies[name] = { json: list() }
    for (let n = 0; n < 12; n += 1) {
      // Other countries answer 404; at first a poll may hold nothing else.
      await poll(n).catch(() => {})
      expect(asked().length).toBeLessThanOrEqual(8)
      for (const name of asked()) times.set(name, [...(times.get(name) ?? []), n])
    }
    expect(times.get('austria')?.slice(0, 2)).toEqual([0, 5])
  })

  test('the validators go back, each to its own country', async () => {
    const { feed, poll, replies } = world('netherlands,spain')
    replies.netherlands = { json: list(warning('a')), headers: { etag: '"n"' } }
    replies.spain = { json: list(warning('b')), headers: { etag: '"s"' } }
    expect((await poll(0)).lines).toEqual(['a active'])
    expect((await poll(1)).lines).toEqual(['b active'])
    replies.netherlands = { status: 304 }
    expect(await poll(5)).toMatchObject({ not_modified: true, events: [] })
    expect(feed.asked[0]?.headers.get('if-none-match')).toBe('"n"')
    await poll(6)
    expect(feed.asked[0]?.headers.get('if-none-match')).toBe('"s"')
  })

  test('an update revises, a cancel ends, and what two lists in a row lack has ended', async () => {
    const { poll, replies } = world()
    const set = (...warnings: unknown[]) => {
      replies.netherlands = { json: list(...warnings) }
    }
    const refers = (msgType: string, name: string) => ({
      alert: { msgType, references: `x,2.49.0.0.528.0.NL.${name},${at(0)}`, sent: at(5) },
    })
    set(warning('a'), warning('b'), warning('c'))
    await poll(0)
    set(
      warning('d', { ...refers('Update', 'a'), level: '4; red' }),
      warning('e', refers('Cancel', 'b')),
      warning('c'),
    )
    const { lines, events } = await poll(5)
    expect(lines).toEqual(['c active', 'a active', 'b ended'])
    expect(events[1]).toMatchObject({ severity: 90 })
    set(warning('c'))
    expect((await poll(10)).lines).toEqual(['c active'])
    expect((await poll(15)).lines).toEqual(['c active', 'a ended'])
  })

  test('a green one in its place is not its end until its time', async () => {
    const { poll, replies } = world()
    replies.netherlands = { json: list(warning('a')) }
    await poll(0)
    replies.netherlands = { json: list(warning('a', { level: '1; green; Minor' })) }
    for (const n of [5, 10, 15]) expect((await poll(n)).events).toEqual([])
  })

  test('one country may fail; it waits 15 minutes and the others go on', async () => {
    const { asked, poll, replies } = world('a,b,c,d,e,f')
    for (const name of ['b', 'c', 'd', 'e', 'f']) replies[name] = { json: list() }
    replies.b = { json: list(warning('a')) }
    const { lines, rejected } = await poll(0)
    expect(lines).toEqual(['a active'])
    expect(rejected).toEqual([{ item: 'a', reason: 'answered HTTP 404' }])
    const later: string[] = []
    for (const n of [1, 2, 5, 6, 7, 10, 11, 12]) {
      await poll(n)
      later.push(...asked())
    }
    expect(later).not.toContain('a')
    await poll(15)
    expect(asked()).toContain('a')
  })

  test.each<[string, Reply, string]>([
    ['a web page', { body: '<html>' }, 'not_json'],
    ['nothing', { body: '' }, 'not_json'],
    ['other JSON', { json: [] }, 'not_json'],
    ['too many', { json: { warnings: Array(20_001).fill({}) } }, 'too_large'],
    ['500', { status: 500 }, 'http_status'],
    ['429', { status: 429, headers: { 'retry-after': '60' } }, 'rate_limited'],
    ['no answer', new TypeError('reset'), 'unreachable'],
  ])('%s from the only country is an error that ends nothing', async (_, reply, code) => {
    const { feed, poll, replies } = world()
    replies.netherlands = { json: list(warning('a')) }
    await poll(0)
    const state = feed.state
    replies.netherlands = reply
    await expect(poll(5)).rejects.toMatchObject({ name: 'FeedError', code })
    expect(feed.state).toEqual(state)
  })

  test('429 ends the round of several', async () => {
    const { asked, poll, replies } = world('a,b,c,d,e,f,g,h,i,j,k')
    replies.a = { json: list() }
    replies.b = { status: 429, headers: { 'retry-after': '120' } }
    expect(await poll(0)).toMatchObject({ next_poll_seconds: 120 })
    expect(asked()).toEqual(['a', 'b'])
  })

  test('an old or damaged state starts afresh', async () => {
    const { feed, poll, replies } = world()
    feed.state = { countries: 4 }
    replies.netherlands = { json: list(warning('a')) }
    expect((await poll(0)).lines).toEqual(['a active'])
  })

  test('METEOALARM_COUNTRIES names countries', () => {
    const accepts = (value: string) =>
      meteoalarm.settings?.METEOALARM_COUNTRIES?.schema.safeParse(value).success
    expect(accepts('netherlands, united-kingdom')).toBe(true)
    for (const wrong of ['', '../x', 'a b?', 'https://x']) expect(accepts(wrong)).toBe(false)
  })
})

test('broken answers do no harm', async () => {
  await expectHarmless(meteoalarm, JSON.stringify(list(warning('a'))))
  await expectRobust(meteoalarm, list(warning('a')), 100)
})

describeRecordings('feeds-netherlands-2026-03.json', () => {
  const FILE = 'meteoalarm/feeds-netherlands-2026-03.json'
  test('holds 3 green ones, which are no warnings', async () => {
    const { events, rejected } = await normalise(meteoalarm, recording(FILE))
    expect(events).toEqual([])
    expect(rejected.map(({ reason }) => reason)).toEqual(
      Array(3).fill('awareness_level: green is not a warning'),
    )
  })
  test('were they orange, they would lack a polygon', async () => {
    const orange = recording(FILE).replaceAll('1; green; Minor', '3; orange; Severe')
    const { rejected } = await normalise(meteoalarm, orange)
    expect(rejected.map(({ reason }) => reason)).toEqual(
      ['NL018', 'NL008', 'NL017'].map((code) =>
        expect.stringMatching(`^no-geometry: .* METEOALARM_AREAS .*: EMMA_ID ${code}$`),
      ),
    )
  })
  test('broken does no harm', async () => {
    await expectHarmless(meteoalarm, recording(FILE))
  })
})

test('without a setting every country is asked, by the name that its service has', async () => {
  const asked = new Set<string>()
  const feed = upstream(meteoalarm, (url) => {
    asked.add(url.pathname)
    return { json: list() }
  })
  for (let minute = 0; minute < 120; minute += 1) {
    await feed.poll(new Date(Date.UTC(2026, 2, 1, 12, minute)).toISOString())
  }
  await expect(`${[...asked].sort().join('\n')}\n`).toMatchFileSnapshot(
    'golden/meteoalarm-countries.txt',
  )
})
