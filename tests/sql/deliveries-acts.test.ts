import { describe, expect, test } from 'vitest'
import { add, alert, channel, one, run, useDeliveries, zone } from './delivery-rows.ts'

useDeliveries()

const setChannel = (fields: string) =>
  run(`update watchpost.channels set ${fields} where id = $1`, [channel])
const ACTS = '{alert.acknowledged,alert.reopened,alert.resolved}'
const takes = (messages: string) =>
  setChannel(`messages = '${messages}'::text[] || '${ACTS}'::text[]`)
/** A first message of the alert. */
const sent = (status = 'succeeded', more: object = {}) =>
  add(status, { type: 'alert.raised', sequence: 0, ...more })
const others = async (label: string) =>
  (await one('select id from watchpost.channels where label = $1', [label])).id as string
/** The channels that are told what somebody has done. */
async function told(kind = 'acknowledged'): Promise<string[]> {
  await run('select private.deliver_act($1, $2)', [alert, kind])
  const rows = await run(
    `select c.label from watchpost.deliveries d join watchpost.channels c on c.id = d.channel_id
    where d.type = $1 order by 1`,
    [`alert.${kind}`],
  )
  return rows.map(({ label }) => label)
}

describe('what somebody has done with an alert is told', () => {
  test.each([
    ['was told', '{alert.raised}', 'succeeded', ['private']],
    ['is still to be told', '{alert.raised}', 'queued', ['private']],
    ['was not told after all', '{alert.raised}', 'cancelled', []],
    ['takes no first messages', '{}', 'cancelled', ['private']],
  ])('to a channel that %s', async (_, messages, status, expected) => {
    await takes(messages)
    await sent(status)
    expect(await told()).toEqual(expected)
  })

  test('to no channel that takes no such message', async () => {
    await setChannel("messages = '{alert.raised}'")
    await sent()
    expect(await told()).toEqual([])
  })

  test('to none that the owner of the zone no longer sees, and of a deleted zone to none', async () => {
    await takes('{alert.raised}')
    await run(`update watchpost.channels set messages = $1 where label = 'foreign'`, [
      '{alert.raised,alert.acknowledged,alert.reopened}',
    ])
    await sent('succeeded', { channel_id: await others('foreign') })
    await sent()
    expect(await told()).toEqual(['private'])
    await run('update watchpost.zones set deleted_at = now() where id = $1', [zone])
    expect(await told('reopened')).toEqual([])
  })

  test('to PagerDuty whatever it takes, where it knows of the alert', async () => {
    await setChannel("kind = 'pagerduty', messages = '{alert.raised}'")
    expect(await told()).toEqual([])
    await sent()
    expect(await told()).toEqual(['private'])
  })

  test('to Pushover whatever it takes, where it still rings, unless it is to go on', async () => {
    await setChannel("kind = 'pushover', messages = '{alert.raised}'")
    await sent('succeeded', { remote_ref: 'a message' })
    const other = await others('shared')
    await sent('succeeded', { channel_id: other, remote_ref: 'receipt:1' })
    await run(`update watchpost.channels set messages = '{alert.raised}' where id = $1`, [other])
    expect(await told()).toEqual([])
    await run("update watchpost.deliveries set remote_ref = 'receipt:2' where channel_id = $1", [
      channel,
    ])
    expect(await told('reopened')).toEqual([])
    expect(await told('resolved')).toEqual(['private'])
  })

  test('when a drill ends only where an incident would stay open', async () => {
    await run('update watchpost.alerts set drill_id = gen_random_uuid() where id = $1', [alert])
    await takes('{alert.raised}')
    await sent()
    expect(await told('resolved')).toEqual([])
    expect(await told('acknowledged')).toEqual(['private'])
    await setChannel("kind = 'pagerduty'")
    expect(await told('resolved')).toEqual(['private'])
  })

  test('as one act after the other since the last update', async () => {
    await takes('{alert.raised}')
    await sent()
    await told('acknowledged')
    await told('reopened')
    await run(`update watchpost.alerts set updates = '[{}]' where id = $1`, [alert])
    await told('resolved')
    const acts = await run(
      `select type, sequence, act from watchpost.deliveries where act > 0 order by sequence, act`,
    )
    expect(acts).toEqual([
      { type: 'alert.acknowledged', sequence: 0, act: 1 },
      { type: 'alert.reopened', sequence: 0, act: 2 },
      { type: 'alert.resolved', sequence: 1, act: 1 },
    ])
  })
})

describe('a step of an escalation', () => {
  test.each([
    ['recorded', 'pending'],
    ['failed', 'pending'],
    ['pending', 'pending'],
    ['dispatched', 'dispatched'],
    ['held', 'held'],
  ])('makes an alert that is %s %s, where it goes to somebody', async (before, after) => {
    const state = async () =>
      (await one('select status from watchpost.alerts where id = $1', [alert])).status
    await run('update watchpost.alerts set status = $2 where id = $1', [alert, before])
    await run("select private.deliver_step($1, '{}', $2)", [alert, { step: 1 }])
    expect(await state()).toBe(before)
    await run('select private.deliver_step($1, $2, $3)', [alert, [channel], { step: 1 }])
    expect(await state()).toBe(after)
    expect(await run('select type, step from watchpost.deliveries')).toEqual([
      { type: 'alert.raised', step: { step: 1 } },
    ])
  })
})
