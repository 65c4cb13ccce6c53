import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createFetcher } from '../../../hub/reader/fetcher.ts'
import { LIMITS, type Limits } from '../../../hub/reader/limits.ts'
import { openReader } from '../../../hub/reader/web-reader.ts'
import type { Kind } from '../../../hub/reader/wire.ts'
import { type Outside, type Site, startOutside } from '../support/outside.ts'

const SITE = 'http://lead.example.org'
let world: Outside
beforeAll(async () => {
  world = await startOutside()
})
afterAll(() => world.close())
beforeEach(() => {
  world.asked.length = 0
  for (const name of Object.keys(world.sites)) delete world.sites[name]
})

/** One page: what it asks for shares connections, answers of DNS and limits. */
function open(limits: Partial<Limits> = {}, signal = AbortSignal.timeout(20_000)) {
  const fetcher = createFetcher({ ...world.options, limits })
  const spent = { bytes: 0 }
  const visit = fetcher.visit(signal, spent)
  return {
    spent,
    fetcher,
    get: async (path: string, kind: Kind = 'document') => {
      const answer = await visit.get(path.startsWith('http') ? path : `${SITE}${path}`, kind)
      return 'got' in answer ? answer.got : answer.refused.en
    },
  }
}
const get = (path: string) => open().get(path)
const answering =
  (status: number, type: string, body: string | Buffer = 'x', more = {}): Site =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': type, ...more }).end(body)
const to =
  (location: string): Site =>
  (_, response) =>
    void response.writeHead(302, { location }).end()
const askedFor = (path: string) => world.asked.filter((line) => line.endsWith(path)).length

describe('what a robots.txt allows', () => {
  test.each([
    [404, true],
    [403, true],
    [499, true],
    [500, false],
    [503, false],
    [304, false],
  ])('where it is answered with %i: %s', async (status, isRead) => {
    world.sites['lead.example.org'] = {
      '/robots.txt': answering(status, 'text/plain', ''),
      '/': 'Hello',
    }
    const found = await get('/')
    if (isRead) expect(found).toMatchObject({ status: 200 })
    else expect(found).toContain('robots.txt')
    expect(askedFor('/')).toBe(isRead ? 1 : 0)
  })

  test('holds for where a page redirects to, and its type is no matter', async () => {
    world.sites['lead.example.org'] = {
      '/robots.txt': answering(
        200,
        'application/octet-stream',
        'User-agent: *\nDisallow: /private',
      ),
      '/': to('/private'),
      '/private': 'Secret',
    }
    expect(await get('/')).toContain('robots.txt')
    expect([askedFor('/'), askedFor('/private')]).toEqual([1, 0])
  })

  test('is asked for once an hour, of the last twenty sites', async () => {
    const hosts = Array.from({ length: 21 }, (_, at) => `lead${at}.example.org`)
    for (const host of hosts) world.sites[host] = { '/': 'Hello' }
    const { get } = open({ requests: 1000 })
    const read = (at: number) => get(`http://${hosts[at]}/`)
    for (let at = 0; at < 20; at += 1) await read(at)
    await read(0)
    expect(askedFor('/robots.txt')).toBe(20)
    await read(20)
    await read(0)
    expect(askedFor('/robots.txt')).toBe(21)
    await read(1)
    expect(askedFor('/robots.txt')).toBe(22)
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_590_000)
    try {
      await read(1)
      expect(askedFor('/robots.txt')).toBe(22)
      now.mockReturnValue(Date.now() + 20_000)
      await read(1)
      expect(askedFor('/robots.txt')).toBe(23)
    } finally {
      now.mockRestore()
    }
  })

  test('is asked for again by the next page when this one was given up meanwhile', async () => {
    const given_up = new AbortController()
    let isFirst = true
    world.sites['lead.example.org'] = {
      '/robots.txt': (_, response) => {
        if (isFirst) given_up.abort()
        else response.writeHead(404).end()
        isFirst = false
      },
      '/': 'Hello',
    }
    const { fetcher, get } = open({}, given_up.signal)
    await expect(get('/')).rejects.toThrow(/abort/)
    const next = fetcher.visit(AbortSignal.timeout(20_000), { bytes: 0 })
    expect(await next.get(`${SITE}/`, 'document')).toMatchObject({ got: { status: 200 } })
    await next.close()
  })
})

describe('a page', () => {
  test.each([
    ['text/html; charset=utf-8', true],
    ['TEXT/HTML', true],
    ['application/xhtml+xml', true],
    ['text/plain', true],
    ['text/htmlx', false],
    ['application/json', false],
    ['', false],
  ])('of the type "%s" is read: %s', async (type, isRead) => {
    world.sites['lead.example.org'] = { '/': answering(200, type) }
    const found = await get('/')
    if (isRead) expect(found).toMatchObject({ status: 200, content_type: type })
    else expect(found).toContain(type)
  })

  test('that is not there says so, whatever comes with it', async () => {
    world.sites['lead.example.org'] = { '/': answering(410, 'application/json') }
    expect(await get('/')).toMatchObject({ status: 410 })
  })

  test('is at an address of 4096 characters at most, without its fragment, on the ports of the web', async () => {
    world.sites['lead.example.org'] = { '/': 'Hello' }
    const long = (length: number) => `${SITE}/?${'x'.repeat(length - SITE.length - 2)}`
    expect(await get(long(4096))).toMatchObject({ status: 200 })
    expect(typeof (await get(long(4097)))).toBe('string')
    expect(await get('/#top')).toMatchObject({ url: `${SITE}/` })
    for (const port of [8080, 22, 8443]) {
      expect(await get(`http://lead.example.org:${port}/`)).toContain(`${port}`)
    }
  })

  test('has so many bytes as came, with everything that it loads, and no half script', async () => {
    const packed = gzipSync('x'.repeat(5000))
    world.sites['lead.example.org'] = {
      '/robots.txt': answering(404, 'text/plain', ''),
      '/': answering(200, 'text/html', 'x'.repeat(600)),
      '/packed': answering(200, 'text/html', packed, { 'content-encoding': 'gzip' }),
      '/shared': answering(200, 'text/css', 'x', { 'access-control-allow-origin': '*' }),
    }
    const page = open({ page: 1000 })
    expect(await page.get('/')).toMatchObject({ is_cut: false, body: { length: 600 } })
    expect(await page.get('/')).toMatchObject({ is_cut: true, body: { length: 400 } })
    expect(await page.get('/')).toContain('more data')
    expect(page.spent.bytes).toBe(1200)

    for (const kind of ['script', 'stylesheet', 'fetch'] as const) {
      expect(await open({ [kind]: 600 }).get('/', kind), kind).toMatchObject({ is_cut: false })
      expect(await open({ [kind]: 599 }).get('/', kind), kind).toContain('more data')
    }
    const small = open()
    expect(await small.get('/packed')).toMatchObject({ body: { length: 5000 } })
    expect(small.spent.bytes).toBe(packed.length)
    expect(await open().get('/shared', 'stylesheet')).toMatchObject({ allow_origin: '*' })
    expect(await open().get('/', 'script')).toMatchObject({ allow_origin: null })
  })

  test('is given up after its time, and at once when nobody wants it any more', async () => {
    world.sites['lead.example.org'] = { '/': () => {} }
    const reader = openReader({
      ...world.options,
      hasBrowser: async () => false,
      limits: { page_ms: 100 },
    })
    const late = await reader.read(`${SITE}/`, AbortSignal.timeout(20_000))
    expect(late).toMatchObject({ refused: { en: expect.stringContaining('too long') } })
    const wanted = new AbortController()
    const reading = openReader({ ...world.options, hasBrowser: async () => false }).read(
      `${SITE}/`,
      wanted.signal,
    )
    wanted.abort()
    await expect(reading).rejects.toThrow(/abort/)
  })

  test.each<[why: string, site: Site | undefined, said: string]>([
    [
      'is packed in a way that nobody knows',
      answering(200, 'text/html', 'x', { 'content-encoding': 'compress' }),
      `${SITE}/x could not be read: compress`,
    ],
    ['does not come in time', () => {}, 'lead.example.org took too long to answer.'],
    [
      'breaks off',
      (_, response) => void response.destroy(),
      `${SITE}/x could not be read: UND_ERR_SOCKET`,
    ],
    [
      'leads in a circle',
      (request, response) => {
        response.writeHead(302, { location: `${request.url}?` }).end()
      },
      'lead.example.org keeps redirecting to other addresses.',
    ],
    ['leads to nothing', to('http://['), 'This is not a web address.'],
    [
      'leads to another kind of address',
      to('ftp://lead.example.org/'),
      'This is not a web address.',
    ],
    [
      'leads to an address with a password',
      to('http://a:b@lead.example.org/'),
      'The address must not contain a user name or password.',
    ],
  ])('that %s is told as that', async (_, site, said) => {
    world.sites['lead.example.org'] = site ? { '/x': site } : {}
    expect(await open({ request_ms: 300 }).get('/x')).toBe(said)
  })

  test('is reached by redirects up to their limit, each of which is asked for once', async () => {
    world.sites['lead.example.org'] = { '/a': to('/b'), '/b': to('/c'), '/c': 'Hello' }
    expect(await open({ redirects: 2 }).get('/a')).toMatchObject({ url: `${SITE}/c` })
    expect(await open({ redirects: 1 }).get('/a')).toContain('keeps redirecting')
    expect([askedFor('/a'), askedFor('/b'), askedFor('/c')]).toEqual([2, 2, 1])
  })

  test('is read within limits that nobody’s site can raise', () => {
    const MIB = 2 ** 20
    expect(LIMITS).toEqual({
      document: 4 * MIB,
      script: 4 * MIB,
      stylesheet: 2 * MIB,
      fetch: 2 * MIB,
      robots: 500 * 1024,
      page: 16 * MIB,
      mission: 96 * MIB,
      requests: 80,
      redirects: 5,
      request_ms: 15_000,
      page_ms: 75_000,
      pause_ms: 20_000,
    })
  })
})
