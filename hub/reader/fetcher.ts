import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { isPrivateName, isPublicAddress, parseAddress } from '../../shared/addresses.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { NotPublic, type OutsideOptions, outside } from '../outside.ts'
import { ENCODINGS, readBody, UnknownEncoding } from './body.ts'
import { USER_AGENT } from './browser.ts'
import { LIMITS, type Limits } from './limits.ts'
import { EVERYTHING, type Rules, rulesOf, UNREAD } from './robots.ts'
import { readerText } from './web-reader.text.ts'
import type { Kind } from './wire.ts'

const say = bilingual(readerText)

/** The answer of a website, up to the limits; `url` is where the redirects ended. */
export type Got = {
  url: string
  status: number
  content_type: string
  allow_origin: string | null
  body: Buffer
  is_cut: boolean
}
/** The result of a request: an answer, or why there is none. */
export type Answer = { got: Got } | { refused: Words }

/** The bytes that a mission has read from the web so far. */
export type Spent = { bytes: number }

/** The requests of one page: they share connections, DNS answers and limits. */
export type Visit = {
  get: (url: string, kind: Kind) => Promise<Answer>
  close: () => Promise<void>
}

export type FetcherOptions = OutsideOptions & {
  /** The pause between two pages of a site, unless its robots.txt asks for a longer one. */
  pause_ms?: number
  limits?: Partial<Limits>
}

const ACCEPT: Record<Kind | 'robots', string> = {
  document: 'text/html,application/xhtml+xml,text/plain;q=0.8',
  script: '*/*',
  stylesheet: 'text/css,*/*;q=0.1',
  fetch: '*/*',
  robots: 'text/plain,*/*;q=0.1',
}
const REDIRECTS = [301, 302, 303, 307, 308]
const PORTS = ['', '80', '443']
/** How many sites' rules are kept in memory, and for how long. */
const MAX_SITES = 20
const RULES_MS = 3_600_000

type Site = { rules: Promise<Rules>; asked_at: number; read_at: number }

/** A request that is not made, or whose answer is not accepted, for a reason in words. */
class Refused extends Error {
  readonly words: Words
  constructor(words: Words) {
    super(words.en)
    this.words = words
  }
}

/**
 * createFetcher is the hub's only way to websites: only GET, only to the public internet, within
 * the limits, and no page that robots.txt disallows. Every redirect is checked like a request.
 */
export function createFetcher(options: FetcherOptions = {}) {
  const limits = { ...LIMITS, ...options.limits }
  const pause_ms = options.pause_ms ?? 1000
  const sites = new Map<string, Site>()

  /** visit starts a page; `spent` counts the bytes of the mission that reads it. */
  function visit(signal: AbortSignal, spent: Spent): Visit {
    const agent = outside(options)
    let requests = 0
    let bytes = 0

    async function get(url: string, kind: Kind): Promise<Answer> {
      try {
        return { got: await follow(url, kind) }
      } catch (error) {
        signal.throwIfAborted()
        return { refused: wordsOf(error, url) }
      }
    }

    async function follow(url: string, kind: Kind | 'robots'): Promise<Got> {
      let at = url
      for (let redirects = 0; redirects <= limits.redirects; redirects += 1) {
        const target = judge(at)
        if (kind === 'document') await askRobots(target)
        const answer = await ask(target, kind)
        if ('got' in answer) return answer.got
        if (!URL.canParse(answer.location, target)) throw new Refused(say.no_address)
        at = new URL(answer.location, target).href
      }
      throw new Refused(say.endless(new URL(url).hostname))
    }

    async function askRobots(target: URL): Promise<void> {
      const site = siteOf(target.origin)
      const rules = await site.rules
      const verdict = rules.judge(target.href)
      if (verdict === 'unknown') throw new Refused(say.robots_unread(target.hostname))
      if (verdict === 'no') throw new Refused(say.robots(target.hostname))
      const wait = site.read_at + Math.max(pause_ms, rules.pause_ms) - Date.now()
      site.read_at = Date.now() + Math.max(0, wait)
      if (wait > 0) await sleep(wait, undefined, { signal })
    }

    function siteOf(origin: string): Site {
      const known = sites.get(origin)
      sites.delete(origin)
      const site =
        known && Date.now() - known.asked_at < RULES_MS
          ? known
          : { rules: readRobots(origin), asked_at: Date.now(), read_at: known?.read_at ?? 0 }
      sites.set(origin, site)
      const [oldest] = sites.keys()
      if (sites.size > MAX_SITES && oldest !== undefined) sites.delete(oldest)
      return site
    }

    /**
     * RFC 9309: without a robots.txt (4xx) everything is allowed, with one that cannot be read
     * (5xx, no answer) nothing.
     */
    async function readRobots(origin: string): Promise<Rules> {
      const address = `${origin}/robots.txt`
      try {
        const { status, body } = await follow(address, 'robots')
        if (status >= 400 && status < 500) return EVERYTHING
        if (status < 200 || status > 299) return UNREAD
        return rulesOf(address, body.toString('utf8'))
      } catch {
        // If it was aborted together with its page, the next page requests it again.
        if (signal.aborted) sites.delete(origin)
        return UNREAD
      }
    }

    async function ask(
      target: URL,
      kind: Kind | 'robots',
    ): Promise<{ got: Got } | { location: string }> {
      signal.throwIfAborted()
      requests += 1
      if (requests > limits.requests || left() <= 0)
        throw new Refused(say.too_much(target.hostname))
      const response = await request(target, {
        dispatcher: agent,
        method: 'GET',
        headers: {
          'user-agent': USER_AGENT,
          accept: ACCEPT[kind],
          'accept-encoding': ENCODINGS,
        },
        signal: AbortSignal.any([signal, AbortSignal.timeout(limits.request_ms)]),
      })
      const header = (name: string) => String(response.headers[name] ?? '')
      if (REDIRECTS.includes(response.statusCode) && header('location') !== '') {
        response.body.on('error', () => {}).destroy()
        return { location: header('location') }
      }
      const content_type = header('content-type')
      const isWanted = kind !== 'document' || response.statusCode !== 200 || isPage(content_type)
      if (!isWanted) {
        response.body.on('error', () => {}).destroy()
        throw new Refused(say.no_page(target.href, content_type.slice(0, 80)))
      }
      const max_bytes = Math.min(limits[kind], left())
      const { bytes: body, is_cut } = await readBody(
        response.body,
        header('content-encoding'),
        max_bytes,
        spend,
      )
      // Half a script would do something else than the whole one.
      if (is_cut && kind !== 'document' && kind !== 'robots') {
        throw new Refused(say.too_much(target.hostname))
      }
      return {
        got: {
          url: target.href,
          status: response.statusCode,
          content_type,
          allow_origin: header('access-control-allow-origin') || null,
          body,
          is_cut,
        },
      }
    }

    const left = () => Math.min(limits.page - bytes, limits.mission - spent.bytes)
    function spend(more: number): void {
      bytes += more
      spent.bytes += more
    }

    return { get, close: () => agent.destroy() }
  }

  return { visit }
}

/**
 * What can be checked before connecting: form, port, literal address, names of the local network.
 */
function judge(url: string): URL {
  if (!URL.canParse(url) || url.length > 4096) throw new Refused(say.no_address)
  const target = new URL(url)
  if (target.protocol !== 'https:' && target.protocol !== 'http:') throw new Refused(say.no_address)
  if (target.username !== '' || target.password !== '') throw new Refused(say.credentials)
  if (!PORTS.includes(target.port)) throw new Refused(say.port(target.host))
  const host = target.hostname.replace(/^\[|\]$/g, '')
  const address = parseAddress(host)
  const isOutside = address ? isPublicAddress(address) : !isPrivateName(host)
  if (!isOutside) throw new NotPublic(host)
  target.hash = ''
  return target
}

/** normalUrl returns the address in a single spelling and without its fragment. */
export function normalUrl(url: string): string {
  const target = new URL(url)
  target.hash = ''
  return target.href
}

/** Whether the content type has text to read. */
function isPage(content_type: string): boolean {
  return /^\s*(text\/html|application\/xhtml\+xml|text\/plain)\s*(;|$)/i.test(content_type)
}

function wordsOf(error: unknown, url: string): Words {
  if (error instanceof Refused) return error.words
  if (error instanceof NotPublic) return say.not_public(error.host)
  if (error instanceof UnknownEncoding) return say.failed(url, error.message)
  if (error instanceof Error && error.name === 'TimeoutError')
    return say.slow(new URL(url).hostname)
  return say.failed(url, codeOf(error))
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.cause === undefined ? error.name : codeOf(error.cause)
}
