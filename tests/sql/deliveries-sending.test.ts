import { describe, expect, test } from 'vitest'
import {
  add,
  alert,
  channel,
  claim,
  jobs,
  KINDS,
  one,
  run,
  settle,
  stateOf,
  useDeliveries,
  zone,
} from './delivery-rows.ts'

useDeliveries()

const HOUR = 3_600_000
/** A kind that people read, which takes one message in ten seconds. */
const CHAT = { webhook: { schedule: 'message', messages: 1, per_seconds: 10 } }
/** The same without a pace. */
const MAIL = { webhook: { schedule: 'message' } }
const secondsUntil = (time: unknown) =>
  typeof time === 'object' && time instanceof Date ? Math.round((+time - +now) / 1000) : null
let now = new Date()
/** A transaction has one time. */
const startClock = async () => {
  now = (await one('select pgboss.job_now() as now')).now
}
const first = (status: string, more: object = {}) =>
  add(status, { type: 'alert.raised', sequence: 0, ...more })
const anotherAlert = async () =>
  (
    await one(
      `insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity, reason,
        first_reason, status, raised_at, checks, zone_version, event_revision)
      select zone_id, zone_name, owner_id, 'test:' || gen_random_uuid(), source, event, severity, reason, first_reason,
        'pending', raised_at, checks, zone_version, event_revision from watchpost.alerts where id = $1 returning id`,
      [alert],
    )
  ).id as string

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

  test('waits for the update before it, until the next attempt of that', async () => {
    await startClock()
    await first('succeeded')
    const next_attempt_at = new Date(+now + HOUR)
    await add('queued', { type: 'alert.revised', sequence: 1, next_attempt_at })
    const claimed = await claim(await add('queued', { type: 'alert.ended', sequence: 2 }))
    expect(claimed.wait_until).toEqual(next_attempt_at)
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

describe('the pace of a channel', () => {
  const waits = async (id: string, kinds: object = CHAT) => {
    const claimed = await claim(id, kinds)
    return claimed && [claimed.waits_for, secondsUntil(claimed.wait_until)]
  }
  const alone = { messages: '{alert.raised,alert.revised}' }
  const noDigest = () =>
    run('update watchpost.channels set messages = $2 where id = $1', [channel, alone.messages])

  test('gives every message its turn, once', async () => {
    await startClock()
    const ids = [await add('queued'), await add('queued'), await add('queued')]
    await run('update watchpost.deliveries set sequence = 5, alert_id = null, blindness_id = null')
    expect(await waits(ids[0] ?? '')).toEqual([null, null])
    expect(await waits(ids[1] ?? '')).toEqual(['turn', 10])
    expect(await waits(ids[2] ?? '')).toEqual(['turn', 20])
    // Taken up again it has not lost its turn, and has not taken a second one.
    expect(await waits(ids[1] ?? '')).toEqual(['turn', 10])
    expect(
      await waits(await add('queued', { sequence: 50, alert_id: await anotherAlert() })),
    ).toEqual(['turn', 30])
  })

  test('lets an emergency go ahead of as many as it allows at once', async () => {
    await startClock()
    await run('update watchpost.zones set emergency_severity = 50 where id = $1', [zone])
    await run('update watchpost.alerts set severity = 20 where id = $1', [alert])
    const urgent = await anotherAlert()
    await run('update watchpost.alerts set severity = 50 where id = $1', [urgent])
    expect(await waits(await add('queued', { sequence: 1 }))).toEqual([null, null])
    const claimed = await claim(await first('queued', { alert_id: urgent }), CHAT)
    expect(claimed).toMatchObject({ is_urgent: true, wait_until: null })
    expect(await waits(await add('queued', { alert_id: await anotherAlert() }))).toEqual([
      'turn',
      20,
    ])
  })

  test('of one channel does not slow another', async () => {
    const { other } = await one("select id as other from watchpost.channels where label = 'shared'")
    expect(await waits(await add('queued', { sequence: 1 }))).toEqual([null, null])
    const shared = await one("select id from watchpost.alerts where zone_name = 'shared'")
    expect(await waits(await add('queued', { channel_id: other, alert_id: shared.id }))).toEqual([
      null,
      null,
    ])
  })

  test('bundles what would come too late with all that waits behind it, in one digest', async () => {
    await startClock()
    await run(
      `insert into watchpost.rate_limits (bucket, tat) values ($1, now() + interval '3 min')`,
      [`channel:${channel}`],
    )
    const alerts = [alert, await anotherAlert(), await anotherAlert()]
    const [one1 = '', two = '', three = ''] = [
      await first('queued'),
      await first('queued', { alert_id: alerts[1] }),
      await first('queued', { alert_id: alerts[2] }),
    ]
    expect(await claim(one1, CHAT)).toBeUndefined()
    const [digest] = await run(
      `select id, status from watchpost.deliveries where type = 'alert.digest'`,
    )
    const carriers = async () =>
      (
        await run('select distinct digest_id from watchpost.deliveries where digest_id is not null')
      ).map(({ digest_id }) => digest_id)
    expect(await carriers()).toEqual([digest.id])
    expect(await jobs()).toContain(digest.id)
    // Their own jobs find nothing to do, and the digest waits for its turn, growing until then.
    for (const id of [one1, two, three]) expect(await claim(id, CHAT)).toBeUndefined()
    expect(await waits(digest.id)).toEqual(['turn', 180])
    const late = await first('queued', { alert_id: await anotherAlert() })
    expect(await claim(late, CHAT)).toBeUndefined()
    expect(await carriers()).toEqual([digest.id])
    await run(`update watchpost.deliveries set turn_at = now() where id = $1`, [digest.id])
    const claimed = await claim(digest.id, CHAT)
    expect(JSON.parse(claimed.payload).alerts).toHaveLength(4)
    await settle(digest.id, 'succeeded')
    for (const id of [one1, two, three, late]) expect(await stateOf(id)).toBe('succeeded')
  })

  test('leaves what waits two minutes alone, and what its channel wants alone', async () => {
    const busy = (time: string) =>
      run(
        `insert into watchpost.rate_limits (bucket, tat) values ($1, now() + $2::interval)
        on conflict (bucket) do update set tat = excluded.tat`,
        [`channel:${channel}`, time],
      )
    await startClock()
    await first('queued', { alert_id: await anotherAlert() })
    await busy('2 minutes')
    expect(await waits(await first('queued'))).toEqual(['turn', 120])
    await noDigest()
    await busy('5 hours')
    const id = await first('queued', { alert_id: await anotherAlert() })
    expect(await waits(id)).toEqual(['turn', 5 * 3600])
    await busy('5 days')
    const never = await first('queued', { alert_id: await anotherAlert(), due_at: now })
    expect(await waits(never)).toEqual(['turn', 6 * 3600])
  })

  test('bundles a webhook only where it would come after its deadline', async () => {
    const WEBHOOK = { webhook: { ...CHAT.webhook, schedule: 'webhook' } }
    await startClock()
    await first('queued', { alert_id: await anotherAlert() })
    await run(
      `insert into watchpost.rate_limits (bucket, tat) values ($1, now() + interval '47 h')`,
      [`channel:${channel}`],
    )
    expect(await waits(await first('queued'), WEBHOOK)).toEqual(['turn', 47 * 3600])
    await run(`update watchpost.rate_limits set tat = now() + interval '49 h'`)
    const late = await first('queued', { alert_id: await anotherAlert() })
    expect(await claim(late, WEBHOOK)).toBeUndefined()
  })

  test('bundles nothing where the kind says that this is no use', async () => {
    const alone = { webhook: { ...CHAT.webhook, bundles: false } }
    await startClock()
    await first('queued', { alert_id: await anotherAlert() })
    await run(
      `insert into watchpost.rate_limits (bucket, tat) values ($1, now() + interval '3 minutes')`,
      [`channel:${channel}`],
    )
    const id = await first('queued', { alert_id: await anotherAlert() })
    expect(await waits(id, alone)).toEqual(['turn', 180])
    await run('update watchpost.deliveries set turn_at = null')
    expect(await claim(id, CHAT)).toBeUndefined()
  })

  test('a bundle leaves out what is cancelled, and what it carries goes alone when it is', async () => {
    const digest = await add('queued', { type: 'alert.digest', sequence: 0 })
    const [mine, other] = [
      await first('queued', { digest_id: digest }),
      await first('queued', { digest_id: digest, alert_id: await anotherAlert() }),
    ]
    await run('select private.cancel_deliveries($1, $2)', [[mine], 'why'])
    expect(await stateOf(mine)).toBe('cancelled')
    expect(await one('select digest_id from watchpost.deliveries where id = $1', [mine])).toEqual({
      digest_id: null,
    })
    await run('select private.cancel_deliveries($1, $2)', [[digest], 'why'])
    expect(
      await one('select status, digest_id from watchpost.deliveries where id = $1', [other]),
    ).toEqual({
      status: 'queued',
      digest_id: null,
    })
    const again = await run(
      `select data ->> 'delivery_id' as id from pgboss.job where name = 'deliver'`,
    )
    expect(again.map(({ id }) => id)).toContain(other)
  })

  test('a bundle of several zones leaves out those that may not be told any more', async () => {
    const digest = await add('queued', { type: 'alert.digest', sequence: 0 })
    const foreign = await one("select id from watchpost.alerts where zone_name = 'foreign'")
    const [mine, theirs] = [
      await first('queued', { digest_id: digest }),
      await first('queued', { digest_id: digest, alert_id: foreign.id }),
    ]
    const claimed = await claim(digest)
    expect(JSON.parse(claimed.payload).alerts.map(({ id }: { id: string }) => id)).toEqual([alert])
    expect([await stateOf(mine), await stateOf(theirs)]).toEqual(['queued', 'cancelled'])
  })

  test('where the digest itself may not be sent, the rest goes alone', async () => {
    const foreign = await one("select id from watchpost.alerts where zone_name = 'foreign'")
    const digest = await add('queued', { type: 'alert.digest', sequence: 0, alert_id: foreign.id })
    const mine = await first('queued', { digest_id: digest })
    const claimed = await claim(digest)
    expect(claimed.refusal).toMatch(/no longer sees/)
    await settle(digest, 'cancelled', claimed.refusal)
    expect(await stateOf(mine)).toBe('queued')
    expect(await claim(mine)).toMatchObject({ refusal: null })
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

test('the job of an emergency is taken up before all others', async () => {
  await run('update watchpost.zones set emergency_severity = 50 where id = $1', [zone])
  const calm = await anotherAlert()
  await run('update watchpost.alerts set severity = 49 where id = $1', [calm])
  const ids = [await first('queued'), await first('queued', { alert_id: calm })]
  for (const id of ids) await run('select private.enqueue_delivery($1, $2)', [id, channel])
  expect(
    await run(`select id, priority from pgboss.job where id = any($1) order by priority desc`, [
      ids,
    ]),
  ).toEqual([
    { id: ids[0], priority: 1 },
    { id: ids[1], priority: 0 },
  ])
})
