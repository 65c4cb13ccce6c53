import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { type Browser, chromium } from 'playwright-core'
import { buildWeb } from '../build/build-web.ts'
import { findDatabase } from '../postgres/find-database.ts'
import { fillEvents } from './events.ts'
import { quantile } from './figure.ts'
import { createSource, type Ground, seedZones } from './ground.ts'
import { startServer } from './programs.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const EVENTS = Number(process.env.BENCH_EVENTS ?? 20_000)
const ZONES = Number(process.env.BENCH_ZONES ?? 5_000)
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
/** How long the main thread may be held up before a page feels stuck. */
const MAX_TASK_MS = 200
/** How long a page is watched after its data has come. */
const WATCHED_MS = 6_000
const LAUNCH = [
  '--no-sandbox',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
]

/** The pages that grow with the data, and what says that they are there. */
const PAGES = [
  ['The map', '#/', 'section[data-ready=true]'],
  ['The list of zones', '#/zones', 'a[href^="#/zones/"]'],
  ['A new zone beside the list', '#/zones/new', 'section[data-ready=true]'],
] as const

/** How long the console holds up the main thread of a browser when there is much to show. */
export async function benchConsole({ say, figure, leaveOut }: Ground): Promise<void> {
  const executablePath = process.env.CHROMIUM || '/usr/bin/chromium'
  if (!existsSync(executablePath)) {
    return leaveOut('The console', `there is no ${executablePath}: sh scripts/chromium.sh`)
  }
  await buildWeb('console')
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-bench-console-'))
  const args = ['scripts/start.ts', '--port', '0', '--data-dir', folder, '--feeds', 'usgs']
  const server = await startServer(process.execPath, args, {
    cwd: ROOT,
    ready: /(http:\S+\/sign-in#\S+)/,
  })
  const browser = await chromium.launch({ executablePath, args: LAUNCH })
  try {
    say(`Seeding ${EVENTS} events and ${ZONES} zones …`)
    await fill(folder)
    const link = new URL(server.url)
    const session = await fetch(`${link.origin}/auth/v1/verify`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token_hash: link.hash.slice(1), type: 'magiclink' }),
    }).then((answer) => answer.text())
    for (const [name, path, sign] of PAGES) {
      const rounds: Task[][] = []
      for (let round = 0; round < ROUNDS; round += 1) {
        rounds.push(await longTasks(browser, { url: `${link.origin}/${path}`, session, sign }))
      }
      const worst = (of: (task: Task) => number) =>
        rounds.map((tasks) => Math.round(Math.max(MIN_TASK_MS, ...tasks.map(of))))
      const own = worst(({ whole, waiting }) => whole - waiting)
      const value = quantile(own, 0.5)
      figure({
        name: `${name}: the longest task of the main thread, without waiting for the drawing process`,
        value,
        unit: 'ms',
        against: `a limit of ${MAX_TASK_MS} ms`,
        ratio: value / MAX_TASK_MS,
        goal: { at_most: 1 },
        note: `${EVENTS} events, ${ZONES} zones; ${own.join(', ')}`,
      })
      const whole = worst((task) => task.whole)
      const all = quantile(whole, 0.5)
      figure({
        name: `${name}: the same with it`,
        value: all,
        unit: 'ms',
        against: `a limit of ${MAX_TASK_MS} ms`,
        ratio: all / MAX_TASK_MS,
        note:
          `drawn without a graphics card: programs are compiled and run by this machine's processors, ` +
          `while the page waits; ${whole.join(', ')}`,
      })
    }
  } finally {
    await browser.close()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function fill(data_dir: string): Promise<void> {
  const database = await findDatabase({ dataDir: data_dir, databaseUrl: undefined })
  const admin = new pg.Client({ connectionString: database.adminUrl })
  await admin.connect()
  try {
    await createSource(admin, 'bench')
    await fillEvents(admin, EVENTS, '1 day')
    const { rows } = await admin.query<{ user_id: string }>(
      'select user_id from watchpost.accounts limit 1',
    )
    await seedZones(admin, rows[0]?.user_id ?? '', ZONES)
  } finally {
    await admin.end()
    await database.close()
  }
}

/** A task of the main thread in ms, and how much of it was waiting for the process that draws. */
type Task = { whole: number; waiting: number }
/** An event of Chromium's trace; times in µs. */
type Traced = {
  name: string
  ph: string
  pid: number
  tid: number
  ts: number
  dur?: number
  args?: { name?: string; data?: { url?: string } }
}

/** Tasks shorter than this are no long ones. */
const MIN_TASK_MS = 50
/** What the main thread calls to wait until the drawing process has answered. */
const WAITS =
  /^(ImplementationBase::WaitForCmd|CommandBufferHelper::Finish|CommandBufferProxyImpl|GpuChannelHost)/
const TASK = /RunTask$/

/** The long tasks while a page loads, shows its data and rests. */
async function longTasks(
  browser: Browser,
  { url, session, sign }: { url: string; session: string; sign: string },
): Promise<Task[]> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const tracing = await browser.newBrowserCDPSession()
  const events: Traced[] = []
  tracing.on('Tracing.dataCollected', ({ value }) => {
    for (const event of value) events.push(event as unknown as Traced) // safe: the format of Chromium's traces
  })
  try {
    await context.addInitScript((text) => localStorage.setItem('watchpost.session', text), session)
    const page = await context.newPage()
    await tracing.send('Tracing.start', {
      transferMode: 'ReportEvents',
      traceConfig: { includedCategories: ['toplevel', 'gpu', 'devtools.timeline'] },
    })
    await page.goto(url)
    await page.locator(sign).first().waitFor({ timeout: 60_000 })
    await page.waitForTimeout(WATCHED_MS)
    const done = new Promise((resolve) => tracing.once('Tracing.tracingComplete', resolve))
    await tracing.send('Tracing.end')
    await done
    return tasksIn(events, new URL(url).origin)
  } finally {
    await tracing.detach()
    await context.close()
  }
}

/** The long tasks of the main thread of the page of an origin: the browser has pages of its own in a trace. */
export function tasksIn(events: readonly Traced[], origin: string): Task[] {
  const asking = events.filter(
    ({ name, args }) =>
      name === 'ResourceSendRequest' && args?.data?.url?.startsWith(`${origin}/`) === true,
  )
  const pages = new Set(asking.map(({ pid }) => pid))
  const threads = new Set(
    events
      .filter(
        ({ name, pid, args }) =>
          args?.name === 'CrRendererMain' && name === 'thread_name' && pages.has(pid),
      )
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const whole = events.filter(({ ph, pid, tid }) => ph === 'X' && threads.has(`${pid} ${tid}`))
  const waits = whole.filter(({ name }) => WAITS.test(name)).toSorted((a, b) => a.ts - b.ts)
  return whole.flatMap((task) => {
    const dur = task.dur ?? 0
    if (!TASK.test(task.name) || dur < MIN_TASK_MS * 1000) return []
    let [waiting, until] = [0, task.ts]
    for (const { pid, tid, ts, dur: length = 0 } of waits) {
      if (pid !== task.pid || tid !== task.tid || ts < task.ts || ts > task.ts + dur) continue
      // Waits are nested.
      waiting += Math.max(0, ts + length - Math.max(ts, until))
      until = Math.max(until, ts + length)
    }
    return [{ whole: dur / 1000, waiting: waiting / 1000 }]
  })
}
