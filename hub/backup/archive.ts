import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { create } from 'tar'
import { bilingual } from '../i18n/words.ts'
import { backupText } from './backup.text.ts'
import { BackupError } from './manifest.ts'
import { passphraseIdentity, passphraseRecipient } from './passphrase.ts'
import { withRoom } from './room.ts'
import type { Encryption } from './settings.ts'

const AGE = 'age-encryption.org/v1'
const say = bilingual(backupText)

/** What opens an encrypted archive: the passphrase, or the private half of the age key. */
export type Secret = { passphrase?: string | undefined; identity?: string | undefined }

/** The members that come first, in this order: what is asked about before a restore, ahead of what is large. */
const HEAD = ['manifest.json', 'signature.json', 'active', 'config']

/** pack writes a folder into one archive, manifest first. The file appears atomically. */
export async function pack(folder: string, file: string, encryption: Encryption): Promise<void> {
  const found = (await readdir(folder)).sort()
  const head = HEAD.filter((name) => found.includes(name))
  const names = [...head, ...found.filter((name) => !HEAD.includes(name))]
  const content = Readable.from(create({ gzip: true, cwd: folder, portable: true }, names), {
    objectMode: false,
  })
  const draft = `${file}.new`
  try {
    const encrypted = encryption.kind === 'none' ? content : await encrypt(content, encryption)
    const written = createWriteStream(draft, { mode: 0o600, flags: 'w', flush: true })
    await pipeline(encrypted, withRoom(draft), written)
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

async function encrypt(content: Readable, encryption: Exclude<Encryption, { kind: 'none' }>) {
  const { Encrypter } = await import('age-encryption')
  const age = new Encrypter()
  age.addRecipient(
    encryption.kind === 'passphrase'
      ? passphraseRecipient(encryption.passphrase)
      : encryption.recipient,
  )
  return Readable.fromWeb(webOf(await age.encrypt(asWeb(content))))
}

/** isEncrypted returns whether a file starts with the header of age. */
export async function isEncrypted(file: string): Promise<boolean> {
  return (await headOf(file, AGE.length)) === AGE
}

async function headOf(file: string, length: number): Promise<string> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** The largest age header that is read; ours have one stanza. */
const MAX_AGE_HEADER_BYTES = 64 * 1024

/** decrypt opens an archive; throws a BackupError if the secret is missing or wrong. */
export async function decrypt(file: string, { passphrase, identity }: Secret): Promise<Readable> {
  if (!passphrase && !identity) {
    throw new BackupError(say.encrypted)
  }
  // The age library would read an endless header into memory.
  if (!(await headOf(file, MAX_AGE_HEADER_BYTES)).includes('\n---'))
    throw new BackupError(say.damaged)
  const { Decrypter } = await import('age-encryption')
  const age = new Decrypter()
  try {
    if (passphrase) age.addIdentity(passphraseIdentity(passphrase))
    if (identity) age.addIdentity(identity.trim())
    return Readable.fromWeb(webOf(await age.decrypt(asWeb(createReadStream(file)))))
  } catch (error) {
    throw new BackupError(say.wrong_secret, { cause: error })
  }
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

// Web streams have two types, from the DOM and from Node, for the same objects.
function asWeb(stream: Readable): globalThis.ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as globalThis.ReadableStream<Uint8Array> // safe: see above
}
function webOf(stream: globalThis.ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return stream as ReadableStream<Uint8Array> // safe: see above
}
