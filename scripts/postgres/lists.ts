import type pg from 'pg'
import { type AccountSelector, becomeOwner, findAccount } from './accounts.ts'

type Rows = Record<string, unknown>[]

/** What an operator can list, from the views that the Supabase dashboard shows too (sql/95_support.sql). */

const ACCOUNT = `user_id, email, plan, keys::integer, zones::integer, channels::integer, organisations, last_used_at,
  banned_until, signed_up_at`

/** listAccounts lists every account, the newest first. */
export async function listAccounts(client: pg.Client): Promise<{ accounts: Rows }> {
  await becomeOwner(client)
  const { rows } = await client.query(
    `select ${ACCOUNT} from support.accounts order by signed_up_at desc, user_id desc`,
  )
  return { accounts: rows }
}

/** findAccounts lists those whose address contains a text or whose id it is, the newest first; after `before` where it is given. */
export async function findAccounts(
  client: pg.Client,
  {
    search,
    before,
    limit,
  }: { search: string; before?: { at: string; id: string } | undefined; limit: number },
): Promise<(Record<string, unknown> & { cursor_at: string; user_id: string })[]> {
  await becomeOwner(client)
  const { rows } = await client.query(
    `select ${ACCOUNT}, signed_up_at::text as cursor_at from support.accounts
    where ($1 = '' or position(lower($1) in lower(email)) > 0 or user_id::text = lower($1))
      and ($2::timestamptz is null or (signed_up_at, user_id) < ($2, $3::uuid))
    order by signed_up_at desc, user_id desc
    limit $4`,
    [search, before?.at ?? null, before?.id ?? null, limit],
  )
  return rows
}

/** listKeys lists the keys of an account, or of all, without their hashes; the newest first. */
export async function listKeys(client: pg.Client, who: AccountSelector): Promise<{ keys: Rows }> {
  const isOne = who.email !== undefined || who.user !== undefined
  const user_id = isOne ? (await findAccount(client, who)).user_id : null
  await becomeOwner(client)
  const { rows } = await client.query(
    `select id, email, name, prefix, array_to_string(scopes, ',') as scopes, state, last_used_at, created_at,
      expires_at
    from support.api_keys
    where $1::uuid is null or user_id = $1
    order by created_at desc, id`,
    [user_id],
  )
  return { keys: rows }
}

/** listOrganisations lists every organisation, by name. */
export async function listOrganisations(client: pg.Client): Promise<{ organisations: Rows }> {
  await becomeOwner(client)
  const { rows } = await client.query(
    `select id, name, owner, members::integer, invited::integer, zones::integer, channels::integer,
      created_at
    from support.organisations
    order by name, id`,
  )
  return { organisations: rows }
}

/** listMembers lists the members and invites of an organisation, the owner first. Throws if there is none. */
export async function listMembers(
  client: pg.Client,
  { org_id }: { org_id: string },
): Promise<{ members: Rows }> {
  await becomeOwner(client)
  const { rows } = await client.query(
    `select user_id, email, role, state, invited_by, invite_expires_at, joined_at
    from support.members
    where org_id = $1
    order by role = 'owner' desc, state, created_at, id`,
    [org_id],
  )
  if (rows.length === 0) throw new Error(`There is no organisation ${org_id}. See "org list".`)
  return { members: rows }
}
