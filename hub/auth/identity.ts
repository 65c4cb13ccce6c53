import { createHash, randomBytes } from 'node:crypto'
import type { Actor, Role } from '../db/actor.ts'
import { type Database, everywhere } from '../db/db.ts'

/** What a key may do; `propose` also creates leads, notes, drafts and missions. */
export const SCOPES = ['read', 'propose', 'write', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

const ROLE_OF: Record<Scope, Role> = {
  read: 'reader',
  propose: 'reader',
  write: 'seller',
  admin: 'admin',
}
const KEY = /^wph_key_[\w-]{43}$/
/** The time of the last use is stored at most this often. */
const USED_SECONDS = 60

/** The hash under which a link's or key's secret is stored: of 256 random bits, so without a salt. */
export const secretHash = (secret: string) => createHash('sha256').update(secret).digest('hex')

/** A new secret of 256 random bits, for links, keys and sessions. */
export const newSecret = () => randomBytes(32).toString('base64url')

export const isKey = (text: string) => KEY.test(text)

/** A new API key; only its hash is stored. */
export const newKey = () => `wph_key_${newSecret()}`

export type KeyCaller = { actor: Actor; scope: Scope }

/** Who a valid API key is; undefined for one that is unknown, revoked or expired. */
export async function callerOfKey(
  db: Database,
  key: string,
  { can_write }: { can_write: boolean },
): Promise<KeyCaller | undefined> {
  return everywhere(db, async (sql) => {
    const [row] = await sql<{ id: string; name: string; scope: Scope; is_stale: boolean }>`
      select id, name, scope,
        coalesce(last_used_at < now() - make_interval(secs => ${USED_SECONDS}), true) as is_stale
      from hub.api_keys
      where key_hash = ${secretHash(key)} and revoked_at is null
        and (expires_at is null or expires_at > now())`
    if (!row) return undefined
    const { id, name, scope, is_stale } = row
    if (is_stale && can_write) {
      await sql`update hub.api_keys set last_used_at = now() where id = ${id}`
    }
    return { actor: { kind: 'api', id, name, role: ROLE_OF[scope] }, scope }
  })
}

/** A member who may sign in. */
export type ActiveMember = { id: string; name: string; role: Role; session_epoch: number }

/** The member with this id; undefined if they were removed or have not joined. */
export async function activeMember(db: Database, id: string): Promise<ActiveMember | undefined> {
  const [member] = await everywhere(
    db,
    (sql) => sql<ActiveMember>`
      select id, name, role, session_epoch from hub.members
      where id = ${id} and removed_at is null and password_hash is not null`,
  )
  return member
}

export const actorOfMember = ({ id, name, role }: ActiveMember): Actor => ({
  kind: 'member',
  id,
  name,
  role,
})
