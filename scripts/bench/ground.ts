import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { createPool, type Database } from '../../functions/db.ts'
import { createZoneMirror } from '../../functions/jobs/zone-mirror.ts'
import { createRunner } from '../../functions/jobs.ts'
import { createSeal } from '../../functions/seal.ts'
import { boxesOf } from '../../shared/geometry/geometry.ts'
import type { ZonePolygon, ZoneShape } from '../../shared/geometry/polygon.ts'
import { generateKey, keyHash, keyPrefix } from '../../shared/key.ts'
import { migrate, setLoginPasswords } from '../postgres/migrate.ts'
import { startThrowawayPostgres } from '../postgres/throwaway.ts'
import type { Figure } from './figure.ts'

const PASSWORD = 'bench'
/** No secret: it seals what exists only during the measurement. */
export const SEAL_KEY = Buffer.alloc(32).toString('base64')

/** What a part of the bench works with: a database of its own, and where its figures go. */
export type Ground = {
  admin: pg.Client
  adminUrl: string
  /** The connection string of one of the roles that the service logs in as. */
  loginUrl: (role: 'watchpost_api' | 'watchpost_jobs') => string
  figure: (figure: Figure) => void
  /** Says why something could not be measured here, and what to do about it. */
  leaveOut: (what: string, why: string) => void
  say: (text: string) => void
}
export type Place = { lat: number; lon: number }
export type Account = { user_id: string; key: string }

/** Starts a PostgreSQL that is removed by `stop`, with the schema of the service and nothing in it. */
export async function startDatabase() {
  const server = await startThrowawayPostgres()
  await migrate(server.adminUrl)
  await setLoginPasswords(server.adminUrl, { api: PASSWORD, jobs: PASSWORD })
  const admin = new pg.Client({ connectionString: server.adminUrl })
  // If an error stops the server under this connection, that error matters.
  admin.on('error', () => undefined)
  await admin.connect()
  const loginUrl: Ground['loginUrl'] = (role) => {
    const url = new URL(server.adminUrl)
    url.username = role
    url.password = PASSWORD
    return url.href
  }
  const stop = async () => {
    await admin.end()
    await server.stop()
  }
  return { admin, adminUrl: server.adminUrl, loginUrl, stop }
}

/** Inserts an account of the Enterprise plan with a key that may read and write. */
export async function createAccount(admin: pg.Client): Promise<Account> {
  const [account] = await createAccounts(admin, 1)
  if (!account) throw new Error('no account was made')
  await admin.query(`update watchpost.accounts set plan = 'enterprise' where user_id = $1`, [
    account.user_id,
  ])
  return account
}

/** Each account holds locks until its transaction ends: more at once would exceed max_locks_per_transaction. */
const ACCOUNTS_AT_ONCE = 1000

/** Inserts accounts of the Free plan, each with a key that may read and write. */
export async function createAccounts(admin: pg.Client, count: number): Promise<Account[]> {
  const accounts = Array.from({ length: count }, () => ({
    user_id: randomUUID(),
    key: generateKey(),
  }))
  for (let from = 0; from < count; from += ACCOUNTS_AT_ONCE) {
    const some = accounts.slice(from, from + ACCOUNTS_AT_ONCE)
    const ids = some.map(({ user_id }) => user_id)
    await admin.query(
      `insert into auth.users (id, email) select id, id || '@watchpost.test' from unnest($1::uuid[]) as u (id)`,
      [ids],
    )
    await admin.query(
      `insert into watchpost.api_keys (user_id, prefix, key_hash, scopes)
      select *, '{read,write}' from unnest($1::uuid[], $2::text[], $3::bytea[])`,
      [
        ids,
        some.map(({ key }) => keyPrefix(key)),
        await Promise.all(some.map(({ key }) => keyHash(key))),
      ],
    )
  }
  return accounts
}

export async function createSource(admin: pg.Client, name: string): Promise<void> {
  await admin.query(
    `insert into watchpost.sources (source, title, attribution, types, interval_seconds, enabled)
    values ($1, $1, 'bench', '{earthquake}', 60, false) on conflict do nothing`,
    [name],
  )
}

/**
 * Inserts circular zones, evenly distributed over the sphere, with the boxes that the API would store and the versions
 * that their triggers would make, all as of yesterday.
 */
export async function seedZones(
  admin: pg.Client,
  owner_id: string,
  count: number,
  { radius_km = 300, types = null as string[] | null, min_severity = 40, dwell_minutes = 0 } = {},
): Promise<void> {
  const zones = Array.from({ length: count }, () => ({ ...anywhere(), radius_km, owner_id }))
  await insertZones(admin, zones, { types, min_severity, dwell_minutes })
}

/** A zone of the bench: a circle, or the polygon that it has. */
export type Seed = Place & { radius_km: number; owner_id: string; polygon?: ZonePolygon }

/** Inserts zones as {@link seedZones} does. */
export async function insertZones(
  admin: pg.Client,
  zones: Seed[],
  { types = null as string[] | null, min_severity = 40, dwell_minutes = 0 } = {},
): Promise<void> {
  await admin.query(`set session_replication_role = replica`)
  for (let from = 0; from < zones.length; from += 5000) {
    const rows = zones.slice(from, from + 5000).map((zone) => ({
      ...zone,
      shape_type: zone.polygon ? 'polygon' : 'circle',
      boxes: zone.polygon
        ? boxesOfPolygon(zone, zone.polygon)
        : boxesOfCircle(zone, zone.radius_km),
    }))
    await admin.query(
      `insert into watchpost.zones (
        owner_id, label, lat, lon, radius_km, shape_type, polygon, types, min_severity, dwell_minutes, boxes)
      select owner_id, 'bench', lat, lon, radius_km, shape_type, polygon, $2, $3, $4, boxes
      from jsonb_to_recordset($1) as x (
        owner_id uuid, lat float8, lon float8, radius_km float8, shape_type text, polygon jsonb, boxes box[])`,
      [JSON.stringify(rows), types, min_severity, dwell_minutes],
    )
  }
  await completeZones(admin)
  await admin.query(`set session_replication_role = default`)
}

/** The boxes of a circle as Postgres reads them. */
export function boxesOfCircle(place: Place, radius_km: number): string[] {
  return boxTexts({ ...place, radius_km, shape_type: 'circle', polygon: null })
}

const boxesOfPolygon = (place: Place & { radius_km: number }, polygon: ZonePolygon) =>
  boxTexts({ ...place, shape_type: 'polygon', polygon })

const boxTexts = (zone: ZoneShape) =>
  boxesOf(zone).map(({ west, south, east, north }) => `(${east},${north}),(${west},${south})`)

/** Gives zones that were inserted without triggers what their triggers would have made, as of yesterday. */
async function completeZones(admin: pg.Client): Promise<void> {
  await admin.query(`insert into watchpost.zone_boxes (zone_id, part, box, min_severity, types)
    select z.id, b.part, b.box, private.min_event_severity(z), z.types
    from watchpost.zones z cross join lateral unnest(z.boxes) with ordinality as b (box, part)
    on conflict do nothing`)
  await admin.query(`select private.store_version(z, '{}', false) from watchpost.zones z
    where not exists (select from watchpost.zone_versions v where v.zone_id = z.id)`)
  await admin.query(`update watchpost.zone_versions set valid_from = now() - interval '1 day'`)
  await admin.query(`update watchpost.zones set updated_at = now() - interval '1 day'`)
}

/** A place of even distribution over the sphere. */
export function anywhere(): Place {
  const lat = (Math.asin(2 * Math.random() - 1) * 180) / Math.PI
  return { lat, lon: Math.random() * 360 - 180 }
}

/** An earthquake as a feed would report it. */
export function quakeAt(id: string, place: Place, severity: number) {
  return {
    ...place,
    id,
    source: 'bench',
    type: 'earthquake' as const,
    title: 'M 5.0 - bench',
    ts: new Date().toISOString(),
    severity,
    subject: null,
    status: 'active' as const,
    url: null,
    geometry: null,
    ends_at: null,
    revised_at: null,
    aliases: [],
  }
}

/** The jobs of the service; each of their log lines is pushed to `lines`. Nothing leaves unless `send` does it. */
export function createJobs(
  db: Database,
  given: Partial<Parameters<typeof createRunner>[0]> & { lines?: Record<string, unknown>[] } = {},
) {
  const { lines, ...options } = given
  return createRunner({
    db,
    seal: createSeal([SEAL_KEY]),
    send: async () => ({ ok: true, status: 200, headers: new Headers(), body: '', duration_ms: 0 }),
    allow: { ranges: [], names: new Set() },
    feeds: [],
    zones: createZoneMirror(db),
    fetch,
    contact: undefined,
    public_url: null,
    log: (line) => void lines?.push(line),
    ...options,
  })
}

/** The connections of the jobs, as a process of its own would have them. */
export const connectJobs = ({ loginUrl }: Ground, max: number) =>
  createPool({ url: loginUrl('watchpost_jobs'), max })
