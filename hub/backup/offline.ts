import { constants, createWriteStream } from 'node:fs'
import { type FileHandle, mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Config } from '../config.ts'
import { isMissing, writeWhole } from '../files.ts'
import { bilingual } from '../i18n/words.ts'
import { isEncrypted, pack, type Secret } from './archive.ts'
import { backupText } from './backup.text.ts'
import { backupFile, backupsIn, isBackupName, nameFor } from './make.ts'
import { BackupError, isOlder, type Manifest, manifestText } from './manifest.ts'
import { checkStage, upgradeStage } from './scratch.ts'
import { unpack } from './unpack.ts'

const say = bilingual(backupText)

/** A folder that only this process's user can enter, with an archive of any origin. */
export type Stage = { folder: string; file: string }
type Given = { stage: Stage; secret: Secret; ownerUrl: string }

/**
 * stageArchive copies an archive, given as a file or a backup's name, into a folder of its own.
 * Root reads and unpacks only there: in the hub's folders, the hub's user could replace a file with
 * a symbolic link at any moment. `owner` is the hub's user, if it is not the current one.
 */
export async function stageArchive(
  { paths }: Config,
  given: string,
  owner: number | undefined,
): Promise<Stage> {
  const path = isBackupName(given) ? backupFile(paths, given) : resolve(given)
  const handle = await openPlain(path)
  try {
    const isInside = !relative(resolve(paths.data_dir), path).startsWith('..')
    const { uid } = await handle.stat()
    if (isInside && owner !== undefined && uid !== owner) {
      throw new BackupError(say.not_of_the_hub(path))
    }
    const folder = await mkdtemp('/var/tmp/watchpost-restore-')
    const file = join(folder, 'archive')
    await copyFrom(handle, file)
    return { folder, file }
  } finally {
    await handle.close()
  }
}

/** Opens a regular file: no symbolic link, and no pipe, which could block forever. */
async function openPlain(path: string): Promise<FileHandle> {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    if (isMissing(error)) throw new BackupError(say.no_file(path))
    if (error instanceof Error && 'code' in error && error.code === 'ELOOP') {
      throw new BackupError(say.is_link(path))
    }
    throw error
  })
  if ((await handle.stat()).isFile()) return handle
  await handle.close()
  throw new BackupError(say.no_file(path))
}

async function copyFrom(handle: FileHandle, file: string): Promise<void> {
  const content = handle.createReadStream({ start: 0, autoClose: false })
  await pipeline(content, createWriteStream(file, { mode: 0o600, flags: 'wx', flush: true }))
}

/**
 * handOver copies the staged archive to the hub's folder. It opens the archive and removes the
 * stage, switches users with `become`, and copies as the new user. Returns the name of the copy.
 */
export async function handOver(
  { paths }: Config,
  stage: Stage,
  become: () => Promise<void>,
): Promise<string> {
  const encrypted = await isEncrypted(stage.file)
  const handle = await open(stage.file)
  try {
    await rm(stage.folder, { recursive: true })
    await become()
    const name = nameFor('uploaded', { encrypted })
    await mkdir(backupsIn(paths), { recursive: true, mode: 0o750 })
    await copyFrom(handle, backupFile(paths, name))
    return name
  } finally {
    await handle.close()
  }
}

/**
 * checkBackup loads a backup into a scratch database and returns the tables that differ from it.
 */
export async function checkBackup(
  config: Config,
  given: Given,
): Promise<{ manifest: Manifest; differing: string[] }> {
  return unpacked(config, given, async (folder, manifest) => ({
    manifest,
    differing: await checkStage(given.ownerUrl, folder, manifest),
  }))
}

/**
 * upgradeArchive replaces a staged archive of an older schema with one of this release's, by
 * running the upgrades in a scratch database. The result is not signed. Returns whether there was
 * anything to do.
 */
export async function upgradeArchive(config: Config, given: Given): Promise<boolean> {
  return unpacked(config, given, async (folder, manifest) => {
    if (!(await isOlder(manifest))) return false
    const upgraded = await upgradeStage(given.ownerUrl, folder, manifest)
    await writeWhole(join(folder, 'manifest.json'), manifestText(upgraded))
    const { passphrase } = given.secret
    await pack(
      folder,
      given.stage.file,
      passphrase === undefined ? { kind: 'none' } : { kind: 'passphrase', passphrase },
    )
    return true
  })
}

async function unpacked<T>(
  { paths }: Config,
  { stage, secret }: Given,
  work: (folder: string, manifest: Manifest) => Promise<T>,
): Promise<T> {
  const folder = join(stage.folder, 'unpacked')
  try {
    const { manifest } = await unpack({ paths, file: stage.file, folder, secret })
    return await work(folder, manifest)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
