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
      const worst: number[] = []
      for (let round = 0; round < ROUNDS; round += 1) {
        worst.push(await longestTask(browser, { url: `${link.origin}/${path}`, session, sign }))
      }
      const value = quantile(worst, 0.5)
      figure({
        name: `${name}: the longest task of the main thread`,
        value,
        unit: 'ms',
        against: `a limit of ${MAX_TASK_MS} ms`,
        ratio: value / MAX_TASK_MS,
        goal: { at_most: 1 },
        note: `${EVENTS} events, ${ZONES} zones, drawn without a graphics card; ${worst.join(', ')}`,
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

/** The longest task in ms while a page loads, shows its data and rests; below 50 ms none is told, so 50. */
async function longestTask(
  browser: Browser,
  { url, session, sign }: { url: string; session: string; sign: string },
): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  try {
    await context.addInitScript((text) => {
      localStorage.setItem('watchpost.session', text)
      const tasks: number[] = []
      Object.assign(window, { tasks })
      const watch = new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) tasks.push(duration)
      })
      watch.observe({ type: 'longtask', buffered: true })
    }, session)
    const page = await context.newPage()
    await page.goto(url)
    await page.locator(sign).first().waitFor({ timeout: 60_000 })
    await page.waitForTimeout(WATCHED_MS)
    const tasks = await page.evaluate((): number[] => Reflect.get(window, 'tasks'))
    return Math.round(Math.max(50, ...tasks))
  } finally {
    await context.close()
  }
}
