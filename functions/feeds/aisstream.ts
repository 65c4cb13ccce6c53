import { z } from 'zod'
import {
  type Content,
  feedError,
  type Normalised,
  normaliseEach,
  reject,
  type StreamedFeed,
} from './feed.ts'
import { parseJson } from './fetch.ts'
import { createVessels, toMmsi } from './formats/ais.ts'
import { instantOfIso } from './formats/times.ts'

const ADDRESS = 'wss://stream.aisstream.io/v0/stream'
const WORLD = '-90,-180,90,180'

const Boxes = z.string().refine((text) => boxesIn(text) !== null, {
  error: 'must be boxes of four degrees, south,west,north,east, separated by semicolons',
})

const Frame = z.object({
  MessageType: z.string(),
  Message: z.record(z.string(), z.unknown()),
  MetaData: z.object({
    MMSI: z.union([z.number(), z.string()]),
    ShipName: z.string().nullish(),
    time_utc: z.string(),
  }),
})
const Refusal = z.object({ error: z.string() })

const Position = z.object({
  Latitude: z.number(),
  Longitude: z.number(),
  NavigationalStatus: z.number().nullish(),
})
const SafetyText = z.object({ Text: z.string() })

const POSITIONS = [
  'PositionReport',
  'StandardClassBPositionReport',
  'ExtendedClassBPositionReport',
  'StandardSearchAndRescueAircraftReport',
  'LongRangeAisBroadcastMessage',
]
const TEXTS = ['AddressedSafetyMessage', 'SafetyBroadcastMessage']
const STATICS = ['ShipStaticData', 'StaticDataReport']

/** The worldwide AIS stream of aisstream.io. */
export const aisstream: StreamedFeed = {
  source: 'aisstream',
  title: 'AISStream vessels',
  attribution: 'Vessel positions: aisstream.io',
  types: ['vessel', 'aircraft'],
  interval_seconds: 60,
  settings: {
    AISSTREAM_KEY: {
      schema: z.string().regex(/^\S+$/, 'must be an API key of aisstream.io'),
      is_required: true,
    },
    AISSTREAM_BOXES: { schema: Boxes, is_required: false },
  },
  region: ({ AISSTREAM_BOXES = WORLD }) =>
    boxesIn(AISSTREAM_BOXES)?.map(([[south, west], [north, east]]) => [west, south, east, north]) ??
    null,
  stream: {
    connections: ({ AISSTREAM_KEY = '', AISSTREAM_BOXES = WORLD }) => [
      {
        name: 'stream.aisstream.io',
        url: ADDRESS,
        hello: subscription(AISSTREAM_KEY, AISSTREAM_BOXES),
      },
    ],
    createReader: () => {
      const read = createReader()
      return (frame, { item }) => {
        const result = read(frame, item)
        if (result === null) return { events: [], rejected: [] }
        return 'event' in result
          ? { events: [result.event], rejected: [] }
          : { events: [], rejected: [result.rejected] }
      }
    },
    silence_seconds: 60,
  },
  normalise,
}

/** The first thing to send, within 3 s. */
function subscription(key: string, boxes: string): string {
  return JSON.stringify({
    APIKey: key,
    BoundingBoxes: boxesIn(boxes),
    FilterMessageTypes: [...POSITIONS, ...TEXTS, ...STATICS],
  })
}

type Corners = [[south: number, west: number], [north: number, east: number]]

/** Boxes as [[south, west], [north, east]]; null if the text holds anything else. */
function boxesIn(text: string): Corners[] | null {
  const boxes = text
    .split(';')
    .map((box) => box.split(',').map((part) => Number(part.trim() || NaN)))
  const isBox = ([south = NaN, west = NaN, north = NaN, east = NaN, ...more]: number[]) =>
    more.length === 0 &&
    -90 <= south &&
    south < north &&
    north <= 90 &&
    west >= -180 &&
    west < east &&
    east <= 180
  if (!boxes.every(isBox)) return null
  return boxes.map(([south = 0, west = 0, north = 0, east = 0]) => [
    [south, west],
    [north, east],
  ])
}

/** Frames as they were recorded, one a line. */
function normalise(text: string): Content {
  const read = createReader()
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return normaliseEach(lines, (line, item) => read(line, item))
}

/** Reads frames. A refusal throws a FeedError. */
function createReader(): (frame: string, item: string) => Normalised | null {
  const vessels = createVessels('aisstream')
  return (frame, item) => {
    const json = parseJson(frame)
    const refusal = Refusal.safeParse(json)
    if (!refusal.success) return normaliseFrame(json, item)
    throw feedError('http_status', `refused: ${withoutKeys(refusal.data.error)}`)
  }

  function normaliseFrame(json: unknown, item: string): Normalised | null {
    const read = Frame.safeParse(json)
    if (!read.success) return reject(item, read.error)
    const { MessageType: type, Message, MetaData } = read.data
    const mmsi = toMmsi(MetaData.MMSI) ?? String(MetaData.MMSI)
    const at = timeOfGo(MetaData.time_utc)
    if (at === null) return reject(item, 'MetaData.time_utc: must be a time in UTC')
    vessels.named(mmsi, MetaData.ShipName ?? undefined)
    if (POSITIONS.includes(type)) {
      const position = Position.safeParse(Message[type])
      if (!position.success) return reject(mmsi, position.error)
      const { Latitude, Longitude, NavigationalStatus } = position.data
      const status = NavigationalStatus ?? null
      return vessels.position({ mmsi, at, status, ...placeOf(Latitude, Longitude) })
    }
    if (!TEXTS.includes(type)) return null
    const text = SafetyText.safeParse(Message[type])
    return text.success
      ? vessels.text({ mmsi, at, text: text.data.Text })
      : reject(mmsi, text.error)
  }
}

/** 91° and 181° stand for "not available". */
function placeOf(lat: number, lon: number) {
  return {
    lat: Math.abs(lat) > 90 ? null : lat,
    lon: Math.abs(lon) > 180 ? null : lon,
  }
}

/** A time such as `2023-10-15 09:51:08.143077274 +0000 UTC`, in ms since 1970; null if it is none. */
function timeOfGo(text: string): number | null {
  const found = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(\.\d{1,3})?\d* \+0000 UTC$/.exec(text)
  const instant = instantOfIso(found ? `${found[1]}${found[2] ?? ''}Z` : text)
  const at = Date.parse(instant)
  return !Number.isNaN(at) && new Date(at).toISOString() === instant ? at : null
}

/** An upstream may repeat the key in its refusal. */
function withoutKeys(text: string): string {
  return text.replace(/[\w-]{16,}/g, '…').slice(0, 200)
}
