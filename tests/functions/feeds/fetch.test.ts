import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { fetchFeed } from '../../../functions/feeds/fetch.ts'
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
    expect(asked).not.toHaveProperty('if-none-match')
  })

  test('a 304 is a success', async () => {
    const url = await upstream((request, response) => {
      response.statusCode = request.headers['if-none-match'] === '"a"' ? 304 : 500
      response.end()
    })
    const answer = await fetchFeed(url, { fetch, now, validators: { etag: '"a"' } })
    expect(answer).toEqual({ not_modified: true, max_age_seconds: 0 })
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

  test('a body without end is dropped at the cap, also when it comes packed', async () => {
    const url = await upstream((_, response) => {
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync(Buffer.alloc(1_000_000, ' ')))
    })
    await expect(fetchFeed(url, { fetch, now, max_bytes: 1000 })).rejects.toMatchObject({
      code: 'too_large',
    })
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
