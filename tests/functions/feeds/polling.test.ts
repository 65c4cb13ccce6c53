/** What all feeds that poll have in common. */
import { describe, expect, test } from 'vitest'
import { type Feed, isFeedError } from '../../../functions/feeds/feed.ts'
import { findFeed } from '../../../functions/feeds/feeds.ts'
import { atom } from '../../support/feeds/cap.ts'
import { type Reply, upstream } from '../../support/feeds/feeds.ts'
import { gdacsItem, gdacsRss } from '../../support/feeds/gdacs.ts'
import { feature } from '../../support/feeds/nws.ts'
import { summary } from '../../support/feeds/quakes.ts'

const NOW = '2026-03-01T12:00:00.000Z'
const RSS = '<rss><channel><title>None</title></channel></rss>'
const polled = (source: string): Feed => {
  const feed = findFeed(source)
  if (!('poll' in feed)) throw new Error(`${source} does not poll`)
  return feed
}

/** Of each feed an answer without any event, what it asks for, and what it says of another answer. */
const QUIET: [source: string, answer: Reply, accept: string, other: Reply, message: string][] = [
  [
    'cems',
    { json: { results: [] } },
    'application/json',
    { json: {} },
    'answered with JSON that has no results',
  ],
  [
    'eonet',
    { json: { events: [] } },
    'application/json',
    { json: {} },
    'answered with JSON without a list of events',
  ],
  [
    'geonet',
    { json: { features: [] } },
    'application/vnd.geo+json;version=2',
    { json: {} },
    'answered with JSON that is not a FeatureCollection',
  ],
  [
    'gvp',
    { body: RSS },
    'application/rss+xml, application/xml',
    { body: '<rss/>' },
    'answered with XML that is not an RSS feed',
  ],
  [
    'nhc',
    { json: { activeStorms: [] } },
    'application/json',
    { json: {} },
    'answered with JSON without a list of activeStorms',
  ],
  [
    'nws',
    { json: { features: [] } },
    'application/geo+json',
    { json: {} },
    'answered with JSON that is not a FeatureCollection',
  ],
  [
    'reliefweb',
    { json: { data: [] } },
    'application/json',
    { json: {} },
    'answered with JSON without a list of data',
  ],
  [
    'usgs-volcano',
    { json: [] },
    'application/json',
    { json: {} },
    'answered with JSON that is not a list of volcanoes',
  ],
  [
    'tsunami',
    { body: atom([]) },
    'application/atom+xml, application/xml',
    { body: RSS.replaceAll('rss', 'html') },
    'answered with XML that is not an Atom feed',
  ],
  [
    'gdacs',
    { body: gdacsRss() },
    '*/*',
    { body: '<rss/>' },
    'answered with XML that is not an RSS channel',
  ],
]

describe.each(QUIET)('%s', (source, answer, accept, other, message) => {
  test('says nothing for an answer without events, nor for one that did not change', async () => {
    const world = upstream(polled(source), () => answer)
    expect(await world.poll(NOW)).toMatchObject({ events: [], rejected: [], not_modified: false })
    expect(world.asked[0]?.headers.get('accept')).toBe(accept)
    const { state } = world
    world.answer = () => ({ status: 304 })
    expect(await world.poll('2026-03-01T12:01:00.000Z')).toEqual({
      ...{ events: [], rejected: [], not_modified: true, state },
    })
  })

  test('says what another answer is not', async () => {
    const world = upstream(polled(source), () => other)
    const failure = await world.poll(NOW).catch((error: unknown) => error)
    expect(isFeedError(failure)).toBe(true)
    expect(failure).toMatchObject({ code: 'json' in other ? 'not_json' : 'unreadable', message })
  })
})

/** A country of Meteoalarm and its lists, an index of CAP, and what else asks for more than one address. */
const SETTINGS = {
  METEOALARM_COUNTRIES: 'greece,malta',
  METEOALARM_AREAS: 'https://lists.example.com/areas.json',
  CAP_URLS: 'https://alerts.example.org/index.xml',
}
const LAST_SUCCESS = new Date('2026-02-27T12:00:00.000Z')
/** Of two countries the other is well. */
const STATE = { countries: { malta: { due: Date.parse(NOW) + 1 } } }

test.each<[source: string, breaks: RegExp, answer: Reply]>([
  ['usgs', /all_day/, { json: summary([], NOW) }],
  ['usgs', /fdsnws/, { json: summary([], NOW) }],
  ['eonet', /status=closed/, { json: { events: [] } }],
  ['digitraffic', /vessels/, { json: { features: [] } }],
  ['gdacs', /rss_7d/, { body: gdacsRss() }],
  ['gdacs', /getgeometry/, { body: gdacsRss(gdacsItem()) }],
  ['nws', /zones/, { json: { features: [feature('a', { geometry: null })] } }],
  ['meteoalarm', /feeds-greece/, { json: { warnings: [] } }],
  ['meteoalarm', /lists/, { json: { warnings: [] } }],
  ['cap', /a\.cap/, { body: atom([['https://alerts.example.org/a.cap', '1']]) }],
  ['tsunami', /PHEBAtom/, { body: atom([]) }],
  ['tsunami', /a\.xml/, { body: atom([['https://www.tsunami.gov/a.xml', '1']]) }],
  ['usgs-volcano', /getUSVolcanoes/, { json: [{ vnum: '332010' }] }],
  [
    'gdelt',
    /export\.CSV\.zip$/,
    { body: '1 a http://data.gdeltproject.org/gdeltv2/20260301114500.export.CSV.zip\n' },
  ],
])(
  '%s does not blame its upstream for a mistake of our own (at %s)',
  async (source, breaks, answer) => {
    const mistake = new RangeError('a mistake of our own')
    const fetch: typeof globalThis.fetch = async (url) => {
      const said = 'json' in answer ? Response.json(answer.json) : undefined
      const response = said ?? new Response('body' in answer ? (answer.body ?? null) : null)
      if (!breaks.test(String(url))) return response
      const headers = new Headers(response.headers)
      const get = headers.get.bind(headers)
      headers.get = (name) => {
        if (name === 'cache-control') throw mistake
        return get(name)
      }
      return Object.defineProperty(response, 'headers', { value: headers })
    }
    const input = { state: STATE, now: new Date(NOW), fetch, settings: SETTINGS }
    await expect(polled(source).poll({ ...input, last_success_at: LAST_SUCCESS })).rejects.toBe(
      mistake,
    )
  },
)

describe('the countries of Meteoalarm', () => {
  const at = (minute: number) => new Date(Date.parse(NOW) + minute * 60_000).toISOString()
  const world = (answer: (url: URL) => Reply, countries?: string) => {
    const settings: Record<string, string> =
      countries === undefined ? {} : { METEOALARM_COUNTRIES: countries }
    const made = upstream(polled('meteoalarm'), answer, settings)
    const asked = () => made.asked.map(({ url }) => url.pathname.split('feeds-')[1])
    return Object.assign(made, { countries: asked })
  }
  const none = (): Reply => ({ json: { warnings: [] } })

  test('are asked eight a minute, one that failed later than the others', async () => {
    const feed = world(({ pathname }) => (pathname.endsWith('austria') ? { status: 500 } : none()))
    const first = await feed.poll(at(0))
    expect(first.rejected).toEqual([{ item: 'austria', reason: 'answered HTTP 500' }])
    expect([feed.countries().length, feed.countries()[0]]).toEqual([8, 'austria'])
    expect(feed.asked[0]?.headers.get('accept')).toBe('application/json')
    const asked: unknown[] = []
    for (const minute of [1, 2, 3, 4]) {
      await feed.poll(at(minute))
      asked.push(...feed.countries())
    }
    expect([asked.length, new Set(asked).has('belgium')]).toEqual([30, false])
    await feed.poll(at(60))
    expect([feed.countries().length, feed.countries()[0]]).toEqual([8, 'belgium'])
    expect(feed.countries()).not.toContain('austria')
  })

  test('are those of the setting; others are forgotten', async () => {
    const feed = world(none, ' Greece,, malta\n')
    feed.state = { countries: { italy: { due: 1 } } }
    for (const minute of [0, 1]) await feed.poll(at(minute))
    expect(Object.keys(feed.state.countries ?? {})).toEqual(['greece', 'malta'])
  })

  test('without a setting or a time to wait the defaults count', async () => {
    const fetch: typeof globalThis.fetch = async () => Response.json({ warnings: [] })
    const result = await polled('meteoalarm').poll({ state: {}, now: new Date(NOW), fetch })
    expect(Object.keys(Object(result.state.countries))).toHaveLength(8)
    const feed = world(() => ({ status: 429 }), 'greece,malta')
    feed.state = STATE
    expect((await feed.poll(at(-1))).next_poll_seconds).toBe(900)
  })

  test('each remember their part, and a 304 of one changes nothing', async () => {
    const alert = (n: number) => ({
      ...{ identifier: `n${n}`, sender: 'x', sent: '2026-03-01T11:00:00+01:00', status: 'Actual' },
      msgType: 'Alert',
      references: 'x,unknown,2026-03-01T10:00:00+01:00',
      info: [
        {
          ...{ language: 'en', event: 'Gusts', expires: '2026-03-02T06:00:00+01:00' },
          parameter: [{ valueName: 'awareness_level', value: '3; orange' }],
          area: [{ areaDesc: 'Here', circle: ['10,20 0'] }],
        },
      ],
    })
    const warnings = Array.from({ length: 760 }, (_, n) => ({ alert: alert(n) }))
    const feed = world(() => ({ json: { warnings } }), 'greece,malta')
    const { events, not_modified } = await feed.poll(NOW)
    expect([events.length, not_modified]).toEqual([760, false])
    expect(events[0]?.aliases).toContain('meteoalarm:unknown')
    const { greece } = feed.state.countries as Record<string, { memory: { open: object } }>
    expect(Object.keys(greece?.memory.open ?? {})).toHaveLength(750)
    feed.answer = () => ({ status: 304 })
    const quiet = { events: [], rejected: [], not_modified: true }
    for (const minute of [4, 5]) expect(await feed.poll(at(minute))).toMatchObject(quiet)
  })

  test('five lists are the most, and each is an address', () => {
    const { schema } = polled('meteoalarm').settings?.METEOALARM_AREAS ?? {}
    const lists = (count: number) => Array.from({ length: count }, (_, n) => `https://a.test/${n}`)
    const takes = (value: string) => schema?.safeParse(value).success
    expect([5, 6].map((count) => takes(lists(count).join()))).toEqual([true, false])
    expect(takes('https://a.test/,ftp://a.test/')).toBe(false)
  })
})
