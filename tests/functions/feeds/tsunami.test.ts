import { describe, expect, test } from 'vitest'
import { tsunami } from '../../../functions/feeds/tsunami.ts'
import { alert, atom, type Given } from '../../support/feeds/cap.ts'
import {
  describeRecordings,
  expectAgreed,
  expectHarmless,
  normalise,
  type Reply,
  recording,
  upstream,
} from '../../support/feeds/feeds.ts'

const LINES = {
  EventLatLon: '51.800,-171.400 0.000',
  EventOriginTime: '2026-03-01T10:55:55-00:00',
  EventPreliminaryMagnitude: '7.1',
  EventDepth: '39 kilometers',
  EventLocationName: '45 miles SE of Amukta Pass, Alaska',
}

/** A bulletin of Palmer about the event lqw6d6. */
function bulletin(number: number, given: Given = {}): string {
  return alert({
    ...given,
    alert: {
      identifier: `PAAQ-${number}-lqw6d6`,
      incidents: 'lqw6d6',
      sent: `2026-03-01T11:${String(number).padStart(2, '0')}:00-00:00`,
      msgType: number === 1 ? 'Alert' : 'Update',
      ...given.alert,
    },
    info: {
      category: 'Geo',
      event: 'Tsunami Warning',
      headline: 'A tsunami warning is in effect',
      web: 'http://www.tsunami.gov/events/PAAQ/2026/03/01/lqw6d6/1/WEPA41/WEPA41.txt',
      expires: '2026-03-01T12:30:00-00:00',
      ...given.info,
    },
    area: { polygon: null, ...given.area },
    parameters: { ...LINES, ...given.parameters },
  })
}
const read = (number: number, given: Given = {}) => normalise(tsunami, bulletin(number, given))

describe('a bulletin becomes an event', () => {
  test('with every field of the canonical form', async () => {
    expect(await read(2)).toEqual({
      rejected: [],
      events: [
        {
          id: 'tsunami:PAAQ-lqw6d6',
          source: 'tsunami',
          type: 'tsunami',
          title: 'A tsunami warning is in effect',
          lat: 51.8,
          lon: -171.4,
          ts: '2026-03-01T10:55:55.000Z',
          severity: 100,
          subject: null,
          status: 'active',
          url: 'https://www.tsunami.gov/events/PAAQ/2026/03/01/lqw6d6/1/WEPA41/WEPA41.txt',
          geometry: null,
          ends_at: '2026-03-01T12:30:00.000Z',
          revised_at: '2026-03-01T11:02:00.000Z',
          magnitude: 7.1,
          depth_km: 39,
          aliases: [],
        },
      ],
    })
  })

  test.each<[string, Given, number, string]>([
    ['Tsunami Warning', {}, 100, 'active'],
    ['Tsunami Threat', {}, 100, 'active'],
    ['Tsunami Advisory', {}, 70, 'active'],
    ['Tsunami Watch', {}, 60, 'active'],
    ['Tsunami Information', {}, 20, 'active'],
    ['Tsunami Wave Report', {}, 20, 'active'],
    ['Tsunami Cancellation', {}, 0, 'ended'],
    ['Tsunami Warning', { alert: { msgType: 'Cancel' } }, 0, 'ended'],
    ['Tsunami Warning', { info: { responseType: 'AllClear' } }, 0, 'ended'],
  ])('%s %j is severity %i and %s', async (event, given, severity, status) => {
    const { events } = await read(3, { ...given, info: { event, ...given.info } })
    expect(events).toMatchObject([{ severity, status }])
  })

  test('what it lacks has its place taken', async () => {
    expect((await read(1, { info: { expires: null } })).events).toMatchObject([
      { ends_at: '2026-03-01T17:01:00.000Z' },
    ])
    expect((await read(1, { info: { headline: null } })).events).toMatchObject([
      { title: 'Tsunami Warning - 45 miles SE of Amukta Pass, Alaska' },
    ])
    const bare = { EventPreliminaryMagnitude: '', EventDepth: '' }
    expect((await read(1, { parameters: bare })).events).toMatchObject([
      { magnitude: null, depth_km: null },
    ])
    const circle = { area: { circle: '51.8,-171.4 0.0' }, parameters: { EventLatLon: '' } }
    expect((await read(1, circle)).events).toEqual([])
    const without = bulletin(1, { area: { circle: '51.8,-171.4 0.0' } }).replace(
      'EventLatLon',
      'Other',
    )
    expect((await normalise(tsunami, without)).events).toMatchObject([{ lat: 51.8, lon: -171.4 }])
    const named = bulletin(1).replace(/<incidents>[^<]*<\/incidents>/, '')
    expect((await normalise(tsunami, named)).events).toMatchObject([{ id: 'tsunami:PAAQ-lqw6d6' }])
  })

  test.each<[written: string, lat: number, lon: number]>([
    ['51,-171', 51, -171],
    ['-51.25, 171', -51.25, 171],
    ['51,-171.5 0', 51, -171.5],
  ])('at "%s"', async (EventLatLon, lat, lon) => {
    expect((await read(1, { parameters: { EventLatLon } })).events).toMatchObject([{ lat, lon }])
  })

  test.each<[written: string, depth_km: number | null]>([
    ['39.5 km', 39.5],
    ['10.25 kilometers', 10.25],
    ['7km', 7],
    ['7  km', 7],
    ['7 miles', null],
  ])('%s deep', async (EventDepth, depth_km) => {
    expect((await read(1, { parameters: { EventDepth } })).events).toMatchObject([{ depth_km }])
  })

  test.each([
    ['http://tsunami.gov/a.txt', 'https://tsunami.gov/a.txt'],
    [
      'http://other.example/?of=http://tsunami.gov/',
      'http://other.example/?of=http://tsunami.gov/',
    ],
  ])('at the address %s its page is %s', async (web, url) => {
    expect((await read(1, { info: { web } })).events).toMatchObject([{ url }])
  })

  test('without incidents its identifier names the event', async () => {
    const named = (identifier: string) =>
      normalise(
        tsunami,
        bulletin(12, { alert: { identifier } }).replace(/<incidents>[^<]*<\/incidents>/, ''),
      )
    expect((await named('PAAQ-12-abc')).events).toMatchObject([{ id: 'tsunami:PAAQ-abc' }])
    for (const identifier of ['PAAQ-12-', 'PAAQ-12-a b']) {
      expect((await named(identifier)).rejected).toMatchObject([
        { reason: `identifier: "${identifier}" is not <centre>-<bulletin>-<event>` },
      ])
    }
  })

  test('without a headline and a location it is where its area is, or at a place unknown', async () => {
    const bare = (given: Given) =>
      normalise(tsunami, bulletin(1, given).replace('EventLocationName', 'Other'))
    const headline = { headline: null }
    expect((await bare({ info: headline })).events).toMatchObject([
      { title: 'Tsunami Warning - Testland' },
    ])
    expect(
      (await bare({ info: { ...headline, event: null }, area: { areaDesc: null } })).events,
    ).toMatchObject([{ title: 'Tsunami bulletin - place unknown' }])
  })

  test.each<[string, Given, string]>([
    ['a test', { alert: { status: 'Test' } }, 'status: "Test"'],
    ['a test by its headline', { info: { headline: 'THIS IS A TEST' } }, 'says that it is a test'],
    ['of another form', { alert: { identifier: 'bulletin' } }, 'identifier: "bulletin"'],
    ['without a place', { parameters: { EventLatLon: 'off Alaska' } }, 'EventLatLon: "off Alaska"'],
    ['at no place', { parameters: { EventLatLon: '95.0,10.0' } }, 'lat'],
    ['without an origin', { parameters: { EventOriginTime: '' } }, 'EventOriginTime: is missing'],
    ['with a broken origin', { parameters: { EventOriginTime: 'now' } }, 'EventOriginTime: "now"'],
    ['without an info', { infos: '' }, 'info: is missing'],
    ['without sent', { alert: { sent: null } }, 'sent: is missing'],
  ])('one %s is rejected', async (_, given, reason) => {
    const { events, rejected } = await read(1, given)
    expect(events).toEqual([])
    expect(rejected[0]?.reason).toContain(reason)
  })

  test('an index alone has none', async () => {
    const { rejected } = await normalise(tsunami, atom([['https://www.tsunami.gov/a.xml', '1']]))
    const reason = 'link: leads to a bulletin that is not in this answer'
    expect(rejected).toEqual([{ item: 'https://www.tsunami.gov/a.xml', reason }])
    const relative = atom([['/b.xml', '1']]).replace('</feed>', '<entry><id>x</id></entry></feed>')
    expect((await normalise(tsunami, relative)).rejected).toEqual([
      { item: 'https://www.tsunami.gov/b.xml', reason },
      { item: '#2', reason },
    ])
    await expect(normalise(tsunami, '<html/>')).rejects.toMatchObject({ code: 'unreadable' })
  })
})

const PALMER = 'https://www.tsunami.gov/events/xml/PAAQAtom.xml'
const HONOLULU = 'https://www.tsunami.gov/events/xml/PHEBAtom.xml'
const cap = (number: number) => `http://www.tsunami.gov/events/PAAQ/${number}/PAAQCAP.xml`
const at = (minute: number) => `2026-03-01T12:${String(minute).padStart(2, '0')}:00.000Z`

function world() {
  const pages = new Map<string, Reply>()
  const feed = upstream(tsunami, (url) => pages.get(url.href) ?? { status: 404 })
  return {
    feed,
    set: (url: string, page: Reply | string) =>
      pages.set(url, typeof page === 'string' ? { body: page } : page),
    issue(number: number, given: Given = {}) {
      pages.set(PALMER, { body: atom([[cap(number), String(number)]]) })
      pages.set(cap(number).replace('http:', 'https:'), { body: bulletin(number, given) })
    },
    asked: () => feed.asked.map(({ url }) => url.href),
    poll: (minute: number) => feed.poll(at(minute)),
  }
}

describe('polling', () => {
  test('404 of both is the quiet state', async () => {
    const { poll, asked, feed } = world()
    expect(await poll(0)).toEqual({ events: [], rejected: [], not_modified: true, state: {} })
    expect(feed.asked[0]?.headers.get('accept')).toBe('application/atom+xml, application/xml')
    expect(asked()).toEqual([PALMER, HONOLULU])
  })

  test('a bulletin is fetched once, by https; the next revises its event and a cancellation ends it', async () => {
    const { issue, poll, asked } = world()
    issue(1)
    expect((await poll(0)).events).toMatchObject([{ id: 'tsunami:PAAQ-lqw6d6', severity: 100 }])
    expect(asked()).toEqual([PALMER, cap(1).replace('http:', 'https:'), HONOLULU])
    expect((await poll(1)).events).toEqual([])
    issue(2, { info: { event: 'Tsunami Advisory' } })
    expect((await poll(2)).events).toMatchObject([{ severity: 70, status: 'active' }])
    issue(3, { info: { event: 'Tsunami Cancellation' } })
    expect((await poll(3)).events).toMatchObject([
      { id: 'tsunami:PAAQ-lqw6d6', severity: 0, status: 'ended' },
    ])
  })

  test('what the one center listed stays known while the other says something new', async () => {
    const { issue, set, poll, feed, asked } = world()
    issue(1)
    const index = { body: atom([[cap(1), '1']]), headers: { etag: '"p"' } }
    set(PALMER, index)
    await poll(0)
    expect(feed.asked[1]?.headers.get('accept')).toBe('application/cap+xml, application/xml')
    for (const quiet of [{ status: 304 }, { status: 500 }]) {
      set(PALMER, quiet)
      set(HONOLULU, atom([]))
      expect(await poll(1)).toMatchObject({ not_modified: false, events: [] })
      set(PALMER, index)
      await poll(2)
      expect(asked()).toEqual([PALMER, HONOLULU])
      expect(feed.asked[0]?.headers.get('if-none-match')).toBe(quiet.status === 304 ? '"p"' : null)
    }
  })

  test('when one center fails the other is asked, unless it was one request too many', async () => {
    const { issue, set, poll, asked } = world()
    set(PALMER, { status: 500 })
    set(HONOLULU, { status: 304 })
    expect(await poll(0)).toMatchObject({
      ...{ not_modified: false, rejected: [{ item: 'PAAQAtom.xml', reason: 'answered HTTP 500' }] },
    })
    expect(asked()).toEqual([PALMER, HONOLULU])
    set(PALMER, { status: 429 })
    await expect(poll(1)).rejects.toMatchObject({ code: 'rate_limited' })
    expect(asked()).toEqual([PALMER])
    issue(1)
    set(HONOLULU, { status: 429 })
    await expect(poll(2)).rejects.toMatchObject({ code: 'rate_limited' })
  })

  test.each([
    [60, 10, undefined],
    [61, 10, 61],
    [10, 61, 61],
    [601, 0, 600],
  ])('max-ages of %i s and %i s set the pause to %s', async (palmer, honolulu, pause) => {
    const { set, poll } = world()
    for (const [index, seconds] of [
      [PALMER, palmer],
      [HONOLULU, honolulu],
    ] as const) {
      set(index, { body: atom([]), headers: { 'cache-control': `max-age=${seconds}` } })
    }
    const result = await poll(0)
    expect(['next_poll_seconds' in result, result.next_poll_seconds]).toEqual([
      pause !== undefined,
      pause,
    ])
  })

  test('a redirect may lead to tsunami.gov only', async () => {
    const { set, poll } = world()
    set(PALMER, { status: 302, headers: { location: 'https://tsunami.gov/other.xml' } })
    set('https://tsunami.gov/other.xml', atom([]))
    set(HONOLULU, { status: 302, headers: { location: 'https://evil.example.com/' } })
    expect((await poll(0)).rejected).toEqual([
      { item: 'PHEBAtom.xml', reason: 'redirects to evil.example.com, which it may not' },
    ])
  })

  test('a bulletin that cannot be had or read is named', async () => {
    const { set, poll } = world()
    const [unchanged, broken] = [cap(1), cap(2)].map((url) => url.replace('http:', 'https:'))
    const listed = atom([
      [cap(1), '1'],
      [cap(2), '1'],
    ])
    set(PALMER, listed.replace('</feed>', '<entry><id>x</id></entry></feed>'))
    set(String(unchanged), { status: 304 })
    set(String(broken), bulletin(1, { alert: { sent: null } }))
    expect((await poll(0)).rejected).toEqual([
      { item: 'PAAQCAP.xml', reason: 'answered HTTP 304' },
      { item: '#1', reason: 'sent: is missing' },
      { item: 'PAAQAtom.xml #3', reason: 'link: is missing' },
    ])
  })

  test('a link by http is asked for by https, whatever its query says', async () => {
    const { set, poll, asked } = world()
    const odd = 'https://tsunami.gov/a.xml?of=http://tsunami.gov/b'
    set(
      PALMER,
      atom([
        ['http://tsunami.gov/a.xml', '1'],
        [odd, '1'],
      ]),
    )
    await poll(0)
    expect(asked()).toEqual([PALMER, 'https://www.tsunami.gov/a.xml', odd, HONOLULU])
  })

  test('a correction of the same number counts', async () => {
    const { issue, set, poll } = world()
    issue(2)
    await poll(0)
    issue(2, { info: { event: 'Tsunami Watch' } })
    set(PALMER, atom([[cap(2), 'later']]))
    expect((await poll(1)).events).toMatchObject([{ severity: 60 }])
  })

  test('an older bulletin does not undo a newer one', async () => {
    const { issue, poll } = world()
    issue(10, { info: { event: 'Tsunami Cancellation' } })
    await poll(0)
    issue(9)
    expect((await poll(1)).events).toEqual([])
  })

  test('the bulletin of another event ends nothing', async () => {
    const { issue, poll } = world()
    issue(1)
    await poll(0)
    issue(1, { alert: { identifier: 'PAAQ-1-other', incidents: 'other' } })
    // The same address, but the entry has changed.
    const { set } = { set: issue }
    set(2, { alert: { identifier: 'PAAQ-1-other', incidents: 'other' } })
    expect((await poll(1)).events).toMatchObject([{ id: 'tsunami:PAAQ-other', status: 'active' }])
  })

  test('a bulletin that fails is asked for again', async () => {
    const { set, poll, feed } = world()
    set(PALMER, { body: atom([[cap(1), '1']]), headers: { etag: '"1"' } })
    expect((await poll(0)).rejected).toEqual([{ item: 'PAAQCAP.xml', reason: 'answered HTTP 404' }])
    set(cap(1).replace('http:', 'https:'), bulletin(1))
    expect((await poll(1)).events).toHaveLength(1)
    await poll(2)
    expect(feed.asked[0]?.headers.get('if-none-match')).toBe('"1"')
  })

  test.each(['https://evil.example.com/a.xml', 'http://127.0.0.1/a', 'file:///etc/passwd'])(
    'a link to %s is not followed',
    async (url) => {
      const { set, poll, asked } = world()
      set(PALMER, atom([[url, '1']]))
      const { rejected } = await poll(0)
      const host = new URL(url).host || 'no host'
      expect(rejected[0]?.reason).toBe(`link: leads to ${host}, not to tsunami.gov`)
      expect(asked()).toEqual([PALMER, HONOLULU])
    },
  )

  test('304 is a success that changes nothing', async () => {
    const { issue, set, poll, feed } = world()
    issue(1)
    await poll(0)
    set(PALMER, { status: 304 })
    const { state } = feed
    expect(await poll(1)).toMatchObject({ not_modified: true, events: [] })
    expect(feed.state).toEqual(state)
  })

  test.each<[string, Reply, string]>([
    ['a web page', { body: '<html><body></body></html>' }, 'unreadable'],
    ['nothing', { body: '' }, 'unreadable'],
    ['half an answer', { body: '<feed><entry>' }, 'unreadable'],
    ['500', { status: 500 }, 'http_status'],
    ['429', { status: 429, headers: { 'retry-after': '60' } }, 'rate_limited'],
    ['no answer', new TypeError('reset'), 'unreachable'],
  ])(
    '%s from both is an error; from one it is named, and the bulletin of the other arrives',
    async (_, reply, code) => {
      const { issue, set, poll, feed } = world()
      set(PALMER, reply)
      set(HONOLULU, reply)
      await expect(poll(0)).rejects.toMatchObject({ name: 'FeedError', code })
      expect(feed.state).toEqual({})
      issue(1)
      if (code === 'rate_limited') return
      const { events, rejected } = await poll(1)
      expect(events).toHaveLength(1)
      expect(rejected).toMatchObject([{ item: 'PHEBAtom.xml' }])
      expect((await poll(2)).events).toEqual([])
    },
  )

  test('an index with many entries is read in part, which is said', async () => {
    const { set, poll, asked } = world()
    set(PALMER, atom(Array.from({ length: 12 }, (_, n) => [cap(n), '1'])))
    const { rejected } = await poll(0)
    expect(rejected.at(-1)).toEqual({
      item: 'PAAQAtom.xml #11',
      reason: 'entry: 2 entries beyond the first 10 are left out',
    })
    expect(asked()).toHaveLength(12)
  })

  test('an old or damaged state starts afresh', async () => {
    const { issue, poll, feed } = world()
    feed.state = { seen: [1], bulletins: { a: 'b' } }
    issue(1)
    expect((await poll(0)).events).toHaveLength(1)
  })
})

test('broken bulletins do no harm', async () => {
  await expectHarmless(tsunami, bulletin(1))
  await expectAgreed(tsunami, bulletin(1))
})

describeRecordings('tsunami-wcatwc-2011-09-02.cap', () => {
  const FILE = 'cap/tsunami-wcatwc-2011-09-02.cap'
  test('is a warning at the time and place of the earthquake, not of the arrivals', async () => {
    const { events, rejected } = await normalise(tsunami, recording(FILE))
    expect(rejected).toEqual([])
    expect(events).toMatchObject([
      {
        id: 'tsunami:PAAQ-lqw6d6',
        ts: '2011-09-02T10:55:55.000Z',
        lat: 51.8,
        lon: -171.4,
        severity: 100,
        magnitude: 7.1,
        depth_km: 39,
        ends_at: '2011-09-02T12:36:50.000Z',
      },
    ])
  })
  test('broken does no harm', async () => {
    await expectHarmless(tsunami, recording(FILE))
  })
})
