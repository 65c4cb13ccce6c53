import { afterAll, beforeAll, beforeEach } from 'vitest'
import { z } from 'zod'
import { Drill } from '../../../../shared/schemas/drill.ts'
import { createDeliveryService, type DeliveryService } from '../../../support/delivery-service.ts'
import { type Person, parsed } from '../../../support/service.ts'

export let at: DeliveryService
/** A service of its own for a file of tests about drills. */
export function useDrills(): void {
  beforeAll(async () => {
    at = await createDeliveryService()
  })
  afterAll(() => at?.close())
  beforeEach(() => at.reset())
}

export const One = z.object({ drill: Drill })
export const MadeZone = z.object({ zone: z.looseObject({ id: z.uuid() }) })
const MadeChannel = z.object({ channel: z.looseObject({ id: z.uuid() }) })
export type Scene = {
  person: Person
  zone: string
  channel: string
  here: { lat: number; lon: number }
}

export const ask = ({ key }: Pick<Person, 'key'>, method: string, path: string, body?: object) =>
  at.service.request(method, `/api/v1/${path}`, { key, body })

/** A zone with one webhook. */
export async function scene(fields: object = {}, channel: object = {}): Promise<Scene> {
  const person = await at.service.person()
  const { id } = (
    await at.make(
      person,
      'channels',
      { kind: 'webhook', target: 'https://hooks.example.com/in', label: 'Desk', ...channel },
      MadeChannel,
    )
  ).channel
  const here = at.place()
  const { zone } = await at.make(
    person,
    'zones',
    { label: 'The quay', ...here, ...fields },
    MadeZone,
  )
  await at.jobs.drain()
  return { person, zone: zone.id, channel: id, here }
}

export async function begin({ person, zone }: Scene, body?: object): Promise<Drill> {
  return parsed(await ask(person, 'POST', `zones/${zone}/drill?wait=0`, body), 201, One).drill
}

export async function get({ person, zone }: Scene, { id }: Pick<Drill, 'id'>): Promise<Drill> {
  return parsed(await ask(person, 'GET', `zones/${zone}/drills/${id}`), 200, One).drill
}

/** A drill with all jobs done. */
export async function drilled(scene: Scene, body?: object): Promise<Drill> {
  const begun = await begin(scene, body)
  await at.jobs.drain()
  return get(scene, begun)
}

const Sent = z.looseObject({
  type: z.string(),
  data: z.looseObject({ drill: z.unknown().optional() }),
})
export const bodies = () =>
  at.service.receiver.requests.map(({ body }) => Sent.parse(JSON.parse(String(body))))
export const failed = ({ checks }: Drill) =>
  checks.filter(({ passed }) => !passed).map(({ name }) => name)
