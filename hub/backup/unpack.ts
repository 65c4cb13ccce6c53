import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { constants, createReadStream } from 'node:fs'
import { chmod, mkdir, open, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Parser, type ReadEntry } from 'tar'
import type { Paths } from '../config.ts'
import { bilingual } from '../i18n/words.ts'
import { decrypt, isEncrypted, isFullDisk, type Secret } from './archive.ts'
import { backupText } from './backup.text.ts'
import { BackupError, MAX_MANIFEST_BYTES, type Manifest, parseManifest } from './manifest.ts'
import { LEFT_FREE } from './room.ts'
import { type Origin, originOf } from './signing.ts'

const say = bilingual(backupText)
const MAX_SIGNATURE_BYTES = 2000
const BLOCK = 512
/** The bytes a member may use in addition to its content: header, long names and padding. */
const AROUND_MEMBER = 16 * BLOCK
const AROUND_ARCHIVE = 2 ** 20

type Unpacked = { manifest: Manifest; origin: Origin }
type Given = { paths: Paths; file: string; secret: Secret }

const MAX_SETTING_BYTES = 2 ** 20

/** Reads the manifest, its origin and the settings by name, which come before everything large. */
export async function readHead(
  given: Given,
): Promise<Unpacked & { config: Record<string, string> }> {
  const head = new Head(given.paths)
  const config: Record<string, string> = {}
  await readMembers(given, async (entry) => {
    if (await head.take(entry)) return {}
    const { manifest } = await head.end()
    // All folders of the top come before the settings.
    if (entry.type === 'Directory' || entry.path === 'active') return {}
    const file = manifest.files.find(({ path }) => path === entry.path)
    const name = /^config\/([^/]+)$/.exec(entry.path)?.[1]
    if (!file || !name || entry.size > MAX_SETTING_BYTES) return { isEnough: true }
    const content = await contentOf(entry)
    if (createHash('sha256').update(content).digest('hex') === file.sha256) {
      config[name] = content.toString('utf8')
    }
    return {}
  })
  return { ...(await head.end()), config }
}

/**
 * unpack writes an archive's files into a new folder. Each member is checked against the manifest
 * as it arrives: a member that is not a plain file or folder, is not listed, occurs twice or has a
 * different size or checksum ends it. Nothing is written outside of the folder or beyond the listed
 * sizes.
 */
export async function unpack(given: Given & { folder: string }): Promise<Unpacked> {
  const { folder } = given
  await mkdir(folder, { mode: 0o700 })
  const head = new Head(given.paths)
  let list: Awaited<ReturnType<typeof listOf>> | undefined
  await readMembers(given, async (entry) => {
    if (await head.take(entry)) return {}
    if (!list) {
      const { manifest } = await head.end()
      list = await listOf(manifest, folder)
    }
    await bring(list, entry, folder)
    return { most: list.most }
  })
  const unpacked = await head.end()
  const { files, folders } = list ?? (await listOf(unpacked.manifest, folder))
  const [missing] = [...files.keys(), ...folders]
  if (missing !== undefined) throw new BackupError(say.missing(missing))
  for (const { path, mode } of unpacked.manifest.files) {
    // Ignores the archive's modes: never writable for others, always readable for the hub.
    await chmod(join(folder, path), (mode & 0o755) | 0o600)
  }
  return unpacked
}

/** Reads the first two members, the manifest and its signature. */
class Head {
  readonly #paths: Paths
  #manifest: Buffer | undefined
  #signature: string | undefined
  #ended: Unpacked | undefined
  constructor(paths: Paths) {
    this.#paths = paths
  }
  /** Reads a member of the head; returns false for a later one. */
  async take(entry: ReadEntry): Promise<boolean> {
    if (!this.#manifest) {
      if (entry.path !== 'manifest.json' || entry.type !== 'File') {
        throw new BackupError(say.no_manifest)
      }
      if (entry.size > MAX_MANIFEST_BYTES) throw new BackupError(say.too_many)
      this.#manifest = await contentOf(entry)
      return true
    }
    if (this.#ended || this.#signature !== undefined || entry.path !== 'signature.json')
      return false
    if (entry.type !== 'File' || entry.size > MAX_SIGNATURE_BYTES) {
      throw new BackupError(say.wrong_signature)
    }
    this.#signature = (await contentOf(entry)).toString('utf8')
    return true
  }
  async end(): Promise<Unpacked> {
    if (this.#ended) return this.#ended
    if (!this.#manifest) throw new BackupError(say.no_manifest)
    const origin = await originOf(this.#paths, this.#manifest, this.#signature)
    this.#ended = { manifest: parseManifest(this.#manifest.toString('utf8')), origin }
    return this.#ended
  }
}

async function contentOf(entry: ReadEntry): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of entry) chunks.push(chunk)
  const content = Buffer.concat(chunks)
  if (content.length !== entry.size) throw new BackupError(say.damaged)
  return content
}

/** The members still expected, and the maximum of bytes that they can take. */
async function listOf(manifest: Manifest, folder: string) {
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0)
  const { bavail, bsize } = await statfs(folder)
  if (bytes > bavail * bsize - LEFT_FREE) throw new BackupError(say.no_room(bytes))
  const members = manifest.files.length + manifest.folders.length
  return {
    files: new Map(manifest.files.map((file) => [file.path, file])),
    folders: new Set(manifest.folders),
    seen: new Set<string>(),
    most: MAX_MANIFEST_BYTES + bytes + members * AROUND_MEMBER + AROUND_ARCHIVE,
  }
}

async function bring(list: Awaited<ReturnType<typeof listOf>>, entry: ReadEntry, folder: string) {
  const isFolder = entry.type === 'Directory'
  const path = isFolder ? entry.path.replace(/\/$/, '') : entry.path
  if (!isFolder && entry.type !== 'File') throw new BackupError(say.foreign(path))
  const { files, folders, seen } = list
  if (seen.has(path)) throw new BackupError(say.twice(path))
  seen.add(path)
  if (isFolder) {
    if (!folders.delete(path)) throw new BackupError(say.unlisted(path))
    await mkdir(join(folder, path), { mode: 0o750 })
    return
  }
  const file = files.get(path)
  if (!file) throw new BackupError(say.unlisted(path))
  files.delete(path)
  if (entry.size !== file.bytes) throw new BackupError(say.sized(path, entry.size, file.bytes))
  const sum = await write(entry, join(folder, path))
  if (sum !== file.sha256) throw new BackupError(say.changed(path))
}

/** Writes a new file and returns its SHA-256. */
async function write(entry: ReadEntry, file: string): Promise<string> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
  const handle = await open(file, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600)
  const hash = createHash('sha256')
  try {
    for await (const chunk of entry) {
      hash.update(chunk)
      await handle.writeFile(chunk)
    }
  } finally {
    await handle.close()
  }
  return hash.digest('hex')
}

type Took = { isEnough?: boolean; most?: number }

/** Yields the members one by one; stops reading at the size that an intact archive can have. */
async function readMembers(
  { file, secret }: Given,
  take: (entry: ReadEntry) => Promise<Took>,
): Promise<void> {
  const source = (await isEncrypted(file)) ? await decrypt(file, secret) : createReadStream(file)
  const content = source.pipe(createGunzip())
  source.on('error', (error: Error) => content.destroy(error))
  try {
    await parse(content, take)
  } catch (error) {
    if (error instanceof BackupError || isFullDisk(error)) throw error
    throw new BackupError(say.damaged, { cause: error })
  } finally {
    content.destroy()
    source.destroy()
  }
}

async function parse(content: Readable, take: (entry: ReadEntry) => Promise<Took>): Promise<void> {
  const parser = new Parser({ strict: true })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  let most = MAX_MANIFEST_BYTES + AROUND_ARCHIVE
  let failure: unknown
  let isEnough = false
  const fail = (error: unknown) => {
    failure ??= error
    failed.reject(failure)
  }
  let taken = Promise.resolve()
  let current: ReadEntry | undefined
  parser.on('error', fail)
  parser.on('ignoredEntry', (entry: ReadEntry) => fail(new BackupError(say.foreign(entry.path))))
  parser.on('entry', (entry: ReadEntry) => {
    taken = taken.then(async () => {
      if (failure || isEnough) return void entry.resume()
      current = entry
      const took = await take(entry)
      current = undefined
      most = took.most ?? most
      isEnough = took.isEnough ?? false
      // Unread content must not block the next member.
      entry.resume()
    })
    taken.catch(fail)
  })
  try {
    let bytes = 0
    let begin = Buffer.alloc(0)
    for await (const chunk of content) {
      bytes += chunk.length
      if (failure) throw failure
      if (isEnough) return
      if (bytes > most) throw new BackupError(say.swollen)
      if (begin.length < BLOCK) {
        begin = Buffer.concat([begin, chunk])
        if (begin.length < BLOCK) continue
        // The parser would decompress a nested compressed file by itself, without counting its
        // bytes.
        if (begin.toString('latin1', 257, 262) !== 'ustar') throw new BackupError(say.damaged)
        if (!parser.write(begin)) await Promise.race([once(parser, 'drain'), failed.promise])
        continue
      }
      if (!parser.write(chunk)) await Promise.race([once(parser, 'drain'), failed.promise])
    }
    const ended = once(parser, 'end')
    parser.end()
    await Promise.race([ended, failed.promise])
    await taken
    if (failure) throw failure
  } catch (error) {
    // The writer of a member still waits for the rest, with an open file.
    current?.on('error', () => {})
    current?.destroy(new BackupError(say.damaged))
    await taken.catch(() => {})
    throw error
  }
}
