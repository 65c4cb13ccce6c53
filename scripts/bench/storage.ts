import type pg from 'pg'
import { inTransaction } from '../../functions/db.ts'
import { ingestEvents } from '../../functions/jobs/ingest.ts'
import { createSeal } from '../../functions/seal.ts'
import { generateSecret } from '../../shared/signing.ts'
import { fillEvents, PAGE_LIMIT_MS, timePage } from './events.ts'
import { inWords, seconds } from './figure.ts'
import {
  anywhere,
  connectJobs,
  createAccount,
  createAccounts,
  createJobs,
  createSource,
  type Ground,
  insertZones,
  quakeAt,
  SEAL_KEY,
  seedZones,
} from './ground.ts'

const EVENTS = Number(process.env.BENCH_STORED ?? 20_000)
const PURGED = Number(process.env.BENCH_PURGED ?? 50_000)
/** How many events a day has, for the page of its last 24 hours; ten million take minutes to store. */
const DAYS = process.env.BENCH_DAYS?.split(',').map(Number) ?? [
  100_000,
  1_000_000,
  ...(process.env.BENCH_LARGE ? [10_000_000] : []),
]
/** What one row of each kind is; the partitions of a table count with it. */
const KINDS = {
  events: 'an event',
  event_revisions: 'a revision',
  positions: 'a position',
  alerts: 'an alert',
  deliveries: 'a delivery',
  delivery_attempts: 'an attempt',
}
const ACCOUNTS = Number(process.env.BENCH_ACCOUNTS ?? 20_000)
/** What an account and a zone consist of, the table that has one row for each first. */
const TENANTS: Record<string, [string, ...string[]]> = {
  'an account, with its plan, key and audit': ['accounts', 'account_states', 'api_keys', 'audit'],
  'a circular zone, with its version and boxes': ['zones', 'zone_versions', 'zone_boxes'],
}

/** Bytes a row, the page of the last 24 hours as the day grows fuller, and the deletion of what has been kept long enough. */
export async function benchStorage(ground: Ground): Promise<void> {
  await measureRows(ground)
  await measurePages(ground)
  await measurePurge(ground)
  await measureTenants(ground)
}

/** Stores events and positions as feeds report them, of which some raise alerts that are sent, and looks at the tables. */
async function measureRows({ admin, say, figure, ...ground }: Ground): Promise<void> {
  say(`Storing ${inWords(EVENTS)} events and positions, with their alerts …`)
  const owner = await createAccount(admin)
  await createSource(admin, 'bench')
  await seedZones(admin, owner.user_id, 500)
  await addChannels(admin, owner.user_id)
  const db = connectJobs({ admin, say, figure, ...ground }, 4)
  for (let from = 0; from < EVENTS; from += 1000) {
    const events = Array.from({ length: 1000 }, (_, index) => from + index)
    await inTransaction(db, async (sql) => {
      await ingestEvents(
        sql,
        'bench',
        events.map((nr) => quakeAt(`bench:${nr}`, anywhere(), nr % 2 === 0 ? 60 : 8)),
      )
      await ingestEvents(
        sql,
        'bench',
        events.map((nr) => ({
          ...quakeAt(`bench:mmsi:${nr}`, anywhere(), 0),
          ...{ type: 'vessel' as const, title: `SHIP ${nr}`, subject: `mmsi:${200_000_000 + nr}` },
        })),
      )
    })
  }
  await createJobs(db).drain({ budget_ms: 30 * 60_000 })
  await db.end()
  await admin.query('vacuum analyze')
  for (const [table, one] of Object.entries(KINDS)) {
    const { rows, row_bytes, index_bytes } = await sizeOf(admin, table)
    figure({
      name: `Bytes of ${one}, with its indexes`,
      value: row_bytes + index_bytes,
      unit: 'bytes',
      against: `the row alone, ${inWords(row_bytes)} bytes`,
      ratio: (row_bytes + index_bytes) / row_bytes,
      note: `${inWords(rows)} rows`,
    })
  }
}

/** A webhook for each zone, so that none has to wait for its pace. */
async function addChannels(admin: pg.Client, owner: string): Promise<void> {
  const seal = createSeal([SEAL_KEY])
  await admin.query(`set session_replication_role = replica`)
  await admin.query(
    `insert into watchpost.channels (id, owner_id, kind, target_sealed, target_masked, signing_secret_sealed)
    select id, $1, 'webhook', $2, 'masked', $3 from watchpost.zones`,
    [owner, await seal.seal('https://hooks.example.com/in'), await seal.seal(generateSecret())],
  )
  await admin.query(`update watchpost.zones set channel_ids = array[id]`)
  await admin.query(`set session_replication_role = default`)
}

type Size = { rows: number; row_bytes: number; index_bytes: number }

/** What a row of a table takes, without the space that its pages have left. */
async function sizeOf(admin: pg.Client, table: string): Promise<Size> {
  const { rows } = await admin.query<{ rows: string; heap: string; indexes: string }>(
    `select (select count(*) from watchpost.${table}) as rows, sum(pg_table_size(relid)) as heap,
      sum(pg_indexes_size(relid)) as indexes
    from (
      select 'watchpost.${table}'::regclass as relid
      union
      select relid from pg_partition_tree('watchpost.${table}')) t`,
  )
  const [count, heap, indexes] = [rows[0]?.rows, rows[0]?.heap, rows[0]?.indexes].map(Number)
  if (!count || !heap || !indexes) throw new Error(`there are no rows of ${table} to measure`)
  return { rows: count, row_bytes: heap / count, index_bytes: indexes / count }
}

async function measurePages(ground: Ground): Promise<void> {
  const owner = await createAccount(ground.admin)
  await seedZones(ground.admin, owner.user_id, 100)
  for (const count of DAYS) {
    ground.say(`Storing ${inWords(count)} events within a day …`)
    await fillEvents(ground.admin, count, '1 day')
    const value = await timePage(ground, owner, 1440)
    ground.figure({
      name: `GET /events, 100 zones, the last 24 hours with ${inWords(count)} events`,
      value,
      unit: 'ms in the database',
      against: `limit ${PAGE_LIMIT_MS} ms`,
      ratio: value / PAGE_LIMIT_MS,
      ...(count <= 1_000_000 ? { goal: { at_most: 1 } } : {}),
      along: { chart: 'GET /events, the last 24 hours', at: `${inWords(count)} a day` },
    })
  }
}

/** Deletes events and revisions a batch at a time, as the job does, beside storing as many. */
async function measurePurge({ admin, say, figure }: Ground): Promise<void> {
  say(`Deleting ${inWords(PURGED)} events and their revisions …`)
  await admin.query('truncate watchpost.events, watchpost.event_revisions cascade')
  const storing = await seconds(async () => {
    for (let from = 0; from < PURGED; from += 1000) {
      const events = Array.from({ length: 1000 }, (_, index) => ({
        ...quakeAt(`bench:old${from + index}`, anywhere(), 8),
        ...{ ts: LONG_AGO, first_seen_at: LONG_AGO, box: [0, 0, 0, 0] },
      }))
      await admin.query(`select private.ingest_events('bench', $1, false)`, [
        JSON.stringify(events),
      ])
    }
  })
  await admin.query('vacuum analyze')
  for (const what of ['events', 'revisions']) {
    let gone = 0
    const deleting = await seconds(async () => {
      for (let last = 1; last > 0; gone += last) {
        const { rows } = await admin.query<{ gone: number }>(
          `select private.purge_${what}(2000) as gone`,
        )
        last = rows[0]?.gone ?? 0
      }
    })
    figure({
      name: `Deleting the ${what} that were kept long enough`,
      value: gone / deleting,
      unit: 'rows/s',
      against: `storing them, ${inWords(PURGED / storing)} events/s`,
      ratio: (gone / deleting / PURGED) * storing,
      note: `${inWords(gone)} rows`,
    })
  }
}

/** Creates accounts with a key and a zone each, and looks at their tables. */
async function measureTenants({ admin, say, figure }: Ground): Promise<void> {
  say(`Storing ${inWords(ACCOUNTS)} accounts with a key and a zone each …`)
  const accounts = await createAccounts(admin, ACCOUNTS)
  await insertZones(
    admin,
    accounts.map(({ user_id }) => ({ ...anywhere(), radius_km: 300, owner_id: user_id })),
  )
  await admin.query('vacuum analyze')
  for (const [one, [table, ...others]] of Object.entries(TENANTS)) {
    const { rows, row_bytes, index_bytes } = await sizeOf(admin, table)
    let bytes = row_bytes + index_bytes
    for (const other of others) {
      const size = await sizeOf(admin, other)
      bytes += ((size.row_bytes + size.index_bytes) * size.rows) / rows
    }
    figure({
      name: `Bytes of ${one}`,
      value: bytes,
      unit: 'bytes',
      against: `the row of ${table} alone, ${inWords(row_bytes)} bytes`,
      ratio: bytes / row_bytes,
      note: `${inWords(rows)} of them`,
    })
  }
}

const LONG_AGO = new Date(Date.now() - 200 * 24 * 3_600_000).toISOString()
