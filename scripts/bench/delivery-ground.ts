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

/** An alert in each zone, which the deliveries are about. */
export async function seedAlerts(ground: Ground, places: Place[]): Promise<void> {
  const db = connectJobs(ground, 4)
  const events = places.map((place, nr) => quakeAt(`bench:${nr}`, place, 60))
  await inTransaction(db, (sql) => ingestEvents(sql, 'bench', events))
  await createJobs(db).drain({ budget_ms: 60_000 })
  await db.end()
  await clearDeliveries(ground.admin)
}

/** Forgets all deliveries and enqueues at least so many new ones, about an alert of each zone. Answers how many. */
export async function queueDeliveries(admin: pg.Client, count: number): Promise<number> {
  await clearDeliveries(admin)
  await admin.query('begin')
  // Several messages about one alert: their order is not what is measured, so each repeats itself.
  const { rows } = await admin.query<{ count: number }>(
    `with made as (
      insert into watchpost.deliveries (id, redelivery_of, alert_id, channel_id, type)
      select id, id, alert_id, channel_id, 'alert.raised'
      from (
        select gen_random_uuid() as id, a.id as alert_id, z.channel_ids[1] as channel_id
        from generate_series(1, $1::int) n
        cross join watchpost.zones z
        join lateral (select id from watchpost.alerts where zone_id = z.id limit 1) a on true
        order by n, z.id) each
      returning id, channel_id)
    select count(private.enqueue_delivery(id, channel_id))::int as count from made`,
    [Math.ceil(count / CHANNELS)],
  )
  await admin.query('commit')
  await admin.query('vacuum analyze')
  return rows[0]?.count ?? 0
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
