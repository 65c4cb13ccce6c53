import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../../functions/db.ts'
import { createWorkshop, quake, type Workshop } from '../../jobs.ts'
import { createService, type Service } from '../../service.ts'

let service: Service
let jobs: Workshop

beforeAll(async () => {
  service = await createService()
  jobs = await createWorkshop(service)
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

const retain = () => inTransaction(jobs.db, (sql) => sql`select private.retain()`)
const revisionOf = async (id: string) =>
  (await service.database.query('select revision from watchpost.events where id = $1', [id]))[0]

test('an old event that a feed tells now is kept for its time from now on', async () => {
  const event = quake({ ts: '2020-01-01T00:00:00.000Z' })
  await jobs.ingest(event)
  await retain()
  expect(await revisionOf(event.id)).toEqual({ revision: 1 })
})

test('an event that was deleted for its age and is told again goes on with its next revision', async () => {
  const event = quake({ ts: '2020-01-01T00:00:00.000Z' })
  await jobs.ingest(event)
  await service.database.query(
    `update watchpost.events set updated_at = now() - interval '91 days' where id = $1`,
    [event.id],
  )
  await retain()
  expect(await revisionOf(event.id)).toBeUndefined()
  await jobs.ingest(event)
  expect(await revisionOf(event.id)).toEqual({ revision: 2 })
})
