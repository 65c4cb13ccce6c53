import { OpenAPIHono } from '@hono/zod-openapi'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { mountStatusPage } from '../../../../functions/api/pages/status-page.ts'
import type { Deps, Env } from '../../../../functions/context.ts'

const NOW = Date.parse('2026-03-01T12:34:56Z')
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString()

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
})
afterEach(() => {
  vi.useRealTimers()
})

type Row = Record<string, unknown>
/** A row of private.sources_health. */
const health = (fields: Row = {}): Row => ({
  ...{ source: 'usgs', title: 'Earthquakes', attribution: 'A', status: 'ok', error: null },
  ...{ last_success_at: ago(1), last_event_at: ago(1), events_24h: 0, items_24h: 0 },
  ...{ latency_p50: null, latency_p95: null, delivery_p50: null, delivery_p95: null },
  ...{ rejected_24h: 0, rejected_reason: null, ...fields },
})

/** The page of a service whose database answers these rows, or nothing at all. */
async function page(rows: Row[] | undefined): Promise<string> {
  return (await serving(rows).request('/status')).text()
}

function serving(rows: Row[] | undefined, wait = 0) {
  const app = new OpenAPIHono<Env>()
  const query = async () => {
    if (!rows) throw new Error('gone')
    return { rows }
  }
  const deps = {
    db: { connect: async () => ({ query, release: () => {} }) },
    address: () => 'x',
    address_limit: () => wait,
  }
  app.use(async (c, next) => {
    c.set('deps', deps as unknown as Deps) // safe: the page uses no others
    c.set('log', {})
    await next()
  })
  mountStatusPage(app)
  app.onError((error, c) => c.json(error, 429))
  return app
}

const plain = (html: string) =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
const titleOf = (text: string) => /<h1>(.*)<\/h1>/.exec(text)?.[1]
const cells = (text: string) =>
  [...text.matchAll(/<t[hd](?: scope="row")?>([\s\S]*?)<\/t[hd]>/g)].map(([, cell = '']) =>
    plain(cell),
  )

test.each([
  [0, '0 s'],
  [119, '119 s'],
  [120, '2 min'],
  [7199, '119 min'],
  [7200, '2 h'],
  [172_799, '47 h'],
  [172_800, '2 d'],
  [900_000, '10 d'],
  // The clock of the database may be ahead.
  [-30, '0 s'],
])('an event %i seconds ago is one of %s ago', async (seconds, words) => {
  const text = await page([health({ last_event_at: ago(seconds), last_success_at: ago(seconds) })])
  expect(cells(text).slice(2, 4)).toEqual([`${words} ago`, `${words} ago`])
})

test('what has never happened and cannot be measured is not made up', async () => {
  const text = await page([health({ last_event_at: null, last_success_at: null })])
  expect(cells(text)).toEqual(['Earthquakes usgs', '● Working', 'never', 'never', '0', '–', '–'])
})

test('a row tells the counts, the medians and what was rejected', async () => {
  const text = await page([
    health({
      ...{ events_24h: 1200, latency_p50: 90, latency_p95: 9000, delivery_p50: 4, delivery_p95: 9 },
      ...{ rejected_24h: 1000, rejected_reason: 'no <time>', error: 'paused', status: 'disabled' },
    }),
  ])
  expect(cells(text)[1]).toBe('○ Off paused')
  expect(cells(text).slice(4)).toEqual(['1,200 1,000 rejected: no &lt;time&gt;', '90 s', '4 s'])
})

test.each([
  [[], 'Watchpost polls no source'],
  [['disabled'], 'Watchpost polls no source'],
  [['ok', 'ok', 'disabled'], 'All sources are working'],
  [['ok', 'stale', 'disabled'], '1 of 2 sources has a problem'],
  [['down'], '1 of 1 sources has a problem'],
  [['down', 'stale', 'ok'], '2 of 3 sources have a problem'],
])('of sources that are %j it says: %s', async (statuses, title) => {
  expect(titleOf(await page(statuses.map((status) => health({ status }))))).toBe(title)
})

test('tells when it is from, and loads itself again', async () => {
  const text = await page([health()])
  expect(text).toContain('<time datetime="2026-03-01T12:34:56.000Z">2026-03-01 12:34 UTC</time>')
  expect(text).toContain('<meta http-equiv="refresh" content="60">')
})

test('without its database it says so, and nothing of any source', async () => {
  const text = await page(undefined)
  expect(titleOf(text)).toBe('Watchpost cannot reach its database')
  expect(text).toContain('<p role="alert">Nothing can be said about the sources')
  expect(text).toContain('2026-03-01 12:34 UTC')
  expect(text).not.toContain('<table>')
})

test('an address that asks too often is refused, and its style is still there', async () => {
  const app = serving([health()], 7)
  const refused = await app.request('/status')
  expect([refused.status, await refused.json()]).toEqual([
    429,
    expect.objectContaining({ code: 'rate_limited', headers: { 'Retry-After': '7' } }),
  ])
  const style = await (await app.request('/status/page.css')).text()
  expect(style).toMatch(/^:root[\s\S]*\ntable \{/)
})
