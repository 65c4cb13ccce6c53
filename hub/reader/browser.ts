import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, CDPSession, Request, Page as Tab } from 'playwright-core'
import { launchArguments } from './chromium.ts'
import { openDeadEnd } from './dead-end.ts'
import {
  type FAILURES,
  type Kind,
  MAX_LINK_LENGTH,
  MAX_LINK_TEXT_LENGTH,
  MAX_LINKS,
  MAX_TEXT_LENGTH,
  MAX_TITLE_LENGTH,
  PageText,
  type ToReader,
} from './wire.ts'

/** The hub's name towards websites, and the group that it looks for in robots.txt. */
export const AGENT = 'WatchpostHub'
export const USER_AGENT = `Mozilla/5.0 (compatible; ${AGENT}/1.0; one reader, no crawler)`

const LAUNCH_MS = 30_000
const GOTO_MS = 12_000
const SETTLE_MS = 3_000
const POLL_MS = 50
const EVALUATE_MS = 5_000
/** How often a page may redirect by script or `<meta refresh>`. */
const MAX_CLIENT_REDIRECTS = 3

export type Answer = Exclude<ToReader, { type: 'open' | 'check' }>
export type Get = (url: string, kind: Kind) => Promise<Answer>

/** The browser did not start, or could not show the page. */
export class BrowserError extends Error {
  readonly why: (typeof FAILURES)[number]
  constructor(why: (typeof FAILURES)[number], detail = '') {
    super(detail)
    this.why = why
  }
}

/** launch starts Chromium in its sandbox; where the sandbox is not available, it does not start. */
export async function launch(executable: string, is_sandboxed: boolean): Promise<Browser> {
  if (is_sandboxed && process.getuid?.() === 0) throw new BrowserError('root')
  // 55 MB of modules that only this process loads.
  const { chromium } = await import('playwright-core')
  try {
    return await chromium.launch({
      executablePath: executable,
      headless: true,
      chromiumSandbox: is_sandboxed,
      timeout: LAUNCH_MS,
      args: launchArguments(await openDeadEnd()),
    })
  } catch (error) {
    throw failureOf(error instanceof Error ? error.message : String(error))
  }
}

/** failureOf reads why Chromium did not start from what Playwright tells of it. */
export function failureOf(told: string): BrowserError {
  const said = faults(told)
  const isSandbox = /sandbox|CLONE_NEW|userns|credentials\.cc/i.test(said)
  return isSandbox
    ? new BrowserError('sandbox', firstLine(said))
    : new BrowserError('start', firstLine(said || told))
}

/**
 * The messages of Chromium itself, without the command line, which contains the word sandbox too.
 */
function faults(message: string): string {
  const lines = message.split('\n').filter((line) => /\b(FATAL|ERROR)\b|No usable/.test(line))
  return lines.map((line) => line.replace(/^.*?(FATAL|ERROR)/, '$1')).join('\n')
}

const firstLine = (text: string) => (text.split('\n')[0] ?? '').slice(0, 300)

/**
 * showPage opens one page and returns what is visible on it. The page loads only what `get`
 * returns, which is called only for the page itself, its scripts, styles and data.
 */
export async function showPage(browser: Browser, url: string, get: Get): Promise<PageText> {
  const profile = await browser.newContext({
    acceptDownloads: false,
    serviceWorkers: 'block',
    userAgent: USER_AGENT,
  })
  let moved: string | undefined
  const tab = await profile.newPage()
  const session = await profile.newCDPSession(tab)
  profile.on('page', (other) => {
    if (other !== tab) void other.close().catch(() => {})
  })
  await profile.route('**/*', async (route) => {
    const request = route.request()
    const kind = kindOf(request, tab)
    // An aborted navigation leaves the page as it is.
    const refusal = request.isNavigationRequest() ? 'aborted' : 'blockedbyclient'
    if (!kind) return route.abort(refusal)
    const answer = await get(request.url(), kind)
    if (answer.type === 'got') {
      return route.fulfill({
        status: answer.status,
        headers: {
          'content-type': answer.content_type,
          ...(answer.allow_origin ? { 'access-control-allow-origin': answer.allow_origin } : {}),
        },
        body: Buffer.from(answer.body, 'base64'),
      })
    }
    if (answer.type === 'moved') moved = answer.url
    return route.abort(refusal)
  })
  await open(session, tab, url).catch((error: unknown) => {
    if (moved === undefined) throw error
  })
  for (let moves = 0; ; moves += 1) {
    await tab.waitForLoadState('networkidle', { timeout: SETTLE_MS }).catch(() => {})
    if (moved === undefined || moves === MAX_CLIENT_REDIRECTS) break
    const next = moved
    moved = undefined
    await open(session, tab, next).catch(() => {})
  }
  return readText(session)
}

/**
 * Waits until the page has loaded, by asking the page itself: if a page tries to navigate away and
 * is not allowed to, `goto` never returns.
 */
async function open(session: CDPSession, tab: Tab, url: string): Promise<void> {
  const deadline = Date.now() + GOTO_MS
  let failure: unknown
  const went = tab.goto(url, { waitUntil: 'commit', timeout: GOTO_MS }).catch((error) => {
    failure = error
  })
  await Promise.race([went, sleep(GOTO_MS)])
  while (Date.now() < deadline) {
    const asked = session.send('Runtime.evaluate', { expression: 'document.readyState' })
    const answer = await Promise.race([asked.catch(() => undefined), sleep(1000)])
    const isThere = tab.url() !== 'about:blank'
    if (isThere && answer && answer.result.value !== 'loading') return
    if (!isThere && failure !== undefined) throw asPageError(failure)
    await sleep(POLL_MS)
  }
}

function asPageError(error: unknown): BrowserError {
  return new BrowserError('page', firstLine(error instanceof Error ? error.message : String(error)))
}

/**
 * The kind of request, if the page itself makes it with GET; undefined for requests that are not
 * made at all.
 */
function kindOf(request: Request, tab: Tab): Kind | undefined {
  if (request.method() !== 'GET' || !/^https?:/.test(request.url())) return undefined
  if (!isOfMainFrame(request, tab)) return undefined
  const type = request.resourceType()
  if (request.isNavigationRequest()) return type === 'document' ? 'document' : undefined
  if (type === 'script' || type === 'stylesheet') return type
  return type === 'xhr' || type === 'fetch' ? 'fetch' : undefined
}

function isOfMainFrame(request: Request, tab: Tab): boolean {
  try {
    return request.frame() === tab.mainFrame()
  } catch {
    // A new page that is about to open, or a worker.
    return false
  }
}

/** Runs in an isolated world: the page's scripts can change neither this code nor what it calls. */
async function readText(session: CDPSession): Promise<PageText> {
  const { frameTree } = await session.send('Page.getFrameTree')
  const { executionContextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'reader',
  })
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: `(${readDocument})(${MAX_LINKS}, ${MAX_LINK_LENGTH}, ${MAX_TEXT_LENGTH * 4})`,
    contextId: executionContextId,
    returnByValue: true,
    timeout: EVALUATE_MS,
  })
  if (exceptionDetails) throw new BrowserError('page', firstLine(exceptionDetails.text))
  const page = result.value as ReturnType<typeof readDocument> // safe: what it returned, by value
  const even = (text: string) => text.replace(/[^\S\n]+/g, ' ').replace(/\n{3,}/g, '\n\n')
  return PageText.parse({
    url: page.url,
    title: page.title.slice(0, MAX_TITLE_LENGTH),
    text: even(page.text).trim().slice(0, MAX_TEXT_LENGTH),
    links: page.links.map(({ url, text }) => ({
      url,
      text: text.replace(/\s+/g, ' ').trim().slice(0, MAX_LINK_TEXT_LENGTH),
    })),
  })
}

/** Runs in the page. */
function readDocument(max_links: number, max_link: number, max_text: number) {
  // safe: the selector asks for anchors
  const anchors = [...document.querySelectorAll('a[href]')] as HTMLAnchorElement[]
  return {
    url: location.href.slice(0, 4096),
    title: document.title.slice(0, 1000),
    // biome-ignore lint/performance/useDomNodeTextContent: leaves out text that is not visible
    text: (document.body?.innerText ?? '').slice(0, max_text),
    links: anchors
      .filter(({ href }) => href.length <= max_link)
      .slice(0, max_links)
      .map((link) => ({ url: link.href, text: (link.textContent ?? '').slice(0, 1000) })),
  }
}
