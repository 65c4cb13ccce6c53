import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import pg from 'pg'
import { createPool, type Database, inTransaction } from '../../functions/db.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import { createRunner } from '../../functions/jobs.ts'
import { createSeal } from '../../functions/seal.ts'
import { boxesOf } from '../../shared/geometry/geometry.ts'
import { generateKey, keyHash, keyPrefix } from '../../shared/key.ts'
import { migrate, setLoginPasswords } from '../postgres/migrate.ts'
import { startThrowawayPostgres } from '../postgres/throwaway.ts'
import { benchDeliveries, type Figure } from './bench-deliveries.ts'

const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000)
const ZONES = Number(process.env.BENCH_ZONES ?? 100_000)
const MATCHED = Number(process.env.BENCH_MATCHED ?? 50_000)
const SHIPS = Number(process.env.BENCH_SHIPS ?? 20_000)
/** Positions a second of all ships with AIS, and the zones that watch them. */
const WORLD_AIS = 3000
const SHIP_ZONES = 10_000
const ROUNDS = 5
const PASSWORD = 'bench'
const figures: Figure[] = []
const say = (text: string) => process.stderr.write(`${text}\n`)

const server = await startThrowawayPostgres()
try {
  await migrate(server.adminUrl)
  await setLoginPasswords(server.adminUrl, { api: PASSWORD, jobs: PASSWORD })
  const admin = new pg.Client({ connectionString: server.adminUrl })
  // If an error below stops the server under this connection, that error matters.
  admin.on('error', () => undefined)
  await admin.connect()
  const owner = await account(admin)
  await benchEvents(admin, owner)
  await benchPositions(admin)
  await benchMatching(admin)
  const { user_id } = await account(admin)
  await benchDeliveries({ admin, jobsUrl: loginUrl('watchpost_jobs'), owner: user_id, figure, say })
  await admin.end()
} finally {
  await server.stop()
}
report()

function loginUrl(role: string): string {
  const url = new URL(server.adminUrl)
  url.username = role
  url.password = PASSWORD
  return url.href
}

async function account(admin: pg.Client): Promise<{ user_id: string; key: string }> {
  const user_id = randomUUID()
  const key = generateKey()
  await admin.query('insert into auth.users (id, email) values ($1, $2)', [
    user_id,
    `${user_id}@watchpost.test`,
  ])
  await admin.query(`update watchpost.accounts set plan = 'enterprise' where user_id = $1`, [
    user_id,
  ])
  await admin.query(
    `insert into watchpost.api_keys (user_id, prefix, key_hash, scopes) values ($1, $2, $3, '{read,write}')`,
    [user_id, keyPrefix(key), await keyHash(key)],
  )
  return { user_id, key }
}

/**
 * Creates circular zones, evenly distributed over the sphere, with the boxes that the API
 * would store.
 */
async function seedZones(
  admin: pg.Client,
  owner: string,
  count: number,
  { radius_km = 300, types = null as string[] | null, min_severity = 40 } = {},
): Promise<void> {
  for (let from = 0; from < count; from += 5000) {
    const rows = Array.from({ length: Math.min(5000, count - from) }, () => {
      const lat = randomLatitude()
      const lon = Math.random() * 360 - 180
      const zone = { lat, lon, radius_km, shape_type: 'circle' as const, polygon: null }
      const boxes = boxesOf(zone).map((b) => `(${b.east},${b.north}),(${b.west},${b.south})`)
      return { lat, lon, boxes }
    })
    await admin.query(
      `insert into watchpost.zones (owner_id, label, lat, lon, radius_km, types, min_severity, boxes)
      select $1, 'bench', lat, lon, $3, $4, $5, boxes
      from jsonb_to_recordset($2) as x (lat float8, lon float8, boxes box[])`,
      [owner, JSON.stringify(rows), radius_km, types, min_severity],
    )
  }
}

async function benchEvents(
  admin: pg.Client,
  owner: { user_id: string; key: string },
): Promise<void> {
  say(`Seeding ${EVENTS.toLocaleString('en')} events and 100 zones …`)
  await source(admin, 'bench')
  await seedZones(admin, owner.user_id, 100)
  for (const [label, span] of [
    ['over 90 days', '90 days'],
    ['all within a day', '1 day'],
  ] as const) {
    await admin.query('truncate watchpost.events cascade')
    await admin.query(
      `insert into watchpost.events (id, source, type, title, lat, lon, ts, severity, status, extent)
      select 'bench:' || g, 'bench', 'earthquake', 'M 4.2 - bench', lat, lon,
        now() - random() * $2::interval, (random() * 100)::int, 'active', box(point(lon, lat))
      from (select g, degrees(asin(2 * random() - 1)) as lat, random() * 360 - 180 as lon
        from generate_series(1, $1::int) g) s`,
      [EVENTS, span],
    )
    await admin.query('vacuum analyze')
    for (const minutes of [60, 1440]) await timeEvents(owner, { label, minutes })
  }
  await admin.query('truncate watchpost.events cascade')
}

async function timeEvents(
  owner: { key: string },
  { label, minutes }: { label: string; minutes: number },
): Promise<void> {
  const client = new pg.Client({ connectionString: loginUrl('watchpost_api') })
  await client.connect()
  const hash = await keyHash(owner.key)
  const times: number[] = []
  for (let run = 0; run < 15; run += 1) {
    await client.query('begin read only')
    await client.query(
      `select set_config('request.jwt.claims', private.key_claims($1, $2, '{}'), true), set_config('role', 'authenticated', true)`,
      [hash, randomUUID()],
    )
    const plan = await client.query<{ 'QUERY PLAN': [{ 'Execution Time': number }] }>(
      `explain (analyze, format json) select * from private.events_near(
        null, now() - make_interval(mins => ${minutes}), now(), null, null, null, null, 100)`,
    )
    times.push(plan.rows[0]?.['QUERY PLAN'][0]['Execution Time'] ?? Number.NaN)
    await client.query('commit')
  }
  await client.end()
  const value = median(times)
  figure({
    name: `GET /events, 100 zones, ${EVENTS.toLocaleString('en')} events ${label}, last ${minutes} min`,
    value: `${value.toFixed(1)} ms in the database (median of 15)`,
    against: 'limit 50 ms',
    ratio: value / 50,
    good: value < 50,
  })
}

/**
 * Positions of ships from arrival to decision: stored, matched with zones of 50 km and thinned. First ships all over the
 * world, of which one in seven is inside a zone; then every ship inside one, as in a strait that everybody watches.
 */
async function benchPositions(admin: pg.Client): Promise<void> {
  const owner = await account(admin)
  say(`Seeding ${SHIP_ZONES.toLocaleString('en')} zones for ships …`)
  await admin.query('delete from watchpost.zones')
  await admin.query(`set session_replication_role = replica`)
  await seedZones(admin, owner.user_id, SHIP_ZONES, {
    radius_km: 50,
    types: ['vessel'],
    min_severity: 0,
  })
  await completeZones(admin)
  await admin.query(`set session_replication_role = default`)
  await source(admin, 'ships')
  await admin.query('vacuum analyze')
  const { rows: zones } = await admin.query<Place>('select lat, lon from watchpost.zones')
  const anywhere = () => ({ lat: randomLatitude(), lon: Math.random() * 360 - 180 })
  const inside = () => zones[Math.floor(Math.random() * zones.length)] ?? { lat: 0, lon: 0 }
  await timePositions('all over the world', anywhere)
  await timePositions('all of them inside zones', inside)
  // What follows must not look at their batches too.
  await admin.query('truncate watchpost.positions, watchpost.subjects, watchpost.batches cascade')
  await admin.query('delete from watchpost.zones')
}

type Place = { lat: number; lon: number }

/** Times ROUNDS positions of each ship, ten seconds apart; the first round, in which all stays begin, apart. */
async function timePositions(label: string, place: () => Place): Promise<void> {
  say(`Ships ${label} …`)
  const prefix = label.length
  const ships = Array.from({ length: SHIPS }, (_, index) => ({
    mmsi: 200_000_000 + prefix * 1_000_000 + index,
    ...place(),
  }))
  const db = createPool({ url: loginUrl('watchpost_jobs'), max: 4 })
  const lines: Record<string, unknown>[] = []
  const runner = benchRunner(db, lines)
  const start = Date.now() - ROUNDS * 10_000
  const round = (number: number) =>
    seconds(async () => {
      for (let from = 0; from < SHIPS; from += 1000) {
        const events = ships
          .slice(from, from + 1000)
          .map((ship) => position(ship, number, start + number * 10_000))
        await inTransaction(db, (sql) => ingestEvents(sql, 'ships', events))
      }
      await runner.drain({ budget_ms: 30 * 60_000 })
    })
  const first = await round(0)
  let later = 0
  for (let number = 1; number < ROUNDS; number += 1) later += await round(number)
  await db.end()
  const pairs = lines.reduce((sum, line) => sum + Number(line.pairs ?? 0), 0)
  const rate = (SHIPS * (ROUNDS - 1)) / later
  figure({
    name: `Positions of ${SHIPS.toLocaleString('en')} ships ${label}, stored, matched with ${SHIP_ZONES.toLocaleString('en')} zones and thinned (${pairs.toLocaleString('en')} pairs decided)`,
    value: `${perSecond(rate)} positions/s, ${perSecond(SHIPS / first)} while all stays begin`,
    against: `the world’s AIS, ${perSecond(WORLD_AIS)} positions/s`,
    ratio: rate / WORLD_AIS,
    good: rate >= WORLD_AIS,
  })
}

function position({ mmsi, lat, lon }: Place & { mmsi: number }, step: number, at: number) {
  return {
    id: `ships:${mmsi}:${Math.round(at / 1000)}`,
    source: 'ships',
    type: 'vessel' as const,
    title: `SHIP ${mmsi}`,
    // 15 knots northward: 77 m in ten seconds.
    lat: Math.min(lat + step * 0.0007, 90),
    lon,
    ts: new Date(at).toISOString(),
    severity: 0,
    subject: `mmsi:${mmsi}`,
    status: 'active' as const,
    url: null,
    geometry: null,
    ends_at: null,
    revised_at: null,
    aliases: [],
  }
}

/** Evenly distributed over the sphere. */
function randomLatitude(): number {
  return (Math.asin(2 * Math.random() - 1) * 180) / Math.PI
}

function benchRunner(db: Database, lines: Record<string, unknown>[]) {
  return createRunner({
    db,
    seal: createSeal([Buffer.alloc(32).toString('base64')]),
    send: async () => ({ ok: true, status: 200, headers: new Headers(), body: '', duration_ms: 0 }),
    allow: { ranges: [], names: new Set() },
    feeds: [],
    fetch,
    contact: undefined,
    public_url: null,
    log: (line) => void lines.push(line),
  })
}

/** Gives zones that were inserted without triggers what their triggers would have made, as of yesterday. */
async function completeZones(admin: pg.Client): Promise<void> {
  await admin.query(`insert into watchpost.zone_boxes (zone_id, part, box, min_severity, types)
    select z.id, b.part, b.box, private.min_event_severity(z), z.types
    from watchpost.zones z cross join lateral unnest(z.boxes) with ordinality as b (box, part)
    on conflict do nothing`)
  await admin.query(`select private.store_version(z, '{}', false) from watchpost.zones z
    where not exists (select from watchpost.zone_versions v where v.zone_id = z.id)`)
  await admin.query(`update watchpost.zone_versions set valid_from = now() - interval '1 day'`)
  await admin.query(`update watchpost.zones set updated_at = now() - interval '1 day'`)
}

async function benchMatching(admin: pg.Client): Promise<void> {
  const owner = await account(admin)
  say(`Seeding ${ZONES.toLocaleString('en')} zones …`)
  await admin.query(`set session_replication_role = replica`)
  await seedZones(admin, owner.user_id, ZONES)
  await completeZones(admin)
  await admin.query(`set session_replication_role = default`)
  await admin.query('vacuum analyze')

  say(`Storing ${MATCHED.toLocaleString('en')} events …`)
  const db = createPool({ url: loginUrl('watchpost_jobs'), max: 4 })
  const started = performance.now()
  for (let from = 0; from < MATCHED; from += 1000) {
    const events = Array.from({ length: Math.min(1000, MATCHED - from) }, (_, index) => ({
      id: `bench:m${from + index}`,
      source: 'bench',
      type: 'earthquake' as const,
      title: 'M 2.0 - bench',
      lat: randomLatitude(),
      lon: Math.random() * 360 - 180,
      ts: new Date().toISOString(),
      // One event in a hundred reaches the zones' threshold, as with the real feed.
      severity: index % 100 === 0 ? 60 : 8,
      subject: null,
      status: 'active' as const,
      url: null,
      geometry: null,
      ends_at: null,
      revised_at: null,
      aliases: [],
    }))
    await inTransaction(db, (sql) => ingestEvents(sql, 'bench', events))
  }
  const ingest = MATCHED / ((performance.now() - started) / 1000)
  await admin.query('vacuum analyze')

  say('Narrowing by a plain join …')
  const join = await seconds(() =>
    admin.query(
      `select count(*) from watchpost.event_revisions r join watchpost.zone_boxes b on b.box && r.extent`,
    ),
  )
  const plain = MATCHED / join
  const narrow = await seconds(() =>
    admin.query(
      `select count(c.id) from watchpost.batches b cross join lateral private.batch_candidates(array[b.id]) c`,
    ),
  )
  figure({
    name: 'Narrowing as matching does it (boxes, severity, filters, memory)',
    value: `${perSecond(MATCHED / narrow)} events/s`,
    against: `a plain join of the boxes, ${perSecond(plain)} events/s`,
    ratio: join / narrow,
    good: narrow <= join,
  })
  say('Matching …')
  const lines: Record<string, unknown>[] = []
  const runner = benchRunner(db, lines)
  const matching = await seconds(async () => {
    await runner.drain({ budget_ms: 30 * 60_000 })
  })
  const matched = MATCHED / matching
  const jobs = lines.filter((line) => line.queue === 'match')
  const sum = (key: string) => jobs.reduce((total, line) => total + Number(line[key] ?? 0), 0)
  await db.end()
  figure({
    name: `Storing events (1,000 a transaction)`,
    value: `${perSecond(ingest)} events/s`,
    against: `a plain join narrowing alone, ${perSecond(plain)} events/s`,
    ratio: ingest / plain,
    good: true,
  })
  figure({
    name: `Matching ${MATCHED.toLocaleString('en')} events against ${ZONES.toLocaleString('en')} zones (${sum('pairs').toLocaleString('en')} pairs decided, ${sum('alerts').toLocaleString('en')} alerts)`,
    value: `${perSecond(matched)} events/s, ${perSecond(sum('pairs') / matching)} pairs/s`,
    against: `a plain join narrowing alone, ${perSecond(plain)} events/s`,
    ratio: matched / plain,
    good: true,
  })
}

async function source(admin: pg.Client, name: string): Promise<void> {
  await admin.query(
    `insert into watchpost.sources (source, title, attribution, types, interval_seconds, enabled)
    values ($1, $1, 'bench', '{earthquake}', 60, false) on conflict do nothing`,
    [name],
  )
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function perSecond(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function figure(given: Figure): void {
  figures.push(given)
  say(`  ${given.name}: ${given.value} (${given.ratio.toFixed(2)} of ${given.against})`)
}

function report(): void {
  mkdirSync('dist', { recursive: true })
  writeFileSync('dist/bench.json', `${JSON.stringify(figures, null, 2)}\n`)
  for (const { name, value, against, ratio, good } of figures) {
    console.log(`${good ? 'ok ' : 'BAD'} ${name}\n    ${value}: ${ratio.toFixed(2)} of ${against}`)
  }
  if (figures.some((line) => !line.good)) process.exitCode = 1
}
