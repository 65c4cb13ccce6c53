import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { searchWeb } from '../../../hub/reader/search.ts'

/** An endpoint like that of SearXNG; what it answers is set by each test. */
let server: Server
let endpoint = ''
let asked: URL[] = []
let accepted: (string | undefined)[] = []
let answer: { status?: number; body?: string | Buffer; headers?: Record<string, string> } = {}

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(new URL(request.url ?? '/', 'http://search.example'))
    accepted = [request.headers.accept, String(request.headers['accept-encoding'])]
    response.writeHead(answer.status ?? 200, answer.headers)
    response.end(answer.body ?? '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // safe: it listens on TCP
})
afterAll(() => server.close())
beforeEach(() => {
  asked = []
  answer = {}
})

const search = (query = 'haulage Bursa', at = endpoint) =>
  searchWeb({ endpoint: at, query, language: 'en', signal: new AbortController().signal })

const results = (list: unknown[]) => {
  answer = { body: JSON.stringify({ query: 'q', number_of_results: 0, results: list }) }
}

test('asks for JSON, and takes addresses of the web once each', async () => {
  results([
    { url: 'https://demir.example/', title: ' Demir \n Lojistik ', content: 'Runs 40 trucks.' },
    { url: 'https://demir.example/', title: 'again' },
    { url: 'javascript:alert(1)', title: 'evil' },
    { url: 'file:///etc/passwd', title: 'evil' },
    { url: 'no address', title: 'evil' },
    { url: 'http://kaya.example/x', title: null, content: null },
  ])
  expect(await search('a & b=c', `${endpoint}/searxng/`)).toEqual({
    results: [
      { url: 'https://demir.example/', title: 'Demir Lojistik', content: 'Runs 40 trucks.' },
      { url: 'http://kaya.example/x', title: '', content: '' },
    ],
  })
  expect(asked[0]?.pathname).toBe('/searxng/search')
  expect(Object.fromEntries(asked[0]?.searchParams ?? [])).toEqual({
    q: 'a & b=c',
    format: 'json',
    language: 'en',
  })
})

test('takes ten results, each of a bounded length', async () => {
  const many = Array.from({ length: 40 }, (_, at) => ({
    url: `https://a${at}.example/`,
    title: 't'.repeat(5000),
    content: 'c'.repeat(5000),
  }))
  results(many)
  const found = await search()
  if (!('results' in found)) throw new Error('no results')
  expect(found.results).toHaveLength(10)
  expect([found.results[0]?.title.length, found.results[0]?.content.length]).toEqual([300, 1000])
})

test.each<[string, typeof answer, RegExp]>([
  ['has no JSON', { status: 403 }, /search\.formats/],
  ['is broken', { status: 500 }, /status 500/],
  ['answers with a page', { body: '<html>' }, /something else/],
  ['answers with other JSON', { body: '{"hits":[]}' }, /something else/],
  ['redirects', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, /status 302/],
  ['never ends', { body: `{"results":[{"url":"${'x'.repeat(2_100_000)}"}]}` }, /too long/],
])('says so where the endpoint %s', async (_, given, said) => {
  answer = given
  const found = await search()
  expect('refused' in found && found.refused.en).toMatch(said)
  expect(asked).toHaveLength(1)
})

test.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
])('reads an answer that is packed by %s', async (encoding, pack) => {
  const url = 'https://demir.example/'
  const body = pack(JSON.stringify({ results: [{ url, title: 'Demir', content: 'Trucks.' }] }))
  answer = { body, headers: { 'content-encoding': encoding } }
  expect(await search()).toEqual({ results: [{ url, title: 'Demir', content: 'Trucks.' }] })
})

test('says that nobody answers', async () => {
  const found = await search('q', 'http://127.0.0.1:1')
  expect('refused' in found && found.refused.tr).toMatch(/ulaşılamıyor/)
})

test.each([
  ['', '/search'],
  ['/', '/search'],
  ['/search', '/search'],
  ['/search/', '/search'],
  ['/searxng', '/searxng/search'],
  ['/searxng/search?format=html', '/searxng/search'],
  ['/research', '/research/search'],
])('the endpoint "%s" is asked at %s, for JSON', async (path, pathname) => {
  results([])
  expect(await search('q', `${endpoint}${path}`)).toEqual({ results: [] })
  expect(asked.map((url) => [url.pathname, url.searchParams.getAll('format')])).toEqual([
    [pathname, ['json']],
  ])
  expect(accepted).toEqual(['application/json', 'gzip, br'])
})

test('an endpoint is named without the brackets of its address', async () => {
  const found = await search('q', 'http://[::1]:1')
  expect('refused' in found && found.refused.en).toBe('The search endpoint ::1 cannot be reached.')
})

test('a search that nobody wants any more ends as that, not as an endpoint that is away', async () => {
  results([])
  const given = { endpoint, query: 'q', language: 'en' as const, signal: AbortSignal.abort() }
  await expect(searchWeb(given)).rejects.toThrow(/abort/)
})
