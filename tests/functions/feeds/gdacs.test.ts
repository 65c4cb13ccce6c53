import { describe, expect, test } from 'vitest'
import { gdacs } from '../../../functions/feeds/gdacs.ts'
import type { NormalisedEvent } from '../../../shared/schemas/event.ts'
import {
  describeRecordings,
  expectAgreed,
  expectHarmless,
  expectRobust,
  normalise,
  recording,
} from '../../support/feeds/feeds.ts'
import { gdacsArea, gdacsFeature, gdacsItem, gdacsRss } from '../../support/feeds/gdacs.ts'

const collection = (...features: unknown[]) =>
  JSON.stringify({ type: 'FeatureCollection', features, bbox: null })

async function only(text: string): Promise<NormalisedEvent> {
  const { events, rejected } = await normalise(gdacs, text)
  if (!events[0] || events.length > 1) throw new Error(rejected[0]?.reason ?? 'not one event')
  return events[0]
}

const item = (over: Record<string, string | null> = {}) => only(gdacsRss(gdacsItem(over)))
const feature = (over: Record<string, unknown> = {}) => only(collection(gdacsFeature(over)))

describe('an item becomes an event', () => {
  test('with every field of the canonical form', async () => {
    expect(await item()).toEqual({
      id: 'gdacs:TC1000643',
      source: 'gdacs',
      type: 'storm',
      title: 'Orange alert for tropical cyclone TEST-26.',
      lat: -19.4,
      lon: 59.8,
      ts: '2026-03-01T06:00:00.000Z',
      severity: 60,
      subject: null,
      status: 'active',
      url: 'https://www.gdacs.org/report.aspx?eventtype=TC&eventid=1000643',
      geometry: null,
      ends_at: null,
      magnitude: null,
      depth_km: null,
      revised_at: null,
      aliases: [],
    })
    expect(await feature()).toMatchObject({
      id: 'gdacs:FL1104081',
      title: 'Orange Flood in China',
      ts: '2026-02-27T01:00:00.000Z',
      revised_at: '2026-02-28T10:54:18.000Z',
      severity: 60,
      lat: 23.6,
      lon: -113.8,
    })
  })

  test('an element of GDACS counts before one of the same name without its prefix', async () => {
    const odd = gdacsItem().replace('<gdacs:eventid>', '<eventid>1</eventid><gdacs:eventid>')
    expect((await only(gdacsRss(odd))).id).toBe('gdacs:TC1000643')
    const plain = gdacsItem().replaceAll('gdacs:eventid', 'eventid')
    expect((await only(gdacsRss(plain))).id).toBe('gdacs:TC1000643')
  })

  test.each(['1e1 59.8', '0x1 59.8', '12x 59.8'])('at "%s" it is nowhere', async (point) => {
    const { events, rejected } = await normalise(gdacs, gdacsRss(gdacsItem({ point })))
    expect([events, rejected.map(({ reason }) => reason)]).toEqual([[], ['lat: Must be a number.']])
  })

  test.each([
    ['Green', 20],
    ['orange', 60],
    ['Red', 90],
    ['Purple', 20],
    [null, 20],
  ])('the level %s has severity %i', async (alertlevel, severity) => {
    expect((await feature({ alertlevel })).severity).toBe(severity)
  })

  test.each([
    ['Green', 'km/h 92.592 x', 50],
    ['Green', 'km/h 287.0352 x', 100],
    ['Green', 'km/h 50 x', 30],
    ['Red', 'km/h 92.592 x', 90],
    ['Green', 'kn 200 x', 20],
    ['Green', null, 20],
  ])('a storm of level %s with %s has severity %i', async (alertlevel, wind, severity) => {
    expect((await item({ alertlevel, severity: wind })).severity).toBe(severity)
  })

  test('the level of the whole event counts, not that of the episode', async () => {
    const levels = { alertlevel: 'Green', episodealertlevel: 'Red' }
    expect((await feature(levels)).severity).toBe(20)
  })

  test('what nobody has confirmed yet is at most 30', async () => {
    expect((await item({ temporary: 'true', alertlevel: 'Red' })).severity).toBe(30)
    expect((await feature({ istemporary: 'true', alertlevel: 'Green' })).severity).toBe(20)
  })

  test.each([
    ['EQ', 'earthquake', '2026-02-28T06:00:00.000Z'],
    ['VO', 'volcano', '2026-02-28T06:00:00.000Z'],
    ['TC', 'storm', '2026-03-01T06:00:00.000Z'],
    ['FL', 'flood', '2026-03-01T06:00:00.000Z'],
    ['FF', 'flood', '2026-03-01T06:00:00.000Z'],
    ['WF', 'wildfire', '2026-03-01T06:00:00.000Z'],
    ['TS', 'tsunami', '2026-03-01T06:00:00.000Z'],
    ['XX', 'other', '2026-03-01T06:00:00.000Z'],
    ['DR', 'drought', '2026-03-01T00:00:00.000Z'],
  ])('%s is of type %s and at %s', async (eventtype, type, ts) => {
    expect(await item({ eventtype })).toMatchObject({ type, ts })
  })

  test('an earthquake has a magnitude and a depth', async () => {
    const quake = { eventtype: 'EQ', severity: 'M 5.3 Magnitude 5.3M, Depth:65.42km' }
    expect(await item(quake)).toMatchObject({ magnitude: 5.3, depth_km: 65.42, severity: 60 })
  })

  test('what is no longer current has ended', async () => {
    expect((await item({ iscurrent: 'false' })).status).toBe('ended')
    expect((await feature({ iscurrent: 'false' })).status).toBe('ended')
    expect((await item({ iscurrent: null })).status).toBe('active')
  })

  test('neither the time at which the feed was built nor the episode changes an event', async () => {
    const drought = { eventtype: 'DR', todate: 'Sun, 01 Mar 2026 00:17:00 GMT' }
    const rebuilt = { ...drought, todate: 'Sun, 01 Mar 2026 01:27:00 GMT', episodeid: '2' }
    expect(await item(rebuilt)).toEqual(await item(drought))
    expect(await feature({ episodeid: 21 })).toEqual(await feature())
  })

  test.each([
    [{ eventid: null }, 'eventid'],
    [{ eventid: 'x' }, 'eventid'],
    [{ eventtype: null }, 'eventtype'],
    [{ fromdate: null }, 'fromdate'],
    [{ todate: 'now' }, 'ts'],
    [{ point: null }, 'lat'],
    [{ point: '91 0' }, 'lat'],
    [{ point: 'x 0' }, 'lat'],
    [{ point: '0 181' }, 'lon'],
    [{ title: null }, 'title'],
    [{ datemodified: 'lately' }, 'revised_at'],
  ])('%j is rejected, and the reason names the field', async (over, field) => {
    const { events, rejected } = await normalise(gdacs, gdacsRss(gdacsItem(over), gdacsItem()))
    expect(events).toHaveLength(1)
    expect(rejected).toEqual([{ item: expect.any(String), reason: expect.stringContaining(field) }])
  })
})

describe('a footprint', () => {
  test('is made of all areas of an event and belongs to its centroid', async () => {
    const track = gdacsFeature({ Class: 'Line_Line_0', geometry: { type: 'LineString' } })
    const one = await only(collection(gdacsFeature(), gdacsArea(), track))
    expect(one.geometry).toMatchObject({ type: 'Polygon' })
    const two = await only(collection(gdacsFeature(), gdacsArea(), gdacsArea()))
    expect(two.geometry).toMatchObject({ type: 'MultiPolygon' })
    expect({ ...two, geometry: null }).toEqual(await feature())
  })

  test('is closed and continuous across the antimeridian', async () => {
    const ring = [
      [179, 0],
      [-179, 0],
      [-179, 1.00001],
      [179, 1],
    ]
    const { geometry } = await only(collection(gdacsFeature(), gdacsArea({}, [ring])))
    expect(geometry?.coordinates).toEqual([
      [
        [179, 0],
        [181, 0],
        [181, 1],
        [179, 1],
        [179, 0],
      ],
    ])
  })

  test.each([
    [[[[0, 0]]], 'fewer than three corners'],
    [
      Array(3000).fill([
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 0],
      ]),
      '12000 vertices',
    ],
    [[Array(4).fill([0, 99])], 'not a place'],
    [[Array(4).fill(['x', 0])], 'coordinates'],
  ])('that is wrong is rejected with the reason', async (coordinates, reason) => {
    const { events, rejected } = await normalise(
      gdacs,
      collection(gdacsFeature(), gdacsArea({}, coordinates)),
    )
    expect([events, rejected[0]?.reason]).toEqual([[], expect.stringContaining(reason)])
  })

  test('of no event is that of no other one without a name either', async () => {
    const unnamed = { eventid: null }
    const { rejected } = await normalise(
      gdacs,
      collection(gdacsArea(unnamed), gdacsFeature(unnamed)),
    )
    expect(rejected).toMatchObject([
      { reason: expect.stringContaining('no Point_Centroid') },
      { reason: expect.stringContaining('eventid') },
    ])
  })

  test('is any of a class of areas, also one named after a line', async () => {
    const outline = gdacsArea({ Class: 'Poly_Line_1' })
    const { events } = await normalise(gdacs, collection(gdacsFeature(), outline))
    expect(events).toMatchObject([{ geometry: { type: 'Polygon' } }])
  })

  test('without a centroid is rejected', async () => {
    const { rejected } = await normalise(gdacs, collection(gdacsArea()))
    expect(rejected[0]?.reason).toContain('no Point_Centroid')
  })
})

describe('broken answers', () => {
  test('do no harm', async () => {
    await expectHarmless(gdacs, gdacsRss(gdacsItem(), gdacsItem({ eventtype: 'DR' })))
    await expectAgreed(gdacs, gdacsRss(gdacsItem()), 'gdacs-rss')
    await expectHarmless(gdacs, collection(gdacsFeature(), gdacsArea()))
    await expectRobust(gdacs, JSON.parse(collection(gdacsFeature(), gdacsArea())))
  })

  test.each(['{}', '[]', 'null', '{"features":1}'])('%s is no answer', async (text) => {
    await expect(normalise(gdacs, text)).rejects.toMatchObject({ code: 'not_json' })
  })

  test('XML of another kind is no answer', async () => {
    for (const text of ['<feed/>', '<rss/>', '<feed><channel/></feed>']) {
      await expect(normalise(gdacs, text)).rejects.toMatchObject({
        ...{ code: 'unreadable', message: 'answered with XML that is not an RSS channel' },
      })
    }
  })

  test('what is no collection says so; tags in JSON do not make it XML', async () => {
    await expect(normalise(gdacs, '{"a":"<b>"}')).rejects.toMatchObject({
      ...{ code: 'not_json', message: 'answered with JSON that is not a FeatureCollection' },
    })
  })

  test('byte order marks may come twice and in two codes, but stay inside a text', async () => {
    const { title } = await item({ title: 'Cyclone \u00ef\u00bb\u00bf A' })
    expect(title).toBe('Cyclone \u00ef\u00bb\u00bf A')
    const twice = `\ufeff\u00ef\u00bb\u00bf${gdacsRss(gdacsItem())}`
    expect(await only(twice)).toEqual(await item())
  })

  test('lines and points along a track are no items; features without a class are', async () => {
    const track = ['Line_Line_0', 'Point_Polygon_Point_1', 'line_x'].map((Class) =>
      gdacsFeature({ Class }),
    )
    const alone = await only(collection(gdacsFeature()))
    expect(await only(collection(...track, gdacsFeature()))).toEqual(alone)
    expect(await only(collection(gdacsFeature({ Class: undefined })))).toEqual(alone)
    expect(await normalise(gdacs, collection(...track))).toEqual({ events: [], rejected: [] })
  })
})

describeRecordings('recorded answers', () => {
  test.each([
    ['gdacs/rss_24h-2019-12-30T0022Z.xml', 21],
    ['gdacs/rss-2019-12-30T0135Z.xml', 16],
    ['gdacs/api-eventlist-2026-09-28.geojson', 4],
    ['gdacs/api-dr-1016449-ep1-event.json', 1],
    ['gdacs/api-dr-1016449-ep1-geometry.json', 1],
    ['gdacs/api-dr-1016449-ep7-geometry.json', 1],
  ])('%s gives %i events', async (file, count) => {
    const { events, rejected } = await normalise(gdacs, recording(file))
    expect([events.length, rejected]).toEqual([count, []])
    expect(new Set(events.map(({ id }) => id)).size).toBe(count)
  })

  test('the 13 items of both snapshots say the same 73 minutes later', async () => {
    const first = await normalise(gdacs, recording('gdacs/rss_24h-2019-12-30T0022Z.xml'))
    const second = await normalise(gdacs, recording('gdacs/rss-2019-12-30T0135Z.xml'))
    const known = new Map(first.events.map((event) => [event.id, event]))
    const again = second.events.filter(({ id }) => known.has(id))
    expect(again).toHaveLength(13)
    for (const event of again) expect(event).toEqual(known.get(event.id))
  })

  test('seven episodes of a drought are one revision, and each new footprint is another', async () => {
    const episodes = [1, 2, 3, 4, 5, 6, 7].map((episode) =>
      recording(`gdacs/api-dr-1016449-ep${episode}-event.json`),
    )
    const events = await Promise.all(episodes.map(only))
    for (const event of events) expect(event).toEqual(events[0])
    expect(events[0]).toMatchObject({ id: 'gdacs:DR1016449', severity: 20, status: 'ended' })

    const first = await only(recording('gdacs/api-dr-1016449-ep1-geometry.json'))
    const last = await only(recording('gdacs/api-dr-1016449-ep7-geometry.json'))
    expect({ ...first, geometry: null }).toEqual(events[0])
    expect({ ...last, geometry: null }).toEqual(events[0])
    expect(first.geometry?.coordinates).toHaveLength(13)
    expect(last.geometry?.coordinates).toHaveLength(134)
  })
})
