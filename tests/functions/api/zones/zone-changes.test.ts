import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { expectProblem } from '../../../support/attacks/refusals.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

const PATH = '/api/v1/zones'
const Steps = z.array(z.looseObject({ channel_ids: z.array(z.uuid()) })).nullable()
const One = z.object({
  zone: z.looseObject({
    id: z.uuid(),
    label: z.string(),
    channel_ids: z.array(z.uuid()).nullable(),
    escalation: Steps,
  }),
})
const Channel = z.object({ channel: z.object({ id: z.uuid() }) })

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service?.close())

const ask = ({ key }: Person, method: string, path: string, body?: object) =>
  service.request(method, path, { key, ...(body ? { body } : {}) })
async function create(person: Person, fields: object = {}) {
  const answer = await ask(person, 'POST', PATH, { label: 'A place', lat: 41, lon: 29, ...fields })
  return parsed(answer, 201, One).zone
}
async function channelOf(person: Person) {
  const body = { kind: 'webhook', target: 'https://hooks.example.com/in' }
  return parsed(await ask(person, 'POST', '/api/v1/channels', body), 201, Channel).channel.id
}

test('a deleted zone is changed by nobody until it is restored', async () => {
  const person = await service.person()
  const { id } = await create(person)
  const path = `${PATH}/${id}`
  expect((await ask(person, 'DELETE', path)).status).toBe(204)
  for (const answer of [
    await ask(person, 'PATCH', path, { label: 'Another' }),
    await ask(person, 'DELETE', path),
    await ask(person, 'GET', path),
    await ask(person, 'GET', `${path}/versions`),
    await ask(person, 'GET', `${path}/preview`),
    await ask(person, 'POST', `${path}/feed-links`, {}),
    await ask(person, 'POST', `${path}/drill?wait=0`),
    await ask(person, 'GET', `/api/v1/events?zone_id=${id}`),
  ]) {
    expectProblem(answer, 404, 'not_found')
  }
  const back = await ask(person, 'POST', `${path}/restore`)
  expect(parsed(back, 200, One).zone).toMatchObject({ label: 'A place' })
})

test('channels that a zone has lost may stay where they are, and come to no other', async () => {
  const person = await service.person()
  const [lost, kept] = [await channelOf(person), await channelOf(person)]
  const steps = (...channel_ids: string[]) => [{ after_minutes: 5, channel_ids }]
  const zone = await create(person, { channel_ids: [lost, kept], escalation: steps(lost) })
  const path = `${PATH}/${zone.id}`
  expect((await ask(person, 'DELETE', `/api/v1/channels/${lost}`)).status).toBe(204)
  for (const body of [
    { channel_ids: [kept, lost], escalation: steps(lost) },
    { channel_ids: [kept], escalation: steps(lost, kept) },
  ]) {
    const answer = await ask(person, 'PATCH', path, body)
    expect(parsed(answer, 200, One).zone).toMatchObject(body)
  }
  for (const [body, field] of [
    [{ channel_ids: [kept, lost] }, 'channel_ids.1'],
    [{ escalation: steps(lost, randomUUID()) }, 'escalation.0.channel_ids.1'],
  ] as const) {
    const refused = await ask(person, 'PATCH', path, body)
    expectProblem(refused, 422, 'invalid')
    expect(refused.body).toMatchObject({ errors: [{ path: field, code: 'unknown_channel' }] })
  }
})
