import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { inTransaction } from '../../functions/db.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import { createSeal } from '../../functions/seal.ts'
import { generateSecret } from '../../shared/signing.ts'
import { inWords } from './figure.ts'
import {
  type Account,
  connectJobs,
  createAccounts,
  createSource,
  type Ground,
  insertZones,
  type Place,
  quakeAt,
  SEAL_KEY,
} from './ground.ts'

const SIZES = (process.env.BENCH_BURST ?? '1000,10000,100000').split(',').map(Number)
const ACCOUNTS = 1000
export const RADIUS_KM = 300
/** How far apart the crowds of zones are, in degrees of longitude: no event is in two of them. */
const APART_DEG = 40
const LIMITS = { first_s: 1, stored_s: 10, memory_mb: 100 }
const POLL_MS = 20
const GIVE_UP_MS = 10 * 60_000

type Hook = { at: number; path: string }
type Times = { first: number; stored: number; last: number }

/**
 * One event inside many zones of 1,000 accounts, matched and told by a process of the jobs: how long after it was accepted
 * the first webhook arrives, all alerts are stored, and the last webhook arrives; and how much memory that takes.
 */
export async function benchBurst(ground: Ground): Promise<void> {
  const { admin, say } = ground
  await switchOnVacuum(admin)
  await createSource(admin, 'bench')
  const hooks: Hook[] = []
  const server = createServer((request, response) => {
    hooks.push({ at: performance.now(), path: request.url ?? '' })
    request.resume()
    response.end('ok')
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  // safe: a server that listens on TCP has an address with a port
  const { port } = server.address() as AddressInfo
  const owners = await createOwners(admin, port)
  for (const [nr, size] of SIZES.entries()) {
    say(`Creating ${size.toLocaleString('en')} zones …`)
    const place = { lat: 10, lon: -160 + nr * APART_DEG }
    await insertZones(
      admin,
      Array.from({ length: size }, (_, index) => ({
        ...near(place),
        radius_km: RADIUS_KM,
        owner_id: owners[index % ACCOUNTS]?.user_id ?? '',
      })),
    )
    await admin.query('vacuum analyze')
    await timeBurst(ground, { size, place, hooks })
  }
  server.closeAllConnections()
  server.close()
}

/**
 * As every installation has it: a burst leaves so many dead rows behind that the queue is read ever more slowly without.
 */
export async function switchOnVacuum(admin: pg.Client): Promise<void> {
  await admin.query('alter system set autovacuum = on')
  await admin.query('select pg_reload_conf()')
}

/** A place within about 150 km: its zone of 300 km holds the one that is given. */
export const near = ({ lat, lon }: Place): Place => ({
  lat: lat + 2 * Math.random() - 1,
  lon: lon + 2 * Math.random() - 1,
})

/** 1,000 accounts of the Enterprise plan, each with a webhook at a port of this machine. */
export async function createOwners(admin: pg.Client, port: number): Promise<Account[]> {
  const seal = createSeal([SEAL_KEY])
  const owners = await createAccounts(admin, ACCOUNTS)
  await admin.query(`update watchpost.accounts set plan = 'enterprise'`)
  await admin.query(`set session_replication_role = replica`)
  await admin.query(
    `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked, signing_secret_sealed)
    select id, 'webhook', $2, 'masked', $3 from unnest($1::uuid[]) as u (id)`,
    [
      owners.map(({ user_id }) => user_id),
      await seal.seal(`http://127.0.0.1:${port}/hook`),
      await seal.seal(generateSecret()),
    ],
  )
  await admin.query(`set session_replication_role = default`)
  return owners
}

async function timeBurst(
  ground: Ground,
  { size, place, hooks }: { size: number; place: Place; hooks: Hook[] },
): Promise<void> {
  const zones = size.toLocaleString('en')
  const jobs = await startJobs(ground)
  const before_mb = await peakMemory_mb(jobs)
  const id = `bench:burst-${size}`
  hooks.length = 0
  const times = await timeEvent(ground, id, place, hooks)
  const after_mb = await peakMemory_mb(jobs)
  await stop(jobs)
  const { rows } = await ground.admin.query(
    `select count(*)::int as alerts, (
      select count(*)::int from watchpost.deliveries d join watchpost.alerts a on a.id = d.alert_id
      where a.event_id = $1 and d.status = 'succeeded') as told
    from watchpost.alerts where event_id = $1`,
    [id],
  )
  if (rows[0].alerts !== size) throw new Error(`${rows[0].alerts} alerts of ${size} were stored`)
  const note = `${inWords(rows[0].alerts)} alerts of ${inWords(ACCOUNTS)} accounts, ${inWords(rows[0].told)} messages told in ${inWords(hooks.length)} webhooks`
  const isLargest = size === Math.max(...SIZES)
  const of = (name: string, value: number, limit: number) =>
    ground.figure({
      name: `One event inside ${zones} zones: ${name}`,
      value,
      unit: 's',
      against: `the limit of ${limit} s`,
      ratio: value / limit,
      ...(isLargest ? { goal: { at_most: 1 } } : {}),
      note,
      along: { chart: `One event inside many zones: ${name}`, at: zones },
    })
  of('first webhook', times.first, LIMITS.first_s)
  of('all alerts stored', times.stored, LIMITS.stored_s)
  ground.figure({
    name: `One event inside ${zones} zones: last webhook`,
    value: times.last,
    unit: 's',
    against: 'the time in which all alerts were stored',
    ratio: times.last / times.stored,
    note,
  })
  if (before_mb === undefined || after_mb === undefined) {
    ground.leaveOut(`the memory of ${zones} zones`, 'Only Linux tells the peak of another process.')
    return
  }
  ground.figure({
    name: `One event inside ${zones} zones: memory of the jobs beyond that at rest`,
    value: after_mb - before_mb,
    unit: 'MB',
    against: `the limit of ${LIMITS.memory_mb} MB`,
    ratio: (after_mb - before_mb) / LIMITS.memory_mb,
    note: `${inWords(before_mb)} MB at rest`,
    ...(isLargest ? { goal: { at_most: 1 } } : {}),
  })
}

/** Seconds from when the event was accepted. */
async function timeEvent(ground: Ground, id: string, place: Place, hooks: Hook[]): Promise<Times> {
  const db = connectJobs(ground, 2)
  await inTransaction(db, (sql) => ingestEvents(sql, 'bench', [quakeAt(id, place, 60)]))
  const began = performance.now()
  await db.end()
  const since = (at: number) => (at - began) / 1000
  const isOver = async (text: string) => {
    const { rows } = await ground.admin.query<{ is_over: boolean }>(
      `select not exists (${text}) as is_over`,
    )
    return rows[0]?.is_over === true
  }
  const until = async (text: string) => {
    while (!(await isOver(text))) {
      if (performance.now() - began > GIVE_UP_MS) throw new Error(`still there: ${text}`)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    return since(performance.now())
  }
  const stored = await until('select from watchpost.batches where matched_at is null')
  ground.say(`  all alerts stored after ${inWords(stored)} s …`)
  await until(
    `select from watchpost.deliveries where status in ('queued', 'sending') and digest_id is null`,
  )
  // Few alerts may all be stored before the first webhook arrives, so it is looked up when all are sent.
  return {
    first: since(hooks[0]?.at ?? Number.NaN),
    stored,
    last: since(hooks.at(-1)?.at ?? Number.NaN),
  }
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What `npm run jobs` gives to Node. */
async function jobsArguments(): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(`${ROOT}/package.json`, 'utf8'))
  return scripts.jobs.replace(/^.* exec node /, '').split(' ')
}

/** The jobs as a process of their own, as `npm run jobs` starts them; ready when all zones are in its memory. */
async function startJobs({ loginUrl }: Ground): Promise<ChildProcess> {
  const child = spawn(process.execPath, await jobsArguments(), {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      JOBS_DATABASE_URL: loginUrl('watchpost_jobs'),
      SEAL_KEYS: SEAL_KEY,
      ALLOW_PRIVATE_TARGETS: '127.0.0.1',
      FEEDS: '',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise<void>((ready, fail) => {
    child.stdout?.on('data', (text) => {
      if (String(text).includes('zones in memory')) ready()
    })
    child.once('exit', (code) => fail(new Error(`the jobs ended with ${code}`)))
  })
  // Until it listens and all its loops sleep.
  await new Promise((resolve) => setTimeout(resolve, 3000))
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  child.removeAllListeners('exit')
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await gone
}

/** The most memory that a process has had, as Linux counts it. */
async function peakMemory_mb({ pid }: ChildProcess): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kb = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]
  return kb === undefined ? undefined : Number(kb) / 1024
}
