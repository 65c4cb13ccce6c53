import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Paths } from '../config.ts'
import { isMissing } from '../files.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { normaliseEmail } from '../mail/address.ts'
import { type Listmonk, ListmonkError, listmonk } from '../mail/listmonk/listmonk.ts'
import { refusal } from '../mail/listmonk/push.ts'
import { escapeHtml } from '../mail/render/render.ts'
import { readMail } from '../mail/settings.ts'
import { emailHashes, readSalt } from '../mail/suppression.ts'
import {
  foldersOf,
  inboxMailsOf,
  leadsOf,
  recipientsOf,
  refusedRowsOf,
  sequenceRecipientsOf,
} from './erase.ts'
import { membershipsOf } from './member.ts'
import { mergedNames, mergesOf } from './merged.ts'
import { peopleText } from './people.text.ts'
import { findFiles } from './people-files.ts'
import { matcherOf, type Person } from './redact.ts'
import { findRows } from './rows.ts'

const { stays: say } = bilingual(peopleText)
const id = pg.escapeIdentifier

/** What somebody calls themself in the mails that came from this address. */
async function sendersOf(client: pg.ClientBase, email: string) {
  const { rows } = await client.query<{ email: string; name: string | null }>(
    `select from_email as email, from_name as name from hub.inbox_mails
     where private.fold(from_email) = private.fold($1) order by received_at, id`,
    [email],
  )
  return rows.filter((row) => normaliseEmail(row.email) === email)
}

/** namesOf returns the names of a person as their leads, their mails and the inbox have them. */
export async function namesOf(client: pg.ClientBase, email: string): Promise<string[]> {
  const rows = [
    ...(await leadsOf(client, email)),
    ...(await recipientsOf(client, email)),
    ...(await sequenceRecipientsOf(client, email, [])),
    ...(await sendersOf(client, email)),
    ...(await membershipsOf(client, email)),
  ]
  const names = [...rows.map(({ name }) => name), ...(await mergedNames(client, email))]
  return [...new Set(names.flatMap((name) => (name && name.trim().length > 2 ? name.trim() : [])))]
}

/** findPerson returns all places where a person stands, here and in listmonk, and changes nothing. */
export async function findPerson(client: pg.ClientBase, paths: Paths, person: Person) {
  const matcher = matcherOf(person)
  const rows = await findRows(client, matcher)
  const { found, unsearched } = await findFiles(foldersOf(paths), matcher)
  return { rows, files: found, unsearched }
}

/** Calls listmonk, where one is set up; a failure is an answer of ours. */
export async function inListmonk<T>(
  paths: Paths,
  work: (client: Listmonk) => Promise<T>,
): Promise<T | null> {
  const { listmonk: settings } = await readMail(paths)
  if (!settings) return null
  try {
    return await work(listmonk(settings))
  } catch (error) {
    if (error instanceof ListmonkError) throw refusal(error)
    throw error
  }
}

/** What stays after an erasure, said before and after it. */
export async function staysOf(
  paths: Pick<Paths, 'data_dir'>,
  unsearched: number,
  texts: number,
): Promise<Words[]> {
  const count = async (folder: string) => {
    const names = await readdir(join(paths.data_dir, folder)).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
    return names.filter((name) => name.includes('.tar.gz')).length
  }
  return [
    say.hash,
    say.counts,
    say.archives(await count('backups'), await count('archive')),
    ...(unsearched > 0 ? [say.unsearched(unsearched)] : []),
    ...(texts > 0 ? [say.texts(texts)] : []),
    say.elsewhere,
  ]
}

/** recordsOf collects every row about a person: what hangs on their leads, mails, refused rows. */
export async function recordsOf(client: pg.ClientBase, paths: Paths, email: string) {
  const ids = (await leadsOf(client, email)).map((lead) => lead.id)
  const records: Record<string, unknown[]> = {}
  const read = async (name: string, condition: string, values: unknown[]) => {
    const { rows } = await client.query<{ row: unknown }>(
      `select to_jsonb(t) as row from hub.${id(name)} as t where ${condition}`,
      values,
    )
    if (rows.length > 0) records[name] = [...(records[name] ?? []), ...rows.map(({ row }) => row)]
  }
  await read('leads', 'id = any($1::uuid[])', [ids])
  const { rows: tables } = await client.query<{ name: string }>(`
    select t.relname as name from pg_catalog.pg_class as t
    join pg_catalog.pg_attribute as a on a.attrelid = t.oid and a.attname = 'lead_id'
    where t.relnamespace = 'hub'::regnamespace and t.relkind in ('r', 'p')
      and t.relname not in ('recipients', 'sequence_recipients', 'merges')
    order by 1`)
  for (const { name } of tables) await read(name, 'lead_id = any($1::uuid[])', [ids])
  const merges = (await mergesOf(client, email)).map((merge) => merge.id)
  await read('merges', 'id = any($1::uuid[]) or lead_id = any($2::uuid[])', [merges, ids])
  await read('drafts', "audience ->> 'lead_id' = any($1::text[])", [ids])
  const mails = (await recipientsOf(client, email)).map(({ at }) => at)
  await read('recipients', 'ctid = any($1::tid[])', [mails])
  const steps = (await sequenceRecipientsOf(client, email, ids)).map(({ at }) => at)
  await read('sequence_recipients', 'ctid = any($1::tid[])', [steps])
  const inbox = await inboxMailsOf(client, email)
  await read(
    'inbox_mails',
    'ctid = any($1::tid[]) and (lead_id is null or lead_id <> all($2::uuid[]))',
    [inbox, ids],
  )
  await read('import_errors', 'ctid = any($1::tid[])', [await refusedRowsOf(client, email)])
  const hashes = emailHashes(await readSalt(paths), email)
  await read('suppression', 'email_hash = any($1::text[]) and released_at is null', [hashes])
  // Their acts in the audit too, without what signs them in.
  const memberships = (await membershipsOf(client, email)).map((member) => member.id)
  await read('members', 'id = any($1::uuid[])', [memberships])
  records.members = (records.members ?? []).map(withoutSecrets)
  if (records.members.length === 0) delete records.members
  await read('audit', "actor ->> 'id' = any($1::text[])", [memberships])
  await read('suppression_addresses', 'email_hash = any($1::text[])', [hashes])
  return records
}

function withoutSecrets(row: unknown): unknown {
  const { password_hash: _, link_hash: __, ...rest } = Object(row)
  return rest
}

/** readablePage is an export as one HTML file, to send to the person. */
export function readablePage(title: string, parts: Record<string, unknown>): string {
  const body = Object.entries(parts)
    .map(([name, value]) => `<h2>${escapeHtml(name)}</h2>${htmlOf(value)}`)
    .join('\n')
  return `<!doctype html><html><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<style>body{font:15px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}dl{border-left:2px solid #ccc;padding-left:1rem}dt{font-weight:600}dd{margin:0 0 .5rem;white-space:pre-wrap;overflow-wrap:anywhere}</style>
</head><body><h1>${escapeHtml(title)}</h1>
${body}
</body></html>
`
}

function htmlOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(htmlOf).join('')
  if (typeof value !== 'object' || value === null) return `<p>${escapeHtml(String(value))}</p>`
  const rows = Object.entries(value).flatMap(([key, one]) => {
    if (one === null || one === '') return []
    const shown = typeof one === 'object' ? htmlOf(one) : escapeHtml(String(one))
    return [`<dt>${escapeHtml(key)}</dt><dd>${shown}</dd>`]
  })
  return `<dl>${rows.join('')}</dl>`
}
