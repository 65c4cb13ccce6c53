import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { z } from 'zod'
import { type Removal, tellRemoval } from '../../functions/api/account/removal.ts'
import { generateKey, keyHash, keyPrefix } from '../../shared/key.ts'
import { generateToken, tokenHash } from '../../shared/token.ts'
import { nameOperator, type Operator } from './operator.ts'

export const PLANS = ['free', 'pro', 'enterprise'] as const
export const SCOPES = ['read', 'write', 'ingest'] as const
export const ROLES = ['admin', 'member'] as const
export type Plan = (typeof PLANS)[number]
export type Scope = (typeof SCOPES)[number]
export type Role = (typeof ROLES)[number]

export type Account = { user_id: string; email: string; plan: Plan }
/** Selects an account by its address, which two accounts may share, or by its id. */
export type AccountSelector = { email?: string | undefined; user?: string | undefined }
export type MintedKey = { key_id: string; api_key: string }

/** asOperator runs one transaction of an operator; the audit log records the login, and who it is if that is given. */
export async function asOperator<T>(
  adminUrl: string,
  work: (client: pg.Client) => Promise<T>,
  operator?: Operator,
): Promise<T> {
  const client = new pg.Client({
    connectionString: adminUrl,
    application_name: 'watchpost-admin',
    connectionTimeoutMillis: 10_000,
  })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('begin')
    await requireSchema(client)
    if (operator) await nameOperator(client, operator)
    const value = await work(client)
    await client.query('commit')
    return value
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw translated(error)
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * becomeOwner lets the rest of the transaction see every row: the owner of the tables bypasses RLS.
 */
export async function becomeOwner(client: pg.Client): Promise<void> {
  await client.query('set local role watchpost_owner')
}

/**
 * createAccount creates an account, with a plan and a first key, for a person who can sign in by
 * mail. A person who is in auth.users already, after deleting their account, gets a new one.
 */
export async function createAccount(
  client: pg.Client,
  {
    email,
    plan,
    scopes,
    key_name,
  }: { email: string; plan: Plan; scopes: Scope[]; key_name: string },
): Promise<Account & MintedKey> {
  const address = email.toLowerCase()
  const known = await peopleAt(client, { email: address })
  const user_id = known[0] ?? (await insertPerson(client, address))
  await becomeOwner(client)
  await ensureAccounts(client, known)
  const { rowCount } = await client.query(
    'select from watchpost.accounts where user_id = any($1::uuid[])',
    [known],
  )
  if (rowCount) {
    throw new Error(
      `There is already an account for ${address}. Change its plan with "account plan", or give it a key with "key mint".`,
    )
  }
  await client.query('delete from watchpost.erased_accounts where user_id = $1', [user_id])
  await ensureAccounts(client, [user_id])
  await client.query('update watchpost.accounts set plan = $2 where user_id = $1', [user_id, plan])
  const minted = await insertKey(client, { user_id, scopes, name: key_name, expires_at: null })
  return { user_id, email: address, plan, ...minted }
}

async function insertPerson(client: pg.Client, address: string): Promise<string> {
  const user_id = randomUUID()
  // Supabase Auth reads the four tokens as text and fails on null.
  await client.query(
    `insert into auth.users (
      instance_id, id, aud, role, email, email_confirmed_at, raw_app_meta_data, raw_user_meta_data,
      created_at, updated_at, confirmation_token, recovery_token, email_change_token_new, email_change)
    values ('00000000-0000-0000-0000-000000000000', $1, 'authenticated', 'authenticated', $2, now(),
      '{"provider": "email", "providers": ["email"]}', '{}', now(), now(), '', '', '', '')`,
    [user_id, address],
  )
  return user_id
}

/** changePlan returns the changed account. */
export async function changePlan(
  client: pg.Client,
  { plan, ...who }: AccountSelector & { plan: Plan },
): Promise<Account> {
  const { user_id, email } = await findAccount(client, who)
  await client.query(
    'update watchpost.accounts set plan = $2, updated_at = now() where user_id = $1 and plan <> $2',
    [user_id, plan],
  )
  return { user_id, email, plan }
}

/** How long a sign-in link works. */
const LINK_MINUTES = 60

/**
 * createLink creates a one-time sign-in link of the local issuer. Its token is the token_hash for
 * verifyOtp of supabase-js. Only its hash is stored, so the token is shown only here.
 */
export async function createLink(
  client: pg.Client,
  who: AccountSelector,
): Promise<{ email: string; token_hash: string; expires_at: string }> {
  const { user_id, email } = await findAccount(client, who)
  const token_hash = generateToken()
  const { rows } = await client.query<{ expires_at: Date }>(
    `insert into watchpost.sign_in_links (token_hash, user_id, expires_at)
    select $1, user_id, now() + make_interval(mins => $3)
    from private.active_account($2) where confirmed_at is not null
    returning expires_at`,
    [await tokenHash(token_hash), user_id, LINK_MINUTES],
  )
  if (!rows[0]) {
    throw new Error(
      `The account ${email} is banned or its address is not confirmed, so nobody can sign in with it.`,
    )
  }
  return { email, token_hash, expires_at: rows[0].expires_at.toISOString() }
}

/** mintKey creates a key of an account. Only its hash is stored, so the key is shown only here. */
export async function mintKey(
  client: pg.Client,
  {
    scopes,
    name,
    expires_at,
    ...who
  }: AccountSelector & {
    scopes: Scope[]
    name: string
    expires_at: Date | null
  },
): Promise<MintedKey> {
  const { user_id } = await findAccount(client, who)
  return insertKey(client, { user_id, scopes, name, expires_at })
}

/** revokeKey takes effect with the next request; revoking again changes nothing. */
export async function revokeKey(
  client: pg.Client,
  key_id: string,
): Promise<{ key_id: string; revoked_at: string }> {
  await becomeOwner(client)
  await client.query(
    'update watchpost.api_keys set revoked_at = now() where id = $1 and revoked_at is null',
    [key_id],
  )
  const { rows } = await client.query<{ revoked_at: Date }>(
    'select revoked_at from watchpost.api_keys where id = $1',
    [key_id],
  )
  if (!rows[0])
    throw new Error(`There is no key ${key_id}. The id was shown when the key was created.`)
  return { key_id, revoked_at: rows[0].revoked_at.toISOString() }
}

/** createOrganisation creates an organisation; its owner must have an account. */
export async function createOrganisation(
  client: pg.Client,
  { name, owner }: { name: string; owner: AccountSelector },
): Promise<{ org_id: string }> {
  const account = await findAccount(client, owner)
  const org_id = randomUUID()
  await client.query('insert into watchpost.organisations (id, name) values ($1, $2)', [
    org_id,
    name,
  ])
  await insertMember(client, { org_id, role: 'owner', ...account })
  return { org_id }
}

/** addMember adds an account to an organisation at once, without an invite. */
export async function addMember(
  client: pg.Client,
  { org_id, role, ...who }: AccountSelector & { org_id: string; role: Role },
): Promise<{ org_id: string; user_id: string; email: string; role: Role }> {
  const { user_id, email } = await findAccount(client, who)
  const { rowCount } = await client.query('select from watchpost.organisations where id = $1', [
    org_id,
  ])
  if (!rowCount)
    throw new Error(`There is no organisation ${org_id}. Create one with "org create".`)
  // This also settles a pending invite to the same address.
  await client.query(
    `delete from watchpost.members
    where org_id = $1 and lower(email) = lower($2) and status = 'invited'`,
    [org_id, email],
  )
  if (!(await insertMember(client, { org_id, role, user_id, email }))) {
    throw new Error(`${email} is already a member of this organisation.`)
  }
  return { org_id, user_id, email, role }
}

/**
 * deleteAccount deletes a person and their account, with what nobody shares; `confirm` is the address.
 * Organisations that they own pass to their longest-serving admin or member, and go when they have none.
 */
export async function deleteAccount(
  client: pg.Client,
  { confirm, ...who }: AccountSelector & { confirm?: string | undefined },
): Promise<{ user_id: string; email: string; deleted: true }> {
  const { user_id, email } = await findAccount(client, who)
  if (confirm?.toLowerCase() !== email.toLowerCase()) {
    const { rows } = await client.query<{ has: string }>(
      `select format('%s zones, %s channels and %s keys', zones, channels, keys) as has
      from support.accounts where user_id = $1`,
      [user_id],
    )
    throw new Error(
      `This deletes the account ${email} (${user_id}) for good, with its ${rows[0]?.has}. To do it, add --confirm ${email}`,
    )
  }
  await client.query('select private.delete_person($1)', [user_id])
  return { user_id, email, deleted: true }
}

/** removeMember removes a member, whose shared zones and channels pass to the owner, or voids an invite. */
export async function removeMember(
  client: pg.Client,
  { org_id, email, user }: AccountSelector & { org_id: string },
): Promise<{
  org_id: string
  email: string
  zones_passed_on: number
  channels_passed_on: number
  /** The zones that lost channels or reach nobody now. */
  warnings?: string[]
}> {
  await becomeOwner(client)
  const { rows } = await client.query<{ id: string; email: string; role: string; user_id: string }>(
    `select id, email, role, user_id from watchpost.members
    where org_id = $1 and (user_id::text = lower($2) or lower(email) = lower($3))`,
    [org_id, user, email],
  )
  const [member, another] = rows
  const named = user ?? email
  if (!member)
    throw new Error(`${named} is not a member of the organisation ${org_id}. See "org list".`)
  if (another)
    throw new Error(`${rows.length} members have the address ${named}. Choose one: --user ID`)
  if (member.role === 'owner') {
    throw new Error(
      `${member.email} owns this organisation, and an owner cannot be removed. They can transfer or delete it, or delete their account with "account delete".`,
    )
  }
  const removed = await client.query<{ removal: Removal }>(
    'select private.remove_member($1) as removal',
    [member.id],
  )
  const { passed_on, warnings } = tellRemoval(
    removed.rows[0]?.removal ?? { passed_on: null, zones: [] },
  )
  return {
    org_id,
    email: member.email,
    zones_passed_on: passed_on.zones,
    channels_passed_on: passed_on.channels,
    ...(warnings ? { warnings } : {}),
  }
}

/** hasAccounts is false before the first start. */
export async function hasAccounts(client: pg.Client): Promise<boolean> {
  await becomeOwner(client)
  const { rowCount } = await client.query('select from watchpost.accounts limit 1')
  return rowCount === 1
}

async function insertKey(
  client: pg.Client,
  key: { user_id: string; scopes: Scope[]; name: string; expires_at: Date | null },
): Promise<MintedKey> {
  const api_key = generateKey()
  const { rows } = await client.query<{ id: string }>(
    `insert into watchpost.api_keys (user_id, name, prefix, key_hash, scopes, expires_at)
    values ($1, $2, $3, $4, $5, $6)
    returning id`,
    [key.user_id, key.name, keyPrefix(api_key), await keyHash(api_key), key.scopes, key.expires_at],
  )
  return { key_id: z.object({ id: z.uuid() }).parse(rows[0]).id, api_key }
}

async function insertMember(
  client: pg.Client,
  member: { org_id: string; user_id: string; email: string; role: Role | 'owner' },
): Promise<boolean> {
  const { rowCount } = await client.query(
    `insert into watchpost.members (org_id, user_id, email, role, status, joined_at)
    values ($1, $2, $3, $4, 'active', now())
    on conflict do nothing`,
    [member.org_id, member.user_id, member.email, member.role],
  )
  return rowCount === 1
}

/**
 * The people in auth.users, with or without an account; the administrator's login may read them.
 */
async function peopleAt(client: pg.Client, who: AccountSelector): Promise<string[]> {
  // An earlier step may have become the tables' owner, who may not.
  await client.query('set local role none')
  const { rows } = await client.query<{ id: string }>(
    `select id from auth.users
    where (id::text = lower($1) or lower(email) = lower($2)) and deleted_at is null`,
    [who.user, who.email],
  )
  return rows.map(({ id }) => id)
}

/** Creates missing accounts, of people who signed up before Watchpost was installed. */
async function ensureAccounts(client: pg.Client, people: string[]): Promise<void> {
  await client.query('select private.ensure_account(id) from unnest($1::uuid[]) as p (id)', [
    people,
  ])
}

/**
 * The account; from here on the transaction runs as the tables' owner. Throws the ids if several
 * accounts have the address.
 */
export async function findAccount(
  client: pg.Client,
  who: AccountSelector,
): Promise<{ user_id: string; email: string }> {
  const people = await peopleAt(client, who)
  await becomeOwner(client)
  await ensureAccounts(client, people)
  const { rows } = await client.query<{ user_id: string; email: string; description: string }>(
    `select user_id, email, format('%s (%s, since %s)', user_id, plan, created_at::date) as description
    from watchpost.accounts
    where user_id::text = lower($1) or lower(email) = lower($2)
    order by created_at, user_id`,
    [who.user, who.email],
  )
  const [found, another] = rows
  const named = who.user ?? who.email
  if (found && another) {
    throw new Error(
      `There are ${rows.length} accounts for ${named}: ${rows.map(({ description }) => description).join(', ')}. Choose one by its id: --user ID instead of --email (--owner accepts an id too).`,
    )
  }
  if (found) return found
  if (people.length > 0) {
    throw new Error(
      `${named} deleted their account. If they want a new one, create it with "account create".`,
    )
  }
  throw new Error(`There is no account for ${named}. Create one with "account create".`)
}

async function requireSchema(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(
    `select to_regclass('watchpost.accounts') is not null as found`,
  )
  if (rows[0]?.found) return
  throw new Error(
    'This database does not contain the Watchpost schema yet. Start Watchpost once: npm start',
  )
}

/** Our own SQL errors have messages for people; other errors stay as they are. */
function translated(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error
  if (error.code === 'WPLIM')
    return new Error(`The limit of the plan is reached: ${error.message}. Change the plan.`)
  if (error.code === '23505')
    return new Error('Somebody else has just created the same. Check, and try again.')
  return error
}
