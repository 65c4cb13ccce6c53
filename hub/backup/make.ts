import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { ApiError } from '../../shared/problem.ts'
import { VERSION } from '../../shared/version.ts'
import type { Config, Paths } from '../config.ts'
import { databaseAway } from '../db/db.ts'
import { readKey, urlFor } from '../db/keys.ts'
import { LOCK_SPACE, LOCKS } from '../db/locks.ts'
import { isMissing, writeWhole } from '../files.ts'
import { bilingual } from '../i18n/words.ts'
import { isFullDisk, pack } from './archive.ts'
import { backupText } from './backup.text.ts'
import { CONFIG_FILES } from './config-files.ts'
import { copyFile, copyTree } from './copy-files.ts'
import {
  BackupError,
  KINDS,
  type Kind,
  type Manifest,
  manifestText,
  tableFile,
  upgradesIn,
} from './manifest.ts'
import type { Encryption } from './settings.ts'
import { signManifest } from './signing.ts'
import { asText, copyOut, readTables, relationOf } from './tables.ts'

/** Reports progress: a fraction from 0 to 1, and the current step. */
export type Progress = (done: number, step: string) => void

export type Backup = {
  name: string
  kind: Kind
  bytes: number
  encrypted: boolean
  created_at: string
}

const NAME = new RegExp(
  `^watchpost-hub-(\\d{4})(\\d\\d)(\\d\\d)-(\\d\\d)(\\d\\d)(\\d\\d)(\\d{3})-(${KINDS.join('|')})\\.tar\\.gz(\\.age)?$`,
)
const say = bilingual(backupText)

export const backupsIn = (paths: Paths) => join(paths.data_dir, 'backups')

/** The path of a backup; throws unless the name is a valid backup name. */
export function backupFile(paths: Paths, name: string): string {
  if (!NAME.test(name)) throw new ApiError('not_found', say.absent)
  return join(backupsIn(paths), name)
}

export const isBackupName = (name: string): boolean => NAME.test(name)

/** nameFor returns the name for a backup made now. */
export function nameFor(kind: Kind, options: { encrypted: boolean }, now = new Date()): string {
  const digits = now.toISOString().replace(/\D/g, '')
  const stamp = `${digits.slice(0, 8)}-${digits.slice(8, 17)}`
  return `watchpost-hub-${stamp}-${kind}.tar.gz${options.encrypted ? '.age' : ''}`
}

/** Lists the backups on this machine, newest first. */
export async function listBackups(paths: Paths): Promise<Backup[]> {
  const names = await readdir(backupsIn(paths)).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const found: Backup[] = []
  for (const name of names) {
    const [, year, month, day, hour, minute, second, ms, kind, age] = NAME.exec(name) ?? []
    if (!kind) continue
    const size = await stat(join(backupsIn(paths), name)).catch(() => undefined)
    if (!size) continue
    found.push({
      name,
      kind: kind as Kind, // safe: the pattern is made of the kinds
      bytes: size.size,
      encrypted: age !== undefined,
      created_at: `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`,
    })
  }
  return found.sort((a, b) => b.created_at.localeCompare(a.created_at))
}

/**
 * lastOf returns the newest of these backups that is not of the future: one of a clock that was ahead
 * would stand for all that should follow.
 */
export function lastOf(backups: Backup[], now = new Date()): Backup | undefined {
  const until = Math.max(now.getTime(), Date.now())
  return backups.find(({ created_at }) => Date.parse(created_at) <= until)
}

/**
 * withLock runs the work under an advisory lock, so that only one process makes or restores a
 * backup.
 */
export async function withLock<T>(
  config: Config,
  work: (client: pg.Client) => Promise<T>,
  { is_patient = false } = {},
): Promise<T> {
  const { key } = await readKey(config)
  // COPY streams cannot be pipelined.
  const client = new pg.Client({
    connectionString: urlFor(key, config.database),
    application_name: 'watchpost-hub backup',
  })
  client.on('error', () => {})
  await client.connect().catch((error: unknown) => {
    throw databaseAway(error)
  })
  try {
    for (let tries = is_patient ? 600 : 1; !(await isFree(client)); tries -= 1) {
      if (tries <= 1) throw new ApiError('conflict', say.running.other)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

async function isFree(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ free: boolean }>(
    'select pg_try_advisory_lock($1, $2) as free',
    [LOCK_SPACE, LOCKS.backup],
  )
  return rows[0]?.free === true
}

/**
 * makeBackup writes everything of one moment into one archive: every table in one repeatable-read
 * transaction, then projects, also deleted ones, prompts and settings. The caller holds the lock. The keys, the token
 * and the admin's password are the machine's and never in it.
 */
export async function makeBackup(
  client: pg.Client,
  config: Config,
  given: {
    kind: Kind
    encryption: Encryption
    progress?: Progress
    /** Is told of files and folders that no archive can hold. */
    lacks?: (left_out: string[]) => void
  },
): Promise<string> {
  const { kind, encryption, progress = () => {}, lacks = () => {} } = given
  const { paths } = config
  const folder = backupsIn(paths)
  await mkdir(folder, { recursive: true, mode: 0o750 })
  await removeLeftovers(folder)
  const stage = join(folder, `.stage-${randomBytes(6).toString('hex')}`)
  const encrypted = encryption.kind !== 'none'
  try {
    await mkdir(stage, { mode: 0o700 })
    const manifest: Manifest = {
      format: 1,
      version: VERSION,
      created_at: new Date().toISOString(),
      kind,
      upgrades: await upgradesIn(),
      with_secrets: encrypted,
      tables: [],
      folders: [],
      files: [],
    }
    await dumpTables(client, stage, manifest, (part) => progress(0.5 * part, 'database'))
    progress(0.5, 'files')
    const trees = {
      projects: join(paths.data_dir, 'projects'),
      archive: join(paths.data_dir, 'archive'),
      prompts: paths.prompts_dir,
    }
    const left_out: string[] = []
    for (const [to, from] of Object.entries(trees)) {
      left_out.push(...(await copyTree(from, stage, to, manifest)))
    }
    if (left_out.length > 0) lacks(left_out)
    manifest.folders.push('config')
    await mkdir(join(stage, 'config'))
    const names = [...CONFIG_FILES.always, ...(encrypted ? CONFIG_FILES.encrypted : [])]
    for (const name of names) {
      await copyFile(join(paths.config_dir, name), stage, `config/${name}`, manifest)
    }
    await copyFile(join(paths.data_dir, 'active'), stage, 'active', manifest)
    await writeHead(paths, stage, manifest)
    progress(0.7, 'archive')
    const name = nameFor(kind, { encrypted })
    await pack(stage, join(folder, name), encryption)
    progress(1, 'done')
    return name
  } catch (error) {
    if (!isFullDisk(error)) throw error
    throw new BackupError(say.full_disk(folder), { cause: error })
  } finally {
    await rm(stage, { recursive: true, force: true })
  }
}

/** writeHead writes a folder's manifest and signs it with this machine's key. */
async function writeHead(paths: Paths, stage: string, manifest: Manifest): Promise<void> {
  const text = manifestText(manifest)
  await writeWhole(join(stage, 'manifest.json'), text)
  await writeWhole(join(stage, 'signature.json'), await signManifest(paths, text))
}

/** dumpTables writes every table of schema hub from one snapshot. */
export async function dumpTables(
  client: pg.Client,
  stage: string,
  manifest: Manifest,
  progress: (part: number) => void = () => {},
): Promise<void> {
  await mkdir(join(stage, 'database'))
  manifest.folders.push('database')
  await client.query('begin isolation level repeatable read read only')
  try {
    await asText(client)
    const tables = await readTables(client)
    for (const [index, { name, columns, key }] of tables.entries()) {
      const path = tableFile(name)
      const copied = await copyOut(
        client,
        { relation: relationOf(name), columns, key },
        join(stage, path),
      )
      const { rows, bytes, sha256 } = copied
      manifest.tables.push({ name, columns, rows })
      manifest.files.push({ path, bytes, sha256, mode: 0o600 })
      progress((index + 1) / tables.length)
    }
  } finally {
    await client.query('rollback')
  }
}

/** The prefix of an upload's file while it arrives, and of the folder in which one is checked. */
export const UPLOAD = '.upload-'
export const CHECK = '.check-'
const LOST_MS = 24 * 60 * 60 * 1000

/**
 * Removes what killed backups, uploads and checks have left. Because of the lock no other backup is
 * running. An upload or a check may be, so its file is removed only if nothing was written for a day.
 */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const isOfBackup = /^\.stage-/.test(name) || /^watchpost-hub-.*\.new$/.test(name)
    const isOfOthers = name.startsWith(UPLOAD) || name.startsWith(CHECK)
    if (isOfBackup || (isOfOthers && (await isLost(path)))) {
      await rm(path, { recursive: true, force: true })
    }
  }
}

async function isLost(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  return found !== undefined && Date.now() - found.mtimeMs > LOST_MS
}

const KEEP_OTHERS = 5

/**
 * removeOld keeps the newest daily backups and the last few made before a restore. One that is dated in
 * the future stays beside them: it would take the place of the newest.
 */
export async function removeOld(paths: Paths, keep_daily: number): Promise<string[]> {
  const backups = (await listBackups(paths)).filter(
    ({ created_at }) => Date.parse(created_at) <= Date.now(),
  )
  const beyond = (kind: Kind, most: number) =>
    backups.filter((backup) => backup.kind === kind).slice(most)
  const old = [...beyond('daily', keep_daily), ...beyond('before-restore', KEEP_OTHERS)]
  for (const { name } of old) await rm(join(backupsIn(paths), name), { force: true })
  return old.map(({ name }) => name)
}
