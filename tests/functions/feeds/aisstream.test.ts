import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { aisstream } from '../../../functions/feeds/aisstream.ts'
import { isFeedError } from '../../../functions/feeds/feed.ts'
import { describeRecordings, recording } from '../../support/feeds/feeds.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const TIME = '2023-10-15 09:51:08.143077274 +0000 UTC'

type Fields = { type?: string; message?: object; mmsi?: unknown; time?: string; name?: string }

const frame = ({
  type = 'PositionReport',
  message = {},
  mmsi = 538_009_327,
  time = TIME,
  name = 'NORDIC        ',
}: Fields = {}) =>
  JSON.stringify({
    MessageType: type,
    Message: { [type]: { Latitude: 51.97, Longitude: 4.11, NavigationalStatus: 0, ...message } },
    MetaData: { MMSI: mmsi, ShipName: name, latitude: 1, longitude: 2, time_utc: time },
  })

async function normalise(...frames: string[]) {
  return aisstream.normalise?.(frames.join('\n'), { now: NOW }) ?? { events: [], rejected: [] }
}

function read(text: string) {
  return aisstream.stream.createReader()(text, { now: NOW, item: '#1', from: '' })
}

describe('a position', () => {
  test('has the name and time of its frame, and the place of its message', async () => {
    expect(await normalise(frame())).toMatchObject({
      rejected: [],
      events: [
        {
          id: 'aisstream:538009327:1697363468',
          type: 'vessel',
          title: 'NORDIC',
          lat: 51.97,
          lon: 4.11,
          ts: '2023-10-15T09:51:08.143Z',
          severity: 0,
          subject: 'mmsi:538009327',
        },
      ],
    })
  })

  test.each([
    [{ message: { NavigationalStatus: 6 } }, 70],
    [{ message: { NavigationalStatus: 14 } }, 90],
    [{ type: 'StandardClassBPositionReport', message: { NavigationalStatus: undefined } }, 0],
    [{ mmsi: 970_123_450 }, 90],
  ])('%j has severity %i', async (fields, severity) => {
    expect((await normalise(frame(fields))).events[0]?.severity).toBe(severity)
  })

  test.each<[Fields, string | RegExp]>([
    [{ message: { Latitude: 91, Longitude: 181 } }, 'lat, lon: the sender has no position'],
    [{ message: { Latitude: 91 } }, 'lat, lon: the sender has no position'],
    [{ message: { Longitude: -181 } }, 'lat, lon: the sender has no position'],
    [{ message: { Latitude: 'north' } }, /^Latitude: /],
    [{ mmsi: 0 }, 'mmsi: 0 is nobody’s'],
    [{ mmsi: 2_320_061 }, /not a vessel’s \(coast station\)/],
    [{ time: '15 October' }, /^MetaData.time_utc: /],
    [{ time: '2023-10-15 09:51:08' }, /^MetaData.time_utc: /],
    [{ time: `x${TIME}` }, /^MetaData.time_utc: /],
    [{ time: `${TIME} m=+1` }, /^MetaData.time_utc: /],
    [{ time: '2023-02-30 09:51:08 +0000 UTC' }, /^MetaData.time_utc: /],
    [{ type: 'SafetyBroadcastMessage' }, /^Text: /],
    [
      { type: 'SafetyBroadcastMessage', message: { Text: 'HELP' } },
      /a safety text came before any position/,
    ],
  ])('%j is rejected', async (fields, reason) => {
    const content = await normalise(frame(fields))
    expect(content.events).toEqual([])
    expect(content.rejected).toEqual([
      {
        item: expect.any(String),
        reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
      },
    ])
  })

  test.each([
    ['2023-10-15 09:51:08 +0000 UTC', '2023-10-15T09:51:08.000Z'],
    ['2023-10-15 09:51:08.1 +0000 UTC', '2023-10-15T09:51:08.100Z'],
    ['2023-10-15T09:51:08.000Z', '2023-10-15T09:51:08.000Z'],
  ])('at %s is of %s', async (time, ts) => {
    expect((await normalise(frame({ time }))).events).toMatchObject([{ ts }])
  })

  test.each([
    [90, 180],
    [-90, -180],
  ])('at %d, %d is a place', async (Latitude, Longitude) => {
    const { events } = await normalise(frame({ message: { Latitude, Longitude } }))
    expect(events).toMatchObject([{ lat: Latitude, lon: Longitude }])
  })

  test('a safety text is where its sender was last', async () => {
    const text = frame({ type: 'SafetyBroadcastMessage', message: { Text: 'HELP' } })
    expect((await normalise(frame(), text)).events[1]).toMatchObject({
      title: 'NORDIC: HELP',
      severity: 30,
      lat: 51.97,
    })
  })

  test.each(['ShipStaticData', 'UnknownMessage', 'BaseStationReport'])(
    '%s is none',
    async (type) => {
      expect(await normalise(frame({ type, mmsi: 0 }))).toEqual({ events: [], rejected: [] })
    },
  )
})

test.each(['not json', '<html>', '{}', 'null', '[]', frame().slice(0, 60)])(
  'the frame %j is rejected by itself',
  async (text) => {
    const content = await normalise(text, frame())
    expect([content.events.length, content.rejected.length]).toEqual([1, 1])
  },
)

test('lines of nothing but spaces are no frames', async () => {
  expect(await normalise('  ', frame(), '')).toMatchObject({ events: [{}], rejected: [] })
})

test('a frame of the stream is an event, nothing, or rejected by its number', () => {
  expect(read(frame())).toMatchObject({ events: [{ title: 'NORDIC' }], rejected: [] })
  expect(read(frame({ type: 'ShipStaticData' }))).toEqual({ events: [], rejected: [] })
  expect(read('{}')).toEqual({
    events: [],
    rejected: [{ item: '#1', reason: expect.stringMatching(/^MessageType: /) }],
  })
})

test('a long refusal is cut', () => {
  const message = `refused: ${'no '.repeat(66)}no`
  expect(() => read(JSON.stringify({ error: 'no '.repeat(100) }))).toThrow(
    expect.objectContaining({ message }),
  )
})

test('a refusal ends the connection, and does not repeat the key', () => {
  const key = 'a1b2c3d4e5f6a7b8c9d0'
  const thrown = (() => {
    try {
      return read(JSON.stringify({ error: `Api Key ${key} Is Not Valid` }))
    } catch (error) {
      return error
    }
  })()
  expect(isFeedError(thrown)).toBe(true)
  expect(thrown).toMatchObject({ code: 'http_status' })
  expect(String(thrown)).toContain('refused: Api Key … Is Not Valid')
  expect(String(thrown)).not.toContain(key)
})

describe('its subscription', () => {
  const Hello = z.object({
    APIKey: z.string(),
    BoundingBoxes: z.array(z.array(z.array(z.number()))),
    FilterMessageTypes: z.array(z.string()),
  })
  const connect = (settings: Record<string, string>) => {
    const [connection] = aisstream.stream.connections(settings)
    return { ...connection, hello: Hello.parse(JSON.parse(connection?.hello ?? '')) }
  }

  test('holds the key, which is nowhere else', () => {
    const { hello, ...rest } = connect({ AISSTREAM_KEY: 'secret' })
    expect(hello).toMatchObject({
      APIKey: 'secret',
      BoundingBoxes: [
        [
          [-90, -180],
          [90, 180],
        ],
      ],
    })
    expect(hello.FilterMessageTypes).toContain('PositionReport')
    expect(rest).toEqual({
      name: 'stream.aisstream.io',
      url: 'wss://stream.aisstream.io/v0/stream',
    })
  })

  test('asks for the boxes of its setting, latitude first', () => {
    const { hello } = connect({ AISSTREAM_KEY: 'k', AISSTREAM_BOXES: '59,20,61,30; -10,-20,10,20' })
    expect(hello.BoundingBoxes).toEqual([
      [
        [59, 20],
        [61, 30],
      ],
      [
        [-10, -20],
        [10, 20],
      ],
    ])
  })

  const schema = aisstream.settings?.AISSTREAM_BOXES?.schema
  test.each([
    '',
    '1,2,3',
    '1,2,3,4,5',
    '3,2,1,4',
    '1,4,3,2',
    '-91,0,0,1',
    '0,0,1,181',
    'a,b,c,d',
    '1,2,3,',
    '1, ,3,4',
    '0,0,91,1',
    '0,-181,1,1',
    '0,1,1,1',
    '1,0,1,1',
    '0,0,1,1;2,2,1,1',
  ])('the boxes %j are refused without repeating them', (text) => {
    const read = schema?.safeParse(text)
    expect(read?.success).toBe(false)
    expect(read?.error?.issues[0]?.message).toBe(
      'must be boxes of four degrees, south,west,north,east, separated by semicolons',
    )
  })
})

test('boxes that cannot be read are all of the world', () => {
  expect(aisstream.region?.({ AISSTREAM_BOXES: 'here' })).toBeNull()
})

describeRecordings('recordings', () => {
  test('13 frames give 4 positions, and one text without a place', async () => {
    const { events, rejected } = await normalise(recording('aisstream/frames-2023-10-15.ndjson'))
    expect(events.map(({ title, type }) => [title, type])).toEqual([
      ['NORDIC QINNGUA', 'vessel'],
      ['CAMELOT', 'vessel'],
      ['574222258', 'vessel'],
      ['111503003', 'aircraft'],
    ])
    expect(rejected).toEqual([
      {
        item: '993663013',
        reason: 'lat, lon: a safety text came before any position of its sender',
      },
    ])
  })
})
