import { describe, expect, test } from 'vitest'
import {
  add,
  alert,
  anotherAlert,
  CHAT,
  channel,
  claim,
  first,
  jobs,
  now,
  one,
  run,
  secondsUntil,
  settle,
  startClock,
  stateOf,
  useDeliveries,
  zone,
} from './delivery-rows.ts'

useDeliveries()

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

  test('leaves a message its turn for a minute, and gives a retry one of its own', async () => {
    await startClock()
    await run(
      `insert into watchpost.rate_limits (bucket, tat) values ($1, pgboss.job_now() + interval '60 s')`,
      [`channel:${channel}`],
    )
    const ago = (seconds: number) => new Date(+now - seconds * 1000)
    const id = await add('queued', { sequence: 1, turn_at: ago(59) })
    expect(await waits(id)).toEqual([null, null])
    await settle(id, 'queued', 'later')
    expect(await waits(id)).toEqual(['turn', 60])
    const alert_id = await anotherAlert()
    expect(await waits(await add('queued', { alert_id, turn_at: ago(61) }))).toEqual(['turn', 70])
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

  const farAway = () =>
    run(`insert into watchpost.rate_limits (bucket, tat) values ($1, now() + interval '3 min')`, [
      `channel:${channel}`,
    ])
  const carrierOf = async (id: string) =>
    (await one('select digest_id from watchpost.deliveries where id = $1', [id])).digest_id
  const another = async (more: object = {}) =>
    first('queued', { alert_id: await anotherAlert(), ...more })
  const drill = async () => {
    const id = await anotherAlert()
    await run('update watchpost.alerts set drill_id = gen_random_uuid() where id = $1', [id])
    return id
  }

  test('bundles nothing that has a turn, goes in another digest or is a drill', async () => {
    await farAway()
    const carrier = await add('queued', { type: 'alert.digest', sequence: 0, payload: '{}' })
    const [asked, other] = [await another(), await another()]
    const left = [
      await another({ turn_at: '2099-01-01' }),
      await another({ digest_id: carrier }),
      await another({ alert_id: await drill() }),
    ]
    expect(await claim(asked, CHAT)).toBeUndefined()
    expect(await carrierOf(other)).toBe(await carrierOf(asked))
    const carriers: unknown[] = []
    for (const id of left) carriers.push(await carrierOf(id))
    expect(carriers).toEqual([null, carrier, null])
  })

  test.each<[string, () => Promise<object>]>([
    ['that has no turn yet', async () => ({ turn_at: null })],
    ['whose words are fixed', async () => ({ payload: '{}' })],
    ['that somebody asked for again', async () => ({ redelivery_of: await another() })],
    ['of a drill', async () => ({ alert_id: await drill() })],
  ])('bundles nothing in a digest %s', async (_, more) => {
    await farAway()
    const given = { type: 'alert.digest', sequence: 0, turn_at: '2099-01-01', ...(await more()) }
    const digest = await add('queued', given)
    const [asked] = [await another(), await another()]
    expect(await claim(asked, CHAT)).toBeUndefined()
    expect([null, digest]).not.toContain(await carrierOf(asked))
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
