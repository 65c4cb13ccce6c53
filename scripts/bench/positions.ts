import { inTransaction } from '../../functions/db.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import { seconds } from './figure.ts'
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
/** Positions a second of all ships with AIS, and the zones that watch them. */
const WORLD_AIS = 3000
const ZONES = 10_000
const ROUNDS = 5

/**
 * Positions of ships from arrival to decision: stored, matched with zones of 50 km and thinned. First ships all over the
 * world, of which one in seven is inside a zone; then every ship inside one, as in a strait that everybody watches.
 */
export async function benchPositions(ground: Ground): Promise<void> {
  const { admin, say } = ground
  const owner = await createAccount(admin)
  say(`Creating ${ZONES.toLocaleString('en')} zones …`)
  await seedZones(admin, owner.user_id, ZONES, {
    radius_km: 50,
    types: ['vessel'],
    min_severity: 0,
  })
  await createSource(admin, 'ships')
  await admin.query('vacuum analyze')
  const { rows: zones } = await admin.query<Place>('select lat, lon from watchpost.zones')
  const inside = () => zones[Math.floor(Math.random() * zones.length)] ?? { lat: 0, lon: 0 }
  await timePositions(ground, 'all over the world', anywhere)
  await timePositions(ground, 'all of them inside zones', inside)
}

/** Times ROUNDS positions of each ship, ten seconds apart; the first round, in which all stays begin, apart. */
async function timePositions(ground: Ground, label: string, place: () => Place): Promise<void> {
  ground.say(`Ships ${label} …`)
  const prefix = label.length
  const ships = Array.from({ length: SHIPS }, (_, index) => ({
    mmsi: 200_000_000 + prefix * 1_000_000 + index,
    ...place(),
  }))
  const db = connectJobs(ground, 4)
  const lines: Record<string, unknown>[] = []
  const jobs = createJobs(db, { lines })
  const start = Date.now() - ROUNDS * 10_000
  const round = (number: number) =>
    seconds(async () => {
      for (let from = 0; from < SHIPS; from += 1000) {
        const events = ships
          .slice(from, from + 1000)
          .map((ship) => position(ship, number, start + number * 10_000))
        await inTransaction(db, (sql) => ingestEvents(sql, 'ships', events))
      }
      await jobs.drain({ budget_ms: 30 * 60_000 })
    })
  const first = await round(0)
  let later = 0
  for (let number = 1; number < ROUNDS; number += 1) later += await round(number)
  await db.end()
  const pairs = lines.reduce((sum, line) => sum + Number(line.pairs ?? 0), 0)
  const rate = (SHIPS * (ROUNDS - 1)) / later
  const name = `${SHIPS.toLocaleString('en')} ships ${label}, stored, matched with ${ZONES.toLocaleString('en')} zones and thinned`
  for (const [when, value] of [
    ['', rate],
    [', while all stays begin', SHIPS / first],
  ] as const) {
    ground.figure({
      name: `${name}${when}`,
      value,
      unit: 'positions/s',
      against: `the world’s AIS, ${WORLD_AIS.toLocaleString('en')} positions/s`,
      ratio: value / WORLD_AIS,
      goal: { at_least: 1 },
      note: `${pairs.toLocaleString('en')} pairs decided in all`,
    })
  }
}

function position({ mmsi, lat, lon }: Place & { mmsi: number }, step: number, at: number) {
  // 15 knots northward: 77 m in ten seconds.
  const place = { lat: Math.min(lat + step * 0.0007, 90), lon }
  return {
    ...quakeAt(`ships:${mmsi}:${Math.round(at / 1000)}`, place, 0),
    source: 'ships',
    type: 'vessel' as const,
    title: `SHIP ${mmsi}`,
    ts: new Date(at).toISOString(),
    subject: `mmsi:${mmsi}`,
  }
}
