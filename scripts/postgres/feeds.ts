import type pg from 'pg'
import { becomeOwner } from './accounts.ts'
import { recordAct } from './operator.ts'

type Named = { source: string }
type Polled = { enabled: boolean; paused_at: Date | null }

/**
 * pauseFeed stops polling a feed, or reading its stream, until it is resumed, also across restarts. What a
 * poll under way has fetched is still stored. Everybody reads the reason with its health. Throws when there
 * is no such feed, it is off, or it is paused already.
 */
export async function pauseFeed(
  client: pg.Client,
  { source, reason }: Named & { reason: string },
): Promise<{ paused: string }> {
  await becomeOwner(client)
  const { rowCount } = await client.query(
    `update watchpost.sources
    set paused_at = now(), paused_reason = $2, updated_at = now()
    where source = $1 and enabled and paused_at is null`,
    [source, reason],
  )
  if (rowCount === 0) {
    const { enabled } = await feedOf(client, source)
    throw new Error(
      enabled
        ? `The feed ${source} is paused already.`
        : `The feed ${source} is off: FEEDS does not name it, or it lacks a setting.`,
    )
  }
  await recordAct(client, { action: 'feed.paused', type: 'feed', id: source, details: { reason } })
  return { paused: source }
}

/** resumeFeed polls a paused feed again, at once. Throws when there is no such feed or it is not paused. */
export async function resumeFeed(
  client: pg.Client,
  { source }: Named,
): Promise<{ resumed: string }> {
  await becomeOwner(client)
  const { rowCount } = await client.query(
    `update watchpost.sources
    set paused_at = null, paused_reason = null, updated_at = now(),
      -- What only streams is never polled.
      next_poll_at = least(next_poll_at, case when isfinite(next_poll_at) then now() end)
    where source = $1 and paused_at is not null`,
    [source],
  )
  if (rowCount === 0) {
    await feedOf(client, source)
    throw new Error(`The feed ${source} is not paused.`)
  }
  await recordAct(client, { action: 'feed.resumed', type: 'feed', id: source })
  return { resumed: source }
}

async function feedOf(client: pg.Client, source: string): Promise<Polled> {
  const { rows } = await client.query<Polled & Named>(
    `select source, enabled, paused_at from watchpost.sources
    where source not like 'custom%' order by source`,
  )
  const found = rows.find((row) => row.source === source)
  if (found) return found
  const names = rows.map((row) => row.source).join(', ')
  throw new Error(`There is no feed "${source}". There are: ${names}.`)
}
