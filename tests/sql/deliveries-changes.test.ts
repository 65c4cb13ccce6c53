import { describe, expect, test } from 'vitest'
import {
  add,
  addAll,
  alert,
  alertState,
  channel,
  claim,
  moved,
  one,
  run,
  STATES,
  settle,
  stateOf,
  useDeliveries,
  zone,
} from './delivery-rows.ts'

useDeliveries()

describe('a claim', () => {
  test('takes up what is queued or was being sent, and nothing else', async () => {
    const ids = await addAll()
    const claimed: string[] = []
    for (const [status, id] of Object.entries(ids)) if (await claim(id)) claimed.push(status)
    expect(claimed).toEqual(['queued', 'sending'])
    expect(await moved(ids)).toEqual(['queued → sending'])
    expect(await claim(await add('sending', { type: 'channel.test' }))).toBeUndefined()
  })

  test('fixes the words and the time of the first attempt once', async () => {
    const id = await add('queued')
    const first = await claim(id)
    expect(JSON.parse(first.payload)).toMatchObject({ alert: { id: alert } })
    expect(first).toMatchObject({ id, channel_id: channel, kind: 'webhook', type: 'alert.revised' })
    await run("update watchpost.alerts set note = 'changed' where id = $1", [alert])
    await run("update watchpost.deliveries set first_attempt_at = '2026-01-01' where id = $1", [id])
    const second = await claim(id)
    expect(second.payload).toBe(first.payload)
    expect(second.first_attempt_at).toEqual(new Date(Date.parse('2026-01-01')))
  })

  test('counts the attempts that used one up: not those that were asked to slow down', async () => {
    const id = await add('queued', { attempts: 4 })
    for (const [nth, status_code] of [429, 500, null, 429].entries()) {
      await run(
        `insert into watchpost.delivery_attempts (delivery_id, attempt, outcome, duration_ms, status_code)
        values ($1, $2, 'retry', 1, $3)`,
        [id, nth + 1, status_code],
      )
    }
    expect((await claim(id)).used).toBe('2')
  })

  test.each([
    [
      'The channel was deleted.',
      "update watchpost.channels set deleted_at = now() where label = 'private'",
    ],
    [
      'The channel is switched off.',
      "update watchpost.channels set enabled = false where label = 'private'",
    ],
    [
      'The zone was deleted.',
      "update watchpost.zones set deleted_at = now() where label = 'private'",
    ],
    [
      'The account is below the Pro plan; its zones are paused.',
      "update watchpost.accounts set plan = 'free' where email = 'owner'",
    ],
    [
      'The account is banned; its zones are paused.',
      "update watchpost.accounts set banned_until = now() + interval '1 minute' where email = 'owner'",
    ],
    [
      'The owner of the zone no longer sees this channel.',
      `update watchpost.channels set owner_id =
      (select user_id from watchpost.accounts where email = 'stranger') where label = 'private'`,
    ],
  ])('is refused and changes no state: %s', async (refusal, statement) => {
    const id = await add('queued')
    await run(statement)
    expect(await claim(id)).toMatchObject({ refusal, wait_until: null })
    expect(await stateOf(id)).toBe('queued')
  })

  test('waits for a channel that is paused, until the pause is over', async () => {
    const id = await add('queued')
    const pause = (by: string) =>
      run('update watchpost.channels set paused_until = now() + $2::interval where id = $1', [
        channel,
        by,
      ])
    await pause('1 second')
    expect(await claim(id)).toMatchObject({
      refusal: null,
      waits_for: 'pause',
      wait_until: expect.any(Date),
    })
    expect(await stateOf(id)).toBe('queued')
    await pause('0 seconds')
    expect(await claim(id)).toMatchObject({ wait_until: null })
    expect(await stateOf(id)).toBe('sending')
  })
})

describe('an attempt that has ended', () => {
  test.each([
    ['succeeded', 1, true],
    ['queued', 1, false],
    ['failed', 1, false],
    ['expired', 1, false],
    ['cancelled', 0, false],
  ])(
    'as %s is written with its parts, and no other delivery',
    async (status, attempts, isDelivered) => {
      const [id, other] = [await add('sending'), await add('sending')]
      const part = await add('queued', { digest_id: id })
      await settle(id, status, 'why', '2026-01-02')
      for (const settled of [id, part]) {
        expect(
          await one(
            `select status, attempts, last_error, next_attempt_at is not null as waits, delivered_at is not null as done
          from watchpost.deliveries where id = $1`,
            [settled],
          ),
        ).toEqual({ status, attempts, last_error: 'why', waits: true, done: isDelivered })
      }
      expect(await stateOf(other)).toBe('sending')
    },
  )

  test.each([
    ['pending', 'dispatched'],
    ['failed', 'dispatched'],
    ['suppressed', 'dispatched'],
    ['held', 'held'],
    ['recorded', 'recorded'],
    ['dispatched', 'dispatched'],
  ])('well makes an alert that was %s %s, since its first success', async (before, after) => {
    await run('update watchpost.alerts set status = $2, dispatched_at = null where id = $1', [
      alert,
      before,
    ])
    await settle(await add('sending'), 'succeeded')
    expect(await alertState()).toBe(after)
    await run("update watchpost.alerts set dispatched_at = '2026-01-01' where id = $1", [alert])
    await settle(await add('sending'), 'succeeded')
    const row = await one('select dispatched_at from watchpost.alerts where id = $1', [alert])
    expect(row.dispatched_at).toEqual(new Date(Date.parse('2026-01-01')))
  })

  test.each(STATES)(
    'for good makes the alert failed unless another delivery may do it: one that is %s',
    async (other) => {
      const isHope = ['queued', 'held', 'sending', 'succeeded'].includes(other)
      const id = await add('sending')
      await add(other)
      await settle(id, 'failed')
      expect(await alertState()).toBe(isHope ? 'pending' : 'failed')
    },
  )

  test.each(['held', 'dispatched', 'suppressed', 'recorded'])(
    'for good leaves an alert that is %s',
    async (status) => {
      await run('update watchpost.alerts set status = $2 where id = $1', [alert, status])
      await settle(await add('sending'), 'failed')
      expect(await alertState()).toBe(status)
    },
  )

  test('names its own message alone, not those in it; without an attempt it counts as none', async () => {
    const id = await add('sending')
    const part = await add('queued', { digest_id: id })
    const rows = async () =>
      run('select remote_ref as name, attempts from watchpost.deliveries where id = any($1)', [
        [id, part],
      ])
    await run('select private.settle_delivery($1, $2, null, null, $3)', [id, 'succeeded', 'a'])
    const order = (a: { name: string | null }) => (a.name === null ? 1 : -1)
    expect((await rows()).toSorted(order)).toEqual([
      { name: 'a', attempts: 1 },
      { name: null, attempts: 1 },
    ])
    await run('select private.settle_delivery($1, $2, null, null, null, false)', [id, 'expired'])
    expect((await rows()).map(({ attempts }) => attempts)).toEqual([1, 1])
  })

  test('for good on a channel that the owner no longer sees sends the alert to those of its zone', async () => {
    const foreign = await one("select id from watchpost.channels where label = 'foreign'")
    const id = await add('sending', { channel_id: foreign.id, type: 'alert.raised', sequence: 0 })
    await settle(id, 'failed')
    const rows = await run(
      'select channel_id, type, status from watchpost.deliveries where id <> $1',
      [id],
    )
    expect(rows).toEqual([{ channel_id: channel, type: 'alert.raised', status: 'queued' }])
    expect(await alertState()).toBe('pending')
  })

  test('and is to be repeated leaves the alert as it is', async () => {
    await settle(await add('sending'), 'queued', 'later', '2026-01-02')
    expect(await alertState()).toBe('pending')
  })
})

test('a cancellation takes what is still to be sent', async () => {
  const ids = await addAll()
  await run('select private.cancel_deliveries($1, $2)', [Object.values(ids), 'why'])
  expect(await moved(ids)).toEqual(
    ['queued', 'held', 'sending'].map((name) => `${name} → cancelled`),
  )
  const errors = await run(
    "select distinct last_error from watchpost.deliveries where status = 'cancelled' order by 1",
  )
  expect(errors.map(({ last_error }) => last_error)).toEqual(['why', null])
})

test('the end of a hold makes due what the zone holds back, and nothing of another', async () => {
  const tomorrow = new Date(Date.now() + 86_400_000)
  const ids = await addAll({ next_attempt_at: tomorrow })
  const past = await add('held', { next_attempt_at: '2026-01-01' })
  const foreign = await add('held', {
    next_attempt_at: tomorrow,
    alert_id: (await one("select id from watchpost.alerts where zone_name = 'foreign'")).id,
  })
  await run('select private.end_hold($1)', [zone])
  const due = await run('select id from watchpost.deliveries where next_attempt_at = now()')
  expect(due).toEqual([{ id: ids.held }])
  expect(await stateOf(past)).toBe('held')
  expect(await stateOf(foreign)).toBe('held')
})

test('the end of a hold lets updates of an alert that is still held wait for it', async () => {
  const [sooner, later] = [2, 5].map((hours) => new Date(Date.now() + hours * 3_600_000))
  await run("update watchpost.alerts set status = 'held', held_until = $2 where id = $1", [
    alert,
    sooner,
  ])
  const id = await add('held', { next_attempt_at: later })
  await run('select private.end_hold($1)', [zone])
  const row = await one('select next_attempt_at as at from watchpost.deliveries where id = $1', [
    id,
  ])
  expect(row.at).toEqual(sooner)
})

describe('who follows an alert hears of its messages', () => {
  /** Whether what happens to a delivery counts as a change of its alert. */
  const isHeard = async (change: (id: string) => Promise<unknown>): Promise<boolean> => {
    await run('set local session_replication_role = replica; set constraints all deferred')
    const id = await add('queued')
    await run("update watchpost.alerts set changed_in = '1' where id = $1", [alert])
    await run('set local session_replication_role = origin')
    await change(id)
    await run('set constraints all immediate')
    return (
      await one(
        'select changed_in = pg_current_xact_id() as heard from watchpost.alerts where id = $1',
        [alert],
      )
    ).heard
  }

  test.each([
    ['queued', true],
    ['held', true],
    ['sending', false],
    ['failed', true],
  ])('of one that becomes %s: %s', async (status, heard) => {
    const change = (id: string) =>
      run('update watchpost.deliveries set status = $2 where id = $1', [id, status])
    expect(await isHeard(change)).toBe(heard)
  })

  test('of one that succeeds, because its alert is dispatched: by a trigger it would be noted twice', async () => {
    expect(await isHeard((id) => settle(id, 'succeeded'))).toBe(true)
    const set = (id: string) =>
      run("update watchpost.deliveries set status = 'succeeded' where id = $1", [id])
    expect(await isHeard(set)).toBe(false)
  })

  test('of a new one, but for the first, which comes with the alert', async () => {
    const type = 'alert.raised'
    expect(await isHeard(() => add('queued'))).toBe(true)
    expect(await isHeard((id) => add('queued', { type, redelivery_of: id }))).toBe(true)
    expect(await isHeard(() => add('queued', { type, step: 1 }))).toBe(true)
    expect(await isHeard(() => add('queued', { type }))).toBe(false)
  })
})
