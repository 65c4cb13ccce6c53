import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { ZipFile } from 'yazl'
import { unzipText } from '../../../../functions/feeds/formats/zip.ts'

type File = { name: string; text: string; compress?: boolean }

async function zip(files: File[], comment = ''): Promise<Buffer> {
  const archive = new ZipFile()
  for (const { name, text, compress = true } of files) {
    archive.addBuffer(Buffer.from(text), name, { compress })
  }
  archive.end({ comment, forceZip64Format: false })
  return buffer(archive.outputStream)
}

const LONG = 'Zürich\tİzmir\n'.repeat(300)
/** Where the directory of the archive begins, and its end record. */
const central = (archive: Buffer) => archive.indexOf('PK\x01\x02', 0, 'latin1')
const end = (archive: Buffer) => archive.lastIndexOf('PK\x05\x06', undefined, 'latin1')

describe('the text of an archive', () => {
  test.each([
    ['compressed', true, LONG],
    ['stored', false, LONG],
    ['empty', false, ''],
  ])('that is %s', async (_, compress, text) => {
    expect(await unzipText(await zip([{ name: 'a.csv', text, compress }]))).toBe(text)
  })

  test('is that of its first file', async () => {
    const archive = await zip([
      { name: 'first.csv', text: 'first' },
      { name: 'second.csv', text: 'second' },
    ])
    expect(await unzipText(archive)).toBe('first')
  })

  test('is found behind other bytes, and before a comment', async () => {
    // The end record may be as far from the end as the longest comment.
    const archive = await zip([{ name: 'a.csv', text: LONG }], 'x'.repeat(65_535))
    const around = Buffer.concat([Buffer.from('before'), archive])
    expect(await unzipText(around.subarray(6))).toBe(LONG)
  })

  test('with its size only in the directory, as archives are written that are streamed', async () => {
    const archive = await zip([{ name: 'a.csv', text: LONG }])
    archive.fill(0, 14, 26)
    expect(await unzipText(archive)).toBe(LONG)
  })
})

describe('an archive is read', () => {
  /** The archive behind other bytes, which its directory counts. */
  const moved = (archive: Buffer, by: number) => {
    const copy = Buffer.concat([Buffer.alloc(by), archive])
    copy.writeUInt32LE(by, central(copy) + 42)
    copy.writeUInt32LE(central(copy), end(copy) + 16)
    return copy
  }

  test.each([1, 700])('when its first file begins at byte %i', async (by) => {
    expect(await unzipText(moved(await zip([{ name: 'a.csv', text: LONG }]), by))).toBe(LONG)
  })

  test('when the name of its file is long', async () => {
    expect(await unzipText(await zip([{ name: 'a'.repeat(300), text: LONG }]))).toBe(LONG)
  })

  test('when there is more between the name and the file', async () => {
    const archive = await zip([{ name: 'a.csv', text: LONG }])
    const more = Buffer.alloc(260)
    const wide = Buffer.concat([archive.subarray(0, 35), more, archive.subarray(35)])
    wide.writeUInt16LE(more.length, 28)
    wide.writeUInt32LE(central(wide), end(wide) + 16)
    expect(await unzipText(wide)).toBe(LONG)
  })
})

describe('a damaged archive is refused', () => {
  const damage: [string, (archive: Buffer) => Buffer | undefined][] = [
    ['no archive', () => Buffer.from('no archive, but longer than the end of one')],
    ['nothing at all', () => Buffer.alloc(0)],
    ['cut off', (archive) => archive.subarray(0, archive.length - 30)],
    ['a changed byte', (archive) => void archive.writeUInt8(archive.readUInt8(60) ^ 1, 60)],
    ['another checksum', (archive) => void archive.writeUInt32LE(1, central(archive) + 16)],
    ['an unknown method', (archive) => void archive.writeUInt16LE(12, central(archive) + 10)],
    ['too large a size', (archive) => void archive.writeUInt32LE(1e6, central(archive) + 20)],
    ['a file elsewhere', (archive) => void archive.writeUInt32LE(1e6, central(archive) + 42)],
    ['a directory elsewhere', (archive) => void archive.writeUInt32LE(3, end(archive) + 16)],
    ['a directory past the end', (archive) => void archive.writeUInt32LE(1e6, end(archive) + 16)],
  ]
  test.each(damage)('%s', async (_, change) => {
    const archive = await zip([{ name: 'a.csv', text: LONG }])
    const changed = change(archive) ?? archive
    await expect(unzipText(changed)).rejects.toMatchObject({
      message: 'answered with a damaged ZIP archive',
      code: 'unreadable',
    })
  })

  test('one that unpacks to more than 32 MiB is given up', async () => {
    const archive = await zip([{ name: 'a.csv', text: '\0'.repeat(32 * 1024 * 1024 + 1) }])
    expect(archive.length).toBeLessThan(100_000)
    await expect(unzipText(archive)).rejects.toMatchObject({ code: 'too_large' })
  })
})
