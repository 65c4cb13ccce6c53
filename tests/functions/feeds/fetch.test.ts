import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { fetchEach, fetchFeed, fetchText, pauseFor } from '../../../functions/feeds/fetch.ts'
import { VERSION } from '../../../shared/version.ts'

const now = new Date('2026-03-01T12:00:00.000Z')
const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

async function upstream(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  open.push(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise((ready) => server.once('listening', ready))
  // safe: a server that listens on TCP has an address with a port
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed`
}

describe('fetchFeed', () => {
  test('says who asks, takes gzip, and remembers the validators', async () => {
    let asked: Record<string, unknown> = {}
    const url = await upstream((request, response) => {
      asked = request.headers
      response.setHeader('content-encoding', 'gzip')
      response.setHeader('etag', '"a"')
      response.setHeader('last-modified', 'Sun, 01 Mar 2026 11:59:00 GMT')
      response.setHeader('cache-control', 'public, max-age=60')
      response.end(gzipSync('{"a":1}'))
    })
    expect(await fetchFeed(url, { fetch, now, contact: 'ops@example.org' })).toEqual({
      not_modified: false,
      json: { a: 1 },
      max_age_seconds: 60,
      validators: { etag: '"a"', last_modified: 'Sun, 01 Mar 2026 11:59:00 GMT' },
    })
    expect(asked['user-agent']).toBe(`Watchpost/${VERSION} (+ops@example.org)`)
    expect(asked['accept-encoding']).toContain('gzip')
    expect(asked.accept).toBe('application/json')
    expect(asked).not.toHaveProperty('if-none-match')
    expect(asked).not.toHaveProperty('if-modified-since')
  })

  test('asks for any form of a text, or for the one that is wanted, without a contact', async () => {
    const asked: unknown[] = []
    const url = await upstream(({ headers }, response) => {
      asked.push([headers.accept, headers['user-agent'], headers['x-own']])
      response.end('{}')
    })
    await fetchText(url, { fetch, now })
    await fetchText(url, { fetch, now, accept: 'text/csv', headers: { 'x-own': 'yes' } })
    const agent = `Watchpost/${VERSION} (self-hosted)`
    expect(asked).toEqual([
      ['*/*', agent, undefined],
      ['text/csv', agent, 'yes'],
    ])
  })

  test('puts the parts of a body together in their order', async () => {
    const parts = ['{"a":', '[1,', '2]}'].map((text) => new TextEncoder().encode(text))
    const body = new ReadableStream({
      pull: (controller) => {
        const part = parts.shift()
        if (part) controller.enqueue(part)
        else controller.close()
      },
    })
    const answer = fetchFeed('https://x.test/', { now, fetch: async () => new Response(body) })
    expect(await answer).toMatchObject({ json: { a: [1, 2] } })
  })

  test('an answer without a body is an empty one', async () => {
    const answer = fetchText('https://x.test/', { now, fetch: async () => new Response(null) })
    expect(await answer).toMatchObject({ text: '' })
  })

  const AT = 'Sun, 01 Mar 2026 11:59:00 GMT'
  test('a 304 is a success, to an ETag or to a time', async () => {
    const url = await upstream((request, response) => {
      const { 'if-none-match': etag, 'if-modified-since': since } = request.headers
      response.statusCode = etag === '"a"' || since === AT ? 304 : 500
      response.end()
    })
    for (const validators of [{ etag: '"a"' }, { last_modified: AT }]) {
      const answer = await fetchFeed(url, { fetch, now, validators })
      expect(answer).toEqual({ not_modified: true, max_age_seconds: 0 })
    }
  })

  test.each([
    [503, { 'retry-after': '30' }, { code: 'http_status', retry_after_seconds: 30 }],
    [404, {}, { code: 'http_status', retry_after_seconds: undefined }],
    [204, {}, { code: 'http_status' }],
    [
      429,
      { 'retry-after': 'Sun, 01 Mar 2026 12:05:00 GMT' },
      { code: 'rate_limited', retry_after_seconds: 300 },
    ],
  ])('HTTP %i is an error of its own', async (status, headers, error) => {
    const url = await upstream((_, response) => response.writeHead(status, headers).end())
    await expect(fetchFeed(url, { fetch, now })).rejects.toMatchObject(error)
  })

  test('a redirect leads only where it may', async () => {
    const hosts: string[] = []
    const url = await upstream((request, response) => {
      hosts.push(request.url ?? '')
      if (request.url === '/end') return response.end('{"a":1}')
      return response
        .writeHead(307, { location: request.url === '/feed' ? '/end' : '//x.test/' })
        .end()
    })
    const { host } = new URL(url)
    const mayFollow = (to: URL) => to.host === host
    expect(await fetchFeed(url, { fetch, now, mayFollow })).toMatchObject({ json: { a: 1 } })
    await expect(
      fetchFeed(url.replace('/feed', '/away'), { fetch, now, mayFollow }),
    ).rejects.toMatchObject({ message: 'redirects to x.test, which it may not' })
    expect(hosts).toEqual(['/feed', '/end', '/away'])
  })

  test.each([301, 302, 303, 307, 308])('a %i is followed where it may lead', async (status) => {
    const url = await upstream((request, response) => {
      if (request.url === '/end') return response.end('{"a":1}')
      return response.writeHead(status, { location: '/end' }).end()
    })
    const answer = fetchFeed(url, { fetch, now, mayFollow: () => true })
    expect(await answer).toMatchObject({ json: { a: 1 } })
  })

  test('who does not mind where it leads is led there', async () => {
    const url = await upstream((request, response) => {
      if (request.url === '/end') return response.end('{"a":1}')
      return response.writeHead(302, { location: '/end' }).end()
    })
    expect(await fetchFeed(url, { fetch, now })).toMatchObject({ json: { a: 1 } })
  })

  test('a redirect to what is no address is refused', async () => {
    const url = await upstream((_, response) =>
      response.writeHead(302, { location: 'http://' }).end(),
    )
    await expect(fetchFeed(url, { fetch, now, mayFollow: () => true })).rejects.toMatchObject({
      code: 'http_status',
      message: 'redirects to no address, which it may not',
    })
  })

  test('a redirect that names no address leads nowhere', async () => {
    const url = await upstream((_, response) => response.writeHead(301).end())
    await expect(fetchFeed(url, { fetch, now, mayFollow: () => true })).rejects.toMatchObject({
      message: 'answered HTTP 301',
    })
  })

  test('five redirects are followed, and no sixth', async () => {
    const url = await upstream((request, response) => {
      const left = Number(request.url?.slice(1))
      if (left === 0) return response.end('{"a":1}')
      return response.writeHead(302, { location: `/${left - 1}` }).end()
    })
    const redirected = (times: number) =>
      fetchFeed(new URL(`/${times}`, url).href, { fetch, now, mayFollow: () => true })
    expect(await redirected(5)).toMatchObject({ json: { a: 1 } })
    await expect(redirected(6)).rejects.toMatchObject({
      code: 'http_status',
      message: 'redirects more than 5 times',
    })
  })

  test('a web page with status 200 is an error that says so', async () => {
    const url = await upstream((_, response) => response.end('<!doctype html><p>Invalid key'))
    await expect(fetchFeed(url, { fetch, now })).rejects.toMatchObject({
      code: 'not_json',
      message: 'answered with a web page',
    })
  })

  test('a truncated body is an error', async () => {
    const url = await upstream((_, response) => response.end('{"features":[{"id"'))
    await expect(fetchFeed(url, { fetch, now })).rejects.toMatchObject({ code: 'not_json' })
  })

  test('a body of exactly the most bytes is read, one byte more is not', async () => {
    const url = await upstream((_, response) => response.end('{"a":1}'))
    expect(await fetchFeed(url, { fetch, now, max_bytes: 7 })).toMatchObject({ json: { a: 1 } })
    await expect(fetchFeed(url, { fetch, now, max_bytes: 6 })).rejects.toMatchObject({
      code: 'too_large',
      message: 'answered more than 6 bytes',
    })
  })

  test('a body without end is dropped at the cap, also when it comes packed', async () => {
    const url = await upstream((_, response) => {
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync(Buffer.alloc(1_000_000, ' ')))
    })
    await expect(fetchFeed(url, { fetch, now, max_bytes: 1000 })).rejects.toMatchObject({
      code: 'too_large',
    })
  })

  test('a body that is too large is not read on', async () => {
    let is_cancelled = false
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1000)),
      cancel: () => {
        is_cancelled = true
      },
    })
    const asked = fetchFeed('https://x.test/', {
      ...{ now, max_bytes: 5000, fetch: async () => new Response(body) },
    })
    await expect(asked).rejects.toMatchObject({ code: 'too_large' })
    expect(is_cancelled).toBe(true)
  })

  test('silence ends at the timeout', async () => {
    const url = await upstream(() => {})
    await expect(fetchFeed(url, { fetch, now, timeout_ms: 50 })).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('within 50 ms'),
    })
  })

  test('a body that stops half way ends at the timeout', async () => {
    const url = await upstream((_, response) => response.write('{"features":['))
    await expect(fetchFeed(url, { fetch, now, timeout_ms: 50 })).rejects.toMatchObject({
      code: 'unreachable',
    })
  })

  test('a broken connection is unreachable, and the cause is kept', async () => {
    const url = await upstream((request) => request.socket.destroy())
    const error = await fetchFeed(url, { fetch, now }).catch((error: unknown) => error)
    expect(error).toMatchObject({ code: 'unreachable', cause: expect.any(Error) })
  })

  test('the caller can cancel it', async () => {
    const url = await upstream(() => {})
    const signal = AbortSignal.abort()
    await expect(fetchFeed(url, { fetch, now, signal })).rejects.toMatchObject({
      code: 'unreachable',
    })
  })
})

test('fetchText decodes what it gets', async () => {
  const url = await upstream((_, response) => {
    response.setHeader('content-type', 'text/xml; charset=iso-8859-1')
    response.end(Buffer.from('Bárðarbunga', 'latin1'))
  })
  expect(await fetchText(url, { fetch, now })).toMatchObject({ text: 'Bárðarbunga' })
})

describe('fetchEach', () => {
  test('asks each address with its own validators, and names the one that failed', async () => {
    const asked: (string | undefined)[] = []
    const url = await upstream((request, response) => {
      asked.push(`${request.url} ${request.headers['if-none-match'] ?? '-'}`)
      if (request.url?.includes('/bad')) response.statusCode = 503
      else response.setHeader('etag', `"${request.url}"`)
      response.setHeader(
        'cache-control',
        request.url?.includes('/b?') || request.url?.endsWith('/b') ? 'max-age=90' : 'max-age=10',
      )
      response.end(request.url)
    })
    const urls = [`${url}/a?key=secret`, `${url}/bad?key=secret`, `${url}/b`]
    const first = await fetchEach(urls, { fetch, now })
    expect(first.answers).toEqual([
      { url: urls[0], text: '/feed/a?key=secret' },
      { url: urls[2], text: '/feed/b' },
    ])
    expect(first.failed).toEqual([
      { item: `${new URL(url).host}/feed/bad`, reason: 'answered HTTP 503' },
    ])
    expect(first).toMatchObject({ max_age_seconds: 90, not_modified: false })
    asked.length = 0
    await fetchEach(urls, { fetch, now, validators: first.validators })
    expect(asked).toEqual([
      '/feed/a?key=secret "/feed/a?key=secret"',
      '/feed/bad?key=secret -',
      '/feed/b "/feed/b"',
    ])
  })

  test('is not modified when every address answers 304, and keeps the validators', async () => {
    const url = await upstream((_, response) => {
      response.statusCode = 304
      response.end()
    })
    const validators = { [url]: { etag: '"a"' } }
    expect(await fetchEach([url], { fetch, now, validators })).toEqual({
      answers: [{ url, text: null }],
      failed: [],
      validators,
      max_age_seconds: 0,
      not_modified: true,
    })
  })

  test('is modified when one address answers anew', async () => {
    const url = await upstream((request, response) => {
      if (request.url?.endsWith('same')) response.statusCode = 304
      response.end()
    })
    const round = await fetchEach([`${url}/same`, `${url}/new`], { fetch, now })
    expect(round).toMatchObject({ not_modified: false, answers: [{ text: null }, { text: '' }] })
  })

  test('a mistake of our own is no failure of an address', async () => {
    const mistake = new RangeError('a mistake of our own')
    const answer: typeof fetch = async (url) => {
      const headers = new Headers()
      if (String(url).endsWith('b')) {
        headers.get = () => {
          throw mistake
        }
      }
      return Object.defineProperty(new Response('a'), 'headers', { value: headers })
    }
    const urls = ['https://x.test/a', 'https://x.test/b']
    await expect(fetchEach(urls, { fetch: answer, now })).rejects.toBe(mistake)
  })

  test('fails when every address does, and stops at a 429', async () => {
    let asked = 0
    const url = await upstream((request, response) => {
      asked += 1
      response.statusCode = request.url?.endsWith('busy') ? 429 : 500
      response.end()
    })
    await expect(fetchEach([`${url}/1`, `${url}/2`], { fetch, now })).rejects.toThrow('HTTP 500')
    expect(asked).toBe(2)
    asked = 0
    const busy = fetchEach([`${url}/busy`, `${url}/2`], { fetch, now })
    await expect(busy).rejects.toMatchObject({ code: 'rate_limited' })
    expect(asked).toBe(1)
  })

  test('at a 429 what answered before counts for nothing: the whole round is asked later', async () => {
    const url = await upstream((request, response) => {
      if (request.url?.endsWith('busy')) response.writeHead(429, { 'retry-after': '90' })
      response.end()
    })
    await expect(fetchEach([`${url}/1`, `${url}/busy`], { fetch, now })).rejects.toMatchObject({
      code: 'rate_limited',
      retry_after_seconds: 90,
    })
  })

  test('is modified when one address fails and the others answer 304', async () => {
    const url = await upstream((request, response) => {
      response.statusCode = request.url?.endsWith('bad') ? 500 : 304
      response.end()
    })
    const round = await fetchEach([`${url}/1`, `${url}/bad`], { fetch, now })
    expect(round).toMatchObject({ not_modified: false, answers: [{ text: null }] })
  })

  test('a failure that is no answer of the upstream is not hidden', async () => {
    const broken = () => Promise.resolve(null as unknown as Response)
    await expect(fetchEach(['https://x.test/'], { fetch: broken, now })).rejects.toThrow(
      'x.test cannot be reached',
    )
  })
})

test.each([
  [0, {}],
  [60, {}],
  [61, { next_poll_seconds: 61 }],
  [3601, { next_poll_seconds: 3600 }],
])('an answer that may be kept for %i s asks a feed of 60 s for %j', (max_age, pause) => {
  expect(pauseFor(max_age, 60)).toEqual(pause)
})

test('a feed may have a shorter longest pause', () => {
  expect(pauseFor(3600, 60, 900)).toEqual({ next_poll_seconds: 900 })
})
