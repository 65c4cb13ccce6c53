import { ApiError, invalid, notFound } from '../../shared/problem.ts'
import { DEFAULT_MESSAGES } from '../../shared/schemas/channel.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import type { SealedChannel } from '../channels/sealed.ts'

/** A channel row; `is_mine` when the caller owns it or is an admin of its organisation. */
export type StoredChannel = SealedChannel & { is_mine: boolean }

/** SQL: whether the caller owns channel `c` or is an admin of its organisation. */
export const isMine = raw(`(c.owner_id = (select private.uid())
  or coalesce(c.org_id = any((select private.admin_orgs())::uuid[]), false))`)
const defaultMessages = `array[${DEFAULT_MESSAGES.map((type) => `'${type}'`).join(', ')}]`

/** SQL: the columns of a channel with this alias that are answered as they are stored. */
export const plainChannelColumns = (alias: string) => `${alias}.id, ${alias}.kind, ${alias}.label,
  ${alias}.org_id, ${alias}.owner_id, ${alias}.enabled, ${alias}.status, ${alias}.disabled_reason,
  case when ${alias}.status = 'failing' then ${alias}.failing_reason end as failing_reason,
  case when ${alias}.status = 'failing' then ${alias}.failing_since end as failing_since,
  coalesce(${alias}.messages, ${defaultMessages}) as messages, ${alias}.language, ${alias}.time_zone,
  ${alias}.created_at, ${alias}.updated_at`

/** SQL: the columns of channel `c`. */
export const channelColumns = raw(`${plainChannelColumns('c')}, c.target_sealed, c.target_masked,
  c.config_sealed, c.config_masked, c.signing_secret_sealed,
  private.living_secrets(c.former_secrets_sealed) as former_secrets_sealed, ${isMine.text} as is_mine`)

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

/** The caller's role in an organisation. */
export function roleIn(sql: Sql, orgId: string) {
  return sql<{ role: string }>`
    select role
    from watchpost.members
    where org_id = ${orgId} and user_id = private.uid()`
}

/** A channel comes into an organisation by its owner or an admin only. */
export function requireAdmin([mine]: { role: string }[] = []): void {
  if (!mine) {
    const message = 'You do not belong to this organisation. GET /me lists yours.'
    throw invalid([{ path: 'org_id', code: 'unknown_organisation', message }])
  }
  if (mine.role === 'member') {
    throw new ApiError(
      'forbidden',
      'Only an owner or admin of the organisation can share a channel with it. Ask one of them.',
    )
  }
}
