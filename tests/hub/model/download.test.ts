import { createHash } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { MockAgent } from 'undici'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DownloadOptions, download } from '../../../hub/model/download.ts'
import { expectedOf, follow, refusalOf } from '../../../hub/model/origin.ts'
import { temporaryFolder, until } from '../support/model.ts'
import { tinyGguf } from '../support/tiny-gguf.ts'

/** Large enough to be cut several times. */
const model = tinyGguf({ layers: 8 })
const other = tinyGguf({ layers: 8, seed: 7 })
const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** What the stand-in of a model hub does; each test says how it differs. */
let file = model
let hasRanges = true
let breaksAt: number[] = []
let linked: string | undefined
let pointer: string | undefined
let statuses: number[] = []
let seen: { method: string; path: string; range: string | undefined }[] = []

const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  const { method = '', url = '', headers } = request
  seen.push({ method, path: url, range: headers.range })
  if (url.startsWith('/q/resolve/')) {
    if (linked) response.setHeader('x-linked-etag', `"${linked}"`)
    response.setHeader('x-linked-size', file.length)
    return response.writeHead(302, { location: `/cdn/${sha(file)}` }).end()
  }
  if (url.startsWith('/q/raw/')) {
    return pointer ? response.end(pointer) : response.writeHead(404).end()
  }
  if (url === '/loop.gguf') return response.writeHead(302, { location: url }).end()
  const status = method === 'GET' ? statuses.shift() : undefined
  if (status) return response.writeHead(status).end('refused')
  const etag = `"${sha(file).slice(0, 16)}"`
  response.setHeader('etag', etag)
  const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0)
  const isSame = (headers['if-range'] ?? etag) === etag
  const start = hasRanges && isSame ? from : 0
  const rest = file.subarray(start)
  response.setHeader('content-length', rest.length)
  if (start > 0) {
    response.setHeader('content-range', `bytes ${start}-${file.length - 1}/${file.length}`)
    response.statusCode = 206
  }
  if (method === 'HEAD') return response.end()
  const cut = breaksAt.shift()
  if (cut === undefined) return response.end(rest)
  if (cut > 0) response.write(rest.subarray(0, cut))
  // What the client has not read yet is lost with the connection.
  void until(async () => response.destroyed || (await partSize()) >= start + cut).then(() =>
    response.destroy(),
  )
})

let origin: string
let folder: string
let remove: () => Promise<void>
beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  // safe: it listens on a port
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())
beforeEach(async () => {
  ;({ folder, remove } = await temporaryFolder())
  file = model
  hasRanges = true
  breaksAt = []
  linked = sha(model)
  pointer = undefined
  statuses = []
  seen = []
})
afterEach(() => remove())

async function partSize(): Promise<number> {
  return stat(join(folder, 'tiny.gguf.part')).then(
    ({ size }) => size,
    () => 0,
  )
}

function get(more: Partial<DownloadOptions> = {}): Promise<string> {
  const url = `${origin}/q/resolve/main/tiny.gguf`
  return download({ url, folder, pause_ms: 1, spare_bytes: 0, ...more })
}
const gets = () => seen.filter(({ method }) => method === 'GET')

describe('a download', () => {
  test('has the digest the server announces, and is there whole', async () => {
    const progress: number[] = []
    const path = await get({ on_progress: ({ bytes }) => void progress.push(bytes) })
    expect(path).toBe(join(folder, 'tiny.gguf'))
    expect(await readFile(path)).toEqual(model)
    expect(await readdir(folder)).toEqual(['tiny.gguf'])
    expect(progress.at(-1)).toBe(model.length)
    expect(progress).toEqual([...progress].sort((a, b) => a - b))
  })

  test('of a file that is already there takes no bytes', async () => {
    await get()
    seen = []
    await get()
    expect(gets()).toEqual([])
  })

  test('goes on where the connection was cut, as often as that happens', async () => {
    breaksAt = [100_000, 50_000, 200_000]
    await get({ bytes: model.length, sha256: sha(model) })
    expect(await readFile(join(folder, 'tiny.gguf'))).toEqual(model)
    const ranges = gets().flatMap(({ path, range }) => (path.startsWith('/cdn/') ? [range] : []))
    expect(ranges).toHaveLength(4)
    expect(ranges[0]).toBeUndefined()
    expect(ranges.slice(1).every((range) => /^bytes=[1-9]\d*-$/.test(range ?? ''))).toBe(true)
  })

  test('gives up when nothing comes any more, and goes on when it is started again', async () => {
    breaksAt = [100_000, 0, 0, 0, 0]
    await expect(get()).rejects.toMatchObject({ reason: 'interrupted' })
    const { size } = await stat(join(folder, 'tiny.gguf.part'))
    expect(size).toBeGreaterThan(0)
    expect(await readdir(folder)).not.toContain('tiny.gguf')
    seen = []
    await get()
    expect(gets().at(-1)?.range).toBe(`bytes=${size}-`)
    expect(await readFile(join(folder, 'tiny.gguf'))).toEqual(model)
  })

  test('begins anew with a server that knows no ranges', async () => {
    hasRanges = false
    breaksAt = [300_000]
    await get()
    expect(await readFile(join(folder, 'tiny.gguf'))).toEqual(model)
  })

  test('begins anew when the file has changed meanwhile', async () => {
    breaksAt = [100_000, 0, 0, 0, 0]
    await expect(get()).rejects.toMatchObject({ reason: 'interrupted' })
    file = other
    linked = sha(other)
    await get()
    expect(await readFile(join(folder, 'tiny.gguf'))).toEqual(other)
  })

  test('never mixes two versions that a server passes for one', async () => {
    breaksAt = [100_000, 0, 0, 0, 0]
    await expect(get({ sha256: sha(other) })).rejects.toMatchObject({ reason: 'interrupted' })
    file = other
    await get({ sha256: sha(other) })
    expect(await readFile(join(folder, 'tiny.gguf'))).toEqual(other)
  })

  test('with another digest than expected is refused and deleted', async () => {
    const error = await get({ sha256: sha(other) }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ reason: 'wrong_digest' })
    expect(String(error)).toContain(sha(model))
    expect((await readdir(folder)).filter((name) => !name.endsWith('.json'))).toEqual([])
  })

  test('takes the digest from the LFS pointer where no header has it', async () => {
    linked = undefined
    pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${sha(model)}\nsize ${model.length}\n`
    await get()
    expect(seen.map(({ path }) => path)).toContain('/q/raw/main/tiny.gguf')
    expect(await readFile(join(folder, 'tiny.gguf'))).toEqual(model)
  })

  test('does not begin without a digest', async () => {
    await expect(get({ url: `${origin}/plain.gguf` })).rejects.toMatchObject({
      reason: 'digest_unknown',
    })
    expect(gets()).toEqual([])
    await get({ url: `${origin}/plain.gguf`, sha256: sha(model).toUpperCase() })
    expect(await readFile(join(folder, 'plain.gguf'))).toEqual(model)
  })

  test('does not believe a digest that came without encryption', async () => {
    const url = 'http://models.example/q/resolve/main/tiny.gguf'
    await expect(get({ url })).rejects.toMatchObject({ reason: 'digest_unknown' })
  })

  test('of something else than a model stops at its first bytes', async () => {
    file = Buffer.from(`<html>${'x'.repeat(500_000)}</html>`)
    await expect(get({ sha256: sha(file) })).rejects.toMatchObject({ reason: 'not_gguf' })
  })

  test('needs room for the file and for the rest of the hub', async () => {
    const error = await get({ spare_bytes: 1e18 }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ reason: 'no_space' })
    expect(gets()).toEqual([])
  })

  test('that is cancelled leaves its beginning for the next time', async () => {
    const cancel = new AbortController()
    breaksAt = [100_000]
    const error = await get({
      signal: cancel.signal,
      on_progress: () => cancel.abort(),
    }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ reason: 'cancelled' })
    expect((await stat(join(folder, 'tiny.gguf.part'))).size).toBeGreaterThan(0)
    await get()
    expect(await readFile(join(folder, 'tiny.gguf'))).toEqual(model)
  })

  test('starts over when what lies there is not what it says', async () => {
    await writeFile(join(folder, 'tiny.gguf.part'), 'GGUF and nothing')
    await writeFile(join(folder, 'tiny.gguf.part.json'), 'no json')
    await get()
    expect(await readFile(join(folder, 'tiny.gguf'))).toEqual(model)
  })

  test.each([[503], [429], [416]])('tries again after %i', async (status) => {
    statuses = [status, status]
    await get()
    expect(await readFile(join(folder, 'tiny.gguf'))).toEqual(model)
  })

  test.each([[401], [403], [404], [410], [451]])('is refused at once by %i', async (status) => {
    statuses = [status]
    await expect(get()).rejects.toMatchObject({ reason: 'refused' })
    expect(gets().filter(({ path }) => path.startsWith('/cdn/'))).toHaveLength(1)
  })

  test.each([
    ['ftp://a.example/a.gguf', 'refused'],
    ['/loop.gguf', 'refused'],
    ['/a.bin', 'not_gguf'],
    ['/..%2F..%2Fetc%2Fa.gguf', 'not_gguf'],
    ['/a%E0%A4.gguf', 'not_gguf'],
  ])('of %s is %s', async (path, reason) => {
    const url = path.startsWith('/') ? `${origin}${path}` : path
    await expect(get({ url })).rejects.toMatchObject({ reason })
  })
})

describe('what is to be expected of a file', () => {
  const SHA = 'ab'.repeat(32)
  const HOST = 'https://hub.example'
  /** A server with these answers; whatever else it is asked fails. */
  function served(
    ...answers: [method: string, path: string, status: number, headers?: object, body?: string][]
  ) {
    const agent = new MockAgent()
    agent.disableNetConnect()
    for (const [method, path, status, headers = {}, body = ''] of answers) {
      agent
        .get(HOST)
        .intercept({ method, path })
        .reply(status, body, { headers: { ...headers } })
    }
    return agent
  }
  const expected = (
    agent: MockAgent,
    more: { bytes?: number; sha256?: string; path?: string } = {},
  ) => {
    const { path = '/q/resolve/main/a.gguf', ...known } = more
    return expectedOf({ url: `${HOST}${path}`, agent, ...known })
  }
  const HEAD = ['HEAD', '/q/resolve/main/a.gguf'] as const
  const RAW = ['GET', '/q/raw/main/a.gguf', 200] as const
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${SHA}\nsize 77\n`

  test('is asked of nobody when it is known', async () => {
    const known = { bytes: 5, sha256: SHA.toUpperCase() }
    expect(await expected(served(), known)).toEqual({ bytes: 5, sha256: SHA })
  })

  test.each<[string, object]>([
    ['quoted', { 'x-linked-etag': `"${SHA}"`, 'x-linked-size': '77' }],
    ['bare', { 'x-linked-etag': SHA, 'x-linked-size': '77' }],
    ['on the way to it', { 'x-linked-etag': SHA, 'content-length': '77' }],
  ])('is read from the headers: %s', async (_, headers) => {
    expect(await expected(served([...HEAD, 200, headers]))).toEqual({ bytes: 77, sha256: SHA })
  })

  test('is what the caller knows, where the server says something else', async () => {
    const headers = { 'x-linked-etag': 'cd'.repeat(32), 'x-linked-size': '1' }
    const agent = served([...HEAD, 200, headers], [...HEAD, 200, headers])
    expect(await expected(agent, { sha256: SHA })).toEqual({ bytes: 1, sha256: SHA })
    expect(await expected(agent, { bytes: 9 })).toEqual({ bytes: 9, sha256: 'cd'.repeat(32) })
  })

  test.each([
    [`"${SHA}`, true],
    [`x${SHA}`, false],
    [`${SHA}0`, false],
    ['W/"1"', false],
  ])('the tag %s is a digest: %s', async (tag, isOne) => {
    const agent = served([...HEAD, 200, { 'x-linked-etag': tag, 'x-linked-size': '77' }], [...RAW])
    const found = expected(agent)
    if (isOne) expect(await found).toEqual({ bytes: 77, sha256: SHA })
    else await expect(found).rejects.toMatchObject({ reason: 'digest_unknown' })
  })

  test.each([405, 501])('is read from the pointer of Git LFS where HEAD is %i', async (status) => {
    expect(await expected(served([...HEAD, status], [...RAW, {}, pointer]))).toEqual({
      bytes: 77,
      sha256: SHA,
    })
  })

  test('is not read from a pointer that is too long, or is none', async () => {
    const long = { 'content-length': '1025' }
    for (const [headers, body] of [
      [long, pointer.padEnd(1025)],
      [{}, pointer.replace('oid', 'xoid')],
      [{}, pointer.replace('size', 'xsize')],
      [{}, pointer.replace('77', '77 bytes')],
    ] as const) {
      const agent = served([...HEAD, 405], [...RAW, headers, body])
      await expect(expected(agent)).rejects.toMatchObject({ reason: 'digest_unknown' })
    }
    const whole = { 'content-length': '1024' }
    const agent = served([...HEAD, 405], [...RAW, whole, pointer.padEnd(1024)])
    expect(await expected(agent)).toMatchObject({ bytes: 77 })
  })

  test('is asked for: without a digest or a length there is no download', async () => {
    const path = '/a.gguf'
    const agent = served(['HEAD', path, 200, { 'content-length': '7' }], ['HEAD', path, 200])
    await expect(expected(agent, { path })).rejects.toMatchObject({
      reason: 'digest_unknown',
      message: expect.stringContaining('hub.example does not report the file’s SHA-256'),
    })
    await expect(expected(agent, { path, sha256: SHA })).rejects.toMatchObject({
      reason: 'refused',
      message: 'hub.example does not report the file’s size.',
    })
    await expect(expected(served(['HEAD', path, 404]), { path })).rejects.toMatchObject({
      message: 'hub.example does not have this file. Check the address.',
    })
  })

  test.each([
    [
      'http://hub.example/a.gguf',
      'digest_unknown',
      'The connection to hub.example is not encrypted',
    ],
    ['http://10.0.0.1:81/a.gguf', 'digest_unknown', 'The connection to 10.0.0.1:81 is not'],
  ])('is believed of nobody on the way: %s', async (url, reason, said) => {
    await expect(expectedOf({ url, agent: served() })).rejects.toMatchObject({
      reason,
      message: expect.stringContaining(said),
    })
  })

  test('redirects are followed six times, and never from https to http', async () => {
    const steps = (count: number, end = '/end') => {
      let at = 0
      return follow(`${HOST}/a`, async () => {
        at += 1
        const headers = at <= count ? { location: at === count ? end : `/${at}` } : {}
        const body = { dump: async () => {} }
        // safe: all that is read of an answer
        return { statusCode: at <= count ? 302 : 200, headers, body } as never
      })
    }
    expect(await steps(6)).toMatchObject({ statusCode: 200 })
    await expect(steps(7)).rejects.toMatchObject({
      message: 'hub.example keeps redirecting to other addresses.',
    })
    await expect(steps(1, 'http://hub.example/b')).rejects.toMatchObject({
      reason: 'refused',
      message: 'hub.example redirects to an unencrypted address.',
    })
    expect(await steps(1, 'https://other.example/b')).toMatchObject({ statusCode: 200 })
  })

  test.each([
    ...[401, 403].map(
      (status) => [status, 'refused', 'does not offer this file publicly'] as const,
    ),
    ...[404, 410].map((status) => [status, 'refused', 'does not have this file'] as const),
    ...[206, 408, 416, 429, 500, 503].map(
      (status) => [status, 'interrupted', 'cannot send the file at the moment'] as const,
    ),
    ...[400, 418, 451, 499].map((status) => [status, 'refused', 'refuses the download'] as const),
  ])('%i is %s: the server %s', (status, reason, said) => {
    const error = refusalOf(status, `${HOST}/a.gguf`)
    expect(error.reason).toBe(reason)
    expect(error.message).toContain(`hub.example ${said}`)
  })
})
