import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Pushed } from '../../../shared/schemas/push.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const PATH = '/api/v1/events'
const One = z.object({ event: z.looseObject({ id: z.string() }) })

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

const push = async (who: Person, body: object) => {
  const answer = await service.request('POST', PATH, {
    key: who.key,
    body: { source: 'custom:own', ...body },
  })
  return parsed(answer, 200, Pushed)
}
const eventOf = async (who: Person, id: string) => {
  const answer = await service.request('GET', `${PATH}/custom:own:${id}`, { key: who.key })
  return parsed(answer, 200, One).event
}

test.each([
  ['no events', {}],
  ['two forms', { events: [{}], nmea: ['x'] }],
])('%s is refused as a whole', async (_, body) => {
  const { key } = await service.person()
  const answer = await service.request('POST', PATH, {
    key,
    body: { source: 'custom:own', ...body },
  })
  expectProblem(answer, 422, 'invalid')
  expect(answer.body).toMatchObject({ errors: [{ path: 'events' }] })
})

describe('GeoJSON', () => {
  const square = [
    [
      [28, 40],
      [30, 40],
      [30, 42],
      [28, 42],
      [28, 40],
    ],
  ]
  const feature = (geometry: unknown, over: object = {}) => ({
    type: 'Feature',
    id: 'f1',
    geometry,
    properties: { type: 'flood', name: 'Water', time: '2026-03-01T12:00:00Z', severity: 50 },
    ...over,
  })
  const collection = (...features: unknown[]) => ({
    geojson: { type: 'FeatureCollection', features },
  })

  test('a polygon is an event at its centre, with its footprint', async () => {
    const me = await service.person()
    const { results } = await push(
      me,
      collection(feature({ type: 'Polygon', coordinates: square })),
    )
    expect(results).toMatchObject([{ index: 0, id: 'f1', outcome: 'created' }])
    expect(await eventOf(me, 'f1')).toMatchObject({
      type: 'flood',
      title: 'Water',
      lat: 41,
      lon: 29,
      ts: '2026-03-01T12:00:00.000Z',
      geometry: { type: 'Polygon', coordinates: square },
    })
  })

  test('a point is an event without a footprint; a number is an id', async () => {
    const me = await service.person()
    const point = { type: 'Point', coordinates: [29, 41, 12] }
    const { results } = await push(me, collection(feature(point, { id: 7 })))
    expect(results).toMatchObject([{ id: '7', outcome: 'created' }])
    expect(await eventOf(me, '7')).toMatchObject({ lat: 41, lon: 29, geometry: null })
  })

  test('properties that an event does not have are named; each feature is judged for itself', async () => {
    const me = await service.person()
    const point = { type: 'Point', coordinates: [29, 41] }
    const properties = { type: 'flood', title: 'Water', ts: new Date().toISOString() }
    const sent = await push(
      me,
      collection(
        feature(point, {
          properties: {
            ...properties,
            lat: 1,
            name: 'Not taken',
            operator: 'x',
            toString: 'y',
            width: 2,
          },
        }),
        feature(null),
        feature({ type: 'Point', coordinates: [29, 91] }),
        feature({ type: 'Polygon', coordinates: [[]] }),
        feature(point, { id: 'f2', properties: null }),
        { type: 'Feature', geometry: { type: 'GeometryCollection', geometries: [] } },
        null,
      ),
    )
    expect(sent).toMatchObject({
      accepted: 1,
      refused: 6,
      ignored: ['lat', 'name', 'operator', 'toString', 'width'],
    })
    const reasons = sent.results.map(({ index, reason }) => [index, reason?.split(':')[0]])
    expect(reasons).toEqual([
      [0, undefined],
      [1, 'geometry'],
      [2, 'geometry'],
      [3, 'geometry'],
      [4, 'type'],
      [5, 'geometry.type'],
      [6, expect.any(String)],
    ])
  })
})

describe('CAP', () => {
  const alert = (
    identifier: string,
    { type = 'Alert', refers = '', status = 'Actual', severity = 'Severe' } = {},
  ) => `<?xml version="1.0"?>
<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2">
<identifier>${identifier}</identifier><sender>us@example.org</sender>
<sent>2026-03-01T1${identifier.length}:00:00-00:00</sent><status>${status}</status><msgType>${type}</msgType>
<scope>Public</scope>${refers ? `<references>us@example.org,${refers},2026-03-01T11:00:00-00:00</references>` : ''}
<info><category>Met</category><event>Flood Warning</event><urgency>Expected</urgency>
<severity>${severity}</severity><certainty>Likely</certainty><expires>2099-01-01T00:00:00-00:00</expires>
<headline>The river rises</headline>
<area><areaDesc>The valley</areaDesc><circle>41,29 20</circle></area></info></alert>`
  const outcomes = async (me: Person, ...cap: string[]) =>
    (await push(me, { cap })).results.map(({ outcome }) => outcome)

  test('an update of an update is still the first alert, and a cancel ends it', async () => {
    const me = await service.person()
    expect(await outcomes(me, alert('A'))).toEqual(['created'])
    expect(await eventOf(me, 'A')).toMatchObject({
      type: 'flood',
      title: 'The river rises',
      severity: 70,
      status: 'active',
    })
    expect(
      await outcomes(me, alert('BB', { type: 'Update', refers: 'A', severity: 'Extreme' })),
    ).toEqual(['revised'])
    const update = alert('CCC', { type: 'Update', refers: 'BB', severity: 'Minor' })
    expect(await outcomes(me, update)).toEqual(['revised'])
    expect(await eventOf(me, 'A')).toMatchObject({ severity: 30, status: 'active' })
    expect((await eventOf(me, 'CCC')).id).toBe((await eventOf(me, 'A')).id)
    expect(await outcomes(me, alert('DDDD', { type: 'Cancel', refers: 'CCC' }))).toEqual([
      'revised',
    ])
    expect(await eventOf(me, 'A')).toMatchObject({ status: 'ended' })
  })

  test.each([
    ['a test', alert('A', { status: 'Test' }), 'status: '],
    ['an acknowledgement', alert('A', { type: 'Ack' }), 'msgType: '],
    ['a cancel of nothing', alert('A', { type: 'Cancel' }), 'references: '],
    ['no XML', 'CAP', 'not well-formed'],
    ['another document', '<rss/>', 'no CAP alert'],
    ['an entity', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', 'document type'],
    ['no place', alert('A').replace(/<circle>.*<\/circle>/, ''), 'no-geometry'],
  ])('%s is refused', async (_, text, reason) => {
    const { accepted, results } = await push(await service.person(), { cap: [text] })
    expect(accepted).toBe(0)
    expect(results).toMatchObject([
      { index: 0, outcome: 'refused', reason: expect.stringContaining(reason) },
    ])
  })
})

describe('NMEA', () => {
  // Sentences of the test suite of gpsd: a position, and a name in two parts.
  const POSITION = '!AIVDM,1,1,,A,15RTgt0PAso;90TKcjM8h6g208CQ,0*4A'
  const NAME = [
    '!AIVDM,2,1,3,B,55P5TL01VIaAL@7WKO@mBplU@<PDhh000000001S;AJ::4A80?4i@E53,0*3E',
    '!AIVDM,2,2,3,B,1@0000000000000,2*55',
  ]

  test('a position is one of a vessel; parts and names are no events; a broken line is refused', async () => {
    const me = await service.person()
    const { accepted, refused, results } = await push(me, {
      nmea: [POSITION, ...NAME, POSITION.replace('4A', '4B')],
    })
    expect({ accepted, refused }).toEqual({ accepted: 1, refused: 1 })
    expect(results.map(({ outcome }) => outcome)).toEqual([
      'created',
      'no_event',
      'no_event',
      'refused',
    ])
    const [stored] = await service.database.query(
      'select source, subject, type from watchpost.positions where event_id = $1',
      [results[0]?.event_id],
    )
    expect(stored).toEqual({ source: 'custom:own', subject: 'mmsi:371798000', type: 'vessel' })
  })

  test('the first part of a message alone is refused at the end', async () => {
    const { results } = await push(await service.person(), { nmea: [NAME[0]] })
    expect(results.at(-1)).toMatchObject({ outcome: 'refused' })
  })
})
