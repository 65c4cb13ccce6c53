import { describe, expect, test } from 'vitest'
import {
  add,
  addAll,
  alert,
  alertState,
  anotherAlert,
  channel,
  moved,
  one,
  run,
  stateOf,
  useDeliveries,
  zone,
} from './delivery-rows.ts'

useDeliveries()

const CANCELLED = ['queued', 'held', 'sending'].map((name) => `${name} → cancelled`)
const foreign = async (table: 'alerts' | 'channels') =>
  (
    await one(
      `select id from watchpost.${table} where ${table === 'alerts' ? 'zone_name' : 'label'} = 'foreign'`,
    )
  ).id as string
const endOf = async (table: 'zones' | 'channels', id: string) => {
  await run('set local session_replication_role = origin')
  await run(`update watchpost.${table} set deleted_at = now() where id = $1`, [id])
}
const setAlert = (status: string, id = alert) =>
  run('update watchpost.alerts set status = $2 where id = $1', [id, status])
const reasons = async () =>
  (
    await run(
      `select distinct last_error from watchpost.deliveries where status = 'cancelled' and last_error is not null`,
    )
  ).map(({ last_error }) => last_error)

describe('with a zone that is deleted', () => {
  test('everything is cancelled that is still to be sent of its alerts, and nothing of another', async () => {
    const ids = await addAll()
    const others = await addAll({ alert_id: await foreign('alerts') })
    await endOf('zones', zone)
    expect(await moved(ids)).toEqual(CANCELLED)
    expect(await moved(others)).toEqual([])
    expect(await reasons()).toEqual(['The zone was deleted.'])
  })

  test.each([
    ['pending', 'failed'],
    ['held', 'failed'],
    ['dispatched', 'dispatched'],
    ['suppressed', 'suppressed'],
    ['recorded', 'recorded'],
  ])('an alert that is %s becomes %s', async (before, after) => {
    const other = await foreign('alerts')
    await setAlert(before)
    await setAlert('pending', other)
    await endOf('zones', zone)
    expect([await alertState(), await alertState(other)]).toEqual([after, 'pending'])
  })
})

describe('with a channel that is deleted', () => {
  test('everything is cancelled that is still to be sent to it, and nothing to another', async () => {
    const ids = await addAll()
    const others = await addAll({ channel_id: await foreign('channels') })
    await endOf('channels', channel)
    expect(await moved(ids)).toEqual(CANCELLED)
    expect(await moved(others)).toEqual([])
    expect(await reasons()).toEqual(['The channel was deleted.'])
  })

  test.each([
    ['pending', 'queued', 'failed'],
    ['held', 'held', 'failed'],
    ['dispatched', 'queued', 'dispatched'],
    ['recorded', 'queued', 'recorded'],
    // What had been sent to it before was settled then.
    ['pending', 'succeeded', 'pending'],
  ])(
    'an alert that is %s, with a delivery to it that is %s, becomes %s',
    async (before, open, after) => {
      await setAlert(before)
      await add(open, { type: 'alert.raised', sequence: 0 })
      await endOf('channels', channel)
      expect(await alertState()).toBe(after)
    },
  )

  test.each([
    ...['queued', 'held', 'sending', 'succeeded'].map((status) => [status, 'pending']),
    ...['failed', 'expired', 'cancelled'].map((status) => [status, 'failed']),
  ])('an alert with a delivery to another channel that is %s is %s', async (status, after) => {
    const other = await foreign('channels')
    const id = await add(status, { channel_id: other })
    await add('queued')
    await endOf('channels', channel)
    expect(await alertState()).toBe(after)
    expect(await stateOf(id)).toBe(status)
  })
})

describe('with a channel that is deleted, where the owner has another one', () => {
  const second = async () =>
    (
      await one(
        `insert into watchpost.channels (owner_id, kind, label, target_sealed, target_masked)
        select owner_id, 'webhook', 'second', 'x', 'x' from watchpost.channels where id = $1 returning id`,
        [channel],
      )
    ).id as string
  const told = async (id = alert) =>
    (
      await run(
        `select c.label, d.type, d.status from watchpost.deliveries d
        join watchpost.channels c on c.id = d.channel_id
        where d.alert_id = $1 and d.channel_id <> $2 order by d.type`,
        [id, channel],
      )
    ).map(({ label, type, status }) => `${label} ${type} ${status}`)

  test.each([
    ['pending', 'queued'],
    ['held', 'held'],
  ])('an alert that is %s goes there, %s, whatever is of other alerts', async (state, status) => {
    const other = await anotherAlert()
    await add('queued', { alert_id: other, channel_id: await second() })
    await setAlert(state)
    await add('queued')
    await endOf('channels', channel)
    expect(await told()).toEqual([`second alert.raised ${status}`])
    expect(await told(other)).toEqual(['second alert.revised queued'])
    expect(await alertState()).toBe(state)
  })

  test.each(['dispatched', 'suppressed', 'recorded', 'failed'])(
    'an alert that is %s does not',
    async (state) => {
      await second()
      await setAlert(state)
      await add('queued')
      await endOf('channels', channel)
      expect(await told()).toEqual([])
    },
  )

  test.each(['queued', 'held', 'sending', 'succeeded'])(
    'an alert that is %s to another channel does not',
    async (status) => {
      const other = await second()
      await setAlert('pending')
      await add(status, { channel_id: other })
      await add('queued')
      await endOf('channels', channel)
      expect(await told()).toEqual([`second alert.revised ${status}`])
    },
  )

  test.each(['failed', 'expired', 'cancelled'])(
    'an alert that has %s on another channel goes there anew',
    async (status) => {
      const other = await second()
      await setAlert('pending')
      await add(status, { channel_id: other })
      await add('queued')
      await endOf('channels', channel)
      expect(await told()).toEqual(['second alert.raised queued', `second alert.revised ${status}`])
    },
  )

  test('an alert whose only other channel is a stranger’s does not wait for that one', async () => {
    await second()
    await setAlert('pending')
    await add('queued', { channel_id: await foreign('channels') })
    await add('queued')
    await endOf('channels', channel)
    expect(await told()).toEqual(['second alert.raised queued', 'foreign alert.revised queued'])
  })
})

test('what is deleted already is not cancelled for once more', async () => {
  await run('update watchpost.channels set deleted_at = now() where id = $1', [channel])
  const id = await add('queued')
  await run('set local session_replication_role = origin')
  await run('update watchpost.channels set deleted_at = now() where id = $1', [channel])
  await run('update watchpost.channels set deleted_at = null where id = $1', [channel])
  expect(await stateOf(id)).toBe('queued')
})

test('another confirmation takes the place of the one that waits, and of nothing else', async () => {
  const confirmation = { type: 'channel.confirmation', alert_id: null, sequence: 0 }
  const asked = await addAll(confirmation)
  const foreigners = await addAll({ ...confirmation, channel_id: await foreign('channels') })
  const others = await addAll()
  await run('select private.add_confirmation($1)', [channel])
  expect(await moved(asked)).toEqual(['queued → cancelled'])
  expect([await moved(others), await moved(foreigners)]).toEqual([[], []])
})

describe('what an operator discards', () => {
  const dead = async (delivery_id: string, more: { source?: string; name?: string } = {}) =>
    (
      await one(
        `insert into pgboss.job (name, data, source_name) values ($1, jsonb_build_object('delivery_id', $2::text), $3)
        returning id`,
        [more.name ?? 'dead', delivery_id, more.source ?? 'deliver'],
      )
    ).id as string
  const discard = async (...ids: string[]) =>
    (await one(`select private.discard_dead($1, 'old') as count`, [ids])).count
  const jobsLeft = async (...ids: string[]) =>
    (await run('select from pgboss.job where id = any($1)', [ids])).length

  test('is cancelled where it was still to be sent, and nothing that was not named', async () => {
    const ids = await addAll()
    const gone: string[] = []
    for (const id of Object.values(ids)) gone.push(await dead(id))
    const [other, kept] = [await add('queued'), await add('queued')]
    const waiting = [await dead(other), await dead(kept, { name: 'deliver' })]
    expect(await discard(...gone, waiting[1] ?? '')).toBe(7)
    expect(await moved(ids)).toEqual(CANCELLED)
    expect([await stateOf(other), await stateOf(kept)]).toEqual(['queued', 'queued'])
    expect([await jobsLeft(...gone), await jobsLeft(...waiting)]).toEqual([0, 2])
    expect(await reasons()).toEqual(['An operator discarded it: old'])
  })

  test.each([
    ['pending', 'no', 'failed'],
    ['held', 'no', 'failed'],
    ['dispatched', 'no', 'dispatched'],
    ['suppressed', 'no', 'suppressed'],
    ['recorded', 'no', 'recorded'],
    ['pending', 'queued', 'pending'],
    ['pending', 'held', 'pending'],
    ['pending', 'sending', 'pending'],
    ['pending', 'succeeded', 'pending'],
    ['pending', 'failed', 'failed'],
    ['pending', 'expired', 'failed'],
    ['pending', 'cancelled', 'failed'],
  ])('of an alert that is %s, with %s message beside it: then %s', async (before, also, after) => {
    const other = await anotherAlert()
    const job = await dead(await add('queued'))
    if (also !== 'no') await add(also)
    await setAlert(before)
    await discard(job)
    expect([await alertState(), await alertState(other)]).toEqual([after, 'pending'])
  })
})
