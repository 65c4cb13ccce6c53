import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { CHANNEL_KINDS, findKind } from '../../../functions/channels/kinds.ts'
import { sealReceiver } from '../../../functions/channels/sealed.ts'
import { createPool, inTransaction } from '../../../functions/db.ts'
import { ingestEvents } from '../../../functions/jobs/ingest.ts'
import { createSeal } from '../../../functions/seal.ts'
import { boxesOf } from '../../../shared/geometry/geometry.ts'
import { generateSecret } from '../../../shared/signing.ts'
import { quake } from '../../support/jobs.ts'
import { PROOF, PROOF_MS, progress, reportProof } from '../../support/proof.ts'
import {
  cloneTemplate,
  startTestServer,
  type TestDatabase,
} from '../../support/servers/database.ts'
import { type Received, receiver } from '../../support/servers/receiver.ts'
import type { Orders } from './fault-worker.ts'

/*
 * Receivers fail in every way, the dispatcher is killed again and again and the database restarts, while a clock of the
 * test's own lets days pass. In the end every alert has one outcome for every channel.
 */
const CHANNELS = PROOF ? 50 : 14
const EVENTS = PROOF ? 200 : 6
const KILLS = PROOF ? 5 : 2
const LONG_MS = PROOF ? PROOF_MS : 120_000
const WORKER = fileURLToPath(new URL('./fault-worker.ts', import.meta.url))
const SEAL_KEY = Buffer.alloc(32, 7).toString('base64')
const PLACE = { lat: 41, lon: 29 }

/** How receivers behave; the word is part of each target. */
const BEHAVIOURS = ['steady', 'flaky', 'busy', 'hangs', 'resets', 'steady', 'down'] as const

/** What somebody would enter for a channel of each kind, and how its service says that all is well. */
const SERVICES: Record<string, { target: (word: string) => string; ok: string; config?: object }> =
  {
    webhook: { target: (word) => `https://${word}.example.com/in`, ok: 'thanks' },
    slack: {
      target: (word) => `https://hooks.slack.com/services/T0/B0/${word.replace('-', '')}`,
      ok: 'ok',
    },
    discord: {
      target: (word) => `https://discord.com/api/webhooks/1/${word}`,
      ok: '{"id":"1234567890"}',
    },
  }
const KINDS = [...CHANNEL_KINDS.keys()].filter((kind) => kind in SERVICES)

const received: Received[] = []
const answered = new Map<string, number>()
let hooks: Awaited<ReturnType<typeof receiver>>
let database: TestDatabase
let stopServer = async () => {}
let admin: pg.Client
let worker: ChildProcess | undefined
let kills = 0

beforeAll(async () => {
  hooks = await receiver(answer)
  const own = PROOF ? await startTestServer() : undefined
  if (own) stopServer = own.stop
  database = await cloneTemplate(own ?? inject('server'))
  admin = await connect()
}, LONG_MS)

afterAll(async () => {
  worker?.kill('SIGKILL')
  hooks?.close()
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

/** The same message is the same `webhook-id`, or, where a service has none, the same body. */
const keyOf = ({ path, headers, body }: Received) => `${path} ${headers['webhook-id'] ?? body}`

function answer(response: ServerResponse, request: Received): void {
  received.push(request)
  const key = keyOf(request)
  const times = (answered.get(key) ?? 0) + 1
  answered.set(key, times)
  const service = KINDS.find((kind) => request.path.startsWith(pathOf(kind)))
  const ok = () => response.writeHead(200).end(SERVICES[service ?? 'webhook']?.ok)
  if (/down/.test(request.path)) return void response.writeHead(503).end()
  if (times > 1) return void ok()
  if (/flaky/.test(request.path)) return void response.writeHead(500).end()
  if (/busy/.test(request.path)) {
    return void response.writeHead(429, { 'retry-after': '2' }).end('{"retry_after":2}')
  }
  if (/resets/.test(request.path)) return void response.destroy()
  if (/hangs/.test(request.path)) return
  ok()
}

function pathOf(kind: string): string {
  const host = new URL(SERVICES[kind]?.target('x') ?? '').host
  return kind === 'webhook' ? '/never' : `/${host}/`
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
    const behaviour = BEHAVIOURS[Math.floor(nr / KINDS.length) % BEHAVIOURS.length]
    const found = findKind(kind)
    if ('issue' in found) throw new Error(found.issue.message)
    const target = SERVICES[kind]?.target(`${behaviour}-${nr}`) ?? ''
    const config = null
    const sealed = await sealReceiver(found.kind, { target, config }, seal)
    const secret = kind === 'webhook' ? await seal.seal(generateSecret()) : null
    const made = await admin.query(
      `insert into watchpost.channels (owner_id, kind, label, target_sealed, target_masked, signing_secret_sealed)
      values ($1, $2, $3, $4, $5, $6) returning id`,
      [owner, kind, `${behaviour} ${nr}`, sealed.target_sealed, sealed.target_masked, secret],
    )
    await admin.query(
      `insert into watchpost.zones (owner_id, label, lat, lon, radius_km, boxes, channel_ids)
      values ($1, $2, $3, $4, 50, $5, array[$6::uuid])`,
      [owner, `zone ${nr}`, PLACE.lat, PLACE.lon, boxes, made.rows[0].id],
    )
  }
}

function startWorker(): void {
  const orders: Orders = { jobsUrl: database.jobsUrl, port: hooks.port, seal_key: SEAL_KEY }
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
  if (PROOF && first) process.kill(first.pid, 'SIGKILL')
  else for (const { pid } of rows) await admin.query('select pg_terminate_backend($1)', [pid])
  if (!PROOF) return
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
    update pgboss.queue set monitor_on = null, monitor_claim_on = null`,
    [seconds],
  )

/** Lets time pass whenever nothing is to be done, until everything is done. */
async function runToTheEnd(): Promise<void> {
  const all = EVENTS * CHANNELS
  let quietSince = Date.now()
  let before = ''
  let is_broken = false
  for (;;) {
    if (kills < KILLS && received.length > ((kills + 1) * all) / (KILLS + 2)) {
      await killWorker()
      startWorker()
    }
    if (!is_broken && received.length > all / 2) {
      is_broken = true
      await breakDatabase()
    }
    const work = await workLeft()
    const now = JSON.stringify({ ...work, next_seconds: null, count: received.length })
    if (now !== before) quietSince = Date.now()
    before = now
    if (work.due === 0 && work.active === 0) {
      if (work.next_seconds === null) return
      await advance(work.next_seconds + 1)
    } else if (Date.now() - quietSince > 3000) {
      // What a killed process held is taken back when its lease is over.
      await advance(121)
      quietSince = Date.now()
    }
    progress(received.length, all, 'requests')
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
      if (status !== 'succeeded') expect(last_error).toMatch(/503|deadline/)
    }
    for (const row of ledger.filter(isDown)) expect(row.status).not.toBe('succeeded')

    // What counts as delivered was answered well, under the id that it always had.
    const { rows: sent } = await admin.query<{ id: string; status: string }>(
      `select d.id, d.status from watchpost.deliveries d join watchpost.channels c on c.id = d.channel_id
      where c.kind = 'webhook' and d.digest_id is null`,
    )
    const ids = new Map<string, number>()
    for (const { headers } of received) {
      const id = headers['webhook-id']
      if (typeof id === 'string') ids.set(id, (ids.get(id) ?? 0) + 1)
    }
    const known = new Set(sent.map(({ id }) => id))
    expect([...ids.keys()].filter((id) => !known.has(id))).toEqual([])
    for (const { id, status } of sent) if (status === 'succeeded') expect(ids.has(id)).toBe(true)
    const { rows: attempts } = await admin.query(
      'select count(*)::int as recorded from watchpost.delivery_attempts where status_code is not null or error is not null',
    )
    const duplicates = received.length - attempts[0].recorded
    // A process that dies has at most one request of each of its slots under way.
    expect(duplicates).toBeLessThanOrEqual(20 * (KILLS + 1))
    const { rows: left } = await admin.query(
      `select from pgboss.job where name = 'deliver' and state <> 'completed'`,
    )
    expect(left).toEqual([])
    reportProof('alerts to channels that fail', {
      alerts: EVENTS * CHANNELS,
      channels: CHANNELS,
      kinds: KINDS.join(' '),
      requests: received.length,
      kills,
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
