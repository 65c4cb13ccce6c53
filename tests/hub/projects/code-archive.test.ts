import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { ZipFile } from 'yazl'
import { isArchive, megabytes, unpacked } from '../../../hub/projects/code-archive.ts'

type Entry = { name: string; content?: string; mode?: number; compress?: boolean }
const LIMIT = { max_file_bytes: 1000 }
const MB = 1024 * 1024

async function zipOf(entries: Entry[]): Promise<Buffer> {
  const zip = new ZipFile()
  for (const { name, content = 'x', ...options } of entries) {
    const mtime = new Date(0)
    if (name.endsWith('/')) zip.addEmptyDirectory(name, { mtime })
    else zip.addBuffer(Buffer.from(content), name, { mode: 0o100644, mtime, ...options })
  }
  zip.end()
  return buffer(zip.outputStream)
}

/** The archive with other numbers in the directory at its end, which says what its first entry is. */
function said(archive: Buffer, numbers: Partial<typeof AT>): Buffer {
  const bytes = Buffer.from(archive)
  const start = bytes.indexOf('PK\x01\x02', 0, 'latin1')
  for (const [name, value] of Object.entries(numbers)) {
    const at = start + AT[name as keyof typeof AT] // safe: the keys of AT
    if (name === 'flags' || name === 'method') bytes.writeUInt16LE(value, at)
    else bytes.writeUInt32LE(value, at)
  }
  return bytes
}
const AT = { flags: 8, method: 10, crc: 16, packed: 20, size: 24, attributes: 38 }

/** What is unpacked, each file with its content or why there is none; or why nothing is. */
async function contents(archive: Buffer, limit = LIMIT) {
  const found = await unpacked(archive, limit)
  if ('refused' in found) return found.refused.en
  return found.entries.map((entry) => [
    entry.path,
    'bytes' in entry ? entry.bytes.toString() : entry.why.en,
  ])
}

test.each([
  [false, Buffer.from('')],
  [false, Buffer.from('PK')],
  [false, Buffer.from('PK\x01\x02', 'latin1')],
  [false, Buffer.from(' PK\x03\x04', 'latin1')],
  [true, Buffer.from('PK\x03\x04 and more', 'latin1')],
  [true, Buffer.from('PK\x05\x06', 'latin1')],
])('an archive is known by its beginning: %s of %j', (is, bytes) => {
  expect(isArchive(bytes)).toBe(is)
})

test('sizes are rounded up to a tenth of a megabyte', () => {
  expect([0, 1, MB, MB + 1, 1.25 * MB].map(megabytes)).toEqual([0, 0.1, 1, 1.1, 1.3])
})

test('files are unpacked with their paths as they are, and folders are none', async () => {
  const zip = await zipOf([
    { name: 'a.ts', content: 'let a\n' },
    { name: 'empty/' },
    { name: 'folder', content: '', mode: 0o040755 },
    { name: 'src/Dükkân.md', content: 'tea '.repeat(200) },
    { name: 'dos.txt', content: 'y', mode: 0 },
    { name: 'none.txt', content: '' },
  ])
  expect(await contents(zip)).toEqual([
    ['a.ts', 'let a\n'],
    ['src/Dükkân.md', 'tea '.repeat(200)],
    ['dos.txt', 'y'],
    ['none.txt', ''],
  ])
  expect(await contents(await zipOf([]))).toEqual([])
  // Whether a path leads outside is for the caller to say.
  const outside = Buffer.from(zip.toString('latin1').replaceAll('a.ts', '../b'), 'latin1')
  expect((await contents(outside))[0]).toEqual(['../b', 'let a\n'])
  const windows = Buffer.from(zip.toString('latin1').replaceAll('a.ts', 'a\\ts'), 'latin1')
  expect((await contents(windows))[0]).toEqual(['a/ts', 'let a\n'])
  // Not every tool says of a folder what it is.
  expect(await contents(said(await zipOf([{ name: 'empty/' }]), { attributes: 0 }))).toEqual([])
})

test.each<[what: string, entry: Entry, numbers: Partial<typeof AT>, why: RegExp]>([
  ['a link', { name: 'a', mode: 0o120777 }, {}, /^It is a link\./],
  ['a device', { name: 'a', mode: 0o020644 }, {}, /^It is neither a file nor a folder\./],
  ['a pipe', { name: 'a', mode: 0o010644 }, {}, /^It is neither a file nor a folder\./],
  ['an encrypted file', { name: 'a' }, { flags: 1 }, /^It is encrypted\./],
  ['a file packed by bzip2', { name: 'a' }, { method: 12 }, /^It is packed in a way/],
  ['a file with another checksum', { name: 'a' }, { crc: 1 }, /^It is damaged/],
  [
    'a file that has more than it says',
    { name: 'a', content: 'xyz' },
    { size: 2 },
    /^It is damaged/,
  ],
  [
    'a file that has less than it says',
    { name: 'a', content: 'xyz' },
    { size: 4 },
    /^It is damaged/,
  ],
  [
    'a large file',
    { name: 'a', content: 'x'.repeat(1001) },
    {},
    /^It has 0\.1 MB; .* at most 0\.1 MB/,
  ],
])('%s is refused with its reason, and the others are unpacked', async (_, entry, numbers, why) => {
  const zip = await zipOf([entry, { name: 'b', content: 'good' }])
  expect(await contents(said(zip, numbers))).toEqual([
    ['a', expect.stringMatching(why)],
    ['b', 'good'],
  ])
})

test('a file may have as many bytes as the caller allows, and become a hundred times as large', async () => {
  const content = 'x'.repeat(1000)
  const plain = await zipOf([{ name: 'a', content, compress: false }])
  expect(await contents(plain)).toEqual([['a', content]])
  const small = await zipOf([{ name: 'a', content: 'x', compress: false }])
  const declared = (size: number) => contents(said(small, { size, method: 8, packed: 3 }))
  expect(await declared(300)).toEqual([['a', expect.stringMatching(/^It is damaged/)]])
  expect(await declared(301)).toEqual([['a', expect.stringMatching(/more than 100 times/)]])
})

test('an archive is refused as a whole if it is damaged, or has too many files or bytes', async () => {
  expect(await contents(Buffer.from('PK\x03\x04 and no end', 'latin1'))).toMatch(/is damaged/)
  const zip = await zipOf([{ name: 'a' }, { name: 'b' }])
  const directory = zip.lastIndexOf('PK\x01\x02', undefined, 'latin1')
  const broken = Buffer.from(zip)
  broken.write('XX', directory)
  expect(await contents(broken)).toMatch(/^The archive is damaged/)
  const many = (count: number) =>
    zipOf(Array.from({ length: count }, (_, nth) => ({ name: `${nth}`, compress: false })))
  expect(await contents(await many(500))).toHaveLength(500)
  expect(await contents(await many(501))).toMatch(/^The archive has 501 entries; at most 500/)
  const one = await zipOf([{ name: 'a' }, { name: 'folder/' }])
  expect(await contents(said(one, { size: 20 * MB }))).toEqual([
    ['a', expect.stringMatching(/^It has 20 MB/)],
  ])
  expect(await contents(said(one, { size: 20 * MB + 1 }))).toMatch(
    /^Unpacked, the archive has 20\.1 MB; at most 20 MB/,
  )
})
