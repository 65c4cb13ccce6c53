import { describe, expect, test } from 'vitest'
import { meteoalarm } from '../../../../functions/feeds/meteoalarm.ts'
import { type Reply, upstream } from '../../../support/feeds/feeds.ts'

// Warnings that name their areas by code only, and the lists that say where those are.
const EMMA = 'https://lists.example.com/emma.json?token=secret'
const NUTS = 'https://other.example.com/nuts.json'
const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 12, minute)).toISOString()
const DAY = 24 * 60

const warning = (name: string, ...areas: [scheme: string, code: string][][]) => ({
  alert: {
    identifier: name,
    sender: 'x@example.org',
    sent: '2026-03-01T11:00:00+01:00',
    status: 'Actual',
    msgType: 'Alert',
    info: [
      {
        language: 'en-GB',
        event: 'Gusts',
        headline: 'Gusts',
        onset: '2026-03-01T18:00:00+01:00',
        expires: '2026-03-30T06:00:00+01:00',
        parameter: [{ valueName: 'awareness_level', value: '3; orange; Severe' }],
        area: areas.map((codes) => ({
          areaDesc: 'Somewhere',
          geocode: codes.map(([valueName, value]) => ({ valueName, value })),
        })),
      },
    ],
  },
})

const square = (lon: number, lat: number) => ({
  type: 'MultiPolygon',
  coordinates: [
    [
      [
        [lon - 1, lat - 1],
        [lon + 1, lat - 1],
        [lon + 1, lat + 1],
        [lon - 1, lat + 1],
        [lon - 1, lat - 1],
      ],
    ],
  ],
})
const feature = (properties: object, lon: number, lat: number) => ({
  type: 'Feature',
  properties,
  geometry: square(lon, lat),
})
const drenthe = feature({ code: 'NL018', country: 'NL' }, 6, 53)
const zeeland = feature({ code: 'NL011', country: 'NL' }, 4, 51)

function world(lists = EMMA) {
  const replies: { emma: Reply; nuts: Reply; warnings: unknown[]; etag?: string } = {
    emma: { json: { type: 'FeatureCollection', features: [drenthe, zeeland] } },
    nuts: { json: { type: 'FeatureCollection', features: [feature({ NUTS_ID: 'NL111' }, 7, 53)] } },
    warnings: [],
  }
  const settings = { METEOALARM_COUNTRIES: 'netherlands', METEOALARM_AREAS: lists }
  const feed = upstream(
    meteoalarm,
    (url) => {
      if (url.host === 'lists.example.com') return replies.emma
      if (url.host === 'other.example.com') return replies.nuts
      const { etag } = replies
      return { json: { warnings: replies.warnings }, ...(etag ? { headers: { etag } } : {}) }
    },
    settings,
  )
  const asked = () => feed.asked.map(({ url }) => url.host)
  return { feed, replies, asked, poll: (minute: number) => feed.poll(at(minute)) }
}

describe('a warning that names codes', () => {
  test('is where its areas are, each once', async () => {
    const { replies, poll } = world()
    replies.warnings = [
      warning('one', [['EMMA_ID', 'NL018']]),
      warning('two', [['EMMA_ID', 'NL018']], [['EMMA_ID', 'NL011']], [['EMMA_ID', 'NL018']]),
      warning('none', [['EMMA_ID', 'NL099']]),
    ]
    const { events, rejected } = await poll(0)
    expect(events).toMatchObject([
      { id: 'meteoalarm:one', lat: 53, lon: 6, geometry: null },
      {
        id: 'meteoalarm:two',
        geometry: {
          type: 'MultiPoint',
          coordinates: [
            [6, 53],
            [4, 51],
          ],
        },
      },
    ])
    expect(rejected).toMatchObject([{ item: 'none', reason: expect.stringContaining('NL099') }])
  })

  test('by the first code that is known, each place once, and by no code of another scheme', async () => {
    const { replies, poll } = world(`${EMMA},${NUTS}`)
    replies.emma = { json: { features: [drenthe, zeeland, feature({ code: 'NL019' }, 6, 53)] } }
    replies.warnings = [
      warning('many', [
        ['EMMA_ID', 'NL011'],
        ['EMMA_ID', 'NL018'],
      ]),
      warning('same', [['EMMA_ID', 'NL018']], [['EMMA_ID', 'NL019']]),
      ...['XNUTS3', 'NUTS3X', 'NUTS1', 'nuts3'].map((scheme) =>
        warning(scheme, [[scheme, 'NL111']]),
      ),
      warning('second', [['NUTS2', 'NL111']]),
    ]
    const { events } = await poll(0)
    expect(events.map(({ id, lon, geometry }) => [id, lon, geometry])).toEqual([
      ['meteoalarm:many', 4, null],
      ['meteoalarm:same', 6, null],
      ['meteoalarm:second', 7, null],
    ])
  })

  test('by its EMMA_ID before its region of NUTS, whose code may be that of another area', async () => {
    const { replies, poll } = world(`${EMMA},${NUTS}`)
    replies.warnings = [
      warning('both', [
        ['NUTS3', 'NL111'],
        ['EMMA_ID', 'NL018'],
      ]),
      warning('region', [
        ['NUTS3', 'NL111'],
        ['EMMA_ID', 'NL099'],
      ]),
      warning('other', [['EMMA_ID', 'NL111']]),
    ]
    const { events } = await poll(0)
    expect(events.map(({ id, lon }) => [id, lon])).toEqual([
      ['meteoalarm:both', 6],
      ['meteoalarm:region', 7],
    ])
  })
})

describe('the lists', () => {
  test('are asked for as GeoJSON, may be long, and are told apart by their addresses', async () => {
    const { feed, replies, poll } = world()
    const many = Array.from({ length: 120 }, (_, n) => feature({ code: `NL${100 + n}` }, 6, 53))
    replies.emma = { json: { features: many } }
    expect((await poll(0)).rejected).toEqual([])
    expect(feed.asked[0]?.headers.get('accept')).toBe('application/geo+json, application/json')
    expect(Object.keys((feed.state.areas as { places: object }).places)).toHaveLength(120)
  })

  test('without any area say what they lack', async () => {
    const { replies, poll } = world()
    replies.emma = { json: { features: [] } }
    expect((await poll(0)).rejected).toEqual([
      {
        item: 'METEOALARM_AREAS lists.example.com',
        reason: 'features: no area with a place and a code or NUTS_ID, or more than 10000',
      },
    ])
  })

  test('are asked for once a week, and again at once when the addresses change', async () => {
    const { feed, replies, asked, poll } = world()
    replies.warnings = [warning('one', [['EMMA_ID', 'NL018']])]
    await poll(0)
    expect(asked()).toEqual(['lists.example.com', 'feeds.meteoalarm.org'])
    await poll(7 * DAY - 6)
    expect(asked()).toEqual(['feeds.meteoalarm.org'])
    replies.emma = { json: { features: [] } }
    const empty = await poll(7 * DAY)
    expect(asked()).toEqual(['lists.example.com', 'feeds.meteoalarm.org'])
    expect(empty.rejected).toMatchObject([{ item: 'METEOALARM_AREAS lists.example.com' }])
    const other = upstream(meteoalarm, (url) => feed.answer(url), {
      METEOALARM_COUNTRIES: 'netherlands',
      METEOALARM_AREAS: NUTS,
    })
    other.state = feed.state
    const { rejected } = await other.poll(at(7 * DAY + 6))
    expect(other.asked.map(({ url }) => url.host)).toContain('other.example.com')
    expect(rejected).toMatchObject([{ item: 'one' }])
  })

  test('that fail are named without their secrets; what they said before is kept', async () => {
    const { feed, replies, asked, poll } = world()
    replies.warnings = [warning('one', [['EMMA_ID', 'NL018']])]
    await poll(0)
    replies.emma = { status: 503 }
    const later = await poll(7 * DAY)
    expect(later.events).toMatchObject([{ id: 'meteoalarm:one', status: 'active' }])
    expect(JSON.stringify(later.rejected)).toContain('METEOALARM_AREAS lists.example.com')
    expect(JSON.stringify([later.rejected, feed.state])).not.toContain('token=secret')
    await poll(7 * DAY + 5 * 60)
    expect(asked()).not.toContain('lists.example.com')
    await poll(7 * DAY + 6 * 60)
    expect(asked()).toContain('lists.example.com')
  })

  test('when they are read, warnings that had no place come again in full', async () => {
    const { feed, replies, poll } = world()
    replies.emma = { status: 503 }
    replies.etag = '"a"'
    replies.warnings = [warning('one', [['EMMA_ID', 'NL018']])]
    expect((await poll(0)).events).toEqual([])
    replies.emma = { json: { features: [drenthe] } }
    const { events } = await poll(6 * 60)
    const [, country] = feed.asked
    expect(country?.headers.get('if-none-match')).toBeNull()
    expect(events).toMatchObject([{ id: 'meteoalarm:one', lat: 53, lon: 6 }])
  })

  test.each([
    ['no list', { json: { a: 1 } }],
    ['a page', { body: '<html>' }],
    ['too many areas', { json: { features: Array(10_001).fill(drenthe) } }],
    ['areas without a place', { json: { features: [{ ...drenthe, geometry: null }] } }],
    [
      'a place that is none',
      { json: { features: [{ ...drenthe, geometry: { type: 'Point', coordinates: [200, 95] } }] } },
    ],
    ['a code that is none', { json: { features: [feature({ code: '__proto__' }, 6, 53)] } }],
  ])('%s do no harm', async (_, reply) => {
    const { replies, poll } = world()
    replies.emma = reply
    replies.warnings = [warning('one', [['EMMA_ID', 'NL018']])]
    const { events, rejected } = await poll(0)
    expect(events).toEqual([])
    expect(rejected.map(({ item }) => item)).toEqual(['METEOALARM_AREAS lists.example.com', 'one'])
  })

  test.each([
    ['https://a.example.com/x.json, http://b.example.com/y.json', true],
    ['ftp://a.example.com/x.json', false],
    ['file:///etc/passwd', false],
    [Array.from({ length: 6 }, (_, n) => `https://a.example.com/${n}`).join(), false],
  ])('METEOALARM_AREAS=%s', (value, is_good) => {
    const { schema } = meteoalarm.settings?.METEOALARM_AREAS ?? {}
    expect(schema?.safeParse(value).success).toBe(is_good)
  })
})
