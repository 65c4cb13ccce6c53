import ICAL from 'ical.js'
import { describe, expect, test } from 'vitest'
import { readCapXml } from '../../../functions/feeds/formats/cap.ts'
import { refuseCap } from '../../../functions/feeds/formats/cap-event.ts'
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
import type { FeedAlert, ZoneFeed } from '../../../functions/feeds-out/zone-feed.ts'
import { STORY } from '../../../functions/openapi/story.ts'
import type { Alert } from '../../../shared/schemas/alert.ts'

const NASTY = 'a "b" <c> & \'d\'; e, f\\ g\r\nBEGIN:VEVENT\u0007 ]]> ☃ 🌋'
/** What stays of it in XML: a space for the character that XML cannot hold, and its own line ends. */
const SHOWN = NASTY.replace('\u0007', ' ').replace('\r\n', '\n')

const attributions = ['A: one', 'B: two & three']
const alert: FeedAlert = { ...STORY.alert, attributions }
const escalated: FeedAlert['updates'][number] = {
  at: '2026-03-01T12:20:30.400Z',
  kind: 'escalated',
  changes: {
    severity: [43, 65],
    place: [
      { lat: 1, lon: 2 },
      { lat: 3, lon: 4 },
    ],
    url: [null, 'x'],
  },
}
const retracted: FeedAlert['updates'][number] = {
  at: '2026-03-01T13:00:00.900Z',
  kind: 'retracted',
  changes: { status: ['active', 'retracted'] },
}
const withCurrent = (
  more: Partial<FeedAlert['current']>,
  rest: Partial<FeedAlert> = {},
): FeedAlert => ({
  ...alert,
  ...rest,
  current: { ...alert.current, ...more },
})
const feedOf = (...alerts: FeedAlert[]): ZoneFeed => ({
  zone_id: STORY.zone.id,
  label: 'Bosphorus',
  created_at: '2026-02-20T08:30:00.000Z',
  alerts,
  days: 30,
  limit: 100,
  is_cut: false,
  public_url: 'https://watchpost.test:8443/sub',
})

describe('Atom', () => {
  const read = (feed: ZoneFeed) => parseXml(atomOf(feed))
  const entryOf = (given: FeedAlert) => {
    const [entry] = childrenOf(read(feedOf(given)), 'entry')
    return entry as XmlElement // safe: the feed has one
  }

  test('has what RFC 4287 demands of a feed and of an entry', () => {
    const feed = read(feedOf(alert))
    expect(feed).toMatchObject({
      name: 'feed',
      attributes: { xmlns: 'http://www.w3.org/2005/Atom' },
    })
    const names = (element: XmlElement) => element.children.map(({ name }) => name)
    expect(names(feed)).toEqual([
      'id',
      'title',
      'subtitle',
      'updated',
      'author',
      'generator',
      'entry',
    ])
    expect(textOf(feed, 'author', 'name')).toBe('Watchpost')
    const entry = entryOf(alert)
    expect(names(entry)).toEqual([
      ...['id', 'title', 'updated', 'published', 'link', 'category', 'category', 'category'],
      ...['rights', 'summary', 'content', 'georss:point'],
    ])
    expect(textOf(entry, 'id')).toBe(`urn:uuid:${alert.id}`)
    expect(textOf(entry, 'georss:point')).toBe(`${alert.current.lat} ${alert.current.lon}`)
    expect(textOf(entry, 'rights')).toBe('A: one; B: two & three')
  })

  test('is renewed by updates, and says what they changed', () => {
    expect(textOf(entryOf(alert), 'updated')).toBe(alert.raised_at)
    // Whatever their order.
    const revised = { ...alert, updates: [retracted, escalated] }
    expect(textOf(entryOf(revised), 'updated')).toBe(retracted.at)
    expect(textOf(entryOf(revised), 'published')).toBe(alert.raised_at)
    expect(textOf(read(feedOf(alert, revised)), 'updated')).toBe(retracted.at)
    expect(textOf(read(feedOf()), 'updated')).toBe('2026-02-20T08:30:00.000Z')
    expect(textOf(entryOf(revised), 'content')).toContain(
      '2026-03-01 12:20 UTC: escalated, severity from 43 to 65, place from 1, 2 to 3, 4, url from none to x.',
    )
  })

  test('holds any text as it is', () => {
    const entry = entryOf(withCurrent({ title: NASTY }, { reason: NASTY }))
    expect(textOf(entry, 'title')).toBe(SHOWN)
    expect(textOf(entry, 'summary')).toBe(SHOWN)
    expect(textOf(read({ ...feedOf(), label: NASTY }), 'title')).toBe(`Watchpost: ${SHOWN}`)
  })

  test.each([
    ['https://a.example/?a=1&b="2"', ['https://a.example/?a=1&b=%222%22']],
    ['javascript:alert(1)', []],
    ['no address', []],
    [null, []],
  ])('links to %s: %j', (url, expected) => {
    const links = childrenOf(entryOf(withCurrent({ url })), 'link')
    expect(links.map(({ attributes }) => attributes.href)).toEqual(expected)
  })

  test('says when an event is over, withdrawn or resolved', () => {
    const title = (status: 'ended' | 'retracted') =>
      textOf(entryOf(withCurrent({ status })), 'title')
    expect(title('ended')).toMatch(/^Ended: M 5\.7/)
    expect(title('retracted')).toMatch(/^Withdrawn: M 5\.7/)
    expect(textOf(entryOf(alert), 'content')).not.toContain('resolved')
    expect(textOf(entryOf({ ...alert, resolved: true }), 'content')).toContain(
      'Marked as resolved.',
    )
  })

  test('says when it is cut', () => {
    expect(textOf(read(feedOf()), 'subtitle')).not.toContain('more')
    expect(textOf(read({ ...feedOf(), is_cut: true }), 'subtitle')).toContain('only the newest 100')
  })
})

describe('GeoJSON', () => {
  test('is a point for each alert, longitude first', () => {
    const json = JSON.parse(
      geojsonOf({ ...feedOf(alert, withCurrent({ url: 'data:x' })), is_cut: true }),
    )
    expect(json).toMatchObject({
      type: 'FeatureCollection',
      truncated: true,
      zone_id: STORY.zone.id,
    })
    expect(json.features).toHaveLength(2)
    expect(json.features[0]).toMatchObject({
      type: 'Feature',
      id: alert.id,
      geometry: { type: 'Point', coordinates: [28.98, 40.87] },
      properties: { severity: 64, attribution: 'A: one; B: two & three', updates: [] },
    })
    expect(json.features[1].properties.url).toBeNull()
  })
})

describe('iCalendar', () => {
  const read = (feed: ZoneFeed) => {
    const text = icalendarOf(feed)
    const calendar = new ICAL.Component(ICAL.parse(text))
    const events = calendar.getAllSubcomponents('vevent').map((one) => new ICAL.Event(one))
    return { text, calendar, events }
  }
  const eventOf = (given: FeedAlert) => {
    const [event] = read(feedOf(given)).events
    if (!event) throw new Error('the calendar has no event')
    const value = (name: string) => event.component.getFirstPropertyValue(name)
    return { event, value }
  }

  test('puts an alert at the time of its event', () => {
    const { event, value } = eventOf(alert)
    expect(event.uid).toBe(alert.id)
    expect(event.startDate.toJSDate().toISOString()).toBe(alert.current.ts)
    expect(String(event.endDate)).toBe(String(event.startDate))
    expect(value('geo')).toEqual([40.87, 28.98])
    expect([value('status'), value('transp'), event.sequence]).toEqual([
      'CONFIRMED',
      'TRANSPARENT',
      0,
    ])
    const lasting = eventOf(withCurrent({ ends_at: '2026-03-02T00:00:00.000Z' })).event
    expect(lasting.endDate.toJSDate().toISOString()).toBe('2026-03-02T00:00:00.000Z')
    // What ends before it begins has no end.
    const odd = eventOf(withCurrent({ ends_at: '2026-02-01T00:00:00.000Z' })).event
    expect(String(odd.endDate)).toBe(String(odd.startDate))
  })

  test('raises the sequence with updates and cancels what was retracted', () => {
    const { event, value } = eventOf(
      withCurrent({ status: 'retracted' }, { updates: [escalated, retracted] }),
    )
    expect([event.sequence, value('status')]).toEqual([2, 'CANCELLED'])
    expect(String(value('last-modified'))).toBe('2026-03-01T13:00:00Z')
    expect(String(value('dtstamp'))).toBe('2026-03-01T13:00:00Z')
    expect(String(value('created'))).toBe('2026-03-01T12:01:40Z')
  })

  test('holds any text as it is, in lines of at most 75 octets', () => {
    const long = `${NASTY} ${'Çeşme açıkları 🌋 '.repeat(20)}`
    const given = withCurrent({ title: long }, { reason: NASTY })
    const { text, events, calendar } = read({ ...feedOf(given), label: NASTY })
    expect(events).toHaveLength(1)
    expect(events[0]?.summary).toBe(long.replace('\u0007', ' ').replace('\r\n', '\n'))
    expect(events[0]?.description).toContain(SHOWN)
    expect(calendar.getAllProperties('x-wr-calname')).toHaveLength(1)
    expect(text).toMatch(/^BEGIN:VCALENDAR\r\n[\s\S]*END:VCALENDAR\r\n$/)
    const octets = text.split('\r\n').map((line) => new TextEncoder().encode(line).length)
    expect(Math.max(...octets)).toBeLessThanOrEqual(75)
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  })

  test('has a position on the equator and the meridian', () => {
    expect(eventOf(withCurrent({ lat: 0, lon: 0 })).value('geo')).toEqual([0.000001, 0.000001])
  })
})

describe('CAP', () => {
  const wire: Alert = STORY.alert
  const place = { geometry: null, public_url: 'https://watchpost.test:8443/sub' }
  const read = (given: Alert, more: Partial<typeof place> | { geometry: object } = {}) => {
    const root = parseXml(capOf(given, { ...place, ...more } as typeof place)) // safe: geometries of the tests
    return { root, cap: readCapXml(root) }
  }
  const state = (status: Alert['current']['status'], ...updates: Alert['updates']): Alert => ({
    ...wire,
    current: { ...wire.current, status },
    updates,
  })

  test('is read back by our own reader, which does not take it for a warning', () => {
    const { cap } = read(wire)
    expect(cap).toMatchObject({
      identifier: `${wire.id}.0`,
      sender: 'watchpost.test',
      sent: '2026-03-01T12:01:40.000Z',
      status: 'Test',
      msg_type: 'Alert',
      references: [],
      incidents: wire.event_ids.map(({ event_id }) => event_id).join(' '),
    })
    expect(cap.infos).toMatchObject([
      {
        categories: ['Geo'],
        event: 'earthquake',
        urgency: 'Unknown',
        severity: 'Severe',
        certainty: 'Observed',
        onset: wire.current.ts,
        expires: null,
        headline: wire.current.title,
        web: wire.current.url,
        areas: [{ circles: ['40.87,28.98 0'], polygons: [] }],
      },
    ])
    expect(cap.infos[0]?.parameters).toContainEqual(['severity', '64'])
    expect(refuseCap(cap)).toContain('not an actual alert')
  })

  test.each([
    [10, 'Minor'],
    [25, 'Minor'],
    [45, 'Moderate'],
    [65, 'Severe'],
    [85, 'Extreme'],
  ])('calls a severity of %i %s', (severity, word) => {
    expect(read({ ...wire, severity }).cap.infos[0]?.severity).toBe(word)
  })

  test('writes times without fractions and Z', () => {
    const text = capOf(
      { ...wire, current: { ...wire.current, ends_at: '2026-03-02T00:00:00.123Z' } },
      place,
    )
    const times = [...text.matchAll(/<(sent|onset|expires)>([^<]*)</g)].map(([, , time]) => time)
    expect(times).toEqual([
      '2026-03-01T12:01:40-00:00',
      '2026-03-01T12:00:00-00:00',
      '2026-03-02T00:00:00-00:00',
    ])
  })

  test('refers to every message before it', () => {
    const { root, cap } = read(state('active', escalated))
    expect(cap).toMatchObject({
      identifier: `${wire.id}.1`,
      msg_type: 'Update',
      references: [`${wire.id}.0`],
    })
    expect(textOf(root, 'references')).toBe(`watchpost.test,${wire.id}.0,2026-03-01T12:01:40-00:00`)
    const cancelled = read(state('retracted', escalated, retracted)).cap
    expect(cancelled).toMatchObject({
      identifier: `${wire.id}.2`,
      msg_type: 'Cancel',
      sent: '2026-03-01T13:00:00.000Z',
      references: [`${wire.id}.0`, `${wire.id}.1`],
    })
    expect(cancelled.infos[0]?.urgency).toBe('Past')
  })

  test('has the elements in the order of the schema', () => {
    const { root } = read(state('active', escalated))
    const names = (element: XmlElement | undefined) => element?.children.map(({ name }) => name)
    expect(names(root)).toEqual([
      ...['identifier', 'sender', 'sent', 'status', 'msgType', 'source', 'scope', 'restriction'],
      ...['note', 'references', 'incidents', 'info'],
    ])
    const [info] = childrenOf(root, 'info')
    expect(names(info)).toEqual([
      ...['language', 'category', 'event', 'urgency', 'severity', 'certainty', 'onset'],
      ...['senderName', 'headline', 'description', 'web', 'parameter', 'parameter', 'parameter'],
      ...['parameter', 'area'],
    ])
  })

  test('draws outlines latitude first, and leaves holes out', () => {
    const ring = [
      [1, 2],
      [3, 2],
      [3, 4],
      [1, 2],
    ]
    const hole = [
      [1.1, 2.1],
      [1.2, 2.1],
      [1.2, 2.2],
      [1.1, 2.1],
    ]
    const other = [
      [10, 20],
      [30, 20],
      [30, 40],
      [10, 20],
    ]
    const polygons = (geometry: object) => read(wire, { geometry }).cap.infos[0]?.areas[0]?.polygons
    const drawn = '2,1 2,3 4,3 2,1'
    expect(polygons({ type: 'Polygon', coordinates: [ring, hole] })).toEqual([drawn])
    expect(polygons({ type: 'MultiPolygon', coordinates: [[ring, hole], [other]] })).toEqual([
      drawn,
      '20,10 20,30 40,30 20,10',
    ])
    expect(polygons({ type: 'LineString', coordinates: ring })).toEqual([])
  })

  test.each([
    ['weather', 'Met', 'Unknown'],
    ['wildfire', 'Fire', 'Observed'],
    ['vessel', 'Transport', 'Observed'],
  ] as const)('of %s is %s and %s', (type, category, certainty) => {
    const { cap } = read({
      ...wire,
      current: { ...wire.current, type, ts: '2026-03-05T00:00:00.000Z' },
    })
    expect(cap.infos).toMatchObject([{ categories: [category], certainty, urgency: 'Future' }])
  })
})
