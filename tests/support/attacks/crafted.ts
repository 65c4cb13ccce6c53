import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { openPromise } from 'yauzl'
import { ZipFile } from 'yazl'
import { signManifest } from '../../../scripts/backup/keys.ts'
import type { Manifest } from '../../../scripts/backup/manifest.ts'
import { KEYS } from '../backup.ts'

/** The members of an archive with their contents, to be changed and written again. */
export type Members = Map<string, Buffer>

export async function readMembers(file: string): Promise<Members> {
  const zip = await openPromise(file)
  const members: Members = new Map()
  for await (const entry of zip.eachEntry()) {
    const chunks: Buffer[] = []
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk)
    members.set(entry.fileName, Buffer.concat(chunks))
  }
  return members
}

export async function writeMembers(file: string, members: Iterable<[string, Buffer]>) {
  const zip = new ZipFile()
  for (const [name, content] of members) zip.addBuffer(content, name)
  zip.end()
  await pipeline(zip.outputStream, createWriteStream(file))
}

export function manifestIn(members: Members): Manifest {
  return JSON.parse(members.get('manifest.json')?.toString() ?? '')
}

/** Puts a manifest back, signed with the service's own key, so that only its content is at fault. */
export function setManifest(members: Members, manifest: unknown, keys = KEYS): void {
  const bytes = Buffer.from(JSON.stringify(manifest))
  const [key] = keys
  if (!key) throw new Error('no key')
  members.set('manifest.json', bytes)
  members.set('signature.json', Buffer.from(JSON.stringify(signManifest(key, bytes))))
}

/** Replaces a table's rows, and says so in the manifest. */
export function setRows(members: Members, name: string, text: string): void {
  const content = Buffer.from(text)
  const manifest = manifestIn(members)
  for (const table of manifest.tables.filter((one) => one.name === name)) {
    table.bytes = content.length
    table.rows = text.split('\n').length - 1
    table.sha256 = createHash('sha256').update(content).digest('hex')
  }
  members.set(`tables/${name}.copy`, content)
  setManifest(members, manifest)
}
