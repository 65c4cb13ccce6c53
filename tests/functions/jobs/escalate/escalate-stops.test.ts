import { describe, expect, test } from 'vitest'
import type { NormalisedEvent } from '../../../../shared/schemas/event.ts'
import { quake } from '../../../support/jobs.ts'
import { parsed } from '../../../support/service.ts'
import {
  alertOf,
  ask,
  channelOf,
  fates,
  jobs,
  Made,
  nextPlace,
  pass,
  type Scene,
  scene,
  sent,
  service,
  stepsOf,
  tell,
  told,
  useService,
} from './escalation-scene.ts'

useService()

describe('the steps of an alert stop when', () => {
  const patchZone = (body: object) => async (at: Scene) => {
    expect((await ask(at.person, 'PATCH', `zones/${at.zone}`, body)).status).toBe(200)
  }
  const patchAlert = (body: object) => async (at: Scene) => {
    const { id } = await alertOf(at.person)
    expect((await ask(at.person, 'PATCH', `alerts/${id}`, body)).status).toBe(200)
  }
  const query = (statement: string) => async (at: Scene) => {
    await service.database.query(statement, [at.person.user_id])
  }
  const event = (change: Partial<NormalisedEvent>) => (at: Scene) =>
    tell({ ...at.event, ...change })
  const now = new Date()
  const clock = (minutes: number) =>
    new Date(now.getTime() + minutes * 60_000).toISOString().slice(11, 16)
  const quiet = { quiet_hours_start: clock(-60), quiet_hours_end: clock(60) }
  const later = new Date(now.getTime() + 3_600_000).toISOString()

  // At once, before any step is due.
  test.each<[string, (at: Scene) => Promise<unknown>]>([
    [
      'acknowledged',
      async (at) => ask(at.person, 'POST', `alerts/${(await alertOf(at.person)).id}/acknowledge`),
    ],
    ['resolved', patchAlert({ resolved: true })],
    ['ended', event({ status: 'ended' })],
    ['retracted', event({ status: 'retracted' })],
  ])('it is %s', async (reason, act) => {
    const at = await told()
    await act(at)
    sent()
    expect(await fates(at)).toEqual([
      [1, 'stopped', reason],
      [2, 'stopped', reason],
    ])
    await pass(at)
    await jobs.drain()
    expect(sent()).toEqual([])
  })

  // When they are due.
  test.each<[string, (at: Scene) => Promise<unknown>]>([
    ['snoozed', patchZone({ snoozed_until: later })],
    ['disabled', patchZone({ enabled: false })],
    ['removed', patchZone({ escalation: null })],
    ['quiet_hours', patchZone({ ...quiet, quiet_mode: 'drop' })],
    ['deleted', (at) => ask(at.person, 'DELETE', `zones/${at.zone}`)],
    ['paused_by_plan', query(`update watchpost.accounts set plan = 'free' where user_id = $1`)],
    [
      'owner_banned',
      query(`update watchpost.accounts set banned_until = 'infinity' where user_id = $1`),
    ],
    ['suppressed', query(`update watchpost.alerts set status = 'suppressed' where owner_id = $1`)],
    ['no_channel', query('update watchpost.channels set enabled = false where owner_id = $1')],
  ])('%s', async (reason, act) => {
    const at = await told()
    await act(at)
    await jobs.drain()
    sent()
    await pass(at)
    await jobs.drain()
    expect(sent()).toEqual([])
    const rows = await service.database.query(
      `select s.step, s.status, s.reason from watchpost.alert_steps s
      join watchpost.alerts a on a.id = s.alert_id where a.owner_id = $1 order by s.step`,
      [at.person.user_id],
    )
    expect(rows).toEqual([1, 2].map((step) => ({ step, status: 'stopped', reason })))
  })

  test('and go on after a note, a revision, and a change that leaves them in the zone', async () => {
    const at = await told()
    await patchAlert({ note: 'Looking.' })(at)
    await tell({ ...at.event, severity: 47 })
    const { second, third } = at.channels
    await patchZone({ escalation: [{ after_minutes: 10, channel_ids: [third, second] }] })(at)
    sent()
    await pass(at)
    await jobs.drain()
    // Its channels are those that the zone has now.
    expect(sent().sort()).toEqual([
      ['second', 'alert.raised', 1],
      ['third', 'alert.raised', 1],
    ])
    expect(await fates(at)).toEqual([
      [1, 'ran', null],
      [2, 'stopped', 'removed'],
    ])
  })

  test('it escalates, and begin anew from there, also when it had been acknowledged', async () => {
    const at = await told()
    await pass(at, 1)
    await jobs.drain()
    sent()
    await tell({ ...at.event, severity: 85 })
    expect(sent().sort()).toEqual([
      ['first', 'alert.escalated', null],
      ['second', 'alert.escalated', null],
    ])
    expect(await fates(at)).toEqual([
      [1, 'ran', null],
      [2, 'stopped', 'escalated'],
      [1, 'waiting', null],
      [2, 'waiting', null],
    ])
    const { id } = await alertOf(at.person)
    await ask(at.person, 'POST', `alerts/${id}/acknowledge`)
    await tell({ ...at.event, severity: 85, title: 'The same, worse' })
    await pass(at)
    await jobs.drain()
    expect(sent().filter(([, type]) => type === 'alert.raised')).toEqual([])
    const again = await scene()
    await tell(again.event)
    await ask(again.person, 'POST', `alerts/${(await alertOf(again.person)).id}/acknowledge`)
    await tell({ ...again.event, severity: 85 })
    sent()
    await pass(again, 1)
    await jobs.drain()
    expect(sent()).toEqual([['second', 'alert.raised', 1]])
  })

  test('but of an event that ended and got worse afterwards they begin anew', async () => {
    const at = await told()
    await tell({ ...at.event, status: 'ended' })
    await tell({ ...at.event, severity: 85 })
    expect(await fates(at)).toEqual([
      [1, 'stopped', 'ended'],
      [2, 'stopped', 'ended'],
      [1, 'waiting', null],
      [2, 'waiting', null],
    ])
    sent()
    await pass(at, 1)
    await jobs.drain()
    const [message] = service.receiver.requests
    expect(JSON.parse(message?.body ?? '{}').data.unacknowledged).toMatchObject({ steps: 2 })
    expect(sent()).toEqual([['second', 'alert.raised', 1]])
  })

  test('only those that the zone has no more; the others run', async () => {
    const at = await told()
    const { third } = at.channels
    await patchZone({ escalation: [{ after_minutes: 30, channel_ids: [third] }] })(at)
    await pass(at, 1)
    await jobs.drain()
    expect(await fates(at)).toEqual([
      [1, 'stopped', 'removed'],
      [2, 'waiting', null],
    ])
    sent()
    await pass(at)
    await jobs.drain()
    expect(sent()).toEqual([['third', 'alert.raised', 2]])
  })

  test('the channels of a step are tested when it is due, each by itself', async () => {
    const owner = await service.person()
    const other = await service.person()
    const org = await service.organisation(owner, [other, 'admin'])
    const theirs = await channelOf(other, 'theirs', { org_id: org })
    const [mute, off, fine] = [
      await channelOf(owner, 'mute', { messages: ['alert.ended'] }),
      await channelOf(owner, 'off'),
      await channelOf(owner, 'fine'),
    ]
    const here = nextPlace()
    const made = await ask(owner, 'POST', 'zones', {
      ...{ label: 'The quay', ...here, channel_ids: [fine] },
      escalation: [{ after_minutes: 1, channel_ids: [mute, off, theirs, fine, fine] }],
    })
    const { zone } = parsed(made, 201, Made)
    const event = quake({ ...here, severity: 45 })
    await tell(event)
    await service.database.query('update watchpost.channels set enabled = false where id = $1', [
      off,
    ])
    await ask(owner, 'DELETE', `orgs/${org}/members/${other.user_id}`)
    await service.database.query(
      'update watchpost.channels set org_id = null, owner_id = $2 where id = $1',
      [theirs, other.user_id],
    )
    sent()
    const at = {
      person: owner,
      zone: zone.id,
      event,
      channels: { first: '', second: '', third: '' },
    }
    await pass(at)
    await jobs.drain()
    expect(sent()).toEqual([['fine', 'alert.raised', 1]])
    expect(await stepsOf(at)).toMatchObject([
      {
        status: 'ran',
        channels: [
          { channel_id: mute, outcome: 'takes_no_alert_raised' },
          { channel_id: off, outcome: 'disabled' },
          { channel_id: theirs, outcome: 'lost' },
          { channel_id: fine, outcome: 'told' },
        ],
      },
    ])
  })
})

describe('what acknowledging leaves behind', () => {
  const follow = async (at: Scene) => {
    const { id } = await alertOf(at.person)
    await service.database.query('select private.acknowledge_alert($1, $2)', [
      id,
      at.channels.first,
    ])
    return alertOf(at.person)
  }

  test('a message names no other channel than the one that it goes to', async () => {
    const at = await told()
    const { first, second } = at.channels
    await ask(at.person, 'PATCH', `zones/${at.zone}`, { channel_ids: [first, second] })
    await pass(at, 1)
    await jobs.drain()
    expect(await follow(at)).toMatchObject({ seen_via: 'channel', seen_channel: 'first' })
    sent()
    await tell({ ...at.event, status: 'ended' })
    const named = service.receiver.requests.map(({ url, body }) => {
      const { channel, seen_channel, deliveries } = JSON.parse(body).data.alert
      const told = deliveries.map((one: { channel: string }) => one.channel)
      return [new URL(url).pathname.slice(1), channel, seen_channel, [...new Set(told)]]
    })
    expect(named.sort()).toEqual([
      ['first', 'first', 'first', ['first']],
      ['second', 'second', null, ['second']],
    ])
    sent()
  })

  test('a revision keeps it; an escalation ends it and says so, where there was one', async () => {
    const at = await told()
    const { seen_at } = await follow(at)
    await tell({ ...at.event, severity: 47 })
    expect(await alertOf(at.person)).toMatchObject({ seen_at, seen_channel: 'first' })
    await tell({ ...at.event, severity: 65 })
    const worse = await alertOf(at.person)
    expect(worse).toMatchObject({ seen_at: null, seen_via: null, seen_channel: null })
    await tell({ ...at.event, severity: 85 })
    const { updates } = await alertOf(at.person)
    expect(updates.map(({ kind, changes }) => [kind, changes.seen_at])).toEqual([
      ['revised', undefined],
      ['escalated', [seen_at, null]],
      ['escalated', undefined],
    ])
    sent()
  })
})
