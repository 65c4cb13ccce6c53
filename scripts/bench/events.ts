import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { keyHash } from '../../shared/key.ts'
import { median } from './figure.ts'
import { type Account, createAccount, createSource, type Ground, seedZones } from './ground.ts'

const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000)
export const PAGE_LIMIT_MS = 20

/** `GET /events` in the database: an account with 100 zones, among many events. */
export async function benchEvents(ground: Ground): Promise<void> {
  const { admin, say } = ground
  const owner = await createAccount(admin)
  await createSource(admin, 'bench')
  await seedZones(admin, owner.user_id, 100)
  for (const [label, span] of [
    ['over 90 days', '90 days'],
    ['all within a day', '1 day'],
  ] as const) {
    say(`Storing ${EVENTS.toLocaleString('en')} events ${label} …`)
    await fillEvents(admin, EVENTS, span)
    for (const minutes of [60, 1440]) {
      const value = await timePage(ground, owner, minutes)
      ground.figure({
        name: `GET /events, 100 zones, ${EVENTS.toLocaleString('en')} events ${label}, last ${minutes} min`,
        value,
        unit: 'ms in the database',
        against: `limit ${PAGE_LIMIT_MS} ms`,
        ratio: value / PAGE_LIMIT_MS,
        goal: { at_most: 1 },
      })
    }
  }
}

/** Makes these all the events that there are, evenly distributed over the sphere and the time. */
export async function fillEvents(admin: pg.Client, count: number, span: string): Promise<void> {
  await admin.query('truncate watchpost.events cascade')
  await admin.query(
    `insert into watchpost.events (id, source, type, title, lat, lon, ts, severity, status, extent)
    select 'bench:' || g, 'bench', 'earthquake', 'M 4.2 - bench', lat, lon,
      now() - random() * $2::interval, (random() * 100)::int, 'active', box(point(lon, lat))
    from (select g, degrees(asin(2 * random() - 1)) as lat, random() * 360 - 180 as lon
      from generate_series(1, $1::int) g) s`,
    [count, span],
  )
  await admin.query('vacuum analyze')
}

/** How many ms the database needs for the first page of the events near an account's zones. */
export async function timePage(ground: Ground, owner: Account, minutes: number): Promise<number> {
  const client = new pg.Client({ connectionString: ground.loginUrl('watchpost_api') })
  await client.connect()
  const hash = await keyHash(owner.key)
  const times: number[] = []
  for (let run = 0; run < 15; run += 1) {
    await client.query('begin read only')
    await client.query(
      `select set_config('request.jwt.claims', private.key_claims($1, $2, '{}'), true), set_config('role', 'authenticated', true)`,
      [hash, randomUUID()],
    )
    const plan = await client.query<{ 'QUERY PLAN': [{ 'Execution Time': number }] }>(
      `explain (analyze, format json) select * from private.events_near(
        null, now() - make_interval(mins => ${minutes}), now(), null, null, null, null, 100)`,
    )
    times.push(plan.rows[0]?.['QUERY PLAN'][0]['Execution Time'] ?? Number.NaN)
    await client.query('commit')
  }
  await client.end()
  return median(times)
}
