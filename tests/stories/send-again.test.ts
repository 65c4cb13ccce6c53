import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Alert } from '../../shared/schemas/alert.ts'
import { Recovered } from '../../shared/schemas/channel.ts'
import { expectProblem } from '../support/attacks/refusals.ts'
import { CreatedZone } from '../support/delivery-service.ts'
import { quake } from '../support/jobs.ts'
import { type Person, parsed, sendResult } from '../support/service.ts'
import { createStory } from '../support/story.ts'

// After an outage: what did not arrive is sent again, or the answer says why not.
const at = createStory()

const Again = z.object({
  alert: Alert,
  delivery_ids: z.array(z.uuid()),
  skipped: z.array(z.object({ delivery_id: z.uuid(), reason: z.string() })),
})

const sent = () =>
  at.service.receiver.requests.map(
    ({ body }) => z.looseObject({ type: z.string() }).parse(JSON.parse(body)).type,
  )

async function watch(person: Person, fields: object = {}) {
  const here = at.place()
  const body = { label: 'The coast', ...here, ...fields }
  const { zone } = await at.make(person, 'zones', body, CreatedZone)
  const shake = async (severity = 60) => {
    await at.jobs.ingest(quake({ ...here, severity }))
    await at.jobs.drain()
  }
  return { zone: zone.id, shake }
}

describe('an alert that had no channel', () => {
  test('goes to the channels that its zone has by now', async () => {
    const person = await at.service.person()
    const { shake } = await watch(person)
    await shake()
    const { id, status } = await at.alertOf(person)
    expect(status).toBe('recorded')

    await at.channelOf(person)
    const { alert, delivery_ids } = parsed(
      await at.ask(person, 'POST', `alerts/${id}/redeliver`),
      202,
      Again,
    )
    expect(alert.deliveries).toMatchObject([{ id: delivery_ids[0], status: 'queued' }])
    await at.jobs.drain()
    expect(sent()).toEqual(['alert.raised'])
    expect(await at.alertOf(person)).toMatchObject({ status: 'dispatched' })
  })

  test('is refused while there is none, and stays as it is', async () => {
    const person = await at.service.person()
    const { shake } = await watch(person)
    await shake()
    const { id } = await at.alertOf(person)
    const answer = await at.ask(person, 'POST', `alerts/${id}/redeliver`, {})
    expectProblem(answer, 409, 'nothing_to_send')
    expect(answer.body).toMatchObject({ detail: expect.stringContaining('no channel') })
    expect(await at.alertOf(person)).toMatchObject({ status: 'recorded', deliveries: [] })
  })
})

describe('what was cancelled', () => {
  test('while the channel was off goes out when it is on again, and the answer says why not before', async () => {
    const person = await at.service.person()
    const { id: channel } = await at.channelOf(person)
    const { shake } = await watch(person)
    at.service.receiver.answer = () => sendResult(503)
    await shake()
    await at.ask(person, 'PATCH', `channels/${channel}`, { enabled: false })
    await at.retryNow({ channel })
    const { id, deliveries } = await at.alertOf(person)
    expect(deliveries).toMatchObject([{ status: 'cancelled' }])

    const refused = await at.ask(person, 'POST', `alerts/${id}/redeliver`)
    expectProblem(refused, 409, 'nothing_to_send')
    expect(refused.body).toMatchObject({
      detail: `Delivery ${deliveries[0]?.id}: The channel is switched off.`,
    })

    await at.ask(person, 'PATCH', `channels/${channel}`, { enabled: true })
    await at.reset()
    parsed(await at.ask(person, 'POST', `alerts/${id}/redeliver`), 202, Again)
    await at.jobs.drain()
    expect(sent()).toEqual(['alert.raised'])
    expect(await at.alertOf(person)).toMatchObject({ status: 'dispatched' })
  })
})

describe('a delivery', () => {
  test('that the alert does not have is 404 with its id, and nothing is sent', async () => {
    const person = await at.service.person()
    await at.channelOf(person)
    const { shake } = await watch(person)
    at.service.receiver.answer = () => sendResult(400)
    await shake()
    const { id, deliveries } = await at.alertOf(person)
    const unknown = randomUUID()
    const delivery_ids = [...deliveries.map((delivery) => delivery.id), unknown]
    const answer = await at.ask(person, 'POST', `alerts/${id}/redeliver`, { delivery_ids })
    expectProblem(answer, 404, 'not_found')
    expect(answer.text).toContain(unknown)
    expect((await at.alertOf(person)).deliveries).toHaveLength(1)
  })

  test('that is on its way already is not sent twice', async () => {
    const told = await at.deliverOnce(() => sendResult(503))
    const { id } = await at.alertOf(told.person)
    for (const body of [{ delivery_ids: [told.delivery] }, {}]) {
      const answer = await at.ask(told.person, 'POST', `alerts/${id}/redeliver`, body)
      expectProblem(answer, 409, 'nothing_to_send')
      expect(answer.text).toContain('on its way')
    }
  })

  test('that arrived is sent again for who names it, and not for who does not', async () => {
    const told = await at.deliverOnce(() => sendResult(200))
    const { id } = await at.alertOf(told.person)
    expectProblem(
      await at.ask(told.person, 'POST', `alerts/${id}/redeliver`),
      409,
      'nothing_to_send',
    )
    const body = { delivery_ids: [told.delivery] }
    parsed(await at.ask(told.person, 'POST', `alerts/${id}/redeliver`, body), 202, Again)
    await at.jobs.drain()
    expect(sent()).toEqual(['alert.raised'])
  })
})

describe('after an outage of the receiver', () => {
  test('one request sends everything that did not arrive, once', async () => {
    const person = await at.service.person()
    const { id: channel } = await at.channelOf(person)
    const coast = await watch(person)
    await coast.shake()
    // What failed before the outage is not asked for.
    at.service.receiver.answer = () => sendResult(404)
    await coast.shake(40)
    await new Promise((resolve) => setTimeout(resolve, 2))
    const since = new Date().toISOString()
    at.service.receiver.answer = () => sendResult(404)
    for (const severity of [50, 60, 70]) await coast.shake(severity)
    at.service.receiver.answer = () => sendResult(503)
    await coast.shake(80)
    await at.ask(person, 'PATCH', `channels/${channel}`, { enabled: false })
    await at.retryNow({ channel })
    const states = async () => (await at.alertsOf(person)).map(({ status }) => status).sort()
    expect(await states()).toEqual(['dispatched', ...Array(5).fill('failed')])

    const off = await at.ask(person, 'POST', `channels/${channel}/recover`, { since })
    expectProblem(off, 409, 'nothing_to_send')
    expect(off.text).toContain('switched off')
    await at.ask(person, 'PATCH', `channels/${channel}`, { enabled: true })
    await at.reset()
    const answer = await at.ask(person, 'POST', `channels/${channel}/recover`, { since })
    expect(parsed(answer, 202, Recovered)).toEqual({ recovered: 4, remaining: 0, skipped: [] })
    expectProblem(
      await at.ask(person, 'POST', `channels/${channel}/recover`, { since }),
      409,
      'nothing_to_send',
    )
    await at.jobs.drain()
    expect(sent()).toEqual(Array(4).fill('alert.raised'))
    expect(await states()).toEqual([...Array(5).fill('dispatched'), 'failed'])
    expectProblem(
      await at.ask(person, 'POST', `channels/${channel}/recover`, { since }),
      409,
      'nothing_to_send',
    )
  })

  test('what belongs to a zone that was deleted meanwhile is counted with its reason', async () => {
    const person = await at.service.person()
    const { id: channel } = await at.channelOf(person)
    const [kept, gone] = [await watch(person), await watch(person)]
    // The same second on a clock two hours ahead of UTC.
    const ahead = new Date(Date.now() - 1000 + 2 * 3600_000).toISOString()
    const since = ahead.replace('Z', '+02:00')
    at.service.receiver.answer = () => sendResult(404)
    await kept.shake()
    await gone.shake()
    await at.ask(person, 'DELETE', `zones/${gone.zone}`)
    await at.reset()
    const answer = await at.ask(person, 'POST', `channels/${channel}/recover`, { since })
    expect(parsed(answer, 202, Recovered)).toEqual({
      recovered: 1,
      remaining: 0,
      skipped: [{ reason: 'The zone was deleted.', count: 1 }],
    })
  })

  test('is for those who manage the channel, and for a time that has been', async () => {
    const [owner, member, stranger] = [
      await at.service.person(),
      await at.service.person(),
      await at.service.person(),
    ]
    const org = await at.service.organisation(owner, [member, 'member'])
    const { id } = await at.channelOf(owner, { org_id: org })
    const path = `channels/${id}/recover`
    const body = { since: new Date().toISOString() }
    expectProblem(await at.ask(member, 'POST', path, body), 403, 'forbidden')
    expectProblem(await at.ask(stranger, 'POST', path, body), 404, 'not_found')
    const later = { since: new Date(Date.now() + 60_000).toISOString() }
    expectProblem(await at.ask(owner, 'POST', path, later), 422, 'invalid')
    expectProblem(await at.ask(owner, 'POST', path, {}), 422, 'invalid')
  })
})
