import { nodeSend } from '../../functions/channels/transport/send-node.ts'
import { parseAllowList } from '../../functions/channels/transport/target.ts'
import { createPool, type Database, inTransaction } from '../../functions/db.ts'
import { deliver } from '../../functions/jobs/deliver.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import { listen } from '../../functions/postgres/listen.ts'
import { postAlone, queueAlone } from './ceilings.ts'
import {
  CHANNELS,
  clearDeliveries,
  countUnsent,
  queueDeliveries,
  seedAlerts,
  seedChannels,
} from './delivery-ground.ts'
import { interleave, inWords, median, quantile, seconds } from './figure.ts'
import { connectJobs, createJobs, type Ground, type Place, quakeAt } from './ground.ts'
import { type Hooks, sharedNow, startHooks } from './hooks.ts'
import { cpuSecondsOf, cpuSecondsOfPostgres } from './programs.ts'

const SECONDS = Number(process.env.BENCH_SECONDS ?? 30)
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const COUNT = Number(process.env.BENCH_DELIVERIES ?? 5000)
const RATES = (process.env.BENCH_RATES ?? '10,100,1000').split(',').map(Number)
/** More than a machine can accept in time would only tell how long its backlog is. */
const MAX_EVENTS = 5000
/** A source stores one batch at a time: a feed that reports more events a second than this sends them together. */
const BATCHES_PER_SECOND = 100
/** Alerts a second that the limits are for. */
const LIMITED = 100
const LIMIT_MS = { p50: 50, p95: undefined, p99: 250 }
const SHARES = { p50: 0.5, p95: 0.95, p99: 0.99 }
const GOAL = 0.8
const SLOTS = deliver.slots
/** How late receivers elsewhere in the world answer. */
const LATE_MS = 200

type Load = { db: Database; places: Place[]; hooks: Hooks }

/** From the event to the receiver, and how many deliveries a second beside what pg-boss alone can do. */
export async function benchDeliveries(ground: Ground): Promise<void> {
  const { say } = ground
  const hooks = await startHooks()
  const load = { hooks, places: await seedChannels(ground, hooks), db: connectJobs(ground, 12) }
  try {
    for (const rate of RATES) {
      say(`${rate} alerts a second …`)
      await timeLatency(ground, load, rate)
    }
    await seedAlerts(ground, load.places, COUNT)
    say(`${ROUNDS} rounds of ${COUNT.toLocaleString('en')} deliveries …`)
    await timeThroughput(ground, load)
    say(`The same to receivers that answer after ${LATE_MS} ms …`)
    await timeLate(ground, load)
  } finally {
    await load.db.end()
    await hooks.stop()
  }
}

function jobsOf(db: Database) {
  const allow = parseAllowList('127.0.0.1')
  return createJobs(db, { allow, send: nodeSend({ allow }) })
}

async function timeLatency(ground: Ground, { db, places, hooks }: Load, rate: number) {
  await clearDeliveries(ground.admin)
  await hooks.forget()
  const accepted = new Map<string, number>()
  // As the process that accepts events has its own.
  const intake = createPool({
    url: ground.loginUrl('watchpost_jobs'),
    max: 4,
    connect_timeout_ms: 10 * 60_000,
  })
  const { wake, stop } = jobsOf(db).start()
  const listening = listen({ url: ground.loginUrl('watchpost_jobs'), wake, log: () => undefined })
  const began = performance.now()
  const ingesting: Promise<void>[] = []
  const batch = Math.ceil(rate / BATCHES_PER_SECOND)
  for (let nr = 0; nr < Math.min(rate * SECONDS, MAX_EVENTS); nr += batch) {
    const wait = began + (nr * 1000) / rate - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    const events = Array.from({ length: batch }, (_, index) =>
      quakeAt(
        `bench:latency-${rate}-${nr + index}`,
        places[(nr + index) % places.length] ?? { lat: 0, lon: 0 },
        60,
      ),
    )
    ingesting.push(
      inTransaction(intake, (sql) => ingestEvents(sql, 'bench', events)).then(() => {
        for (const { id } of events) accepted.set(id, sharedNow())
      }),
    )
  }
  await Promise.all(ingesting)
  const intake_rate = accepted.size / ((performance.now() - began) / 1000)
  const deadline = performance.now() + 120_000
  while ((await hooks.count()) < accepted.size && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await listening.stop()
  await stop()
  await intake.end()
  const arrived = new Map((await hooks.received()).map(({ event_id, at }) => [event_id, at]))
  const times = [...accepted].map(([id, at]) => (arrived.get(id) ?? Number.POSITIVE_INFINITY) - at)
  for (const name of ['p50', 'p95', 'p99'] as const) {
    const value = quantile(times, SHARES[name])
    const limit = rate === LIMITED ? LIMIT_MS[name] : undefined
    ground.figure({
      name: `Event accepted → webhook received, ${rate} alerts a second, ${name}`,
      value,
      unit: 'ms',
      against: limit ? `limit ${limit} ms` : 'the median',
      ratio: value / (limit ?? median(times)),
      goal: limit ? { at_most: 1 } : undefined,
      note: `${inWords(times.length)} events, accepted at ${inWords(intake_rate)} a second`,
    })
  }
}

/** The same number of jobs, slots and connections: with deliveries, with nothing to do, and with no queue at all. */
async function timeThroughput(ground: Ground, { db, hooks }: Load): Promise<void> {
  const { admin } = ground
  const counted = countStatements(db)
  const jobs = jobsOf(counted.db)
  const spent = { node: [] as number[], postgres: [] as number[] }
  let unsent = 0
  let payload = ''
  const measured = { count: COUNT, slots: SLOTS }
  let total = 0
  const rates = await interleave(ROUNDS, {
    deliveries: async () => {
      const count = await queueDeliveries(admin)
      total += count
      const before = await cpuNow(ground)
      const took = await seconds(() => jobs.drain({ budget_ms: 10 * 60_000 }))
      const after = await cpuNow(ground)
      spent.node.push(((after.node - before.node) * 1000) / count)
      spent.postgres.push(((after.postgres - before.postgres) * 1000) / count)
      unsent += await countUnsent(admin)
      const { rows } = await admin.query('select payload from watchpost.deliveries limit 1')
      payload = rows[0].payload
      return count / took
    },
    queue: () => queueAlone(db, admin, measured),
    posts: () => postAlone(hooks, payload, measured),
  })
  const { statements, transactions } = counted.counts()
  const each = (count: number) => inWords(count / total)
  ground.figure({
    name: `Deliveries: claimed, signed, sent, recorded (${inWords(COUNT)} to ${CHANNELS} channels)`,
    value: rates.deliveries,
    unit: 'deliveries/s',
    against: `pg-boss fetching and completing alone, ${inWords(rates.queue)} jobs/s`,
    ratio: rates.deliveries / rates.queue,
    goal: { at_least: GOAL },
    note: `${unsent} not sent; each ${each(statements)} statements in ${each(transactions)} transactions; CPU of each: Node ${inWords(median(spent.node))} ms, Postgres ${inWords(median(spent.postgres))} ms`,
  })
  ground.figure({
    name: 'Deliveries beside posting alone',
    value: rates.deliveries,
    unit: 'deliveries/s',
    against: `rendering, signing and posting with no queue and no database, ${inWords(rates.posts)}/s`,
    ratio: rates.deliveries / rates.posts,
  })
  const both = 1 / (1 / rates.queue + 1 / rates.posts)
  ground.figure({
    name: 'Deliveries beside the queue and the posts, one after the other',
    value: rates.deliveries,
    unit: 'deliveries/s',
    against: `the ceiling 1/(1/queue + 1/posts), ${inWords(both)}/s`,
    ratio: rates.deliveries / both,
  })
}

/** Receivers that take their time: what counts is how many of them are waited for at once. */
async function timeLate(ground: Ground, { db, hooks }: Load): Promise<void> {
  const jobs = jobsOf(db)
  await hooks.answerAfter(LATE_MS)
  let payload = ''
  const rates = await interleave(ROUNDS, {
    deliveries: async () => {
      const count = await queueDeliveries(ground.admin)
      const took = await seconds(() => jobs.drain({ budget_ms: 10 * 60_000 }))
      const { rows } = await ground.admin.query('select payload from watchpost.deliveries limit 1')
      payload = rows[0].payload
      return count / took
    },
    posts: () => postAlone(hooks, payload, { count: COUNT, slots: SLOTS }),
  })
  ground.figure({
    name: `Deliveries to receivers that answer after ${LATE_MS} ms`,
    value: rates.deliveries,
    unit: 'deliveries/s',
    against: `posting alone with as many requests at once (${SLOTS}), ${inWords(rates.posts)}/s`,
    ratio: rates.deliveries / rates.posts,
  })
}

async function cpuNow({ admin }: Ground): Promise<{ node: number; postgres: number }> {
  const { rows } = await admin.query<{ pid: number }>('select pg_backend_pid() as pid')
  return {
    node: cpuSecondsOf(process.pid) ?? Number.NaN,
    postgres: cpuSecondsOfPostgres(rows[0]?.pid ?? 0) ?? Number.NaN,
  }
}

/** The same database, with what is asked of it counted. */
function countStatements(db: Database) {
  const counts = { statements: 0, transactions: 0 }
  const counting: Database = {
    ...db,
    connect: async () => {
      const connection = await db.connect()
      return {
        ...connection,
        query: (text, values) => {
          if (text === 'begin') counts.transactions += 1
          else if (text !== 'commit' && text !== 'rollback') counts.statements += 1
          return connection.query(text, values)
        },
      }
    },
  }
  return { db: counting, counts: () => counts }
}
