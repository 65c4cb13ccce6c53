import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream, constants as flags } from 'node:fs'
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Readable, Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Entry, fromFdPromise, type ZipFile as ZipReader } from 'yauzl'
import { ZipFile } from 'yazl'
import {
  type ArchivedTable,
  BackupError,
  MAX_MANIFEST_BYTES,
  type Manifest,
  memberOf,
  parseManifest,
  parseSignature,
  type Signature,
} from './manifest.ts'

/** What is known of a table's rows once they have gone by. */
export type Measured = Pick<ArchivedTable, 'rows' | 'bytes' | 'sha256'>

/** Members of an archive: a name, and its content when its turn comes. */
export type Member = { name: string; content: () => Promise<Readable> }

const MEMBER = { mode: 0o100600, compressionLevel: 4 }
const LINE_END = 10
const MAX_SIGNATURE_BYTES = 1000

/**
 * meter passes rows of COPY text on, counts and hashes them, and calls `moved` with the rows so far.
 * Beyond `most` bytes it fails.
 */
export function meter(options: { most?: number; moved?: (rows: number) => void } = {}): {
  stream: Transform
  measured: () => Measured
} {
  const { most = Infinity, moved = () => {} } = options
  const hash = createHash('sha256')
  let rows = 0
  let bytes = 0
  const stream = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length
      if (bytes > most) return done(new BackupError('it holds more than its manifest says'))
      hash.update(chunk)
      // In COPY text a line is a row: line ends inside values are escaped.
      for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, at + 1)) rows++
      moved(rows)
      done(null, chunk)
    },
  })
  return { stream, measured: () => ({ rows, bytes, sha256: hash.digest('hex') }) }
}

/**
 * writeArchive writes the members one after the other, as they come. The file is readable for its
 * owner only, and appears completely or not at all; one of the same name is never replaced.
 */
export async function writeArchive(file: string, members: Member[]): Promise<{ bytes: number }> {
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`
  try {
    const bytes = await writeMembers(draft, members)
    await publish(draft, file)
    return { bytes }
  } catch (error) {
    await rm(draft, { force: true })
    if (codeOf(error) !== 'ENOSPC') throw error
    throw new BackupError(`There is no room left for ${file}. Nothing was kept.`, { cause: error })
  }
}

async function writeMembers(draft: string, members: Member[]): Promise<number> {
  const zip = new ZipFile()
  const failed = new Promise<never>((_, reject) => zip.once('error', reject))
  failed.catch(() => {})
  for (const { name, content } of members) {
    zip.addReadStreamLazy(name, MEMBER, (give) => {
      content().then(
        (stream) => {
          stream.on('error', (error) => zip.emit('error', error))
          give(null, stream)
        },
        (error) => zip.emit('error', error),
      )
    })
  }
  zip.end()
  const output = createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true })
  const written = pipeline(zip.outputStream, output)
  try {
    await Promise.race([written, failed])
    return output.bytesWritten
  } catch (error) {
    output.destroy()
    await written.catch(() => {})
    throw error
  }
}

/** Gives the draft its name, durably. */
async function publish(draft: string, file: string): Promise<void> {
  try {
    await link(draft, file)
    await rm(draft)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw taken(file)
    // A file system without links.
    await rename(draft, file)
  }
  const folder = await open(dirname(file))
  await folder.sync().finally(() => folder.close())
}

/** taken is the error for a file that exists. */
export function taken(file: string): BackupError {
  return new BackupError(`${file} exists already. Choose another name, or name a folder.`)
}

/** An archive that is open, so that nobody can exchange the file between its check and its use. */
export type Archive = {
  manifest: Manifest
  /** The bytes that the signature is about. */
  manifest_bytes: Buffer
  signature: Signature
  /**
   * Hands out each table's rows in the manifest's order. Throws a BackupError as soon as they are not
   * what the manifest says; what was handed out must then be undone.
   */
  eachTable: (
    take: (table: ArchivedTable, rows: Readable, measure: Transform) => Promise<void>,
    moved?: (table: ArchivedTable, rows: number) => void,
  ) => Promise<void>
  close: () => Promise<void>
}

/** openArchive opens an archive and reads its manifest. Throws a BackupError. */
export async function openArchive(file: string): Promise<Archive> {
  const handle = await openFile(file)
  try {
    const zip = await whole(() =>
      fromFdPromise(handle.fd, { autoClose: false, strictFileNames: true }),
    )
    const entries = await whole(() => entriesOf(zip))
    const manifest_bytes = await contentOf(zip, entries, 'manifest.json', MAX_MANIFEST_BYTES)
    const signature_text = await contentOf(zip, entries, 'signature.json', MAX_SIGNATURE_BYTES)
    const manifest = parseManifest(manifest_bytes.toString('utf8'))
    refuseStrays(entries, manifest)
    return {
      manifest,
      manifest_bytes,
      signature: parseSignature(signature_text.toString('utf8')),
      eachTable: async (take, moved = () => {}) => {
        for (const table of manifest.tables) {
          const entry = entryOf(entries, memberOf(table.name))
          await readTable(zip, entry, table, { take, moved })
        }
      },
      close: () => handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** checkTables reads every table to its end and keeps nothing. */
export async function checkTables(
  archive: Archive,
  moved?: (table: ArchivedTable, rows: number) => void,
): Promise<void> {
  const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() })
  await archive.eachTable((_, rows, measure) => pipeline(rows, measure, nowhere()), moved)
}

async function openFile(file: string): Promise<FileHandle> {
  const handle = await open(file, flags.O_RDONLY | flags.O_NONBLOCK).catch((error: unknown) => {
    throw new BackupError(`${file} cannot be opened: ${messageOf(error)}`, { cause: error })
  })
  if ((await handle.stat()).isFile()) return handle
  await handle.close()
  throw new BackupError(`${file} is not a file.`)
}

async function entriesOf(zip: ZipReader): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>()
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileName
    if (entries.has(name)) throw new BackupError(`The archive contains ${quoted(name)} twice.`)
    entries.set(name, entry)
    if (entries.size > 1000) throw new BackupError('The archive contains more than 1,000 files.')
  }
  return entries
}

/** Missing members are noticed when their table is read. */
function refuseStrays(entries: Map<string, Entry>, { tables }: Manifest): void {
  const expected = ['manifest.json', 'signature.json', ...tables.map(({ name }) => memberOf(name))]
  const stray = [...entries.keys()].find((name) => !expected.includes(name))
  if (stray !== undefined) {
    throw new BackupError(
      `The archive contains ${quoted(stray)}, which its manifest does not list.`,
    )
  }
}

function entryOf(entries: Map<string, Entry>, name: string): Entry {
  const entry = entries.get(name)
  if (!entry) throw new BackupError(`${name} is missing, so this is not a complete backup.`)
  if (entry.isEncrypted()) throw new BackupError(`${name} is encrypted; decrypt the archive first.`)
  return entry
}

async function contentOf(
  zip: ZipReader,
  entries: Map<string, Entry>,
  name: string,
  most: number,
): Promise<Buffer> {
  const entry = entryOf(entries, name)
  if (entry.uncompressedSize > most) throw new BackupError(`${name} is too large.`)
  return whole(async () => {
    const chunks: Buffer[] = []
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk)
    return Buffer.concat(chunks)
  })
}

async function readTable(
  zip: ZipReader,
  entry: Entry,
  table: ArchivedTable,
  use: {
    take: (table: ArchivedTable, rows: Readable, measure: Transform) => Promise<void>
    moved: (table: ArchivedTable, rows: number) => void
  },
): Promise<void> {
  const counted = meter({ most: table.bytes, moved: (rows) => use.moved(table, rows) })
  const rows = await whole(() => zip.openReadStreamPromise(entry))
  let failure: unknown
  rows.once('error', (error) => {
    failure = error
  })
  try {
    await use.take(table, rows, counted.stream)
  } catch (error) {
    if (error instanceof BackupError) {
      throw new BackupError(`${entry.fileName}: ${error.message}. Nothing was restored.`, {
        cause: error,
      })
    }
    if (failure === undefined) throw error
    throw new BackupError(
      `${entry.fileName} is damaged: ${messageOf(failure)}. Nothing was restored.`,
      { cause: failure },
    )
  }
  const found = counted.measured()
  if (found.rows !== table.rows) {
    throw new BackupError(
      `${entry.fileName} holds ${found.rows} rows, but its manifest says ${table.rows}. Nothing was restored.`,
    )
  }
  if (found.bytes !== table.bytes || found.sha256 !== table.sha256) {
    throw new BackupError(
      `${entry.fileName} is not what was backed up: its checksum is different. Nothing was restored.`,
    )
  }
}

/** Errors of reading the file mean that it is no archive, or a damaged one. */
async function whole<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof BackupError) throw error
    throw new BackupError(
      `The file is not a backup, or it is cut off or damaged: ${messageOf(error)}. Nothing was restored.`,
      { cause: error },
    )
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

const quoted = (name: string) => JSON.stringify(name)

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '')
}
