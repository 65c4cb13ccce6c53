import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readBody } from '../../../hub/reader/body.ts'
import { createFetcher } from '../../../hub/reader/fetcher.ts'
import { LIMITS, type Limits } from '../../../hub/reader/limits.ts'
import { rulesOf } from '../../../hub/reader/robots.ts'
import { DNS_ANSWERS, PUBLIC_URLS, SPELLINGS } from '../../support/attacks/spellings.ts'
import { type Outside, type Site, startOutside } from '../support/outside.ts'

const MIB = 1024 * 1024
/** In its long form a flood is as long as the one that once filled the machine. */
const FLOOD = process.env.PROOF ? 400 * MIB : 24 * MIB

let world: Outside
beforeAll(async () => {
  world = await startOutside()
})
afterAll(() => world.close())
beforeEach(() => {
  for (const list of [world.asked, world.dialled, world.looked_up, world.inside]) list.length = 0
  for (const name of Object.keys(world.sites)) delete world.sites[name]
  for (const name of Object.keys(world.answers)) delete world.answers[name]
})

const BOMB = process.env.PROOF ? 400 * MIB : 96 * MIB
const QUICK = { [constants.BROTLI_PARAM_QUALITY]: 1 }

/** One page through the fetcher, as the hub begins every reading. */
async function get(url: string, limits: Partial<Limits> = {}, spent = { bytes: 0 }) {
  const fetcher = createFetcher({ ...world.options, limits })
  const visit = fetcher.visit(AbortSignal.timeout(20_000), spent)
  const answer = await visit.get(url, 'document')
  await visit.close()
  return answer
}
const to =
  (location: string): Site =>
  (_, response) =>
    void response.writeHead(302, { location }).end()
const expectNothingInside = () => {
  expect(world.inside).toEqual([])
  expect(world.dialled.filter((address) => address !== '93.184.215.14')).toEqual([])
}

describe('an address of the own network is never dialled', () => {
  test.each(SPELLINGS)('%s (%s)', async (url, meaning) => {
    Object.assign(world.answers, DNS_ANSWERS)
    expect(await get(url)).toMatchObject({ refused: { en: expect.any(String) } })
    expect(await get(url.replace('https:', 'http:'))).toHaveProperty('refused')
    expect(world.dialled).toEqual([])
    expect(world.looked_up.length > 0).toBe(meaning === 'resolves')
  })

  test.each(Object.keys(DNS_ANSWERS))('%s, by its DNS', async (host) => {
    Object.assign(world.answers, DNS_ANSWERS)
    expect(await get(`http://${host}/`)).toHaveProperty('refused')
    expect(world.dialled).toEqual([])
  })

  test('a public address is dialled', async () => {
    world.sites['lead.example.org'] = { '/': '<p>Hello' }
    expect(await get('http://lead.example.org/')).toMatchObject({ got: { status: 200 } })
    for (const url of PUBLIC_URLS) {
      const { refused } = { refused: undefined, ...(await get(url, { request_ms: 2000 })) }
      expect(refused?.en ?? '', url).not.toContain('own network')
    }
  })

  test.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://2130706433/',
    'http://inside.example.org/',
    'http://lead.example.org:8770/',
    'http://user:password@lead.example.org/',
    'file:///etc/passwd',
    'data:text/html,hello',
    'gopher://lead.example.org/',
  ])('a redirect to %s is not followed', async (location) => {
    world.answers['inside.example.org'] = ['10.0.0.7']
    world.sites['lead.example.org'] = { '/': to('/on'), '/on': to(location) }
    expect(await get('http://lead.example.org/')).toHaveProperty('refused')
    expect(world.asked).toEqual([
      'GET lead.example.org/robots.txt',
      'GET lead.example.org/',
      'GET lead.example.org/on',
    ])
    expectNothingInside()
  })

  test.each(['http://127.0.0.1/', 'http://inside.example.org/admin', 'http://[::ffff:a00:7]/'])(
    'a robots.txt that redirects to %s keeps its whole site unread',
    async (location) => {
      world.answers['inside.example.org'] = ['10.0.0.7']
      world.sites['lead.example.org'] = { '/robots.txt': to(location), '/': '<p>Hello' }
      const answer = await get('http://lead.example.org/')
      expect(answer).toMatchObject({ refused: { en: expect.stringContaining('robots.txt') } })
      expect(world.asked).toEqual(['GET lead.example.org/robots.txt'])
      expectNothingInside()
    },
  )

  test('a name whose answer changes is looked up once, and dialled where it was judged', async () => {
    const turns = [['93.184.215.14'], ['127.0.0.1']]
    world.answers['rebound.example.org'] = () => turns.shift() ?? ['127.0.0.1']
    world.sites['rebound.example.org'] = {
      // Every answer ends its connection, so that the next request needs a new one.
      '/': (_, response) =>
        void response.writeHead(302, { location: '/two', connection: 'close' }).end(),
      '/two': '<p>Hello',
    }
    expect(await get('http://rebound.example.org/')).toMatchObject({ got: { status: 200 } })
    expect(world.looked_up).toEqual(['rebound.example.org'])
    expect(await get('http://rebound.example.org/')).toHaveProperty('refused')
    expectNothingInside()
  })
})

type Flood = { bytes: number; start?: string; type?: string }

/** Writes until the other side has gone, or the flood is over, and counts what was taken. */
function flood(counted: Flood): Site {
  return async (_, response: ServerResponse) => {
    const chunk = Buffer.alloc(65_536, 'x')
    const gone = once(response, 'close').catch(() => {})
    response.writeHead(200, { 'content-type': counted.type ?? 'text/html' })
    response.write(counted.start ?? '')
    while (counted.bytes < FLOOD && !response.destroyed) {
      counted.bytes += chunk.length
      if (response.write(chunk)) continue
      const drained = new AbortController()
      await Promise.race([once(response, 'drain', drained).catch(() => {}), gone])
      drained.abort()
    }
    response.end()
  }
}

describe('a site’s size is not the hub’s', () => {
  /** What lies in sockets and streams when the reader hangs up. */
  const ON_THE_WAY = 8 * MIB

  test('a robots.txt without end is read to 500 KiB, and its rules hold to there', async () => {
    const counted = { bytes: 0, start: 'User-agent: *\nDisallow: /private\n' }
    world.sites['lead.example.org'] = {
      '/robots.txt': flood(counted),
      '/': '<p>Hello',
      '/private': '<p>Secret',
    }
    expect(await get('http://lead.example.org/')).toMatchObject({ got: { status: 200 } })
    expect(counted.bytes).toBeLessThan(LIMITS.robots + ON_THE_WAY)
    counted.bytes = 0
    expect(await get('http://lead.example.org/private')).toHaveProperty('refused')
  })

  test('a page without end is read to its limit', async () => {
    const counted = { bytes: 0, start: '<p>Hello' }
    world.sites['lead.example.org'] = { '/': flood(counted) }
    const answer = await get('http://lead.example.org/')
    expect(answer).toMatchObject({ got: { is_cut: true, status: 200 } })
    expect('got' in answer && answer.got.body.length).toBe(LIMITS.document)
    expect(counted.bytes).toBeLessThan(LIMITS.document + ON_THE_WAY)
  })

  test.each([
    ['gzip', (bytes: Buffer) => gzipSync(bytes)],
    ['br', (bytes: Buffer) => brotliCompressSync(bytes, { params: QUICK })],
  ])('a %s bomb costs what is kept of it', async (encoding, pack) => {
    const bomb = pack(Buffer.alloc(BOMB, randomBytes(512)))
    let given = 0
    const drip = Readable.from(
      (function* () {
        for (let at = 0; at < bomb.length; at += 64) {
          given += 64
          yield bomb.subarray(at, at + 64)
        }
      })(),
      { objectMode: false, highWaterMark: 64 },
    )
    const taken = await readBody(drip, encoding, MIB)
    expect(taken).toMatchObject({ is_cut: true, bytes: { length: MIB } })
    // Brotli's first bytes already hold more than is kept.
    if (encoding === 'gzip') expect(given).toBeLessThan(bomb.length / 2)

    world.sites['lead.example.org'] = {
      '/': (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': encoding })
        response.end(bomb)
      },
    }
    const answer = await get('http://lead.example.org/', { document: MIB })
    expect(answer).toMatchObject({ got: { is_cut: true, body: { length: MIB } } })
  })

  test('what is packed twice, or in a way nobody asked for, is not unpacked', async () => {
    for (const encoding of ['gzip, gzip', 'zstd', 'compress']) {
      world.sites['lead.example.org'] = {
        '/': (_, response) => {
          response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': encoding })
          response.end('x')
        },
      }
      expect(await get('http://lead.example.org/'), encoding).toHaveProperty('refused')
    }
    const whole = Readable.from([gzipSync('Merhaba')])
    expect((await readBody(whole, 'gzip', MIB)).bytes.toString()).toBe('Merhaba')
    const broken = Readable.from([gzipSync('Merhaba').subarray(0, -6)])
    expect((await readBody(broken, 'gzip', MIB)).bytes.toString()).toBe('Merhaba')
  })

  test('what is no page is not taken', async () => {
    const counted = { bytes: 0, type: 'video/mp4' }
    world.sites['lead.example.org'] = { '/film': flood(counted) }
    expect(await get('http://lead.example.org/film')).toMatchObject({
      refused: { en: expect.stringContaining('video/mp4') },
    })
    expect(counted.bytes).toBeLessThan(ON_THE_WAY)
  })

  test('an answer that drips ends', async () => {
    world.sites['lead.example.org'] = {
      '/': (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' })
        const timer = setInterval(() => response.write('x'), 20)
        response.on('close', () => clearInterval(timer))
      },
    }
    expect(await get('http://lead.example.org/', { request_ms: 400 })).toMatchObject({
      refused: { en: expect.stringContaining('too long') },
    })
  })

  test('redirects, requests and a mission’s bytes have their ends', async () => {
    world.sites['lead.example.org'] = { '/': to('/'), '/page': '<p>Hello' }
    expect(await get('http://lead.example.org/')).toMatchObject({
      refused: { en: expect.stringContaining('keeps redirecting') },
    })
    expect(world.asked).toHaveLength(LIMITS.redirects + 2)

    const visit = createFetcher(world.options).visit(AbortSignal.timeout(20_000), { bytes: 0 })
    for (let count = 0; count < LIMITS.requests + 20; count += 1) {
      await visit.get('http://lead.example.org/page', 'fetch')
    }
    await visit.close()
    expect(world.asked.filter((line) => line.endsWith('/page'))).toHaveLength(LIMITS.requests)

    expect(await get('http://lead.example.org/page', {}, { bytes: LIMITS.mission })).toHaveProperty(
      'refused',
    )
    const spent = { bytes: LIMITS.mission - 500 }
    world.sites['lead.example.org']['/big'] = 'x'.repeat(100_000)
    expect(await get('http://lead.example.org/big', {}, spent)).toMatchObject({
      got: { is_cut: true },
    })
  })
})

describe('a robots.txt made to stall', () => {
  const ADDRESS = 'http://lead.example.org/robots.txt'
  const fill = (line: string, bytes: number) => line.repeat(Math.ceil(bytes / line.length))

  test('thousands of names times thousands of rules are those for us, once', () => {
    const text = `${fill('User-agent: WatchpostHub\n', 250_000)}${fill('Allow: /\n', 240_000)}Disallow: /private\n`
    const rules = rulesOf(ADDRESS, text)
    expect(rules.judge('http://lead.example.org/')).toBe('yes')
    expect(rules.judge('http://lead.example.org/private')).toBe('no')
  })

  test('asterisks that take a step for every sign of the address are not counted through', () => {
    const address = `http://lead.example.org/${'a'.repeat(4000)}`
    const text = `User-agent: *\nDisallow: /${'*a'.repeat(250_000)}b\n`
    expect(rulesOf(ADDRESS, text).judge(address)).toBe('unknown')
    expect(rulesOf(ADDRESS, 'User-agent: *\nDisallow: /*a*a*b$\n').judge(address)).toBe('yes')
  })

  test('groups, names and delays are read as RFC 9309 has them', () => {
    const text = `\uFEFFUser-Agent: other
Disallow: /
User-agent: watchposthub/2.0 # that is us
User-agent: another
Disallow: /private
Allow: /private/open
Crawl-delay: 2
User-agent: *
Disallow: /`
    const rules = rulesOf(ADDRESS, text)
    const judge = (path: string) => rules.judge(`http://lead.example.org${path}`)
    expect([judge('/'), judge('/private'), judge('/private/open')]).toEqual(['yes', 'no', 'yes'])
    expect(rules.pause_ms).toBe(2000)
    expect(rulesOf(ADDRESS, 'User-agent: *\nCrawl-delay: 1e9').pause_ms).toBe(LIMITS.pause_ms)
    expect(rulesOf(ADDRESS, '').judge('http://lead.example.org/')).toBe('yes')
  })
})
