import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { FromReader, readMessages, sendMessage, ToReader } from '../../../hub/reader/wire.ts'

async function all<T>(given: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const one of given) found.push(one)
  return found
}
const read = (chunks: (string | Buffer)[], max_bytes = 100) =>
  all(
    readMessages(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), z.unknown(), max_bytes),
  )

test('messages are read line by line, wherever they are divided', async () => {
  const whole = Buffer.from('{"a":"İ"}\n[1]\n2\n')
  const byte = Array.from(whole, (one) => Buffer.from([one]))
  for (const chunks of [
    [whole],
    byte,
    [whole.subarray(0, 7), whole.subarray(7, 12), whole.subarray(12)],
  ]) {
    expect(await read(chunks)).toEqual([{ a: 'İ' }, [1], 2])
  }
  // A line that is not ended is no message.
  expect(await read(['1\n', '2'])).toEqual([1])
})

test.each([
  ['in one piece', (line: string) => [`${line}\n`]],
  ['in two', (line: string) => [line.slice(0, 5), `${line.slice(5)}\n`]],
  ['after another', (line: string) => ['1\n', `2\n${line}`, '\n']],
])('a message %s has as many bytes as it may have, and no more', async (_, divided) => {
  expect((await read(divided('1234567890'), 10)).at(-1)).toBe(1234567890)
  await expect(read(divided('12345678901'), 10)).rejects.toThrow('more than 10 bytes')
})

test('a line without an end is given up before it ends', async () => {
  async function* endless() {
    for (let count = 0; count < 1000; count += 1) yield Buffer.from('xxxx')
    throw new Error('read to the end')
  }
  const messages = readMessages(Readable.from(endless()), z.unknown(), 10)
  await expect(messages.next()).rejects.toThrow('more than 10 bytes')
})

test('what is sent is read as it was, by the one that it is for', async () => {
  const toReader: ToReader[] = [
    { type: 'open', url: 'https://demir.example/' },
    { type: 'check' },
    { type: 'got', id: 0, status: 200, content_type: '', allow_origin: null, body: 'PHA+' },
    { type: 'moved', id: 1, url: 'https://demir.example/new' },
    { type: 'refused', id: 2 },
  ]
  const link = { url: 'x'.repeat(500), text: 'x'.repeat(80) }
  const page = {
    url: 'https://demir.example/',
    title: 'x'.repeat(200),
    text: 'x'.repeat(20_000),
    links: Array.from({ length: 300 }, () => link),
  }
  const fromReader: FromReader[] = [
    { type: 'get', id: 0, url: 'https://demir.example/', kind: 'document' },
    { type: 'page', page },
    { type: 'page', page: { url: '', title: '', text: '', links: [{ url: '', text: '' }] } },
    { type: 'checked', version: '1'.repeat(100) },
    { type: 'failed', why: 'sandbox', detail: 'x'.repeat(300) },
  ]
  for (const [schema, messages] of [
    [ToReader, toReader],
    [FromReader, fromReader],
  ] as const) {
    const wire = new PassThrough()
    for (const message of messages) sendMessage(wire, message)
    wire.end()
    expect(await all(readMessages(wire, schema, 1_000_000))).toEqual(messages)
  }
  expect(FromReader.parse({ type: 'failed', why: 'root' })).toMatchObject({ detail: '' })
})

const seen = { url: '', title: '', text: '', links: [] as unknown[] }
test.each([
  [FromReader, { type: 'page', page: { ...seen, title: 'x'.repeat(201) } }],
  [FromReader, { type: 'page', page: { ...seen, text: 'x'.repeat(20_001) } }],
  [FromReader, { type: 'page', page: { ...seen, links: [{ url: 'x'.repeat(501), text: '' }] } }],
  [FromReader, { type: 'page', page: { ...seen, links: [{ url: '', text: 'x'.repeat(81) }] } }],
  [FromReader, { type: 'page', page: { ...seen, links: [{}] } }],
  [ToReader, { type: 'open', url: 'x'.repeat(4097) }],
  [
    ToReader,
    { type: 'got', id: 0, status: 200, content_type: '', allow_origin: null, body: '<p>' },
  ],
  [ToReader, { type: 'refused', id: -1 }],
  [ToReader, { type: 'refused', id: 0.5 }],
  [ToReader, { type: 'page' }],
  [FromReader, { type: 'checked', version: '1'.repeat(101) }],
  [FromReader, { type: 'failed', why: 'page', detail: 'x'.repeat(301) }],
  [FromReader, { type: 'failed', why: 'tired' }],
  [FromReader, { type: 'open', url: 'https://demir.example/' }],
])('a message of another form is not read: case %#', (schema, message) => {
  expect(schema.safeParse(message).success).toBe(false)
})

test('nothing is sent to who has gone', async () => {
  const gone = new PassThrough()
  const errors: unknown[] = []
  gone.on('error', (error) => errors.push(error))
  gone.end()
  sendMessage(gone, { type: 'check' })
  expect(await all(gone)).toEqual([])
  expect(errors).toEqual([])
})
