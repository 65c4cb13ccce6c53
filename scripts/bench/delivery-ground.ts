import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { inTransaction } from '../../functions/db.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import { createSeal } from '../../functions/seal.ts'
import { generateSecret } from '../../shared/signing.ts'
import {
  boxesOfCircle,
  connectJobs,
  createAccount,
  createJobs,
  createSource,
  type Ground,
  type Place,
  quakeAt,
  SEAL_KEY,
} from './ground.ts'
import type { Hooks } from './hooks.ts'

/** With ten messages each at once, as the pace of a webhook lets them out. */
export const CHANNELS = 500

const placeOf = (nr: number): Place => ({
  lat: -60 + 3 * (nr % 40),
  lon: -170 + 8 * Math.floor(nr / 40),
})

/** A webhook channel with a secret of its own for each of so many zones, each zone far from all others. */
export async function seedChannels({ admin }: Ground, { ports }: Hooks): Promise<Place[]> {
  await createSource(admin, 'bench')
  const { user_id } = await createAccount(admin)
  const { seal } = createSeal([SEAL_KEY])
  const places = Array.from({ length: CHANNELS }, (_, nr) => placeOf(nr))
  const rows = await Promise.all(
    places.map(async (place, nr) => ({
      ...place,
      id: randomUUID(),
      boxes: boxesOfCircle(place, 50),
      target: await seal(`http://127.0.0.1:${ports[nr % ports.length]}/hook/${nr}`),
      secret: await seal(generateSecret()),
    })),
  )
  await admin.query(`set session_replication_role = replica`)
  await admin.query(
    `insert into watchpost.channels (id, owner_id, kind, target_sealed, target_masked, signing_secret_sealed)
    select id, $1, 'webhook', target, 'masked', secret from jsonb_to_recordset($2) as x (id uuid, target text, secret text)`,
    [user_id, JSON.stringify(rows)],
  )
  await admin.query(`set session_replication_role = default`)
  await admin.query(
    `insert into watchpost.zones (owner_id, label, lat, lon, radius_km, boxes, channel_ids)
    select $1, 'bench', lat, lon, 50, boxes, array[id]
    from jsonb_to_recordset($2) as x (id uuid, lat float8, lon float8, boxes box[])`,
    [user_id, JSON.stringify(rows)],
  )
  await admin.query(`delete from pgboss.job where name in ('match', 'match_zone', 'deliver')`)
  await admin.query('vacuum analyze')
  return places
}

/** At least so many alerts, as many in each zone, which the deliveries are about. */
export async function seedAlerts(ground: Ground, places: Place[], count: number): Promise<void> {
  const db = connectJobs(ground, 4)
  const rounds = Math.ceil(count / places.length)
  for (let round = 0; round < rounds; round += 1) {
    const events = places.map((place, nr) => quakeAt(`bench:${round}-${nr}`, place, 60))
    await inTransaction(db, (sql) => ingestEvents(sql, 'bench', events))
  }
  // Alerts alone: what they are told with is queued anew for each measurement.
  await ground.admin.query('update watchpost.channels set deleted_at = now()')
  await createJobs(db).drain({ budget_ms: 10 * 60_000 })
  await ground.admin.query('update watchpost.channels set deleted_at = null')
  await db.end()
  await clearDeliveries(ground.admin)
}

/** Forgets all deliveries and enqueues a new one about each alert, to the channel of its zone. Answers how many. */
export async function queueDeliveries(admin: pg.Client): Promise<number> {
  await clearDeliveries(admin)
  await admin.query('begin')
  const { rows } = await admin.query<{ count: number }>(
    `with made as (
      insert into watchpost.deliveries (alert_id, channel_id, type)
      select a.id, z.channel_ids[1], 'alert.raised'
      from watchpost.alerts a join watchpost.zones z on z.id = a.zone_id
      returning id, alert_id, channel_id)
    select count(*)::integer as count,
      private.enqueue_deliveries(array_agg(id), array_agg(alert_id), array_agg(channel_id))
    from made`,
  )
  await admin.query('commit')
  await admin.query('vacuum analyze')
  return rows[0]?.count ?? Number.NaN
}

/** Forgets all deliveries, and which turns their channels have taken. */
export async function clearDeliveries(admin: pg.Client): Promise<void> {
  await admin.query(`
    delete from watchpost.deliveries;
    truncate watchpost.rate_limits;
    delete from pgboss.job where name = 'deliver'`)
  await admin.query('vacuum')
}

/** How many deliveries have not been recorded as sent. */
export async function countUnsent(admin: pg.Client): Promise<number> {
  const { rows } = await admin.query<{ count: number }>(
    `select count(*)::int as count from watchpost.deliveries where status <> 'succeeded'`,
  )
  return rows[0]?.count ?? Number.NaN
}
