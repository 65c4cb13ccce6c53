import { describe, expect, test } from 'vitest'
import {
  add,
  alert,
  anotherAlert,
  channel,
  claim,
  first,
  HOUR,
  heard,
  now,
  one,
  run,
  settle,
  startClock,
  stateOf,
  useDeliveries,
} from './delivery-rows.ts'

useDeliveries()

describe('a message about an update', () => {
  test.each([
    ['queued', true],
    ['sending', true],
    ['held', false],
    ['succeeded', false],
    ['failed', false],
    ['expired', false],
    ['cancelled', false],
  ])('where the first message is %s waits: %s', async (status, waits) => {
    await first(status)
    const id = await add('queued', { type: 'alert.ended', sequence: 1 })
    const claimed = await claim(id)
    expect(claimed.waits_for).toBe(waits ? 'earlier' : null)
    expect(claimed.wait_until !== null).toBe(waits)
    expect(await stateOf(id)).toBe(waits ? 'queued' : 'sending')
    expect(claimed.payload === null).toBe(waits)
  })

  test.each([
    ['the next attempt of that', 'queued', HOUR, HOUR],
    ['5 s from now if that is due', 'queued', -HOUR, 5_000],
    ['5 s from now if that is on its way', 'sending', HOUR, 5_000],
  ])('waits for the update before it, until %s', async (_, status, next_ms, wait_ms) => {
    await startClock()
    await first('succeeded')
    const next_attempt_at = new Date(+now + next_ms)
    await add(status, { type: 'alert.revised', sequence: 1, next_attempt_at })
    const claimed = await claim(await add('queued', { type: 'alert.ended', sequence: 2 }))
    expect(claimed.wait_until).toEqual(new Date(+now + wait_ms))
  })

  test('waits for what somebody did before, and what somebody did for the update before it', async () => {
    await first('succeeded')
    const act = (type: string, more: object) => add('queued', { type, ...more })
    const resolved = await act('alert.resolved', { sequence: 0, act: 1 })
    const reopened = await act('alert.reopened', { sequence: 0, act: 2 })
    const escalated = await act('alert.escalated', { sequence: 1 })
    const again = await act('alert.resolved', { sequence: 1, act: 1 })
    for (const id of [reopened, escalated, again]) {
      expect((await claim(id)).waits_for).toBe('earlier')
    }
    expect((await claim(resolved)).waits_for).toBeNull()
    await settle(resolved, 'succeeded')
    expect((await claim(reopened)).waits_for).toBeNull()
    expect((await claim(escalated)).waits_for).toBe('earlier')
  })

  test('of a step waits for what the alert was told before, and for the step before it', async () => {
    const step = (nr: number, more: object) =>
      add('queued', { type: 'alert.raised', step: { step: nr }, ...more })
    const raised = await first('queued')
    const first_step = await step(1, { sequence: 0 })
    expect((await claim(first_step)).waits_for).toBe('earlier')
    expect((await claim(raised)).waits_for).toBeNull()
    await settle(raised, 'succeeded')
    expect((await claim(first_step)).waits_for).toBeNull()
    const escalated = await add('queued', { type: 'alert.escalated', sequence: 1 })
    const [second, third] = [await step(1, { sequence: 1 }), await step(2, { sequence: 1 })]
    await settle(first_step, 'succeeded')
    expect((await claim(second)).waits_for).toBe('earlier')
    expect((await claim(escalated)).waits_for).toBeNull()
    await settle(escalated, 'succeeded')
    expect((await claim(third)).waits_for).toBe('earlier')
    expect((await claim(second)).waits_for).toBeNull()
  })

  test('waits for nothing of another alert or channel, and for nothing that comes after it', async () => {
    const { other } = await one("select id as other from watchpost.channels where label = 'shared'")
    await first('queued', { channel_id: other })
    await first('queued', { alert_id: await anotherAlert() })
    await add('queued', { type: 'alert.ended', sequence: 9 })
    const claimed = await claim(await add('queued', { sequence: 3 }))
    expect(claimed.waits_for).toBeNull()
  })

  test('waits for a digest that carries the first, and a digest for what it would overtake', async () => {
    const digest = await add('queued', { type: 'alert.digest', sequence: 0 })
    await first('queued', { digest_id: digest })
    const single = await add('queued', { type: 'alert.escalated', sequence: 1 })
    expect((await claim(single)).waits_for).toBe('earlier')
    await run(`update watchpost.deliveries set status = 'succeeded' where $1 in (id, digest_id)`, [
      digest,
    ])
    expect((await claim(single)).waits_for).toBeNull()
    const later = await add('queued', {
      type: 'alert.digest',
      sequence: 0,
      created_at: '2099-01-01',
    })
    await add('queued', { sequence: 2, digest_id: later })
    expect((await claim(later)).waits_for).toBe('earlier')
  })

  test('waits for no digest that carries nothing of its alert from before', async () => {
    await add('queued', { type: 'alert.digest', sequence: 0 })
    const single = await add('queued', { type: 'alert.escalated', sequence: 1 })
    expect((await claim(single)).waits_for).toBeNull()
  })

  test('waits for the part of a digest that carries the first, even if the digest is split later', async () => {
    const other = await anotherAlert()
    const old = { created_at: '2026-01-01' }
    const digest = await add('sending', {
      type: 'alert.digest',
      sequence: 0,
      payload: '{}',
      ...old,
    })
    for (const alert_id of [alert, other])
      await first('sending', { alert_id, digest_id: digest, ...old })
    const seen = await add('queued', {
      ...{ type: 'alert.acknowledged', sequence: 0, act: 1 },
      ...{ alert_id: other, created_at: '2026-01-02' },
    })
    const parts = [alert, other].map((id) => ({ alert_ids: [id], payload: '{"parts": 2}' }))
    await run('select private.split_digest($1, $2)', [digest, JSON.stringify(parts)])
    await settle(digest, 'succeeded')
    expect((await claim(seen)).waits_for).toBe('earlier')
  })

  test('and a digest around it never wait for each other', async () => {
    const old = { created_at: '2026-01-01' }
    const single = await add('queued', { type: 'alert.escalated', sequence: 2, ...old })
    const digest = await add('queued', { type: 'alert.digest', sequence: 0 })
    await first('queued', { digest_id: digest, ...old })
    await add('queued', { sequence: 3, digest_id: digest })
    expect((await claim(digest)).waits_for).toBe('earlier')
    expect((await claim(single)).waits_for).toBeNull()
  })

  test.each(['succeeded', 'failed', 'expired', 'cancelled'])(
    'is due at once when the first is %s',
    async (status) => {
      const id = await first('sending')
      const update = await add('queued', {
        type: 'alert.ended',
        sequence: 1,
        next_attempt_at: '2099-01-01',
      })
      await run('select private.enqueue_delivery($1, $2, $3)', [update, channel, '2099-01-01'])
      const due = async () =>
        (
          await one(`select start_after <= pgboss.job_now() as is_due from pgboss.job
          where name = 'deliver' and data ->> 'delivery_id' = '${update}'`)
        ).is_due
      await settle(id, 'queued', 'later', '2099-01-01')
      expect(await due()).toBe(false)
      await settle(id, status)
      expect(await due()).toBe(true)
    },
  )
})

test('the jobs are told at once what is due: after the first message, and after a pause', async () => {
  const id = await first('sending')
  const update = await add('queued', {
    type: 'alert.ended',
    sequence: 1,
    next_attempt_at: '2099-01-01',
  })
  await run('select private.enqueue_delivery($1, $2, $3)', [update, channel, '2099-01-01'])
  await run('listen watchpost_jobs')
  await settle(id, 'succeeded')
  await run('commit')
  expect(heard).toEqual(['deliver'])
  await run(`update pgboss.job set start_after = '2099-01-01', data = data || '{"waits_for": "pause"}'
    where name = 'deliver' and data ->> 'delivery_id' = '${update}'`)
  for (const until of ["'2099-01-01'", 'null']) {
    await run(`update watchpost.channels set paused_until = ${until} where id = $1`, [channel])
  }
  expect(heard).toEqual(['deliver', 'deliver'])
  await run('unlisten watchpost_jobs')
})

describe('the name that the receiver gave', () => {
  const settled = async (id: string, ref: string | null) =>
    run('select private.settle_delivery($1, $2, null, null, $3)', [id, 'succeeded', ref])
  const given = async (type: string, sequence: number) =>
    (await claim(await add('queued', { type, sequence }))).remote_ref

  test('to the first message is told to the updates of its alert on its channel', async () => {
    await settled(await first('sending'), 'message 1')
    expect(await given('alert.revised', 1)).toBe('message 1')
    await settled((await one('select id from watchpost.deliveries where sequence = 1')).id, null)
    expect(await given('alert.ended', 2)).toBe('message 1')
    const other = await anotherAlert()
    const claimed = await claim(await add('queued', { alert_id: other, sequence: 1 }))
    expect(claimed.remote_ref).toBeNull()
  })

  test('to a digest is told to nobody: other alerts are in there, too', async () => {
    await settled(await add('sending', { type: 'alert.digest', sequence: 0 }), 'a digest')
    expect(await given('alert.ended', 1)).toBeNull()
  })

  test('to an update that had to go out alone is told to those after it', async () => {
    await first('failed')
    await settled(await add('sending', { type: 'alert.escalated', sequence: 1 }), 'message 2')
    await settled(await add('sending', { type: 'alert.revised', sequence: 2 }), 'message 3')
    expect(await given('alert.ended', 3)).toBe('message 2')
  })

  test('to a first message that is sent again replaces the old one, and a digest has none to change', async () => {
    const id = await first('sending')
    await settled(id, 'message 1')
    const again = await first('queued', { redelivery_of: id })
    expect((await claim(again)).remote_ref).toBeNull()
    await settled(again, 'message 2')
    await run(
      `update watchpost.deliveries set delivered_at = now() + interval '1 s' where id = $1`,
      [again],
    )
    await settled(await add('sending', { type: 'alert.digest', sequence: 0 }), 'a digest')
    expect(await given('alert.ended', 1)).toBe('message 2')
    expect(
      (await claim(await add('queued', { type: 'alert.digest', sequence: 0 }))).remote_ref,
    ).toBe(null)
  })
})
