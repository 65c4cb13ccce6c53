import { z } from 'zod'
import { ApiError, invalid } from '../../shared/problem.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { newSecret, secretHash } from '../auth/identity.ts'
import { ROLES, type Role } from '../db/actor.ts'
import { bilingual } from '../i18n/words.ts'
import { normaliseEmail } from '../mail/address.ts'
import { membersText } from './members.text.ts'

const say = bilingual(membersText)

/** How long an invitation, or a link to a new password, can be used. */
export const LINK_DAYS = 7

export const Member = z
  .object({
    id: z.uuid(),
    email: z.string(),
    name: z.string().nullable().meta({ description: 'Null until the invitation is accepted.' }),
    role: z.enum(ROLES),
    status: z.enum(['active', 'invited', 'no_password', 'removed']).meta({
      description: '`no_password`: an admin reset the password, and no new one was set yet.',
    }),
    link_ends_at: z.string().nullable().meta({
      description: 'Until when the open link to set a password can be used; null without one.',
    }),
    created_at: z.string(),
    joined_at: z.string().nullable(),
    removed_at: z.string().nullable(),
  })
  .meta({ id: 'HubMember' })
export type Member = z.infer<typeof Member>

const columns = raw(`
  id, email, name, role, created_at, joined_at, removed_at,
  case when link_ends_at > now() then link_ends_at end as link_ends_at,
  case when removed_at is not null then 'removed' when password_hash is not null then 'active'
    when joined_at is null then 'invited' else 'no_password' end as status`)

export const MemberName = z
  .string()
  .trim()
  .min(1)
  .max(120)
  .refine((name) => !/\p{Cc}/u.test(name), 'No control characters.')

/** All members, those who were removed last. */
export function listMembers(sql: Sql): Promise<Member[]> {
  return sql<Member>`
    select ${columns} from hub.members
    order by removed_at is not null, lower(coalesce(name, email)), id`
}

export async function requireMember(sql: Sql, id: string): Promise<Member> {
  const [member] = await sql<Member>`
    select ${columns} from hub.members where id = ${id} and removed_at is null`
  if (!member) throw new ApiError('not_found', say.absent)
  return member
}

/** A member with the secret of their link, which is shown once. */
export type Linked = { member: Member; secret: string }

/** invite adds a person by e-mail and returns their link. Throws 409 if they are a member already. */
export async function invite(
  sql: Sql,
  given: { email: string; name: string | null; role: Role },
): Promise<Linked> {
  const email = normaliseEmail(given.email)
  if (!email) throw invalid([{ path: 'email', code: 'invalid_format', message: say.no_email }])
  const secret = newSecret()
  const [made] = await sql<{ id: string }>`
    insert into hub.members (email, name, role, link_hash, link_ends_at)
    values (${email}, ${given.name}, ${given.role}, ${secretHash(secret)},
      now() + make_interval(days => ${LINK_DAYS}))
    on conflict (email_key) where removed_at is null do nothing
    returning id`
  if (!made) throw new ApiError('conflict', say.known)
  return { member: await requireMember(sql, made.id), secret }
}

/**
 * renewLink makes a new link for a member; an older one no longer works. Of somebody who has joined, it
 * ends the password and all sessions, as they may be in other hands.
 */
export async function renewLink(sql: Sql, id: string): Promise<Linked> {
  const secret = newSecret()
  const [changed] = await sql`
    update hub.members set link_hash = ${secretHash(secret)},
      link_ends_at = now() + make_interval(days => ${LINK_DAYS}),
      password_hash = null, session_epoch = session_epoch + 1
    where id = ${id} and removed_at is null
    returning id`
  if (!changed) throw new ApiError('not_found', say.absent)
  return { member: await requireMember(sql, id), secret }
}

/** withdrawLink makes the open link of a member useless. Throws 409 if there is none. */
export async function withdrawLink(sql: Sql, id: string): Promise<Member> {
  const before = await requireMember(sql, id)
  const gone = await sql`
    update hub.members set link_hash = null, link_ends_at = null
    where id = ${id} and link_hash is not null
    returning id`
  if (gone.length === 0) throw new ApiError('conflict', say.no_link)
  if (before.status !== 'invited') return requireMember(sql, id)
  await sql`update hub.members set removed_at = now() where id = ${id}`
  return { ...before, status: 'removed', link_ends_at: null }
}

/** changeMember changes a name or a role; a new role counts from the next request on. */
export async function changeMember(
  sql: Sql,
  { id, name, role }: { id: string; name?: string | undefined; role?: Role | undefined },
): Promise<Member> {
  await sql`
    update hub.members set name = coalesce(${name ?? null}, name), role = coalesce(${role ?? null}, role)
    where id = ${id} and removed_at is null`
  return requireMember(sql, id)
}

/** removeMember ends a membership and all sessions at once. What the member did stays. */
export async function removeMember(sql: Sql, id: string): Promise<Member> {
  const before = await requireMember(sql, id)
  const [row] = await sql<{ removed_at: string }>`
    update hub.members set removed_at = now(), password_hash = null, link_hash = null,
      link_ends_at = null, session_epoch = session_epoch + 1
    where id = ${id} and removed_at is null
    returning removed_at`
  if (!row) throw new ApiError('not_found', say.absent)
  return { ...before, status: 'removed', link_ends_at: null, removed_at: row.removed_at }
}

/** The member whose open link has this secret; undefined if it was used, withdrawn or is too old. */
export async function memberOfLink(sql: Sql, secret: string): Promise<Member | undefined> {
  const [member] = await sql<Member>`
    select ${columns} from hub.members
    where link_hash = ${secretHash(secret)} and link_ends_at > now() and removed_at is null`
  return member
}

/**
 * acceptLink sets name and password of the member with this link, which no longer works then. Undefined
 * if somebody else used it first.
 */
export async function acceptLink(
  sql: Sql,
  given: { secret: string; name: string; password_hash: string },
): Promise<{ id: string; name: string; session_epoch: number } | undefined> {
  const [member] = await sql<{ id: string; name: string; session_epoch: number }>`
    update hub.members set name = ${given.name}, password_hash = ${given.password_hash},
      link_hash = null, link_ends_at = null, joined_at = coalesce(joined_at, now()),
      session_epoch = session_epoch + 1
    where link_hash = ${secretHash(given.secret)} and link_ends_at > now() and removed_at is null
    returning id, name, session_epoch`
  return member
}

/** The member who signs in with this e-mail. */
export async function memberByEmail(
  sql: Sql,
  given: string,
): Promise<{ id: string; name: string; password_hash: string; session_epoch: number } | undefined> {
  const email = normaliseEmail(given)
  if (!email) return undefined
  const [member] = await sql<{
    id: string
    name: string
    password_hash: string
    session_epoch: number
  }>`
    select id, name, password_hash, session_epoch from hub.members
    where email_key = lower(${email}) and removed_at is null and password_hash is not null`
  return member
}

/** endEpoch ends the sessions of a member, and with a new password the old one. */
export async function endEpoch(
  sql: Sql,
  { id, password_hash }: { id: string; password_hash?: string },
): Promise<{ id: string; session_epoch: number } | undefined> {
  const [member] = await sql<{ id: string; session_epoch: number }>`
    update hub.members set session_epoch = session_epoch + 1,
      password_hash = coalesce(${password_hash ?? null}, password_hash)
    where id = ${id} and removed_at is null
    returning id, session_epoch`
  return member
}
