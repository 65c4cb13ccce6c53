import { describe, expect, test } from 'vitest'
import {
  alertsOf,
  draw,
  idsOf,
  ingest,
  jobs,
  service,
  setUp,
  types,
  useService,
} from './linked-scene.ts'

// Several workers at once, and a job that comes late: a link is made once all the same.
useService()

test('of two workers at once one raises the alert, the other adds to it', async () => {
  const { person, report } = await setUp()
  await jobs.ingest(report('usgs'))
  await jobs.ingest(report('emsc'))
  const holder = await service.transaction()
  await holder.query('lock table watchpost.match_memory in share mode', [])
  const running = jobs.drain()
  for (;;) {
    const [row] = await service.database.query<{ waiting: number }>(
      `select count(distinct l.pid)::integer as waiting
      from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where not l.granted and a.datname = current_database()`,
    )
    if (row?.waiting === 2) break
  }
  await holder.commit()
  await running
  const alerts = await alertsOf(person)
  expect(alerts).toHaveLength(1)
  expect(alerts.flatMap(idsOf)).toHaveLength(2)
  expect(types()).toEqual(['alert.raised'])
})

describe('while another worker links events', () => {
  /** Whether work is done while every link is held, or waits for one. */
  async function whileHeld(): Promise<'done' | 'waits'> {
    const holder = await service.transaction()
    await holder.query(
      `select pg_advisory_xact_lock(hashtextextended('link:' || rule, 0))
      from unnest(array['earthquake', 'storm', 'wildfire', 'tsunami']) as rules (rule)`,
      [],
    )
    let isDone = false
    const running = jobs.drain().then(() => {
      isDone = true
      return 'done' as const
    })
    const waiting = async () => {
      for (let isWaiting = false; !isWaiting && !isDone; ) {
        const rows = await service.database.query(
          `select from pg_locks l join pg_stat_activity a on a.pid = l.pid
          where not l.granted and l.locktype = 'advisory' and a.datname = current_database()`,
        )
        isWaiting = rows.length > 0
      }
      return 'waits' as const
    }
    const first = await Promise.race([running, waiting()])
    await holder.commit()
    await running
    return first
  }

  test('earthquakes wait, and so does a change of a zone; positions and other events do not', async () => {
    const { person, here, report } = await setUp()
    await jobs.ingest(report('usgs'))
    expect(await whileHeld()).toBe('waits')
    await draw(person, { ...here, label: 'Changed' })
    expect(await whileHeld()).toBe('waits')
    await jobs.ingest(report('test', { type: 'vessel', subject: 'mmsi:230000001' }))
    expect(await whileHeld()).toBe('done')
    await jobs.ingest(report('gdacs', { id: 'gdacs:FL1', type: 'flood' }))
    expect(await whileHeld()).toBe('done')
  })
})

test('a match_zone job that comes late tells nothing older of a linked event', async () => {
  const { person, here, report } = await setUp()
  const { query } = service.database
  const zone = await draw(person, { ...here, label: 'Late' })
  const late = `name = 'match_zone' and data ->> 'zone_id' = $1`
  await query(`update pgboss.job set start_after = now() + interval '1 hour' where ${late}`, [zone])
  const emsc = report('emsc')
  await ingest(report('usgs'))
  await ingest(emsc)
  await ingest({ ...emsc, title: 'M 5.1', revised_at: new Date().toISOString() })
  const updates = async () => {
    const [alert] = await alertsOf(person, `zone_id=${zone}`)
    return alert?.updates.map(({ kind }) => kind)
  }
  expect(await updates()).toEqual(['linked', 'revised'])
  await query(`update pgboss.job set start_after = now() where ${late}`, [zone])
  await jobs.drain()
  expect(await updates()).toEqual(['linked', 'revised'])
})
