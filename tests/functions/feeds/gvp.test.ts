import { describe, expect, test } from 'vitest'
import { decodeText } from '../../../functions/feeds/fetch.ts'
import { gvp } from '../../../functions/feeds/gvp.ts'
import {
  describeRecordings,
  expectAgreed,
  expectHarmless,
  normalise,
  type Reply,
  recording,
  upstream,
} from '../../support/feeds/feeds.ts'

const PERIOD = 'Report for 10 September-16 September 2026'

type Item = { title?: string; guid?: string; date?: string; point?: string }

function item({
  title = `Krakatau (Indonesia) - ${PERIOD} - New Eruptive Activity`,
  guid = 'https://volcano.si.edu/reports_weekly.cfm#vn_262000',
  date = 'Thu, 17 Sep 2026 01:20:04 -0400',
  point = '-6.1009 105.4233',
}: Item = {}): string {
  return (
    `<item><title>${title}</title><link>https://volcano.si.edu/reports_weekly.cfm</link>` +
    `<guid isPermaLink="true">${guid}</guid><pubDate>${date}</pubDate><georss:point>${point}</georss:point></item>`
  )
}

const rss = (...items: string[]) =>
  `<?xml version="1.0" encoding="ISO-8859-1"?><rss version="2.0" xmlns:georss="http://www.georss.org/georss">` +
  `<channel><title>Weekly</title><pubDate>Thu, 17 Sep 2026 01:20:04 -0500</pubDate>${items.join('')}</channel></rss>`
const read = (given: Item = {}) => normalise(gvp, rss(item(given)))

describe('a report becomes an event', () => {
  test('with every field of the canonical form', async () => {
    expect(await read()).toEqual({
      rejected: [],
      events: [
        {
          id: 'gvp:262000:20260917',
          source: 'gvp',
          type: 'volcano',
          title: `Krakatau (Indonesia) - ${PERIOD} - New Eruptive Activity`,
          lat: -6.1009,
          lon: 105.4233,
          ts: '2026-09-16T23:59:59.000Z',
          severity: 60,
          subject: 'volcano:262000',
          status: 'active',
          url: 'https://volcano.si.edu/reports_weekly.cfm#vn_262000',
          geometry: null,
          ends_at: null,
          revised_at: '2026-09-17T05:20:04.000Z',
          aliases: [],
        },
      ],
    })
  })

  test.each([
    ['New Eruptive Activity', 60],
    ['Continuing Eruptive Activity', 40],
    ['New Unrest', 40],
    ['Continuing Unrest', 30],
    ['New Activity/Unrest', 30],
  ])('%s is severity %i', async (kind, severity) => {
    expect((await read({ title: `Etna (Italy) - ${PERIOD} - ${kind}` })).events).toMatchObject([
      { severity },
    ])
  })

  test.each([
    ['Etna - Report for 10-16 September 2026 - New Unrest', '2026-09-16T23:59:59.000Z'],
    ['Etna - Report for 5-11  January  2026 - New Unrest', '2026-01-11T23:59:59.000Z'],
    ['Etna - Report for 10-31 February 2026 - New Unrest', '2026-09-17T05:20:04.000Z'],
    ['Etna - Report for 27 August-2 September 2026 - New Unrest', '2026-09-02T23:59:59.000Z'],
    ['Etna - Report for 11 September–17 September 2026 - New Unrest', '2026-09-17T05:20:04.000Z'],
    ['Etna - Report for 10 September-36 September 2026', '2026-09-17T05:20:04.000Z'],
    ['Etna - Report for 10 September-16 Brumaire 2026', '2026-09-17T05:20:04.000Z'],
    ['Etna - Report for 10 September-16 September 2029', '2026-09-17T05:20:04.000Z'],
    ['Etna - New Unrest', '2026-09-17T05:20:04.000Z'],
  ])('%s has the time %s', async (title, ts) => {
    expect((await read({ title })).events).toMatchObject([{ ts }])
  })

  test.each([
    ['-6 105', -6, 105],
    ['-6.5,  105.25', -6.5, 105.25],
  ])('at "%s"', async (point, lat, lon) => {
    expect((await read({ point })).events).toMatchObject([{ lat, lon }])
  })

  test.each([
    ['http://volcano.si.edu/a#vn_262000', 'http://volcano.si.edu/a#vn_262000'],
    ['of https://volcano.si.edu/#vn_262000', 'https://volcano.si.edu/reports_weekly.cfm'],
    ['report#vn_262000', 'https://volcano.si.edu/reports_weekly.cfm'],
  ])('named "%s" it is at %s', async (guid, url) => {
    expect((await read({ guid })).events).toMatchObject([{ url }])
  })

  test('a number of seven digits is that of no volcano', async () => {
    const { rejected } = await read({ guid: 'https://volcano.si.edu/#vn_2620001' })
    expect(rejected).toEqual([
      { item: '#1', reason: 'guid: does not end in the number of a volcano' },
    ])
  })

  test('the next week is another event of the same volcano', async () => {
    const next = item({ date: 'Thu, 24 Sep 2026 01:20:04 -0400' })
    const { events } = await normalise(gvp, rss(item(), next))
    expect(events.map(({ id, subject }) => [id, subject])).toEqual([
      ['gvp:262000:20260917', 'volcano:262000'],
      ['gvp:262000:20260924', 'volcano:262000'],
    ])
  })

  test.each<[string, Item, string]>([
    ['number', { guid: 'https://volcano.si.edu/' }, 'guid'],
    ['title', { title: '' }, 'title'],
    ['time', { date: 'Thursday' }, 'pubDate'],
    ['place', { point: '' }, 'georss:point'],
    ['latitude', { point: '95 10' }, 'lat'],
  ])('without a %s it is rejected', async (_, given, field) => {
    const { events, rejected } = await read(given)
    expect(events).toEqual([])
    expect(rejected[0]?.reason).toMatch(new RegExp(`^${field}: `))
  })
})

describe('polling', () => {
  const world = (reply: Reply) => upstream(gvp, () => reply)
  const AT = '2026-09-17T12:00:00.000Z'

  test('latin1 is read as it is declared', async () => {
    const title = `Popocatépetl (México) - ${PERIOD} - Continuing Unrest`
    const bytes = Uint8Array.from(rss(item({ title })), (letter) => letter.charCodeAt(0))
    expect(decodeText(bytes)).toContain('Popocatépetl')
    expect((await world({ body: bytes }).poll(AT)).events).toMatchObject([{ title }])
  })

  test('the validators go back, and 304 is a success that changes nothing', async () => {
    const feed = world({ body: rss(item()), headers: { etag: '"1"' } })
    expect((await feed.poll(AT)).events).toHaveLength(1)
    feed.answer = () => ({ status: 304 })
    expect(await feed.poll(AT)).toMatchObject({
      not_modified: true,
      events: [],
      state: { etag: '"1"' },
    })
    expect(feed.asked[0]?.headers.get('if-none-match')).toBe('"1"')
  })

  test.each<[string, Reply, string]>([
    ['a web page', { body: '<html><body></body></html>' }, 'unreadable'],
    ['nothing', { body: '' }, 'unreadable'],
    ['half an answer', { body: rss(item()).slice(0, 300) }, 'unreadable'],
    ['500', { status: 500 }, 'http_status'],
    ['429', { status: 429 }, 'rate_limited'],
    ['no answer', new TypeError('reset'), 'unreachable'],
  ])('%s is an error', async (_, reply, code) => {
    await expect(world(reply).poll(AT)).rejects.toMatchObject({ name: 'FeedError', code })
  })
})

test('broken answers do no harm', async () => {
  await expectHarmless(gvp, rss(item()))
  await expectAgreed(gvp, rss(item()))
})

describeRecordings('gvp-weekly-2026-09-17.xml', () => {
  const FILE = 'volcano/gvp-weekly-2026-09-17.xml'
  test('holds 2 reports', async () => {
    const { events, rejected } = await normalise(gvp, recording(FILE))
    expect(rejected).toEqual([])
    expect(events.map(({ id, severity, ts }) => [id, severity, ts])).toEqual([
      ['gvp:262000:20260917', 60, '2026-09-16T23:59:59.000Z'],
      ['gvp:332010:20260917', 40, '2026-09-16T23:59:59.000Z'],
    ])
  })
  test('broken does no harm', async () => {
    await expectHarmless(gvp, recording(FILE))
  })
})
