import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { link, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sql } from '../../shared/sql.ts'
import type { Paths } from '../config.ts'
import { readText, writeWhole } from '../files.ts'
import { normaliseEmail } from './address.ts'

export type SuppressionReason = 'unsubscribed' | 'bounced' | 'complained' | 'manual' | 'imported'

/** What the list is asked with, and who unsubscribed but is not on it yet. */
export type Refusals = { salt: Buffer; queued: Set<string> }

const SALT_BYTES = 32
const HASH_BYTES = 32
const NONCE_BYTES = 12
const SIGNATURE_BYTES = 16

/** The secret under which addresses are hashed; without it the list is of no use, so backups hold it. */
export async function readSalt(paths: Paths): Promise<Buffer> {
  const file = join(paths.config_dir, 'suppression.salt')
  const known = (await readText(file)) ?? (await makeSalt(file))
  const salt = Buffer.from(known.trim(), 'base64')
  if (salt.length === SALT_BYTES) return salt
  throw new Error(`${file} is damaged. Bring it back from a backup: the suppression list needs it.`)
}

/** Made once, also when two processes begin at once: a link never replaces what is there. */
async function makeSalt(file: string): Promise<string> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  await writeWhole(draft, `${randomBytes(SALT_BYTES).toString('base64')}\n`)
  try {
    await link(draft, file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    await rm(draft)
  }
  return (await readText(file)) ?? ''
}

/** What stands on the list for an address, in whatever case it is written. */
export function emailHash(salt: Buffer, email: string): string {
  const normal = normaliseEmail(email) ?? email.trim().toLowerCase()
  return createHmac('sha256', salt).update(normal).digest('hex')
}

/** Puts addresses on the list; answers how many are new there. */
export async function suppress(
  sql: Sql,
  salt: Buffer,
  given: { emails: string[]; reason: SuppressionReason; project_id?: string | null },
): Promise<number> {
  const hashes = given.emails.map((email) => emailHash(salt, email))
  return suppressHashes(sql, { ...given, hashes })
}

/** The same for what is known as a hash only. */
export async function suppressHashes(
  sql: Sql,
  given: { hashes: string[]; reason: SuppressionReason; project_id?: string | null },
): Promise<number> {
  const { hashes, reason, project_id = null } = given
  const added = await sql<{ is_new: boolean }>`
    insert into hub.suppression (email_hash, reason, project_id)
    select distinct hash, ${reason}, ${project_id}::uuid
    from unnest(${hashes}::text[]) as hash
    on conflict (email_hash) do update set reason = excluded.reason, released_at = null
    where suppression.reason = 'bounced'
      and (excluded.reason <> 'bounced' or suppression.released_at is not null)
    returning (old.email_hash is null or old.released_at is not null) as is_new`
  return added.filter(({ is_new }) => is_new).length
}

/**
 * Takes a bounce back: the address may get mail again. Of any other reason nothing is taken back.
 * Answers what stood there; undefined when nothing did.
 */
export async function release(sql: Sql, hash: string): Promise<SuppressionReason | undefined> {
  const [entry] = await sql<{ reason: SuppressionReason }>`
    select reason from hub.suppression where email_hash = ${hash} and released_at is null
    for update`
  if (entry?.reason === 'bounced') {
    await sql`update hub.suppression set released_at = now() where email_hash = ${hash}`
  }
  return entry?.reason
}

/** Those of the addresses that must not get mail: who is on the list, or will be. */
export async function suppressed(
  sql: Sql,
  { salt, queued }: Refusals,
  emails: string[],
): Promise<Set<string>> {
  if (emails.length === 0) return new Set()
  const byHash = new Map(emails.map((email) => [emailHash(salt, email), email]))
  const rows = await sql<{ email_hash: string }>`
    select email_hash
    from hub.suppression
    where email_hash = any(${[...byHash.keys()]}::text[]) and released_at is null`
  const hashes = [...rows.map((row) => row.email_hash), ...queued]
  return new Set(hashes.flatMap((hash) => byHash.get(hash) ?? []))
}

/**
 * The token of an unsubscribe link. It carries the address's hash and a signature, so that it works
 * when its row is gone: after a restore, or with its project.
 */
export function unsubscribeToken(salt: Buffer, email: string): string {
  const hash = Buffer.from(emailHash(salt, email), 'hex')
  const payload = Buffer.concat([hash, randomBytes(NONCE_BYTES)])
  return Buffer.concat([payload, sign(salt, payload)]).toString('base64url')
}

/** The address's hash in a token of ours; undefined for any other text. */
export function readToken(salt: Buffer, token: string): string | undefined {
  if (!/^[\w-]{80}$/.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  const payload = bytes.subarray(0, HASH_BYTES + NONCE_BYTES)
  const isOurs = timingSafeEqual(bytes.subarray(payload.length), sign(salt, payload))
  return isOurs ? payload.subarray(0, HASH_BYTES).toString('hex') : undefined
}

/** What the database keeps of a token. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

function sign(salt: Buffer, payload: Buffer): Buffer {
  const mac = createHmac('sha256', salt).update('unsubscribe').update(payload).digest()
  return mac.subarray(0, SIGNATURE_BYTES)
}
