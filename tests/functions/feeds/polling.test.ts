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
      const get = response.headers.get.bind(response.headers)
      response.headers.get = (name) => {
        if (name === 'cache-control') throw mistake
        return get(name)
      }
      return response
    }
    const input = { state: STATE, now: new Date(NOW), fetch, settings: SETTINGS }
    await expect(polled(source).poll({ ...input, last_success_at: LAST_SUCCESS })).rejects.toBe(
      mistake,
    )
  },
)
