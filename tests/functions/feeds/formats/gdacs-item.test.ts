import { describe, expect, test } from 'vitest'
import {
  nameOf,
  normaliseFeature,
  normaliseItem,
} from '../../../../functions/feeds/formats/gdacs-item.ts'
import { parseXml } from '../../../../functions/feeds/formats/xml.ts'

const feature = (over: object = {}) => ({
  properties: {
    eventtype: 'EQ',
    eventid: 1234,
    episodeid: 5,
    name: 'Earthquake in Chile',
    alertlevel: 'Green',
    iscurrent: 'true',
    fromdate: '2026-03-01T12:00:00',
    todate: '2026-03-02T13:00:00',
    ...over,
  },
  geometry: { type: 'Point', coordinates: [-70, -30] },
})
const normalise = (over: object = {}) => normaliseFeature(feature(over), '#1')
const severitydata = (severity: number | null, severityunit: string, severitytext = '') => ({
  severitydata: { severity, severityunit, severitytext },
})

describe('a feature', () => {
  test('is named by its event, also where it is refused', () => {
    expect(nameOf(feature())).toBe('EQ1234')
    expect(normalise({ fromdate: 1 })).toMatchObject({ rejected: { item: 'EQ1234' } })
    expect(normaliseFeature({}, '#7')).toMatchObject({ rejected: { item: '#7' } })
    expect(normalise()).toMatchObject({ type: 'EQ', number: '1234', episode: '5' })
    expect(normalise({ episodeid: null })).toMatchObject({ episode: '' })
  })

  test.each([
    [{ eventtype: 'eq' }, 'eventtype: must be a code such as EQ or TC'],
    [{ eventtype: 'xEQ' }, 'eventtype: must be a code such as EQ or TC'],
    [{ eventtype: 'EARTH' }, 'eventtype: must be a code such as EQ or TC'],
    [{ eventid: '12a' }, 'eventid: must be a number'],
    [{ eventid: 'a12' }, 'eventid: must be a number'],
  ])('with %j is refused', (over, reason) => {
    expect(normalise(over)).toMatchObject({ rejected: { reason } })
  })

  test('that is no point is refused', () => {
    const area = { ...feature(), geometry: { type: 'Polygon', coordinates: [1, 2] } }
    expect(normaliseFeature(area, '#1')).toMatchObject({
      rejected: { reason: 'geometry.type: must be a Point' },
    })
  })

  test.each([
    ['true', 'active'],
    [' TRUE ', 'active'],
    ['1', 'active'],
    [true, 'active'],
    [null, 'active'],
    ['untrue', 'ended'],
    ['10', 'ended'],
    [false, 'ended'],
  ])('that says %j of being current is %s', (iscurrent, status) => {
    expect(normalise({ iscurrent })).toMatchObject({ event: { status } })
  })

  test.each([
    [{ htmldescription: '<b>Quake</b>', description: 'other' }, 'Quake'],
    [{ htmldescription: ' ', description: 'Described' }, 'Described'],
    [{ htmldescription: 1, description: '' }, 'Earthquake in Chile'],
  ])('with the texts %j is called %s', (texts, title) => {
    expect(normalise(texts)).toMatchObject({ event: { title } })
  })

  test.each([
    ['EQ', 'M', 6.5],
    ['EQ', 'km/h', null],
    ['TC', 'M', null],
  ])('of the type %s in %s has the magnitude %s', (eventtype, unit, magnitude) => {
    const { event } = { event: {}, ...normalise({ eventtype, ...severitydata(6.5, unit) }) }
    expect(event).toMatchObject({ magnitude })
  })

  test.each([
    ['Magnitude 5M, Depth:10.5km', 10.5],
    ['Magnitude 5M, depth 10 km', 10],
    ['Magnitude 5M, Depth: -1 km', -1],
    ['Magnitude 5M', null],
  ])('with the text %j has the depth %s', (text, depth_km) => {
    expect(normalise(severitydata(5, 'M', text))).toMatchObject({ event: { depth_km } })
    expect(normalise({ eventtype: 'VO', ...severitydata(5, 'M', text) })).toMatchObject({
      event: { depth_km: null },
    })
  })

  test.each([
    ['EQ', 'earthquake', '2026-03-01T12:00:00.000Z'],
    ['VO', 'volcano', '2026-03-01T12:00:00.000Z'],
    ['TC', 'storm', '2026-03-02T13:00:00.000Z'],
    ['FL', 'flood', '2026-03-02T13:00:00.000Z'],
    ['FF', 'flood', '2026-03-02T13:00:00.000Z'],
    ['DR', 'drought', '2026-03-02T00:00:00.000Z'],
    ['WF', 'wildfire', '2026-03-02T13:00:00.000Z'],
    ['TS', 'tsunami', '2026-03-02T13:00:00.000Z'],
    ['XY', 'other', '2026-03-02T13:00:00.000Z'],
  ])('of the type %s is one of %s and happened at %s', (eventtype, type, ts) => {
    const url = `https://www.gdacs.org/report.aspx?eventtype=${eventtype}&eventid=1234`
    expect(normalise({ eventtype })).toMatchObject({ event: { type, ts, url } })
  })

  test('has the areas that belong to it as its footprint, or is refused with them', () => {
    const area = (coordinates: unknown) => ({ type: 'Polygon', coordinates })
    const corners = [
      [-70, -30],
      [-69, -30],
      [-69, -29],
      [-70, -30],
    ]
    expect(normaliseFeature(feature(), '#1', [area([corners])])).toMatchObject({
      event: { geometry: { type: 'Polygon' } },
    })
    expect(normaliseFeature(feature(), '#1', [area('none')])).toMatchObject({
      rejected: { item: '#1', reason: expect.stringContaining('geometry') },
    })
    expect(normalise()).toMatchObject({ event: { geometry: null } })
  })

  test.each([
    ['TC', 250, 'km/h', true],
    ['TC', 250, 'm', false],
    ['FL', 250, 'km/h', false],
    ['TC', null, 'km/h', false],
  ])('of the type %s with %s %s is severe by its wind: %s', (eventtype, value, unit, is_severe) => {
    const assessed = normalise({ eventtype, ...severitydata(value, unit) })
    const severity = 'event' in assessed ? assessed.event.severity : 0
    expect([severity > 20, severity >= 20]).toEqual([is_severe, true])
  })
})

test.each([
  [62, 30],
  [63, 50],
  [118, 50],
  [119, 60],
  [254, 100],
])('a storm of %d km/h has the severity of its wind in knots, %d', (value, severity) => {
  const storm = { eventtype: 'TC', ...severitydata(value, 'km/h') }
  expect(normalise(storm)).toMatchObject({ event: { severity } })
})

describe('an item of the RSS feed', () => {
  const item = (place: string, more = '<gdacs:eventtype>EQ</gdacs:eventtype>') =>
    normaliseItem(
      parseXml(
        `<item><title>Quake</title>${more}<gdacs:eventid>12</gdacs:eventid>` +
          '<gdacs:fromdate>Sun, 01 Mar 2026 12:00:00 GMT</gdacs:fromdate>' +
          `<gdacs:todate>Sun, 01 Mar 2026 12:00:00 GMT</gdacs:todate>${place}</item>`,
      ),
      '#3',
    )
  const POINT = '<geo:Point><geo:lat> -30.5 </geo:lat><geo:long>+70</geo:long></geo:Point>'

  test.each([
    POINT,
    '<geo:lat>-30.5</geo:lat><geo:long>70</geo:long>',
    '<georss:point>-30.5 70</georss:point>',
    '<georss:point>-30.5, 70</georss:point>',
    '<georss:point>-30.50 70.00</georss:point>',
  ])('with the place %s is there', (place) => {
    expect(item(place)).toMatchObject({ event: { lat: -30.5, lon: 70, title: 'Quake' } })
  })

  test.each([
    ['', 'lat'],
    ['<geo:lat>-30.5</geo:lat><georss:point>1 2</georss:point>', 'lon'],
    ['<geo:long>70</geo:long><georss:point>1 2</georss:point>', 'lat'],
    ['<georss:point>x30 70</georss:point>', 'lat'],
    ['<georss:point>30 70x</georss:point>', 'lon'],
    ['<georss:point>1e1 70</georss:point>', 'lat'],
    ['<georss:point>0x10 70</georss:point>', 'lat'],
    ['<geo:lat></geo:lat><geo:long>70</geo:long>', 'lat'],
  ])('with the place %j is refused', (place, field) => {
    expect(item(place)).toMatchObject({
      rejected: { item: '#3', reason: expect.stringMatching(`^${field}: `) },
    })
  })

  test('says more of itself, with and without the prefix of GDACS', () => {
    for (const prefix of ['', 'gdacs:']) {
      const [iscurrent, modified] = [`${prefix}iscurrent`, `${prefix}datemodified`]
      const more =
        `<${prefix}eventtype>EQ</${prefix}eventtype><${iscurrent}>false</${iscurrent}>` +
        '<gdacs:severity unit="M" value="6.25">Magnitude 6.25M, Depth:10.25km</gdacs:severity>' +
        `<${modified}>Sun, 01 Mar 2026 13:00:00 GMT</${modified}>`
      expect(item(POINT, more)).toMatchObject({
        type: 'EQ',
        event: {
          ...{ status: 'ended', magnitude: 6.25, depth_km: 10.25 },
          revised_at: '2026-03-01T13:00:00.000Z',
        },
      })
    }
  })

  test('is named by its guid where it is refused', () => {
    expect(item('<guid>EQ12</guid>')).toMatchObject({ rejected: { item: 'EQ12' } })
  })

  test('keeps its episode, and is no more than 30 while it is temporary', () => {
    const red =
      '<gdacs:eventtype>EQ</gdacs:eventtype><gdacs:episodeid>9</gdacs:episodeid><gdacs:alertlevel>Red</gdacs:alertlevel>'
    expect(item(POINT, red)).toMatchObject({ episode: '9', event: { severity: 90 } })
    for (const name of ['temporary', 'istemporary']) {
      const temporary = `${red}<gdacs:${name}>true</gdacs:${name}>`
      expect(item(POINT, temporary)).toMatchObject({ event: { severity: 30 } })
    }
  })
})
