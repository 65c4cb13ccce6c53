import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPgbouncer } from '../../tests/support/servers/pgbouncer.ts'
import { findPort } from '../postgres/port.ts'
import {
  clearDeliveries,
  countUnsent,
  queueDeliveries,
  seedAlerts,
  seedChannels,
} from './delivery-ground.ts'
import { interleave, inWords } from './figure.ts'
import { createAccount, type Ground, SEAL_KEY } from './ground.ts'
import { type Hooks, startHooks } from './hooks.ts'
import { findProgram, loadWithWrk, type Server, startServer } from './programs.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const COUNT = Number(process.env.BENCH_DELIVERIES ?? 5000)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 2)
const JOB_PROCESSES = [1, 2, 4]
const API_PROCESSES = [1, 2]
const REQUESTS = 16
const UNLIMITED = '100000000'
const PATIENCE_MS = 3 * 60_000
const ROOT = resolve(import.meta.dirname, '../..')

/** What more processes do: each delivery is still sent once, and how much sooner all are. */
export async function benchScaleOut(ground: Ground): Promise<void> {
  const hooks = await startHooks()
  try {
    await seedAlerts(ground, await seedChannels(ground, hooks), COUNT)
    const jobs_url = ground.loginUrl('watchpost_jobs')
    await drainAll(ground, hooks, { name: 'directly', jobs_url })
    if (findProgram('pgbouncer', ['/usr/sbin'])) {
      const pooler = await startPgbouncer([jobs_url], { pool_size: 10 })
      await drainAll(ground, hooks, {
        name: 'behind pgbouncer in transaction mode',
        jobs_url: pooler.urlOf(jobs_url),
      }).finally(pooler.stop)
    } else {
      ground.leaveOut('job processes behind pgbouncer', 'Install pgbouncer (Debian: pgbouncer).')
    }
    await askAll(ground)
    ground.leaveOut(
      'reads from a streaming replica',
      'Watchpost has no setting for one: each process reads where it writes.',
    )
  } finally {
    await hooks.stop()
  }
}

type Way = { name: string; jobs_url: string }

/** Deliveries a second of one process, of two and of four, and whether one was sent twice. */
async function drainAll(ground: Ground, hooks: Hooks, { name, jobs_url }: Way): Promise<void> {
  const sent = { doubled: 0, missing: 0 }
  const rates = await interleave(
    ROUNDS,
    Object.fromEntries(
      JOB_PROCESSES.map((processes) => [
        `${processes}`,
        () => drainOnce(ground, hooks, { processes, jobs_url, sent }),
      ]),
    ),
  )
  const alone = rates[`${JOB_PROCESSES[0]}`] ?? Number.NaN
  for (const processes of JOB_PROCESSES) {
    const rate = rates[`${processes}`] ?? Number.NaN
    ground.figure({
      name: `${processes} job ${processes === 1 ? 'process' : 'processes'} ${name}`,
      value: rate,
      unit: 'deliveries/s',
      against: `one process, ${inWords(alone)}/s`,
      ratio: rate / alone,
    })
  }
  ground.figure({
    name: `Deliveries sent twice or never ${name}`,
    value: sent.doubled + sent.missing,
    unit: 'deliveries',
    against: 'none',
    ratio: sent.doubled + sent.missing,
    goal: { at_most: 0 },
    note: `${sent.doubled} twice, ${sent.missing} never, by so many processes: ${JOB_PROCESSES.join(', ')}`,
  })
}

type Drain = {
  processes: number
  jobs_url: string
  sent: { doubled: number; missing: number }
}

/** Empties a queue by so many processes that run already; deliveries a second between the first and the last. */
async function drainOnce(
  ground: Ground,
  hooks: Hooks,
  { processes, jobs_url, sent }: Drain,
): Promise<number> {
  const { admin } = ground
  await clearDeliveries(admin)
  await hooks.forget()
  const running = await Promise.all(
    Array.from({ length: processes }, () => startJobs(ground, jobs_url)),
  )
  let queued = 0
  try {
    queued = await queueDeliveries(admin)
    const deadline = performance.now() + PATIENCE_MS
    while ((await countUnsent(admin)) > 0 && performance.now() < deadline) await sleep(100)
  } finally {
    await Promise.all(running.map(({ stop }) => stop()))
  }
  const received = await hooks.received()
  const times = received.map(({ at }) => at)
  sent.doubled += received.filter(({ times }) => times > 1).length
  sent.missing += queued - received.length
  return (received.length * 1000) / (Math.max(...times) - Math.min(...times))
}

const settings = {
  SEAL_KEYS: SEAL_KEY,
  FEEDS: 'none',
  ALLOW_PRIVATE_TARGETS: '127.0.0.1',
}

function startJobs(ground: Ground, jobs_url: string): Promise<Server> {
  return startServer(process.execPath, [resolve(ROOT, 'functions/node.ts'), 'jobs'], {
    cwd: ROOT,
    ready: /running the jobs/,
    env: {
      ...settings,
      JOBS_DATABASE_URL: jobs_url,
      // A pooler in transaction mode passes no notifications on.
      LISTEN_DATABASE_URL: ground.loginUrl('watchpost_jobs'),
    },
  })
}

/** Requests a second of one process of the API and of two, half of the connections to each. */
async function askAll(ground: Ground): Promise<void> {
  const wrk = findProgram('wrk')
  if (!wrk) return ground.leaveOut('processes of the API', 'Install wrk (Debian: wrk).')
  const { key } = await createAccount(ground.admin)
  const servers = await Promise.all(API_PROCESSES.map(() => startApi(ground)))
  try {
    const ask = async (asked: Server[]) => {
      const rates = await Promise.all(
        asked.map(({ url }) =>
          loadWithWrk(wrk, {
            url: `${url}/api/v1/me`,
            headers: { Authorization: `Bearer ${key}` },
            connections: REQUESTS / asked.length,
            seconds: SECONDS,
          }),
        ),
      )
      return rates.reduce((sum, rate) => sum + rate, 0)
    }
    const { one, two } = await interleave(ROUNDS, {
      one: () => ask(servers.slice(0, 1)),
      two: () => ask(servers),
    })
    for (const [name, rate] of [
      ['1 process', one],
      ['2 processes', two],
    ] as const) {
      ground.figure({
        name: `${name} of the API, GET /me, ${REQUESTS} connections`,
        value: rate,
        unit: 'requests/s',
        against: `one process, ${inWords(one)}/s`,
        ratio: rate / one,
      })
    }
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()))
  }
}

async function startApi(ground: Ground): Promise<Server> {
  const port = await findPort({ host: '127.0.0.1', port: 0 })
  return startServer(process.execPath, [resolve(ROOT, 'functions/node.ts')], {
    cwd: ROOT,
    env: {
      ...settings,
      PORT: String(port),
      API_DATABASE_URL: ground.loginUrl('watchpost_api'),
      JOBS_DATABASE_URL: ground.loginUrl('watchpost_jobs'),
      RATE_LIMIT_ENTERPRISE: UNLIMITED,
      RATE_LIMIT_ADDRESS: UNLIMITED,
    },
  })
}
