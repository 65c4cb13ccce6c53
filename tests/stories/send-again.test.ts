import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Alert } from '../../shared/alert.ts'
import { Recovered } from '../../shared/channel.ts'
import {
  CreatedZone,
  createDeliveryService,
  type DeliveryService,
} from '../support/delivery-service.ts'
import { quake } from '../support/jobs.ts'
import { expectProblem } from '../support/refusals.ts'
import { type Person, parsed, sendResult } from '../support/service.ts'

// After an outage: what did not arrive is sent again, or the answer says why not.
let fixture: DeliveryService
beforeAll(async () => {
  fixture = await createDeliveryService()
})
afterAll(() => fixture?.close())
beforeEach(() => fixture.reset())

const Again = z.object({
  alert: Alert,
  delivery_ids: z.array(z.uuid()),
  skipped: z.array(z.object({ delivery_id: z.uuid(), reason: z.string() })),
})

async function ask({ key }: Person, method: string, path: string, body?: object) {
  return fixture.service.request(method, `/api/v1/${path}`, { key, body })
}

async function alertsOf(person: Person): Promise<Alert[]> {
  const answer = await ask(person, 'GET', 'alerts')
  return parsed(answer, 200, z.object({ alerts: z.array(Alert) })).alerts
}

async function alertOf(person: Person): Promise<Alert> {
  const [alert] = await alertsOf(person)
  if (!alert) throw new Error('there is no alert')
  return alert
}

const sent = () =>
  fixture.service.receiver.requests.map(
    ({ body }) => z.looseObject({ type: z.string() }).parse(JSON.parse(body)).type,
  )

async function watch(person: Person, fields: object = {}) {
  const here = fixture.place()
  const body = { label: 'The coast', ...here, ...fields }
  const { zone } = await fixture.make(person, 'zones', body, CreatedZone)
  const shake = async (severity = 60) => {
    await fixture.jobs.ingest(quake({ ...here, severity }))
    await fixture.jobs.drain()
  }
  return { zone: zone.id, shake }
}

describe('an alert that had no channel', () => {
  test('goes to the channels that its zone has by now', async () => {
    const person = await fixture.service.person()
    const { shake } = await watch(person)
    await shake()
    const { id, status } = await alertOf(person)
    expect(status).toBe('recorded')

    await fixture.channelOf(person)
    const { alert, delivery_ids } = parsed(
      await ask(person, 'POST', `alerts/${id}/redeliver`),
      202,
      Again,
    )
    expect(alert.deliveries).toMatchObject([{ id: delivery_ids[0], status: 'queued' }])
    await fixture.jobs.drain()
    expect(sent()).toEqual(['alert.raised'])
    expect(await alertOf(person)).toMatchObject({ status: 'dispatched' })
  })

  test('is refused while there is none, and stays as it is', async () => {
    const person = await fixture.service.person()
    const { shake } = await watch(person)
    await shake()
    const { id } = await alertOf(person)
    const answer = await ask(person, 'POST', `alerts/${id}/redeliver`, {})
    expectProblem(answer, 409, 'nothing_to_send')
    expect(answer.body).toMatchObject({ detail: expect.stringContaining('no channel') })
    expect(await alertOf(person)).toMatchObject({ status: 'recorded', deliveries: [] })
  })
})

describe('what was cancelled', () => {
  test('while the channel was off goes out when it is on again, and the answer says why not before', async () => {
    const person = await fixture.service.person()
    const { id: channel } = await fixture.channelOf(person)
    const { shake } = await watch(person)
    fixture.service.receiver.answer = () => sendResult(503)
    await shake()
    await ask(person, 'PATCH', `channels/${channel}`, { enabled: false })
    await fixture.retryNow({ channel })
    const { id, deliveries } = await alertOf(person)
    expect(deliveries).toMatchObject([{ status: 'cancelled' }])

    const refused = await ask(person, 'POST', `alerts/${id}/redeliver`)
    expectProblem(refused, 409, 'nothing_to_send')
    expect(refused.body).toMatchObject({
      detail: `Delivery ${deliveries[0]?.id}: The channel is switched off.`,
    })

    await ask(person, 'PATCH', `channels/${channel}`, { enabled: true })
    await fixture.reset()
    parsed(await ask(person, 'POST', `alerts/${id}/redeliver`), 202, Again)
    await fixture.jobs.drain()
    expect(sent()).toEqual(['alert.raised'])
    expect(await alertOf(person)).toMatchObject({ status: 'dispatched' })
  })
})

describe('a delivery', () => {
  test('that the alert does not have is 404 with its id, and nothing is sent', async () => {
    const person = await fixture.service.person()
    await fixture.channelOf(person)
    const { shake } = await watch(person)
    fixture.service.receiver.answer = () => sendResult(400)
    await shake()
    const { id, deliveries } = await alertOf(person)
    const unknown = randomUUID()
    const delivery_ids = [...deliveries.map((delivery) => delivery.id), unknown]
    const answer = await ask(person, 'POST', `alerts/${id}/redeliver`, { delivery_ids })
    expectProblem(answer, 404, 'not_found')
    expect(answer.text).toContain(unknown)
    expect((await alertOf(person)).deliveries).toHaveLength(1)
  })

  test('that is on its way already is not sent twice', async () => {
    const told = await fixture.deliverOnce(() => sendResult(503))
    const { id } = await alertOf(told.person)
    for (const body of [{ delivery_ids: [told.delivery] }, {}]) {
      const answer = await ask(told.person, 'POST', `alerts/${id}/redeliver`, body)
      expectProblem(answer, 409, 'nothing_to_send')
      expect(answer.text).toContain('on its way')
    }
  })

  test('that arrived is sent again for who names it, and not for who does not', async () => {
    const told = await fixture.deliverOnce(() => sendResult(200))
    const { id } = await alertOf(told.person)
    expectProblem(await ask(told.person, 'POST', `alerts/${id}/redeliver`), 409, 'nothing_to_send')
    const body = { delivery_ids: [told.delivery] }
    parsed(await ask(told.person, 'POST', `alerts/${id}/redeliver`, body), 202, Again)
    await fixture.jobs.drain()
    expect(sent()).toEqual(['alert.raised'])
  })
})

describe('after an outage of the receiver', () => {
  test('one request sends everything that did not arrive, once', async () => {
    const person = await fixture.service.person()
    const { id: channel } = await fixture.channelOf(person)
    const coast = await watch(person)
    await coast.shake()
    // What failed before the outage is not asked for.
    fixture.service.receiver.answer = () => sendResult(404)
    await coast.shake(40)
    await new Promise((resolve) => setTimeout(resolve, 2))
    const since = new Date().toISOString()
    fixture.service.receiver.answer = () => sendResult(404)
    for (const severity of [50, 60, 70]) await coast.shake(severity)
    fixture.service.receiver.answer = () => sendResult(503)
    await coast.shake(80)
    await ask(person, 'PATCH', `channels/${channel}`, { enabled: false })
    await fixture.retryNow({ channel })
    const states = async () => (await alertsOf(person)).map(({ status }) => status).sort()
    expect(await states()).toEqual(['dispatched', ...Array(5).fill('failed')])

    const off = await ask(person, 'POST', `channels/${channel}/recover`, { since })
    expectProblem(off, 409, 'nothing_to_send')
    expect(off.text).toContain('switched off')
    await ask(person, 'PATCH', `channels/${channel}`, { enabled: true })
    await fixture.reset()
    const answer = await ask(person, 'POST', `channels/${channel}/recover`, { since })
    expect(parsed(answer, 202, Recovered)).toEqual({ recovered: 4, remaining: 0, skipped: [] })
    expectProblem(
      await ask(person, 'POST', `channels/${channel}/recover`, { since }),
      409,
      'nothing_to_send',
    )
    await fixture.jobs.drain()
    expect(sent()).toEqual(Array(4).fill('alert.raised'))
    expect(await states()).toEqual([...Array(5).fill('dispatched'), 'failed'])
    expectProblem(
      await ask(person, 'POST', `channels/${channel}/recover`, { since }),
      409,
      'nothing_to_send',
    )
  })

  test('what belongs to a zone that was deleted meanwhile is counted with its reason', async () => {
    const person = await fixture.service.person()
    const { id: channel } = await fixture.channelOf(person)
    const [kept, gone] = [await watch(person), await watch(person)]
    // The same second on a clock two hours ahead of UTC.
    const ahead = new Date(Date.now() - 1000 + 2 * 3600_000).toISOString()
    const since = ahead.replace('Z', '+02:00')
    fixture.service.receiver.answer = () => sendResult(404)
    await kept.shake()
    await gone.shake()
    await ask(person, 'DELETE', `zones/${gone.zone}`)
    await fixture.reset()
    const answer = await ask(person, 'POST', `channels/${channel}/recover`, { since })
    expect(parsed(answer, 202, Recovered)).toEqual({
      recovered: 1,
      remaining: 0,
      skipped: [{ reason: 'The zone was deleted.', count: 1 }],
    })
  })

  test('is for those who manage the channel, and for a time that has been', async () => {
    const [owner, member, stranger] = [
      await fixture.service.person(),
      await fixture.service.person(),
      await fixture.service.person(),
    ]
    const org = await fixture.service.organisation(owner, [member, 'member'])
    const { id } = await fixture.channelOf(owner, { org_id: org })
    const path = `channels/${id}/recover`
    const body = { since: new Date().toISOString() }
    expectProblem(await ask(member, 'POST', path, body), 403, 'forbidden')
    expectProblem(await ask(stranger, 'POST', path, body), 404, 'not_found')
    const later = { since: new Date(Date.now() + 60_000).toISOString() }
    expectProblem(await ask(owner, 'POST', path, later), 422, 'invalid')
    expectProblem(await ask(owner, 'POST', path, {}), 422, 'invalid')
  })
})
