import { expect, test } from 'vitest'
import { add, channel, claim, KINDS, one, run, useDeliveries } from './delivery-rows.ts'

useDeliveries()

const pause = () =>
  run(
    `update watchpost.channels set failures = 6, status = 'failing', paused_until = now() + interval '1 minute'
    where id = $1`,
    [channel],
  )
const minutesUntil = (time: Date) => Math.round((time.getTime() - Date.now()) / 60_000)

/** Takes up so many messages of the paused channel and lets each wait, as the jobs do. */
async function waitAll(count: number) {
  const waits: number[] = []
  for (let nr = 0; nr < count; nr += 1) {
    const { id, channel_id, wait_until, waits_for } = await claim(await add('queued'))
    expect(waits_for).toBe('pause')
    waits.push(minutesUntil(wait_until))
    await run('select private.settle_deliveries($1)', [
      JSON.stringify([{ id, channel_id, next_at: wait_until, waits_for }]),
    ])
  }
  return waits
}

const due = async (id = channel) => {
  const { count } = await one(
    `select count(*)::int as count from pgboss.job
    where name = 'deliver' and group_id = $1 and start_after <= pgboss.job_now()`,
    [id],
  )
  return count
}

test('five messages try a paused channel when its pause is over, the others wait longer', async () => {
  await pause()
  expect(await waitAll(7)).toEqual([1, 1, 1, 1, 1, 31, 31])
  // One that tries again is not one of the five others.
  const [again] = await run(
    'select id from watchpost.deliveries order by next_attempt_at, created_at, id limit 1',
  )
  expect(minutesUntil((await claim(again.id)).wait_until)).toBe(1)
})

test('the other messages of a channel are counted only while it is paused', async () => {
  await run("set local track_functions = 'pl'")
  const looks = async () => {
    const { calls } = await one(
      `select coalesce(sum(calls), 0)::int as calls from pg_stat_xact_user_functions where funcname = 'has_probes'`,
    )
    return calls
  }
  await claim(await add('queued'))
  expect(await looks()).toBe(0)
  await pause()
  await waitAll(3)
  expect(await looks()).toBe(3)
  await run(`update watchpost.channels set paused_until = now() - interval '1 minute'`)
  await claim(await add('queued'))
  expect(await looks()).toBe(3)
})

test('the first that succeeds calls all that waited for the pause, and nothing else', async () => {
  await pause()
  await waitAll(7)
  const later = await add('queued')
  await run(`select private.enqueue_delivery($1, $2, now() + interval '1 hour')`, [later, channel])
  const { other } = await one("select id as other from watchpost.channels where label = 'shared'")
  const others = await add('queued', { channel_id: other })
  await run(`select private.enqueue_delivery($1, $2, now() + interval '1 hour', 'pause')`, [
    others,
    other,
  ])
  expect(await due()).toBe(0)
  await run('set local session_replication_role = origin')
  await run('select private.record_attempt($1, $2, $3, null, $4)', [
    await add('sending'),
    { attempt: 1, outcome: 'ok', duration_ms: 1 },
    'succeeded',
    { host: 'hooks.example.com', is_host_failure: false, channel_seconds: 0, host_seconds: 0 },
  ])
  expect(await due()).toBe(7)
  expect(await due(other)).toBe(0)
})

test('with another target they are due at once', async () => {
  await pause()
  await waitAll(7)
  await run('set local session_replication_role = origin')
  await run(`update watchpost.channels set failures = 0, paused_until = null where id = $1`, [
    channel,
  ])
  expect(await due()).toBe(7)
})

test('never longer than until its deadline', async () => {
  await pause()
  await waitAll(5)
  const { id } = await one(
    `update watchpost.deliveries set expires_at = now() + interval '3 minutes' where id = $1 returning id`,
    [await add('queued')],
  )
  const { wait_until } = await claim(id, KINDS)
  expect(minutesUntil(wait_until)).toBe(3)
})

test('a payload that is stored out of line is taken up again as it is', async () => {
  const payload = JSON.stringify({ note: Array.from({ length: 3000 }, () => Math.random()).join() })
  const digest = await add('queued', { type: 'alert.digest', sequence: 0, payload, attempts: 1 })
  expect((await claim(digest)).payload).toBe(payload)
})
