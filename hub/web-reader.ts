import { lookup } from 'node:dns/promises'
import { access, constants } from 'node:fs/promises'
import { BlockList, isIP } from 'node:net'
import type { Browser, Page as Tab } from 'playwright-core'
import robotsParser from 'robots-parser'
import { fetch } from 'undici'
import { readerText } from './web-reader.text.ts'
import { said, type Words } from './words.ts'

// safe: a CommonJS function, which its types say is a default export
const parseRobots = robotsParser as unknown as typeof robotsParser.default

const say = said(readerText)

/** How the hub names itself to websites, and which group of robots.txt it looks for. */
export const AGENT = 'WatchpostHub'
const USER_AGENT = `Mozilla/5.0 (compatible; ${AGENT}/1.0; one reader, no crawler)`
const TIMEOUT_MS = 20_000
const ROBOTS_TIMEOUT_MS = 10_000
const LONGEST_TEXT = 20_000
const LONGEST_ROBOTS = 512_000
const MOST_PAUSE_SECONDS = 20

export type Page = {
  url: string
  title: string
  text: string
  links: { url: string; text: string }[]
}
/** What became of an address: its page, or why there is none. */
export type Reading = { page: Page } | { refused: Words }

export type Reader = {
  read: (url: string, signal?: AbortSignal) => Promise<Reading>
  close: () => Promise<void>
}

export type ReaderOptions = {
  executable: string
  /** Addresses inside the own network are never read; a test's own server is. */
  allow_private?: boolean
  /** Between two pages of one site, unless its robots.txt wants more. */
  pause_ms?: number
}

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
]

/** findChromium answers where Chromium is, or undefined: then nothing is read from the web. */
export async function findChromium(
  environment: Record<string, string | undefined> = process.env,
): Promise<string | undefined> {
  const given = environment.HUB_CHROMIUM
  for (const place of given === undefined ? PLACES : [given]) {
    const isThere = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return place
  }
  return undefined
}

/**
 * openReader opens a browser that only reads: no uploads, no downloads, nothing but GET, no pictures,
 * nothing from the own network, and no page that robots.txt keeps from it.
 */
export async function openReader(options: ReaderOptions): Promise<Reader> {
  const { executable, allow_private = false, pause_ms = 1000 } = options
  let browser: Browser | undefined
  const robots = new Map<string, Promise<Rules>>()
  const lastRead = new Map<string, number>()

  async function rulesOf(origin: string): Promise<Rules> {
    const known = robots.get(origin) ?? readRobots(origin)
    robots.set(origin, known)
    return known
  }

  async function read(url: string, signal?: AbortSignal): Promise<Reading> {
    const { origin, protocol, hostname } = new URL(url)
    if (protocol !== 'https:' && protocol !== 'http:') return { refused: say.no_address }
    const isAllowed = async (host: string) => allow_private || (await isPublic(host))
    if (!(await isAllowed(hostname))) {
      return { refused: say.not_public(hostname) }
    }
    const rules = await rulesOf(origin)
    if (!rules.isAllowed(url)) return { refused: say.robots(hostname) }
    const wait = (lastRead.get(origin) ?? 0) + Math.max(pause_ms, rules.pause_ms) - Date.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    lastRead.set(origin, Date.now())
    signal?.throwIfAborted()
    // 55 MB of modules, which a hub that reads no pages does without.
    const { chromium } = await import('playwright-core')
    browser ??= await chromium.launch({
      executablePath: executable,
      headless: true,
      // Chromium refuses its own sandbox as root, as in containers; there the container is one.
      chromiumSandbox: process.getuid?.() !== 0,
      args: ['--disable-dev-shm-usage', '--disable-background-networking', '--no-first-run'],
    })
    const profile = await browser.newContext({
      acceptDownloads: false,
      serviceWorkers: 'block',
      userAgent: USER_AGENT,
    })
    const stop = () => void profile.close().catch(() => {})
    signal?.addEventListener('abort', stop, { once: true })
    try {
      const tab = await profile.newPage()
      await tab.route('**/*', async (route) => {
        const request = route.request()
        const target = new URL(request.url())
        const isWanted =
          ['document', 'script', 'xhr', 'fetch', 'stylesheet'].includes(request.resourceType()) &&
          request.method() === 'GET' &&
          /^https?:$/.test(target.protocol) &&
          (await isAllowed(target.hostname))
        return isWanted ? route.continue() : route.abort('blockedbyclient')
      })
      const answer = await tab.goto(url, { waitUntil: 'domcontentloaded', timeout: TIMEOUT_MS })
      if (!answer) return { refused: say.no_answer(url) }
      if (!answer.ok()) return { refused: say.answered(url, answer.status()) }
      // A redirect may have led to a site with other rules.
      const arrived = new URL(tab.url())
      if (arrived.origin !== origin && !(await rulesOf(arrived.origin)).isAllowed(arrived.href)) {
        return { refused: say.robots(arrived.hostname) }
      }
      await tab.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => {})
      return { page: await textOf(tab) }
    } catch (error) {
      signal?.throwIfAborted()
      const [line = 'no answer'] = error instanceof Error ? error.message.split('\n') : []
      return { refused: say.failed(url, line.slice(0, 200)) }
    } finally {
      signal?.removeEventListener('abort', stop)
      await profile.close().catch(() => {})
    }
  }

  return { read, close: async () => browser?.close() }
}

async function textOf(tab: Tab): Promise<Page> {
  const found = await tab.evaluate(() => ({
    title: document.title,
    // biome-ignore lint/performance/useDomNodeTextContent: what a reader cannot see is left out
    text: document.body?.innerText ?? '',
    links: [...document.querySelectorAll('a[href]')].slice(0, 300).map((link) => ({
      url: (link as HTMLAnchorElement).href, // safe: the selector asks for anchors
      text: (link.textContent ?? '').replace(/\s+/g, ' ').trim().slice(0, 80),
    })),
  }))
  const text = found.text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return {
    url: tab.url(),
    title: found.title.slice(0, 200),
    text: text.slice(0, LONGEST_TEXT),
    links: found.links,
  }
}

type Rules = { isAllowed: (url: string) => boolean; pause_ms: number }
const EVERYTHING: Rules = { isAllowed: () => true, pause_ms: 0 }
const NOTHING: Rules = { isAllowed: () => false, pause_ms: 0 }

/** RFC 9309: no robots.txt (4xx) allows everything, one that cannot be read (5xx, no answer) nothing. */
async function readRobots(origin: string): Promise<Rules> {
  const address = `${origin}/robots.txt`
  try {
    const answer = await fetch(address, {
      headers: { 'user-agent': USER_AGENT },
      signal: AbortSignal.timeout(ROBOTS_TIMEOUT_MS),
    })
    if (answer.status >= 400 && answer.status < 500) return EVERYTHING
    if (!answer.ok) return NOTHING
    const rules = parseRobots(address, (await answer.text()).slice(0, LONGEST_ROBOTS))
    const pause = Math.min(rules.getCrawlDelay(AGENT) ?? 0, MOST_PAUSE_SECONDS)
    return { isAllowed: (url) => rules.isAllowed(url, AGENT) !== false, pause_ms: pause * 1000 }
  } catch {
    return NOTHING
  }
}

const PRIVATE = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  PRIVATE.addSubnet(net, bits, 'ipv4')
}
for (const [net, bits] of [
  ['::', 96],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  PRIVATE.addSubnet(net, bits, 'ipv6')
}

/** Whether every address of a name lies outside of private networks. */
async function isPublic(hostname: string): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(host)
    ? [{ address: host, family: isIP(host) }]
    : await lookup(host, { all: true }).catch(() => [])
  return (
    addresses.length > 0 &&
    addresses.every(
      ({ address, family }) => !PRIVATE.check(address, family === 6 ? 'ipv6' : 'ipv4'),
    )
  )
}
