import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import pg from 'pg'
import { createPool, inTransaction } from '../../functions/db.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import { createRunner } from '../../functions/jobs.ts'
import { createSeal } from '../../functions/seal.ts'
import { boxesOf } from '../../shared/geometry/geometry.ts'
import { generateKey, keyHash, keyPrefix } from '../../shared/key.ts'
import { migrate, setLoginPasswords } from '../postgres/migrate.ts'
import { startThrowawayPostgres } from '../postgres/throwaway.ts'

/**
 * One line of the table: a figure, and its ratio to a limit or to another figure of the same run.
 */
type Figure = { name: string; value: string; against: string; ratio: number; good: boolean }

const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000)
const ZONES = Number(process.env.BENCH_ZONES ?? 100_000)
const MATCHED = Number(process.env.BENCH_MATCHED ?? 50_000)
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
  await benchMatching(admin)
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
 * Creates circular zones of 300 km, evenly distributed over the sphere, with the boxes that the API
 * would store.
 */
async function seedZones(admin: pg.Client, owner: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 5000) {
    const rows = Array.from({ length: Math.min(5000, count - from) }, () => {
      const lat = (Math.asin(2 * Math.random() - 1) * 180) / Math.PI
      const lon = Math.random() * 360 - 180
      const zone = { lat, lon, radius_km: 300, shape_type: 'circle' as const, polygon: null }
      const boxes = boxesOf(zone).map((b) => `(${b.east},${b.north}),(${b.west},${b.south})`)
      return { lat, lon, boxes }
    })
    await admin.query(
      `insert into watchpost.zones (owner_id, label, lat, lon, radius_km, min_severity, boxes)
      select $1, 'bench', lat, lon, 300, 40, boxes
      from jsonb_to_recordset($2) as x (lat float8, lon float8, boxes box[])`,
      [owner, JSON.stringify(rows)],
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

async function benchMatching(admin: pg.Client): Promise<void> {
  const owner = await account(admin)
  say(`Seeding ${ZONES.toLocaleString('en')} zones …`)
  await admin.query(`set session_replication_role = replica`)
  await seedZones(admin, owner.user_id, ZONES)
  await admin.query(`insert into watchpost.zone_boxes (zone_id, part, box, min_severity)
    select z.id, b.part, b.box, private.min_event_severity(z) from watchpost.zones z cross join lateral unnest(z.boxes) with ordinality as b (box, part)
    on conflict do nothing`)
  await admin.query(`select private.store_version(z, false) from watchpost.zones z
    where not exists (select from watchpost.zone_versions v where v.zone_id = z.id)`)
  await admin.query(`update watchpost.zone_versions set valid_from = now() - interval '1 day'`)
  await admin.query(`update watchpost.zones set updated_at = now() - interval '1 day'`)
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
      lat: (Math.asin(2 * Math.random() - 1) * 180) / Math.PI,
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
      `select count(c.id) from watchpost.batches b cross join lateral private.batch_candidates(b.id) c`,
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
  const runner = createRunner({
    db,
    seal: createSeal([Buffer.alloc(32).toString('base64')]),
    send: async () => ({ ok: true, status: 200, headers: new Headers(), body: '', duration_ms: 0 }),
    allow: { ranges: [], names: new Set() },
    feeds: [],
    fetch,
    contact: undefined,
    log: (line) => void lines.push(line),
  })
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
