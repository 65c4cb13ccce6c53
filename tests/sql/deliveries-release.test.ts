import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  add,
  alert,
  channel,
  jobs,
  one,
  run,
  stateOf,
  useDeliveries,
  zone,
} from './delivery-rows.ts'

useDeliveries()

describe('what was held and is released', () => {
  test('goes as one digest about the most severe alert, the earlier of two', async () => {
    const alerts: string[] = []
    for (const [severity, raised_at] of [
      [50, '2026-01-01'],
      [90, '2026-01-03'],
      [90, '2026-01-02'],
    ]) {
      const copied = await one(
        `insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity, reason,
          first_reason, status, raised_at, checks, zone_version, event_revision)
        select zone_id, zone_name, owner_id, event_id || $2::text, source, event, $3::double precision, reason, first_reason, 'pending', $4::timestamptz,
          checks, zone_version, event_revision from watchpost.alerts where id = $1 returning id`,
        [alert, `${alerts.length + 1}`, severity, raised_at],
      )
      alerts.push(copied.id)
    }
    const held: string[] = []
    for (const alert_id of alerts)
      held.push(
        await add('held', { alert_id, next_attempt_at: '2026-01-05', due_at: '2026-01-01' }),
      )
    await run('select private.release_deliveries($1)', [held])
    const digests = await run(
      "select id, alert_id, status from watchpost.deliveries where type = 'alert.digest'",
    )
    expect(digests).toEqual([{ id: expect.any(String), alert_id: alerts[2], status: 'queued' }])
    const parts = await run(
      'select status, digest_id, next_attempt_at, due_at = now() as is_due from watchpost.deliveries where id = any($1)',
      [held],
    )
    const part = { status: 'queued', digest_id: digests[0].id, next_attempt_at: null, is_due: true }
    expect(parts).toEqual(held.map(() => part))
    expect(await jobs()).toEqual([digests[0].id])
  })

  test('goes one by one where the channel takes no digest, and not what it does not take', async () => {
    await run("update watchpost.channels set messages = '{alert.raised}' where id = $1", [channel])
    const raised = await add('held', { type: 'alert.raised', next_attempt_at: '2026-01-05' })
    const revised = await add('held', { type: 'alert.revised' })
    const other = await add('held', { type: 'alert.raised' })
    await run('select private.release_deliveries($1)', [[raised, revised]])
    expect([await stateOf(raised), await stateOf(revised), await stateOf(other)]).toEqual([
      'queued',
      'cancelled',
      'held',
    ])
    expect(await jobs()).toEqual([raised])
  })
})

test('a message is sent once more as a new one, a digest with all that it carried', async () => {
  const digest = await add('failed', { type: 'alert.digest' })
  const part = await add('failed', { digest_id: digest })
  const { id } = await one('select private.repeat_delivery($1) as id', [digest])
  const rows = await run(
    'select type, status, redelivery_of, digest_id, attempts from watchpost.deliveries where redelivery_of is not null order by type',
  )
  expect(rows).toEqual([
    { type: 'alert.digest', status: 'queued', redelivery_of: digest, digest_id: null, attempts: 0 },
    { type: 'alert.revised', status: 'queued', redelivery_of: part, digest_id: id, attempts: 0 },
  ])
  expect(await jobs()).toEqual([id])
})

test('a message that is sent once more is about the same update, act and step', async () => {
  const digest = await add('failed', { type: 'alert.digest', sequence: 0 })
  await add('failed', { digest_id: digest, sequence: 3, act: 2 })
  const stepped = await add('failed', { sequence: 1, act: 1, step: { step: 2 } })
  for (const id of [digest, stepped]) await run('select private.repeat_delivery($1)', [id])
  const rows = await run(
    `select type, sequence, act, step from watchpost.deliveries where redelivery_of is not null
    order by sequence`,
  )
  expect(rows).toEqual([
    { type: 'alert.digest', sequence: 0, act: 0, step: null },
    { type: 'alert.revised', sequence: 1, act: 1, step: { step: 2 } },
    { type: 'alert.revised', sequence: 3, act: 2, step: null },
  ])
})

describe('tests of a channel', () => {
  test('that were interrupted have failed after five minutes', async () => {
    const ago =
      (interval: string, more = {}) =>
      async () => {
        const id = await add('sending', { type: 'channel.test', alert_id: null, ...more })
        await run(
          'update watchpost.deliveries set updated_at = now() - $2::interval where id = $1',
          [id, interval],
        )
        return id
      }
    const [fresh, old, message] = [
      await ago('5 minutes')(),
      await ago('5 minutes 1 second')(),
      await ago('1 hour', { type: 'alert.raised', alert_id: alert })(),
    ]
    const done = await add('succeeded', {
      type: 'channel.test',
      alert_id: null,
      updated_at: '2026-01-01',
    })
    await run('select private.end_interrupted_tests()')
    expect([
      await stateOf(fresh),
      await stateOf(old),
      await stateOf(message),
      await stateOf(done),
    ]).toEqual(['sending', 'failed', 'sending', 'succeeded'])
  })

  test('are deleted when they are older than asked, so many at a time', async () => {
    const at = (created_at: string, more = {}) =>
      add('succeeded', { type: 'channel.test', alert_id: null, created_at, ...more })
    const limit = await at('2026-01-02')
    for (let nth = 0; nth < 3; nth += 1) await at('2026-01-01')
    const kept = [
      await at('2026-01-01', { alert_id: alert }),
      await at('2026-01-01', { type: 'zone.blind', blindness_id: randomUUID() }),
      await at('2026-01-01', { type: 'channel.failing', trouble_id: randomUUID() }),
    ]
    const purge = async () =>
      (await one("select private.purge_tests('2026-01-02', 2) as count")).count
    expect([await purge(), await purge(), await purge()]).toEqual([2, 1, 0])
    for (const id of [limit, ...kept]) expect(await stateOf(id)).toBe('succeeded')
  })
})

describe('an alert that goes out', () => {
  test.each([
    ['pending', 'seen', ['alert.acknowledged queued']],
    ['pending', 'not seen', []],
    ['pending', 'resolved', []],
    ['held', 'seen', []],
    ['dispatched', 'seen', []],
  ])('as %s and is %s brings %j with it', async (status, what, expected) => {
    await run(
      "update watchpost.channels set messages = '{alert.raised,alert.acknowledged,alert.resolved}' where id = $1",
      [channel],
    )
    await add('succeeded', { type: 'alert.raised', sequence: 0 })
    await run(
      `update watchpost.alerts set status = $2, resolved = $3,
        seen_at = case when $4 then now() end, seen_via = case when $4 then 'api' end where id = $1`,
      [alert, status, what === 'resolved', what !== 'not seen'],
    )
    await run('select private.deliver_seen(array[$1::uuid])', [alert])
    const told = await run(
      "select type, status from watchpost.deliveries where type <> 'alert.raised'",
    )
    expect(told.map((one) => `${one.type} ${one.status}`)).toEqual(expected)
  })
})

describe('the first messages of an alert', () => {
  const deliver = () => run('select private.deliver_alerts(array[$1::uuid])', [alert])
  const sent = () => run('select type, status, sequence from watchpost.deliveries')

  test('are a change of their alert, which followers are told, where there are any', async () => {
    const change = async () => {
      await run('set local session_replication_role = replica')
      await run(`update watchpost.alerts set status = 'pending', changed_in = '3' where id = $1`, [
        alert,
      ])
      await run('set local session_replication_role = default')
      await deliver()
      const text =
        'select changed_in = pg_current_xact_id() as is_new from watchpost.alerts where id = $1'
      return (await one(text, [alert])).is_new
    }
    expect(await change()).toBe(true)
    expect(await change()).toBe(false)
  })

  test.each([
    ['pending', ['queued']],
    ['held', ['held']],
    ['dispatched', []],
    ['failed', []],
    ['suppressed', []],
    ['recorded', []],
  ])('that is %s are %j', async (status, expected) => {
    await run('update watchpost.alerts set status = $2 where id = $1', [alert, status])
    await deliver()
    expect(await sent()).toEqual(
      expected.map((one) => ({ type: 'alert.raised', status: one, sequence: 0 })),
    )
    expect(await jobs()).toHaveLength(status === 'pending' ? 1 : 0)
  })

  test('exist once, and what was held goes out when the alert does', async () => {
    await run("update watchpost.alerts set status = 'held' where id = $1", [alert])
    await deliver()
    await deliver()
    expect(await sent()).toMatchObject([{ status: 'held' }])
    await run("update watchpost.alerts set status = 'pending' where id = $1", [alert])
    await deliver()
    await deliver()
    expect(await sent()).toEqual([{ type: 'alert.raised', status: 'queued', sequence: 0 }])
    expect(await jobs()).toHaveLength(1)
  })

  test('are none of a zone that was deleted, nor to a channel that takes none', async () => {
    await run('update watchpost.zones set deleted_at = now() where id = $1', [zone])
    await deliver()
    await run('update watchpost.zones set deleted_at = null where id = $1', [zone])
    await run("update watchpost.channels set messages = '{alert.escalated}' where id = $1", [
      channel,
    ])
    await deliver()
    expect(await sent()).toEqual([])
  })

  test('that wait for a digest do not go out of it when the channel takes digests alone', async () => {
    await run("update watchpost.channels set messages = '{alert.digest}' where id = $1", [channel])
    await deliver()
    expect(await sent()).toEqual([])
    await run("update watchpost.alerts set status = 'held' where id = $1", [alert])
    await deliver()
    await deliver()
    expect(await sent()).toMatchObject([{ status: 'held' }])
    await run("update watchpost.alerts set status = 'pending' where id = $1", [alert])
    await deliver()
    expect(await sent()).toMatchObject([{ status: 'cancelled' }])
    await run("update watchpost.deliveries set status = 'queued'")
    await deliver()
    expect(await sent()).toMatchObject([{ status: 'queued' }])
  })
})
