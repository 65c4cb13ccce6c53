import { randomUUID } from 'node:crypto'
import type { Service } from '../service.ts'
import type { OwnedThings, Route } from './refusals.ts'

/** Brings the database into the state in which a route succeeds for these ids. */
export async function prepareRoute(
  service: Service,
  route: Route,
  ids: OwnedThings['ids'],
): Promise<void> {
  const { query } = service.database
  if (route.path.endsWith('/restore')) {
    const table = route.thing === 'zone' ? 'zones' : 'channels'
    await query(`update watchpost.${table} set deleted_at = now() where id = $1`, [
      route.thing === 'zone' ? ids.zone : ids.channel,
    ])
  }
  if (/\/(redeliver|recover)$/.test(route.path)) {
    await query(
      `insert into watchpost.deliveries (alert_id, channel_id, type, status)
      values ($1, $2, 'alert.raised', 'failed') on conflict do nothing`,
      [ids.alert, ids.channel],
    )
  }
  if (route.path.endsWith('/confirmation')) {
    // Each its own mailbox, because one gets three such mails a day.
    await query(
      `update watchpost.channels
      set kind = 'email', target_sealed = $2, confirmed_at = null
      where id = $1`,
      [ids.channel, await service.seal.seal(`${randomUUID()}@example.com`)],
    )
  }
  if (route.path.endsWith('/explain')) {
    await query(
      `insert into watchpost.event_revisions (event_id, revision, first_seen_at, source, type, title,
        lat, lon, ts, severity, status, extent)
      values ('usgs:none', 1, now(), 'usgs', 'earthquake', 'M 5.0', 41, 29, now(), 50, 'active',
        box '(29,41),(29,41)')
      on conflict do nothing`,
    )
  }
}
