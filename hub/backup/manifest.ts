import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { AGENT_NAMES } from '../agents/names.ts'
import { WordsError } from '../i18n/failure.ts'
import { bilingual } from '../i18n/words.ts'
import { ARCHIVE, SLUG } from '../projects/project-folder.ts'
import { backupText } from './backup.text.ts'

const say = bilingual(backupText)

/** A backup cannot be made, read or restored; its words say why and what to do. */
export class BackupError extends WordsError {}

/** Why a backup was made; `uploaded`: it came from somewhere else. */
export const KINDS = ['daily', 'manual', 'before-restore', 'uploaded'] as const
export type Kind = (typeof KINDS)[number]

const FORMAT = 1
const MAX_FILES = 200_000
export const MAX_MANIFEST_BYTES = 64 * 2 ** 20
const Name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/)
/** One path segment: valid as a file name, and neither `.` nor `..`. */
const isName = (part: string) =>
  part !== '' && part !== '.' && part !== '..' && !part.includes('\0') && part.length <= 255
const Path = z
  .string()
  .max(4096)
  .refine((path) => path.split('/').every(isName), 'leads out of the archive')
  .refine((path) => isAllowedPath(path), 'is not a path in a backup')

/** Next to the project folders: which project has which list in listmonk. */
const LISTS = '_listmonk_lists.json'
const PROMPTS = ['.shipped.json', ...AGENT_NAMES.map((name) => `${name}.md`)]

/** Whether a backup may contain this path: a project, the archive of a deleted one, a prompt, or a settings file. */
export function isAllowedPath(path: string): boolean {
  const [top = '', second, ...rest] = path.split('/')
  if (second === undefined)
    return ['database', 'projects', 'archive', 'prompts', 'config', 'active'].includes(top)
  if (top === 'projects') return SLUG.test(second) || (second === LISTS && rest.length === 0)
  if (rest.length > 0) return false
  if (top === 'archive') return ARCHIVE.test(second)
  if (top === 'prompts') return PROMPTS.includes(second)
  return top === 'database' || top === 'config'
}

/** manifest.json, the first file of an archive: what is in it, and the checksum of each file. */
export const Manifest = z.strictObject({
  format: z.literal(FORMAT),
  version: z.string().max(40),
  created_at: z.iso.datetime(),
  kind: z.enum(KINDS),
  /** The upgrades applied to its database, which define the schema of its tables. */
  upgrades: z
    .array(
      z
        .string()
        .max(200)
        .regex(/^[\w.-]+\.sql$/),
    )
    .max(10_000),
  /** Whether it contains passwords of other services: only if it is encrypted. */
  with_secrets: z.boolean(),
  tables: z
    .array(
      z.strictObject({
        name: Name,
        columns: z.array(Name).min(1).max(1600),
        rows: z.int().nonnegative(),
      }),
    )
    .max(1000),
  folders: z.array(Path).max(MAX_FILES),
  files: z
    .array(
      z.strictObject({
        path: Path,
        bytes: z.int().nonnegative(),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
        mode: z.int().min(0).max(0o777),
      }),
    )
    .max(MAX_FILES),
})
export type Manifest = z.infer<typeof Manifest>

/** The path of a table's rows in the archive. */
export const tableFile = (name: string) => `database/${name}.copy`

/**
 * parseManifest parses the manifest; a newer hub's manifest gets another error than a damaged one.
 */
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
  if (!manifest.success) {
    const [issue] = manifest.error.issues
    throw new BackupError(say.unusable_manifest(issue?.path.join('.') ?? ''))
  }
  requireSound(manifest.data)
  return manifest.data
}

/** Refuses an inconsistent list: a path twice or without its folder, or rows without their file. */
function requireSound({ tables, folders, files }: Manifest): void {
  const paths = new Set<string>()
  const known = new Set(folders)
  for (const path of [...folders, ...files.map((file) => file.path)]) {
    const parent = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : undefined
    if (paths.has(path)) throw new BackupError(say.twice(path))
    if (parent !== undefined && !known.has(parent)) throw new BackupError(say.missing(parent))
    paths.add(path)
  }
  for (const { name, columns } of tables) {
    if (!paths.delete(tableFile(name))) throw new BackupError(say.missing(tableFile(name)))
    if (new Set(columns).size < columns.length) throw new BackupError(say.twice(tableFile(name)))
  }
  const [stray] = [...paths].filter((path) => path.startsWith('database/'))
  if (stray !== undefined) throw new BackupError(say.not_ours(stray))
}

/** manifestText returns the manifest's JSON; throws if no restore would accept it. */
export function manifestText(manifest: Manifest): Buffer {
  const text = Buffer.from(`${JSON.stringify(manifest)}\n`)
  const isListable = manifest.files.length + manifest.folders.length <= MAX_FILES
  if (!isListable || text.length > MAX_MANIFEST_BYTES) throw new BackupError(say.too_many)
  return text
}

const SQL = join(import.meta.dirname, '../sql')

/** The upgrades of this release, which define its schema. */
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
