import { describe, expect, test } from 'vitest'
import { firms } from '../../../functions/feeds/firms.ts'
import type { NormalisedEvent } from '../../../shared/schemas/event.ts'
import {
  describeRecordings,
  expectAgreed,
  expectHarmless,
  normalise,
  type Reply,
  recording,
  upstream,
} from '../../support/feeds/feeds.ts'

const MODIS =
  'latitude,longitude,brightness,scan,track,acq_date,acq_time,satellite,confidence,version,bright_t31,frp,daynight'
const VIIRS = MODIS.replace('brightness', 'bright_ti4').replace('bright_t31', 'bright_ti5')

type Cells = { lat?: string; lon?: string; date?: string; time?: string; frp?: string }
type More = { satellite?: string; confidence?: string }
const row = (over: Cells & More = {}) => {
  const one = {
    ...{ lat: '-9.774', lon: '-35.884', date: '2026-03-01', time: '0025' },
    ...{ satellite: 'T', confidence: '76', frp: '42.8' },
    ...over,
  }
  return `${one.lat},${one.lon},308.8,3.1,1.7,${one.date},${one.time},${one.satellite},${one.confidence},6.0NRT,292.3,${one.frp},N`
}
const table = (...rows: string[]) => [MODIS, ...rows, ''].join('\n')

async function eventsOf(...rows: string[]): Promise<NormalisedEvent[]> {
  const { events, rejected } = await normalise(firms, table(...rows))
  expect(rejected).toEqual([])
  return events
}

describe('a detection becomes a fire', () => {
  test('with every field of the canonical form', async () => {
    expect(await eventsOf(row())).toEqual([
      {
        id: expect.stringMatching(/^firms:[0-9a-z]{8,11}$/),
        source: 'firms',
        type: 'wildfire',
        title: 'Fire 42.8 MW (MODIS, confidence 76%)',
        lat: -9.774,
        lon: -35.884,
        ts: '2026-03-01T00:25:00.000Z',
        severity: 30,
        subject: null,
        status: 'active',
        url: null,
        geometry: null,
        ends_at: '2026-03-01T12:25:00.000Z',
        revised_at: null,
        aliases: [],
      },
    ])
  })

  test.each([
    ['0.0', '76', 10],
    ['4.9', '76', 10],
    ['5', '76', 20],
    ['20', '76', 30],
    ['50', '76', 40],
    ['100', '76', 50],
    ['300', '76', 60],
    ['1000', '76', 70],
    ['2461.8', '30', 70],
    ['2461.8', '29', 10],
    ['2461.8', '29.95', 10],
    ['2461.8', '30.05', 70],
    ['2461.8', 'l', 10],
    ['2461.8', 'low', 10],
    ['2461.8', 'n', 70],
    ['2461.8', 'nominal', 70],
    ['2461.8', 'h', 70],
    ['2461.8', 'HIGH', 70],
    ['2461.8', 'new word', 10],
    ['2461.8', '', 10],
    ['', '76', 10],
  ])('%s MW with confidence "%s" has severity %i', async (frp, confidence, severity) => {
    expect((await eventsOf(row({ frp, confidence })))[0]?.severity).toBe(severity)
  })

  test('columns count by their names: VIIRS, another order, more of them', async () => {
    const viirs = [VIIRS, row({ confidence: 'n', satellite: 'N20' })].join('\r\n')
    expect((await normalise(firms, viirs)).events[0]?.title).toBe(
      'Fire 42.8 MW (VIIRS, confidence nominal)',
    )
    const archive = `instrument,frp,confidence,satellite,acq_time,acq_date,longitude,latitude,type
      VIIRS,7,h,N,25,2026-03-01,-35.884,-9.774,0`
    expect((await normalise(firms, archive)).events[0]).toMatchObject({
      title: 'Fire 7 MW (VIIRS, confidence high)',
      ts: '2026-03-01T00:25:00.000Z',
      lat: -9.774,
    })
  })

  test('marks, spaces and empty lines around and between are no part of it', async () => {
    const [header, ...rows] = table(row(), '  ', row({ lat: '5' }))
      .replaceAll(',', ' , ')
      .split('\n')
    for (const text of [
      ['', header, ...rows].join('\n'),
      `\ufeff\ufeff${[header, ...rows].join('\r\n')}`,
      `\u00ef\u00bb\u00bf${[header, '', ...rows].join('\r\n')}`,
    ]) {
      const { events, rejected } = await normalise(firms, text)
      expect([events.map(({ lat }) => lat), rejected]).toEqual([[-9.774, 5], []])
    }
    const [{ id } = { id: '' }] = await eventsOf(row())
    expect((await normalise(firms, table(row().replaceAll(',', ' , ')))).events).toMatchObject([
      { id },
    ])
  })

  test.each([
    [row({ lat: '91' }), 'latitude'],
    [row({ lon: '-180.1' }), 'longitude'],
    [row({ lat: 'x' }), 'latitude'],
    [row({ date: '2026-02-30' }), 'acq_date'],
    [row({ time: '2460' }), 'acq_time'],
    [row({ time: '' }), 'acq_time'],
    [row({ frp: 'NaN' }), 'frp'],
    [row({ frp: '-1' }), 'frp'],
    [row({ satellite: '' }), 'satellite'],
    [row().slice(0, 40), 'cells'],
  ])('%s is rejected, and the reason names the field', async (line, field) => {
    const { events, rejected } = await normalise(firms, table(row(), line))
    expect(events).toHaveLength(1)
    expect(rejected).toEqual([{ item: '#2', reason: expect.stringContaining(field) }])
  })
})

describe('detections become one fire', () => {
  // 0.009° of latitude are 1.0007 km.
  test.each([
    ['within a kilometre', row({ lat: '-9.7651' }), 1],
    ['beyond a kilometre', row({ lat: '-9.765' }), 2],
    ['within 12 hours', row({ time: '1225' }), 1],
    ['beyond 12 hours', row({ time: '1226' }), 2],
    ['given twice', row(), 1],
  ])('%s', async (_, other, count) => {
    expect(await eventsOf(row(), other)).toHaveLength(count)
  })

  test('across the antimeridian and at the pole', async () => {
    const antimeridian = [row({ lat: '0', lon: '179.999' }), row({ lat: '0', lon: '-179.999' })]
    const [fire, ...others] = await eventsOf(...antimeridian)
    expect(others).toEqual([])
    expect(fire?.geometry).toEqual({
      type: 'MultiPoint',
      coordinates: [
        [179.999, 0],
        [-179.999, 0],
      ],
    })
    const pole = [row({ lat: '89.999', lon: '0' }), row({ lat: '89.999', lon: '180' })]
    expect(await eventsOf(...pole)).toHaveLength(1)
  })

  test('through a chain of others, in whatever order they come', async () => {
    const chain = [0, 1, 2, 3, 4].map((n) => row({ lat: (n * 0.008).toFixed(3), time: `0${n}00` }))
    const [fire, ...others] = await eventsOf(...chain)
    expect(others).toEqual([])
    expect(await eventsOf(...chain.toReversed())).toEqual([fire])
    const [a, b, c, d, e] = chain
    expect(await eventsOf(...[e, a, c, b, d].map(String))).toEqual([fire])
  })

  test('of the same power are placed at the first of them', async () => {
    const fire = await eventsOf(
      row({ lat: '0', lon: '0', frp: '10', time: '0100' }),
      row({ lat: '0.005', lon: '0', frp: '10', time: '0200' }),
    )
    expect(fire).toMatchObject([{ lat: 0, lon: 0, ts: '2026-03-01T02:00:00.000Z' }])
  })

  test('with their power, number and area, the severity and place of the strongest', async () => {
    const fire = await eventsOf(
      row({ lat: '0', lon: '0', frp: '10.5', time: '0100' }),
      row({ lat: '0.005', lon: '0', frp: '400', time: '0200' }),
      row({ lat: '0', lon: '0.005', frp: '', time: '0300' }),
      row({ lat: '0.002', lon: '0.002', frp: '2000', confidence: '5', time: '0130' }),
    )
    expect(fire).toMatchObject([
      {
        title: 'Fire 2410.5 MW, 4 detections (MODIS)',
        severity: 60,
        lat: 0.002,
        lon: 0.002,
        ts: '2026-03-01T03:00:00.000Z',
        ends_at: '2026-03-01T15:00:00.000Z',
        geometry: { type: 'Polygon' },
      },
    ])
    expect(fire[0]?.geometry?.coordinates).toEqual([
      [
        [0, 0],
        [0.005, 0],
        [0, 0.005],
        [0, 0],
      ],
    ])
  })
})

describe('polling', () => {
  const settings = { FIRMS_MAP_KEY: '0123456789abcdef0123456789abcdef' }
  const world = (answer: (url: URL) => Reply, more = {}) =>
    upstream(firms, answer, { ...settings, ...more })
  const at = (day: number, hour: number, minute = 0) =>
    new Date(Date.UTC(2026, 2, day, hour, minute)).toISOString()

  test('asks for two days of each sensor in the area', async () => {
    const polled = world(() => ({ body: table() }))
    await polled.poll(at(1, 1))
    const path = `/api/area/csv/${settings.FIRMS_MAP_KEY}`
    expect(polled.asked.map(({ url }) => url.pathname)).toEqual([`${path}/MODIS_NRT/world/2`])
    const more = { FIRMS_SENSORS: 'VIIRS_SNPP_NRT,MODIS_NRT', FIRMS_AREA: '-10,35,30,60' }
    const two = world(() => ({ body: table() }), more)
    await two.poll(at(1, 1))
    expect(two.asked.map(({ url }) => url.pathname)).toEqual([
      `${path}/VIIRS_SNPP_NRT/-10,35,30,60/2`,
      `${path}/MODIS_NRT/-10,35,30,60/2`,
    ])
  })

  test('a fire keeps its id while it grows and when its first detections are gone', async () => {
    const rows = [0, 1, 2, 3].map((n) => row({ lat: `${n / 200}`, date: `2026-03-0${1 + n}` }))
    const later = rows.map((_, n) =>
      row({ lat: `${n / 200}`, time: '1200', date: `2026-03-0${1 + n}` }),
    )
    const tables = [
      [rows[0]],
      [rows[0], later[0]],
      [later[0], row({ lat: '0.001', time: '2300' })],
      [row({ lat: '0.001', time: '2300' }), rows[1]],
      [rows[1], later[1]],
    ].map((lines) => table(...lines.map(String)))
    const polled = world(() => ({ body: tables.shift() ?? table() }))
    const ids: (string | undefined)[] = []
    for (const time of [at(1, 1), at(1, 13), at(1, 23, 30), at(2, 1), at(2, 13)]) {
      const { events } = await polled.poll(time)
      expect(events).toHaveLength(1)
      ids.push(events[0]?.id)
    }
    expect(new Set(ids).size).toBe(1)
  })

  test('an earlier detection that comes late does not change the id', async () => {
    const polled = world(() => ({ body: table(row({ time: '0500' })) }))
    const [first] = (await polled.poll(at(1, 6))).events
    polled.answer = () => ({
      body: table(row({ time: '0300', satellite: 'A' }), row({ time: '0500' })),
    })
    const [second] = (await polled.poll(at(1, 7))).events
    expect(second?.id).toBe(first?.id)
    expect(second?.title).toContain('2 detections')
  })

  test('two fires that meet go on as the older one', async () => {
    const [south, north] = [row({ lat: '0', time: '0100' }), row({ lat: '0.015', time: '0200' })]
    const polled = world(() => ({ body: table(south, north) }))
    const before = (await polled.poll(at(1, 3))).events
    expect(before).toHaveLength(2)
    polled.answer = () => ({ body: table(south, north, row({ lat: '0.0075', time: '0400' })) })
    const after = (await polled.poll(at(1, 5))).events
    expect(after.map(({ id }) => id)).toEqual([before[0]?.id])
  })

  test('a fire that was not seen for 12 hours has ended and comes no more', async () => {
    const polled = world(() => ({ body: table(row()) }))
    expect((await polled.poll(at(1, 12, 24))).events).toHaveLength(1)
    expect((await polled.poll(at(1, 12, 25))).events).toEqual([])
  })

  test('one sensor may fail: the fires of the other come, and the failure names no key', async () => {
    const polled = world(
      (url) => (url.pathname.includes('MODIS') ? { body: table(row()) } : { status: 500 }),
      { FIRMS_SENSORS: 'MODIS_NRT,VIIRS_SNPP_NRT' },
    )
    const { events, rejected } = await polled.poll(at(1, 1))
    expect(events).toHaveLength(1)
    expect(rejected).toEqual([{ item: 'VIIRS_SNPP_NRT', reason: 'answered HTTP 500' }])
  })

  test('what is read, and what cannot be, is named by its sensor', async () => {
    const answers = [table(row(), row({ lat: 'x' })), '<html>', table(row({ lat: '5' }))]
    const polled = world(() => ({ body: answers.shift() ?? '' }), {
      FIRMS_SENSORS: 'MODIS_NRT,VIIRS_SNPP_NRT,VIIRS_NOAA20_NRT',
    })
    const { events, rejected, not_modified } = await polled.poll(at(1, 1))
    expect([events.length, not_modified]).toEqual([2, false])
    expect(rejected).toEqual([
      { item: 'MODIS_NRT #2', reason: 'latitude: must be a number' },
      { item: 'VIIRS_SNPP_NRT', reason: 'answered with text that is not a table of FIRMS' },
    ])
    expect(polled.asked[0]?.headers.get('accept')).toBe('text/csv')
  })

  test('no sensor that can be read is an error, by what the last one answered', async () => {
    const answers = [{ status: 500 }, { body: '<html>' }, { body: 'Invalid MAP_KEY.' }]
    const polled = world(() => answers.shift() ?? {}, {
      FIRMS_SENSORS: 'MODIS_NRT,VIIRS_SNPP_NRT,VIIRS_NOAA20_NRT',
    })
    await expect(polled.poll(at(1, 1))).rejects.toMatchObject({
      ...{ code: 'unreadable', message: 'answered with text that is not a table of FIRMS' },
    })
  })

  test('of a fire its last two detections are remembered, the latest first', async () => {
    const rows = ['0100', '0300', '0200'].map((time) => row({ lat: '0', time }))
    const other = row({ lat: '9', time: '0400' })
    const polled = world(() => ({ body: table(...rows, other) }))
    const { events } = await polled.poll(at(1, 5))
    const [fire, single] = events.map(({ id }) => id.replace('firms:', ''))
    expect(Object.values(polled.state.known as object)).toEqual([single, fire, fire])
    polled.answer = () => ({ body: table() })
    await polled.poll(at(1, 6))
    // A sensor that says nothing forgets nothing.
    expect(Object.values(polled.state.known as object)).toEqual([single, fire, fire])
  })

  test.each([
    ['a refused key', { body: 'Invalid MAP_KEY.' }, { code: 'unreadable' }],
    ['a web page', { body: '<html>' }, { code: 'unreadable' }],
    ['an empty body', { body: '' }, { code: 'unreadable' }],
    [
      'a rate limit',
      { status: 429, headers: { 'retry-after': '600' } },
      { retry_after_seconds: 600 },
    ],
    ['no answer', new TypeError('reset'), { code: 'unreachable' }],
  ])('%s is a FeedError without the key, and the state is kept', async (_, reply, error) => {
    const polled = world(() => ({ body: table(row()) }))
    await polled.poll(at(1, 1))
    const { state } = polled
    polled.answer = () => reply
    const failure = await polled.poll(at(1, 2)).catch((thrown: Error) => thrown)
    expect(failure).toMatchObject(error)
    expect((failure as Error).message).not.toContain(settings.FIRMS_MAP_KEY)
    expect(polled.state).toEqual(state)
  })

  test('what is remembered stays bounded, and a damaged state starts afresh', async () => {
    const rows = Array.from({ length: 25_000 }, (_, n) =>
      row({ lat: `${(n % 150) - 75}`, lon: `${Math.floor(n / 150)}` }),
    )
    const polled = world(() => ({ body: table(...rows) }))
    polled.state = { known: [1, 2] }
    expect((await polled.poll(at(1, 1))).events).toHaveLength(25_000)
    expect(Object.keys(polled.state.known as object)).toHaveLength(20_000)
    expect(JSON.stringify(polled.state).length).toBeLessThan(1_000_000)
  })

  test.each([
    ['FIRMS_MAP_KEY', 'short', settings.FIRMS_MAP_KEY],
    ['FIRMS_SENSORS', 'MODIS_SP', 'MODIS_NRT,VIIRS_NOAA21_NRT'],
    ['FIRMS_AREA', '30,35,-10,60', '-10,35,30,60'],
    ['FIRMS_AREA', 'here', 'world'],
    ['FIRMS_AREA', '0,0,1,91', '0,0,1,90'],
    ['FIRMS_AREA', '0,-91,1,90', '0,-90,1,90'],
    ['FIRMS_AREA', '-181,0,1,1', '-180,0,1,1'],
    ['FIRMS_AREA', '0,0,181,1', '0,0,180,1'],
    ['FIRMS_AREA', '1,0,1,1', '0.25,0.25,1.25,1.25'],
    ['FIRMS_AREA', '0,1,1,1', '-0.25,-1.25,-0.05,1'],
    ['FIRMS_AREA', 'x0,0,1,1', '0,0,1,1'],
    ['FIRMS_AREA', '0,0,1,1,1', '0,0,1,1'],
    ['FIRMS_AREA', '0,0,1,', 'world'],
  ])('%s refuses "%s" without repeating it', (name, wrong, right) => {
    const schema = firms.settings?.[name]?.schema
    expect(schema?.safeParse(right).success).toBe(true)
    const refused = schema?.safeParse(wrong)
    expect(refused?.success).toBe(false)
    expect(refused?.error?.issues[0]?.message).not.toContain(wrong)
  })
})

describe('broken answers', () => {
  test('do no harm', async () => {
    await expectHarmless(firms, table(row(), row({ lat: '1' })))
    await expectAgreed(firms, table(row()))
  })
})

describeRecordings('recorded answers', () => {
  test.each([
    ['firms/MODIS_C6_South_America_24h-2020-10-03.csv', 12_228, 7_603],
    ['firms/SUOMI_VIIRS_C2_Europe_24h-head-2026-10-05.csv', 49, 29],
  ])('%s', async (file, detections, fires) => {
    const { events, rejected } = await normalise(firms, recording(file))
    expect([events.length, rejected]).toEqual([fires, []])
    const counts = events.map(({ title }) => Number(/(\d+) detections/.exec(title)?.[1] ?? 1))
    expect(counts.reduce((a, b) => a + b)).toBe(detections)
    expect(new Set(events.map(({ id }) => id)).size).toBe(fires)
  })
})
