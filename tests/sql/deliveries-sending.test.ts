import { describe, expect, test } from 'vitest'
import {
  add,
  channel,
  claim,
  first,
  HOUR,
  KINDS,
  MAIL,
  now,
  one,
  run,
  secondsUntil,
  startClock,
  stateOf,
  useDeliveries,
} from './delivery-rows.ts'

useDeliveries()

describe('the deadline', () => {
  test.each([
    ['webhook', 'alert.raised', 48],
    ['message', 'alert.raised', 6],
    ['message', 'alert.ended', 6],
    ['message', 'alert.digest', 24],
  ])('of a %s of type %s is %i hours', async (schedule, type, hours) => {
    await startClock()
    const id = await add('queued', { type, due_at: now })
    const claimed = await claim(id, { webhook: { schedule } })
    expect(secondsUntil(claimed.expires_at)).toBe(hours * 3600)
  })

  test('of a message counts from when it was due, of a webhook from its first attempt', async () => {
    const id = await first('queued', { due_at: new Date(Date.now() - 3 * 24 * HOUR) })
    expect(await claim(id, MAIL)).toMatchObject({ is_late: true, payload: null })
    expect(await stateOf(id)).toBe('queued')
    expect(await claim(await add('queued', { due_at: '2026-01-01' }))).toMatchObject({
      is_late: false,
    })
  })

  test('stays what it was when the delivery was first taken up', async () => {
    const expires_at = new Date(Date.now() + HOUR)
    const id = await first('queued', { expires_at })
    expect((await claim(id)).expires_at).toEqual(expires_at)
  })

  test('is when a wait ends at the latest', async () => {
    const expires_at = new Date(Date.now() + HOUR)
    await run(`update watchpost.channels set paused_until = '2099-01-01' where id = $1`, [channel])
    const id = await first('queued', { expires_at })
    expect((await claim(id)).wait_until).toEqual(expires_at)
  })

  test('of what was held counts from its release', async () => {
    await run(`update watchpost.channels set messages = '{alert.raised}' where id = $1`, [channel])
    const id = await first('held', { due_at: '2026-01-01' })
    await run('select private.release_deliveries($1)', [[id]])
    expect(await claim(id, MAIL)).toMatchObject({ is_late: false })
  })
})

describe('a host', () => {
  const attempt = (id: string, health: object, given: object = {}) =>
    run('select private.record_attempt($1, $2, $3, null, $4)', [
      id,
      { attempt: 1, outcome: 'retry', duration_ms: 1, ...given },
      'queued',
      {
        host: 'hooks.example.com',
        is_host_failure: true,
        channel_seconds: 0,
        host_seconds: 0,
        ...health,
      },
    ])

  test('that is paused stops every channel of its kind there, and no other', async () => {
    await startClock()
    await attempt(await add('sending'), { host_seconds: 60 })
    const { other } = await one("select id as other from watchpost.channels where label = 'shared'")
    const shared = await one("select id from watchpost.alerts where zone_name = 'shared'")
    const theirs = async () => {
      await run('delete from watchpost.deliveries where channel_id = $1', [other])
      return add('queued', { channel_id: other, alert_id: shared.id })
    }
    expect(await claim(await theirs())).toMatchObject({ waits_for: null })
    const at = (host: string, kind = 'webhook') =>
      run('update watchpost.channels set host = $2, kind = $3 where id = $1', [other, host, kind])
    await at('hooks.example.com')
    const waiting = await claim(await theirs())
    expect([waiting.waits_for, secondsUntil(waiting.wait_until)]).toEqual(['pause', 60])
    await at('hooks.example.com', 'slack')
    expect(await claim(await theirs(), { ...KINDS, slack: KINDS.webhook })).toMatchObject({
      waits_for: null,
    })
  })

  test('counts what it did not answer, until one succeeds', async () => {
    const failures = async () => (await one('select failures from watchpost.hosts'))?.failures
    await attempt(await add('sending'), {})
    await attempt(await add('sending'), {})
    expect(await failures()).toBe(2)
    await attempt(await add('sending'), { is_host_failure: false })
    expect(await failures()).toBe(2)
    await attempt(await add('sending'), {}, { outcome: 'ok' })
    expect(await failures()).toBeUndefined()
  })

  test('is forgotten with the target of a channel', async () => {
    await attempt(await add('sending'), {})
    const host = async () =>
      (await one('select host from watchpost.channels where id = $1', [channel])).host
    expect(await host()).toBe('hooks.example.com')
    await run('set local session_replication_role = origin')
    await run(`update watchpost.channels set target_sealed = 'another' where id = $1`, [channel])
    expect(await host()).toBeNull()
  })
})

test('an attempt is recorded once, and what comes of it too', async () => {
  const id = await add('sending')
  for (const _ of [1, 2]) {
    await run('select private.record_attempt($1, $2, $3, null, $4)', [
      id,
      { attempt: 1, outcome: 'retry', duration_ms: 1, status_code: 500, request_id: 'abc' },
      'queued',
      { host: 'hooks.example.com', is_host_failure: false, channel_seconds: 0, host_seconds: 0 },
    ])
  }
  expect(
    await one('select failures, host from watchpost.channels where id = $1', [channel]),
  ).toEqual({
    failures: 1,
    host: 'hooks.example.com',
  })
  expect(
    await run(
      'select attempt, request_id from watchpost.delivery_attempts where delivery_id = $1',
      [id],
    ),
  ).toEqual([{ attempt: 1, request_id: 'abc' }])
})
