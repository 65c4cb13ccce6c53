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
    expect(rejected[0]?.reason).toContain('not in this answer')
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
    const { poll, asked } = world()
    expect(await poll(0)).toMatchObject({ events: [], rejected: [], not_modified: true })
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
      expect(rejected[0]?.reason).toContain('not to tsunami.gov')
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
    expect(rejected.at(-1)?.reason).toBe('entry: 2 entries beyond the first 10 are left out')
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
