import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { createGunzip } from 'node:zlib'
import { Decrypter, Encrypter } from 'age-encryption'
import { create, extract } from 'tar'
import { said } from '../words.ts'
import { backupText } from './backup.text.ts'
import { BackupError, type Manifest, parseManifest } from './manifest.ts'
import { passphraseIdentity, passphraseRecipient } from './passphrase.ts'
import type { Encryption } from './settings.ts'

const AGE = 'age-encryption.org/v1'
const say = said(backupText)

/** What opens an encrypted archive: the passphrase, or the private half of the age key. */
export type Secret = { passphrase?: string | undefined; identity?: string | undefined }

/** pack makes one archive of a folder, with its manifest first; it appears whole or not at all. */
export async function pack(folder: string, file: string, encryption: Encryption): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name !== 'manifest.json').sort()
  const content = Readable.from(
    create({ gzip: true, cwd: folder, portable: true }, ['manifest.json', ...names]),
    { objectMode: false },
  )
  const draft = `${file}.new`
  try {
    const encrypted = encryption.kind === 'none' ? content : await encrypt(content, encryption)
    await pipeline(encrypted, createWriteStream(draft, { mode: 0o600, flags: 'w', flush: true }))
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

async function encrypt(content: Readable, encryption: Exclude<Encryption, { kind: 'none' }>) {
  const age = new Encrypter()
  age.addRecipient(
    encryption.kind === 'passphrase'
      ? passphraseRecipient(encryption.passphrase)
      : encryption.recipient,
  )
  return Readable.fromWeb(webOf(await age.encrypt(asWeb(content))))
}

/** isEncrypted looks at the first bytes of a file. */
export async function isEncrypted(file: string): Promise<boolean> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(AGE.length), 0, AGE.length, 0)
    return buffer.toString('latin1', 0, bytesRead) === AGE
  } finally {
    await handle.close()
  }
}

/** unpack brings an archive's files into an empty folder and checks every one of them. */
export async function unpack(file: string, folder: string, secret: Secret): Promise<Manifest> {
  const content = (await isEncrypted(file)) ? await decrypt(file, secret) : createReadStream(file)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  let foreign: string | undefined
  try {
    await pipeline(
      content,
      createGunzip(),
      extract({
        cwd: folder,
        strict: true,
        filter: (path, entry) => {
          if ('type' in entry && (entry.type === 'File' || entry.type === 'Directory')) return true
          foreign ??= path
          return false
        },
      }),
    )
  } catch (error) {
    if (isFullDisk(error)) throw error
    throw new BackupError(say.damaged, { cause: error })
  }
  if (foreign !== undefined) {
    throw new BackupError(say.foreign(foreign))
  }
  return verify(folder)
}

async function decrypt(file: string, { passphrase, identity }: Secret): Promise<Readable> {
  if (!passphrase && !identity) {
    throw new BackupError(say.encrypted)
  }
  const age = new Decrypter()
  try {
    if (passphrase) age.addIdentity(passphraseIdentity(passphrase))
    if (identity) age.addIdentity(identity.trim())
    return Readable.fromWeb(webOf(await age.decrypt(asWeb(createReadStream(file)))))
  } catch (error) {
    throw new BackupError(say.wrong_secret, { cause: error })
  }
}

/** verify holds the files of a folder against its manifest: none missing, changed or added. */
async function verify(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, 'manifest.json'), 'utf8').catch(() => {
    throw new BackupError(say.no_manifest)
  })
  const manifest = parseManifest(text)
  const known = new Map(manifest.files.map((file) => [file.path, file]))
  const folders = new Set(manifest.folders)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1)
    if (path === 'manifest.json' || (entry.isDirectory() && folders.delete(path))) continue
    const file = entry.isFile() ? known.get(path) : undefined
    if (!file) throw new BackupError(say.unlisted(path))
    const { sha256 } = await sumOf(join(folder, path))
    if (sha256 !== file.sha256) {
      throw new BackupError(say.changed(path))
    }
    await chmod(join(folder, path), file.mode)
    known.delete(path)
  }
  const [missing] = [...known.keys(), ...folders]
  if (missing !== undefined) {
    throw new BackupError(say.missing(missing))
  }
  return manifest
}

/** The size and SHA-256 of a file. */
export async function sumOf(file: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(file)) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

export function isFullDisk(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOSPC'
}

// The streams of the web are typed twice, by the DOM and by Node; they are the same objects.
function asWeb(stream: Readable): globalThis.ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as globalThis.ReadableStream<Uint8Array> // safe: see above
}
function webOf(stream: globalThis.ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return stream as ReadableStream<Uint8Array> // safe: see above
}
