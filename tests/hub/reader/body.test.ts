import { PassThrough, Readable } from 'node:stream'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readBody, UnknownEncoding } from '../../../hub/reader/body.ts'

const TEXT = 'Ships tea to Ankara. '.repeat(50)
const PLAIN = Buffer.from(TEXT)
const inParts = (bytes: Buffer) =>
  Readable.from([bytes.subarray(0, 10), bytes.subarray(10)], { objectMode: false })

test.each<[encoding: string, bytes: Buffer]>([
  ['', PLAIN],
  ['identity', PLAIN],
  [' Identity ', PLAIN],
  ['gzip', gzipSync(TEXT)],
  ['x-gzip', gzipSync(TEXT)],
  ['GZIP', gzipSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
])('a body of the encoding "%s" is read as what was packed', async (encoding, bytes) => {
  const body = inParts(bytes)
  let wire = 0
  const read = await readBody(body, encoding, PLAIN.length, (more) => {
    wire += more
  })
  expect({ ...read, bytes: read.bytes.toString() }).toEqual({ bytes: TEXT, is_cut: false })
  expect([wire, body.destroyed]).toEqual([bytes.length, true])
})

test.each<[encoding: string, bytes: Buffer]>([
  ['', PLAIN],
  ['gzip', gzipSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
])(
  'of more than the limit its beginning is read, "%s", and the rest is not asked for',
  async (encoding, bytes) => {
    const body = inParts(bytes)
    for (const most of [1, 10, 15, PLAIN.length - 1]) {
      const read = await readBody(inParts(bytes), encoding, most)
      expect([most, read.is_cut, read.bytes.toString()]).toEqual([most, true, TEXT.slice(0, most)])
    }
    await readBody(body, encoding, 1)
    expect([body.destroyed, body.listenerCount('unpipe')]).toEqual([true, 0])
  },
)

test('a packed body that breaks off is read as far as it came', async () => {
  for (const [encoding, bytes] of [
    ['gzip', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
  ] as const) {
    const read = await readBody(Readable.from([bytes.subarray(0, -3)]), encoding, 10_000)
    expect(TEXT.startsWith(read.bytes.toString()), encoding).toBe(true)
    expect(read.is_cut).toBe(false)
  }
})

test.each(['', 'gzip'])(
  'a connection that fails is told as that, of the encoding "%s"',
  async (encoding) => {
    const body = new PassThrough()
    body.write(encoding === '' ? PLAIN : gzipSync(TEXT).subarray(0, 20))
    const reading = readBody(body, encoding, 10_000)
    body.destroy(new Error('reset'))
    await expect(reading).rejects.toThrow('reset')
  },
)

test('what is no packed body, or packed in a way that nobody asked for, is an error', async () => {
  const damaged = readBody(Readable.from([PLAIN]), 'gzip', 10_000)
  await expect(damaged).rejects.toMatchObject({ code: 'Z_DATA_ERROR' })
  const body = inParts(PLAIN)
  const unknown = readBody(body, 'x'.repeat(41), 10_000)
  await expect(unknown).rejects.toThrow(new UnknownEncoding('x'.repeat(40)))
  await expect(unknown).rejects.toBeInstanceOf(UnknownEncoding)
  expect(body.destroyed).toBe(true)
})
