/**
 * `npm run pictures`: starts the demo and saves a picture of each page of the console, and of the operator page,
 * in docs/console. Names of pictures as arguments: only those.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { type Browser, chromium, type Page } from 'playwright-core'
import sharp from 'sharp'
import { z } from 'zod'
import { fastTempFolder } from '../postgres/throwaway.ts'
import { runMain } from '../start/arguments.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const OUT = join(ROOT, 'docs/console')
const DESKTOP = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }
const COLOURS = 128
/** A page that has asked and drawn nothing for so long is complete. The demo tells of events each second. */
const RESTED_MS = 300
/** Maps are drawn without a graphics card, which takes seconds, and on a busy machine minutes. */
const DRAWN_MS = 180_000
const WEBGL = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']

type Look = { theme?: 'light' | 'dark'; language?: 'en' | 'tr'; viewport?: typeof DESKTOP }
/** The name of the picture, the path after #, the look, and what is done before. */
type Shot = [name: string, path: string, look?: Look, before?: (page: Page) => Promise<unknown>]

const LIGHT = { theme: 'light' } as const
const TURKISH = { theme: 'light', language: 'tr', viewport: PHONE } as const

const press = (name: string) => async (page: Page) => page.getByText(name).first().click()

/** Presses a part of the form and brings it to the top of what is seen. */
const unfold = (name: string) => async (page: Page) => {
  await press(name)(page)
  await page
    .getByText(name)
    .first()
    .evaluate((part) => part.scrollIntoView())
}

/** A night that is quiet, and who is told if nobody acknowledges an alert. */
async function fillRules(page: Page) {
  await press('Add quiet window')(page)
  await press('Add step')(page)
  await page
    .getByText('Quiet hours')
    .first()
    .evaluate((part) => part.scrollIntoView())
}

type Ids = { channel: string; zone: string; alert: string; event: string }

const shotsOf = (ids: Ids): Shot[] => [
  ['map', '/'],
  ['globe', '/?look=globe&window=week', LIGHT],
  ['event', `/?event=${ids.event}`],
  ['alerts', '/alerts', LIGHT],
  ['alert', `/alerts/${ids.alert}`],
  ['evidence', `/alerts/${ids.alert}/evidence`, LIGHT],
  ['evidence-check', '/evidence'],
  ['zones', '/zones', LIGHT],
  ['zone', `/zones/${ids.zone}`, LIGHT],
  ['zone-rules', `/zones/${ids.zone}`, {}, unfold('More rules')],
  ['zone-quiet', `/zones/${ids.zone}`, LIGHT, fillRules],
  ['zone-new', '/zones/new'],
  ['import', '/zones/import', LIGHT],
  ['channels', '/channels/new'],
  ['channel', `/channels/${ids.channel}`, LIGHT, press('Send a test')],
  ['analytics', '/reports'],
  ['audit', '/reports/audit', LIGHT],
  ['status', '/reports/status'],
  ['account', '/account'],
  ['keys', '/account/keys', LIGHT],
  ['organisations', '/account/orgs'],
  ['phone-alerts', '/alerts', TURKISH],
  ['phone-channel', `/channels/${ids.channel}`, TURKISH],
]

/** The pages of operators, and the look of each. */
const OPERATOR_SHOTS: Shot[] = [
  ['operator-health', '/'],
  ['operator-feeds', '/feeds', LIGHT],
  ['operator-queues', '/queues'],
  ['operator-jobs', '/jobs', LIGHT],
  ['operator-accounts', '/accounts'],
  ['operator-acts', '/acts', LIGHT],
  ['operator-phone', '/feeds', TURKISH],
]

async function main(): Promise<void> {
  const wanted = process.argv.slice(2)
  const isWanted = ([name]: Shot) => wanted.length === 0 || wanted.includes(name)
  const folder = await mkdtemp(join(await fastTempFolder(), 'watchpost-pictures-'))
  // As root, the database server runs as another user, who must be able to enter.
  await chmod(folder, 0o711)
  const receiver = createServer((_, answer) => answer.end('thank you'))
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const address = receiver.address()
  const target = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/alerts`
  const data = join(folder, 'data')
  const demo = ['scripts/start.ts', '--replay', '--port', '0', '--data-dir', data]
  const child = spawn(process.execPath, demo, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const executablePath = process.env.CHROMIUM || '/usr/bin/chromium'
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', ...WEBGL] })
  try {
    const { origin, token, key } = await printed(child.stdout)
    const session = await fetch(`${origin}/auth/v1/verify`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token_hash: token, type: 'magiclink' }),
    }).then((answer) => answer.text())
    const ids = await prepare({ origin, key, target })
    await mkdir(OUT, { recursive: true })
    for (const shot of shotsOf(ids).filter(isWanted)) {
      await take(browser, shot, async (page, path) => {
        await page.addInitScript((text) => localStorage.setItem('watchpost.session', text), session)
        // What is searched stands before the hash.
        const [place, search] = path.split('?')
        await page.goto(`${origin}/${search ? `?${search}` : ''}#${place}`)
      })
    }
    for (const shot of OPERATOR_SHOTS.filter(isWanted)) {
      await take(browser, shot, async (page, path) => {
        await page.goto(await operatorLink(data))
        await page.locator('form button[type=submit]').click()
        await page.getByRole('navigation').waitFor()
        await page.evaluate((to) => location.assign(`#${to}`), path)
      })
    }
  } finally {
    await browser.close()
    child.kill('SIGTERM')
    await ended
    receiver.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Saves one picture in a browser of its own; `enter` goes to the page. */
async function take(
  browser: Browser,
  [name, path, look = {}, before]: Shot,
  enter: (page: Page, path: string) => Promise<unknown>,
): Promise<void> {
  const { theme = 'dark', language = 'en', viewport = DESKTOP } = look
  const context = await browser.newContext({
    viewport,
    colorScheme: theme,
    locale: language === 'tr' ? 'tr-TR' : 'en-GB',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  await enter(page, path)
  await page.evaluate(rested, { rested_ms: RESTED_MS, most_ms: DRAWN_MS })
  if (before) {
    await before(page)
    await page.evaluate(rested, { rested_ms: RESTED_MS, most_ms: DRAWN_MS })
  }
  await sharp(await page.screenshot())
    .png({ palette: true, colours: COLOURS, effort: 10 })
    .toFile(join(OUT, `${name}.png`))
  console.log(`docs/console/${name}.png`)
  await context.close()
}

/**
 * Resolves when everything that the page asked for is shown: nothing is under way, no place holder is left, and its
 * map has its base and is idle. Rejects when it takes too long: a picture of it would be incomplete.
 */
async function rested({ rested_ms, most_ms }: { rested_ms: number; most_ms: number }) {
  const whatIsMissing = () => {
    const queries = window.__TANSTACK_QUERY_CLIENT__
    if (!queries) return 'the page'
    if (queries.isFetching() > 0 || queries.isMutating() > 0) return 'an answer'
    if (document.fonts.status !== 'loaded') return 'a font'
    if (document.querySelector('[role=status][aria-label]')) return 'a part of the page'
    if (!document.querySelector('h1, h2')) return 'a heading'
    for (const map of document.querySelectorAll('section[data-ready]')) {
      if (!map.querySelector('[data-idle][data-base]')) return 'the map'
    }
    return null
  }
  const until = performance.now() + most_ms
  let since = performance.now()
  while (performance.now() - since < rested_ms) {
    await new Promise((done) => requestAnimationFrame(done))
    const missing = whatIsMissing()
    if (missing === null) continue
    since = performance.now()
    if (since > until) throw new Error(`After ${most_ms / 1000} s ${missing} has not come.`)
  }
}

async function operatorLink(data: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['scripts/admin.ts', 'operator', 'link', '--name', 'ayse', '--data-dir', data, '--json'],
    { cwd: ROOT },
  )
  return z.object({ url: z.url() }).parse(JSON.parse(stdout)).url
}

/** What the demo prints when it is ready: its address, the token of its link, and the key. */
async function printed(output: NodeJS.ReadableStream) {
  let key = ''
  let link = ''
  for await (const line of createInterface({ input: output })) {
    link ||= line.match(/http\S+\/sign-in#\S+/)?.[0] ?? ''
    key ||= line.match(/API key.*(wp_live_\w+)/)?.[1] ?? ''
    if (link && key) break
  }
  // What it says later is not waited for, and must not fill the pipe.
  output.resume()
  if (!link || !key) throw new Error('The demo ended before it printed its link; see above.')
  const url = new URL(link)
  return { origin: url.origin, token: url.hash.slice(1), key }
}

const Made = z.object({ channel: z.object({ id: z.string() }) })
const Zones = z.object({ zones: z.array(z.object({ id: z.string(), label: z.string() })) })
const Alerts = z.object({
  alerts: z.array(z.object({ id: z.string(), severity: z.number(), event_id: z.string() })),
})

/** A channel that accepts everything, and what the demo brings. */
async function prepare({ origin, key, target }: Record<'origin' | 'key' | 'target', string>) {
  const ask = async (path: string, body?: object) => {
    const answer = await fetch(`${origin}/api/v1${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return answer.json()
  }
  const webhook = { kind: 'webhook', target, label: 'Night shift' }
  const { channel } = Made.parse(await ask('/channels', webhook))
  const { zones } = Zones.parse(await ask('/zones'))
  const zone = zones.find(({ label }) => label.includes('California')) ?? zones[0]
  // The replay raises the first alerts within seconds; more make better pictures.
  await new Promise((done) => setTimeout(done, 45_000))
  const { alerts } = Alerts.parse(await ask(`/alerts?zone_id=${zone?.id}`))
  const worst = alerts.toSorted((one, two) => two.severity - one.severity)[0]
  return {
    channel: channel.id,
    zone: zone?.id ?? '',
    alert: worst?.id ?? '',
    event: worst?.event_id ?? '',
  }
}

await runMain(main)
