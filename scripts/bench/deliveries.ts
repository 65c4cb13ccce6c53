import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import type pg from 'pg'
import { PgBoss } from 'pg-boss'
import { nodeSend } from '../../functions/channels/transport/send-node.ts'
import { parseAllowList } from '../../functions/channels/transport/target.ts'
import { createPool, type Database, inTransaction } from '../../functions/db.ts'
import { deliver } from '../../functions/jobs/deliver.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import { listen } from '../../functions/listen.ts'
import { createSeal } from '../../functions/seal.ts'
import { generateSecret } from '../../shared/signing.ts'
import { inWords, median, quantile } from './figure.ts'
import {
  boxesOfCircle,
  connectJobs,
  createAccount,
  createJobs,
  createSource,
  type Ground,
  type Place,
  quakeAt,
  SEAL_KEY,
} from './ground.ts'

const RATE = 100
const SECONDS = Number(process.env.BENCH_SECONDS ?? 30)
/** Ten messages each, which the pace of a webhook lets out at once. */
const CHANNELS = 500
const LIMIT_MS = { p50: 50, p99: 250 }
const SLOTS = deliver.slots

/** From the event to the receiver, and how many deliveries a second beside what pg-boss alone can do. */
export async function benchDeliveries(ground: Ground): Promise<void> {
  const { admin, say } = ground
  await createSource(admin, 'bench')
  const arrived = new Map<string, number>()
  const hooks = createServer(async (request, response) => {
    let body = ''
    for await (const part of request.setEncoding('utf8')) body += part
    response.end('ok')
    const id = /"event_id":"([^"]+)"/.exec(body)?.[1] ?? randomUUID()
    if (!arrived.has(id)) arrived.set(id, performance.now())
  })
  await new Promise<void>((ready) => hooks.listen(0, '127.0.0.1', ready))
  // safe: a server that listens on TCP has an address with a port
  const { port } = hooks.address() as AddressInfo
  const places = await seed(ground, port)
  const db = connectJobs(ground, 12)
  say(`${RATE} alerts a second for ${SECONDS} seconds …`)
  await timeLatency(ground, { db, places, arrived })
  say(`Sending ${(CHANNELS * 10).toLocaleString('en')} deliveries …`)
  await timeThroughput(ground, db)
  await db.end()
  hooks.closeAllConnections()
  hooks.close()
}

const placeOf = (nr: number): Place => ({
  lat: -60 + 3 * (nr % 40),
  lon: -170 + 8 * Math.floor(nr / 40),
})

/** A zone for each channel, far from all others. */
async function seed({ admin }: Ground, port: number): Promise<Place[]> {
  const { user_id } = await createAccount(admin)
  const seal = createSeal([SEAL_KEY])
  const [target, secret] = [
    await seal.seal(`http://127.0.0.1:${port}/hook`),
    await seal.seal(generateSecret()),
  ]
  const places = Array.from({ length: CHANNELS }, (_, nr) => placeOf(nr))
  await admin.query(`set session_replication_role = replica`)
  const rows = places.map((place) => ({
    ...place,
    id: randomUUID(),
    boxes: boxesOfCircle(place, 50),
  }))
  await admin.query(
    `insert into watchpost.channels (id, owner_id, kind, target_sealed, target_masked, signing_secret_sealed)
    select id, $1, 'webhook', $3, 'masked', $4 from jsonb_to_recordset($2) as x (id uuid)`,
    [user_id, JSON.stringify(rows), target, secret],
  )
  await admin.query(`set session_replication_role = default`)
  await admin.query(
    `insert into watchpost.zones (owner_id, label, lat, lon, radius_km, boxes, channel_ids)
    select $1, 'bench', lat, lon, 50, boxes, array[id]
    from jsonb_to_recordset($2) as x (id uuid, lat float8, lon float8, boxes box[])`,
    [user_id, JSON.stringify(rows)],
  )
  await admin.query(`delete from pgboss.job where name in ('match', 'match_zone', 'deliver')`)
  await admin.query('vacuum analyze')
  return places
}

function jobsOf(db: Database) {
  const allow = parseAllowList('127.0.0.1')
  return createJobs(db, { allow, send: nodeSend({ allow }) })
}

type Load = { db: Database; places: Place[]; arrived: Map<string, number> }

async function timeLatency(ground: Ground, { db, places, arrived }: Load): Promise<void> {
  const accepted = new Map<string, number>()
  // As the process that accepts events has its own.
  const intake = createPool({
    url: ground.loginUrl('watchpost_jobs'),
    max: 4,
    connect_timeout_ms: 60_000,
  })
  const { wake, stop } = jobsOf(db).start()
  const listening = listen({ url: ground.loginUrl('watchpost_jobs'), wake, log: () => undefined })
  const began = performance.now()
  const ingesting: Promise<void>[] = []
  for (let nr = 0; nr < RATE * SECONDS; nr += 1) {
    const due = began + (nr * 1000) / RATE
    const wait = due - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    const id = `bench:latency-${nr}`
    const event = quakeAt(id, places[nr % places.length] ?? { lat: 0, lon: 0 }, 60)
    ingesting.push(
      inTransaction(intake, (sql) => ingestEvents(sql, 'bench', [event])).then(() => {
        accepted.set(id, performance.now())
      }),
    )
  }
  await Promise.all(ingesting)
  const deadline = performance.now() + 60_000
  const missing = () => [...accepted.keys()].filter((id) => !arrived.has(id)).length
  while (missing() > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await listening.stop()
  await stop()
  await intake.end()
  const times = [...accepted].map(([id, at]) => (arrived.get(id) ?? Number.POSITIVE_INFINITY) - at)
  for (const [name, share, limit] of [
    ['p50', 0.5, LIMIT_MS.p50],
    ['p95', 0.95, undefined],
    ['p99', 0.99, LIMIT_MS.p99],
  ] as const) {
    const value = quantile(times, share)
    ground.figure({
      name: `Event accepted → webhook received, ${RATE} alerts a second, ${name}`,
      value,
      unit: 'ms',
      against: limit ? `limit ${limit} ms` : 'the median',
      ratio: value / (limit ?? median(times)),
      goal: limit ? { at_most: 1 } : undefined,
      note: `${inWords(times.length)} events`,
    })
  }
}

/** The same number of jobs, slots and connections, once with deliveries and once with nothing to do. */
async function timeThroughput(ground: Ground, db: Database): Promise<void> {
  const { admin } = ground
  await admin.query(`
    delete from watchpost.deliveries;
    truncate watchpost.rate_limits;
    delete from pgboss.job where name = 'deliver'`)
  await admin.query(
    `with made as (
      insert into watchpost.deliveries (alert_id, channel_id, type, sequence)
      select a.id, z.channel_ids[1], 'alert.raised', n
      from watchpost.zones z
      join lateral (select id from watchpost.alerts where zone_id = z.id limit 1) a on true
      cross join generate_series(1, 10) n
      order by n, z.id
      returning id, channel_id)
    select count(private.enqueue_delivery(id, channel_id)) from made`,
  )
  const { rows } = await admin.query(
    `select count(*)::int as count from pgboss.job where name = 'deliver'`,
  )
  const count: number = rows[0].count
  // Ten messages about one alert: their order is not what is measured.
  await admin.query('update watchpost.deliveries set sequence = 0, redelivery_of = id')
  await admin.query('vacuum analyze')
  const began = performance.now()
  await jobsOf(db).drain({ budget_ms: 10 * 60_000 })
  const delivered = count / ((performance.now() - began) / 1000)
  const { rows: left } = await admin.query(
    `select count(*)::int as count from watchpost.deliveries where status <> 'succeeded'`,
  )
  const ceiling = await bossCeiling(db, admin, count)
  ground.figure({
    name: `Deliveries: claimed, signed, sent, recorded (${inWords(count)} to ${CHANNELS} channels)`,
    value: delivered,
    unit: 'deliveries/s',
    against: `pg-boss fetching and completing alone, ${inWords(ceiling)} jobs/s`,
    ratio: delivered / ceiling,
    goal: { at_least: 0.8 },
    note: `${left[0].count} not sent`,
  })
}

/** How many jobs a second pg-boss fetches and completes one by one, as the runner does, with nothing in between. */
async function bossCeiling(db: Database, admin: pg.Client, count: number): Promise<number> {
  await admin.query(
    `select private.enqueue('deliver', gen_random_uuid(), '{}', null, 'group-' || n % ${CHANNELS})
    from generate_series(1, $1::int) n`,
    [count],
  )
  await admin.query('vacuum analyze')
  const boss = new PgBoss({
    db: {
      executeSql: async (text: string, values?: unknown[]) => {
        const connection = await db.connect()
        try {
          return await connection.query(text, values)
        } finally {
          connection.release()
        }
      },
    },
    schema: 'pgboss',
    migrate: false,
    supervise: false,
    schedule: false,
  })
  boss.on('error', () => undefined)
  const began = performance.now()
  let done = 0
  const running = new Set<Promise<void>>()
  for (;;) {
    const jobs = await boss.fetch('deliver', {
      batchSize: SLOTS - running.size,
      groupConcurrency: 1,
    })
    for (const job of jobs) {
      const run = boss.complete('deliver', job).then(() => {
        done += 1
        running.delete(run)
      })
      running.add(run)
    }
    if (running.size === 0) break
    if (jobs.length === 0 || running.size >= SLOTS) await Promise.race(running)
  }
  return done / ((performance.now() - began) / 1000)
}
