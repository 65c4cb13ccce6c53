import { setTimeout as pause } from 'node:timers/promises'
import { inTransaction } from '../../functions/db.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import { createZoneMirror } from '../../functions/jobs/zone-mirror.ts'
import type { ZonePolygon } from '../../shared/geometry/polygon.ts'
import { interleave, inWords, seconds } from './figure.ts'
import {
  anywhere,
  connectJobs,
  createAccount,
  createJobs,
  createSource,
  type Ground,
  insertZones,
  type Place,
  quakeAt,
  type Seed,
  startDatabase,
} from './ground.ts'
import { lookUpAlone, lookUpHere, lookUpInPostgis, lookUpInTile38 } from './lookups.ts'

const ZONES = Number(process.env.BENCH_ZONES ?? 100_000)
const EVENTS = Number(process.env.BENCH_MATCHED ?? 50_000)
const SIZES = [1000, 10_000, 100_000, ...(process.env.BENCH_LARGE ? [1_000_000] : [])]
const BASE = 10_000
const GROWN_EVENTS = Number(process.env.BENCH_GROWN ?? 2000)
const LOOKED_UP = Number(process.env.BENCH_LOOKED_UP ?? 5000)
const ROUNDS = 5
const CITIES = 200
const RELEVANT_PERCENT = [1, 10, 100]

/** Storing events, finding their zones and deciding, beside joins of the same rows and an engine made for look-ups. */
export async function benchMatching(ground: Ground): Promise<void> {
  const even = Array.from({ length: ZONES }, () => circleAt(anywhere(), 300))
  const events = Array.from({ length: EVENTS }, anywhere)
  await withZones(ground, even, async (ground) => {
    for (const percent of RELEVANT_PERCENT) await timeMatching(ground, percent, events)
  })
  await timeGrowth(ground)
  for (const [what, zones] of Object.entries(SHAPES)) await timeLookUps(ground, what, zones())
}

type Shape = Omit<Seed, 'owner_id'>

const circleAt = (place: Place, radius_km: number): Shape => ({ ...place, radius_km })

/** Where people live: places around cities, more of them around the first ones. */
const cities = Array.from({ length: CITIES }, anywhere)
function nearCity(): Place {
  const city = cities[Math.floor(CITIES * Math.random() ** 2)] ?? anywhere()
  const spread = () => (Math.random() + Math.random() - 1) * 2
  return { lat: Math.max(-85, Math.min(85, city.lat + spread())), lon: within(city.lon + spread()) }
}

const within = (lon: number) => ((((lon + 180) % 360) + 360) % 360) - 180

/** A star of about 50 km with so many vertices. */
function starAt(place: Place, vertices: number): Shape {
  // Away from the antimeridian and the poles, where engines disagree what a polygon means.
  const { lat, lon } = {
    lat: Math.max(-70, Math.min(70, place.lat)),
    lon: Math.max(-178, Math.min(178, place.lon)),
  }
  const ring = Array.from({ length: vertices }, (_, nr) => {
    const [angle, reach] = [(2 * Math.PI * nr) / vertices, 0.3 + 0.15 * Math.random()]
    return [
      lon + (reach * Math.cos(angle)) / Math.cos((lat * Math.PI) / 180),
      lat + reach * Math.sin(angle),
    ]
  })
  const [first = []] = ring
  const polygon: ZonePolygon = { type: 'Polygon', coordinates: [[...ring, first]] }
  return { lat, lon, radius_km: 50, polygon }
}

const many = (count: number, make: () => Shape) => () => Array.from({ length: count }, make)
const SHAPES = {
  [`${ZONES.toLocaleString('en')} circles of 50 km, even`]: many(ZONES, () =>
    circleAt(anywhere(), 50),
  ),
  [`${ZONES.toLocaleString('en')} circles of 10 km around cities`]: many(ZONES, () =>
    circleAt(nearCity(), 10),
  ),
  // Evenly spread over the orders of magnitude: 10 to 1,000 vertices.
  [`${(ZONES / 10).toLocaleString('en')} polygons of 10 to 1,000 vertices, even`]: many(
    ZONES / 10,
    () => starAt(anywhere(), Math.round(10 ** (1 + 2 * Math.random()))),
  ),
}

/** A database of its own with these zones, because what is measured depends on all that it holds. */
async function withZones(
  ground: Ground,
  zones: Shape[],
  work: (ground: Ground) => Promise<void>,
): Promise<void> {
  const { stop, ...database } = await startDatabase()
  try {
    const here = { ...ground, ...database }
    const { user_id: owner_id } = await createAccount(here.admin)
    await createSource(here.admin, 'bench')
    ground.say(`Creating ${zones.length.toLocaleString('en')} zones …`)
    await insertZones(
      here.admin,
      zones.map((zone) => ({ ...zone, owner_id })),
    )
    await here.admin.query('vacuum analyze')
    await work(here)
  } finally {
    await stop()
  }
}

/** Stores an event at each place, so many percent of them severe enough for the zones; returns the seconds. */
async function store(ground: Ground, places: Place[], percent: number): Promise<number> {
  const db = connectJobs(ground, 2)
  const prefix = `bench:${percent}-${places.length}`
  const time = await seconds(async () => {
    for (let from = 0; from < places.length; from += 1000) {
      const events = places
        .slice(from, from + 1000)
        .map((place, nr) => quakeAt(`${prefix}-${from + nr}`, place, nr % 100 < percent ? 60 : 8))
      await inTransaction(db, (sql) => ingestEvents(sql, 'bench', events))
    }
  })
  await db.end()
  await ground.admin.query('vacuum analyze watchpost.event_revisions, watchpost.batches')
  return time
}

/** Runs the jobs of matching until none is left; what was raised is not sent, because there is no channel. */
async function match(ground: Ground) {
  const db = connectJobs(ground, 4)
  const lines: Record<string, unknown>[] = []
  const time = await seconds(() => createJobs(db, { lines }).drain({ budget_ms: 30 * 60_000 }))
  await db.end()
  const sum = (key: string) =>
    lines
      .filter((line) => line.queue === 'match')
      .reduce((total, line) => total + Number(line[key] ?? 0), 0)
  return { seconds: time, pairs: sum('pairs'), alerts: sum('alerts') }
}

const UNMATCHED = 'select id from watchpost.batches where matched_at is null order by seq'

/** Storing, narrowing and matching, beside a plain join of the same rows. Events that matter raise alerts in all their zones. */
async function timeMatching(ground: Ground, percent: number, all: Place[]): Promise<void> {
  const { admin, figure } = ground
  // Each of them raises fifty alerts: the hundredth part of them takes as long as all the others.
  const places = all.slice(0, Math.ceil(all.length / percent))
  ground.say(`Matching ${places.length.toLocaleString('en')} events, ${percent} % relevant …`)
  const stored = await store(ground, places, percent)
  const time = (text: string) => () => seconds(() => admin.query(text))
  const { join, narrow } = await interleave(ROUNDS, {
    join: time(
      `select count(*) from watchpost.event_revisions r join watchpost.zone_boxes b on b.box && r.extent
      where r.batch_id in (${UNMATCHED})`,
    ),
    narrow: time(
      `select count(c.id) from (${UNMATCHED}) b cross join lateral private.batch_candidates(array[b.id]) c`,
    ),
  })
  const plain = `a plain join of the boxes, ${inWords(places.length / join)} events/s`
  const matched = await match(ground)
  const against = { unit: 'events/s', against: plain }
  const share = `${percent} % of events relevant`
  figure({
    name: `Narrowing as matching does it (boxes, severity, filters, memory), ${share}`,
    value: places.length / narrow,
    ...against,
    ratio: join / narrow,
    goal: { at_least: 1 },
  })
  figure({
    name: `Storing events (1,000 a transaction), ${share}`,
    value: places.length / stored,
    ...against,
    ratio: join / stored,
  })
  figure({
    name: `Matching with ${ZONES.toLocaleString('en')} zones of 300 km, ${share}`,
    value: places.length / matched.seconds,
    ...against,
    ratio: join / matched.seconds,
    note: `${inWords(matched.pairs)} pairs decided, ${inWords(matched.alerts)} alerts`,
  })
}

/** What a relevant event costs among more and more zones, which get smaller so that it is always in about three of them. */
async function timeGrowth(ground: Ground): Promise<void> {
  const grown: { size: number; cost: number; alerts: number }[] = []
  for (const size of SIZES) {
    // Of a sphere of 510 million km²; at least as large as the least zone.
    const radius_km = Math.max(0.1, Math.sqrt((3 * 510e6) / (Math.PI * size)))
    const zones = Array.from({ length: size }, () => circleAt(anywhere(), radius_km))
    await withZones(ground, zones, async (here) => {
      await store(here, Array.from({ length: GROWN_EVENTS }, anywhere), 100)
      const { seconds, alerts } = await match(here)
      grown.push({ size, cost: (seconds * 1e6) / GROWN_EVENTS, alerts: alerts / GROWN_EVENTS })
    })
  }
  const base = grown.find(({ size }) => size === BASE)?.cost ?? Number.NaN
  for (const { size, cost, alerts } of grown) {
    ground.figure({
      name: `A relevant event among ${size.toLocaleString('en')} zones`,
      value: cost,
      unit: 'µs',
      against: `the same among ${BASE.toLocaleString('en')} zones`,
      ratio: cost / base,
      ...(size === SIZES.at(-1) ? { goal: { at_most: 2 } } : {}),
      note: `${inWords(alerts)} alerts each`,
      along: { chart: 'What a relevant event costs', at: size.toLocaleString('en') },
    })
  }
}

/** Look-up and decision of places among zones, beside Tile38 and PostGIS where their addresses are given. */
async function timeLookUps(ground: Ground, what: string, zones: Shape[]): Promise<void> {
  const seeds = zones.map((zone) => ({ ...zone, owner_id: '' }))
  const places = Array.from({ length: LOOKED_UP }, () => {
    const { lat, lon } = zones[Math.floor(Math.random() * zones.length)] ?? anywhere()
    return { lat, lon: within(lon + Math.random() / 10) }
  })
  await withZones(ground, zones, async (here) => {
    await store(here, places, 100)
    const { rows } = await here.admin.query<{ id: string }>(UNMATCHED)
    const ids = rows.map(({ id }) => id)
    const db = connectJobs(here, 2)
    const mirror = createZoneMirror(db)
    // Read once; what is measured is a process that has run for a while.
    while (!(await inTransaction(db, (sql) => mirror.follow(sql)))) await pause(20)
    const { hits } = await lookUpHere(db, ids, mirror)
    const alone = await lookUpAlone(db, ids, mirror)
    const name = `Look-up and decision among ${what}`
    const value = (time: number) => places.length / time
    const beside = async (
      engine: string,
      {
        lookUp,
        close,
      }: { lookUp: () => Promise<{ seconds: number; hits: number }>; close: () => Promise<void> },
    ) => {
      const { hits: theirs } = await lookUp()
      const times = await interleave(ROUNDS, {
        ours: async () => (await lookUpHere(db, ids, mirror)).seconds,
        alone: async () => (await alone()).seconds,
        theirs: async () => (await lookUp()).seconds,
      })
      await close()
      // Edges are a little elsewhere for each engine; but a count of other zones would be no comparison.
      if (Math.abs(theirs - hits) > 0.02 * hits) {
        ground.leaveOut(
          `${name}, beside ${engine}`,
          `${inWords(hits)} pairs are inside, but ${engine} finds ${inWords(theirs)}.`,
        )
        return
      }
      ground.figure({
        name: `${name}, beside ${engine}`,
        value: value(times.ours),
        unit: 'events/s',
        against: `look-ups of ${engine}, ${inWords(value(times.theirs))}/s`,
        ratio: times.theirs / times.ours,
        ...(engine === 'Tile38' ? { goal: { at_least: 1 } } : {}),
        note: `${inWords(hits)} pairs inside, ${engine} finds ${inWords(theirs)}`,
      })
      ground.figure({
        name: `Look-up alone, without reading and deciding, among ${what}, beside ${engine}`,
        value: value(times.alone),
        unit: 'events/s',
        against: `look-ups of ${engine}, ${inWords(value(times.theirs))}/s`,
        ratio: times.theirs / times.alone,
        note: `${inWords((await alone()).hits)} pairs inside`,
      })
    }
    const { TILE38_URL, POSTGIS_URL } = process.env
    if (TILE38_URL) {
      const { lookUp, close } = await lookUpInTile38(TILE38_URL, seeds)
      await beside('Tile38', { lookUp: () => lookUp(places), close })
    } else
      ground.leaveOut(`${name}, beside Tile38`, 'Set TILE38_URL, such as tcp://127.0.0.1:9851.')
    if (POSTGIS_URL) await beside('PostGIS', await lookUpInPostgis(POSTGIS_URL, seeds, places))
    else ground.leaveOut(`${name}, beside PostGIS`, 'Set POSTGIS_URL to a database with PostGIS.')
    await db.end()
  })
}
