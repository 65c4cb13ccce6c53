import { describe, expect, test } from 'vitest'
import { tsunami } from '../../../functions/feeds/tsunami.ts'
import { atom, type Given } from '../../support/feeds/cap.ts'
import { type Reply, upstream } from '../../support/feeds/feeds.ts'
import { bulletin } from '../../support/feeds/tsunami.ts'

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

  test('of the entries of the past the last 50 are known', async () => {
    const { set, poll, feed, asked } = world()
    set(HONOLULU, { status: 304 })
    for (let minute = 0; minute < 52; minute += 1) {
      set(PALMER, atom([[cap(minute), at(minute)]]))
      set(cap(minute).replace('http:', 'https:'), bulletin(1))
      await poll(minute)
    }
    const listed = Array.from({ length: 50 }, (_, nth) => [cap(nth + 2), at(nth + 2)])
    expect(feed.state).toMatchObject({ seen: Object.fromEntries(listed) })
    expect(feed.state).not.toHaveProperty(['seen', cap(1)])
    await poll(52)
    expect(asked()).toEqual([PALMER, HONOLULU])
  })

  test('a bulletin that was read just now is not asked for again', async () => {
    const { issue, set, poll, asked } = world()
    const other = 'http://tsunami.gov/events/PAAQCAP.xml'
    set('https://www.tsunami.gov/events/PAAQCAP.xml', bulletin(1))
    set(PALMER, atom([[other, '1']]))
    await poll(0)
    set(HONOLULU, { status: 304 })
    set(PALMER, atom([[other, '2']]))
    await poll(1)
    expect(asked()).toHaveLength(3)
    for (const palmer of [{ status: 304 }, { body: atom([[other, '2']]) }]) {
      set(PALMER, palmer)
      await poll(2)
      expect(asked()).toEqual([PALMER, HONOLULU])
    }
    issue(2)
    expect((await poll(3)).events).toHaveLength(1)
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
