import { describe, expect, test } from 'vitest'
import {
  childrenOf,
  parseXml,
  textOf,
  type XmlElement,
} from '../../../functions/feeds/formats/xml.ts'
import { atomOf } from '../../../functions/feeds-out/atom.ts'
import { capOf } from '../../../functions/feeds-out/cap.ts'
import { geojsonOf } from '../../../functions/feeds-out/geojson.ts'
import { icalendarOf } from '../../../functions/feeds-out/icalendar.ts'
import { linesOf, type ZoneFeed } from '../../../functions/feeds-out/zone-feed.ts'
import { STORY } from '../../../functions/openapi/story.ts'
import type { Alert } from '../../../shared/schemas/alert.ts'
import { VERSION } from '../../../shared/version.ts'

const { alert } = STORY
const update: Alert['updates'][number] = {
  at: '2026-03-01T13:00:00.900Z',
  kind: 'ended',
  changes: {},
}
const over = {
  ...alert,
  current: {
    ...alert.current,
    status: 'ended' as const,
    ends_at: '2026-03-02T00:00:00.000Z',
    depth_km: 12.34,
    subject: 'a subject',
  },
  severity: 64.26,
  resolved: true,
  updates: [update],
  attributions: ['A: one', 'B: two'],
}
const feed: ZoneFeed = {
  zone_id: STORY.zone.id,
  label: 'Quay; one, two\\three\rfour',
  created_at: '2026-02-20T08:30:00.000Z',
  alerts: [over],
  days: 30,
  limit: 100,
  is_cut: false,
  public_url: 'https://watchpost.test:8443/sub',
}
const lines = [
  alert.reason,
  'Severity 64.3 of 100 in this zone, magnitude 5.7, depth 12.3 km, at 40.87, 28.98.',
  'Marked as resolved.',
  '2026-03-01 13:00 UTC: ended.',
  'Source: A: one',
  'Source: B: two',
]

test('the text of an alert has its reason, its numbers, what changed and each source in lines', () => {
  expect(linesOf(over)).toEqual(lines)
})

test('numbers that an event does not have are not in the text of its alert', () => {
  const current = { ...alert.current, magnitude: null, depth_km: null }
  expect(linesOf({ ...over, current })[1]).toBe(
    'Severity 64.3 of 100 in this zone, at 40.87, 28.98.',
  )
})

test('a feed of Atom says what it is of, who made it and in which language', () => {
  const root = parseXml(atomOf({ ...feed, is_cut: true }))
  expect(root.attributes).toEqual({
    xmlns: 'http://www.w3.org/2005/Atom',
    'xmlns:georss': 'http://www.georss.org/georss',
    'xml:lang': 'en',
  })
  expect(textOf(root, 'id')).toBe(`urn:uuid:${feed.zone_id}`)
  expect(textOf(root, 'author', 'uri')).toBe('https://watchpost.test:8443/sub')
  expect(textOf(root, 'generator')).toBe('Watchpost')
  expect(childrenOf(root, 'generator')[0]?.attributes).toEqual({ version: VERSION })
  expect(textOf(root, 'subtitle')).toMatch(
    /^Alerts of the zone “.*” of the last 30 days, newest first\. There are more: only the newest 100 are shown\. GET \/api\/v1\/alerts has all of them\.$/s,
  )
})

test('an entry of Atom names type, band and status, and has its text in lines', () => {
  const [entry] = childrenOf(parseXml(atomOf(feed)), 'entry') as [XmlElement] // safe: the feed has one
  const attributesOf = (name: string) => childrenOf(entry, name).map(({ attributes }) => attributes)
  expect(attributesOf('category')).toEqual(
    ['earthquake', 'severe', 'ended'].map((term) => ({ term })),
  )
  expect(attributesOf('link')).toEqual([{ rel: 'alternate', href: alert.current.url }])
  expect(attributesOf('content')).toEqual([{ type: 'text' }])
  expect(textOf(entry, 'content')).toBe(lines.join('\n'))
})

test('GeoJSON has everything that is known of an alert', () => {
  const { current } = over
  expect(JSON.parse(geojsonOf(feed))).toEqual({
    type: 'FeatureCollection',
    title: `Watchpost: ${feed.label}`,
    description: expect.stringContaining('of the last 30 days, newest first.'),
    zone_id: feed.zone_id,
    updated_at: update.at,
    truncated: false,
    features: [
      {
        type: 'Feature',
        id: alert.id,
        geometry: { type: 'Point', coordinates: [28.98, 40.87] },
        properties: {
          title: `Ended: ${current.title}`,
          event_id: current.id,
          source: current.source,
          type: 'earthquake',
          status: 'ended',
          ts: current.ts,
          ends_at: '2026-03-02T00:00:00.000Z',
          severity: 64.26,
          magnitude: 5.7,
          depth_km: 12.34,
          subject: 'a subject',
          url: current.url,
          reason: alert.reason,
          raised_at: alert.raised_at,
          updated_at: update.at,
          resolved: true,
          updates: [update],
          attribution: 'A: one; B: two',
        },
      },
    ],
  })
})

test.each([
  ['http://a.example/', 'http://a.example/'],
  ['https://a.example/', 'https://a.example/'],
  ['ftp://a.example/', null],
])('of the address %s readers get %s', (url, shown) => {
  const current = { ...alert.current, url }
  const json = JSON.parse(geojsonOf({ ...feed, alerts: [{ ...over, current }] }))
  expect(json.features[0].properties.url).toBe(shown)
})

test('a calendar says what it is of and when to ask again, and its events what they are', () => {
  const text = icalendarOf(feed).replace(/\r\n /g, '')
  const name = 'Quay\\; one\\, two\\\\three\\nfour'
  expect(text.split('\r\n')).toEqual(
    expect.arrayContaining([
      'PRODID:-//Watchpost//Watchpost//EN',
      'METHOD:PUBLISH',
      `X-WR-CALNAME:Watchpost: ${name}`,
      `X-WR-CALDESC:Alerts of the zone “${name}” of the last 30 days\\, newest first.`,
      'X-PUBLISHED-TTL:PT15M',
      'CATEGORIES:earthquake,severe',
      `URL;VALUE=URI:${alert.current.url}`,
      `CREATED:20260301T120140Z`,
      'DTEND:20260302T000000Z',
      `DESCRIPTION:${lines.join('\\n').replace(/[;,]/g, '\\$&')}`,
    ]),
  )
})

describe('a message of CAP', () => {
  const read = (given: Alert, geometry: Parameters<typeof capOf>[1]['geometry'] = null) => {
    const root = parseXml(capOf(given, { geometry, public_url: feed.public_url }))
    return (...path: string[]) => textOf(root, ...path)
  }
  const withCurrent = (more: Partial<Alert['current']>): Alert => ({
    ...alert,
    current: { ...alert.current, ...more },
  })

  test.each([
    ['volcano', 'Geo', 'Observed'],
    ['tsunami', 'Geo', 'Unknown'],
    ['storm', 'Met', 'Unknown'],
    ['flood', 'Met', 'Unknown'],
    ['drought', 'Env', 'Unknown'],
    ['aircraft', 'Transport', 'Observed'],
    ['conflict', 'Security', 'Unknown'],
    ['other', 'Other', 'Unknown'],
  ] as const)('of %s is %s and %s', (type, category, certainty) => {
    const text = read(withCurrent({ type }))
    expect([text('info', 'category'), text('info', 'certainty')]).toEqual([category, certainty])
  })

  test('is for those who may see the zone, and says that no authority warns', () => {
    const text = read(alert)
    expect([text('scope'), text('restriction')]).toEqual([
      'Restricted',
      'For those who may see this zone.',
    ])
    expect(text('note')).toMatch(
      /^Watchpost computed this from public data .* not a warning from an authority, which is why its status is Test\. The source says more: see web\.$/,
    )
    expect([text('info', 'language'), text('info', 'senderName')]).toEqual(['en', 'Watchpost'])
  })

  test('names each source once', () => {
    const sources = alert.event_ids.map(({ attribution }) => attribution)
    expect(read({ ...alert, event_ids: [...alert.event_ids, ...alert.event_ids] })('source')).toBe(
      sources.join('; '),
    )
    expect(read(alert)('info', 'description')?.split('\n').slice(-2)).toEqual(
      sources.map((source) => `Source: ${source}`),
    )
  })

  test.each([
    ['an event that is over', { status: 'ended' }, 'Past'],
    ['one that began in the second of the message', { ts: alert.raised_at }, 'Unknown'],
    ['one that begins a second later', { ts: '2026-03-01T12:01:41.000Z' }, 'Future'],
  ] as const)('is about %s', (_, more, urgency) => {
    expect(read(withCurrent(more))('info', 'urgency')).toBe(urgency)
  })

  test('has the numbers of the event and the name of the zone as parameters', () => {
    const root = parseXml(
      capOf(withCurrent({ magnitude: 5.7, depth_km: 9 }), {
        geometry: null,
        public_url: feed.public_url,
      }),
    )
    const [info] = childrenOf(root, 'info') as [XmlElement] // safe: a message has one
    expect(
      childrenOf(info, 'parameter').map((one) => [textOf(one, 'valueName'), textOf(one, 'value')]),
    ).toEqual([
      ['severity', '64'],
      ['magnitude', '5.7'],
      ['depth_km', '9'],
      ['zone', 'Bosphorus'],
    ])
  })

  test('says whether it knows the area of the event or only its place', () => {
    const rest = 'of the event as its source gives it. It is in the zone Bosphorus.'
    expect(read(alert)('info', 'area', 'areaDesc')).toBe(`The place ${rest}`)
    const ring = [
      [1, 2],
      [3, 2],
      [3, 4],
      [1, 2],
    ] as [number, number][]
    const drawn = read(alert, { type: 'Polygon', coordinates: [ring] })
    expect(drawn('info', 'area', 'areaDesc')).toBe(`The area ${rest}`)
  })
})
