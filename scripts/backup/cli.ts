import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { findDatabase, folderOf, isEmbedded, type Place } from '../postgres/find-database.ts'
import { readSecrets, writeNewSecrets } from '../postgres/secrets.ts'
import { environment, UsageError } from '../start/arguments.ts'
import { type Archive, checkTables, openArchive } from './archive.ts'
import { makeBackup, type Progress } from './backup.ts'
import { originOf, readSealKeys, type SealKey } from './keys.ts'
import { BackupError, type Manifest } from './manifest.ts'
import { restoreBackup } from './restore.ts'

type Result = Record<string, unknown>
type RestoreOptions = { check: boolean; 'lost-key': boolean; trust?: string | undefined }

/** What a person types to restore an archive that no key of this service signed. */
export const TRUST = 'I trust this file'

/** backup writes the database of a place into a file, or into a new file in a folder. */
export async function backup(given: string, place: Place): Promise<Result> {
  const keys = await keysOf(place)
  if (keys.length === 0) {
    throw new BackupError(
      `The sealing key is not known: SEAL_KEYS is not set, and ${folderOf(place)}/secrets.json does not exist. Set SEAL_KEYS as the service has it; the backup records its fingerprint, never the key.`,
    )
  }
  const file = isFolder(given) ? join(given, `watchpost-${stamp(new Date())}.zip`) : given
  const database = await findDatabase(place)
  const progress = shownProgress()
  try {
    const { adminUrl } = database
    const made = await makeBackup({ adminUrl, file, keys, progress: progress.show })
    progress.clear()
    return { file, bytes: made.bytes, ...summary(made.manifest) }
  } finally {
    progress.clear()
    await database.close()
  }
}

/** restore checks an archive, and unless asked only to check restores it into an empty database. */
export async function restore(
  file: string,
  place: Place,
  options: RestoreOptions,
): Promise<Result> {
  const archive = await openArchive(file)
  const progress = shownProgress()
  try {
    const known = await keysOf(place)
    const origin = originOf(known, archive.manifest_bytes, archive.signature)
    if (origin === 'altered') {
      throw new BackupError(
        'manifest.json was changed after it was signed with the sealing key of this service. Nothing was restored.',
      )
    }
    if (options.check) {
      await checkTables(archive, (table, rows) => progress.show(table.name, rows, table.rows))
      progress.clear()
      return { ok: true, signed_here: origin === 'ours', ...summary(archive.manifest) }
    }
    requireKeys(archive.manifest, known, options)
    if (origin === 'foreign') await requireTrust(archive.manifest, options.trust)
    await checkTables(archive, (table, rows) => progress.show(table.name, rows, table.rows))
    const keys = known.length > 0 ? known : await newKeys(place)
    return await restoreInto(place, { archive, keys, options, progress })
  } finally {
    progress.clear()
    await archive.close()
  }
}

async function restoreInto(
  place: Place,
  given: {
    archive: Archive
    keys: SealKey[]
    options: RestoreOptions
    progress: ReturnType<typeof shownProgress>
  },
): Promise<Result> {
  const { archive, keys, options, progress } = given
  const database = await findDatabase(place, { create: true })
  try {
    const { adminUrl } = database
    const is_key_lost = options['lost-key']
    const done = await restoreBackup({
      archive,
      adminUrl,
      keys,
      is_key_lost,
      progress: progress.show,
    })
    progress.clear()
    return {
      restored: true,
      ...summary(archive.manifest),
      ...(is_key_lost ? done : {}),
    }
  } finally {
    await database.close()
  }
}

/** The keys of the service: SEAL_KEYS, or else those in the data folder. */
async function keysOf(place: Place): Promise<SealKey[]> {
  const text = environment().SEAL_KEYS?.trim()
  if (text) {
    try {
      return readSealKeys(text)
    } catch {
      throw new UsageError('SEAL_KEYS must hold keys of 32 bytes in base64.')
    }
  }
  const secrets = await readSecrets(folderOf(place))
  return secrets ? readSealKeys(secrets.seal_keys) : []
}

/** Every key that the backup's service had must be here, because any of them may have sealed something. */
function requireKeys({ seal_keys }: Manifest, known: SealKey[], options: RestoreOptions): void {
  const fingerprints = known.map(({ fingerprint }) => fingerprint)
  const missing = seal_keys.filter((fingerprint) => !fingerprints.includes(fingerprint))
  if (missing.length === 0 || options['lost-key']) return
  const here = fingerprints.length > 0 ? fingerprints.join(', ') : 'none'
  throw new BackupError(
    `The backup belongs to the sealing key with the fingerprint ${missing.join(', ')}; the keys given here are: ${here}. Set SEAL_KEYS to the key of the service that was backed up, or copy its secrets.json into the data folder. If the key is lost, add --lost-key: all channels that it sealed are then switched off, because their targets and secrets cannot be read. Nothing was restored.`,
  )
}

async function requireTrust({ seal_keys }: Manifest, typed: string | undefined): Promise<void> {
  const warning = `No key given here signed this backup (it names ${seal_keys[0]}), so it may be anybody's: it can contain accounts and keys of other people. Nothing but its maker vouches for it.`
  const answer = typed ?? (await ask(`${warning} Type "${TRUST}" to restore it: `))
  if (answer.trim() === TRUST) return
  throw new BackupError(
    `${warning} To restore it anyway, add --trust "${TRUST}". Nothing was restored.`,
  )
}

async function ask(question: string): Promise<string> {
  if (!process.stdin.isTTY) return ''
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await lines.question(question)
  } finally {
    lines.close()
  }
}

/** For a restore without the lost key: as at a first start, or as the operator sets it. */
async function newKeys(place: Place): Promise<SealKey[]> {
  if (isEmbedded(place)) return readSealKeys((await writeNewSecrets(folderOf(place))).seal_keys)
  throw new BackupError(
    'SEAL_KEYS is not set. Set it to a new key (openssl rand -base64 32), which the service gets too. Nothing was restored.',
  )
}

function summary(manifest: Manifest): Result & { created_at: string } {
  const { created_at, version, migrations, tables, seal_keys, auth } = manifest
  return {
    created_at,
    version,
    migration: migrations.at(-1),
    tables: tables.length,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    seal_keys: seal_keys.join(', '),
    ...(auth === 'supabase' ? { left_out: 'the schema auth, which Supabase backs up' } : {}),
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

const stamp = (at: Date) => at.toISOString().replace(/\D/g, '').slice(0, 14)

/** One line on a terminal that says how far it is. */
function shownProgress(): { show: Progress; clear: () => void } {
  const { stderr } = process
  let shown = 0
  return {
    show: (table, rows, total) => {
      if (!stderr.isTTY || performance.now() - shown < 100) return
      shown = performance.now()
      const number = (value: number) => Math.round(value).toLocaleString('en')
      stderr.write(`\r\u001b[K${table}: ${number(rows)} of ${number(total)} rows`)
    },
    clear: () => {
      if (stderr.isTTY && shown > 0) stderr.write('\r\u001b[K')
    },
  }
}
