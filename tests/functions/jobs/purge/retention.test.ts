import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestJobs, type TestJobs } from '../../../support/jobs.ts'
import { createService, type Service } from '../../../support/service.ts'
import { KEPT, LIMITS, type Limit } from './retained.ts'

let service: Service
let jobs: TestJobs

beforeAll(async () => {
  service = await createService()
  jobs = await createTestJobs(service)
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

const query = (statement: string, values: unknown[] = []) =>
  service.database.query<Record<string, unknown>>(statement, values)

const TABLES = [...new Set(LIMITS.map(({ table }) => table))]

beforeEach(async () => {
  const names = TABLES.map((table) => `watchpost.${table}`).join(', ')
  await query(`truncate ${names} cascade`)
  // That all zones are gone is noted there.
  await query('truncate watchpost.zone_changes')
  await query(
    'insert into watchpost.sources (source, title, attribution, types, interval_seconds)' +
      ` values ('test', '', '', '{}', 60) on conflict do nothing`,
  )
})

/** A row of this age, as nobody but time makes one: no trigger follows it. */
async function age({ table, insert, keep }: Limit, more: string) {
  const made = await service.transaction()
  await made.query('set local session_replication_role = replica', [])
  const [row] = await query('select (now() - $1::interval - $2::interval)::text as at', [
    keep,
    more,
  ])
  const at = `'${row?.at}'::timestamptz`
  const named = insert.replaceAll('$1', at).replaceAll('$2', `'${randomUUID()}'`)
  await made.query(`insert into watchpost.${table} ${named}`, [])
  await made.commit()
}

const purge = () => query('select private.purge()')
async function countOf({ table }: Limit): Promise<unknown> {
  const [row] = await query(`select count(*)::integer from watchpost.${table}`)
  return row?.count
}
const title = ({ table, what = '' }: Limit) => `${table} ${what}`.trim()

test.each(LIMITS.map((limit) => [title(limit), limit.keep, limit] as const))(
  '%s go after %s, not a minute sooner',
  async (_title, _keep, limit) => {
    await age(limit, '-1 minute')
    await purge()
    expect(await countOf(limit)).toBe(1)
    await age(limit, '1 minute')
    expect(await countOf(limit)).toBe(2)
    await purge()
    expect(await countOf(limit)).toBe(1)
    const left = await query(
      `select ${limit.insert.includes('expires_at') ? 'expires_at > now()' : 'true'} as is_young from watchpost.${limit.table}`,
    )
    expect(left).toEqual([{ is_young: true }])
  },
)

test('what has just reached its limit stays: only what is older goes', async () => {
  const made = await service.transaction()
  await made.query('set local session_replication_role = replica', [])
  for (const { keep, insert, table } of LIMITS) {
    const named = insert
      .replaceAll('$1', `(now() - '${keep}'::interval)`)
      .replaceAll('$2', `'${randomUUID()}'`)
    await made.query(`insert into watchpost.${table} ${named}`, [])
  }
  // In one transaction it is the same moment for all of them.
  await made.query('select private.purge()', [])
  for (const table of TABLES) {
    const left = await made.query(`select from watchpost.${table}`, [])
    const inserted = LIMITS.filter((limit) => limit.table === table)
    expect(left, table).toMatchObject({ rowCount: inserted.length })
  }
  await made.commit()
})

test.each(KEPT.map((limit) => [title(limit), limit] as const))('%s stay', async (_, limit) => {
  await age(limit, '1 day')
  await purge()
  expect(await countOf(limit)).toBe(1)
})

describe('how long is what the table retention says', () => {
  const things = LIMITS.filter(({ thing }) => thing)
  test.each(things.map((limit) => [title(limit), limit.thing, limit] as const))(
    'for %s in its row %s',
    async (_, thing, limit) => {
      // A delivery counts its attempts for 48 hours, however short they are to be kept.
      const keep = thing === 'delivery_attempts' ? '50 hours' : '5 hours'
      const [before] = await query('select keep::text from watchpost.retention where thing = $1', [
        thing,
      ])
      expect(before?.keep).toBe(
        limit.keep.replace('24 hours', '1 day').replace('48 hours', '48:00:00'),
      )
      const set = 'update watchpost.retention set keep = $2::interval where thing = $1'
      await query(set, [thing, keep])
      try {
        await age({ ...limit, keep }, '-1 hour')
        await age({ ...limit, keep }, '1 hour')
        await purge()
        expect(await countOf(limit)).toBe(1)
      } finally {
        await query(set, [thing, limit.keep])
      }
    },
  )
})

test('of each kind no more than asked go at once, and how many went is said', async () => {
  const kinds = LIMITS.filter(({ table }) => table === 'alerts' || table === 'audit')
  for (const limit of kinds) for (let n = 0; n < 5; n += 1) await age(limit, '1 day')
  const gone: unknown[] = []
  for (let round = 0; round < 4; round += 1) {
    gone.push((await query('select private.purge(2) as gone'))[0]?.gone)
  }
  expect(gone).toEqual([4, 4, 2, 0])
})

test.each([
  ['4 minutes', 'sending', null],
  ['6 minutes', 'failed', 'The test was interrupted.'],
])(
  'a test of a channel that was begun %s ago and never ended is %s',
  async (since, status, error) => {
    const made = await service.transaction()
    await made.query('set local session_replication_role = replica', [])
    await made.query(
      `insert into watchpost.deliveries (channel_id, type, status, updated_at)
    select gen_random_uuid(), type, 'sending', now() - $1::interval
    from unnest(array['channel.test', 'alert.raised']) as t (type)`,
      [since],
    )
    await made.commit()
    await purge()
    const rows = await query(
      'select type, status, last_error from watchpost.deliveries order by 1 desc',
    )
    expect(rows).toEqual([
      { type: 'channel.test', status, last_error: error },
      { type: 'alert.raised', status: 'sending', last_error: null },
    ])
  },
)

describe('positions', () => {
  const partitions = async () =>
    (
      await query(
        `select (to_date(right(c.relname, 8), 'YYYYMMDD') - (now() at time zone 'UTC')::date)::integer as day
        from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'watchpost.positions'::regclass and c.relname <> 'positions_default' order by 1`,
      )
    ).map(({ day }) => day)

  test('have a partition for yesterday, today and three days ahead, which the job makes', async () => {
    for (const day of await partitions()) await drop(Number(day))
    await jobs.drain()
    expect(await partitions()).toEqual([-1, 0, 1, 2, 3])
    const [open] = await query(
      `select count(*)::integer from pg_class
      where relname ~ '^positions_' and relkind = 'r' and not (relrowsecurity and relforcerowsecurity)`,
    )
    expect(open).toEqual({ count: 0 })
  })

  test('that came before their day had a partition keep nothing else from going', async () => {
    for (const day of await partitions()) await drop(Number(day))
    const today = LIMITS.find(({ table }) => table === 'positions_default')
    const alert = LIMITS.find(({ table }) => table === 'alerts')
    if (!today || !alert) throw new Error('the table of limits has both')
    await age({ ...today, keep: '0 seconds' }, '0 seconds')
    await age(alert, '1 day')
    await query(`select private.enqueue('purge', gen_random_uuid(), '{}', p_singleton => 'again')`)
    await jobs.drain()
    expect(await partitions()).toEqual([-1, 1, 2, 3])
    expect([await countOf(today), await countOf(alert)]).toEqual([1, 0])
  })

  test('of a day go with its partition, once all of it is older than 48 hours', async () => {
    for (const day of await partitions()) await drop(Number(day))
    await query('select private.ensure_partitions(0)')
    for (const day of [-2, -3, -4, -30]) await create(day)
    await purge()
    expect(await partitions()).toEqual([-3, -2, -1, 0])
  })

  async function nameOf(day: number): Promise<[string, string, string]> {
    const [row] = await query(
      `select to_char(d, 'YYYYMMDD') as name, d::text as from, (d + 1)::text as to
      from (select (now() at time zone 'UTC')::date + $1::integer as d) x`,
      [day],
    )
    return [`watchpost.positions_${row?.name}`, `${row?.from} 00:00+00`, `${row?.to} 00:00+00`]
  }
  async function create(day: number) {
    const [name, from, to] = await nameOf(day)
    await query(
      `create table ${name} partition of watchpost.positions for values from ('${from}') to ('${to}');
      alter table ${name} owner to watchpost_owner`,
    )
  }
  async function drop(day: number) {
    const [name] = await nameOf(day)
    await query(`drop table ${name}`)
  }
})
