import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Database } from '../../../functions/db.ts'
import { QUEUES } from '../../../functions/jobs.ts'
import { createTestJobs, quake, registerSource, type TestJobs } from '../../support/jobs.ts'
import {
  createService,
  type Person,
  parsed,
  type Service,
  sendResult,
} from '../../support/service.ts'

// Two workers at once: a table is held so that both stand at the same place before either goes on.
let service: Service
let jobs: TestJobs

beforeAll(async () => {
  service = await createService()
  jobs = await createTestJobs(service)
  await registerSource(service, 'other')
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

const query = (statement: string, values: unknown[] = []) =>
  service.database.query<Record<string, unknown>>(statement, values)

const Id = z.object({ id: z.uuid() })

async function make(person: Person, path: string, body: object): Promise<string> {
  const made = await service.request('POST', `/api/v1/${path}`, { key: person.key, body })
  const Made = z.union([z.object({ zone: Id }), z.object({ channel: Id })])
  return Object.values(parsed(made, 201, Made)).map(({ id }) => id)[0] ?? ''
}

const webhook = (person: Person) =>
  make(person, 'channels', { kind: 'webhook', target: 'https://hooks.example.com/in' })

/** Resolves when so many sessions of this database wait for a lock. */
async function waiting(count: number): Promise<void> {
  for (;;) {
    const [row] = await query(
      `select count(distinct l.pid)::integer as waiting
      from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where not l.granted and a.datname = current_database()`,
    )
    if (row?.waiting === count) return
  }
}

/** Runs what is due while nobody can write a table, until two workers stand before it. */
async function bothAt(table: string): Promise<void> {
  const holder = await service.transaction()
  await holder.query(`lock table ${table} in share mode`, [])
  const running = jobs.drain()
  await waiting(2)
  await holder.commit()
  await running
}

test('every queue of the database is run, and every queue that is run is there', async () => {
  const queues = await query(`select name from pgboss.queue where name <> 'dead' order by name`)
  expect(queues).toEqual(
    QUEUES.map(({ name }) => ({ name })).sort((a, b) => (a.name < b.name ? -1 : 1)),
  )
})

test('of two workers each batch of a source is matched by one', async () => {
  const person = await service.person()
  await make(person, 'zones', { label: 'A place', lat: 10, lon: 10 })
  await jobs.drain()
  await jobs.ingest(quake({ lat: 10, lon: 10 }))
  await jobs.ingest(quake({ lat: 10, lon: 10 }))
  const from = jobs.lines.length
  await bothAt('watchpost.match_memory')
  const matched = jobs.lines.slice(from).filter((line) => line.queue === 'match')
  expect(matched).toHaveLength(2)
  expect(matched.reduce((sum, { batches }) => sum + Number(batches), 0)).toBe(2)
})

test('events that came one by one are matched together, up to the next state of one of them', async () => {
  const first = quake({ lat: 11, lon: 10 })
  const next = async () => {
    const [row] = await query(`select cardinality(private.next_batches('test')) as count`)
    return row?.count
  }
  expect(await next()).toBe(0)
  await jobs.ingest(first)
  expect(await next()).toBe(1)
  await jobs.ingest(quake({ lat: 11, lon: 10 }))
  await jobs.ingest({ ...first, severity: 70 })
  await jobs.ingest(quake({ lat: 11, lon: 10 }))
  expect(await next()).toBe(2)
  const many = Array.from({ length: 499 }, () => quake({ lat: -50, lon: 10 }))
  await query(`update watchpost.batches set matched_at = now() where matched_at is null`)
  await query(`delete from pgboss.job where name = 'match'`)
  await jobs.ingest(...many)
  await jobs.ingest(quake({ lat: 11, lon: 10 }))
  expect(await next()).toBe(2)
  await jobs.ingest(quake({ lat: 11, lon: 10 }))
  expect(await next()).toBe(2)
  const from = jobs.lines.length
  await jobs.drain()
  const matched = jobs.lines.slice(from).filter((line) => line.queue === 'match')
  expect(matched.reduce((sum, { batches }) => sum + Number(batches), 0)).toBe(3)
  // The job of a batch that another job has matched is not left to run.
  expect(matched.length).toBeLessThan(3)
  await query(`update watchpost.batches set matched_at = now() where matched_at is null`)
  // One that is too large to share is matched by itself, not never.
  await jobs.ingest(...Array.from({ length: 501 }, () => quake({ lat: -50, lon: 10 })))
  expect(await next()).toBe(1)
  await query(`update watchpost.batches set matched_at = now() where matched_at is null`)
})

test('of two workers that match a zone’s change and an event, one goes first', async () => {
  const person = await service.person()
  await make(person, 'zones', { label: 'A place', lat: 12, lon: 10 })
  await jobs.drain()
  await jobs.ingest(quake({ lat: 12, lon: 10 }))
  // A standing event, so that the new zone has something to remember.
  await jobs.ingest(
    quake({ lat: 12, lon: 10, ends_at: new Date(Date.now() + 3_600_000).toISOString() }),
  )
  await jobs.drain()
  await make(person, 'zones', { label: 'Another', lat: 12, lon: 10 })
  await jobs.ingest(quake({ lat: 12, lon: 10 }))
  const holder = await service.transaction()
  await holder.query('lock table watchpost.match_memory in share mode', [])
  const running = jobs.drain()
  await waiting(2)
  const kinds = await query(
    `select distinct l.locktype from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where not l.granted and a.datname = current_database() order by 1`,
  )
  await holder.commit()
  await running
  expect(kinds).toEqual([{ locktype: 'advisory' }, { locktype: 'relation' }])
})

test('a vessel that two sources tell of raises one alert a stay', async () => {
  const person = await service.person()
  const fields = { label: 'Port', lat: 20, lon: 10, types: ['vessel'], min_severity: 40 }
  const zone = await make(person, 'zones', fields)
  await jobs.drain()
  const seen = (source: string, minute: number, severity: number) =>
    quake({
      id: `${source}:vessel-${minute}`,
      source,
      type: 'vessel',
      subject: 'mmsi:230000077',
      lat: 20,
      lon: 10,
      severity,
      ts: new Date(Date.now() + minute * 60_000).toISOString(),
    })
  // It has come in, below the threshold: the stay is remembered, nothing was told.
  await jobs.ingest(seen('test', -30, 0))
  await jobs.drain()
  await jobs.ingest(seen('test', -20, 50))
  await jobs.ingest(seen('other', -10, 50))
  await bothAt('watchpost.match_memory')
  const alerts = await query('select event_id from watchpost.alerts where zone_id = $1', [zone])
  expect(alerts).toHaveLength(1)
})

test('two workers that release what quiet hours held send one digest', async () => {
  const person = await service.person()
  await webhook(person)
  const clock = (minutes: number) =>
    new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
  const quiet = { quiet_hours_start: clock(-60), quiet_hours_end: clock(60) }
  const zone = await make(person, 'zones', { label: 'Asleep', lat: 30, lon: 10, ...quiet })
  await jobs.ingest(quake({ lat: 30, lon: 10 }), quake({ lat: 30, lon: 10 }))
  await jobs.drain()
  await query(`update watchpost.alerts set held_until = now() where zone_id = $1`, [zone])
  await query(`delete from pgboss.job where name = 'release'`)
  for (let worker = 0; worker < 2; worker += 1) {
    await query(
      `select private.enqueue('release', gen_random_uuid(), jsonb_build_object('zone_id', $1::text))`,
      [zone],
    )
  }
  service.receiver.requests.length = 0
  await bothAt('watchpost.deliveries')
  const sent = service.receiver.requests.map(({ body }) => JSON.parse(body).type)
  expect(sent).toEqual(['alert.digest'])
})

test('a zone that is being snoozed when its held alerts are due wakes nobody', async () => {
  const person = await service.person()
  await webhook(person)
  const clock = (minutes: number) =>
    new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
  const quiet = { quiet_hours_start: clock(-60), quiet_hours_end: clock(60) }
  const zone = await make(person, 'zones', { label: 'Asleep', lat: 35, lon: 10, ...quiet })
  await jobs.ingest(quake({ lat: 35, lon: 10 }))
  await jobs.drain()
  await query(`update watchpost.alerts set held_until = now() where zone_id = $1`, [zone])
  await query(`delete from pgboss.job where name = 'release'`)
  service.receiver.requests.length = 0
  const owner = await service.transaction()
  await owner.query(
    `update watchpost.zones set snoozed_until = now() + interval '1 hour' where id = $1`,
    [zone],
  )
  await query(
    `select private.enqueue('release', gen_random_uuid(), jsonb_build_object('zone_id', $1::text))`,
    [zone],
  )
  const running = jobs.drain()
  await waiting(1)
  await owner.commit()
  await running
  expect(service.receiver.requests).toEqual([])
  expect(await query('select status from watchpost.alerts where zone_id = $1', [zone])).toEqual([
    { status: 'suppressed' },
  ])
})

test('a call whose budget is over before the first job says whether jobs are left', async () => {
  await jobs.drain()
  expect(await jobs.runner.drain({ budget_ms: 0 })).toEqual({ ran: 0, left: false })
  await jobs.ingest(quake({ lat: 35, lon: 10 }))
  expect(await jobs.runner.drain({ budget_ms: 0 })).toEqual({ ran: 0, left: true })
  expect(await jobs.runner.drain({ budget_ms: 60_000 })).toEqual({ ran: 1, left: false })
})

test('a job that becomes due between two looks at the queue is run', async () => {
  const person = await service.person()
  await make(person, 'zones', {
    label: 'Near',
    lat: 36,
    lon: 10,
    channel_ids: [await webhook(person)],
  })
  const event = quake({ lat: 36, lon: 10 })
  await jobs.ingest(event)
  await jobs.drain()
  // As one that found its host crowded: it was taken up, and its job comes in a moment.
  const crowded = `with d as (
      update watchpost.deliveries d set status = 'sending' from watchpost.alerts a
      where a.id = d.alert_id and a.event_id = $1 returning d.id)
    select private.enqueue('deliver', $2, jsonb_build_object('delivery_id', id), now() + interval '1 second') from d`
  const job = randomUUID()
  let isMoved = false
  const db: Database = {
    ...jobs.db,
    connect: async () => {
      const connection = await jobs.db.connect()
      return {
        ...connection,
        query: async (text, values) => {
          const result = await connection.query(text, values)
          const isLook = text.includes('start_after <= clock.at')
          if (isLook && String(result.rows[0]?.due) === '' && !isMoved) {
            isMoved = true
            await query('update pgboss.job set start_after = clock_timestamp() where id = $1', [
              job,
            ])
          }
          return result
        },
      }
    },
  }
  const other = await createTestJobs(service, { db })
  await query(crowded, [event.id, job])
  const drained = await other.runner.drain({ budget_ms: 60_000 })
  expect(other.lines).toContainEqual(expect.objectContaining({ job_id: job, outcome: 'done' }))
  expect(drained.left).toBe(false)
  expect(isMoved).toBe(true)
})

test('a call that finds a channel taken by another process says that something is left', async () => {
  const person = await service.person()
  const channel = await webhook(person)
  await make(person, 'zones', { label: 'Taken', lat: 37, lon: 10, channel_ids: [channel] })
  await jobs.ingest(quake({ lat: 37, lon: 10 }))
  await jobs.ingest(quake({ lat: 37, lon: 10 }))
  const arrived = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  service.receiver.answer = async () => {
    arrived.resolve()
    await gate.promise
    return sendResult(200, 'ok')
  }
  const first = jobs.drain()
  await arrived.promise
  const other = await createTestJobs(service)
  expect(await other.runner.drain({ budget_ms: 60_000 })).toMatchObject({ left: true })
  gate.resolve()
  await first
  expect(await other.runner.drain({ budget_ms: 60_000 })).toEqual({ ran: 0, left: false })
  await other.close()
})

test('a job for a queue that does not exist is an error, and one that exists already is not', async () => {
  const enqueue = (queue: string, id: string) =>
    query('select private.enqueue($1, $2, $3)', [queue, id, '{}'])
  const id = randomUUID()
  await expect(enqueue('mach', id)).rejects.toThrow('there is no queue "mach"')
  await enqueue('match', id)
  await enqueue('match', id)
  expect(await query('select name from pgboss.job where id = $1', [id])).toEqual([
    { name: 'match' },
  ])
  await jobs.drain()
})

test('a match_zone job that comes late decides nothing older than what the alert spoke of', async () => {
  const person = await service.person()
  await webhook(person)
  const zone = await make(person, 'zones', { label: 'Late', lat: 45, lon: 10 })
  const late = `name = 'match_zone' and data ->> 'zone_id' = $1`
  const delayed = await query(
    `update pgboss.job set start_after = now() + interval '1 hour' where ${late} returning id`,
    [zone],
  )
  expect(delayed).toHaveLength(1)
  const first = quake({ lat: 45, lon: 10, severity: 60 })
  for (const revision of [first, { ...first, severity: 62, title: 'M 5.1' }]) {
    await jobs.ingest(revision)
    await jobs.drain()
  }
  await query(`update pgboss.job set start_after = now() where ${late}`, [zone])
  await jobs.drain()
  const alerts = await query(
    `select a.severity, a.event_revision,
      (select coalesce(jsonb_agg(u -> 'kind'), '[]') from jsonb_array_elements(a.updates) u) as kinds
    from watchpost.alerts a where a.zone_id = $1`,
    [zone],
  )
  expect(alerts).toEqual([{ severity: 62, event_revision: 2, kinds: ['revised'] }])
})

test('a delivery that is being cancelled when a worker takes it up is not sent', async () => {
  const person = await service.person()
  await webhook(person)
  await make(person, 'zones', { label: 'Going', lat: 40, lon: 10 })
  await jobs.drain()
  await jobs.ingest(quake({ lat: 40, lon: 10 }))
  const id = await deliveryOf(person)
  await query(`delete from pgboss.job where name = 'deliver'`)
  const canceller = await service.transaction()
  await canceller.query(`update watchpost.deliveries set status = 'cancelled' where id = $1`, [id])
  await query(
    `select private.enqueue('deliver', gen_random_uuid(), jsonb_build_object('delivery_id', $1::text))`,
    [id],
  )
  const running = jobs.drain()
  await waiting(1)
  await canceller.commit()
  await running
  expect(service.receiver.requests).toEqual([])
  expect(await query('select status from watchpost.deliveries where id = $1', [id])).toEqual([
    { status: 'cancelled' },
  ])
})

/** The one delivery of a person's one alert, made and not yet sent. */
async function deliveryOf({ user_id }: Person): Promise<string> {
  const busy = service.receiver.answer
  service.receiver.answer = () => ({
    ok: true,
    status: 503,
    headers: new Headers(),
    body: '',
    duration_ms: 1,
  })
  await jobs.drain()
  service.receiver.answer = busy
  service.receiver.requests.length = 0
  const [row] = await query(
    `select d.id from watchpost.deliveries d join watchpost.alerts a on a.id = d.alert_id
    where a.owner_id = $1`,
    [user_id],
  )
  return z.uuid().parse(row?.id)
}
