import { describe, expect, test } from 'vitest'
import {
  add,
  alert,
  anotherAlert,
  channel,
  claim,
  jobs,
  one,
  run,
  stateOf,
  useDeliveries,
  zone,
} from './delivery-rows.ts'

useDeliveries()

/** A kind that people read, which takes one message in ten seconds. */
const CHAT = { webhook: { schedule: 'message', messages: 1, per_seconds: 10 } }
const first = (status: string, more: object = {}) =>
  add(status, { type: 'alert.raised', sequence: 0, ...more })
const channelOf = async (id: string) => one('select * from watchpost.channels where id = $1', [id])
/** An attempt that failed, and what it says of channel and host. */
const attempt = async (health: object = {}, given: object = {}) =>
  run('select private.record_attempt($1, $2, $3, null, $4)', [
    await add('sending'),
    { attempt: 1, outcome: 'retry', duration_ms: 1, ...given },
    'queued',
    {
      ...{ host: 'hooks.example.com', is_host_failure: true, channel_seconds: 0, host_seconds: 0 },
      ...health,
    },
  ])

describe('the pace of a channel', () => {
  test('saves up no turns while nothing is sent', async () => {
    await run(
      `insert into watchpost.rate_limits (bucket, tat) values ($1, now() - interval '1 hour')`,
      [`channel:${channel}`],
    )
    await run(`update watchpost.channels set messages = '{alert.revised}' where id = $1`, [channel])
    const ids = [await add('queued'), await add('queued'), await add('queued')]
    await run('update watchpost.deliveries set sequence = 5, alert_id = null')
    const waits: unknown[] = []
    for (const id of ids) waits.push((await claim(id, CHAT)).waits_for)
    expect(waits).toEqual([null, 'turn', 'turn'])
  })

  test('bundles neither what was tried before nor what somebody asked for again', async () => {
    await run(
      `insert into watchpost.rate_limits (bucket, tat) values ($1, now() + interval '3 min')`,
      [`channel:${channel}`],
    )
    const other = anotherAlert
    const done = await first('succeeded', { alert_id: await other() })
    const [tried, again, one1, two] = [
      await first('queued', { alert_id: await other(), attempts: 1 }),
      await first('queued', { alert_id: await other(), redelivery_of: done }),
      await first('queued', { alert_id: await other() }),
      await first('queued', { alert_id: await other() }),
    ]
    expect((await claim(tried, CHAT)).waits_for).toBe('turn')
    expect((await claim(again, CHAT)).waits_for).toBe('turn')
    await run('update watchpost.deliveries set turn_at = null')
    expect(await claim(one1, CHAT)).toBeUndefined()
    const carried = await run(
      'select id from watchpost.deliveries where digest_id is not null order by created_at, id',
    )
    expect(carried.map(({ id }) => id).sort()).toEqual([one1, two].sort())
  })
})

describe('a pause', () => {
  const pauseOf = async () =>
    (
      await one(
        `select round(extract(epoch from paused_until - now()))::integer as seconds from watchpost.hosts where kind = 'webhook'`,
      )
    )?.seconds

  test('of a host is not cut short by another answer that asks for less', async () => {
    await attempt({ host_seconds: 60 })
    await attempt({ host_seconds: 5 })
    expect(await pauseOf()).toBe(60)
  })

  test('of a host needs an answer that asks for it', async () => {
    await attempt({ is_host_failure: false })
    expect(await pauseOf()).toBeNull()
    await attempt({ is_host_failure: false, host_seconds: 5 })
    expect(await pauseOf()).toBe(5)
  })

  test('of a host ends with a success of its own kind there, not of another', async () => {
    await attempt({ host_seconds: 60 })
    const { other } = await one("select id as other from watchpost.channels where label = 'shared'")
    await run(`update watchpost.channels set kind = 'slack' where id = $1`, [other])
    const id = await add('sending', { channel_id: other })
    await run('select private.record_attempt($1, $2, $3, null, $4)', [
      id,
      { attempt: 1, outcome: 'ok', duration_ms: 1 },
      'succeeded',
      { host: 'hooks.example.com' },
    ])
    expect(await pauseOf()).toBe(60)
    await attempt({}, { outcome: 'ok' })
    expect(await pauseOf()).toBeUndefined()
  })

  test('of a host is one of its kind of channel', async () => {
    await run("update watchpost.channels set host = 'hooks.example.com' where id = $1", [channel])
    await run(
      `insert into watchpost.hosts (kind, host, failures, paused_until)
      values ('slack', 'hooks.example.com', 9, now() + interval '1 hour')`,
    )
    const claimed = await claim(await first('queued'))
    expect(claimed).toMatchObject({ waits_for: null, host_failures: 0 })
  })

  test('holds a channel also where its host is well', async () => {
    await attempt({ host_seconds: 5 })
    await run(`update watchpost.channels set paused_until = now() + interval '1 hour'`)
    const { waits_for, wait_until } = await claim(await first('queued'))
    expect(waits_for).toBe('pause')
    expect(+wait_until - Date.now()).toBeGreaterThan(3_500_000)
    await run('delete from watchpost.hosts')
    expect((await claim(await add('queued', { sequence: 0 }))).waits_for).toBe('pause')
  })
})

test('a channel fails since its first failure, until it succeeds', async () => {
  await run(`update watchpost.channels set failing_since = '2026-01-01' where id = $1`, [channel])
  await attempt()
  expect((await channelOf(channel)).failing_since).toEqual(new Date('2026-01-01T00:00:00Z'))
  await attempt({}, { outcome: 'ok' })
  expect(await channelOf(channel)).toMatchObject({ failing_since: null, failures: 0, status: 'ok' })
})

test('a channel that its receiver has switched off stays off, whatever becomes of what was under way', async () => {
  await attempt({}, { outcome: 'disable_channel', error: 'Gone.' })
  const off = await channelOf(channel)
  expect(off).toMatchObject({ enabled: false, status: 'disabled', disabled_reason: 'Gone.' })
  await attempt({ channel_seconds: 60 })
  await attempt({}, { outcome: 'ok' })
  expect(await channelOf(channel)).toEqual(off)
})

test('a deadline is over in the moment in which it is reached', async () => {
  const id = await first('queued')
  await run('update watchpost.deliveries set expires_at = pgboss.job_now() where id = $1', [id])
  expect(await claim(id)).toMatchObject({ is_late: true, payload: null })
  expect(await stateOf(id)).toBe('queued')
})

describe('what is cancelled', () => {
  test('stays in a digest whose words are fixed, and leaves one that has none yet', async () => {
    const digest = async (payload: string | null) => {
      const id = await add('queued', { type: 'alert.digest', sequence: 0, payload })
      return { id, carried: await add('queued', { digest_id: id }) }
    }
    const [fixed, open] = [await digest('{}'), await digest(null)]
    await run('select private.cancel_deliveries($1, $2)', [[fixed.carried, open.carried], 'why'])
    const carrier = async (id: string) =>
      (await one('select digest_id from watchpost.deliveries where id = $1', [id])).digest_id
    expect(await carrier(fixed.carried)).toBe(fixed.id)
    expect(await carrier(open.carried)).toBeNull()
  })

  test('lets go of what it was to carry, which goes out at once', async () => {
    const id = await add('queued', { type: 'alert.digest', sequence: 0 })
    const carried = await add('queued', { digest_id: id })
    await run('select private.cancel_deliveries($1, $2)', [[id], 'why'])
    const due = await run(
      `select j.data ->> 'delivery_id' as id, d.digest_id from pgboss.job j
      join watchpost.deliveries d on d.id::text = j.data ->> 'delivery_id'
      where j.name = 'deliver' and j.start_after <= pgboss.job_now()`,
    )
    expect(due).toEqual([{ id: carried, digest_id: null }])
  })

  test('lets go of nothing that another carries, nor of what it carried before it was sent', async () => {
    const id = await add('queued', { type: 'alert.digest', sequence: 0 })
    const sent = await add('succeeded', { type: 'alert.digest', sequence: 0 })
    const other = await add('queued', { type: 'alert.digest', sequence: 0 })
    const kept = [
      await add('queued', { digest_id: sent }),
      await add('queued', { digest_id: other }),
      await add('held', { digest_id: id }),
    ]
    await run('select private.cancel_deliveries($1, $2)', [[id, sent], 'why'])
    const rows = await run(
      'select id from watchpost.deliveries where digest_id is not null order by created_at, sequence',
    )
    expect(rows.map((row) => row.id)).toEqual(kept)
  })

  test('of an alert that goes out is its first message only, where the channel takes none', async () => {
    await run(`update watchpost.channels set messages = '{alert.escalated}' where id = $1`, [
      channel,
    ])
    const [raised, escalated] = [
      await first('held'),
      await add('held', { type: 'alert.escalated', sequence: 1 }),
    ]
    await run('select private.deliver_alerts($1)', [[alert]])
    expect([await stateOf(raised), await stateOf(escalated)]).toEqual(['cancelled', 'held'])
  })
})

describe('an update goes', () => {
  const update = async () => {
    await run(`select private.deliver_update($1, 'ended', 7, false, null)`, [alert])
    const rows = await run(
      'select c.label from watchpost.deliveries d join watchpost.channels c on c.id = d.channel_id where d.sequence = 7',
    )
    return rows.map(({ label }) => label)
  }
  const others = async () => {
    const { foreign, shared } = await one(
      `select (select id from watchpost.channels where label = 'foreign') as foreign,
        (select id from watchpost.channels where label = 'shared') as shared`,
    )
    return { foreign, shared }
  }

  test('to none that the owner of the zone no longer sees, but to those that the zone has now', async () => {
    const { foreign } = await others()
    await first('succeeded', { channel_id: foreign })
    expect(await update()).toEqual(['private'])
  })

  test('nowhere when its zone was deleted and nobody was told', async () => {
    const { shared } = await others()
    await first('cancelled', { channel_id: shared })
    await run('update watchpost.zones set deleted_at = now() where id = $1', [zone])
    expect(await update()).toEqual([])
  })

  test('later where it is held, without a job until then', async () => {
    await first('succeeded')
    const at = new Date(Date.now() + 3_600_000)
    await run(`select private.deliver_update($1, 'escalated', 7, true, $2)`, [alert, at])
    const rows = await run(
      'select status, next_attempt_at from watchpost.deliveries where sequence = 7',
    )
    expect(rows).toEqual([{ status: 'held', next_attempt_at: at }])
    expect(await jobs()).toEqual([])
  })

  test('to none whose first message was cancelled', async () => {
    const { shared } = await others()
    await first('cancelled', { channel_id: shared })
    await first('succeeded')
    expect(await update()).toEqual(['private'])
  })
})

describe('a digest', () => {
  test('whose words are fixed still stands for all that it says', async () => {
    const foreign = await one("select id from watchpost.alerts where zone_name = 'foreign'")
    const digest = async (payload: string | null) => {
      const id = await add('queued', { type: 'alert.digest', sequence: 0, payload })
      const carried = await first('queued', { digest_id: id, alert_id: foreign.id })
      await claim(id)
      const state = await stateOf(carried)
      await run('delete from watchpost.deliveries where id = $1', [carried])
      return state
    }
    expect([await digest('{"alerts": []}'), await digest(null)]).toEqual(['queued', 'cancelled'])
  })

  test('takes up to 500 messages, and another one the rest', async () => {
    await run(
      `insert into watchpost.rate_limits (bucket, tat) values ($1, now() + interval '3 min')`,
      [`channel:${channel}`],
    )
    const digest = await add('queued', { type: 'alert.digest', sequence: 0, turn_at: '2099-01-01' })
    const fill = (from: number, to: number) =>
      run(
        `insert into watchpost.deliveries (alert_id, channel_id, type, sequence, digest_id)
        select $1, $2, 'alert.revised', n, $3 from generate_series($4::integer, $5::integer) n`,
        [alert, channel, digest, from, to],
      )
    await fill(10_001, 10_499)
    const carrier = async (id: string) =>
      (await one('select digest_id from watchpost.deliveries where id = $1', [id])).digest_id
    const last = await first('queued')
    expect(await claim(last, CHAT)).toBeUndefined()
    expect(await carrier(last)).toBe(digest)
    const [next, other] = [
      await first('queued', { type: 'alert.escalated' }),
      await first('queued', { type: 'alert.ended' }),
    ]
    expect(await claim(next, CHAT)).toBeUndefined()
    expect(await carrier(next)).not.toBe(digest)
    expect(await carrier(other)).toBe(await carrier(next))
  })
})

test('the name of a message is told to its own channel alone', async () => {
  const { other } = await one("select id as other from watchpost.channels where label = 'shared'")
  const theirs = await first('sending', { channel_id: other })
  await run('select private.settle_delivery($1, $2, null, null, $3)', [theirs, 'succeeded', 'a'])
  expect((await claim(await add('queued'))).remote_ref).toBeNull()
})

test('what was tried already waits for its own time when a message before it is settled', async () => {
  const id = await first('sending')
  const [tried, waiting] = [
    await add('queued', { attempts: 1, next_attempt_at: '2099-01-01' }),
    await add('queued', { next_attempt_at: '2099-01-01' }),
  ]
  for (const each of [tried, waiting])
    await run('select private.enqueue_delivery($1, $2, $3)', [each, channel, '2099-01-01'])
  await run('select private.settle_delivery($1, $2, null, null)', [id, 'succeeded'])
  const due = await run(
    `select data ->> 'delivery_id' as id from pgboss.job
    where name = 'deliver' and start_after <= pgboss.job_now() and data ->> 'delivery_id' = any($1)`,
    [[tried, waiting]],
  )
  expect(due).toEqual([{ id: waiting }])
})

test('a digest that is being sent is split once, with what each part says', async () => {
  const asked = await add('succeeded', { type: 'alert.digest', sequence: 0 })
  const id = await add('queued', {
    ...{ type: 'alert.digest', sequence: 0, payload: '{"alerts": []}', redelivery_of: asked },
  })
  const shared = await one("select id from watchpost.alerts where zone_name = 'shared'")
  const alerts = [alert, shared.id]
  const carried: string[] = []
  for (const alert_id of alerts) carried.push(await add('queued', { alert_id, digest_id: id }))
  const parts = alerts.map((alert_id, index) => ({
    alert_ids: [alert_id],
    payload: JSON.stringify({ parts: { part: index + 1, of: 2 } }),
  }))
  const split = async () =>
    (await one('select private.split_digest($1, $2) as done', [id, JSON.stringify(parts)])).done
  expect(await split()).toBe(false)
  await run("update watchpost.deliveries set status = 'sending' where id = $1", [id])
  expect([await split(), await split()]).toEqual([true, false])
  const messages = await run(
    `select m.payload, m.redelivery_of, array_agg(d.id) as carried from watchpost.deliveries m
    join watchpost.deliveries d on d.digest_id = m.id where m.type = 'alert.digest'
    group by m.id order by m.payload`,
  )
  expect(messages).toEqual(
    parts.map(({ payload }, nth) => ({ payload, redelivery_of: asked, carried: [carried[nth]] })),
  )
})

test('an emergency is what reaches the limit of its zone, or 80 where it has none', async () => {
  const isUrgent = async (severity: number, limit: number | null) => {
    await run('update watchpost.alerts set severity = $2 where id = $1', [alert, severity])
    await run('update watchpost.zones set emergency_severity = $2 where id = $1', [zone, limit])
    await run('delete from watchpost.deliveries')
    return (await claim(await first('queued'))).is_urgent
  }
  expect([await isUrgent(59.9, 60), await isUrgent(60, 60)]).toEqual([false, true])
  expect([await isUrgent(79.9, null), await isUrgent(80, null)]).toEqual([false, true])
})

test('new messages stand so that the most severe of each channel come first', async () => {
  // In a new file the order in which rows are stored can be seen.
  await run('truncate pgboss.job')
  const { other } = await one("select id as other from watchpost.channels where label = 'shared'")
  const alerts: string[] = []
  for (const severity of [50, 60, 90]) {
    const id = await anotherAlert()
    await run('update watchpost.alerts set severity = $2 where id = $1', [id, severity])
    alerts.push(id)
  }
  const [weak, strong, extreme] = alerts
  const idOf = (nth: number) => `00000000-0000-4000-8000-00000000000${nth}`
  const GIVEN = [
    [1, channel, weak],
    [2, other, weak],
    [3, channel, strong],
    [4, other, strong],
    [5, channel, extreme],
  ] as const
  for (const [nth, channel_id, alert_id] of GIVEN)
    await first('queued', { id: idOf(nth), channel_id, alert_id })
  await run('select private.enqueue_deliveries($1, $2, $3)', [
    GIVEN.map(([nth]) => idOf(nth)),
    GIVEN.map(([, , alert_id]) => alert_id),
    GIVEN.map(([, channel_id]) => channel_id),
  ])
  const rows = await run(
    `select right(data ->> 'delivery_id', 1)::integer as nth, group_id as channel, priority
    from pgboss.job where name = 'deliver' order by ctid`,
  )
  expect(rows).toEqual(
    [4, 5, 2, 3, 1].map((nth) => ({
      nth,
      channel: nth % 2 === 0 ? other : channel,
      priority: nth === 5 ? 1 : 0,
    })),
  )
})
