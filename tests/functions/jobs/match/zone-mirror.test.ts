import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createPool, type Database, inTransaction } from '../../../../functions/db.ts'
import { createZoneMirror, type ZoneMirror } from '../../../../functions/jobs/zone-mirror.ts'
import type { Sql } from '../../../../shared/sql.ts'
import { quake } from '../../../support/jobs.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

let service: Service
let person: Person
let db: Database
let mirror: ZoneMirror
beforeAll(async () => {
  service = await createService()
  person = await service.person()
  db = createPool({ url: service.database.jobsUrl, max: 4 })
})
beforeEach(async () => {
  await query('truncate watchpost.zones cascade')
  mirror = createZoneMirror(db)
})
afterAll(async () => {
  await db?.end()
  await service?.close()
})

const query = (text: string, values: unknown[] = []) => service.database.query(text, values)
const ask = (method: string, path: string, body?: object) =>
  service.request(method, `/api/v1${path}`, { key: person.key, body })
const Made = z.object({ zone: z.object({ id: z.uuid() }) })
const PLACE = { lat: 41, lon: 29, radius_km: 50 }

async function makeZone(fields: object = {}): Promise<string> {
  const made = await ask('POST', '/zones', { label: 'Zone', ...PLACE, ...fields })
  return parsed(made, 201, Made).zone.id
}
const near = async (sql: Sql, place: object = {}, followed = mirror) =>
  (await followed.follow(sql))?.near({ ...quake(), ...PLACE, severity: 100, ...place }).sort()
const found = (place?: object, followed?: ZoneMirror) =>
  inTransaction(db, (sql) => near(sql, place, followed))

test('zones are found as they are: made, moved, deleted, restored, and gone with their account', async () => {
  expect(await found()).toEqual([])
  const id = await makeZone()
  expect(await found()).toEqual([id])
  await ask('PATCH', `/zones/${id}`, { lat: 10 })
  expect(await found()).toEqual([])
  expect(await found({ lat: 10 })).toEqual([id])
  await ask('DELETE', `/zones/${id}`)
  expect(await found({ lat: 10 })).toEqual([])
  await query('update watchpost.zones set deleted_at = null where id = $1', [id])
  expect(await found({ lat: 10 })).toEqual([id])
  await query('delete from watchpost.zones where id = $1', [id])
  expect(await found({ lat: 10 })).toEqual([])
})

test('what was begun before others and committed after them is not missed', async () => {
  const first = await makeZone()
  expect(await found()).toEqual([first])
  const late = await service.transaction()
  await late.query('update watchpost.zones set min_severity = 70 where id = $1', [first])
  const second = await makeZone()
  expect(await found({ severity: 60 })).toEqual([first, second].sort())
  await late.commit()
  expect(await found({ severity: 60 })).toEqual([second])
})

/** A transaction that asks now and is answered only when it is let go. */
async function askSlowly() {
  let answer = () => {}
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  let tell = () => {}
  const isTold = new Promise<void>((resolve) => {
    tell = resolve
  })
  const asked = inTransaction(db, (sql) => {
    const waiting = (async (...given: Parameters<Sql>) => {
      const rows = await sql(...given)
      tell()
      await held
      return rows
    }) as Sql // safe: it answers what `sql` does
    return near(waiting)
  })
  await isTold
  return {
    letGo: () => {
      answer()
      return asked
    },
  }
}

test('a transaction that is answered late does not undo what a later one was told', async () => {
  const id = await makeZone()
  expect(await found()).toEqual([id])
  await ask('PATCH', `/zones/${id}`, { label: 'Changed' })
  // Its statement has been answered with the zone, as it was before it was deleted.
  const slow = await askSlowly()
  await ask('DELETE', `/zones/${id}`)
  expect(await found()).toEqual([])
  expect(await slow.letGo()).toEqual([])
  expect(await found()).toEqual([])
})

test('nor does one for which a change was still under way, of several that ended in another order', async () => {
  const id = await makeZone()
  expect(await found()).toEqual([id])
  await ask('PATCH', `/zones/${id}`, { label: 'Changed' })
  const late = await service.transaction()
  await late.query('update watchpost.zones set deleted_at = now() where id = $1', [id])
  await makeZone({ lat: -10 })
  const slow = await askSlowly()
  await late.commit()
  expect(await found()).toEqual([])
  expect(await slow.letGo()).toEqual([])
})

test('all zones removed at once are noticed', async () => {
  await makeZone()
  await found()
  await query('truncate watchpost.zones cascade')
  const id = await makeZone({ lat: 5 })
  // The first to notice asks the database, the next one reads all zones anew.
  expect(await found({ lat: 5 })).toBeUndefined()
  expect(await found({ lat: 5 })).toEqual([id])
})

test('more zones than a page are read beside the matching, with what changes meanwhile', async () => {
  const ids: string[] = []
  for (let nr = 0; nr < 5; nr += 1) ids.push(await makeZone())
  const lines: object[] = []
  const paged = createZoneMirror(db, { page: 2, log: (line) => void lines.push(line) })
  expect(await found({}, paged)).toBeUndefined()
  expect(lines).toEqual([])
  const [gone = ''] = ids.sort()
  await ask('DELETE', `/zones/${gone}`)
  await vi.waitFor(async () => expect(await found({}, paged)).toEqual(ids.slice(1)), 20_000)
  expect(lines).toEqual([
    // Whether the zone that went was read before it did.
    { msg: 'zones in memory', zones: expect.toBeOneOf([4, 5]), duration_ms: expect.any(Number) },
  ])
})

test('where there are too many zones the database is asked', async () => {
  for (let nr = 0; nr < 4; nr += 1) await makeZone()
  const lines: object[] = []
  const log = (line: object) => void lines.push(line)
  const small = createZoneMirror(db, { page: 1, max_zones: 2, log })
  for (let nr = 0; nr < 5; nr += 1) expect(await found({}, small)).toBeUndefined()
  await vi.waitFor(
    () => expect(lines).toEqual([{ msg: 'zones not in memory', reason: 'There are more than 2.' }]),
    20_000,
  )
})

/** Answers of the log with another time or snapshot. */
const answering = (sql: Sql, told: { at?: string; snapshot?: string }) =>
  (async (...given: Parameters<Sql>) => {
    const rows = await sql<{ at?: string }>(...given)
    return rows.map((row) => ('at' in row ? { ...row, ...told } : row))
  }) as Sql // safe: it answers what `sql` does, but for what is told

test('where another server answers that has not come as far, all is read anew', async () => {
  const id = await makeZone()
  expect(await found()).toEqual([id])
  // As after a restore: what was known of the zone, and the log, are of another history.
  await query('update watchpost.zones set lat = 10, boxes = $2 where id = $1', [
    id,
    '{(30,11),(28,9)}',
  ])
  await query('delete from watchpost.zone_changes')
  expect(
    await inTransaction(db, (sql) => near(answering(sql, { snapshot: '3:3:' }))),
  ).toBeUndefined()
  expect(await found()).toEqual([])
  expect(await found({ lat: 10 })).toEqual([id])
})

test('who has not asked for longer than the log is kept reads all anew', async () => {
  const id = await makeZone()
  expect(await found()).toEqual([id])
  await query('update watchpost.zones set lat = 10, boxes = $2 where id = $1', [
    id,
    '{(30,11),(28,9)}',
  ])
  await query('delete from watchpost.zone_changes')
  expect(
    await inTransaction(db, (sql) => near(answering(sql, { at: '2100-01-01T00:00:00.000Z' }))),
  ).toBeUndefined()
  expect(await found()).toEqual([])
  expect(await found({ lat: 10 })).toEqual([id])
})
