import { ApiError, notFound } from '../../shared/problem.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import type { SealedChannel } from '../channels/sealed.ts'

/** A channel row; `is_mine` when the caller owns it or is an admin of its organisation. */
export type StoredChannel = SealedChannel & { is_mine: boolean }

/** SQL: whether the caller owns channel `c` or is an admin of its organisation. */
export const isMine = raw(`(c.owner_id = (select private.uid())
  or coalesce(c.org_id = any((select private.admin_orgs())::uuid[]), false))`)
/** SQL: the columns of channel `c`. */
export const channelColumns =
  raw(`c.id, c.kind, c.label, c.target_sealed, c.target_masked, c.config_sealed, c.config_masked,
  c.org_id, c.owner_id, c.enabled, c.status, c.disabled_reason, c.signing_secret_sealed,
  case when c.previous_secret_until > now() then c.previous_secret_sealed end as previous_secret_sealed,
  c.created_at, c.updated_at, ${isMine.text} as is_mine`)

/** A channel that the caller can see. */
export async function findChannel(sql: Sql, id: string): Promise<StoredChannel | undefined> {
  const [row] = await sql<StoredChannel>`
    select ${channelColumns}
    from watchpost.channels c
    where c.id = ${id} and c.deleted_at is null`
  return row
}

/** The channel, if the caller may change it. Throws 404 when they cannot see it, otherwise 403. */
export function ownChannel(row: StoredChannel | undefined): StoredChannel {
  if (!row) throw notFound('channel')
  if (row.is_mine) return row
  throw new ApiError(
    'forbidden',
    'Only the owner of the channel and the admins of its organisation may do this. Ask one of them.',
  )
}
