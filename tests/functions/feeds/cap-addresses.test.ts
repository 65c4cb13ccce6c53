/** How the indexes and alerts of several addresses are read, and what is remembered of them. */
import { describe, expect, test } from 'vitest'
import { cap } from '../../../functions/feeds/cap-feed.ts'
import { alert, atom, capWorld } from '../../support/feeds/cap.ts'
import { normalise, type Reply } from '../../support/feeds/feeds.ts'

const HOST = 'https://alerts.example.org'
const INDEX = `${HOST}/index.xml`
const OTHER = `${HOST}/other.xml`
const FILE = 'https://files.example.net/alert.cap'
const link = (name: string) => `${HOST}/${name}.cap`
const sent = (minute: number) => `2026-03-01T11:${String(minute).padStart(2, '0')}:00Z`
const index = (...names: string[]) => atom(names.map((name) => [link(name), sent(0)]))
const named = (identifier: string, more: Record<string, string> = {}) =>
  alert({ alert: { identifier, ...more } })

const idsOf = ({ events }: { events: { id: string }[] }) =>
  events.map(({ id }) => id.split(':').at(-1))

describe('of several addresses', () => {
  test('one that fails is named; its alerts go on, and are not fetched again', async () => {
    for (const failure of [{ status: 500 }, '<html/>'] as const) {
      const { set, asked, poll } = capWorld(
        { [INDEX]: index('a'), [link('a')]: named('A'), [FILE]: alert() },
        `${INDEX} ${FILE}`,
      )
      expect(idsOf(await poll(0))).toEqual(['A', 'A1'])
      set(INDEX, failure)
      const { events, rejected, not_modified } = await poll(2)
      expect([events.length, rejected.length, not_modified]).toEqual([1, 1, false])
      expect(rejected[0]?.item).toBe('alerts.example.org/index.xml')
      set(INDEX, index('a'))
      await poll(4)
      expect(asked()).toEqual([INDEX, FILE])
    }
  })

  test('those of one host are one authority, whose alerts come once', async () => {
    const { set, poll } = capWorld(
      {
        [INDEX]: index('a'),
        [OTHER]: index('b'),
        [link('a')]: named('A'),
        [link('b')]: named('B'),
      },
      `${INDEX},${OTHER}`,
    )
    expect(idsOf(await poll(0))).toEqual(['A', 'B'])
    set(OTHER, index('c'))
    set(link('c'), named('C', { msgType: 'Cancel', references: `x,A,${sent(0)}`, sent: sent(9) }))
    expect((await poll(2)).events).toMatchObject([{ title: expect.anything(), status: 'ended' }])
  })

  test('each may have its part of what is remembered', async () => {
    const many = Array.from({ length: 760 }, (_, n) => ({
      ...{ identifier: `n${n}`, sender: 'x', sent: sent(0), status: 'Actual', msgType: 'Alert' },
      info: [
        {
          ...{ language: 'en', event: 'Wind', severity: 'Severe', expires: '2026-03-02T06:00:00Z' },
          area: [{ areaDesc: 'Here', circle: ['10,20 0'] }],
        },
      ],
    }))
    const { feed, poll } = capWorld(
      { [FILE]: { json: many }, [INDEX]: index() },
      `${INDEX} ${FILE}`,
    )
    expect((await poll(0)).events).toHaveLength(760)
    const memories = feed.state.memories as Record<string, { open: object }>
    expect(Object.keys(memories['files.example.net']?.open ?? {})).toHaveLength(750)
  })

  test('each may have its part of the entries', async () => {
    const links = Array.from({ length: 2001 }, (_, n): [string, string] => [link(`n${n}`), sent(0)])
    const pages = { [INDEX]: atom(links), [link('n0')]: { status: 429 }, [FILE]: alert() }
    const { rejected } = await capWorld(pages, `${INDEX} ${FILE}`).poll(0)
    expect(rejected[0]?.reason).toBe('entry: 1 entries beyond the first 2000 are left out')
  })
})

describe('an alert of an index', () => {
  test('that failed waits for those that did not', async () => {
    const { set, asked, poll } = capWorld({ [INDEX]: index('a') }, INDEX)
    await poll(0)
    set(INDEX, index('a', 'b'))
    await poll(2)
    expect(asked()).toEqual([INDEX, link('b'), link('a')])
  })

  test('that failed five times is tried five times more when its entry changes', async () => {
    const { set, asked, poll } = capWorld({ [INDEX]: index('a') }, INDEX)
    for (const n of [0, 1, 2, 3, 4]) await poll(n)
    set(INDEX, atom([[link('a'), sent(5)]]))
    for (const n of [5, 6, 7, 8, 9]) {
      await poll(n)
      expect(asked()).toEqual([INDEX, link('a')])
    }
    await poll(10)
    expect(asked()).toEqual([INDEX])
  })

  test('that is refused does not keep others from being asked for', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const { asked, poll } = capWorld({ [INDEX]: index(...names) }, INDEX)
    await poll(0)
    expect(asked()).toHaveLength(6)
  })

  test.each<[Reply | string, string]>([
    [{ status: 304 }, 'answered HTTP 304'],
    [index(), 'link: leads to a document without an alert'],
    ['<html/>', 'answered with <html>, which is neither a CAP alert nor an index'],
  ])('that is %j is named, and tried again', async (page, reason) => {
    const { asked, poll } = capWorld({ [INDEX]: index('a'), [link('a')]: page }, INDEX)
    expect((await poll(0)).rejected).toEqual([{ item: 'alerts.example.org/a.cap', reason }])
    await poll(2)
    expect(asked()).toContain(link('a'))
  })

  test('with several of which one cannot be read gives the others, and is not tried again', async () => {
    const json = [{ identifier: 'bad' }, { identifier: 7 }]
    const { asked, poll } = capWorld({ [INDEX]: index('a'), [link('a')]: { json } }, INDEX)
    expect((await poll(0)).rejected.map(({ item }) => item)).toEqual(['#1', '#2'])
    await poll(2)
    expect(asked()).toEqual([INDEX])
  })

  test('is asked for by https only where its index is, at the same host', async () => {
    const plain = 'http://files.example.net/a.cap'
    const listed = `${INDEX} ${FILE}`
    const first = capWorld({ [INDEX]: atom([[plain, sent(0)]]), [FILE]: alert() }, listed)
    await first.poll(0)
    expect(first.asked()).toEqual([INDEX, FILE, plain])
    const open = INDEX.replace('https', 'http')
    const second = capWorld({ [open]: atom([[link('a').replace('https', 'http'), sent(0)]]) }, open)
    await second.poll(0)
    expect(second.asked()).toEqual([open, link('a').replace('https', 'http')])
  })
})

describe('an index', () => {
  test('all of whose alerts were fetched is asked for by its validators', async () => {
    const page = { body: index('a'), headers: { etag: '"1"' } }
    const { feed, set, poll } = capWorld({ [INDEX]: page, [link('a')]: named('A') }, INDEX)
    await poll(0)
    set(INDEX, { status: 304 })
    expect(await poll(2)).toEqual({
      ...{ events: [], rejected: [], not_modified: true, state: expect.anything() },
    })
    expect(feed.asked[0]?.headers.get('if-none-match')).toBe('"1"')
  })

  test.each([
    [120, undefined],
    [121, 121],
    [901, 900],
  ])('with a max-age of %i s sets the pause to %s', async (max_age, pause) => {
    const headers = { 'cache-control': `max-age=${max_age}` }
    const { poll } = capWorld({ [FILE]: { body: alert(), headers } }, FILE)
    const result = await poll(0)
    expect(['next_poll_seconds' in result, result.next_poll_seconds]).toEqual([
      pause !== undefined,
      pause,
    ])
  })
})

describe('a recorded document', () => {
  test('of JSON may begin with spaces, and names what is no alert by its number', async () => {
    for (const text of [' \n[1, {}]', '[1, {}]']) {
      const { rejected } = await normalise(cap, text)
      expect(rejected.map(({ item }) => item)).toEqual(['#1', '#2'])
    }
  })

  test('of XML names what is no alert by its identifier, or by its number', async () => {
    const broken = (identifier: string | null) => alert({ alert: { identifier, sent: null } })
    const one = async (text: string) => (await normalise(cap, text)).rejected[0]?.item
    expect(await one(broken('A7'))).toBe('A7')
    expect(await one(broken(null))).toBe('#1')
    expect(await one(broken(null).replace('<sent', '<identifiers>A8</identifiers><sent'))).toBe(
      '#1',
    )
    const prefixed = broken('A9').replaceAll(/<(\/?)identifier>/g, '<$1cap:identifier>')
    expect(await one(prefixed)).toBe('A9')
  })

  test('that follows another names it under its authority', async () => {
    const text = named('B', { msgType: 'Update', references: `x,A,${sent(0)}` })
    const content = await cap.normalise?.(text, {
      now: new Date('2026-03-01T12:00:00Z'),
      settings: { CAP_URLS: INDEX },
    })
    expect(content?.events[0]?.aliases).toEqual([
      'cap:alerts.example.org:B',
      'cap:alerts.example.org:A',
    ])
  })

  test('that leads elsewhere says that the alerts are not in it', async () => {
    const { events, rejected } = await normalise(cap, index('a'))
    expect([events, rejected]).toEqual([
      [],
      [{ item: link('a'), reason: 'link: leads to an alert that is not in this answer' }],
    ])
  })
})

test('a new warning of a hazard does not go on from another of it, but one that continues does', async () => {
  const vtec = (identifier: string, minute: number, action: string) =>
    alert({
      alert: { identifier, sent: sent(minute) },
      parameters: { VTEC: `/O.${action}.KBOX.SV.W.0131.211212T0321Z-211212T0400Z/` },
    })
  const { set, poll } = capWorld({ [FILE]: vtec('V1', 0, 'NEW') }, FILE)
  expect(idsOf(await poll(0))).toEqual(['V1'])
  set(FILE, vtec('V2', 1, 'CON'))
  expect(idsOf(await poll(2))).toEqual(['V1'])
  const both = vtec('V4', 2, 'CON').replace(
    '</value>',
    ' /O.NEW.KBOX.SV.W.0132.211212T0321Z-211212T0400Z/</value>',
  )
  set(FILE, both)
  expect(idsOf(await poll(3))).toEqual(['V1'])
  set(FILE, vtec('V3', 3, 'NEW'))
  expect(idsOf(await poll(4))).toEqual(['V3'])
})

test('twenty addresses are the most', () => {
  const urls = (count: number) => Array.from({ length: count }, (_, n) => `https://h${n}.test/`)
  const { schema } = cap.settings?.CAP_URLS ?? {}
  expect([20, 21].map((count) => schema?.safeParse(urls(count).join()).success)).toEqual([
    true,
    false,
  ])
})

test('without addresses there is nothing to ask for', async () => {
  const fetch = () => Promise.reject(new Error('was asked'))
  expect(await cap.poll({ state: {}, now: new Date(), fetch })).toMatchObject({ events: [] })
})
