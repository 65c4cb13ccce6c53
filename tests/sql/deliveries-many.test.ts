import { describe, expect, test } from 'vitest'
import {
  add,
  alert,
  alertState,
  channel,
  KINDS,
  one,
  run,
  stateOf,
  useDeliveries,
} from './delivery-rows.ts'

useDeliveries()

const first = (status: string, more: object = {}) =>
  add(status, { type: 'alert.raised', sequence: 0, ...more })
/** Another alert of the same zone, that waits. */
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
const claimAll = (ids: string[], kinds: object = KINDS) =>
  run('select * from private.claim_deliveries($1, $2)', [ids, kinds])
const settleAll = (items: object[]) =>
  run('select private.settle_deliveries($1)', [JSON.stringify(items)])
const tried = (id: string, outcome: string, more: object = {}) => ({
  id,
  channel_id: channel,
  status: outcome === 'ok' ? 'succeeded' : 'failed',
  attempt: { attempt: 1, outcome, duration_ms: 1 },
  health: {
    host: 'hooks.example.com',
    is_host_failure: false,
    channel_seconds: 0,
    host_seconds: 0,
  },
  ...more,
})
const tries = async (id: string) =>
  await one(
    `select d.attempts, (select count(*)::int from watchpost.delivery_attempts t where t.delivery_id = d.id) as recorded
      from watchpost.deliveries d where d.id = $1`,
    [id],
  )

describe('several taken up at once', () => {
  test('each has words of its own, and what is done or carried is left out', async () => {
    const other = await anotherAlert()
    const [one1, two] = [await first('queued'), await first('queued', { alert_id: other })]
    const digest = await add('queued', { type: 'alert.digest', sequence: 0 })
    const carried = await add('queued', { digest_id: digest })
    const done = await add('succeeded')
    const claimed = await claimAll([one1, two, carried, done])
    const told = claimed.map(({ id, payload }) => [id, JSON.parse(payload).alert.id])
    expect(told.sort()).toEqual(
      [
        [one1, alert],
        [two, other],
      ].sort(),
    )
    expect([await stateOf(one1), await stateOf(two)]).toEqual(['sending', 'sending'])
  })

  test('of one channel each takes a turn', async () => {
    const kinds = { webhook: { schedule: 'webhook', messages: 1, per_seconds: 10 } }
    const ids = [await first('queued'), await first('queued', { alert_id: await anotherAlert() })]
    const waits = (await claimAll(ids, kinds)).map(({ waits_for }) => waits_for)
    expect(waits.sort()).toEqual(['turn', null].sort())
  })

  test('what the first was bundled with is not sent beside its digest', async () => {
    const kinds = { webhook: { schedule: 'message', messages: 1, per_seconds: 10 } }
    await run(
      `insert into watchpost.rate_limits (bucket, tat) values ($1, now() + interval '3 minutes')`,
      [`channel:${channel}`],
    )
    const ids = [await first('queued'), await first('queued', { alert_id: await anotherAlert() })]
    expect(await claimAll(ids, kinds)).toEqual([])
    const carried = await run(
      `select status, digest_id is not null as is_carried from watchpost.deliveries where id = any($1)`,
      [ids],
    )
    expect(carried).toEqual(ids.map(() => ({ status: 'queued', is_carried: true })))
  })
})

test('a plan from when there were few deliveries reads only those that are meant when there are many', async () => {
  const addMany = (from: number, to: number) =>
    run(
      `insert into watchpost.deliveries (alert_id, channel_id, type, sequence, status)
      select $1, $2, 'alert.revised', n, (array['queued', 'sending', 'succeeded'])[1 + n % 3]
      from generate_series($3::int, $4::int) n`,
      [alert, channel, from, to],
    )
  const readRows = async () =>
    (
      await one(
        `select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
        where relid = 'watchpost.deliveries'::regclass`,
      )
    ).rows
  /** Takes up and settles a message; says how many rows of deliveries were read. */
  const send = async () => {
    const id = await first('queued', { alert_id: await anotherAlert() })
    const before = await readRows()
    expect(await claimAll([id])).toHaveLength(1)
    await settleAll([tried(id, 'ok')])
    expect(await stateOf(id)).toBe('succeeded')
    return (await readRows()) - before
  }
  await addMany(1001, 1100)
  await run('analyze watchpost.deliveries')
  await send()
  await addMany(2001, 5000)
  expect(await send()).toBeLessThanOrEqual(40)
})

test('of messages queued together the first of each channel is fetched before the second of any', async () => {
  const { id: other } = await one(
    `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked)
    select owner_id, kind, target_sealed, target_masked from watchpost.channels where id = $1 returning id`,
    [channel],
  )
  const alerts = [alert]
  while (alerts.length < 6) alerts.push(await anotherAlert())
  const ids: string[] = []
  for (const alert_id of alerts) ids.push(await first('queued', { alert_id, channel_id: channel }))
  for (const alert_id of alerts.slice(0, 4)) {
    ids.push(await first('queued', { alert_id, channel_id: other }))
  }
  await run(
    `select private.enqueue_deliveries(array_agg(id), array_agg(alert_id), array_agg(channel_id))
    from watchpost.deliveries where id = any($1)`,
    [ids],
  )
  const [{ whole }] = await run(
    `select count(*)::int as whole from pgboss.job j join watchpost.deliveries d on d.id = j.id
    where j.data = jsonb_build_object('delivery_id', d.id) and j.group_id = d.channel_id::text`,
  )
  expect(whole).toBe(ids.length)
  const fetched = await run(
    `select group_id from pgboss.job where name = 'deliver' and id = any($1) order by ctid`,
    [ids],
  )
  const groups = fetched.map(({ group_id }) => group_id)
  const both = [channel, other].toSorted()
  const pairs = [0, 2, 4, 6].map((nr) => groups.slice(nr, nr + 2).toSorted())
  expect(pairs).toEqual([both, both, both, both])
  expect(groups.slice(8)).toEqual([channel, channel])
})

describe('several settled at once', () => {
  test('an alert that one reached and another did not is dispatched', async () => {
    const ids = [await first('sending'), await add('sending')]
    await settleAll([tried(ids[1] ?? '', 'fail_permanent'), tried(ids[0] ?? '', 'ok')])
    expect(await Promise.all(ids.map(stateOf))).toEqual(['succeeded', 'failed'])
    expect(await alertState()).toBe('dispatched')
  })

  test('each alert has the outcome of its own messages', async () => {
    const other = await anotherAlert()
    const ids = [await first('sending'), await first('sending', { alert_id: other })]
    await settleAll([tried(ids[0] ?? '', 'ok'), tried(ids[1] ?? '', 'fail_permanent')])
    expect([await alertState(), await alertState(other)]).toEqual(['dispatched', 'failed'])
  })

  test('one that comes twice is recorded once, and so is its next job', async () => {
    const id = await first('sending')
    const next_at = new Date(Date.now() + 60_000).toISOString()
    const again = tried(id, 'retry', { status: 'queued', next_at })
    await settleAll([again, again])
    expect(await tries(id)).toEqual({ attempts: 1, recorded: 1 })
    await settleAll([again])
    expect(await tries(id)).toEqual({ attempts: 1, recorded: 1 })
    const [{ count }] = await run(
      `select count(*)::int as count from pgboss.job where name = 'deliver' and data ->> 'delivery_id' = $1`,
      [id],
    )
    expect(count).toBe(1)
  })

  test('one that was deleted meanwhile does not keep the others', async () => {
    const id = await first('sending')
    await settleAll([tried('00000000-0000-4000-8000-000000000000', 'ok'), tried(id, 'ok')])
    expect(await stateOf(id)).toBe('succeeded')
  })

  test('of one that only waits nothing changes but its job', async () => {
    const [waiting, sent] = [await first('queued'), await add('sending')]
    await settleAll([
      { id: waiting, channel_id: channel, next_at: new Date(), waits_for: 'turn' },
      tried(sent, 'ok'),
    ])
    expect(await stateOf(waiting)).toBe('queued')
    expect(await tries(waiting)).toEqual({ attempts: 0, recorded: 0 })
  })
})
