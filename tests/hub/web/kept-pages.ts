import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'

export type Product = 'hub' | 'console'

/** What a context is made for and cannot change later. */
type Kind = { origin: string; locale: string; isPhone: boolean; isCoarse: boolean }

/**
 * A page that one test after another gets: a process that has run the scripts of a page before opens
 * it for less than half of what a new context costs.
 */
export type KeptPage = {
  kind: string
  context: BrowserContext
  page: Page
  session: CDPSession
  /** How often its origin had changed hands when it was last used. */
  hand: number
  /** Has something that stays until it is closed. */
  isSpoilt: boolean
  /** Called with each policy that a page violates. */
  tell: (violation: string) => void
  /** Adds a script that goes with the test, unlike that of the context. */
  addScript: BrowserContext['addInitScript']
  scripts: { dispose: () => Promise<void> }[]
}

/** More of them than a test needs would only hold memory. */
const MOST_IDLE = 6
const idle = new WeakMap<Browser, KeptPage[]>()
/** How often the server at an origin was another one: its answers are not those in the cache. */
const hands = new Map<string, number>()
const freePorts: Record<Product, number[]> = { hub: [], console: [] }

/** What tests listen to. Playwright itself hears when a page or context closes. */
const HEARD = ['request', 'response', 'dialog', 'pageerror', 'console', 'load', 'page', 'download']
/** What a test could do to a context that giving it back does not undo. */
const LASTING = [
  'addInitScript',
  'exposeFunction',
  'exposeBinding',
  'grantPermissions',
  'newCDPSession',
  'routeWebSocket',
  'setExtraHTTPHeaders',
  'setGeolocation',
  'setOffline',
]

/**
 * takePort answers a port that another server of this process has left, if there is one: what a
 * browser has compiled it finds by the address.
 */
export function takePort(product: Product): number {
  return freePorts[product].pop() ?? 0
}

/** leavePort lets the next server have the port of one that has closed. */
export function leavePort(product: Product, port: number): void {
  freePorts[product].push(port)
  // Browsers keep no answer of a hub, only its files, which are the same in each.
  if (product === 'hub') return
  const origin = `http://localhost:${port}`
  hands.set(origin, (hands.get(origin) ?? 0) + 1)
}

/** An empty page that is as isolated as ours: from any other, ours would move to a new process. */
const EMPTY = {
  responseCode: 200,
  responseHeaders: [
    { name: 'content-type', value: 'text/html' },
    { name: 'cross-origin-opener-policy', value: 'same-origin' },
    { name: 'origin-agent-cluster', value: '?1' },
  ],
}

/** takePage answers a page that knows nothing yet, in these looks. */
export async function takePage(
  browser: Browser,
  { theme, ...kind }: Kind & { theme: 'light' | 'dark' },
): Promise<KeptPage> {
  const pages = idle.get(browser) ?? []
  idle.set(browser, pages)
  const name = JSON.stringify(kind)
  const at = pages.findIndex((one) => one.kind === name)
  const kept = at < 0 ? await makePage(browser, name, kind) : pages.splice(at, 1)[0]
  if (!kept) throw new Error(`there is no page for ${name}`)
  const hand = hands.get(kind.origin) ?? 0
  if (kept.hand !== hand) await kept.session.send('Network.clearBrowserCache')
  kept.hand = hand
  await kept.page.setViewportSize(
    kind.isPhone ? { width: 360, height: 740 } : { width: 1440, height: 900 },
  )
  await kept.page.emulateMedia({ media: null, colorScheme: theme, reducedMotion: 'reduce' })
  return kept
}

async function makePage(browser: Browser, name: string, kind: Kind): Promise<KeptPage> {
  const context = await browser.newContext({
    baseURL: kind.origin,
    locale: kind.locale,
    hasTouch: kind.isPhone,
    ...(kind.isCoarse ? { deviceScaleFactor: 0.25 } : {}),
    acceptDownloads: true,
  })
  context.setDefaultTimeout(20_000)
  await context.exposeFunction('tellWrong', (violation: string) => kept.tell(violation))
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      // @ts-expect-error exposed above
      window.tellWrong(`policy: ${event.violatedDirective} ${event.blockedURI}`)
    })
  })
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  session.on('Fetch.requestPaused', ({ requestId }) => {
    void session.send('Fetch.fulfillRequest', { requestId, ...EMPTY })
  })
  const kept: KeptPage = {
    kind: name,
    context,
    page,
    session,
    hand: hands.get(kind.origin) ?? 0,
    isSpoilt: false,
    tell: () => {},
    addScript: context.addInitScript.bind(context),
    scripts: [],
  }
  for (const target of [context, page]) {
    for (const call of LASTING) {
      const lasting: unknown = Reflect.get(target, call)
      if (typeof lasting !== 'function') continue
      Reflect.set(target, call, (...given: unknown[]) => {
        kept.isSpoilt = true
        return Reflect.apply(lasting, target, given)
      })
    }
  }
  return kept
}

/** remember puts these into the storage of the page, before it first loads. */
export async function remember(kept: KeptPage, items: Record<string, string>): Promise<void> {
  const script = await kept.addScript((given) => {
    // Not again on a reload: the page may have changed them since.
    if (localStorage.getItem('remembered')) return
    localStorage.setItem('remembered', 'yes')
    for (const [name, value] of Object.entries(given)) localStorage.setItem(name, value)
  }, items)
  kept.scripts.push(script)
}

/** givePage keeps a page for the next test, without anything of this one; one that failed it closes. */
export async function givePage(browser: Browser, kept: KeptPage, origin: string): Promise<void> {
  const pages = idle.get(browser) ?? []
  if (kept.isSpoilt || !(await isClean(kept, origin))) return kept.context.close()
  pages.push(kept)
  if (pages.length > MOST_IDLE) await pages.shift()?.context.close()
}

/** Takes everything of a test away from its page; false if that could not be done. */
async function isClean(kept: KeptPage, origin: string): Promise<boolean> {
  const { context, page, session } = kept
  for (const event of HEARD) {
    context.removeAllListeners(event)
    page.removeAllListeners(event)
  }
  kept.tell = () => {}
  try {
    for (const other of context.pages()) if (other !== page) await other.close()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    await Promise.all(kept.scripts.splice(0).map((script) => script.dispose()))
    await page.evaluate(() => sessionStorage.clear())
    // Playwright's own routes would throw away what the page has compiled.
    await session.send('Fetch.enable', { patterns: [{ urlPattern: `${origin}/empty` }] })
    await page.goto(`${origin}/empty`)
    await session.send('Fetch.disable')
    // Whatever comes under a pointer that rests looks different.
    await page.mouse.move(-1, -1)
    await context.clearCookies()
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
    await session.send('Page.resetNavigationHistory')
    return true
  } catch {
    return false
  }
}
