import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { WordsError } from '../failure.ts'
import { said } from '../words.ts'
import { backupText } from './backup.text.ts'

const say = said(backupText)

/** A backup that cannot be made, read or restored; its words say why and the way out. */
export class BackupError extends WordsError {}

/** Why a backup was made; `uploaded`: it came from somewhere else. */
export const KINDS = ['daily', 'manual', 'before-restore', 'uploaded'] as const
export type Kind = (typeof KINDS)[number]

const FORMAT = 1
const Name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/)
/** Below one of these, and never out of it. */
const Path = z
  .string()
  .max(4096)
  .refine(
    (path) =>
      /^(database|projects|prompts|config)(\/|$)|^active$/.test(path) &&
      !/[\\\0]/.test(path) &&
      path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    'leads out of the archive',
  )

/** manifest.json, the first file of an archive: what is in it, and the checksum of each file. */
export const Manifest = z.strictObject({
  format: z.literal(FORMAT),
  version: z.string().max(40),
  created_at: z.iso.datetime(),
  kind: z.enum(KINDS),
  /** The upgrades that its database had: which schema its tables have. */
  upgrades: z.array(z.string().regex(/^[\w.-]+\.sql$/)),
  /** Whether passwords of other services are in it: only in an encrypted one. */
  with_secrets: z.boolean(),
  tables: z.array(
    z.strictObject({ name: Name, columns: z.array(Name).min(1), rows: z.int().nonnegative() }),
  ),
  folders: z.array(Path),
  files: z.array(
    z.strictObject({
      path: Path,
      bytes: z.int().nonnegative(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      mode: z.int().min(0).max(0o777),
    }),
  ),
})
export type Manifest = z.infer<typeof Manifest>

/** Where a table's rows stand in the archive. */
export const tableFile = (name: string) => `database/${name}.copy`

/** readManifest reads the manifest's text; one of a newer hub is told from a damaged one. */
export function parseManifest(text: string): Manifest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new BackupError(say.broken_manifest)
  }
  const format = z.looseObject({ format: z.int(), version: z.string() }).safeParse(value)
  if (format.success && format.data.format > FORMAT) throw newer(format.data.version)
  const manifest = Manifest.safeParse(value)
  if (manifest.success) return manifest.data
  const [issue] = manifest.error.issues
  throw new BackupError(say.unusable_manifest(issue?.path.join('.') ?? ''))
}

const SQL = join(import.meta.dirname, '../sql')

/** The upgrades this release has: its schema. */
export async function upgradesIn(folder = SQL): Promise<string[]> {
  const names = await readdir(join(folder, 'upgrades')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names.filter((name) => name.endsWith('.sql')).sort()
}

/** Whether a backup has an older schema than this release; a newer one is refused. */
export async function isOlder(manifest: Manifest, folder = SQL): Promise<boolean> {
  const ours = await upgradesIn(folder)
  if (manifest.upgrades.some((name) => !ours.includes(name))) throw newer(manifest.version)
  return ours.length > manifest.upgrades.length
}

function newer(version: string): BackupError {
  return new BackupError(say.newer(version))
}
