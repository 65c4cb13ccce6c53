/** What the feeds of aircraft positions share: the answers of readsb, dump1090 and services built on them. */
import { z } from 'zod'
import {
  type Content,
  type FeedError,
  feedError,
  type Normalised,
  normaliseEach,
  reject,
  toEvent,
  toInstant,
} from '../feed.ts'
import { parseJson } from '../fetch.ts'

/** Older positions are where an aircraft was, not where it is. */
const MAX_AGE_SECONDS = 60
/** From here on a time is in ms: as seconds it would be the year 5138. */
const FIRST_MS = 1e11

const Answer = z.object({
  /** In seconds or ms since 1970. */
  now: z.number(),
  ac: z.array(z.unknown()).nullish(),
  aircraft: z.array(z.unknown()).nullish(),
})

const Aircraft = z.object({
  /** With ~ for an address that is not of the ICAO. */
  hex: z.string().regex(/^~?[0-9a-fA-F]{6}$/, 'must be six hexadecimal digits'),
  flight: z.string().nullish(),
  r: z.string().nullish(),
  lat: z.number().nullish(),
  lon: z.number().nullish(),
  /** Seconds before `now`. */
  seen_pos: z.number().nullish(),
  squawk: z.union([z.string(), z.number()]).nullish(),
  emergency: z.string().nullish(),
})

/** Normalises an answer: the list `ac` or `aircraft`, of which only the fields that all versions share are read. */
export function normaliseAircraft(source: string, text: string): Content {
  const answer = Answer.safeParse(parseJson(text))
  if (!answer.success) throw notAircraft()
  const { now, ac, aircraft } = answer.data
  const items = ac ?? aircraft
  if (!items) throw notAircraft()
  const now_ms = now < FIRST_MS ? now * 1000 : now
  return normaliseEach(items, (item, position) => normaliseOne(source, item, { now_ms, position }))
}

function notAircraft(): FeedError {
  return feedError('not_json', 'answered with JSON that has no list of aircraft and its time')
}

function normaliseOne(
  source: string,
  json: unknown,
  { now_ms, position }: { now_ms: number; position: string },
): Normalised {
  const read = Aircraft.safeParse(json)
  if (!read.success) return reject(idOf(json) ?? position, read.error)
  const { hex, flight, r, lat, lon, seen_pos, squawk, emergency } = read.data
  const address = hex.toLowerCase()
  if (lat == null || lon == null || (lat === 0 && lon === 0)) {
    return reject(address, 'lat, lon: the aircraft has no position')
  }
  if (seen_pos == null) return reject(address, 'seen_pos: the age of the position is unknown')
  if (seen_pos > MAX_AGE_SECONDS) {
    return reject(address, `seen_pos: the position is older than ${MAX_AGE_SECONDS} s`)
  }
  const at = Math.round(now_ms - seen_pos * 1000)
  return toEvent(
    {
      id: `${source}:${address}:${Math.floor(at / 1000)}`,
      source,
      type: 'aircraft',
      title: flight?.trim() || r?.trim() || address,
      lat,
      lon,
      ts: toInstant(at),
      severity: severityOfAircraft({ squawk, emergency }),
      subject: `icao24:${address}`,
      url: `https://globe.adsb.lol/?icao=${encodeURIComponent(address)}`,
    },
    address,
  )
}

function idOf(json: unknown): string | undefined {
  return z.object({ hex: z.string().min(1) }).safeParse(json).data?.hex
}

/**
 * Hijacking (squawk 7500, emergency `unlawful`): 100; radio failure (7600, `nordo`): 60; any other emergency
 * (7700): 80; else 0. The highest counts.
 */
export function severityOfAircraft({
  squawk,
  emergency,
}: Pick<z.infer<typeof Aircraft>, 'squawk' | 'emergency'>): number {
  const by_squawk = { '7500': 100, '7600': 60, '7700': 80 }[String(squawk ?? '').padStart(4, '0')]
  const word = emergency?.trim().toLowerCase() ?? ''
  const by_word = { '': 0, none: 0, unlawful: 100, nordo: 60 }[word] ?? 80
  return Math.max(by_squawk ?? 0, by_word)
}
