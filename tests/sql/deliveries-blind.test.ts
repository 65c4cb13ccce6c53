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
