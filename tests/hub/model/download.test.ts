import { createHash } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DownloadOptions, download } from '../../../hub/model/download.ts'
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
  ])('of %s is %s', async (path, reason) => {
    const url = path.startsWith('/') ? `${origin}${path}` : path
    await expect(get({ url })).rejects.toMatchObject({ reason })
  })
})
