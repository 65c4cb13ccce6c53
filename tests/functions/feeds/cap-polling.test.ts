import { describe, expect, test } from 'vitest'
import { cap } from '../../../functions/feeds/cap-feed.ts'
import { alert, atom, capWorld, type Given } from '../../support/feeds/cap.ts'
import type { Reply } from '../../support/feeds/feeds.ts'

const INDEX = 'https://alerts.example.org/index.xml'
const FILE = 'https://files.example.net/alert.cap'
const _at = (minute: number) => `2026-03-01T12:${String(minute).padStart(2, '0')}:00.000Z`
const sent = (minute: number) => `2026-03-01T11:${String(minute).padStart(2, '0')}:00Z`

function world(pages: Record<string, Reply | string>, urls = INDEX) {
  const { poll, ...world } = capWorld(pages, urls)
  return {
    ...world,
    async poll(minute: number) {
      const result = await poll(minute)
      return {
        ...result,
        lines: result.events.map(({ id, status, severity }) => `${id} ${status} ${severity}`),
      }
    },
  }
}

const link = (name: string) => `https://alerts.example.org/${name}.cap`
const file = (over: Given['alert'], info: Given['info'] = {}) => alert({ alert: over, info })
const ID = 'cap:alerts.example.org'

describe('an index', () => {
  test('leads to its alerts; each is fetched once, until its entry changes', async () => {
    const { feed, set, asked, poll } = world({
      [INDEX]: atom([
        [link('a'), sent(0)],
        [link('b'), sent(0)],
      ]),
      [link('a')]: file({ identifier: 'A' }),
      [link('b')]: file({ identifier: 'B' }),
    })
    expect((await poll(0)).lines).toEqual([`${ID}:A active 50`, `${ID}:B active 50`])
    expect(asked()).toEqual([INDEX, link('a'), link('b')])

    expect((await poll(2)).lines).toEqual([])
    expect(asked()).toEqual([INDEX])

    set(INDEX, atom([[link('a'), sent(5)]]))
    set(link('a'), file({ identifier: 'A', sent: sent(5) }, { severity: 'Extreme' }))
    expect((await poll(4)).lines).toEqual([`${ID}:A active 90`])
    expect(asked()).toEqual([INDEX, link('a')])
    expect(Object.keys(feed.state.seen ?? {})).toEqual([INDEX])
  })

  test('in RSS leads to them as well', async () => {
    const rss =
      `<rss version="2.0"><channel><item><title>A</title><link>/a.cap</link><pubDate>Sun, 01 Mar 2026 11:00:00 GMT</pubDate></item>` +
      `<item><link>https://alerts.example.org/page</link><enclosure url="${link('b')}" type="application/cap+xml"/></item>` +
      `<item><title>none</title></item></channel></rss>`
    const { poll } = world({
      [INDEX]: rss,
      [link('a')]: file({ identifier: 'A' }),
      [link('b')]: file({ identifier: 'B' }),
    })
    const { lines, rejected } = await poll(0)
    expect(lines).toEqual([`${ID}:A active 50`, `${ID}:B active 50`])
    expect(rejected).toEqual([{ item: '#3', reason: 'link: is missing' }])
  })

  test('what vanishes from it has not ended', async () => {
    const { set, poll } = world({
      [INDEX]: atom([[link('a'), sent(0)]]),
      [link('a')]: file({ identifier: 'A' }),
    })
    await poll(0)
    set(INDEX, atom([]))
    expect((await poll(2)).events).toEqual([])
    expect((await poll(4)).events).toEqual([])
  })

  test('an alert that fails is tried again, five times, and the index is then asked for in full', async () => {
    const { feed, set, asked, poll } = world({
      [INDEX]: { headers: { etag: '"1"' }, body: atom([[link('a'), sent(0)]]) },
      [link('a')]: { status: 500 },
    })
    for (const n of [0, 1, 2, 3, 4]) {
      const { rejected } = await poll(n)
      expect(rejected).toEqual([{ item: 'alerts.example.org/a.cap', reason: 'answered HTTP 500' }])
      expect(feed.asked[0]?.headers.has('if-none-match')).toBe(false)
    }
    set(link('a'), file({ identifier: 'A' }))
    await poll(5)
    expect(asked()).toEqual([INDEX])
    await poll(6)
    expect(feed.asked[0]?.headers.get('if-none-match')).toBe('"1"')
    set(INDEX, atom([[link('a'), sent(9)]]))
    expect((await poll(7)).lines).toEqual([`${ID}:A active 50`])
  })

  test('with more alerts than one poll fetches says how many wait', async () => {
    const names = Array.from({ length: 90 }, (_, n) => `n${n}`)
    const { poll } = world({
      [INDEX]: atom(names.map((name) => [link(name), sent(0)])),
      ...Object.fromEntries(names.map((name) => [link(name), file({ identifier: name })])),
    })
    const counts: unknown[] = []
    for (const n of [0, 2, 4]) {
      const { events, rejected } = await poll(n)
      counts.push([events.length, rejected[0]?.reason])
    }
    expect(counts).toEqual([
      [40, 'link: 50 of 90 alerts are fetched in the next polls'],
      [40, 'link: 10 of 90 alerts are fetched in the next polls'],
      [10, undefined],
    ])
  })

  test('with too many entries says how many are left out', async () => {
    const links = Array.from({ length: 4003 }, (_, n): [string, string] => [link(`n${n}`), sent(0)])
    const { poll } = world({ [INDEX]: atom(links), [link('n0')]: new TypeError('reset') })
    const { rejected, state } = await poll(0)
    expect(rejected[0]?.reason).toBe('entry: 3 entries beyond the first 4000 are left out')
    expect(JSON.stringify(state).length).toBeLessThan(1_000_000)
  })

  test('a host that cannot be reached is left alone after three alerts', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const { asked, poll } = world({
      [INDEX]: atom(names.map((name) => [link(name), sent(0)])),
      ...Object.fromEntries(names.map((name) => [link(name), new TypeError('reset')])),
    })
    await poll(0)
    expect(asked()).toHaveLength(4)
  })

  test('429 ends the round and sets the pause', async () => {
    const { asked, poll } = world({
      [INDEX]: atom([
        [link('a'), sent(0)],
        [link('b'), sent(0)],
      ]),
      [link('a')]: { status: 429, headers: { 'retry-after': '600' } },
    })
    expect(await poll(0)).toMatchObject({ next_poll_seconds: 600 })
    expect(asked()).toEqual([INDEX, link('a')])
  })
})

describe('what an index may lead to', () => {
  test.each([
    ['https://evil.example.com/a.cap', 'leads to evil.example.com, which CAP_URLS does not list'],
    ['http://127.0.0.1/a.cap', 'leads to 127.0.0.1'],
    ['http://169.254.169.254/latest', 'leads to 169.254.169.254'],
    ['https://alerts.example.org:8443/a.cap', 'leads to alerts.example.org:8443'],
    ['https://user:pw@alerts.example.org/a.cap', 'which CAP_URLS does not list'],
    ['file:///etc/passwd', 'leads to no host'],
    ['javascript:alert(1)', 'leads to no host'],
  ])('%s is refused', async (url, reason) => {
    const { asked, poll } = world({ [INDEX]: atom([[url, sent(0)]]), [url]: file({}) })
    const { events, rejected } = await poll(0)
    expect(events).toEqual([])
    expect(rejected[0]?.reason).toContain(reason)
    expect(asked()).toEqual([INDEX])
  })

  test('another host that is listed, and its own host by https where the link says http', async () => {
    const { asked, poll } = world(
      {
        [INDEX]: atom([
          [FILE, sent(0)],
          ['http://alerts.example.org/a.cap', sent(0)],
        ]),
        [FILE]: file({ identifier: 'F' }),
        [link('a')]: file({ identifier: 'A' }),
      },
      `${INDEX}, ${FILE}`,
    )
    // The file is an address of its own as well: another authority.
    expect((await poll(0)).lines.sort()).toEqual([
      `${ID}:A active 50`,
      `${ID}:F active 50`,
      'cap:files.example.net:F active 50',
    ])
    expect(asked()).toContain(link('a'))
  })

  test('a redirect may lead only there, too', async () => {
    const { set, asked, poll } = world({
      [INDEX]: atom([[link('a'), sent(0)]]),
      [link('a')]: { status: 302, headers: { location: 'http://10.0.0.1/secret' } },
      [link('b')]: file({ identifier: 'B' }),
    })
    const { rejected } = await poll(0)
    expect(rejected[0]?.reason).toBe('redirects to 10.0.0.1, which it may not')
    expect(asked()).toEqual([INDEX, link('a')])
    set(link('a'), { status: 302, headers: { location: '/b.cap' } })
    expect((await poll(2)).lines).toEqual([`${ID}:B active 50`])
    set(INDEX, atom([[link('c'), sent(1)]]))
    set(link('c'), { status: 302, headers: { location: '/c.cap' } })
    expect((await poll(4)).rejected[0]?.reason).toBe('redirects more than 5 times')
  })
})

describe('a chain of messages', () => {
  const chain = (messages: string[]) =>
    Object.fromEntries(messages.map((text, n) => [link(`m${n}`), text]))
  const listing = (count: number) =>
    atom(Array.from({ length: count }, (_, n) => [link(`m${n}`), sent(n)]))

  const first = file({ identifier: 'A' })
  const update = file(
    { identifier: 'B', sent: sent(10), msgType: 'Update', references: `x,A,${sent(0)}` },
    { severity: 'Severe' },
  )
  const cancel = file({
    identifier: 'C',
    sent: sent(20),
    msgType: 'Cancel',
    references: `x,B,${sent(10)}`,
  })

  test('an update revises the event of what it refers to, a cancel ends it', async () => {
    const { set, poll } = world({ ...chain([first, update, cancel]), [INDEX]: listing(1) })
    await poll(0)
    set(INDEX, listing(2))
    expect(await poll(2)).toMatchObject({
      events: [
        {
          id: `${ID}:A`,
          severity: 70,
          revised_at: '2026-03-01T11:10:00.000Z',
          aliases: [`${ID}:B`, `${ID}:A`],
        },
      ],
    })
    set(INDEX, listing(3))
    expect(await poll(4)).toMatchObject({
      events: [
        {
          id: `${ID}:A`,
          source: 'cap',
          status: 'ended',
          severity: 70,
          revised_at: '2026-03-01T11:20:00.000Z',
          geometry: { type: 'Polygon' },
        },
      ],
    })
  })

  test('all in one answer, in any order, say nothing of what is over', async () => {
    const { poll } = world({ ...chain([cancel, update, first]), [INDEX]: listing(3) })
    expect(await poll(0)).toMatchObject({ events: [], rejected: [] })
  })

  test('an old copy does not bring back what was cancelled or replaced', async () => {
    const { set, poll } = world({ ...chain([first, update, cancel]), [INDEX]: listing(2) })
    expect((await poll(0)).lines).toEqual([`${ID}:A active 70`])
    set(INDEX, atom([[link('m0'), sent(30)]]))
    expect((await poll(2)).lines).toEqual([])
    set(INDEX, atom([[link('m2'), sent(40)]]))
    expect((await poll(4)).lines).toEqual([`${ID}:A ended 70`])
    set(INDEX, atom([[link('m0'), sent(50)]]))
    expect((await poll(6)).lines).toEqual([])
  })

  test('an update of several alerts continues the oldest and ends the others', async () => {
    const second = file({ identifier: 'A2', sent: sent(5) })
    const both = file({
      identifier: 'B',
      sent: sent(10),
      msgType: 'Update',
      references: `x,A2,${sent(5)} x,A,${sent(0)}`,
    })
    const { set, poll } = world({ ...chain([first, second, both]), [INDEX]: listing(2) })
    await poll(0)
    set(INDEX, listing(3))
    expect((await poll(2)).lines).toEqual([`${ID}:A2 ended 50`, `${ID}:A active 50`])
  })

  test('an update of what is not known begins an event, and names it for the database', async () => {
    const { poll } = world({ [INDEX]: atom([[link('b'), sent(0)]]), [link('b')]: update })
    expect((await poll(0)).events).toMatchObject([
      { id: `${ID}:B`, aliases: [`${ID}:B`, `${ID}:A`] },
    ])
  })

  test('one authority cannot end the alerts of another', async () => {
    const pages = {
      [INDEX]: listing(1),
      [link('m0')]: first,
      [FILE]: alert({ alert: { identifier: 'Z' } }),
    }
    const { set, poll } = world(pages, `${INDEX} ${FILE}`)
    await poll(0)
    const foreign = {
      identifier: 'Y',
      msgType: 'Cancel',
      references: `x,A,${sent(0)}`,
      sent: sent(9),
    }
    set(FILE, alert({ alert: foreign }))
    const { lines, rejected } = await poll(2)
    expect(lines).toEqual([])
    expect(rejected[0]?.reason).toMatch(/^ends a warning that is not known/)
  })

  test('a VTEC that expires ends the warning though the message calls itself an alert', async () => {
    const vtec = (identifier: string, minute: number, action: string) =>
      alert({
        alert: { identifier, sent: sent(minute) },
        parameters: { VTEC: `/O.${action}.KBOX.SV.W.0131.211212T0321Z-211212T0400Z/` },
      })
    const { set, poll } = world({
      [INDEX]: listing(1),
      ...chain([vtec('V1', 0, 'NEW'), vtec('V2', 5, 'CON'), vtec('V3', 9, 'EXP')]),
    })
    expect((await poll(0)).events).toMatchObject([{ subject: 'vtec:KBOX.SV.W.0131' }])
    set(INDEX, listing(2))
    expect((await poll(2)).lines).toEqual([`${ID}:V1 active 50`])
    set(INDEX, listing(3))
    expect((await poll(4)).lines).toEqual([`${ID}:V1 ended 50`])
  })
})

describe('polling', () => {
  test('the validators go back, and 304 of all is a success that changes nothing', async () => {
    const { feed, set, poll } = world({ [FILE]: { headers: { etag: '"1"' }, body: alert() } }, FILE)
    expect((await poll(0)).lines).toEqual(['cap:files.example.net:A1 active 50'])
    set(FILE, { status: 304 })
    const state = feed.state
    const result = await poll(2)
    expect(result).toMatchObject({ not_modified: true, events: [] })
    expect(feed.state).toEqual(state)
    expect(feed.asked[0]?.headers.get('if-none-match')).toBe('"1"')
  })

  test.each<[string, Reply | string, string]>([
    ['a web page', '<html><body>Maintenance</body></html>', 'unreadable'],
    ['nothing', '', 'unreadable'],
    ['half an answer', alert().slice(0, 300), 'unreadable'],
    ['an entity bomb', `<!DOCTYPE a [<!ENTITY b "b">]>${alert()}`, 'unreadable'],
    ['500', { status: 500 }, 'http_status'],
    ['429', { status: 429, headers: { 'retry-after': '60' } }, 'rate_limited'],
    ['no answer', new TypeError('reset'), 'unreachable'],
  ])('%s is an error; the state is kept and the alert goes on', async (_, page, code) => {
    const { feed, set, poll } = world({ [FILE]: alert() }, FILE)
    await poll(0)
    const state = feed.state
    set(FILE, page)
    await expect(poll(2)).rejects.toMatchObject({ name: 'FeedError', code })
    expect(feed.state).toEqual(state)
  })

  test('one address may fail: the alerts of the others arrive, and the failure is named', async () => {
    const { poll } = world({ [INDEX]: '<html/>', [FILE]: alert() }, `${INDEX},${FILE}`)
    const { lines, rejected } = await poll(0)
    expect(lines).toEqual(['cap:files.example.net:A1 active 50'])
    expect(rejected[0]).toMatchObject({ item: 'alerts.example.org/index.xml' })
  })

  test('an old or damaged state starts afresh', async () => {
    const { feed, poll } = world({ [FILE]: alert() }, FILE)
    feed.state = { memories: { 'files.example.net': { open: { a: [1] } } }, seen: 7 }
    expect((await poll(0)).lines).toEqual(['cap:files.example.net:A1 active 50'])
  })
})

describe('the setting CAP_URLS', () => {
  const accepts = (value: string) => cap.settings?.CAP_URLS?.schema.safeParse(value).success
  test.each([INDEX, `${INDEX}, ${FILE}`, 'http://10.0.0.5:8080/cap'])('may be %s', (value) => {
    expect(accepts(value)).toBe(true)
  })
  test.each([
    '',
    'nothing',
    'ftp://example.org/a',
    'https://user:pw@example.org/',
    `${INDEX} `.repeat(1).concat('x'),
  ])('may not be %j', (value) => {
    expect(accepts(value)).toBe(false)
  })
  test('has at most 20 addresses, and its message does not show them', () => {
    const many = Array.from({ length: 21 }, (_, n) => `https://h${n}.example.org/`).join(' ')
    const result = cap.settings?.CAP_URLS?.schema.safeParse(many)
    expect(result?.error?.issues[0]?.message).toBe(
      'must hold up to 20 http or https URLs without a user name',
    )
  })
})
