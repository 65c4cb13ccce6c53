import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { findKind } from '../../../../functions/channels/kinds.ts'
import { sealReceiver } from '../../../../functions/channels/sealed.ts'
import { createPool, inTransaction } from '../../../../functions/db.ts'
import { deliver } from '../../../../functions/jobs/deliver.ts'
import { ingestEvents } from '../../../../functions/jobs/ingest.ts'
import { createSeal } from '../../../../functions/seal.ts'
import { boxesOf } from '../../../../shared/geometry/geometry.ts'
import { generateSecret } from '../../../../shared/signing.ts'
import { quake } from '../../../support/jobs.ts'
import { PROOF, PROOF_MS, progress, reportProof } from '../../../support/proof.ts'
import {
  cloneTemplate,
  startTestServer,
  type TestDatabase,
} from '../../../support/servers/database.ts'
import { BEHAVIOURS, HERE, KINDS, SERVICES, startServices, wordOf } from './fault-services.ts'
import type { Orders } from './fault-worker.ts'

/*
 * Receivers fail in every way, the dispatcher is killed again and again and the database restarts, while a clock of the
 * test's own lets days pass. In the end every alert has one outcome for every channel.
 */
const CHANNELS = PROOF ? 50 : 14
const EVENTS = PROOF ? 200 : 3
const KILLS = PROOF ? 5 : 2
const LONG_MS = PROOF ? PROOF_MS : 120_000
const WORKER = fileURLToPath(new URL('./fault-worker.ts', import.meta.url))
const SEAL_KEY = Buffer.alloc(32, 7).toString('base64')
const PLACE = { lat: 41, lon: 29 }

let services: Awaited<ReturnType<typeof startServices>>
let database: TestDatabase
let stopServer = async () => {}
let admin: pg.Client
let worker: ChildProcess | undefined
let kills = 0

beforeAll(async () => {
  services = await startServices()
  const own = PROOF ? await startTestServer() : undefined
  if (own) stopServer = own.stop
  database = await cloneTemplate(own ?? inject('server'))
  admin = await connect()
}, LONG_MS)

afterAll(async () => {
  worker?.kill('SIGKILL')
  await services?.close()
  await admin?.end()
  await database?.drop()
  await stopServer()
})

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.adminUrl })
  // The run ends its connection, too.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** One account whose every zone is at the same place and tells one channel; and a clock that can be set. */
async function setScene(): Promise<void> {
  await admin.query(`
    create table public.test_clock (ahead interval not null);
    insert into public.test_clock values ('0');
    create or replace function pgboss.job_now() returns timestamptz
    language sql stable security definer as 'select now() + ahead from public.test_clock'`)
  const owner = randomUUID()
  await admin.query(
    'insert into auth.users (id, email, email_confirmed_at) values ($1, $2, now())',
    [owner, 'faults@watchpost.test'],
  )
  await admin.query(`update watchpost.accounts set plan = 'enterprise' where user_id = $1`, [owner])
  await admin.query(
    `insert into watchpost.sources (source, title, attribution, types, interval_seconds, enabled, last_success_at)
    values ('test', 'test', 'a test', '{earthquake}', 60, false, now())`,
  )
  const boxes = boxesOf({ ...PLACE, radius_km: 50, shape_type: 'circle', polygon: null }).map(
    (box) => `(${box.east},${box.north}),(${box.west},${box.south})`,
  )
  const seal = createSeal([SEAL_KEY])
  for (let nr = 0; nr < CHANNELS; nr += 1) {
    const kind = KINDS[nr % KINDS.length] ?? ''
    const found = findKind(kind)
    const service = SERVICES[kind]
    if ('issue' in found || !service) throw new Error(`no service of the kind ${kind}`)
    const turn = ((nr % KINDS.length) + Math.floor(nr / KINDS.length)) % BEHAVIOURS.length
    const word = wordOf(BEHAVIOURS[turn] ?? 'steady', nr)
    const target = service.target(word, services.ports)
    // A broker is told who comes before it hears of a message.
    const config = kind === 'mqtt' ? { username: word, password: 'secret' } : service.config
    expect(found.kind.check({ target, config, allow: HERE })).toEqual([])
    const sealed = await sealReceiver(found.kind, { target, config: config ?? null }, seal)
    const secret = kind === 'webhook' ? await seal.seal(generateSecret()) : null
    const made = await admin.query(
      `insert into watchpost.channels (
        owner_id, kind, label, target_sealed, target_masked, config_sealed, config_masked, signing_secret_sealed, confirmed_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, now()) returning id`,
      [
        owner,
        kind,
        word,
        sealed.target_sealed,
        sealed.target_masked,
        sealed.config_sealed,
        sealed.config_masked,
        secret,
      ],
    )
    await admin.query(
      `insert into watchpost.zones (owner_id, label, lat, lon, radius_km, boxes, channel_ids)
      values ($1, $2, $3, $4, 50, $5, array[$6::uuid])`,
      [owner, `zone ${nr}`, PLACE.lat, PLACE.lon, boxes, made.rows[0].id],
    )
  }
}

function startWorker(): void {
  const orders: Orders = { jobsUrl: database.jobsUrl, ports: services.ports, seal_key: SEAL_KEY }
  worker = spawn(process.execPath, [WORKER, JSON.stringify(orders)], { stdio: 'inherit' })
}

async function killWorker(): Promise<void> {
  if (!worker) return
  const ended = once(worker, 'exit')
  worker.kill('SIGKILL')
  await ended
  kills += 1
}

/** In the proof the server dies and recovers; the server of all tests only loses the connections of this database. */
async function breakDatabase(): Promise<void> {
  const { rows } = await admin.query(
    `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and usename = 'watchpost_jobs'`,
  )
  const [first] = rows
  if (!PROOF || !first) {
    for (const { pid } of rows) await admin.query('select pg_terminate_backend($1)', [pid])
    return
  }
  // With one of its processes the server ends all connections, ours too, and recovers.
  const ended = new Promise((resolve) => admin.once('end', resolve))
  process.kill(first.pid, 'SIGKILL')
  await ended
  for (;;) {
    try {
      admin = await connect()
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

type Work = { due: number; active: number; next_seconds: number | null }
async function workLeft(): Promise<Work> {
  const { rows } = await admin.query(
    `select count(*) filter (where state < 'active' and start_after <= pgboss.job_now())::int as due,
      count(*) filter (where state = 'active')::int as active,
      extract(epoch from min(start_after) filter (where state < 'active') - pgboss.job_now())::float8 as next_seconds
    from pgboss.job where state <= 'active' and name in ('match', 'match_zone', 'deliver', 'release')`,
  )
  return rows[0]
}

const advance = (seconds: number) =>
  admin.query(
    `with set as (update public.test_clock set ahead = ahead + $1 * interval '1 second')
    update pgboss.queue set monitor_on = null, monitor_claim_on = null
    where name in (select name from pgboss.queue for update skip locked)`,
    [seconds],
  )

/** Lets time pass whenever nothing is to be done, until everything is done. */
async function runToTheEnd(): Promise<void> {
  const all = EVENTS * CHANNELS
  let quietSince = Date.now()
  let before = ''
  let is_broken = false
  let told = 0
  for (;;) {
    if (kills < KILLS && services.requests() > ((kills + 1) * all) / (KILLS + 2)) {
      await killWorker()
      startWorker()
    }
    if (!is_broken && services.requests() > all / 2) {
      is_broken = true
      await breakDatabase()
    }
    const work = await workLeft()
    const now = JSON.stringify({ ...work, next_seconds: null, count: services.requests() })
    if (now !== before) quietSince = Date.now()
    before = now
    if (work.due === 0 && work.active === 0) {
      if (work.next_seconds === null) return
      // When all has happened, only channels are left that never work: they retry until their deadlines, hours away.
      const least = is_broken && kills === KILLS ? 120 : 0
      await advance(Math.max(work.next_seconds + 1, least))
    } else if (Date.now() - quietSince > 3000) {
      // What a killed process held is taken back when its lease is over.
      await advance(121)
      quietSince = Date.now()
    }
    if (services.requests() >= told + all / 20) {
      told = services.requests()
      progress(told, all, 'requests')
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test(
  'every alert has one outcome for every channel, whatever fails',
  async () => {
    await setScene()
    const db = createPool({ url: database.jobsUrl, max: 2 })
    const events = Array.from({ length: EVENTS }, () => quake(PLACE))
    await inTransaction(db, (sql) => ingestEvents(sql, 'test', events))
    await db.end()
    startWorker()
    await runToTheEnd()
    worker?.kill('SIGKILL')
    expect(kills).toBe(KILLS)

    const { rows: ledger } = await admin.query<{
      label: string
      kind: string
      status: string
      last_error: string | null
      alerts: number
      bundled: number
    }>(
      `select c.label, c.kind, d.status, case when d.status <> 'succeeded' then d.last_error end as last_error,
        count(distinct d.alert_id)::int as alerts, count(d.digest_id)::int as bundled
      from watchpost.deliveries d join watchpost.channels c on c.id = d.channel_id
      where d.type = 'alert.raised' group by 1, 2, 3, 4`,
    )
    const sum = (rows: typeof ledger) => rows.reduce((total, { alerts }) => total + alerts, 0)
    // Each alert once for each channel, and each of them settled.
    expect(sum(ledger)).toBe(EVENTS * CHANNELS)
    const isDown = ({ label }: { label: string }) => label.startsWith('down')
    const open = ledger.filter(({ status }) => !['succeeded', 'failed', 'expired'].includes(status))
    expect(open).toEqual([])
    const well = ledger.filter((row) => !isDown(row))
    expect(well.filter(({ status }) => status === 'failed')).toEqual([])
    for (const { status, last_error } of ledger) {
      if (status !== 'succeeded') expect(last_error).toMatch(/503|deadline|not available/)
    }
    for (const row of ledger.filter(isDown)) expect(row.status).not.toBe('succeeded')

    // What counts as delivered was taken, under the id that it always had where its receiver is told one; nothing else was.
    const { rows: messages } = await admin.query<{ id: string; label: string }>(
      `select d.id, c.label from watchpost.deliveries d join watchpost.channels c on c.id = d.channel_id
      where d.digest_id is null and d.status = 'succeeded' order by 1`,
    )
    const { taken } = services
    const labels = Object.keys(Object.groupBy(messages, ({ label }) => label))
    expect(Object.keys(Object.groupBy(taken, ({ word }) => word)).sort()).toEqual(labels.sort())
    for (const label of labels) {
      const sent = messages.filter((message) => message.label === label).map(({ id }) => id)
      const got = taken.filter(({ word }) => word === label)
      const keys = [...new Set(got.map(({ id, key }) => id ?? key))].sort()
      if (got[0]?.id) expect(keys, label).toEqual(sent)
      else expect(keys.length, label).toBe(sent.length)
    }
    const duplicates = taken.length - messages.length
    // A process that dies, or loses its database, has at most one request of each of its slots under way.
    expect(duplicates).toBeLessThanOrEqual(deliver.slots * (KILLS + 1))
    const { rows: left } = await admin.query(
      `select from pgboss.job where name = 'deliver' and state <> 'completed'`,
    )
    expect(left).toEqual([])
    reportProof('alerts to channels that fail', {
      alerts: EVENTS * CHANNELS,
      channels: CHANNELS,
      kinds: KINDS.join(' '),
      requests: services.requests(),
      kills,
      restarts: PROOF ? 1 : 0,
      messages: messages.length,
      duplicates,
      bundled: ledger.reduce((total, { bundled }) => total + bundled, 0),
      ...Object.fromEntries(
        ['succeeded', 'failed', 'expired'].map((status) => [
          status,
          sum(ledger.filter((row) => row.status === status)),
        ]),
      ),
    })
  },
  LONG_MS,
)
