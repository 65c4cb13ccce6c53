import { describe, expect, test } from 'vitest'
import { adsb } from '../../../../functions/feeds/adsb.ts'
import { severityOfAircraft } from '../../../../functions/feeds/formats/aircraft.ts'
import { readsb } from '../../../../functions/feeds/readsb.ts'
import {
  describeRecordings,
  expectHarmless,
  expectRobust,
  normalise,
  recording,
  upstream,
} from '../../../support/feeds/feeds.ts'

const NOW = 1_772_366_400
const plane = (over: object = {}) => ({
  hex: '4CA243',
  flight: 'RYR84KM ',
  r: 'EI-DCM',
  lat: 42.67,
  lon: 0.5,
  seen_pos: 1.5,
  squawk: '0510',
  emergency: 'none',
  ...over,
})
const answer = (...ac: object[]) => ({ ac, now: NOW * 1000, total: ac.length })

test('an aircraft becomes an event', async () => {
  const { events, rejected } = await normalise(adsb, JSON.stringify(answer(plane())))
  expect(rejected).toEqual([])
  expect(events).toMatchObject([
    {
      id: 'adsb:4ca243:1772366398',
      source: 'adsb',
      type: 'aircraft',
      title: 'RYR84KM',
      lat: 42.67,
      lon: 0.5,
      ts: '2026-03-01T11:59:58.500Z',
      severity: 0,
      subject: 'icao24:4ca243',
      url: 'https://globe.adsb.lol/?icao=4ca243',
    },
  ])
})

test('one’s own receiver gives seconds, and the old names of dump1090 do no harm', async () => {
  const old = {
    now: NOW + 0.5,
    aircraft: [{ ...plane(), altitude: 41000, speed: 419, vert_rate: 0 }],
  }
  const { events } = await normalise(readsb, JSON.stringify(old))
  expect(events).toMatchObject([{ id: 'readsb:4ca243:1772366399', ts: '2026-03-01T11:59:59.000Z' }])
})

test('a time is in seconds until it would be far in the future', async () => {
  const of = async (now: number) =>
    (await normalise(readsb, JSON.stringify({ now, ac: [plane()] }))).events
  expect(await of(1e11)).toMatchObject([{ ts: '1973-03-03T09:46:38.500Z' }])
  await expect(normalise(readsb, '{"now":1}')).rejects.toMatchObject({ code: 'not_json' })
})

test.each([
  [{ flight: '        ' }, 'EI-DCM'],
  [{ flight: null, r: undefined }, '4ca243'],
])('without a call sign, %j, it is named %s', async (over, title) => {
  const { events } = await normalise(adsb, JSON.stringify(answer(plane(over))))
  expect(events[0]?.title).toBe(title)
})

test.each<[object, RegExp]>([
  [{ lat: undefined }, /^lat, lon: the aircraft has no position/],
  [{ lat: 0, lon: 0 }, /^lat, lon: /],
  [{ seen_pos: undefined }, /^seen_pos: the age/],
  [{ seen_pos: 60.1 }, /^seen_pos: the position is older than 60 s/],
  [{ hex: 'xyz' }, /^hex: must be six hexadecimal digits/],
  [{ lat: 91 }, /^lat: /],
])('%j is rejected', async (over, reason) => {
  const { events, rejected } = await normalise(adsb, JSON.stringify(answer(plane(over))))
  expect(events).toEqual([])
  expect(rejected).toEqual([{ item: expect.any(String), reason: expect.stringMatching(reason) }])
})

test('a position counts for a minute', async () => {
  const { events } = await normalise(adsb, JSON.stringify(answer(plane({ seen_pos: 60 }))))
  expect(events).toMatchObject([{ ts: '2026-03-01T11:59:00.000Z' }])
})

test.each([
  ['7500', 'none', 100],
  ['7600', null, 60],
  ['7700', undefined, 80],
  [7700, 'none', 80],
  ['1200', 'general', 80],
  ['1200', 'unlawful', 100],
  ['7700', 'nordo', 80],
  ['1200', 'nordo', 60],
  [null, '', 0],
])('squawk %s and emergency %s have severity %i', (squawk, emergency, severity) => {
  expect(severityOfAircraft({ squawk, emergency })).toBe(severity)
})

describe('polling', () => {
  const settings = { ADSB_CIRCLES: '41,29,100; -10.5,20,250' }

  test('asks for one circle after the other, and counts an aircraft in both once', async () => {
    const world = upstream(adsb, () => ({ json: answer(plane()) }), settings)
    const { events } = await world.poll('2026-03-01T12:00:00Z')
    expect(world.asked.map(({ url }) => url.href)).toEqual([
      'https://api.adsb.lol/v2/point/41/29/100',
      'https://api.adsb.lol/v2/point/-10.5/20/250',
    ])
    expect(events.map(({ id }) => id)).toEqual(['adsb:4ca243:1772366398'])
    expect(world.asked.map(({ headers }) => headers.get('accept'))).toEqual([
      'application/json',
      'application/json',
    ])
  })

  test('what is no aircraft, or no answer, is named; the rest comes', async () => {
    const world = upstream(
      adsb,
      ({ pathname }) =>
        pathname.includes('/41/') ? { json: answer(plane(), { hex: 'x' }) } : { body: '<html>' },
      settings,
    )
    const result = await world.poll('2026-03-01T12:00:00Z')
    expect(result).toMatchObject({ not_modified: false, events: [{ title: 'RYR84KM' }] })
    expect(result.rejected).toEqual([
      { item: 'x', reason: 'hex: must be six hexadecimal digits' },
      {
        item: 'https://api.adsb.lol/v2/point/-10.5/20/250',
        reason: 'answered with a web page',
      },
    ])
  })

  test('a longer max-age than its interval is obeyed', async () => {
    const waits = async (seconds: number) => {
      const headers = { 'cache-control': `max-age=${seconds}` }
      const world = upstream(adsb, () => ({ json: answer(), headers }), settings)
      return (await world.poll('2026-03-01T12:00:00Z')).next_poll_seconds
    }
    expect([await waits(10), await waits(11)]).toEqual([undefined, 11])
  })

  test('without circles there is nothing to ask for', async () => {
    const fetch = () => Promise.reject(new Error('was asked'))
    const input = { state: {}, now: new Date('2026-03-01T12:00:00Z'), fetch }
    expect(await adsb.poll(input)).toMatchObject({ events: [], rejected: [] })
    expect(adsb.region?.({})).toEqual([])
  })

  test('a circle that fails does not disturb the other; if all fail, the poll fails', async () => {
    const world = upstream(
      adsb,
      ({ pathname }) => (pathname.includes('/41/') ? { status: 503 } : { json: answer(plane()) }),
      settings,
    )
    const { events, rejected } = await world.poll('2026-03-01T12:00:00Z')
    expect([events.length, rejected]).toEqual([
      1,
      [{ item: 'api.adsb.lol/v2/point/41/29/100', reason: 'answered HTTP 503' }],
    ])
    world.answer = () => ({ body: '<html>' })
    await expect(world.poll('2026-03-01T12:00:00Z')).rejects.toThrow('answered with a web page')
  })

  test('one’s own receiver is asked at its address', async () => {
    const READSB_URL = 'http://receiver.example/data/aircraft.json'
    const world = upstream(readsb, () => ({ json: { now: NOW, aircraft: [plane()] } }), {
      READSB_URL,
    })
    expect(await world.poll('2026-03-01T12:00:00Z')).toMatchObject({
      ...{ events: [{ title: 'RYR84KM' }], not_modified: false },
    })
    expect(world.asked[0]?.url.href).toBe(READSB_URL)
    expect(world.asked[0]?.headers.get('accept')).toBe('application/json')
    world.answer = () => ({ json: {} })
    await expect(world.poll('2026-03-01T12:00:00Z')).rejects.toThrow('no list of aircraft')
  })

  test.each([
    '',
    '1,2',
    '91,0,10',
    '0,181,10',
    '0,0,0',
    '0,0,251',
    '1,2,3;',
    '1, ,3',
    '1,2,3,4',
    '1,2,3;0,0,0',
    Array(11).fill('1,2,3').join(';'),
  ])('the circles %j are refused', (text) => {
    expect(adsb.settings?.ADSB_CIRCLES?.schema.safeParse(text).success).toBe(false)
  })

  test.each(['90,180,250', '-90,-180,1', ' 1 , 2 , 3 ', Array(10).fill('1,2,3').join(';')])(
    'the circles %j are taken',
    (text) => {
      expect(adsb.settings?.ADSB_CIRCLES?.schema.safeParse(text).success).toBe(true)
    },
  )
})

test('broken answers do no harm', async () => {
  const json = answer(plane(), plane({ hex: '~ab1234' }))
  await expectHarmless(adsb, JSON.stringify(json))
  await expectRobust(adsb, json)
})

describeRecordings('recordings', () => {
  test('19 aircraft', async () => {
    const { events, rejected } = await normalise(
      adsb,
      recording('adsb/adsblol-v2-point-2026-10-06.json'),
    )
    expect([events.length, rejected.length]).toEqual([19, 0])
  })
})
