import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import type * as axe from 'axe-core'
import {
  type Browser,
  type BrowserContext,
  type Cookie,
  chromium,
  type Page,
} from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { readText, writeWhole } from '../../../hub/files.ts'
import { buildWeb } from '../../../scripts/build/build-web.ts'
import { type HubOptions, startHub, type TestHub } from '../support/hub.ts'

export const PASSWORD = 'correct horse battery'
const FLAGS = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
]
/** Draws maps without a graphics card, at several times the cost of a page without one. */
const WEBGL = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']

declare global {
  interface Window {
    /** The types leave out the rules with their impact. */
    axe: typeof axe & {
      _audit: { rules: { id: string; tags: string[]; enabled: boolean; impact: string | null }[] }
    }
  }
}

export type Look = {
  theme?: 'dark' | 'light'
  language?: 'en' | 'tr'
  /** The language of a browser whose reader chose the other one for the page. */
  locale?: string
  /** As wide as a phone, and touched. */
  isPhone?: boolean
  /** Drawn with a sixteenth of the pixels: the page and its pointer measure as ever. */
  isCoarse?: boolean
}

export type Opened = {
  page: Page
  context: BrowserContext
  /** What must not happen on any page: see `expectClean`. */
  wrongs: string[]
}

/** Where scripts/chromium.sh installs them. The headless shell shows the same for a quarter less CPU. */
const BROWSERS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

/** startBrowser starts Chromium; a machine without one fails here, with what to do. */
export async function startBrowser({ hasWebGL = false } = {}): Promise<Browser> {
  await buildWeb('hub')
  const given = process.env.CHROMIUM
  const executablePath = (given ? [given] : BROWSERS).find((path) => existsSync(path))
  if (!executablePath) {
    throw new Error(
      `There is no Chromium at ${given || BROWSERS.join(' or ')}. Install it (apt-get install chromium), or name one in CHROMIUM.`,
    )
  }
  // Headless Chromium has WebGL by itself, slowly: without it a page shows what it shows without a map.
  const webgl = hasWebGL ? WEBGL : ['--disable-3d-apis']
  return chromium.launch({ executablePath, args: [...FLAGS, ...webgl] })
}

let shared: Promise<Browser> | undefined

/**
 * sharedBrowser is the Chromium of this process, for all its test files: what they open is in
 * contexts of their own. It ends with the process.
 */
export function sharedBrowser(): Promise<Browser> {
  // vitest ends a test process with SIGTERM; Playwright ends its browser on a plain exit.
  if (!shared) process.once('SIGTERM', () => process.exit())
  shared ??= startBrowser()
  return shared
}

/**
 * open makes a page that notes requests to elsewhere, violated policies, dialogs and faults. It goes
 * with its test: a page that stays open goes on asking.
 */
export async function open(
  browser: Browser,
  origin: string,
  { theme = 'light', language = 'en', locale, isPhone = false, isCoarse = false }: Look = {},
): Promise<Opened> {
  const context = await browser.newContext({
    baseURL: origin,
    colorScheme: theme,
    locale: locale ?? (language === 'tr' ? 'tr-TR' : 'en-GB'),
    reducedMotion: 'reduce',
    viewport: isPhone ? { width: 360, height: 740 } : { width: 1440, height: 900 },
    hasTouch: isPhone,
    ...(isCoarse ? { deviceScaleFactor: 0.25 } : {}),
    acceptDownloads: true,
  })
  onTestFinished(() => context.close())
  const wrongs: string[] = []
  await context.exposeFunction('tellWrong', (text: string) => wrongs.push(text))
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      // @ts-expect-error exposed above
      window.tellWrong(`policy: ${event.violatedDirective} ${event.blockedURI}`)
    })
  })
  if (locale) {
    await context.addInitScript(
      (chosen) => localStorage.setItem('watchpost.language', chosen),
      language,
    )
  }
  context.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== origin && !['data:', 'blob:', 'about:'].includes(url.protocol)) {
      wrongs.push(`request: ${request.url()}`)
    }
  })
  context.setDefaultTimeout(20_000)
  const page = await context.newPage()
  page.on('pageerror', (error) => wrongs.push(`fault: ${error.message}`))
  page.on('dialog', (dialog) => {
    wrongs.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return { page, context, wrongs }
}

/** A hub that listens, for browsers. */
export type ServedHub = TestHub & { origin: string }

/** serveHub is startHub on a free port. */
export async function serveHub(options: HubOptions = {}): Promise<ServedHub> {
  const hub = await startHub(options)
  const server = serve({ fetch: hub.app.fetch, hostname: '127.0.0.1', port: 0 })
  await new Promise<void>((resolve) => server.once('listening', () => resolve()))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    ...hub,
    origin: `http://localhost:${port}`,
    close: async () => {
      if ('closeAllConnections' in server) server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await hub.close()
    },
  }
}

/** The admin's files in the first hub of this process, and the admin's cookies. */
let admin: { files: [name: string, text: string][]; cookies: Cookie[] } | undefined
const setUpHubs = new WeakSet<ServedHub>()

/**
 * setUp gives a hub its admin. Hashing a password takes half a second, so all hubs of a process get
 * the same admin.
 */
export async function setUp(hub: ServedHub, { context }: Opened): Promise<Cookie[]> {
  const fileOf = (name: string) => join(hub.paths.config_dir, name)
  if (!admin) {
    const code = (await readText(fileOf('setup.code')))?.trim()
    const data = { code, password: PASSWORD }
    const answer = await context.request.post('/api/cockpit/setup', { data })
    expect(answer.status()).toBe(200)
    const files = ['admin.json', 'sessions.json'].map(
      async (name): Promise<[string, string]> => [name, (await readText(fileOf(name))) ?? ''],
    )
    admin = { files: await Promise.all(files), cookies: await context.cookies() }
  } else if (!setUpHubs.has(hub)) {
    for (const [name, text] of admin.files) await writeWhole(fileOf(name), text)
  }
  setUpHubs.add(hub)
  return admin.cookies
}

/** signIn lets a context in as the admin. */
export async function signIn(hub: ServedHub, opened: Opened): Promise<void> {
  await opened.context.addCookies(await setUp(hub, opened))
}

/** visit opens a page of the hub, signed in, and waits until everything has come. */
export async function visit(
  browser: Browser,
  hub: ServedHub,
  path: string,
  look: Look = {},
): Promise<Opened> {
  const opened = await open(browser, hub.origin, look)
  await signIn(hub, opened)
  await opened.page.goto(path)
  await settled(opened.page)
  return opened
}

/**
 * walkTo goes to another address as a link of the page does, without loading everything again: a
 * load costs four times as much. Every address is loaded by itself in at least one test.
 */
export async function walkTo(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => history.pushState(null, '', to), path)
  await settled(page)
}

/** eventually waits for a condition, also on a busy machine: `await eventually(read).toBe(1)`. */
export function eventually<T>(read: () => T) {
  return expect.poll(read)
}

/** Everything the page asked for has come and is shown. */
export async function settled(page: Page): Promise<void> {
  await eventually(() => page.evaluate(isAtRest)).toBe(true)
}

/**
 * React renders an answer a moment after it came, and may then ask for more: so nothing is under way
 * three times, each time after a frame that left the page nothing to do.
 */
async function isAtRest(): Promise<boolean> {
  for (let looks = 0; looks < 3; looks += 1) {
    const queries = window.__TANSTACK_QUERY_CLIENT__
    if (document.readyState !== 'complete' || document.fonts.status !== 'loaded') return false
    if (!queries || queries.isFetching() > 0 || queries.isMutating() > 0) return false
    if (document.querySelector('[role=status][aria-label]')) return false
    await new Promise((done) => requestAnimationFrame(() => requestIdleCallback(done)))
  }
  return true
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * expectAccessible asserts that axe finds nothing serious or critical, in frames neither. Of a page
 * that was looked at in the other theme it sees only colours.
 */
export async function expectAccessible(page: Page, { isRecoloured = false } = {}): Promise<void> {
  for (const frame of page.frames()) {
    // A page that axe has looked at before still has it.
    if (!(await frame.evaluate(() => 'axe' in window))) await frame.evaluate(AXE)
  }
  const grave = await page.evaluate(async (isRecoloured) => {
    const isGrave = (impact?: string | null) => impact === 'serious' || impact === 'critical'
    // A rule's own impact is that of everything it finds: the others could not add to the list.
    const rules = window.axe._audit.rules.filter(({ impact }) => !impact || isGrave(impact))
    const asked = rules.filter(
      ({ enabled, tags }) => enabled && (!isRecoloured || tags.includes('cat.color')),
    )
    const { violations } = await window.axe.run({
      runOnly: asked.map(({ id }) => id),
      resultTypes: ['violations'],
    })
    return violations
      .filter(({ impact }) => isGrave(impact))
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(' | ')}`)
  }, isRecoloured)
  expect(grave, page.url()).toEqual([])
}

/** No request left the origin, no policy was violated, nothing opened a dialog or failed. */
export function expectClean({ wrongs }: Opened): void {
  expect(wrongs).toEqual([])
}

/** On a phone nothing may be wider than the page. */
export async function expectNoSideways(page: Page): Promise<void> {
  const wide = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  )
  expect(wide, `${page.url()} is wider than the phone`).toBeLessThanOrEqual(0)
}
