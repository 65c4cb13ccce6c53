import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { z } from 'zod'
import type { Config, Paths } from '../config.ts'
import { readOnlyKey } from '../db/db.ts'
import { readKey } from '../db/keys.ts'
import { isDraft, readJson, readText, writeJson, writeWhole } from '../files.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { readLists } from '../mail/listmonk/lists.ts'
import { pauseMail } from '../mail/settings.ts'
import { fitsSalts, parseSalts, readSalt, SALT_FILE } from '../mail/suppression.ts'
import { reapplyErasures } from '../people/ledger.ts'
import { SLUG } from '../projects/project-folder.ts'
import type { Secret } from './archive.ts'
import { backupText } from './backup.text.ts'
import { checkConfig, type Power, Powers, restoreConfig } from './config-files.ts'
import { makeBackup, type Progress, withLock } from './make.ts'
import { BackupError, isOlder, type Manifest, tableFile } from './manifest.ts'
import { readBackupSettings } from './settings.ts'
import { isTrusted, type Origin } from './signing.ts'
import { asText, differingTables, readTables, replaceRows, type Table } from './tables.ts'
import { unpack } from './unpack.ts'
import { checkValues, withdrawApprovals } from './withdraw-approvals.ts'

const say = bilingual(backupText)

/**
 * restore.json: the journal of a running restore. Its transaction decides: if it committed, the
 * files are restored too, otherwise everything stays as it was.
 */
const Journal = z.strictObject({
  stage: z.uuid(),
  transaction: z.string().regex(/^\d+$/),
  /** mail-pause.json before the restore, to put back if the restore does not happen. */
  pause: z.string().nullable(),
  /** The settings to restore on request. */
  powers: Powers,
})

const journalFile = (paths: Paths) => join(paths.data_dir, 'restore.json')
const pauseFile = (paths: Paths) => join(paths.config_dir, 'mail-pause.json')
const stageOf = (paths: Paths, id: string) => join(paths.data_dir, `.restore-${id}`)

/** Upgrades an older backup's folder to this release's schema; only the database owner can. */
type Upgrade = (stage: string, manifest: Manifest) => Promise<Manifest>

export type RestoreOptions = {
  secret: Secret
  /** The sentence a person typed for an archive that this machine did not sign. */
  trust?: string | undefined
  /** The settings to restore on request. */
  powers?: Power[] | undefined
  progress?: Progress
  upgrade?: Upgrade
}

/**
 * restoreBackup restores rows, projects, prompts and settings: all or nothing, even if it is
 * killed. First it checks the whole archive and backs up the current state. Afterwards mail is
 * paused, and the suppression list contains the entries of both sides.
 */
export async function restoreBackup(
  config: Config,
  given: RestoreOptions & { file: string },
): Promise<Manifest> {
  const { file, secret, trust, powers = [], progress = () => {}, upgrade } = given
  const { paths } = config
  if ((await readKey(config)).role !== 'hub_rw') throw readOnlyKey()
  return withLock(config, async (client) => {
    await settle(client, config.paths)
    await removeStages(config.paths)
    const id = randomUUID()
    const stage = stageOf(config.paths, id)
    try {
      progress(0.05, 'unpack')
      const { origin, ...unpacked } = await unpack({ paths, file, folder: stage, secret })
      let { manifest } = unpacked
      requireTrust(origin, trust)
      await checkConfig(stage)
      await checkFiles(paths, stage)
      if (await isOlder(manifest)) {
        if (!upgrade) throw new BackupError(say.older(manifest.version))
        progress(0.3, 'upgrade')
        manifest = await upgrade(stage, manifest)
      }
      await requireSalts(paths, stage, manifest)
      progress(0.4, 'backup')
      const { encryption } = await readBackupSettings(config.paths)
      await makeBackup(client, config, {
        kind: 'before-restore',
        encryption,
        // The folders are replaced, and what this backup lacks could not be brought back.
        lacks: ([path = '', ...more]) => {
          throw new BackupError(say.would_lose(path, more.length + 1))
        },
      })
      progress(0.6, 'database')
      await restoreRows(client, paths, { id, stage, manifest, origin, powers, progress })
      progress(0.9, 'files')
      await settle(client, config.paths)
      progress(1, 'done')
      return manifest
    } catch (error) {
      // A COMMIT without an answer may have succeeded; then the files must be restored too.
      await settle(client, config.paths).catch(() => {})
      throw error
    } finally {
      if (!existsSync(journalFile(config.paths))) await discard(stage)
    }
  })
}

async function restoreRows(
  client: pg.Client,
  paths: Paths,
  given: {
    id: string
    stage: string
    manifest: Manifest
    origin: Origin
    powers: Power[]
    progress: Progress
  },
): Promise<void> {
  const { id, stage, manifest, origin, powers, progress } = given
  await client.query('begin')
  try {
    await asText(client)
    const tables = await readTables(client)
    requireSame(tables, manifest)
    await replaceRows(client, tables, manifest.tables, (name) => join(stage, tableFile(name)))
    progress(0.75, 'check')
    const wrong = await differingTables(client, tables, manifest, { is_merged: true })
    if (wrong.length > 0) {
      throw new BackupError(say.differing(wrong.join(', ')))
    }
    await checkValues(client)
    await joinSuppression(client)
    await eraseAgain(client, paths, stage)
    await withdrawApprovals(client, origin)
    const { rows } = await client.query<{ id: string }>('select pg_current_xact_id()::text as id')
    await writeJson(journalFile(paths), {
      stage: id,
      transaction: rows[0]?.id ?? '',
      pause: (await readText(pauseFile(paths))) ?? null,
      powers,
    } satisfies z.input<typeof Journal>)
    // Pause mail before the commit, so that no restored mail is sent without being asked for.
    await pauseMail(paths, 'restored', say.restored(manifest.created_at))
    progress(0.85, 'commit')
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    if (!(error instanceof pg.DatabaseError) || !isOfRows(error)) throw error
    throw new BackupError(say.no_fit(error.message), { cause: error })
  }
}

/**
 * SQLSTATE classes 22 and 23: the rows violate a type or a constraint; 42501: a row of no project.
 */
const isOfRows = ({ code = '' }: pg.DatabaseError) => /^(22|23)|^42501$/.test(code)

/**
 * What its owner asked for can never be taken off the list, so of two entries for one address it wins,
 * then what the team put there, and a bounce last.
 */
async function joinSuppression(client: pg.Client): Promise<void> {
  await client.query(
    `update hub.suppression as entry set reason = loaded.reason, released_at = null
     from restored_suppression as loaded
     where loaded.email_hash = entry.email_hash
       and (
         entry.reason = 'bounced' and loaded.reason <> 'bounced' and loaded.released_at is null
         or entry.reason in ('manual', 'imported')
           and loaded.reason in ('unsubscribed', 'complained', 'erased')
       )`,
  )
}

/** Erases whom this hub or the archive's erased, before the rows count and the files are moved here. */
async function eraseAgain(client: pg.Client, paths: Paths, stage: string): Promise<void> {
  await client.query(
    `update hub.suppression as entry set erased_at = loaded.erased_at,
       erased_texts = entry.erased_texts or loaded.erased_texts,
       erased_names = array(select distinct unnest(entry.erased_names || loaded.erased_names))
     from restored_suppression as loaded
     where loaded.email_hash = entry.email_hash and loaded.erased_at is not null`,
  )
  const ours = await readSalt(paths)
  const theirs = parseSalts((await readText(join(stage, 'config', SALT_FILE))) ?? '') ?? []
  const salt = { current: ours.current, all: [...ours.all, ...theirs] }
  const folders = [join(stage, 'projects'), join(stage, 'prompts')]
  await reapplyErasures(client, { salt, folders })
}

/**
 * finishRestore completes a killed restore if its rows were committed, and undoes it otherwise.
 * Returns which of the two, or null if there was no killed restore.
 */
export async function finishRestore(config: Config): Promise<'restored' | 'kept' | null> {
  if (!existsSync(journalFile(config.paths))) return null
  // The connection of the killed process may hold the lock for another moment.
  return withLock(config, (client) => settle(client, config.paths), { is_patient: true })
}

async function settle(client: pg.Client, paths: Paths): Promise<'restored' | 'kept' | null> {
  const value = await readJson(journalFile(paths))
  if (value === undefined) return null
  const { stage, transaction, pause, powers } = Journal.parse(value)
  const isCommitted = await outcome(client, transaction)
  if (isCommitted) await restoreFiles(paths, stageOf(paths, stage), powers)
  if (!isCommitted && pause === null) await rm(pauseFile(paths), { force: true })
  if (!isCommitted && pause !== null) await writeWhole(pauseFile(paths), pause)
  await rm(journalFile(paths))
  await discard(stageOf(paths, stage))
  return isCommitted ? 'restored' : 'kept'
}

/**
 * Removes an unpacked archive, with the folders that it has replaced. What somebody else put there, root
 * above all, may stay: the restore is done all the same, and each later one tries again.
 */
async function discard(stage: string): Promise<void> {
  await rm(stage, { recursive: true, force: true, maxRetries: 5 }).catch(() => {})
}

async function outcome(client: pg.Client, transaction: string): Promise<boolean> {
  for (;;) {
    const { rows } = await client.query<{ status: string | null }>(
      'select pg_xact_status($1::xid8) as status',
      [transaction],
    )
    const status = rows[0]?.status
    // The server may be committing for a client that is gone.
    if (status !== 'in progress') return status === 'committed'
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** restoreFiles can be interrupted and called again: each step is atomic. */
async function restoreFiles(paths: Paths, stage: string, powers: Power[]): Promise<void> {
  await restoreConfig(paths, stage, powers)
  const projects = join(paths.data_dir, 'projects')
  if (existsSync(join(stage, 'projects'))) {
    if (existsSync(projects)) await rename(projects, join(stage, `old-${randomUUID()}`))
    await rename(join(stage, 'projects'), projects)
  }
  // Nothing is deleted for good by a restore, so those of both are kept.
  const archives = { theirs: join(stage, 'archive'), ours: join(paths.data_dir, 'archive') }
  for (const name of await readdir(archives.theirs).catch(() => [])) {
    const ours = join(archives.ours, name)
    await mkdir(archives.ours, { recursive: true, mode: 0o700 })
    if (!existsSync(ours)) await rename(join(archives.theirs, name), ours)
  }
  const prompts = join(stage, 'prompts')
  const saved = existsSync(prompts) ? await readdir(prompts) : []
  await mkdir(paths.prompts_dir, { recursive: true })
  for (const name of await readdir(paths.prompts_dir)) {
    const isGone = name.endsWith('.md') && !saved.includes(name)
    if (isGone || isDraft(name)) await rm(join(paths.prompts_dir, name))
  }
  for (const name of saved) {
    const { mode } = await stat(join(prompts, name))
    await writeWhole(join(paths.prompts_dir, name), await readFile(join(prompts, name)), mode)
  }
  const active = await readText(join(stage, 'active'))
  if (active !== undefined) await writeWhole(join(paths.data_dir, 'active'), active)
}

/**
 * removeStages removes what killed restores have unpacked, unless one of them must still be finished.
 * The caller holds the lock.
 */
export async function removeStages(paths: Paths): Promise<void> {
  if (existsSync(journalFile(paths))) return
  for (const name of await readdir(paths.data_dir).catch(() => [])) {
    if (/^\.restore-[0-9a-f-]{36}$/.test(name)) await discard(join(paths.data_dir, name))
  }
}

/** Refuses an archive that this machine did not sign, unless a person types the sentence. */
export function requireTrust(origin: Origin, typed: string | undefined): void {
  if (origin.kind === 'here' || isTrusted(typed)) return
  throw new BackupError(warningOf(origin))
}

/** The warning about such an archive, with the sentence to type. */
export function warningOf({ kind, signer }: Origin): Words {
  return kind === 'elsewhere' ? say.elsewhere(signer ?? '') : say.unsigned
}

/** Checks the files outside of the settings that the hub reads: active project, listmonk lists. */
async function checkFiles(paths: Paths, stage: string): Promise<void> {
  const active = await readText(join(stage, 'active'))
  if (active !== undefined && !SLUG.test(active.trim())) {
    throw new BackupError(say.unusable_setting('active', ''))
  }
  await readLists({ ...paths, data_dir: stage }).catch((error: unknown) => {
    throw new BackupError(say.unusable_setting('projects/_listmonk_lists.json', ''), {
      cause: error,
    })
  })
}

/** The suppression list becomes that of both hubs: each entry needs the salt it was made with. */
async function requireSalts(paths: Paths, stage: string, { tables }: Manifest): Promise<void> {
  const salts = parseSalts((await readText(join(stage, 'config', SALT_FILE))) ?? '')
  const entries = tables.find(({ name }) => name === 'suppression')?.rows ?? 0
  if (!salts && entries > 0) throw new BackupError(say.no_salt)
  if (salts && !(await fitsSalts(paths, salts))) throw new BackupError(say.many_salts)
}

/** Refuses unless the archive has exactly the tables and columns of this release's schema. */
function requireSame(tables: Table[], manifest: Manifest): void {
  for (const { name, columns } of manifest.tables) {
    const table = tables.find((known) => known.name === name)
    if (!table) throw new BackupError(say.unknown_table(name))
    const unknown = columns.find((column) => !table.columns.includes(column))
    if (unknown !== undefined) throw new BackupError(say.unknown_column(`${name}.${unknown}`))
    const missing = table.columns.find((column) => !columns.includes(column))
    if (missing !== undefined) throw new BackupError(say.missing_table(`${name}.${missing}`))
  }
  const missing = tables.find(({ name }) => !manifest.tables.some((table) => table.name === name))
  if (missing) throw new BackupError(say.missing_table(missing.name))
}
