import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import type { Sql } from '../../shared/sql.ts'
import type { Paths } from '../config.ts'
import { makeOnce, readText, writeWhole } from '../files.ts'
import { normaliseEmail } from './address.ts'

type SuppressionReason =
  | 'unsubscribed'
  | 'bounced'
  | 'complained'
  | 'manual'
  | 'imported'
  | 'erased'

/** What is needed to query the list, and the opt-outs that are not on it yet. */
export type Refusals = { salt: Salt; queued: Set<string> }

const SALT_BYTES = 32
const HASH_BYTES = 32
const NONCE_BYTES = 12
const SIGNATURE_BYTES = 16

/**
 * The secrets with which addresses are hashed. New entries use the current one. Those of other hubs
 * whose backups were restored here are kept, because their entries and links remain valid.
 */
export type Salt = { current: Buffer; all: Buffer[] }

export const SALT_FILE = 'suppression.salt'
const MAX_SALTS = 50
const fileOf = (paths: Paths) => join(paths.config_dir, SALT_FILE)

/** Without the secret the list would be useless, so backups contain it. */
export async function readSalt(paths: Paths): Promise<Salt> {
  const file = fileOf(paths)
  const all = parseSalts(
    await makeOnce(file, () => `${randomBytes(SALT_BYTES).toString('base64')}\n`),
  )
  const [current] = all ?? []
  if (all && current) return { current, all }
  throw new Error(`${file} is damaged. Bring it back from a backup: the suppression list needs it.`)
}

/** The secrets in the text of such a file, one per line; undefined if it is not valid. */
export function parseSalts(text: string): Buffer[] | undefined {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const all = lines.map((line) => Buffer.from(line, 'base64'))
  const isWhole = all.every(
    (salt, at) => salt.length === SALT_BYTES && salt.toString('base64') === lines[at],
  )
  return isWhole && all.length > 0 && all.length <= MAX_SALTS ? all : undefined
}

/** Whether the secrets of another hub fit into the file; too many are refused before a restore. */
export async function fitsSalts(paths: Paths, others: Buffer[]): Promise<boolean> {
  return (await joinedSalts(paths, others)).length <= MAX_SALTS
}

/** addSalts appends the secrets of another hub's list to those of this one. */
export async function addSalts(paths: Paths, others: Buffer[]): Promise<void> {
  const all = await joinedSalts(paths, others)
  await writeWhole(fileOf(paths), all.map((salt) => `${salt.toString('base64')}\n`).join(''))
}

async function joinedSalts(paths: Paths, others: Buffer[]): Promise<Buffer[]> {
  const text = await readText(fileOf(paths))
  const ours = text === undefined ? [] : (await readSalt(paths)).all
  return [...ours, ...others.filter((salt) => !ours.some((known) => known.equals(salt)))]
}

/** The hash under which an address is on the list, regardless of case. */
export function emailHash(salt: Salt, email: string): string {
  return hashUnder(salt.current, email)
}

/** All hashes under which it may be there. */
export function emailHashes(salt: Salt, email: string): string[] {
  return salt.all.map((one) => hashUnder(one, email))
}

function hashUnder(salt: Buffer, email: string): string {
  const normal = normaliseEmail(email) ?? email.trim().toLowerCase()
  return createHmac('sha256', salt).update(normal).digest('hex')
}

/**
 * Puts addresses on the list; returns how many are new. Those put there by hand or by an import can be
 * read for 30 days, with the reason that was given.
 */
export async function suppress(
  sql: Sql,
  salt: Salt,
  given: {
    emails: string[]
    reason: SuppressionReason
    project_id?: string | null
    note?: string | null
  },
): Promise<number> {
  const { emails, reason, note = null } = given
  const hashes = emails.map((email) => emailHash(salt, email))
  const added = await suppressHashes(sql, { ...given, hashes })
  if (!isOurs(reason)) return added
  await sql`
    with given as (
      select distinct on (hash) hash, email
      from unnest(${hashes}::text[], ${emails}::text[]) as given (hash, email)
    ),
    named as (
      update hub.suppression as entry set note = coalesce(${note}, entry.note)
      from given
      where entry.email_hash = given.hash and entry.reason in ('manual', 'imported')
        and entry.erased_at is null
      returning entry.email_hash, given.email
    )
    insert into hub.suppression_addresses (email_hash, email)
    select email_hash, email from named
    on conflict (email_hash) do nothing`
  return added
}

/** Whether the team put an entry on the list, and not the owner of the address or their server. */
const isOurs = (reason: SuppressionReason) => reason === 'manual' || reason === 'imported'

/** Does the same for addresses of which only the hash is known. */
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
    where suppression.released_at is not null
      or suppression.reason = 'bounced' and excluded.reason <> 'bounced'
      or suppression.reason in ('manual', 'imported')
        and excluded.reason in ('unsubscribed', 'complained', 'erased')
    returning (old.email_hash is null or old.released_at is not null) as is_new`
  return added.filter(({ is_new }) => is_new).length
}

/**
 * Releases an address, so that it may get mail again: one that bounced, or that the team put on the list
 * by hand or by an import. An entry that its owner asked for, or of an erased person, never is. Returns
 * the entry; undefined if there was none.
 */
export async function release(
  sql: Sql,
  hashes: string[],
): Promise<{ reason: SuppressionReason; is_released: boolean } | undefined> {
  const entries = await sql<{ reason: SuppressionReason; may: boolean }>`
    select reason, reason in ('bounced', 'manual', 'imported') and erased_at is null as may
    from hub.suppression
    where email_hash = any(${hashes}::text[]) and released_at is null
    order by may, email_hash
    for update`
  const [entry] = entries
  if (!entry) return undefined
  if (!entry.may) return { reason: entry.reason, is_released: false }
  await sql`
    update hub.suppression set released_at = now()
    where email_hash = any(${hashes}::text[]) and released_at is null`
  await sql`delete from hub.suppression_addresses where email_hash = any(${hashes}::text[])`
  return { reason: entry.reason, is_released: true }
}

/** forgetAddresses deletes the addresses whose time is over; the hashes stay. */
export async function forgetAddresses(sql: Sql): Promise<number> {
  const gone = await sql`
    delete from hub.suppression_addresses as known
    where shown_until < now() or not exists (
      select from hub.suppression as entry
      where entry.email_hash = known.email_hash and entry.released_at is null
        and entry.reason in ('manual', 'imported') and entry.erased_at is null
    )
    returning 1`
  return gone.length
}

/** Those of the addresses that are on the list because they do not exist. */
export async function bouncedAmong(sql: Sql, salt: Salt, emails: string[]): Promise<Set<string>> {
  const byHash = hashed(salt, emails)
  const rows = await sql<{ email_hash: string }>`
    select email_hash from hub.suppression
    where email_hash = any(${[...byHash.keys()]}::text[]) and released_at is null
      and reason = 'bounced'`
  return new Set(rows.flatMap(({ email_hash }) => byHash.get(email_hash) ?? []))
}

/** Addresses by all hashes under which they may be there. */
const hashed = (salt: Salt, emails: string[]) =>
  new Map(emails.flatMap((email) => emailHashes(salt, email).map((hash) => [hash, email] as const)))

/** Those of the addresses that must not get mail: they are on the list, or will be. */
export async function suppressed(
  sql: Sql,
  { salt, queued }: Refusals,
  emails: string[],
): Promise<Set<string>> {
  if (emails.length === 0) return new Set()
  const byHash = hashed(salt, emails)
  const rows = await sql<{ email_hash: string }>`
    select email_hash
    from hub.suppression
    where email_hash = any(${[...byHash.keys()]}::text[]) and released_at is null`
  const hashes = [...rows.map((row) => row.email_hash), ...queued]
  return new Set(hashes.flatMap((hash) => byHash.get(hash) ?? []))
}

/**
 * The token of an unsubscribe link. It contains the address's hash and a signature, so that it
 * still works when its row is deleted: after a restore, or with its project.
 */
export function unsubscribeToken(salt: Salt, email: string): string {
  const hash = Buffer.from(emailHash(salt, email), 'hex')
  const payload = Buffer.concat([hash, randomBytes(NONCE_BYTES)])
  return Buffer.concat([payload, sign(salt.current, payload)]).toString('base64url')
}

/** The address's hash in a token of ours; undefined for any other text. */
export function readToken(salt: Salt, token: string): string | undefined {
  if (!/^[\w-]{80}$/.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  const payload = bytes.subarray(0, HASH_BYTES + NONCE_BYTES)
  const signature = bytes.subarray(payload.length)
  const isOurs = salt.all.some((one) => timingSafeEqual(signature, sign(one, payload)))
  return isOurs ? payload.subarray(0, HASH_BYTES).toString('hex') : undefined
}

/** The hash of a token, which the database stores. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

function sign(salt: Buffer, payload: Buffer): Buffer {
  const mac = createHmac('sha256', salt).update('unsubscribe').update(payload).digest()
  return mac.subarray(0, SIGNATURE_BYTES)
}
