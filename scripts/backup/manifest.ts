import { z } from 'zod'

/** A backup cannot be made, read or restored; the message says why and what to do. */
export class BackupError extends Error {}

const FORMAT = 1
export const MAX_MANIFEST_BYTES = 2 ** 20
const Name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/)
const Fingerprint = z.string().regex(/^[0-9a-f]{16}$/)

/** manifest.json of an archive: what is in it and where it belongs. */
const Manifest = z.strictObject({
  product: z.literal('watchpost'),
  format: z.literal(FORMAT),
  /** The version of Watchpost that made it. */
  version: z.string().max(40),
  created_at: z.iso.datetime(),
  /** The migrations of its database, oldest first; they define its tables. */
  migrations: z
    .array(z.string().regex(/^\d{14}_[a-z0-9_]{1,200}$/))
    .min(1)
    .max(10_000),
  /** Who signs people in: Watchpost, whose table auth.users is in the archive, or Supabase Auth. */
  auth: z.enum(['watchpost', 'supabase']),
  /** Fingerprints of the sealing keys, the first of which signed the manifest. */
  seal_keys: z.array(Fingerprint).min(1).max(100),
  tables: z
    .array(
      z.strictObject({
        name: z.string().regex(/^(watchpost|auth|pgboss)\.[a-z_][a-z0-9_]{0,62}$/),
        columns: z.array(Name).min(1).max(1600),
        rows: z.int().nonnegative(),
        bytes: z.int().nonnegative(),
        /** Of the rows as COPY text, not compressed. */
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
      }),
    )
    .min(1)
    .max(500),
})
export type Manifest = z.infer<typeof Manifest>
export type ArchivedTable = Manifest['tables'][number]

/** signature.json of an archive: a MAC of the manifest, by a key derived from a sealing key. */
const Signature = z.strictObject({
  /** The fingerprint of the sealing key. */
  key: Fingerprint,
  mac: z.string().regex(/^[0-9a-f]{64}$/),
})
export type Signature = z.infer<typeof Signature>

/** The name of a table's rows in the archive. */
export const memberOf = (table: string) => `tables/${table}.copy`

/** parseManifest reads manifest.json; throws a BackupError that names the field or the newer version. */
export function parseManifest(text: string): Manifest {
  const value = parsed('manifest.json', text)
  const head = z.looseObject({ format: z.int(), version: z.string().max(40) }).safeParse(value)
  if (head.success && head.data.format > FORMAT) throw newer(head.data.version)
  const { data, error } = Manifest.safeParse(value)
  if (!data) throw unusable('manifest.json', error)
  const names = data.tables.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new BackupError(`manifest.json lists the table ${twice} twice.`)
  return data
}

/** parseSignature reads signature.json; throws a BackupError that names the field. */
export function parseSignature(text: string): Signature {
  const { data, error } = Signature.safeParse(parsed('signature.json', text))
  if (!data) throw unusable('signature.json', error)
  return data
}

/** newer is the error for a backup that only a newer Watchpost understands. */
export function newer(version: string): BackupError {
  return new BackupError(
    `This backup was made by a newer Watchpost (version ${JSON.stringify(version)}). Update this one (git pull), then restore again.`,
  )
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new BackupError(`${file} is not valid JSON, so this is not a complete backup.`)
  }
}

function unusable(file: string, error: z.ZodError): BackupError {
  const [issue] = error.issues
  const field = issue?.path.join('.') ?? ''
  return new BackupError(`${file} is not usable${field ? ` (field ${field})` : ''}.`)
}
