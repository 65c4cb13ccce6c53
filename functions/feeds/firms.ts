import { z } from 'zod'
import {
  type Content,
  type Feed,
  type FeedResult,
  feedError,
  isFeedError,
  type PollInput,
  type Rejected,
} from './feed.ts'
import { fetchEach } from './fetch.ts'
import { type Detection, readDetections } from './formats/firms-csv.ts'
import { hash } from './memory/alert-memory.ts'
import { type Fire, idsOf, type KnownFires, toFireEvent, toFires } from './memory/fires.ts'

const AREA_API = 'https://firms.modaps.eosdis.nasa.gov/api/area/csv'
const INTERVAL_SECONDS = 15 * 60
/** Yesterday and today in UTC. */
const DAYS = 2
const DEFAULT_SENSORS = 'MODIS_NRT'
/** A day of the whole world by one of the VIIRS instruments. */
const MAX_BYTES = 48 * 1024 * 1024
/** Two of a fire, should one of them be replaced by later processing. */
const KNOWN_OF_A_FIRE = 2
const MAX_KNOWN = 20_000

const State = z.object({ known: z.record(z.string(), z.string()).default({}) })

/** NASA's active fires: the detections of satellites, clustered into fires. */
export const firms: Feed = {
  source: 'firms',
  title: 'NASA FIRMS active fires',
  attribution: 'NASA FIRMS (https://earthdata.nasa.gov/firms)',
  types: ['wildfire'],
  ceilings: { wildfire: 70 },
  interval_seconds: INTERVAL_SECONDS,
  settings: {
    FIRMS_MAP_KEY: {
      schema: z.string().regex(/^[0-9a-zA-Z]{16,64}$/, 'must be a map key of FIRMS'),
      is_required: true,
    },
    FIRMS_SENSORS: {
      schema: z
        .string()
        .regex(
          /^(MODIS|VIIRS_(SNPP|NOAA20|NOAA21))_NRT(,(MODIS|VIIRS_(SNPP|NOAA20|NOAA21))_NRT)*$/,
          'must be one or more of MODIS_NRT, VIIRS_SNPP_NRT, VIIRS_NOAA20_NRT, VIIRS_NOAA21_NRT',
        ),
      is_required: false,
    },
    FIRMS_AREA: {
      schema: z
        .string()
        .refine(
          isArea,
          'must be "world" or west,south,east,north in degrees, such as -10,35,30,60',
        ),
      is_required: false,
    },
  },
  region: ({ FIRMS_AREA: area = 'world' }) => {
    if (area === 'world') return null
    const [west = 0, south = 0, east = 0, north = 0] = area.split(',').map(Number)
    return [[west, south, east, north]]
  },
  poll,
  normalise,
}

function isArea(text: string): boolean {
  if (text === 'world') return true
  if (!/^-?\d+(\.\d+)?(,-?\d+(\.\d+)?){3}$/.test(text)) return false
  const [west = 0, south = 0, east = 0, north = 0] = text.split(',').map(Number)
  return -180 <= west && west < east && east <= 180 && -90 <= south && south < north && north <= 90
}

/** A table of detections; its fires whether or not they still burn. */
function normalise(text: string): Content {
  const { detections, rejected } = readDetections(text)
  const fires = toFires(detections)
  const ids = idsOf(fires, {})
  return { events: fires.map((fire, index) => toFireEvent(fire, ids[index] ?? '')), rejected }
}

async function poll(input: PollInput): Promise<FeedResult> {
  const { known } = State.catch({ known: {} }).parse(input.state)
  const { FIRMS_MAP_KEY: key = '', FIRMS_SENSORS, FIRMS_AREA = 'world' } = input.settings ?? {}
  const sensors = (FIRMS_SENSORS ?? DEFAULT_SENSORS).split(',')
  const urls = sensors.map((sensor) => `${AREA_API}/${key}/${sensor}/${FIRMS_AREA}/${DAYS}`)
  const fetched = await fetchEach(urls, {
    ...input,
    accept: 'text/csv',
    max_bytes: MAX_BYTES,
    // The address contains the key.
    name: (url) => sensors[urls.indexOf(url)] ?? 'answer',
  })
  const rejected: Rejected[] = [...fetched.failed]
  const detections: Detection[] = []
  let is_read = false
  for (const { url, text } of fetched.answers) {
    const sensor = sensors[urls.indexOf(url)] ?? ''
    try {
      const table = readDetections(text ?? '')
      is_read = true
      for (const detection of table.detections) detections.push(detection)
      for (const { item, reason } of table.rejected) {
        rejected.push({ item: `${sensor} ${item}`, reason })
      }
    } catch (error) {
      if (!isFeedError(error)) throw error
      rejected.push({ item: sensor, reason: error.message })
    }
  }
  if (!is_read) throw feedError('unreadable', rejected.at(-1)?.reason ?? 'answered nothing')

  const fires = toFires(detections)
  const ids = idsOf(fires, known)
  const events = fires.map((fire, index) => toFireEvent(fire, ids[index] ?? ''))
  const now = input.now.toISOString()
  return {
    // The others have ended by themselves.
    events: events.filter(({ ends_at }) => ends_at !== null && ends_at > now),
    rejected,
    state: { known: remember(fires, ids, known) },
    not_modified: false,
  }
}

/** What tells a fire again: its latest detections. A sensor that failed does not make its fires new. */
function remember(fires: readonly Fire[], ids: readonly string[], before: KnownFires): KnownFires {
  const latest = fires.flatMap((fire, index) => {
    const id = ids[index] ?? ''
    return fire.slice(-KNOWN_OF_A_FIRE).map(({ key, at }) => ({ hash: hash(key), id, at }))
  })
  latest.sort((a, b) => b.at - a.at)
  const all: Record<string, string> = Object.fromEntries(latest.map(({ hash, id }) => [hash, id]))
  for (const [detection, id] of Object.entries(before)) all[detection] ??= id
  return Object.fromEntries(Object.entries(all).slice(0, MAX_KNOWN))
}
