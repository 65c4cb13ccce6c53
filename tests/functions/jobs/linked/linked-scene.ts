/** Zones, and one event as several sources report it, for the tests of links. */
import { afterAll, beforeAll } from 'vitest'
import { z } from 'zod'
import { Check } from '../../../../shared/decide/checks.ts'
import { Preview } from '../../../../shared/preview/preview.ts'
import { Alert } from '../../../../shared/schemas/alert.ts'
import type { NormalisedEvent } from '../../../../shared/schemas/event.ts'
import { createTestJobs, quake, registerSource, type TestJobs } from '../../../support/jobs.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

export let service: Service
export let jobs: TestJobs

/** Has the tests of this file run on a service with jobs of its own. */
export function useService(): void {
  beforeAll(async () => {
    service = await createService()
    jobs = await createTestJobs(service)
    for (const source of ['usgs', 'emsc', 'geonet', 'gdacs', 'nhc', 'eonet', 'firms']) {
      await registerSource(service, source)
    }
  })
  afterAll(async () => {
    await jobs?.close()
    await service?.close()
  })
}

const Id = z.object({ id: z.uuid() })
const Explained = z.object({
  live: z.boolean(),
  raised: z.boolean(),
  reason: z.string(),
  checks: z.array(Check),
})

export let places = 0
export async function setUp(fields: object = {}) {
  places += 1
  const here = { lat: -70 + 5 * places, lon: 40 }
  const person = await service.person()
  const hook = { kind: 'webhook', target: 'https://hooks.example.com/in' }
  parsed(await ask(person, 'POST', 'channels', hook), 201, z.object({ channel: Id }))
  const zone = await draw(person, { ...here, radius_km: 200, ...fields })
  await jobs.drain()
  service.receiver.requests.length = 0
  // Only its last hours are told: of what happened long ago nothing is.
  const ts = new Date(Date.now() - 60_000 * places).toISOString()
  const report = (source: string, more: Partial<NormalisedEvent> = {}) =>
    quake({ ...here, ts, id: `${source}:${places}`, source, magnitude: 5, severity: 60, ...more })
  return { person, here, zone, report, ts }
}

export async function draw(person: Person, fields: object): Promise<string> {
  const made = await ask(person, 'POST', 'zones', { label: 'A place', ...fields })
  return parsed(made, 201, z.object({ zone: Id })).zone.id
}

export function ask({ key }: Person, method: string, path: string, body?: object) {
  return service.request(method, `/api/v1/${path}`, { key, body })
}

export async function ingest(...events: NormalisedEvent[]) {
  await jobs.ingest(...events)
  await jobs.drain()
}

export async function alertsOf(person: Person, query = 'days=7') {
  const answer = await ask(person, 'GET', `alerts?${query}`)
  return parsed(answer, 200, z.object({ alerts: z.array(Alert) })).alerts
}

export async function explained(person: Person, zone: string, event: string) {
  const path = `zones/${zone}/explain?event_id=${encodeURIComponent(event)}`
  const answer = parsed(await ask(person, 'GET', path), 200, Explained)
  return { ...answer, duplicate: answer.checks.find(({ name }) => name === 'duplicate') }
}

export async function previewed(person: Person, zone: string) {
  return parsed(await ask(person, 'GET', `zones/${zone}/preview?days=7`), 200, Preview)
}

export const sent = () => service.receiver.requests.map(({ body }) => JSON.parse(body))
export const types = () => sent().map(({ type }) => type)
export const idsOf = ({ event_ids }: Alert) => event_ids.map(({ event_id }) => event_id)
export const shift = (ts: string, seconds: number) =>
  new Date(Date.parse(ts) + seconds * 1000).toISOString()
