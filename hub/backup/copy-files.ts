import { isUtf8 } from 'node:buffer'
import { createReadStream, createWriteStream } from 'node:fs'
import { lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isDraft, isMissing } from '../files.ts'
import { bilingual } from '../i18n/words.ts'
import { backupText } from './backup.text.ts'
import { digest } from './digest.ts'
import { BackupError, isAllowedPath, type Manifest } from './manifest.ts'
import { withRoom } from './room.ts'

const say = bilingual(backupText)

/**
 * copyTree copies plain files and folders. It leaves out links, which may lead anywhere, and whatever
 * is neither a project's folder nor a prompt. Returns those whose names are not UTF-8, as an old
 * archive unpacks them: no manifest can name them.
 */
export async function copyTree(
  from: string,
  stage: string,
  to: string,
  manifest: Manifest,
): Promise<string[]> {
  const options = { withFileTypes: true, encoding: 'buffer' } as const
  const entries = await readdir(from, options).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw unreadable(error, to)
  })
  const left_out: string[] = []
  await mkdir(join(stage, to), { mode: 0o750 })
  manifest.folders.push(to)
  for (const entry of entries) {
    const name = entry.name.toString()
    const path = `${to}/${name}`
    if (!isAllowedPath(path)) continue
    if (!isUtf8(entry.name)) {
      if (entry.isDirectory() || entry.isFile()) left_out.push(path)
      continue
    }
    if (entry.isDirectory()) {
      left_out.push(...(await copyTree(join(from, name), stage, path, manifest)))
    }
    if (entry.isFile() && !isDraft(name)) {
      await copyFile(join(from, name), stage, path, manifest)
    }
  }
  return left_out
}

/** A file that is missing or disappears meanwhile is left out of the backup. */
export async function copyFile(from: string, stage: string, path: string, manifest: Manifest) {
  const { sum, found } = digest()
  try {
    const { mode } = await lstat(from)
    const to = join(stage, path)
    await pipeline(createReadStream(from), sum, withRoom(to), createWriteStream(to))
    manifest.files.push({ path, ...found(), mode: mode & 0o777 })
  } catch (error) {
    if (!isMissing(error)) throw unreadable(error, path)
    await rm(join(stage, path), { force: true })
  }
}

/** What somebody else put there, root above all, may be closed to the hub: it says which it is. */
function unreadable(error: unknown, path: string): unknown {
  const isClosed = error instanceof Error && 'code' in error && error.code === 'EACCES'
  return isClosed ? new BackupError(say.unreadable(path), { cause: error }) : error
}
