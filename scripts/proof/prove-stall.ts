/**
 * Measures whether one account's requests delay another's: attacks a real server with its jobs, one
 * attack at a time, while a separate thread keeps requesting GET /me for somebody else.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import pg from 'pg'
import { request } from 'undici'
import { asOperator, createAccount } from '../postgres/accounts.ts'
import { startThrowawayPostgres } from '../postgres/throwaway.ts'
import { createAttacks, type Target } from './stall-attacks.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** How much longer than without the attack the slowest GET /me may take. */
export const MAX_DELAY_MS = 250
const QUIET_MS = 1_000
const PAUSE_MS = 5
/** Other processes may disturb a measurement; what an attack causes, it causes every time. */
const TRIES = 3
const READY_MS = 60_000
const REVISIONS = 200_000

export type Measured = {
  what: string
  delay_ms: number
  worst_ms: number
  quiet_ms: number
  seconds: number
  answers: string
}

/** proveStall measures every attack; with `only`, those whose name contains one of its texts. */
export async function proveStall(only: string[] = []): Promise<Measured[]> {
  const server = await startThrowawayPostgres()
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-stall-'))
  const service = startServer(server.adminUrl, folder)
  try {
    const url = await service.url
    const prober = new Worker(new URL(import.meta.url), {
      workerData: { url, key: await keyOf(server.adminUrl, 'somebody@watchpost.test') },
    })
    const target = await prepare(url, server.adminUrl)
    const measured: Measured[] = []
    for (const { name, run } of await createAttacks(target)) {
      if (only.length > 0 && !only.some((text) => name.includes(text))) continue
      const one = await measure(prober, name, run)
      console.log(
        `${name.padEnd(64)} +${one.delay_ms} ms (${one.quiet_ms} → ${one.worst_ms}), ${one.seconds} s: ${one.answers}`,
      )
      measured.push(one)
    }
    await prober.terminate()
    return measured
  } finally {
    await service.stop()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function measure(
  prober: Worker,
  what: string,
  attack: () => Promise<(number | string)[]>,
): Promise<Measured> {
  let best: Measured | undefined
  for (let attempt = 0; attempt < TRIES; attempt++) {
    await ask(prober)
    await new Promise((done) => setTimeout(done, QUIET_MS))
    const quiet = await ask(prober)
    const began = performance.now()
    const answers = await attack()
    const seconds = Math.round((performance.now() - began) / 10) / 100
    const worst = await ask(prober)
    const one = {
      what,
      delay_ms: Math.round(Math.max(0, worst - quiet)),
      worst_ms: Math.round(worst),
      quiet_ms: Math.round(quiet),
      seconds,
      answers: tally(answers),
    }
    if (!best || one.delay_ms < best.delay_ms) best = one
    if (best.delay_ms <= MAX_DELAY_MS) return best
  }
  if (!best) throw new Error('nothing was measured')
  return best
}

function tally(answers: (number | string)[]): string {
  const counts = new Map<number | string, number>()
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1)
  return [...counts].map(([answer, count]) => `${count} × ${answer}`).join(', ')
}

/** The slowest answer since the last call, including one that is still pending. */
async function ask(prober: Worker): Promise<number> {
  prober.postMessage('worst')
  const [worst] = await once(prober, 'message')
  return worst
}

/** The thread that requests GET /me, one after another, and remembers the slowest answer. */
async function probe({ url, key }: { url: string; key: string }): Promise<void> {
  let [worst, began] = [0, 0]
  parentPort?.on('message', () => {
    parentPort?.postMessage(Math.max(worst, began ? performance.now() - began : 0))
    worst = 0
    // The pending request counts from now on.
    if (began) began = performance.now()
  })
  for (;;) {
    began = performance.now()
    const { body } = await request(`${url}/api/v1/me`, {
      headers: { authorization: `Bearer ${key}` },
    })
    await body.text()
    worst = Math.max(worst, performance.now() - began)
    began = 0
    await new Promise((done) => setTimeout(done, PAUSE_MS))
  }
}

function startServer(adminUrl: string, folder: string) {
  const child = spawn(
    process.execPath,
    [
      join(ROOT, 'scripts/start.ts'),
      ...['--port', '0', '--database-url', adminUrl, '--data-dir', folder, '--feeds', 'none'],
    ],
    {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        LOG: 'json',
        // The rate limits would stop most attacks early; the server must cope without them.
        RATE_LIMIT_PRO: '1000000',
        RATE_LIMIT_ADDRESS: '1000000',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const url = new Promise<string>((done, fail) => {
    const late = setTimeout(() => fail(new Error('the server did not start')), READY_MS)
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (said.length > 100_000) return
      said += text
      const [, address] = /listening on (http:\S+?)"/.exec(said) ?? []
      if (!address) return
      clearTimeout(late)
      done(address)
    })
    child.once('exit', () => fail(new Error(`the server ended: ${said}`)))
  })
  const stop = async () => {
    if (child.exitCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  return { url, stop }
}

async function keyOf(adminUrl: string, email: string): Promise<string> {
  const { api_key } = await asOperator(adminUrl, (client) =>
    createAccount(client, {
      email,
      plan: 'pro',
      scopes: ['read', 'write', 'ingest'],
      key_name: 'Measuring',
    }),
  )
  return api_key
}

/**
 * An attacker's account, and a history for expensive previews: all events in one place within 90
 * days.
 */
async function prepare(url: string, adminUrl: string): Promise<Target> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  await client.query(
    `insert into watchpost.sources (source, title, attribution, types, interval_seconds, enabled)
    values ('proof', 'Proof', 'made up', array['earthquake'], 60, false) on conflict do nothing`,
  )
  await client.query(
    `insert into watchpost.event_revisions (event_id, revision, first_seen_at, source, type, title,
      lat, lon, ts, severity, status, extent)
    select 'proof:' || n, 1, now() - n * interval '38 seconds', 'proof', 'earthquake', 'M 5',
      10 + n % 10, 29 + n % 10, now() - n * interval '38 seconds', 50, 'active',
      box(point(29 + n % 10, 10 + n % 10), point(29 + n % 10, 10 + n % 10))
    from generate_series(1, $1) as n`,
    [REVISIONS - 1000],
  )
  await client.query(
    `insert into watchpost.events (id, source, type, title, lat, lon, ts, severity, status, extent)
    select 'proof:' || n, 'proof', 'earthquake', 'M 5', 10 + n % 10, 29 + n % 10,
      now() - n * interval '2 seconds', 50, 'active',
      box(point(29 + n % 10, 10 + n % 10), point(29 + n % 10, 10 + n % 10))
    from generate_series(1, 1000) as n`,
  )
  await client.query('analyze')
  await client.end()
  return { url, port: Number(new URL(url).port), key: await keyOf(adminUrl, 'many@watchpost.test') }
}

async function main(): Promise<void> {
  const measured = await proveStall(process.argv.slice(2))
  const slow = measured.filter(({ delay_ms }) => delay_ms > MAX_DELAY_MS)
  for (const { what, delay_ms } of slow) console.log(`TOO SLOW: ${what} +${delay_ms} ms`)
  if (slow.length > 0) process.exitCode = 1
}

if (!isMainThread && parentPort) await probe(workerData)
else if (import.meta.main) await main()
