import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { inTransaction } from '../../../../functions/db.ts'
import { escalate } from '../../../../functions/jobs/escalate.ts'
import { sqlOn } from '../../../../shared/sql.ts'
import { sendResult } from '../../../support/service.ts'
import {
  alertOf,
  ask,
  fates,
  jobs,
  pass,
  sent,
  service,
  stepsOf,
  tell,
  told,
  useService,
} from './escalation-scene.ts'

useService()

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
