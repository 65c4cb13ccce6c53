import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../config.ts'
import { writeJson } from '../files.ts'
import { said } from '../words.ts'
import { isEncrypted, pack, type Secret, unpack } from './archive.ts'
import { backupText } from './backup.text.ts'
import { backupFile, backupsIn, listBackups, nameFor } from './make.ts'
import { BackupError, isOlder, type Manifest } from './manifest.ts'
import { checkStage, upgradeStage } from './scratch.ts'

const say = said(backupText)

/** Names a backup of this machine: one of the list, or a file from elsewhere, which is copied in. */
export async function bringIn(
  config: Config,
  given: string,
): Promise<{ name: string; is_copy: boolean }> {
  const known = (await listBackups(config.paths)).find(
    ({ name }) => name === given || join(backupsIn(config.paths), name) === resolve(given),
  )
  if (known) return { name: known.name, is_copy: false }
  const file = resolve(given)
  if (!existsSync(file)) {
    throw new BackupError(say.no_file(file))
  }
  const name = nameFor('uploaded', { encrypted: await isEncrypted(file) })
  await mkdir(backupsIn(config.paths), { recursive: true, mode: 0o750 })
  const copy = backupFile(config.paths, name)
  await copyFile(file, copy)
  await chmod(copy, 0o600)
  return { name, is_copy: true }
}

/** checkBackup loads a backup into a scratch database and answers what differs from its manifest. */
export async function checkBackup(
  config: Config,
  given: { name: string; secret: Secret; ownerUrl: string },
): Promise<{ manifest: Manifest; differing: string[] }> {
  return unpacked(config, given, async (stage, manifest) => ({
    manifest,
    differing: await checkStage(given.ownerUrl, stage, manifest),
  }))
}

/**
 * toOurSchema answers the name of a backup that this release can restore: the given one, or for an
 * older schema a new one that went through the upgrades in a scratch database.
 */
export async function toOurSchema(
  config: Config,
  given: { name: string; secret: Secret; ownerUrl: string },
): Promise<string> {
  return unpacked(config, given, async (stage, manifest) => {
    if (!(await isOlder(manifest))) return given.name
    const upgraded = await upgradeStage(given.ownerUrl, stage, manifest)
    await writeJson(join(stage, 'manifest.json'), upgraded)
    const { passphrase } = given.secret
    const encrypted = passphrase !== undefined
    const name = nameFor('uploaded', { encrypted })
    const encryption = encrypted
      ? { kind: 'passphrase' as const, passphrase }
      : { kind: 'none' as const }
    await pack(stage, backupFile(config.paths, name), encryption)
    return name
  })
}

async function unpacked<T>(
  config: Config,
  { name, secret }: { name: string; secret: Secret },
  work: (stage: string, manifest: Manifest) => Promise<T>,
): Promise<T> {
  const stage = join(backupsIn(config.paths), `.stage-${randomUUID()}`)
  try {
    return await work(stage, await unpack(backupFile(config.paths, name), stage, secret))
  } finally {
    await rm(stage, { recursive: true, force: true, maxRetries: 5 })
  }
}
