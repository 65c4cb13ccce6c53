import { z } from 'zod'
import { boxesOf } from '../../shared/geometry/geometry.ts'
import { type Content, type Feed, type FeedResult, isFeedError, type PollInput } from './feed.ts'
import { fetchEach, pauseFor } from './fetch.ts'
import { normaliseAircraft } from './formats/aircraft.ts'

const ADDRESS = 'https://api.adsb.lol/v2/point'
const INTERVAL_SECONDS = 10
const MAX_CIRCLES = 10
const KM_PER_MILE = 1.852

const Circles = z.string().refine((text) => circlesIn(text) !== null, {
  error: `must be up to ${MAX_CIRCLES} circles of latitude,longitude,nautical miles (1 to 250), separated by semicolons`,
})

/** The aircraft in circles, by adsb.lol. */
export const adsb: Feed = {
  source: 'adsb',
  title: 'adsb.lol aircraft',
  attribution: 'Aircraft positions: adsb.lol and contributors (ODbL)',
  types: ['aircraft'],
  interval_seconds: INTERVAL_SECONDS,
  settings: { ADSB_CIRCLES: { schema: Circles, is_required: true } },
  region: ({ ADSB_CIRCLES = '' }) =>
    (circlesIn(ADSB_CIRCLES) ?? [])
      .flatMap(([lat, lon, miles]) =>
        boxesOf({ shape_type: 'circle', lat, lon, radius_km: miles * KM_PER_MILE, polygon: null }),
      )
      .map(({ west, south, east, north }) => [west, south, east, north]),
  poll,
  normalise: (text) => normaliseAircraft('adsb', text),
}

type Circle = [lat: number, lon: number, miles: number]

/** The circles of a setting; null if the text holds anything else. */
function circlesIn(text: string): Circle[] | null {
  const circles = text
    .split(';')
    .map((circle) => circle.split(',').map((part) => Number(part.trim() || NaN)))
  const isCircle = (numbers: number[]) => {
    const [lat = NaN, lon = NaN, miles = NaN] = numbers
    return (
      numbers.length === 3 &&
      Math.abs(lat) <= 90 &&
      Math.abs(lon) <= 180 &&
      miles >= 1 &&
      miles <= 250
    )
  }
  if (circles.length > MAX_CIRCLES || !circles.every(isCircle)) return null
  return circles.map(([lat = 0, lon = 0, miles = 0]) => [lat, lon, miles])
}

/** One circle after the other; an aircraft in two of them counts once. */
async function poll(input: PollInput): Promise<FeedResult> {
  const circles = circlesIn(input.settings?.ADSB_CIRCLES ?? '') ?? []
  const urls = circles.map((circle) => `${ADDRESS}/${circle.join('/')}`)
  const { answers, failed, max_age_seconds } = await fetchEach(urls, {
    ...input,
    accept: 'application/json',
  })
  const all: Content = { events: [], rejected: [...failed] }
  let last: unknown
  let read = 0
  for (const { url, text } of answers) {
    try {
      const { events, rejected } = normaliseAircraft('adsb', text ?? '')
      all.events.push(...events)
      all.rejected.push(...rejected)
      read += 1
    } catch (error) {
      if (!isFeedError(error)) throw error
      last = error
      all.rejected.push({ item: url, reason: error.message })
    }
  }
  if (read === 0 && last) throw last
  return {
    events: [...new Map(all.events.map((event) => [event.id, event])).values()],
    rejected: all.rejected,
    state: input.state,
    not_modified: false,
    ...pauseFor(max_age_seconds, INTERVAL_SECONDS),
  }
}
