import { describe, expect, test } from 'vitest'
import { cap } from '../../../functions/feeds/cap-feed.ts'
import { readCapJson } from '../../../functions/feeds/formats/cap.ts'
import { alert, atom, type Given, info } from '../../support/feeds/cap.ts'
import {
  describeRecordings,
  expectAgreed,
  expectHarmless,
  normalise,
  recording,
} from '../../support/feeds/feeds.ts'

const read = (given: Given | string) =>
  normalise(cap, typeof given === 'string' ? given : alert(given))

async function one(given: Given) {
  const { events, rejected } = await read(given)
  expect(rejected).toEqual([])
  expect(events).toHaveLength(1)
  return events[0]
}

async function refused(given: Given | string) {
  const { events, rejected } = await read(given)
  expect(events).toEqual([])
  return rejected.map(({ reason }) => reason).join(' | ')
}

describe('an alert becomes an event', () => {
  test('with every field of the canonical form', async () => {
    expect(await one({})).toEqual({
      id: 'cap:recorded.invalid:A1',
      source: 'cap',
      type: 'weather',
      title: 'Wind warning for Testland',
      lat: 11,
      lon: 21,
      ts: '2026-03-01T18:00:00.000Z',
      severity: 50,
      subject: null,
      status: 'active',
      url: 'https://example.org/wind',
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [20, 10],
            [22, 10],
            [22, 12],
            [20, 12],
            [20, 10],
          ],
        ],
      },
      ends_at: '2026-03-02T06:00:00.000Z',
      revised_at: '2026-03-01T11:00:00.000Z',
      aliases: ['cap:recorded.invalid:A1'],
    })
  })

  test.each([
    ['Extreme', 'Immediate', 'Observed', 100],
    ['Extreme', 'Expected', 'Observed', 90],
    ['Severe', 'Immediate', 'Likely', 80],
    ['Severe', 'Immediate', 'Possible', 70],
    ['Moderate', 'Future', 'Likely', 50],
    ['Minor', 'Immediate', 'Very Likely', 40],
    ['Minor', 'Past', 'Observed', 30],
    ['Unknown', 'Unknown', 'Unknown', 20],
    ['Catastrophic', 'Immediate', 'Observed', 30],
    [null, null, null, 20],
  ])('%s, %s and %s is severity %i', async (severity, urgency, certainty, number) => {
    expect(await one({ info: { severity, urgency, certainty } })).toMatchObject({
      severity: number,
    })
  })

  test.each([
    ['Tsunami Warning', 'Geo', 'tsunami'],
    ['Ashfall Advisory', 'Met', 'volcano'],
    ['Earthquake Warning', 'Geo', 'earthquake'],
    ['Red Flag Warning', 'Met', 'weather'],
    ['Fire Weather Watch', 'Met', 'weather'],
    ['Wildfire', 'Fire', 'wildfire'],
    ['Fire Warning', 'Fire', 'wildfire'],
    ['Flash Flood Watch', 'Met', 'flood'],
    ['Storm Surge Warning', 'Met', 'flood'],
    ['Severe Thunderstorm Warning', 'Met', 'storm'],
    ['Tornado Watch', 'Met', 'storm'],
    ['drought', 'Env', 'drought'],
    ['orages', 'Met', 'weather'],
    ['Waldbrand', 'Fire', 'wildfire'],
    ['Amber Alert', 'Safety', 'other'],
  ])('%s of category %s is of type %s', async (event, category, type) => {
    expect(await one({ info: { event, category } })).toMatchObject({ type })
  })

  test('a missing onset, headline or end has its place taken', async () => {
    expect(await one({ info: { onset: null } })).toMatchObject({ ts: '2026-03-01T11:00:00.000Z' })
    expect(await one({ info: { onset: null, effective: null } })).toMatchObject({
      ts: '2026-03-01T11:00:00.000Z',
    })
    expect(await one({ info: { headline: null } })).toMatchObject({
      title: 'Wind warning - Testland',
    })
    expect(
      await one({ info: { headline: null, event: null }, area: { areaDesc: null } }),
    ).toMatchObject({
      title: 'Alert',
    })
    expect(await one({ info: { expires: null } })).toMatchObject({
      ends_at: '2026-03-02T18:00:00.000Z',
    })
    expect(await one({ info: { web: 'javascript:alert(1)' } })).toMatchObject({ url: null })
  })

  test('a message that lapses before the hazard begins does not end it', async () => {
    expect(await one({ info: { expires: '2026-03-01T12:00:00Z' } })).toMatchObject({
      ends_at: '2026-03-02T18:00:00.000Z',
    })
  })

  test('of several languages English is taken, or else the first', async () => {
    const dutch = info({ info: { language: 'nl-NL', headline: 'Wind', severity: 'Extreme' } })
    const german = info({ info: { language: 'de-DE', headline: 'Sturm' } })
    expect(await one({ infos: dutch + info() })).toMatchObject({
      title: 'Wind warning for Testland',
      severity: 50,
    })
    expect(await one({ infos: dutch + german })).toMatchObject({ title: 'Wind' })
    // Without a language it is English, by the standard.
    expect(await one({ infos: german + info({ info: { language: null } }) })).toMatchObject({
      title: 'Wind warning for Testland',
    })
  })

  test('of several hazards in one language the worst leads, and all their areas and times count', async () => {
    const second = info({
      info: {
        headline: 'Snow',
        severity: 'Severe',
        onset: '2026-03-01T16:00:00Z',
        expires: '2026-03-03T00:00:00Z',
      },
      area: { polygon: '30,20 30,21 31,21 31,20 30,20' },
    })
    expect(await one({ infos: info() + second })).toMatchObject({
      title: 'Snow',
      severity: 70,
      ts: '2026-03-01T16:00:00.000Z',
      ends_at: '2026-03-03T00:00:00.000Z',
      geometry: { type: 'MultiPolygon' },
      lat: 11,
    })
  })

  test('an all-clear ends it', async () => {
    expect(await one({ info: { responseType: 'AllClear' } })).toMatchObject({ status: 'ended' })
  })

  test('CAP 1.1 and elements with a prefix are read as well', async () => {
    expect(await one({ namespace: 'urn:oasis:names:tc:emergency:cap:1.1' })).toMatchObject({
      lat: 11,
    })
    const prefixed = alert()
      .replaceAll(/<(\/?)(?=[a-zA-Z])/g, '<$1cap:')
      .replace('xmlns=', 'xmlns:cap=')
    expect((await read(prefixed)).events).toMatchObject([
      { id: 'cap:recorded.invalid:A1', lat: 11 },
    ])
  })

  test('several alerts in one document are several events', async () => {
    const body = [alert(), alert({ alert: { identifier: 'A2' } })]
      .map((text) => text.replace(/<\?xml[^>]*>/, ''))
      .join('')
    const { events } = await read(`<feed><entry><content>${body}</content></entry></feed>`)
    expect(events.map(({ id }) => id)).toEqual([
      'cap:recorded.invalid:A1',
      'cap:recorded.invalid:A2',
    ])
  })

  test('the same in JSON', async () => {
    const json = {
      identifier: 'A1',
      sender: 'ops@example.org',
      sent: '2026-03-01T11:00:00+00:00',
      status: 'Actual',
      msgType: 'Alert',
      references: 'a,A0,2026-03-01T10:00:00+00:00 b,c,B0,2026-03-01T10:00:00+00:00',
      info: [
        {
          language: 'en',
          category: ['Met'],
          event: 'Wind warning',
          severity: 'Severe',
          headline: 'Wind',
          area: { areaDesc: 'Testland', polygon: ['10,20 10,22 12,22 12,20 10,20'], geocode: null },
          parameter: [{ valueName: 'awareness_level', value: 3 }],
        },
      ],
    }
    expect((await normalise(cap, JSON.stringify(json))).events).toMatchObject([
      { id: 'cap:recorded.invalid:A1', severity: 70, lat: 11, lon: 21, type: 'weather' },
    ])
    const { references, infos } = readCapJson(json)
    expect(references).toEqual(['A0', 'B0'])
    expect(infos[0]?.parameters).toEqual([['awareness_level', '3']])
  })
})

describe('the area', () => {
  test('of several polygons is all of them, and the same one twice is one', async () => {
    const twice = await one({
      area: { polygon: ['10,20 10,22 12,22 12,20 10,20', '10,20 10,22 12,22 12,20 10,20'] },
    })
    expect(twice).toMatchObject({ geometry: { type: 'Polygon' } })
  })

  test('of a circle is a polygon round its centre, and a circle without a radius a point', async () => {
    const round = await one({ area: { polygon: null, circle: '51.8,-171.4 100' } })
    expect(round?.geometry).toMatchObject({ type: 'Polygon' })
    expect(round?.lat).toBeCloseTo(51.8, 1)
    expect(round?.lon).toBeCloseTo(-171.4, 1)
    expect(await one({ area: { polygon: null, circle: '51.8,-171.4 0' } })).toMatchObject({
      lat: 51.8,
      lon: -171.4,
      geometry: null,
    })
  })

  test('across 180° stays in one piece', async () => {
    const across = await one({ area: { polygon: '50,179 50,-179 52,-179 52,179 50,179' } })
    expect(across).toMatchObject({ lat: 51, lon: 180 })
    expect(across?.geometry).toMatchObject({
      coordinates: [
        [
          [179, 50],
          [181, 50],
          [181, 52],
          [179, 52],
          [179, 50],
        ],
      ],
    })
  })

  test('an unreadable part of it is named, and the rest stands', async () => {
    const { events, rejected } = await read({
      area: {
        polygon: ['10,20 10,22 12,22 12,20 10,20', '10,20 95,22 12,22 10,20'],
        circle: '1,2 x',
      },
    })
    expect(events).toMatchObject([{ lat: 11, lon: 21 }])
    expect(rejected).toEqual([
      { item: 'A1', reason: 'polygon: "95,22" is not a place on Earth' },
      { item: 'A1', reason: 'circle: the radius "x" is not a number of km' },
    ])
  })

  test('with too many corners is kept as a point, and that is said', async () => {
    const corners = Array.from({ length: 10_001 }, (_, n) => {
      const angle = (2 * Math.PI * n) / 10_001
      return `${(10 + Math.sin(angle)).toFixed(6)},${(20 + Math.cos(angle)).toFixed(6)}`
    })
    const { events, rejected } = await read({ area: { polygon: corners.join(' ') } })
    expect(events).toMatchObject([{ geometry: null }])
    expect(events[0]?.lat).toBeCloseTo(10, 3)
    expect(rejected[0]?.reason).toMatch(/^polygon: has 10002 positions/)
  })

  test('without polygon and circle it is rejected, with the codes that it has', async () => {
    const reason = await refused({
      area: { polygon: null },
      geocodes: { EMMA_ID: 'NL018', NUTS3: 'NL131' },
    })
    expect(reason).toBe('no-geometry: no polygon and no circle; EMMA_ID NL018, NUTS3 NL131')
    expect(await refused({ area: { polygon: null } })).toContain('no codes')
    expect(await refused({ area: { polygon: '1,2 3,4' } })).toContain('fewer than three corners')
  })
})

describe('no event by rule', () => {
  test.each<[Given | string, string]>([
    [{ alert: { status: 'Test' } }, 'status: "Test"'],
    [{ alert: { status: 'Exercise' } }, 'status: "Exercise"'],
    [{ alert: { status: 'Draft' } }, 'status: "Draft"'],
    [{ alert: { msgType: 'Ack' } }, 'msgType: "Ack"'],
    [{ alert: { msgType: 'Error' } }, 'msgType: "Error"'],
    [{ alert: { msgType: 'Cancel', references: 'a,A0,2026-03-01T10:00:00Z' } }, 'not known'],
    [{ alert: { sent: null } }, 'sent: is missing'],
    [{ alert: { sent: '2026-02-30T00:00:00Z' } }, 'sent: "2026-02-30T00:00:00Z" is not a time'],
    [{ alert: { sent: '2026-03-01T11:00:00' } }, 'sent: '],
    [{ alert: { identifier: null } }, 'identifier: is missing'],
    [{ alert: { identifier: 'two words' } }, 'id: '],
    [{ alert: { status: null } }, 'status: is missing'],
    [{ alert: { msgType: null } }, 'msgType: is missing'],
    [{ info: { onset: 'soon' } }, 'onset: "soon" is not a time'],
    [{ info: { expires: 'later' } }, 'expires: "later" is not a time'],
    [{ infos: '' }, 'info: is missing'],
    [{ namespace: 'http://www.incident.com/cap/1.0' }, 'is not that of CAP 1.1 or 1.2'],
    [atom([['https://example.org/a.xml', '2026-03-01T11:00:00Z']]), 'is not in this answer'],
    ['{}', 'sent: is missing'],
    ['[null]', 'is not an object'],
  ])('%#: says why', async (given, reason) => {
    expect(await refused(given)).toContain(reason)
  })

  test.each(['', '<html><body>Maintenance</body></html>', '<!DOCTYPE html><p>', '{"a"', 'nothing'])(
    '%j is not an answer',
    async (text) => {
      await expect(read(text)).rejects.toMatchObject({ name: 'FeedError' })
    },
  )

  test('broken copies do no harm', async () => {
    await expectHarmless(cap, alert())
    await expectAgreed(cap, alert())
  })
})

describeRecordings('recorded alerts', () => {
  test.each<[string, string[], string[]]>([
    ['canada-2012-05-02.cap', ['ended storm 30 -82.1'], []],
    ['nws-svr-2021-12-11-1of2-issued.xml', ['active storm 80 -72.6'], []],
    [
      'nws-svr-2021-12-11-2of2-expiring.xml',
      [],
      ['ends a warning that is not known, or that has ended already'],
    ],
    [
      'nws-weather-2010-08-30.cap',
      [],
      ['no-geometry: no polygon and no circle; FIPS6 030049, UGC MTZ014'],
    ],
    [
      'tsunami-wcatwc-2011-09-02.cap',
      [],
      ['no-geometry: no polygon and no circle; UGC AKZ185, UGC AKZ187'],
    ],
    [
      'nws-index-2010-08-31.atom',
      [],
      Array(2).fill('link: leads to an alert that is not in this answer'),
    ],
  ])('%s', async (file, expected, reasons) => {
    const { events, rejected } = await normalise(cap, recording(`cap/${file}`))
    const lines = events.map((e) => `${e.status} ${e.type} ${e.severity} ${e.lon.toFixed(1)}`)
    expect(lines).toEqual(expected)
    expect(rejected.map(({ reason }) => reason)).toEqual(reasons)
  })

  test.each(['canada-2012-05-02.cap', 'nws-index-2010-08-31.atom'])(
    'broken copies of %s do no harm',
    async (file) => {
      await expectHarmless(cap, recording(`cap/${file}`))
    },
  )
})
