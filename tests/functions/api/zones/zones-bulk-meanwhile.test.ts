import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { ZoneBulkAnswer } from '../../../../shared/schemas/zone-bulk.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

const site = { external_id: 'site', label: 'Site', lat: 41, lon: 29 }

/** Sends a list of one zone, lets `other` write what the list has to wait for, and answers what became of the zone. */
async function sendWhile(
  { key }: Person,
  zone: object,
  other: Awaited<ReturnType<Service['transaction']>>,
) {
  const body = { zones: [zone] }
  const sent = service.request('POST', '/api/v1/zones/bulk', { key, body })
  await expect
    .poll(
      () =>
        service.database.query(
          `select from pg_locks l join pg_stat_activity a on a.pid = l.pid
          where not l.granted and a.datname = current_database()`,
        ),
      { timeout: 20_000 },
    )
    .toHaveLength(1)
  await other.commit()
  const { results } = parsed(await sent, 200, ZoneBulkAnswer)
  return results[0]
}

test('a zone that somebody makes meanwhile is left alone, and the row is refused', async () => {
  const me = await service.person()
  const other = await service.transaction()
  await other.query('select private.lock_zones($1)', [me.user_id])
  await other.query(
    `insert into watchpost.zones (owner_id, external_id, label, lat, lon, boxes)
    values ($1, 'site', 'Theirs', 1, 2, array[box '(3,2),(1,0)'])`,
    [me.user_id],
  )
  expect(await sendWhile(me, site, other)).toEqual({
    ...{ row: 1, external_id: 'site', status: 'rejected', id: null },
    error: {
      code: 'conflict',
      detail: 'A zone with this external_id was made meanwhile. Send this row again.',
      fields: [],
    },
  })
})

test('a zone that somebody changes meanwhile stays as they left it', async () => {
  const me = await service.person()
  const made = await service.request('POST', '/api/v1/zones', { key: me.key, body: site })
  const { id } = parsed(made, 201, z.object({ zone: z.object({ id: z.uuid() }) })).zone
  const other = await service.transaction()
  await other.query(`update watchpost.zones set label = 'Theirs' where id = $1`, [id])
  expect(await sendWhile(me, { ...site, label: 'Mine' }, other)).toEqual({
    ...{ row: 1, external_id: 'site', status: 'rejected', id },
    error: {
      code: 'conflict',
      detail: 'The zone was changed in the meantime. Send this row again.',
      fields: [],
    },
  })
  const labels = await service.database.query('select label from watchpost.zones where id = $1', [
    id,
  ])
  expect(labels).toEqual([{ label: 'Theirs' }])
})

test('room that somebody else takes meanwhile is no longer there', async () => {
  const me = await service.person()
  const other = await service.transaction()
  await other.query('select private.lock_zones($1)', [me.user_id])
  await other.query('set local session_replication_role = replica', [])
  await other.query(
    `insert into watchpost.zones (owner_id, label, lat, lon, boxes)
    select $1, 'A zone', 1, 2, array[box '(3,2),(1,0)'] from generate_series(1, 1000)`,
    [me.user_id],
  )
  expect(await sendWhile(me, site, other)).toMatchObject({
    ...{ row: 1, external_id: 'site', status: 'rejected', id: null },
    error: { code: 'limit_reached', detail: expect.stringContaining('1000 zones') },
  })
})
