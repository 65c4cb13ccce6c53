/** Zones with steps, for the tests of escalation. */
import { afterAll, beforeAll } from 'vitest'
import { z } from 'zod'
import { AlertStep } from '../../../../shared/decide/alert-step.ts'
import { Alert } from '../../../../shared/schemas/alert.ts'
import type { NormalisedEvent } from '../../../../shared/schemas/event.ts'
import { createTestJobs, quake, type TestJobs } from '../../../support/jobs.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

export let service: Service
export let jobs: TestJobs

/** Has the tests of this file run on a service with jobs of its own. */
export function useService(): void {
  beforeAll(async () => {
    service = await createService()
    jobs = await createTestJobs(service)
  })
  afterAll(async () => {
    await jobs?.close()
    await service?.close()
  })
}

export const ask = ({ key }: Pick<Person, 'key'>, method: string, path: string, body?: object) =>
  service.request(method, `/api/v1/${path}`, { key, body })
export const Made = z.object({ zone: z.looseObject({ id: z.uuid() }) })

export type Scene = {
  person: Person
  zone: string
  event: NormalisedEvent
  /** The channels of the zone (first), of its steps (second, third), by their names. */
  channels: Record<'first' | 'second' | 'third', string>
}

export async function channelOf(person: Person, name: string, more: object = {}): Promise<string> {
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
/** A place where no other zone is. */
export function nextPlace() {
  places += 1
  return { lat: -60 + places, lon: 20 }
}

/** A zone with two steps, and an event in it that is not ingested yet. */
export async function scene(fields: object = {}): Promise<Scene> {
  const here = nextPlace()
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

export async function tell(event: NormalisedEvent) {
  await jobs.ingest(event)
  await jobs.drain()
}

/** The same with its alert sent. */
export async function told(fields: object = {}): Promise<Scene> {
  const at = await scene(fields)
  await tell(at.event)
  return at
}

export async function alertOf(person: Person): Promise<Alert> {
  const answer = await ask(person, 'GET', 'alerts')
  const [alert] = parsed(answer, 200, z.looseObject({ alerts: z.array(Alert) })).alerts
  if (!alert) throw new Error('there is no alert')
  return alert
}

export async function stepsOf({ person, zone, event }: Scene): Promise<AlertStep[]> {
  const answer = await ask(
    person,
    'GET',
    `zones/${zone}/explain?event_id=${encodeURIComponent(event.id)}`,
  )
  const steps = z.looseObject({ escalation: z.array(AlertStep) })
  return parsed(answer, 200, steps).escalation
}
export const fates = async (at: Scene) =>
  (await stepsOf(at)).map(({ step, status, reason }) => [step, status, reason])

/** Lets time pass until the waiting steps up to this one are due. */
export async function pass({ person }: Pick<Scene, 'person'>, step = 5) {
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
export function sent() {
  const found = service.receiver.requests.map(({ url, body }) => {
    const { type, data } = Message.parse(JSON.parse(body))
    return [new URL(url).pathname.slice(1), type, data.unacknowledged?.step ?? null]
  })
  service.receiver.requests.length = 0
  return found
}
