import pg from 'pg'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/servers/database.ts'
import { createWorld } from './world.ts'

export const STATES = [
  'queued',
  'held',
  'sending',
  'succeeded',
  'failed',
  'expired',
  'cancelled',
] as const

let database: TestDatabase
let client: pg.Client
/** What the jobs are told by `watchpost_jobs`, once a test listens and commits. */
export const heard: unknown[] = []
/** The owner's private zone and channel, and an alert of that zone which waits. */
export let zone = ''
export let channel = ''
export let alert = ''
/** Before each test a transaction begins that is undone; a channel of its owner hears of the zone. */
export function useDeliveries(): void {
  beforeAll(async () => {
    database = await createTestDatabase()
    await createWorld(database)
    client = new pg.Client({ connectionString: database.adminUrl })
    await client.connect()
    client.on('notification', ({ payload }) => heard.push(payload))
  })
  afterAll(async () => {
    await client?.end()
    await database?.drop()
  })
  beforeEach(async () => {
    await client.query('rollback')
    // Without triggers: what else follows from a change has its own tests.
    await client.query('begin; set local session_replication_role = replica')
    await client.query('delete from watchpost.deliveries')
    ;({ zone, channel, alert } = await one(
      `select z.id as zone, c.id as channel, a.id as alert from watchpost.zones z, watchpost.channels c, watchpost.alerts a
    where z.label = 'private' and c.label = 'private' and a.zone_name = 'private'`,
    ))
    await run("update watchpost.alerts set status = 'pending' where id = $1", [alert])
    await run('update watchpost.zones set channel_ids = array[$2::uuid] where id = $1', [
      zone,
      channel,
    ])
  })
}

export const run = async (text: string, values: unknown[] = []) =>
  (await client.query(text, values)).rows
export const one = async (text: string, values: unknown[] = []) => (await run(text, values))[0]
let sequence = 0
export async function add(status: string, more: Record<string, unknown> = {}): Promise<string> {
  sequence += 1
  const row = {
    alert_id: alert,
    channel_id: channel,
    type: 'alert.revised',
    sequence,
    status,
    ...more,
  }
  const names = Object.keys(row)
  const { id } = await one(
    `insert into watchpost.deliveries (${names.join(', ')})
    values (${names.map((_, nth) => `$${nth + 1}`).join(', ')}) returning id`,
    Object.values(row),
  )
  return id
}
export const addAll = async (more: Record<string, unknown> = {}) => {
  const ids: Record<string, string> = {}
  for (const status of STATES) ids[status] = await add(status, more)
  return ids
}
export const stateOf = async (id: string) =>
  (await one('select status from watchpost.deliveries where id = $1', [id]))?.status
/** Which deliveries are in another state now. */
export async function moved(ids: Record<string, string>): Promise<string[]> {
  const found: string[] = []
  for (const [before, id] of Object.entries(ids)) {
    const after = await stateOf(id)
    if (after !== before) found.push(`${before} → ${after ?? 'gone'}`)
  }
  return found
}
/** What the jobs say of the kinds. */
export const KINDS = { webhook: { schedule: 'webhook' } }
export const claim = (id: string, kinds: object = KINDS) =>
  one('select * from private.claim_delivery($1, $2)', [id, kinds])
export const settle = (
  id: string,
  status: string,
  error: string | null = null,
  at: string | null = null,
) => run('select private.settle_delivery($1, $2, $3, $4)', [id, status, error, at])
export const alertState = async (id = alert) =>
  (await one('select status from watchpost.alerts where id = $1', [id])).status
export const jobs = async () => {
  const rows = await run(
    "select data ->> 'delivery_id' as id from pgboss.job where name = 'deliver'",
  )
  return rows.map(({ id }) => id)
}

export const HOUR = 3_600_000
/** A kind that people read, which takes one message in ten seconds. */
export const CHAT = { webhook: { schedule: 'message', messages: 1, per_seconds: 10 } }
/** The same without a pace. */
export const MAIL = { webhook: { schedule: 'message' } }
export const secondsUntil = (time: unknown) =>
  typeof time === 'object' && time instanceof Date ? Math.round((+time - +now) / 1000) : null
export let now = new Date()
/** A transaction has one time. */
export const startClock = async () => {
  now = (await one('select pgboss.job_now() as now')).now
}
export const first = (status: string, more: object = {}) =>
  add(status, { type: 'alert.raised', sequence: 0, ...more })
export const anotherAlert = async () =>
  (
    await one(
      `insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity, reason,
        first_reason, status, raised_at, checks, zone_version, event_revision)
      select zone_id, zone_name, owner_id, 'test:' || gen_random_uuid(), source, event, severity, reason, first_reason,
        'pending', raised_at, checks, zone_version, event_revision from watchpost.alerts where id = $1 returning id`,
      [alert],
    )
  ).id as string
