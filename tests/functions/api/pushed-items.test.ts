import { describe, expect, test } from 'vitest'
import { readItems } from '../../../functions/api/pushed-items.ts'
import { runToEnd } from '../../../shared/geometry/steps.ts'

type Given = Omit<Parameters<typeof readItems>[0], 'source'>

const NOW = new Date('2026-03-01T12:00:00Z')
const itemsOf = (given: Given) => runToEnd(readItems({ source: 'custom:own', ...given }, NOW))
/** What became of each item, in a line. */
const linesOf = (given: Given) =>
  itemsOf(given).items.map((item) => {
    if (item.kind === 'event') {
      const { id, status } = item.event
      return `${item.index}: ${id}, ${status}, also ${item.aliases.join(' ') || 'nothing'}`
    }
    const id = item.kind === 'refused' ? ` ${item.id}` : ''
    return `${item.index}: ${item.kind}${id}, ${item.reason}`
  })

const storm = { type: 'storm', title: 'Wind', ts: '2026-03-01T00:00:00Z', severity: 3 }

test('an event is read, or refused with its id as far as that is one', () => {
  const event = { ...storm, id: 'a', lat: 1, lon: 2 }
  expect(
    linesOf({ events: [event, {}, { id: 'a b' }, { id: 'x' }, 3, { ...event, nope: 1 }] }),
  ).toEqual([
    '0: a, active, also nothing',
    '1: refused null, id: Required.',
    '2: refused null, id: Must not be empty or contain spaces',
    '3: refused x, type: Required.',
    '4: refused null, Must be an object.',
    '5: refused a, Unrecognized key: "nope"',
  ])
})

describe('a feature of GeoJSON', () => {
  const point = (lon: number, lat: number) => ({ type: 'Point', coordinates: [lon, lat] })
  const read = (...features: unknown[]) => ({
    geojson: { type: 'FeatureCollection' as const, features },
  })

  test('is refused with its id when its place or its fields are wrong', () => {
    const features = [
      { type: 'Feature', geometry: point(1, 91), properties: { id: 'g' } },
      { type: 'Feature', geometry: point(1, 91), id: 7 },
      { type: 'Feature', geometry: point(1, 9) },
      { type: 'Feature', geometry: point(1, 9), id: 'x', properties: null },
      { type: 'Point', geometry: point(1, 9), id: 'x' },
    ]
    const place = 'geometry: has the position 91,1, which is not a place on Earth'
    expect(linesOf(read(...features))).toEqual([
      `0: refused g, ${place}`,
      `1: refused null, ${place}`,
      '2: refused null, id: Required.',
      '3: refused x, type: Required.',
      expect.stringMatching(/^4: refused null, type: /),
    ])
  })

  test('has its own id before that of its properties, and the names of ours before those of others', () => {
    const properties = { ...storm, id: 'other', name: 'No title', time: 'no time' }
    const { items, ignored } = itemsOf(
      read(
        { type: 'Feature', id: 'own', geometry: point(1, 9), properties },
        {
          ...{ type: 'Feature', geometry: point(2, 8) },
          properties: { id: 'b', type: 'flood', name: 'A title', time: storm.ts },
        },
      ),
    )
    const own = { id: 'own', title: 'Wind', ts: storm.ts, lat: 9, lon: 1, geometry: null }
    const theirs = { id: 'b', title: 'A title', ts: storm.ts, lat: 8, lon: 2 }
    expect(items).toMatchObject([
      { kind: 'event', event: own },
      { kind: 'event', event: theirs },
    ])
    expect(ignored).toEqual(['name', 'time'])
  })

  test('may have a number as its id, and keeps its outline where it has one', () => {
    const outline = {
      type: 'LineString',
      coordinates: [
        [1, 9],
        [3, 9],
      ],
    }
    const feature = { type: 'Feature', properties: storm }
    expect(
      itemsOf(
        read(
          { ...feature, id: 7, geometry: outline },
          { ...feature, id: 8, geometry: point(1, 9) },
        ),
      ).items,
    ).toMatchObject([
      { kind: 'event', event: { id: '7', geometry: outline } },
      { kind: 'event', event: { id: '8', geometry: null } },
    ])
  })

  test('names what it has that no event has, in the order of the alphabet', () => {
    const more = { zoo: 1, abc: 2, lon: 3, lat: 4, geometry: null, constructor: 5 }
    const properties = { ...storm, ...more }
    const feature = { type: 'Feature', id: 'a', geometry: point(1, 9), properties }
    expect(itemsOf(read(feature, { ...feature, id: 'b' }))).toMatchObject({
      items: [{ kind: 'event', event: { lat: 9, lon: 1 } }, { kind: 'event' }],
      ignored: ['abc', 'constructor', 'geometry', 'lat', 'lon', 'zoo'],
    })
  })
})

describe('an alert of CAP', () => {
  const alert = (id: string, type = 'Alert', ...refers: string[]) => {
    const references = refers.map((one) => `us@example.org,${one},2026-03-01T09:00:00-00:00`)
    return `<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2">
<identifier>${id}</identifier><sender>us@example.org</sender><sent>2026-03-01T10:00:00-00:00</sent>
<status>Actual</status><msgType>${type}</msgType><scope>Public</scope>
${refers.length > 0 ? `<references>${references.join(' ')}</references>` : ''}
<info><category>Met</category><event>Flood Warning</event><urgency>Expected</urgency>
<severity>Severe</severity><certainty>Likely</certainty><headline>The river rises</headline>
<area><areaDesc>The valley</areaDesc><circle>41,29 20</circle></area></info></alert>`
  }

  test('has the id of the first that it refers to, and is known by all of them', () => {
    const texts = [
      ...[alert('A'), alert('B', 'Update', 'A', 'A2'), alert('C', 'CANCEL', 'B')],
      ...[alert('D', 'Cancel'), alert('E').replace(/<circle>.*<\/circle>/, '')],
    ]
    expect(linesOf({ cap: texts })).toEqual([
      '0: A, active, also A',
      '1: A, active, also A A2 B',
      '2: B, ended, also B C',
      '3: refused D, references: a Cancel needs them',
      '4: refused null, no-geometry: no polygon and no circle; no codes',
    ])
  })

  test('is refused by its position where it cannot be read', () => {
    const wrong = linesOf({ cap: ['<rss/>', '<alert/>', 'x', alert('F', 'Ack')] })
    expect(wrong).toEqual([
      '0: refused null, It has no CAP alert.',
      '1: refused null, alert: the namespace "" is not that of CAP 1.1 or 1.2',
      expect.stringMatching(/^2: refused null, .*not well-formed/),
      expect.stringMatching(/^3: refused F, msgType: /),
    ])
  })
})

describe('a sentence of NMEA', () => {
  // Sentences of the test suite of gpsd: a position, and a name in two parts.
  const POSITION = '!AIVDM,1,1,,A,15RTgt0PAso;90TKcjM8h6g208CQ,0*4A'
  const FIRST_PART = '!AIVDM,2,1,3,B,55P5TL01VIaAL@7WKO@mBplU@<PDhh000000001S;AJ::4A80?4i@E53,0*3E'
  const NONE = 'It is not a position report, or only part of a message.'

  test('is an event where it is a position, and what is left open is refused with the last', () => {
    const broken = POSITION.replace('4A', '4B')
    expect(linesOf({ nmea: [POSITION, FIRST_PART, broken, POSITION] })).toEqual([
      '0: 371798000:1772366400, active, also nothing',
      `1: none, ${NONE}`,
      '2: refused null, checksum: 4B does not match the text, 4A would',
      '3: 371798000:1772366400, active, also nothing',
      '3: refused null, part: 2 of 2 did not come within 30 s',
    ])
  })
})
