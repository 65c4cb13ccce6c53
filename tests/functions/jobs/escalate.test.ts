import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { inTransaction } from '../../../functions/db.ts'
import { escalate } from '../../../functions/jobs/escalate.ts'
import { Alert } from '../../../shared/alert.ts'
import { AlertStep } from '../../../shared/alert-step.ts'
import type { NormalisedEvent } from '../../../shared/event.ts'
import { sqlOn } from '../../../shared/sql.ts'
import { createTestJobs, quake, type TestJobs } from '../../support/jobs.ts'
import {
  createService,
  type Person,
  parsed,
  type Service,
  sendResult,
} from '../../support/service.ts'

let service: Service
let jobs: TestJobs
beforeAll(async () => {
  service = await createService()
  jobs = await createTestJobs(service)
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

const ask = ({ key }: Pick<Person, 'key'>, method: string, path: string, body?: object) =>
  service.request(method, `/api/v1/${path}`, { key, body })
const Made = z.object({ zone: z.looseObject({ id: z.uuid() }) })

type Scene = {
  person: Person
  zone: string
  event: NormalisedEvent
  /** The channels of the zone (first), of its steps (second, third), by their names. */
  channels: Record<'first' | 'second' | 'third', string>
}

async function channelOf(person: Person, name: string, more: object = {}): Promise<string> {
  const target = `https://hooks.example.com/${name}`
  const made = await ask(person, 'POST', 'channels', {
    kind: 'webhook',
    label: name,
    target,
    ...more,
  })
  return parsed(made, 201, z.object({ channel: z.object({ id: z.uuid() }) })).channel.id
}

let places = 0
/** A zone with two steps, and an event in it that is not ingested yet. */
async function scene(fields: object = {}): Promise<Scene> {
  places += 1
  const here = { lat: -60 + places, lon: 20 }
  const person = await service.person()
  const [first, second, third] = [
    await channelOf(person, 'first'),
    await channelOf(person, 'second'),
    await channelOf(person, 'third'),
  ]
  const body = {
    ...{ label: 'The quay', ...here, channel_ids: [first] },
    escalation: [
      { after_minutes: 10, channel_ids: [second] },
      { after_minutes: 30, channel_ids: [third, first] },
    ],
    ...fields,
  }
  const { zone } = parsed(await ask(person, 'POST', 'zones', body), 201, Made)
  await jobs.drain()
  service.receiver.requests.length = 0
  const channels = { first, second, third }
  return { person, zone: zone.id, event: quake({ ...here, severity: 45 }), channels }
}

async function tell(event: NormalisedEvent) {
  await jobs.ingest(event)
  await jobs.drain()
}

/** The same with its alert sent. */
async function told(fields: object = {}): Promise<Scene> {
  const at = await scene(fields)
  await tell(at.event)
  return at
}

async function alertOf(person: Person): Promise<Alert> {
  const answer = await ask(person, 'GET', 'alerts')
  const [alert] = parsed(answer, 200, z.looseObject({ alerts: z.array(Alert) })).alerts
  if (!alert) throw new Error('there is no alert')
  return alert
}

async function stepsOf({ person, zone, event }: Scene): Promise<AlertStep[]> {
  const answer = await ask(
    person,
    'GET',
    `zones/${zone}/explain?event_id=${encodeURIComponent(event.id)}`,
  )
  const steps = z.looseObject({ escalation: z.array(AlertStep) })
  return parsed(answer, 200, steps).escalation
}
const fates = async (at: Scene) =>
  (await stepsOf(at)).map(({ step, status, reason }) => [step, status, reason])

/** Lets time pass until the waiting steps up to this one are due. */
async function pass({ person }: Pick<Scene, 'person'>, step = 5) {
  await service.database.query(
    `update watchpost.alert_steps s set due_at = now() - interval '5 minutes' + s.step * interval '1 second'
    from watchpost.alerts a
    where a.id = s.alert_id and a.owner_id = $1 and s.status = 'waiting' and s.step <= $2`,
    [person.user_id, step],
  )
}

const Message = z.object({
  type: z.string(),
  data: z.looseObject({ unacknowledged: z.looseObject({ step: z.int() }).optional() }),
})
/** The messages since the last call: to which channel, of which type, by which step. */
function sent() {
  const found = service.receiver.requests.map(({ url, body }) => {
    const { type, data } = Message.parse(JSON.parse(body))
    return [new URL(url).pathname.slice(1), type, data.unacknowledged?.step ?? null]
  })
  service.receiver.requests.length = 0
  return found
}

describe('an alert that nobody acknowledges', () => {
  test('goes to the channels of each step when it is due, once, and says since when', async () => {
    const at = await told()
    expect(sent()).toEqual([['first', 'alert.raised', null]])
    await jobs.drain()
    expect(sent()).toEqual([])
    const [waiting] = await stepsOf(at)
    const began = Date.parse(waiting?.began_at ?? '')
    expect(Date.parse(waiting?.due_at ?? '') - began).toBe(10 * 60_000)
    expect(waiting).toMatchObject({
      status: 'waiting',
      reason: null,
      settled_at: null,
      channels: [],
    })

    await pass(at, 1)
    await jobs.drain()
    const [message] = service.receiver.requests
    expect(JSON.parse(message?.body ?? '{}').data.unacknowledged).toEqual({
      ...{ step: 1, steps: 2, after_minutes: 10 },
      since: waiting?.began_at,
    })
    expect(sent()).toEqual([['second', 'alert.raised', 1]])
    await pass(at)
    await jobs.drain()
    await jobs.drain()
    expect(sent().sort()).toEqual([
      ['first', 'alert.raised', 2],
      ['third', 'alert.raised', 2],
    ])
    expect(await stepsOf(at)).toMatchObject([
      {
        ...{ step: 1, after_minutes: 10, status: 'ran', reason: null },
        channels: [{ channel_id: at.channels.second, outcome: 'told' }],
      },
      {
        ...{ step: 2, after_minutes: 30, status: 'ran', reason: null },
        channels: [
          { channel_id: at.channels.third, outcome: 'told' },
          { channel_id: at.channels.first, outcome: 'told' },
        ],
      },
    ])
    const alert = await alertOf(at.person)
    const deliveries = alert.deliveries.map((one) => [one.channel, one.step, one.status])
    expect(deliveries.sort()).toEqual([
      ['first', null, 'succeeded'],
      ['first', 2, 'succeeded'],
      ['second', 1, 'succeeded'],
      ['third', 2, 'succeeded'],
    ])
  })

  test('tells its end to the channels that were told of it', async () => {
    const at = await told()
    await pass(at, 1)
    await jobs.drain()
    sent()
    await tell({ ...at.event, status: 'ended' })
    expect(sent().sort()).toEqual([
      ['first', 'alert.ended', null],
      ['second', 'alert.ended', null],
    ])
  })

  test('runs both steps in their order when both are due', async () => {
    const at = await told()
    sent()
    await pass(at)
    const done = await inTransaction(jobs.db, (sql) => escalate(sql))
    expect(done.map(({ step, told }) => [step, told])).toEqual([
      [1, 1],
      [2, 2],
    ])
    await jobs.drain()
    expect(sent()).toHaveLength(3)
  })

  test('of a zone without a channel is sent by its step, and one that failed is tried elsewhere', async () => {
    const silent = await told({ channel_ids: [] })
    expect((await alertOf(silent.person)).status).toBe('recorded')
    await pass(silent, 1)
    await jobs.drain()
    expect(sent()).toEqual([['second', 'alert.raised', 1]])
    expect(await alertOf(silent.person)).toMatchObject({ status: 'dispatched', channel: 'second' })

    service.receiver.answer = ({ url }) => sendResult(url.endsWith('/first') ? 404 : 200)
    const failed = await told()
    expect((await alertOf(failed.person)).status).toBe('failed')
    await pass(failed, 1)
    await jobs.drain()
    expect(await alertOf(failed.person)).toMatchObject({ status: 'dispatched', channel: 'second' })
    service.receiver.answer = () => sendResult(200)
    sent()
  })

  test('keeps what its steps did when it is acknowledged after one of them', async () => {
    const at = await told()
    await pass(at, 1)
    await jobs.drain()
    const [ran] = await stepsOf(at)
    await ask(at.person, 'POST', `alerts/${(await alertOf(at.person)).id}/acknowledge`)
    const [first, second] = await stepsOf(at)
    expect(first).toEqual(ran)
    expect(second).toMatchObject({ status: 'stopped', reason: 'acknowledged' })
    sent()
  })

  test('a step that was settled is never run, stopped or moved again', async () => {
    const at = await told()
    await pass(at, 1)
    await jobs.drain()
    const before = await stepsOf(at)
    sent()
    const { id } = await alertOf(at.person)
    const later = new Date(Date.now() + 3_600_000)
    const answers = await inTransaction(jobs.db, async (sql) => [
      await sql`select private.run_step(${id}, 0, 1) as told`,
      await sql`select private.stop_step(${id}, 0, 1, 'snoozed')`,
      await sql`select private.delay_step(${id}, 0, 1, ${later.toISOString()})`,
    ])
    expect(answers[0]).toEqual([{ told: 0 }])
    await jobs.drain()
    expect(sent()).toEqual([])
    expect(await stepsOf(at)).toEqual(before)
  })

  test('has no steps when it was suppressed from the start', async () => {
    const snoozed_until = new Date(Date.now() + 3_600_000).toISOString()
    const at = await told({ snoozed_until })
    expect((await alertOf(at.person)).status).toBe('suppressed')
    expect(await stepsOf(at)).toEqual([])
  })

  test('that was delivered stays so when the channel of a step refuses it', async () => {
    const at = await told()
    service.receiver.answer = ({ url }) => sendResult(url.endsWith('/second') ? 404 : 200)
    await pass(at, 1)
    await jobs.drain()
    service.receiver.answer = () => sendResult(200)
    expect(await fates(at)).toMatchObject([[1, 'ran', null], {}])
    expect((await alertOf(at.person)).status).toBe('dispatched')
    sent()
  })

  test('is not told again by a step before its channel has what was news earlier', async () => {
    const at = await told()
    service.receiver.answer = ({ body }) => sendResult(body.includes('alert.escalated') ? 500 : 200)
    await tell({ ...at.event, severity: 85 })
    await tell({ ...at.event, severity: 85, title: 'With another title' })
    sent()
    await pass(at)
    await jobs.drain()
    service.receiver.answer = () => sendResult(200)
    const early = sent().filter(([channel]) => channel === 'first')
    expect(early.filter(([, type]) => type === 'alert.raised')).toEqual([])
    await service.database.query(
      `update pgboss.job set start_after = now() where name = 'deliver' and state in ('created', 'retry')`,
    )
    await jobs.drain()
    expect(sent().filter(([channel]) => channel === 'first')).toEqual([
      ['first', 'alert.escalated', null],
      ['first', 'alert.raised', 2],
    ])
  })

  test('is sent again on request with what its step said', async () => {
    const at = await told()
    await pass(at, 1)
    await jobs.drain()
    const { id, deliveries } = await alertOf(at.person)
    const delivery_ids = deliveries.filter(({ step }) => step === 1).map((one) => one.id)
    sent()
    await ask(at.person, 'POST', `alerts/${id}/redeliver`, { delivery_ids })
    await jobs.drain()
    expect(sent()).toEqual([['second', 'alert.raised', 1]])
  })
})

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
    places += 1
    const here = { lat: -60 + places, lon: 20 }
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

describe('quiet hours', () => {
  const clock = (minutes: number) =>
    new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
  const quiet = () => ({ quiet_hours_start: clock(-60), quiet_hours_end: clock(60) })
  const loud = { quiet_hours_start: null, quiet_hours_end: null }

  test('hold an alert without its steps, which begin when it is released', async () => {
    const at = await told(quiet())
    expect((await alertOf(at.person)).status).toBe('held')
    expect(await stepsOf(at)).toEqual([])
    await ask(at.person, 'PATCH', `zones/${at.zone}`, loud)
    await jobs.drain()
    expect(sent()).toMatchObject([['first', 'alert.digest', null]])
    expect(await fates(at)).toEqual([
      [1, 'waiting', null],
      [2, 'waiting', null],
    ])
    await pass(at, 1)
    await jobs.drain()
    expect(sent()).toEqual([['second', 'alert.raised', 1]])
  })

  test('of an event that ended meanwhile, or was acknowledged, begin none', async () => {
    const ended = await told(quiet())
    await tell({ ...ended.event, status: 'ended' })
    const seen = await told(quiet())
    await ask(seen.person, 'POST', `alerts/${(await alertOf(seen.person)).id}/acknowledge`)
    for (const at of [ended, seen]) {
      await ask(at.person, 'PATCH', `zones/${at.zone}`, loud)
      await jobs.drain()
      expect(await stepsOf(at)).toEqual([])
    }
    sent()
  })

  test('of an event that ended and was revised meanwhile begin when it is released', async () => {
    const at = await told(quiet())
    await tell({ ...at.event, status: 'ended' })
    await tell({ ...at.event, severity: 47 })
    await ask(at.person, 'PATCH', `zones/${at.zone}`, loud)
    await jobs.drain()
    expect(await fates(at)).toEqual([
      [1, 'waiting', null],
      [2, 'waiting', null],
    ])
    sent()
  })

  test('that hold a revision begin no steps of an alert that was sent before the zone had any', async () => {
    const at = await told({ escalation: null })
    const { first, second } = at.channels
    const messages = ['alert.raised', 'alert.revised', 'alert.digest']
    await ask(at.person, 'PATCH', `channels/${first}`, { messages })
    const escalation = [{ after_minutes: 10, channel_ids: [second] }]
    await ask(at.person, 'PATCH', `zones/${at.zone}`, { escalation, ...quiet() })
    await tell({ ...at.event, severity: 47 })
    sent()
    await ask(at.person, 'PATCH', `zones/${at.zone}`, loud)
    await jobs.drain()
    expect(sent()).toMatchObject([['first', 'alert.digest', null]])
    expect(await stepsOf(at)).toEqual([])
  })

  test('make a step wait that falls due in them, but not in an emergency', async () => {
    const at = await told()
    await ask(at.person, 'PATCH', `zones/${at.zone}`, quiet())
    sent()
    await pass(at, 1)
    await jobs.drain()
    expect(sent()).toEqual([])
    const [step, next] = await stepsOf(at)
    expect(step).toMatchObject({ status: 'waiting', reason: null })
    const minutesUntil = (due: string | undefined) => (Date.parse(due ?? '') - Date.now()) / 60_000
    expect(minutesUntil(step?.due_at)).toBeGreaterThan(58)
    expect(minutesUntil(step?.due_at)).toBeLessThan(61)
    expect(minutesUntil(next?.due_at)).toBeLessThan(31)
    await ask(at.person, 'PATCH', `zones/${at.zone}`, { emergency_severity: 45 })
    await pass(at, 1)
    await jobs.drain()
    expect(sent()).toEqual([['second', 'alert.raised', 1]])
  })

  test('are passed by what gets worse, and what was acknowledged while it was held is so no more', async () => {
    const at = await told({ ...quiet(), emergency_severity: 80 })
    await ask(at.person, 'POST', `alerts/${(await alertOf(at.person)).id}/acknowledge`)
    const { seen_at } = await alertOf(at.person)
    await tell({ ...at.event, severity: 85 })
    expect(sent()).toEqual([['first', 'alert.raised', null]])
    const alert = await alertOf(at.person)
    expect(alert).toMatchObject({ seen_at: null, seen_by: null, seen_via: null })
    expect(alert.updates).toMatchObject([
      { kind: 'escalated', changes: { seen_at: [seen_at, null] } },
    ])
    expect(await fates(at)).toEqual([
      [1, 'waiting', null],
      [2, 'waiting', null],
    ])
  })

  test('hold an escalation, with which the steps begin anew', async () => {
    const at = await told()
    await ask(at.person, 'POST', `alerts/${(await alertOf(at.person)).id}/acknowledge`)
    await ask(at.person, 'PATCH', `zones/${at.zone}`, quiet())
    await tell({ ...at.event, severity: 85 })
    const before = await fates(at)
    expect(before).toEqual([
      [1, 'stopped', 'acknowledged'],
      [2, 'stopped', 'acknowledged'],
    ])
    await ask(at.person, 'PATCH', `zones/${at.zone}`, loud)
    await jobs.drain()
    expect(await fates(at)).toEqual([...before, [1, 'waiting', null], [2, 'waiting', null]])
    sent()
  })
})

describe('two processes and a death between', () => {
  const attempt = () => inTransaction(jobs.db, (sql) => escalate(sql))

  test('run each step once', async () => {
    const scenes = [await told(), await told(), await told(), await told()]
    sent()
    for (const at of scenes) await pass(at)
    expect(await inTransaction(jobs.db, (sql) => escalate(sql, 1))).toHaveLength(2)
    const ran = (await Promise.all([attempt(), attempt(), attempt(), attempt()])).flat()
    expect(ran).toHaveLength(6)
    await jobs.drain()
    expect(sent()).toHaveLength(12)
  })

  test('one that waited for another sees what that did', async () => {
    const at = await told()
    sent()
    await pass(at)
    const [first, second] = [await open(), await open()]
    await first.query('begin')
    await second.query('begin')
    expect(await escalate(sqlOn(first))).toHaveLength(2)
    // It is locked, so it is left to the first.
    expect(await escalate(sqlOn(second))).toEqual([])
    await first.query('commit')
    expect(await escalate(sqlOn(second))).toEqual([])
    await second.query('commit')
    await Promise.all([first.end(), second.end()])
    await jobs.drain()
    expect(sent()).toHaveLength(3)
  })

  test('a process that dies in the middle has told nobody, and the next one runs the step', async () => {
    const at = await told()
    sent()
    await pass(at, 1)
    const dying = await open()
    await dying.query('begin')
    expect(await escalate(sqlOn(dying))).toMatchObject([{ step: 1, told: 1 }])
    const gone = new Promise((resolve) => dying.once('end', resolve))
    const { rows } = await dying.query('select pg_backend_pid() as pid')
    await service.database.query('select pg_terminate_backend($1)', [rows[0].pid])
    await gone
    await jobs.drain()
    await jobs.drain()
    expect(sent()).toEqual([['second', 'alert.raised', 1]])
  })

  test('whoever acknowledges is before a step, or after it', async () => {
    const at = await told()
    sent()
    await pass(at)
    const { id } = await alertOf(at.person)
    const person = await service.transaction()
    const acknowledge = `update watchpost.alerts set seen_at = now(), seen_via = 'api' where id = $1`
    await person.query(acknowledge, [id])
    // Not committed yet: the step waits for what becomes of it.
    expect(await attempt()).toEqual([])
    await person.commit()
    expect(await attempt()).toEqual([])
    expect(await fates(at)).toEqual([
      [1, 'stopped', 'acknowledged'],
      [2, 'stopped', 'acknowledged'],
    ])
    await jobs.drain()
    expect(sent()).toEqual([])
  })

  async function open() {
    const client = new pg.Client({ connectionString: service.database.jobsUrl })
    client.on('error', () => undefined)
    await client.connect()
    return client
  }
})
