import type pg from 'pg'
import { generateToken, tokenHash } from '../../shared/token.ts'
import { becomeOwner } from '../postgres/accounts.ts'
import { MAX_NAME, recordAct } from '../postgres/operator.ts'

/** How long a link works. */
export const LINK_MINUTES = 15
/** A session ends when it is not used for this long, */
const IDLE_MINUTES = 60
/** and in any case after this long. */
const SESSION_HOURS = 12

/**
 * The secret of a session, of which the browser keeps each half in another place: one as a cookie that no script can
 * read, but that it sends to every port of this machine; one for the page itself, which only this port's pages can read.
 */
export type SessionSecret = { cookie: string; page: string }

export type Session = { id: string; operator: string; expires_at: Date }

/** createOperatorLink creates a link to the operator page that works once. Only its hash is stored. */
export async function createOperatorLink(
  client: pg.Client,
  { name }: { name: string },
): Promise<{ operator: string; token: string; expires_at: string }> {
  await becomeOwner(client)
  const token = generateToken()
  const { rows } = await client.query<{ id: string; operator: string; expires_at: Date }>(
    `insert into watchpost.operator_sessions (operator, link_hash, expires_at)
    values ($1, $2, now() + make_interval(mins => $3))
    returning id, operator, expires_at`,
    [name.slice(0, MAX_NAME), await tokenHash(token), LINK_MINUTES],
  )
  const [link] = rows
  if (!link) throw new Error('the link was not stored')
  await recordAct(client, {
    ...{ action: 'operator_link.created', type: 'operator', id: link.id },
    details: { operator: link.operator },
  })
  return { operator: link.operator, token, expires_at: link.expires_at.toISOString() }
}

/** redeemLink makes a session of a link; undefined when it was used, has expired or is none. */
export async function redeemLink(
  client: pg.Client,
  token: string,
): Promise<{ session: Session; secret: SessionSecret } | undefined> {
  await becomeOwner(client)
  const secret = { cookie: generateToken(), page: generateToken() }
  const { rows } = await client.query<Session>(
    `update watchpost.operator_sessions
    set link_hash = null, session_hash = $2, used_at = now(), expires_at = now() + make_interval(hours => $3)
    where link_hash = $1 and expires_at > now()
    returning id, operator, expires_at`,
    [await tokenHash(token), await hashOf(secret), SESSION_HOURS],
  )
  return rows[0] && { session: rows[0], secret }
}

/** findSession returns the session that a secret belongs to, and notes that it is in use. */
export async function findSession(
  client: pg.Client,
  secret: SessionSecret,
): Promise<Session | undefined> {
  await becomeOwner(client)
  const { rows } = await client.query<Session & { is_stale: boolean }>(
    `select id, operator, expires_at, used_at < now() - interval '1 minute' as is_stale
    from watchpost.operator_sessions
    where session_hash = $1 and expires_at > now() and used_at > now() - make_interval(mins => $2)`,
    [await hashOf(secret), IDLE_MINUTES],
  )
  const [found] = rows
  if (!found) return undefined
  const { is_stale, ...session } = found
  if (is_stale) {
    await client.query('update watchpost.operator_sessions set used_at = now() where id = $1', [
      session.id,
    ])
  }
  return session
}

/** endSession signs out. */
export async function endSession(client: pg.Client, { id }: Pick<Session, 'id'>): Promise<void> {
  await becomeOwner(client)
  await client.query('delete from watchpost.operator_sessions where id = $1', [id])
}

/** A dot is in neither half. */
const hashOf = ({ cookie, page }: SessionSecret) => tokenHash(`${cookie}.${page}`)
