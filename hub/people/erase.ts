import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type pg from 'pg'
import { ApiError } from '../../shared/problem.ts'
import { sqlOn } from '../../shared/sql.ts'
import type { Paths } from '../config.ts'
import { bilingual } from '../i18n/words.ts'
import { normaliseEmail } from '../mail/address.ts'
import { stopSequences } from '../mail/sequences/stop.ts'
import { forgetMember, membershipsOf } from './member.ts'
import { forgetMerged, readdressed } from './merged.ts'
import { peopleText } from './people.text.ts'
import { redactFiles } from './people-files.ts'
import { addressesIn, matcherOf, type Person } from './redact.ts'
import { likesOf, redactRows } from './rows.ts'

const say = bilingual(peopleText)

export type Erased = {
  leads: number
  drafts: number
  recipients: number
  import_rows: number
  texts: number
  files: number
}

/** The folders with words of people. */
export const foldersOf = (paths: Pick<Paths, 'data_dir' | 'prompts_dir'>) => [
  join(paths.data_dir, 'projects'),
  paths.prompts_dir,
]

/**
 * The ids and names of the leads with this address, in every project, of those that had it until a merge
 * gave them another one, and of their copies.
 */
export async function leadsOf(client: pg.ClientBase, email: string) {
  const { rows } = await client.query<{ id: string; name: string | null; email: string }>(
    'select id, name, email from hub.leads where private.fold(email) = private.fold($1) order by id',
    [email],
  )
  const own = [
    ...rows.filter((lead) => normaliseEmail(lead.email) === email),
    ...(await readdressed(client, email)),
  ]
  // A copy of the same person in another project, whose address was changed or removed since.
  const { rows: copies } = await client.query<{ id: string; name: string | null; email: string }>(
    `select id, name, coalesce(email, '') as email from hub.leads
     where linked in (select linked from hub.leads where id = any($1::uuid[]))
       and id <> all($1::uuid[])
     order by id`,
    [own.map((lead) => lead.id)],
  )
  return [...own, ...copies]
}

/** The recipients with this address; what they are called there is a name too. */
export async function recipientsOf(client: pg.ClientBase, email: string) {
  const { rows } = await client.query<{
    at: string
    draft_id: string
    email: string
    name: string | null
    state: string
  }>(
    `select ctid::text as at, draft_id, email, name, state from hub.recipients
     where private.fold(email) = private.fold($1)`,
    [email],
  )
  return rows.filter((row) => normaliseEmail(row.email) === email)
}

/** The addresses (ctid) of the refused rows of imports in which the address stands. */
export async function refusedRowsOf(client: pg.ClientBase, email: string): Promise<string[]> {
  const { rows } = await client.query<{ at: string; cells: string[] }>(
    `select ctid::text as at, cells from hub.import_errors
     where private.fold(cells::text) like '%' || private.fold($1) || '%'`,
    [email.replace(/[\\%_]/g, '\\$&')],
  )
  const matcher = matcherOf({ email, names: [] })
  return rows.flatMap(({ at, cells }) =>
    cells.some((cell) => matcher.excerpts(cell).length > 0) ? [at] : [],
  )
}

/**
 * The addresses (ctid) of the refused rows of imports that name them and have no address: most often that
 * is why they were refused. First name and surname may stand in two cells.
 */
async function namedRowsOf(client: pg.ClientBase, names: string[]): Promise<string[]> {
  if (names.length === 0) return []
  const { rows } = await client.query<{ at: string; cells: string[] }>(
    `select ctid::text as at, cells from hub.import_errors
     where private.fold(normalize(array_to_string(cells, ' '))) like any($1::text[])`,
    [await likesOf(client, matcherOf({ email: null, names }))],
  )
  const matcher = matcherOf({ email: null, names })
  return rows.flatMap(({ at, cells }) => {
    const isOthers = addressesIn(cells.join('\n')).length > 0
    return !isOthers && matcher.excerpts(cells.join(' ')).length > 0 ? [at] : []
  })
}

/** The addresses (ctid) of the mails from or to them in the inbox. */
export async function inboxMailsOf(client: pg.ClientBase, email: string): Promise<string[]> {
  const { rows } = await client.query<{ at: string; from_email: string; our_email: string }>(
    `select ctid::text as at, from_email, our_email from hub.inbox_mails
     where private.fold(from_email) = private.fold($1) or private.fold(our_email) = private.fold($1)`,
    [email],
  )
  return rows.flatMap(({ at, from_email, our_email }) =>
    [from_email, our_email].some((one) => one && normaliseEmail(one) === email) ? [at] : [],
  )
}

/** The recipients of sequences with this address or one of these leads. */
export async function sequenceRecipientsOf(client: pg.ClientBase, email: string, ids: string[]) {
  const { rows } = await client.query<{
    at: string
    email: string
    lead_id: string | null
    name: string | null
  }>(
    `select ctid::text as at, email, lead_id, name from hub.sequence_recipients
     where private.fold(email) = private.fold($1) or lead_id = any($2::uuid[])`,
    [email, ids],
  )
  return rows.filter(
    (row) => normaliseEmail(row.email) === email || ids.includes(row.lead_id ?? ''),
  )
}

/**
 * refuseBusy throws 409 while work is under way that would write the person again: a mail being sent,
 * an import, a mission.
 */
export async function refuseBusy(client: pg.ClientBase, email: string): Promise<void> {
  const { rows: answers } = await client.query<{ email: string }>(
    "select email from hub.answers where state in ('waiting', 'sending')",
  )
  if (answers.some((one) => normaliseEmail(one.email) === email)) {
    throw new ApiError('conflict', say.busy.mail)
  }
  const recipients = await recipientsOf(client, email)
  if (recipients.some(({ state }) => state === 'sending')) {
    throw new ApiError('conflict', say.busy.mail)
  }
  const memberships = await membershipsOf(client, email)
  if (memberships.some(({ is_removed }) => !is_removed)) {
    throw new ApiError('conflict', say.busy.member)
  }
  const { rows } = await client.query<{ what: 'import' | 'mission' }>(
    `select 'import' as what from hub.imports where status in ('queued', 'processing')
     union all select 'mission' from hub.missions where status = 'processing' limit 1`,
  )
  if (rows[0]) throw new ApiError('conflict', say.busy[rows[0].what])
}

/**
 * eraseRows takes a person out of the database, in the caller's transaction over all projects. Their
 * leads go with all that hangs on them, mails to them are deleted or, once sent, emptied. A mail that
 * was sent stays as a number without a person.
 */
export async function eraseRows(
  client: pg.ClientBase,
  person: Person,
  options: { texts: boolean },
): Promise<Omit<Erased, 'files'>> {
  const counts = { leads: 0, drafts: 0, recipients: 0, import_rows: 0, texts: 0 }
  const matcher = matcherOf(person)
  const { email } = person
  if (email) {
    const ids = (await leadsOf(client, email)).map(({ id }) => id)
    ids.push(...(await forgetMerged(client, email)))
    await leaveSequences(client, email, ids)
    const recipients = await recipientsOf(client, email)
    for (const { at, state } of recipients) {
      const isUnsent = ['waiting', 'pushed', 'skipped', 'failed'].includes(state)
      if (isUnsent) await client.query('delete from hub.recipients where ctid = $1::tid', [at])
      else {
        await client.query(
          `update hub.recipients set email = $2, name = null, company = null, own = '{}', lead_id = null,
             reason = null, message_id = null, token_hash = null
           where ctid = $1::tid`,
          [at, `erased-${randomBytes(8).toString('hex')}@erased.invalid`],
        )
      }
    }
    counts.recipients = recipients.length
    const gone = await client.query(
      `delete from hub.drafts where audience ->> 'lead_id' = any($1::text[])
         and state not in ('sent', 'sending', 'unclear')`,
      [ids],
    )
    await client.query(
      `delete from hub.stands where draft_id in (
         select id from hub.drafts where audience ->> 'lead_id' = any($1::text[]))`,
      [ids],
    )
    const emptied = await client.query(
      `update hub.drafts set subject = '[erased]', text = '[erased]', slots = '{}', html = null,
         rendered_subject = null, rendered_text = null, campaign = null, approved = null,
         first_text = null, state_reason = null
       where audience ->> 'lead_id' = any($1::text[])`,
      [ids],
    )
    counts.drafts = (gone.rowCount ?? 0) + (emptied.rowCount ?? 0)
    const refused = await refusedRowsOf(client, email)
    await client.query('delete from hub.import_errors where ctid = any($1::tid[])', [refused])
    counts.import_rows = refused.length
    await forgetMember(client, email)
    await client.query('delete from hub.inbox_mails where ctid = any($1::tid[])', [
      await inboxMailsOf(client, email),
    ])
    await client.query(
      'delete from hub.suppression_addresses where private.fold(email) = private.fold($1)',
      [email],
    )
    const leads = await client.query('delete from hub.leads where id = any($1::uuid[])', [ids])
    counts.leads = leads.rowCount ?? 0
  }
  if (options.texts) {
    const named = await namedRowsOf(client, matcher.names)
    await client.query('delete from hub.import_errors where ctid = any($1::tid[])', [named])
    counts.import_rows += named.length
    counts.texts = await redactRows(client, matcher)
  }
  return counts
}

/** Their mails in sequences that have not gone are skipped; what stays is a number without a person. */
async function leaveSequences(client: pg.ClientBase, email: string, ids: string[]): Promise<void> {
  const sql = sqlOn(client)
  const theirs = await sequenceRecipientsOf(client, email, ids)
  for (const row of theirs) {
    await stopSequences(sql, { project_id: null, email: row.email }, 'erased')
  }
  await sql`
    update hub.sequence_recipients
    set email = 'erased-' || gen_random_uuid() || '@erased.invalid', name = null, company = null,
      lead_id = null, stop_detail = null
    where email = any(${theirs.map((row) => row.email)}::text[])`
}

/** erase does the same to rows and files. */
export async function erase(
  client: pg.ClientBase,
  person: Person,
  options: { texts: boolean; folders: string[] },
): Promise<Erased> {
  const counts = await eraseRows(client, person, options)
  const files = options.texts ? await redactFiles(options.folders, matcherOf(person)) : 0
  return { ...counts, files }
}
