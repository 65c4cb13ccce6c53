import { setTimeout as pause } from 'node:timers/promises'
import { type Database, inTransaction } from '../../functions/db.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import { inWords, seconds } from './figure.ts'
import {
  anywhere,
  connectJobs,
  createAccount,
  createJobs,
  createSource,
  type Ground,
  type Place,
  quakeAt,
  seedZones,
} from './ground.ts'

const SHIPS = Number(process.env.BENCH_SHIPS ?? 20_000)
const ZONES = (process.env.BENCH_SHIP_ZONES ?? '10000,100000').split(',').map(Number)
/** Positions a second of all ships with AIS, and of a network several times as dense. */
const WORLD_AIS = 3000
const GOAL = 20_000
const ROUNDS = 5
/** Receivers that each send their own ships, as a network has several; one source is stored one batch at a time. */
const SOURCES = ['ships-east', 'ships-west']
const BATCH = 1000
const DWELL_MINUTES = 30

/**
 * Positions of ships from arrival to decision: stored, and meanwhile matched with zones of 50 km, half of which ask for
 * 30 minutes inside, and thinned. Ships all over the world first, then every ship inside a zone, as in a strait that
 * everybody watches.
 */
export async function benchPositions(ground: Ground): Promise<void> {
  const { admin, say } = ground
  const owner = await createAccount(admin)
  for (const source of SOURCES) await createSource(admin, source)
  let seeded = 0
  for (const count of ZONES) {
    say(`Creating ${inWords(count - seeded)} zones …`)
    for (const dwell_minutes of [0, DWELL_MINUTES]) {
      const half = Math.ceil((count - seeded) / 2)
      await seedZones(admin, owner.user_id, half, {
        ...{ radius_km: 50, types: ['vessel'], min_severity: 0, dwell_minutes },
      })
    }
    seeded = count
    await admin.query('vacuum analyze')
    const { rows } = await admin.query<Place>('select lat, lon from watchpost.zones')
    const inside = () => rows[Math.floor(Math.random() * rows.length)] ?? { lat: 0, lon: 0 }
    await timePositions(ground, { label: 'all over the world', place: anywhere, zones: count })
    await timePositions(ground, { label: 'all of them inside zones', place: inside, zones: count })
  }
}

type Case = { label: string; place: () => Place; zones: number }
type Ship = Place & { mmsi: number; source: string }
let fleets = 0

/** Times ROUNDS positions of each ship, ten seconds apart; the first round, in which all stays begin, apart. */
async function timePositions(ground: Ground, { label, place, zones }: Case): Promise<void> {
  ground.say(`Ships ${label} …`)
  fleets += 1
  const ships = Array.from({ length: SHIPS }, (_, index) => ({
    mmsi: 200_000_000 + fleets * 1_000_000 + index,
    source: SOURCES[index % SOURCES.length] ?? '',
    ...place(),
  }))
  const db = connectJobs(ground, 6)
  const lines: Record<string, unknown>[] = []
  const jobs = createJobs(db, { lines })
  const start = Date.now() - ROUNDS * 10_000
  const round = (number: number) =>
    seconds(async () => {
      let isStored = false
      const stored = storeRound(db, ships, number, start).finally(() => {
        isStored = true
      })
      while (!isStored) {
        await jobs.drain({ budget_ms: 60_000 })
        await Promise.race([stored, pause(5)])
      }
      await stored
      await jobs.drain({ budget_ms: 30 * 60_000 })
    })
  const first = await round(0)
  let later = 0
  for (let number = 1; number < ROUNDS; number += 1) later += await round(number)
  await db.end()
  const sum = (key: string) => lines.reduce((total, line) => total + Number(line[key] ?? 0), 0)
  const note = `${inWords(sum('pairs'))} pairs decided and ${inWords(sum('alerts'))} alerts raised in all`
  const at = zones.toLocaleString('en')
  const name = `Ships ${label}, ${at} zones: stored, matched and thinned`
  const rate = (SHIPS * (ROUNDS - 1)) / later
  ground.figure({
    ...{ name, value: rate, unit: 'positions/s', note },
    against: `${inWords(GOAL)} positions/s`,
    ratio: rate / GOAL,
    goal: { at_least: 1 },
    along: { chart: `Ships ${label}`, at: `${at} zones` },
  })
  const begin = SHIPS / first
  ground.figure({
    ...{ name: `${name}, while all stays begin`, value: begin, unit: 'positions/s' },
    against: `the world’s AIS, ${inWords(WORLD_AIS)} positions/s`,
    ratio: begin / WORLD_AIS,
    goal: { at_least: 1 },
  })
}

/** Stores a position of each ship, the sources beside each other. */
async function storeRound(db: Database, ships: Ship[], round: number, start: number) {
  const at = start + round * 10_000
  await Promise.all(
    SOURCES.map(async (source) => {
      const theirs = ships.filter((ship) => ship.source === source)
      for (let from = 0; from < theirs.length; from += BATCH) {
        const events = theirs.slice(from, from + BATCH).map((ship) => position(ship, round, at))
        await inTransaction(db, (sql) => ingestEvents(sql, source, events))
      }
    }),
  )
}

function position({ mmsi, source, lat, lon }: Ship, step: number, at: number) {
  // 15 knots northward: 77 m in ten seconds.
  const place = { lat: Math.min(lat + step * 0.0007, 90), lon }
  return {
    ...quakeAt(`${source}:${mmsi}:${Math.round(at / 1000)}`, place, 0),
    source,
    type: 'vessel' as const,
    title: `SHIP ${mmsi}`,
    ts: new Date(at).toISOString(),
    subject: `mmsi:${mmsi}`,
  }
}
