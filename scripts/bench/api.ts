import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type pg from 'pg'
import { toRow } from '../../functions/api/zones/zone-rows.ts'
import { inTransaction } from '../../functions/db.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import { keyHash } from '../../shared/key.ts'
import { ZoneCreate, zoneDefaults } from '../../shared/schemas/zone.ts'
import { findPort } from '../postgres/port.ts'
import { interleave, inWords, median } from './figure.ts'
import { createFrozen, type Frozen } from './frozen.ts'
import {
  type Account,
  connectJobs,
  createAccount,
  createJobs,
  createSource,
  type Ground,
  quakeAt,
  SEAL_KEY,
  seedZones,
} from './ground.ts'
import {
  cpuSecondsOf,
  cpuSecondsOfPostgres,
  findProgram,
  loadWithPgbench,
  loadWithWrk,
  type Server,
  startServer,
} from './programs.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 2)
/** Hono and pgbench do nothing but the same again: a second of each tells as much as several. */
const CEILING_SECONDS = Math.min(SECONDS, 1)
const CONNECTIONS = (process.env.BENCH_CONNECTIONS ?? '1,16,64').split(',').map(Number)
/** Of connections that a process of the API opens to its database. */
const POOL = 10
const ROOT = resolve(import.meta.dirname, '../..')
/**
 * With many, the statements of that day spend most of their time on the coverage of each zone, which lowers the ceiling
 * of GET /zones?limit=1 to half.
 */
const FEEDS = Number(process.env.BENCH_FEEDS ?? 1)
const UNLIMITED = 100_000_000
const ADDRESS = '127.0.0.1'
/** The goal is for many requests at once: one at a time, both sides mostly wait for each other. */
const GOAL_AT = 16
const NEW_ZONE = { label: 'made', lat: 10, lon: 20, radius_km: 100 }
const ONLY = process.env.BENCH_ROUTES?.split(',')
/** What is asked besides at numbers of connections that no goal is for: a small answer and a large one. */
const ONLY_ELSEWHERE = ONLY ?? ['zones-1', 'zones-100']

type Case = {
  name: string
  method?: 'POST'
  path: string
  /** The file in statements/ with what the route asks of the database, and its own variables. */
  script: string
  variables?: Record<string, string>
  goal?: number
}
const CASES: Case[] = [
  {
    name: 'zones-1',
    path: '/zones?limit=1',
    script: 'zones',
    variables: { rows: '2' },
    goal: 0.75,
  },
  {
    name: 'zones-100',
    path: '/zones?limit=100',
    script: 'zones',
    variables: { rows: '101' },
    goal: 0.75,
  },
  { name: 'events', path: '/events', script: 'events' },
  { name: 'alerts', path: '/alerts', script: 'alerts' },
  { name: 'me', path: '/me', script: 'me' },
  { name: 'create-zone', method: 'POST', path: '/zones', script: 'create-zone' },
].filter(({ name }) => ONLY?.includes(name) ?? true) as Case[]

type Programs = { wrk: string; pgbench: string; folder: string }
type Cpu = { api: number[]; postgres: number[] }

/**
 * Requests a second beside the ceiling 1/(1/h + 1/p) of the same run: h is Hono answering as many bytes that never
 * change, p is pgbench running the statements of the route, as they were when `statements/` was written.
 */
export async function benchApi(ground: Ground): Promise<void> {
  const wrk = findProgram('wrk')
  const pgbench = findProgram('pgbench', ['/usr/lib/postgresql/*/bin'])
  if (!wrk || !pgbench) {
    const missing = wrk ? 'pgbench (Debian: postgresql)' : 'wrk (Debian: wrk)'
    return ground.leaveOut('requests a second', `Install ${missing} and put it on the PATH.`)
  }
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-bench-'))
  const account = await seed(ground)
  const frozen = await createFrozen(ground)
  const constant = await startServer(
    process.execPath,
    [join(import.meta.dirname, 'constant-server.ts')],
    { cwd: folder },
  )
  const api = await startApi(ground, folder)
  try {
    for (const connections of CONNECTIONS) {
      await measure(
        ground,
        { wrk, pgbench, folder },
        {
          ...{ account, frozen, constant, api, connections },
        },
      )
    }
  } finally {
    await frozen.admin.end()
    await api.stop()
    await constant.stop()
    await rm(folder, { recursive: true })
  }
}

/** An account with 100 zones, and an earthquake in each that has alerted. */
async function seed(ground: Ground): Promise<Account> {
  const { admin } = ground
  // As on a server of its own: the row of a busy budget has thousands of versions a minute.
  await admin.query('alter system set autovacuum = on')
  await admin.query('select pg_reload_conf()')
  const account = await createAccount(admin)
  // In good health for as long as this takes.
  for (let nr = 0; nr < FEEDS; nr += 1)
    await createSource(admin, nr === 0 ? 'bench' : `bench-${nr}`)
  await admin.query(
    `update watchpost.sources set enabled = true, last_success_at = now() + interval '1 day'`,
  )
  await seedZones(admin, account.user_id, 100)
  const { rows } = await admin.query<{ lat: number; lon: number }>(
    'select lat, lon from watchpost.zones',
  )
  const db = connectJobs(ground, 4)
  const events = rows.map((place, nr) => quakeAt(`bench:${nr}`, place, 60))
  await inTransaction(db, (sql) => ingestEvents(sql, 'bench', events))
  await createJobs(db).drain({ budget_ms: 60_000 })
  await db.end()
  await admin.query('vacuum analyze')
  return account
}

/** The service as `npm start` runs it: the API and the jobs in one process of Node. */
export async function startApi(
  ground: Ground,
  folder: string,
  more: Record<string, string> = {},
): Promise<Server> {
  const port = await findPort({ host: ADDRESS, port: 0 })
  return startServer(process.execPath, [join(ROOT, 'functions/node.ts')], {
    cwd: folder,
    env: {
      PORT: String(port),
      API_DATABASE_URL: ground.loginUrl('watchpost_api'),
      JOBS_DATABASE_URL: ground.loginUrl('watchpost_jobs'),
      SEAL_KEYS: SEAL_KEY,
      FEEDS: 'none',
      RATE_LIMIT_ENTERPRISE: String(UNLIMITED),
      RATE_LIMIT_ADDRESS: String(UNLIMITED),
      ...more,
    },
  })
}

type Subject = {
  account: Account
  frozen: Frozen
  constant: Server
  api: Server
  connections: number
}

async function measure(
  ground: Ground,
  { wrk, pgbench, folder }: Programs,
  { account, frozen, constant, api, connections }: Subject,
): Promise<void> {
  ground.say(`${connections} ${connections === 1 ? 'connection' : 'connections'} …`)
  const cases = CASES.filter(({ name }) => connections === GOAL_AT || ONLY_ELSEWHERE.includes(name))
  const headers = { Authorization: `Bearer ${account.key}` }
  const load = { connections, seconds: CEILING_SECONDS }
  const script = join(folder, 'create-zone.lua')
  await writeFile(script, luaOf(NEW_ZONE))
  const shared = await variablesOf(ground, account)
  const askDatabase = (name: string, variables: Record<string, string> = {}) =>
    loadWithPgbench(pgbench, {
      ...load,
      // As many as the API opens: what exceeds them waits in the process.
      connections: Math.min(connections, POOL),
      database: frozen.api_url,
      script: join(import.meta.dirname, `statements/${name}.sql`),
      variables: { ...shared, ...variables },
    })
  const works: Record<string, () => Promise<number>> = { check: () => askDatabase('check') }
  const asked: typeof works = {}
  const cpu = new Map<string, Cpu>()
  for (const { name, method, path, script: statements, variables } of cases) {
    const url = `${api.url}/api/v1${path}`
    const bytes = await sizeOf(url, headers, method)
    const lua = method ? script : undefined
    const spent: Cpu = { api: [], postgres: [] }
    cpu.set(name, spent)
    works[`hono ${name}`] = () =>
      loadWithWrk(wrk, { ...load, url: `${constant.url}/${bytes}`, headers, script: lua })
    works[`pgbench ${name}`] = async () => {
      const rate = await askDatabase(statements, variables)
      await forgetMade([ground.admin, frozen.admin])
      return rate
    }
    const ask = (seconds: number) =>
      loadWithWrk(wrk, { ...load, seconds, url, headers, script: lua })
    asked[`api ${name}`] = async () => {
      // Idle connections were closed since the last round, which ends with the routes, one after the other.
      if (name === cases[0]?.name) await ask(1)
      const before = await spentBy(ground, api)
      const rate = await ask(SECONDS)
      const after = await spentBy(ground, api)
      spent.api.push(((after.api - before.api) / (rate * SECONDS)) * 1000)
      spent.postgres.push(((after.postgres - before.postgres) / (rate * SECONDS)) * 1000)
      await forgetMade([ground.admin, frozen.admin])
      return rate
    }
  }
  Object.assign(works, asked)
  const rates = await interleave(ROUNDS, works)
  const rateOf = (work: string) => rates[work] ?? Number.NaN
  for (const { name, method = 'GET', path, goal } of cases) {
    const hono = rateOf(`hono ${name}`)
    const postgres = 1 / (1 / rateOf('check') + 1 / rateOf(`pgbench ${name}`))
    const ceiling = 1 / (1 / hono + 1 / postgres)
    const spent = cpu.get(name)
    ground.figure({
      name: `${method} ${path}, ${connections} ${connections === 1 ? 'connection' : 'connections'}, Node`,
      value: rateOf(`api ${name}`),
      unit: 'requests/s',
      against: `the ceiling ${inWords(ceiling)}/s (Hono alone ${inWords(hono)}/s, pgbench ${inWords(postgres)}/s)`,
      ratio: rateOf(`api ${name}`) / ceiling,
      goal: goal !== undefined && connections === GOAL_AT ? { at_least: goal } : undefined,
      note: `CPU a request: Node ${inWords(median(spent?.api ?? []))} ms, Postgres ${inWords(median(spent?.postgres ?? []))} ms`,
    })
  }
}

/** A script for `wrk` that sends this as JSON. */
function luaOf(body: object): string {
  return `wrk.method = 'POST'
wrk.body = '${JSON.stringify(body)}'
wrk.headers['Content-Type'] = 'application/json'
`
}

async function sizeOf(
  url: string,
  headers: Record<string, string>,
  method: 'POST' | undefined,
): Promise<number> {
  const answer = await fetch(
    url,
    method
      ? {
          method,
          headers: { ...headers, 'Content-Type': 'application/json' },
          body: JSON.stringify(NEW_ZONE),
        }
      : { headers },
  )
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`)
  return Buffer.byteLength(text)
}

/** Removes the zones that a round has made, and the jobs that came with them. */
async function forgetMade(databases: pg.Client[]): Promise<void> {
  for (const database of databases) {
    await database.query('delete from watchpost.zones where label = $1', [NEW_ZONE.label])
    await database.query(`delete from pgboss.job where name = 'match_zone'`)
  }
}

async function spentBy({ admin }: Ground, api: Server) {
  const { rows } = await admin.query<{ pid: number }>('select pg_backend_pid() as pid')
  return {
    api: cpuSecondsOf(api.pid) ?? Number.NaN,
    postgres: cpuSecondsOfPostgres(rows[0]?.pid ?? 0) ?? Number.NaN,
  }
}

/** The variables of statements/, as the API would send them. */
async function variablesOf({ admin }: Ground, { key }: Account): Promise<Record<string, string>> {
  const { rows } = await admin.query<{ events: string; times: string; zones: string }>(`
    select (array_agg(id order by ts desc))::text as events, (array_agg(ts order by ts desc))::text as times,
      (select array_agg(id)::text from watchpost.zones where label = 'bench') as zones
    from (select id, ts from watchpost.events order by ts desc limit 100) e`)
  return {
    key_hash: `\\x${Buffer.from(await keyHash(key)).toString('hex')}`,
    address: ADDRESS,
    request_id: randomUUID(),
    limits: JSON.stringify({ pro: UNLIMITED, enterprise: UNLIMITED, address: UNLIMITED }),
    context: JSON.stringify({ ip: ADDRESS, user_agent: null, via: 'api' }),
    event_ids: rows[0]?.events ?? '{}',
    times: rows[0]?.times ?? '{}',
    zone_ids: rows[0]?.zones ?? '{}',
    zone: toRow(zoneDefaults(ZoneCreate.parse(NEW_ZONE))),
  }
}
