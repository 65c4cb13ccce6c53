import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { add, channel, jobs, one, run, STATES, useDeliveries, zone } from './delivery-rows.ts'

useDeliveries()

let blindness = ''
beforeEach(async () => {
  await run('delete from watchpost.blind_zones')
  blindness = (await one('select id from watchpost.blindness')).id
  await run(
    'insert into watchpost.blind_zones (blindness_id, channel_id, zone_id) values ($1, $2, $3)',
    [blindness, channel, zone],
  )
})

const BLIND = { alert_id: null, sequence: 0, type: 'zone.blind' }
const deliver = (type: string, id = blindness) =>
  run('select private.deliver_blindness($1, $2)', [id, type])
const messages = async () =>
  (
    await run('select type, status, channel_id from watchpost.deliveries order by created_at, type')
  ).map(
    ({ type, status, channel_id }) =>
      `${type} ${status}${channel_id === channel ? '' : ' elsewhere'}`,
  )
const queued = async () =>
  (await one("select count(*)::integer from pgboss.job where name = 'deliver'")).count
const set = (what: string) => run(`update watchpost.channels set ${what} where id = $1`, [channel])

describe('that a zone is blind', () => {
  test('is told to the channels that it has, once, and each message has its job', async () => {
    const before = await queued()
    await deliver('zone.blind')
    await deliver('zone.blind')
    expect(await messages()).toEqual(['zone.blind queued'])
    expect((await queued()) - before).toBe(1)
  })

  test.each([
    ['was deleted', 'deleted_at = now()'],
    ['takes other messages alone', "messages = '{alert.raised}'"],
    ['was deleted and takes none', "deleted_at = now(), messages = '{alert.raised}'"],
  ])('is not told to one that %s', async (_, change) => {
    await set(change)
    await deliver('zone.blind')
    expect(await messages()).toEqual([])
  })

  test('is told to one that takes just that', async () => {
    await set("messages = '{zone.blind}'")
    await deliver('zone.blind')
    expect(await messages()).toEqual(['zone.blind queued'])
  })
})

test('is refused once no zone of this channel and blindness is left, whatever else is blind', async () => {
  const { id: other } = await one(
    `insert into watchpost.blindness (source, status, reason, ended_at) values ('test', 'down', 'x', now()) returning id`,
  )
  const { zone: foreign, channel: elsewhere } = await one(
    `select z.id as zone, c.id as channel from watchpost.zones z, watchpost.channels c
      where z.label = 'foreign' and c.label = 'foreign'`,
  )
  await run('update watchpost.zones set channel_ids = array[$2::uuid] where id = $1', [
    foreign,
    elsewhere,
  ])
  const id = await add('queued', { ...BLIND, blindness_id: blindness })
  const why = async () =>
    (
      await one(
        `select private.refusal_of_delivery(d, c) as why from watchpost.deliveries d
          join watchpost.channels c on c.id = d.channel_id where d.id = $1`,
        [id],
      )
    ).why
  expect(await why()).toBeNull()
  await run('update watchpost.zones set deleted_at = now() where id = $1', [zone])
  await run(
    'insert into watchpost.blind_zones (blindness_id, channel_id, zone_id) values ($1, $2, $3), ($4, $5, $3)',
    [blindness, elsewhere, foreign, other, channel],
  )
  expect(await why()).toBe('The zone was deleted.')
  await run('delete from watchpost.blind_zones where zone_id = $1', [zone])
  expect(await why()).toBe('The zones were deleted.')
})

describe('that it sees again', () => {
  test.each(STATES)('where it was told that it is blind: %s', async (status) => {
    await add(status, { ...BLIND, blindness_id: blindness })
    await deliver('zone.sighted')
    const isTold = ['queued', 'sending', 'succeeded'].includes(status)
    expect(await messages()).toEqual(
      [`zone.blind ${status}`, ...(isTold ? ['zone.sighted queued'] : [])].sort(),
    )
  })

  test('but not where another blindness was told, or another channel', async () => {
    const { id: other } = await one(
      `insert into watchpost.blindness (source, status, reason, ended_at) values ('test', 'down', 'x', now()) returning id`,
    )
    const { id: elsewhere } = await one("select id from watchpost.channels where label = 'foreign'")
    await add('succeeded', { ...BLIND, blindness_id: other })
    await add('succeeded', { ...BLIND, blindness_id: blindness, channel_id: elsewhere })
    await deliver('zone.sighted')
    expect((await messages()).filter((text) => text.startsWith('zone.sighted'))).toEqual([])
  })

  test.each(['deleted_at = now()', "messages = '{zone.blind}'"])(
    'and not to one with %s meanwhile',
    async (change) => {
      await add('succeeded', { ...BLIND, blindness_id: blindness })
      await set(change)
      await deliver('zone.sighted')
      expect(await messages()).toEqual(['zone.blind succeeded'])
    },
  )
})

test('that a channel is in trouble is told once, and so is that it works again', async () => {
  const trouble = randomUUID()
  for (const type of ['channel.failing', 'channel.failing', 'channel.recovered']) {
    await run('select private.deliver_trouble($1, $2, $3)', [trouble, channel, type])
  }
  const told = await run('select id, type from watchpost.deliveries order by type')
  expect(told.map(({ type }) => type)).toEqual(['channel.failing', 'channel.recovered'])
  expect((await jobs()).sort()).toEqual(told.map(({ id }) => id).sort())
})

describe('a source that is not well', () => {
  /** What the zone and its channel are to be told, where their owner has these. */
  const zones = async () => {
    await run('delete from watchpost.blind_zones')
    await run('select private.note_blind_zones($1)', [blindness])
    const told = await run(
      `select z.label as zone, c.label as channel from watchpost.blind_zones b
      join watchpost.zones z on z.id = b.zone_id join watchpost.channels c on c.id = b.channel_id order by 1, 2`,
    )
    return told.map(({ zone, channel }) => `${zone} to ${channel}`)
  }
  test.each([
    ['as it is', 'zones', 'label = label', true],
    ['off', 'zones', 'enabled = false', false],
    ['deleted', 'zones', 'deleted_at = now()', false],
    ['snoozed', 'zones', `snoozed_until = now() + interval '1 s'`, false],
    ['snoozed until now', 'zones', 'snoozed_until = now()', true],
    ['hearing of other sources', 'zones', `sources = '{else}'`, false],
    ['of an account on the free plan', 'accounts', `plan = 'free'`, false],
    ['of a banned account', 'accounts', `banned_until = 'infinity'`, false],
    ['with a channel that is off', 'channels', 'enabled = false', false],
    ['with one that takes no such message', 'channels', `messages = '{alert.raised}'`, false],
  ])('leaves blind a zone that is there, on and awake: %s', async (_, table, change, isBlind) => {
    await run('update watchpost.zones set min_severity = 10')
    const where = {
      zones: `label = 'private'`,
      accounts: `email = 'owner'`,
      channels: `label = 'private'`,
    }[table]
    await run(`update watchpost.${table} set ${change} where ${where}`)
    const told = await zones()
    expect(told.includes('private to private')).toBe(isBlind)
    expect(told).toContain('foreign to foreign')
  })

  const LIMIT = { down: 'private.blind_after(s)', ok: 'private.well_after(s)' }
  const set = (change: string) =>
    run(`update watchpost.blindness b set ${change} from watchpost.sources s
      where s.source = b.source and b.source = 'test'`)
  const look = async (status: string) => {
    await run(
      `update watchpost.sources set enabled = $1 <> 'disabled', last_success_at = case $1 when 'ok' then now() end,
        error_at = case $1 when 'down' then now() end where source = 'test'`,
      [status],
    )
    return (
      await one(
        `select private.watch_source(s) as told from watchpost.sources s where source = 'test'`,
      )
    ).told
  }
  const row = async () => {
    const rows = await run(
      `select concat_ws(', ', case when ended_at is not null then 'over' end,
        case when told_at is not null then 'told' end, case when well_at is not null then 'well' end,
        case when began_at = now() then 'begun anew' end) as text from watchpost.blindness where source = 'test'`,
    )
    return rows.map(({ text }) => text)
  }
  const told = `told_at = now() - interval '1 hour'`
  const began = (than: string) => `began_at = now() - ${LIMIT.down} ${than}, seen_at = now()`
  const mended = (than: string) => `well_at = now() - ${LIMIT.ok} ${than}, seen_at = now()`
  const later = `+ interval '1 s'`
  test.each([
    ['long enough', 'down', began(''), 'blind', ['told']],
    ['not so long', 'down', began(later), null, ['']],
    ['and was told', 'down', `${began('')}, ${told}`, null, ['told']],
    ['again', 'down', `${mended('')}, ${told}`, null, ['told']],
    [
      'and nobody looked',
      'down',
      `seen_at = now() - interval '301 s', began_at = now() - interval '1 h'`,
      null,
      ['begun anew'],
    ],
    [
      'and somebody looked',
      'down',
      `seen_at = now() - interval '300 s', began_at = now() - interval '1 h'`,
      'blind',
      ['told'],
    ],
    [
      'and was told before nobody looked',
      'down',
      `seen_at = now() - interval '1 h', began_at = now() - interval '1 h', ${told}`,
      null,
      ['told'],
    ],
    ['and is switched off', 'disabled', began(''), null, []],
    [
      'was told and mended, and is switched off',
      'disabled',
      `${mended('')}, ${told}, began_at = now() - interval '1 h'`,
      null,
      ['told, well'],
    ],
    ['was told, and is switched off', 'disabled', `${began('')}, ${told}`, null, ['told']],
    ['and is mended now', 'ok', `${began(later)}, ${told}`, null, ['told, well']],
    [
      'and is mended for long',
      'ok',
      `${mended('')}, ${told}, began_at = now() - interval '1 h'`,
      'sighted',
      ['over, told, well'],
    ],
    [
      'and is mended not so long',
      'ok',
      `${mended(later)}, ${told}, began_at = now() - interval '1 h'`,
      null,
      ['told, well'],
    ],
    [
      'and is mended, but was never told',
      'ok',
      `${mended('')}, began_at = now() - interval '1 h'`,
      null,
      [],
    ],
  ])('%s', async (_, status, change, expected, left) => {
    await run('delete from watchpost.blind_zones')
    await run(`insert into watchpost.blindness (source, status, reason, began_at, seen_at, well_at)
      select 'else', 'down', '', now() - interval '1 day', now(), now() - interval '1 day'`)
    const other = await one(`select * from watchpost.blindness where source = 'else'`)
    await set(change)
    expect(await look(status)).toBe(expected)
    expect(await row()).toEqual(left)
    expect(await one(`select * from watchpost.blindness where source = 'else'`)).toEqual(other)
  })

  test('is noted once', async () => {
    await run('delete from watchpost.blindness')
    expect([await look('down'), await look('down'), await row()]).toEqual([
      null,
      null,
      ['begun anew'],
    ])
  })
})

describe('that a channel is in trouble', () => {
  /** The trouble of the channel, told and mended so long ago; beside that of another. */
  const trouble = (mended: string | null, more: { told?: boolean } = {}) =>
    run(
      `insert into watchpost.channel_troubles (channel_id, status, reason, began_at, told_at, told_through, well_at)
      values ($1, 'failing', 'Its own.', now() - interval '2 days', case when $2 then now() end, $1, now() - $3::interval)`,
      [channel, more.told ?? true, mended],
    )
  const sent = (age: string, to = channel) =>
    add('succeeded', { channel_id: to, delivered_at: new Date(Date.now() - Number(age) * 60_000) })
  const watch = async () =>
    (
      await one('select private.watch_channel(c) as told from watchpost.channels c where id = $1', [
        channel,
      ])
    ).told
  const statesOf = async () => {
    const rows = await run(
      `select t.channel_id, case when ended_at is not null then 'over' when well_at is null then 'ill' else 'well' end as state
      from watchpost.channel_troubles t`,
    )
    const [own, others] = [true, false].map((is) =>
      rows.filter(({ channel_id }) => (channel_id === channel) === is).map(({ state }) => state),
    )
    expect(others).toEqual(['ill'])
    return own
  }

  test.each([
    ['just now', null, null, null, 'well'],
    ['4 minutes ago', '4 minutes', '1', null, 'well'],
    ['5 minutes ago, and something was sent', '5 minutes', '1', 'recovered', 'over'],
    ['and nothing was sent since it began', '5 minutes', '3000', null, 'well'],
    ['and nothing at all was sent for 23 hours', '23 hours', null, null, 'well'],
    ['and nothing at all was sent for a day', '24 hours', null, null, 'over'],
  ])('is over when it is mended: %s', async (_, mended, age, told, state) => {
    await trouble(mended)
    if (age) await sent(age)
    const { other } = await one("select id as other from watchpost.channels where label = 'shared'")
    await sent('1', other)
    expect(await watch()).toBe(told)
    expect(await statesOf()).toEqual([state])
    const messages = await run("select from watchpost.deliveries where type = 'channel.recovered'")
    expect(messages).toHaveLength(told ? 1 : 0)
  })

  test.each([
    ['switched off', 'enabled = false', ['over']],
    ['deleted', 'deleted_at = now()', ['over']],
    ['failing again', `status = 'failing', failing_since = now()`, ['ill']],
  ])('where it is %s', async (_, change, expected) => {
    await trouble('1 hour')
    await sent('1')
    await set(change)
    expect([await watch(), await statesOf()]).toEqual([null, expected])
  })

  test('is forgotten where it was never told', async () => {
    await trouble('1 minute', { told: false })
    expect([await watch(), await statesOf()]).toEqual([null, []])
  })

  test.each([
    [
      'failing for 15 minutes',
      `status = 'failing', failing_since = now() - interval '15 minutes'`,
      'failing',
    ],
    ['failing for less', `status = 'failing', failing_since = now() - interval '14 minutes'`, null],
    ['disabled by its receiver', `status = 'disabled', disabled_reason = 'Gone.'`, 'failing'],
    ['switched off', `status = 'disabled', disabled_reason = 'It was switched off.'`, null],
  ])('is told once through another when it is %s', async (_, change, told) => {
    await run(`insert into watchpost.channels (owner_id, kind, label, target_sealed, target_masked)
      select owner_id, kind, 'other', 'x', 'x' from watchpost.channels where id = '${channel}'`)
    await set(change)
    expect([await watch(), await watch()]).toEqual([told, null])
    const through = `select c.label from watchpost.deliveries d join watchpost.channels c on c.id = d.channel_id
      where d.type = 'channel.failing'`
    expect(await run(through)).toEqual(told ? [{ label: 'other' }] : [])
  })
})

test('the channel that tells of another is one that its owner has, that works and that no others read', async () => {
  const teller = async () =>
    (
      await one(
        `select (select label from watchpost.channels where id = private.teller_for(c)) as name from watchpost.channels c where id = $1`,
        [channel],
      )
    ).name
  await run(`insert into watchpost.channels (owner_id, kind, host, label, target_sealed, target_masked)
    select owner_id, kind, 'elsewhere', 'other', 'x', 'x' from watchpost.channels where id = '${channel}'`)
  // The shared one is read by others, who do not see this one.
  expect(await teller()).toBe('other')
  for (const change of [
    'enabled = false',
    'deleted_at = now()',
    `status = 'failing'`,
    `messages = '{alert.raised}'`,
    `owner_id = (select user_id from watchpost.accounts where email = 'stranger')`,
    `org_id = (select id from watchpost.organisations where name = 'shared')`,
  ]) {
    await run(`savepoint s; update watchpost.channels set ${change} where label = 'other'`)
    expect(await teller(), change).toBeNull()
    await run('rollback to s')
  }
  for (const change of [`plan = 'free'`, `banned_until = 'infinity'`]) {
    await run(`savepoint s; update watchpost.accounts set ${change} where email = 'owner'`)
    expect(await teller(), change).toBeNull()
    await run('rollback to s')
  }
})
