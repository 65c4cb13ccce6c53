import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { add, alert, jobs, one, run, stateOf, useDeliveries, zone } from '../delivery-rows.ts'

/** How alerts are raised, get further, are updated and leave a hold, in a zone beside others. */
useDeliveries()

const event = (id: string, more: object = {}) => ({ id, source: 'test', title: 'M 5', ...more })
/** What a decision says of an alert of the zone. */
const decided = (event_id: string, more: object = {}) => ({
  ...{ zone_id: zone, zone_name: 'private', event_id, source: 'test', severity: 70, reason: 'new' },
  ...{ status: 'pending', raised_at: '2026-01-02', checks: [], zone_version: 1, event_revision: 2 },
  ...more,
})
const raise = (...ids: string[]) =>
  run('select private.raise_alerts($1, $2, $3)', [
    JSON.stringify(ids.map((id) => decided(id))),
    JSON.stringify(ids.map((id) => ({ event: event(id), event_revision: 2 }))),
    randomUUID(),
  ])
const advance = (event_id: string, more: object = {}) =>
  run('select private.advance_alerts($1, $2)', [
    JSON.stringify([{ ...decided(event_id, more), event: event(event_id) }]),
    randomUUID(),
  ])
const update = (event_id: string, more: object = {}) =>
  run('select private.update_alerts($1)', [
    JSON.stringify([
      {
        ...{ zone_id: zone, event_id, event: event(event_id), kind: 'revised', at: '2026-01-02' },
        ...{ severity: 70, reason: 'new', event_revision: 2, news: { update: 'revised' }, ...more },
      },
    ]),
  ])
/** The further events of all alerts: the zone, the event, and the title that was told. */
const further = async () =>
  (
    await run(
      `select concat_ws(' ', a.zone_name, m.event_id, m.event ->> 'title') as text
      from watchpost.alert_events m join watchpost.alerts a on a.id = m.alert_id
      where m.event_id <> 'other:public' order by 1`,
    )
  ).map(({ text }) => text)
/** The alerts of two zones know of the same two further events. */
const knowFurther = () =>
  run(
    `insert into watchpost.alert_events (zone_id, event_id, alert_id, source, event, event_revision, checks, reason,
      zone_version, added_at)
    select zone_id, given.id, alerts.id, 'test', '{}', 1, '[]', '', 1, now()
    from watchpost.alerts, unnest(array['test:a', 'test:b']) as given (id)
    where zone_name in ('private', 'shared')`,
  )
const OTHERS = ['shared test:a', 'shared test:b']
const named = (id: string) => one('select * from watchpost.alerts where id = $1', [id])

test('an event that has an alert of its own is no further event of another, in this zone alone', async () => {
  await knowFurther()
  await raise('test:a')
  expect(await further()).toEqual(['private test:b', ...OTHERS])
})

test('an alert that exists is left alone, and the others of a batch are raised', async () => {
  const before = await named(alert)
  await raise('test:public', 'test:new')
  expect(await named(alert)).toEqual(before)
  expect(
    await run(`select event_id from watchpost.alerts where event_id = 'test:new'`),
  ).toHaveLength(1)
})

describe('an alert that gets further', () => {
  test('is about the event that took it further, and knows of the former; so no other zone', async () => {
    await knowFurther()
    await run(
      `update watchpost.alerts set status = 'held' where zone_name in ('private', 'shared')`,
    )
    await advance('test:a', { alert_event_id: 'test:public' })
    expect(await named(alert)).toMatchObject({
      event_id: 'test:a',
      severity: 70,
      status: 'pending',
    })
    expect(await further()).toEqual(['private test:b', 'private test:public', ...OTHERS])
  })

  test.each([
    ['suppressed', null, true],
    ['held', '2026-02-01', true],
    ['recorded', '2026-02-01', true],
    ['recorded', null, false],
    ['pending', null, false],
    ['dispatched', null, false],
    ['failed', null, false],
  ])('was %s, held until %s: %s; otherwise it escalates', async (status, held_until, isAnew) => {
    await run('update watchpost.alerts set status = $2, held_until = $3 where id = $1', [
      ...[alert, status, held_until],
    ])
    await advance('test:public')
    const { updates, ...after } = await named(alert)
    expect(after.first_reason).toBe(isAnew ? 'new' : 'reason')
    expect(updates.map(({ kind }: { kind: string }) => kind)).toEqual(isAnew ? [] : ['escalated'])
  })

  test('does not take the event of another alert of its zone', async () => {
    await run(`update watchpost.alerts set status = 'held' where id = $1`, [alert])
    await raise('test:a')
    await advance('test:a', { alert_event_id: 'test:public' })
    expect(await named(alert)).toMatchObject({ event_id: 'test:public', status: 'held' })
  })
})

describe('an update of an alert', () => {
  test('through a further event changes that event, of this zone alone, and not its own', async () => {
    await knowFurther()
    const before = await named(alert)
    await update('test:a')
    expect(await further()).toEqual(['private test:a M 5', 'private test:b', ...OTHERS])
    const after = await named(alert)
    expect(after).toMatchObject({ severity: 70, reason: 'new', current: before.current })
    expect(after.event_revision).toBe(before.event_revision)
  })

  test.each([
    ['escalated', false],
    ['revised', true],
  ])('that %s leaves it acknowledged: %s', async (kind, stays) => {
    await run(`update watchpost.alerts set seen_at = now(), seen_via = 'api' where id = $1`, [
      alert,
    ])
    await update('test:public', { kind })
    const { seen_at, seen_via } = await named(alert)
    expect([seen_at !== null, seen_via !== null]).toEqual([stays, stays])
  })
})

describe('the end of a hold', () => {
  const hold = (until: string, more = '') =>
    run(
      `update watchpost.alerts set status = 'held', held_until = now() + $1::interval ${more}
      where zone_name in ('private', 'shared')`,
      [until],
    )
  const BURST = `, checks = '[{"name": "quiet_hours", "passed": true}, {"name": "burst", "passed": false}]'`
  const release = async (early = false, burst: string | null = null) =>
    (
      await one('select private.release_held($1, $2, now() + $3::interval) as count', [
        ...[zone, early, burst],
      ])
    ).count
  const wait = async (zone_name = 'private') =>
    (
      await one(
        `select status || coalesce(' ' || extract(epoch from held_until - now())::integer, '') as text
        from watchpost.alerts where zone_name = $1`,
        [zone_name],
      )
    ).text
  const releases = async () =>
    (
      await run(
        `select extract(epoch from start_after - now())::integer as seconds from pgboss.job where name = 'release'`,
      )
    ).map(({ seconds }) => seconds)

  test.each([
    ['-1 s', false, 1, 'pending -1'],
    ['0 s', false, 1, 'pending 0'],
    ['1 s', false, 0, 'held 1'],
    ['1 hour', true, 1, 'pending 0'],
  ])('%s from now, early: %s', async (until, early, count, after) => {
    await hold(until)
    await add('held', { type: 'alert.raised', sequence: 0 })
    expect(await release(early)).toBe(count)
    expect(await wait()).toBe(after)
    expect(await wait('shared')).toMatch(/^held/)
  })

  test.each(['pending', 'dispatched', 'failed', 'suppressed', 'recorded'])(
    'leaves alone an alert that is %s',
    async (status) => {
      await hold('1 hour')
      await run('update watchpost.alerts set status = $2 where id = $1', [alert, status])
      expect(await release(true)).toBe(0)
      expect(await wait()).toBe(`${status} 3600`)
      await run('update watchpost.alerts set held_until = now() where id = $1', [alert])
      expect(await release()).toBe(0)
    },
  )

  test('is for what a burst held no sooner than the burst, which is looked at again then', async () => {
    await hold('1 hour', BURST)
    await add('held', { type: 'alert.raised', sequence: 0 })
    expect(await release(true, '10 minutes')).toBe(0)
    expect(await wait()).toBe('held 600')
    expect(await releases()).toEqual([600])
    await run(`delete from pgboss.job where name = 'release'`)
    expect(await release(true, '0 s')).toBe(1)
    expect(await wait()).toBe('pending 0')
    expect(await releases()).toEqual([])
  })

  test.each([
    ['enabled = false', 'suppressed', 'cancelled', 0],
    [`snoozed_until = now() + interval '1 s'`, 'suppressed', 'cancelled', 0],
    ['snoozed_until = now()', 'pending', 'queued', 1],
    ['deleted_at = now()', 'held', 'held', 0],
  ])('of a zone with %s', async (set, status, message, count) => {
    await hold('0 s')
    const id = await add('held', { type: 'alert.raised', sequence: 0 })
    await run(`update watchpost.zones set ${set} where id = $1`, [zone])
    expect(await release()).toBe(count)
    expect(await wait()).toBe(`${status} 0`)
    expect([await stateOf(id), (await jobs()).length]).toEqual([message, count])
  })

  test('counts an alert once, whatever of it was held, and what was sent before stays sent', async () => {
    await hold('0 s')
    await add('held', { type: 'alert.raised', sequence: 0 })
    expect(await release()).toBe(1)
    await run('delete from pgboss.job')
    await add('held', { type: 'alert.revised', next_attempt_at: '2026-01-01' })
    await add('held', { type: 'alert.ended', next_attempt_at: '2026-01-01' })
    await run(`update watchpost.alerts set status = 'dispatched' where id = $1`, [alert])
    expect(await release()).toBe(1)
    expect(await wait()).toBe('dispatched 0')
  })

  test('records an alert that has no channel left', async () => {
    await hold('0 s')
    await add('cancelled', { type: 'alert.raised', sequence: 0 })
    await run('update watchpost.channels set enabled = false')
    await release()
    expect(await wait()).toBe('recorded 0')
  })
})

describe('a stay whose subject was not seen', () => {
  const remember = (key: string, age: string, more: Record<string, string | null> = {}) =>
    run(
      `insert into watchpost.match_memory (zone_id, key, memory, updated_at, seen_at)
      select $1, $2, jsonb_build_object('kind', $3::text, 'alert', $4::text, 'last_seen_at', now() - $5::interval),
        now() - $6::interval, now() - $7::interval`,
      [
        ...[zone, key, more.kind ?? 'stay', more.alert === undefined ? 'open' : more.alert],
        ...[age, more.updated ?? age, more.seen ?? null],
      ],
    )
  const unseen = async (limit = 9) =>
    (await run('select key from private.unseen_stays(now(), $1)', [limit])).map(({ key }) => key)

  test('for more than 24 hours ends, where it has an alert', async () => {
    await remember('just', '24 hours')
    await remember('longer', '24 hours 1 s')
    await remember('seen since', '30 hours', { seen: '23 hours' })
    await remember('seen in another way', '23 hours', { updated: '30 hours' })
    await remember('without an alert', '30 hours', { alert: null })
    await remember('no stay', '30 hours', { kind: 'event' })
    expect(await unseen()).toEqual(['longer'])
  })

  test('longest is the first to end', async () => {
    await remember('b', '30 hours')
    await remember('a', '40 hours')
    await remember('c', '35 hours')
    expect([await unseen(1), (await unseen(2)).sort()]).toEqual([['a'], ['a', 'c']])
  })
})
