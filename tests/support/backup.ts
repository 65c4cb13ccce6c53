import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { checkTables, openArchive } from '../../scripts/backup/archive.ts'
import { makeBackup } from '../../scripts/backup/backup.ts'
import { readSealKeys } from '../../scripts/backup/keys.ts'
import { restoreBackup } from '../../scripts/backup/restore.ts'
import { relationOf } from '../../scripts/backup/tables.ts'
import { asOperator, createLink } from '../../scripts/postgres/accounts.ts'
import { createTenant } from './attacks/tenants.ts'
import { CreatedZone, createDeliveryService } from './delivery-service.ts'
import { quake } from './jobs.ts'
import { createEmptyDatabase, type TestDatabase } from './servers/database.ts'
import { createIssuingApp } from './servers/issuing-app.ts'
import { sendResult, TEST_SEAL_KEY } from './service.ts'

export const KEYS = readSealKeys(TEST_SEAL_KEY)

/** A folder for archives that is removed with `close`. */
export async function createFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-backup-'))
  return { folder, close: () => rm(folder, { recursive: true, force: true }) }
}

/** restoreInto does what the command does after its questions: it checks, then restores. */
export async function restoreInto(
  adminUrl: string,
  file: string,
  more: { root?: string; is_key_lost?: boolean; keys?: typeof KEYS } = {},
) {
  const archive = await openArchive(file)
  try {
    await checkTables(archive)
    const options = { archive, adminUrl, keys: KEYS, is_key_lost: false, ...more }
    return await restoreBackup(options)
  } finally {
    await archive.close()
  }
}

/** A service with rows in every table of a backup, some of its work still to be done. */
export async function createFilledService() {
  const fixture = await createDeliveryService()
  const { service, jobs, query } = fixture
  const tenant = await createTenant(service)
  const other = await service.person()

  // Somebody who signed in by a link and left another unused.
  const issuing = await createIssuingApp(service)
  const signIn = async (link: { token_hash: string }) => {
    const body = JSON.stringify({ token_hash: link.token_hash, type: 'magiclink' })
    const headers = { 'Content-Type': 'application/json' }
    return issuing.fetch('/auth/v1/verify', { method: 'POST', headers, body })
  }
  const link = () =>
    asOperator(service.database.adminUrl, (client) => createLink(client, { email: other.email }), {
      name: 'Deniz',
      via: 'command',
    })
  const session = z.object({ access_token: z.string(), refresh_token: z.string() })
  const signed = session.parse(await (await signIn(await link())).json())
  await link()
  await issuing.close()

  // What Supabase Auth would have, and an account that is gone while its person stayed.
  await service.session(other)
  await query(
    `insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
    values ($1, $2, 'totp', 'verified', now(), now())`,
    [randomUUID(), tenant.person.user_id],
  )
  await query('insert into watchpost.erased_accounts (user_id) values ($1)', [randomUUID()])

  // A polygon, a snooze, quiet hours that hold an alert, a vessel, an alias.
  const here = fixture.place()
  const around = { lat: here.lat, lon: here.lon, radius_km: 50 }
  await fixture.channelOf(other)
  await fixture.make(
    other,
    'zones',
    {
      label: 'Near',
      ...around,
      external_id: 'near-1',
      escalation: [{ after_minutes: 60, channel_ids: [] }],
    },
    CreatedZone,
  )
  await fixture.make(
    other,
    'zones',
    { label: 'Asleep', ...around, snoozed_until: new Date(Date.now() + 3_600_000).toISOString() },
    CreatedZone,
  )
  await fixture.make(
    other,
    'zones',
    { label: 'Quiet', ...around, quiet_windows: ALWAYS_QUIET },
    CreatedZone,
  )
  const { lon, lat } = here
  const ring = [
    [lon, lat],
    [lon + 1, lat],
    [lon + 1, lat + 1],
    [lon, lat],
  ]
  const polygon = { type: 'Polygon', coordinates: [ring] }
  await fixture.make(
    other,
    'zones',
    { label: 'Drawn \\ with "quotes" and ☃', lat, lon, polygon },
    CreatedZone,
  )
  const vessel = { type: 'vessel' as const, subject: 'mmsi:230000001', severity: 0 }
  // With aftershocks, by its magnitude.
  await jobs.ingest(quake({ ...here, magnitude: 6, aliases: [`test:alias-${randomUUID()}`] }))
  await jobs.ingest(quake({ ...here, ...vessel }))
  await jobs.drain()
  // Another source reported what an alert is about.
  await query(
    `insert into watchpost.alert_events (
      zone_id, event_id, alert_id, source, event, event_revision, checks, reason, zone_version, added_at)
    select zone_id, 'other:same', id, 'other', event, 1, checks, reason, zone_version, raised_at
    from watchpost.alerts where owner_id = $1 limit 1`,
    [other.user_id],
  )
  await query(
    `insert into watchpost.feed_links (zone_id, owner_id, token_hash)
    select id, owner_id, sha256('a link') from watchpost.zones where owner_id = $1 and label = 'Near'`,
    [other.user_id],
  )
  // A record of an alert, and one that is to be made anew.
  await query('update watchpost.alerts set resolved = true where owner_id = $1', [other.user_id])
  await jobs.drain()
  await query(`update watchpost.alerts set note = 'Seen' where owner_id = $1`, [other.user_id])
  // A source of whose failure a channel was told.
  await query(`select private.count_items('test', 2, 1, 'it has no place')`)
  await query(
    `with failed as (
      insert into watchpost.blindness (source, status, reason, told_at)
      values ('test', 'down', 'It broke.', now()) returning id)
    insert into watchpost.blind_zones (blindness_id, channel_id, zone_id)
    select f.id, c.id, z.id from failed f, watchpost.channels c
    join watchpost.zones z on z.owner_id = c.owner_id and z.label = 'Near'
    where c.owner_id = $1`,
    [other.user_id],
  )
  await query(
    `insert into watchpost.channel_troubles (channel_id, status, reason, began_at, told_at, told_through)
    select id, 'failing', 'It fails.', now(), now(), id from watchpost.channels where owner_id = $1`,
    [other.user_id],
  )
  await query(
    `insert into watchpost.hosts (kind, host, failures) values ('webhook', 'down.example.com', 3)`,
  )
  await query(
    `insert into watchpost.drills (zone_id, created_by, event, ignores_quiet_hours, escalates)
    select id, owner_id, '{}', true, false from watchpost.zones where owner_id = $1 and label = 'Near'`,
    [other.user_id],
  )
  // Texts that mean something in COPY.
  await query('update watchpost.alerts set note = $1 where note is null', ['one\n\\.\n\ttwo \\N'])
  // One that failed and waits for its next attempt; an event and the same position again that nobody has matched yet.
  service.receiver.answer = () => sendResult(503)
  await jobs.ingest(quake(here))
  await jobs.drain()
  await jobs.ingest(quake(here), quake({ ...here, ...vessel }))
  // One whose process is in the middle of sending it.
  await query(
    `with taken as (
      update pgboss.job set state = 'active', started_on = now()
      where id = (select id from pgboss.job where name = 'deliver' and state = 'created' limit 1)
      returning data)
    update watchpost.deliveries set status = 'sending'
    where id = (select (data ->> 'delivery_id')::uuid from taken)`,
  )
  service.receiver.answer = () => sendResult(200)
  service.receiver.requests.length = 0
  return { ...fixture, tenant, other, here, signed }
}

const ALWAYS_QUIET = [
  { days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], start: '00:00', end: '23:59' },
]

/** The numbers of a server's transactions, which a backup leaves out. */
const LEFT_OUT = { 'watchpost.audit': ['seq'] }

/**
 * exportOf reads every table of a database as text, ordered by its primary key, without what counts
 * the transactions of a server.
 */
export async function exportOf(database: TestDatabase): Promise<Map<string, string>> {
  const tables = await database.query<{ name: string; columns: string[]; key: string[] }>(
    `select n.nspname || '.' || c.relname as name,
      array(
        select attname::text from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and atttypid <> 'xid8'::regtype
        order by attnum) as columns,
      array(
        select a.attname::text from pg_index i
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
        where i.indrelid = c.oid and i.indisprimary order by a.attnum) as key
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and not c.relispartition
      and n.nspname in ('watchpost', 'auth') and c.relname <> all($1)
    order by 1`,
    [['rate_limits', 'rate_denials', 'visibility_changes', 'change_history', 'zone_changes']],
  )
  const found = new Map<string, string>()
  for (const { name, columns, key } of tables) {
    const left = new Map(Object.entries(LEFT_OUT)).get(name) ?? []
    const shown = columns.filter((column) => !left.includes(column)).map((column) => `"${column}"`)
    const order = key.map((column) => `"${column}"::text collate "C"`).join(', ')
    const rows = await database.query<{ line: string }>(
      `select r::text as line from (
        select ${shown.join(', ')} from ${relationOf(name)} order by ${order}) r`,
    )
    found.set(name, rows.map(({ line }) => line).join('\n'))
  }
  return found
}

/** A backup of a database, restored into a new one. */
export async function copyOf(database: TestDatabase, folder: string) {
  const file = join(folder, `${database.name}.zip`)
  await makeBackup({ adminUrl: database.adminUrl, file, keys: KEYS })
  const restored = await createEmptyDatabase()
  await restoreInto(restored.adminUrl, file)
  return { file, restored }
}

/** The answers of the API to a person, without what says when they were asked. */
export const PATHS = [
  'me',
  'zones',
  'channels',
  'alerts',
  'analytics',
  'audit?limit=1000',
  'events',
  'events/map?bbox=-180,-90,180,90&zoom=3',
  'sources/health',
]
