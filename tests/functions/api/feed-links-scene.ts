/** A zone with links to its feeds and alerts in it, for the tests of these. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { z } from 'zod'
import { ShownFeedLink } from '../../../shared/schemas/feed-link.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

export let service: Service
export let owner: Person
export let zone: string

/** Has the tests of this file run on a service of their own, each with an owner and a zone. */
export function useService(): void {
  beforeAll(async () => {
    service = await createService()
  })
  afterAll(() => service?.close())
  beforeEach(async () => {
    owner = await service.person()
    zone = await zoneOf(owner)
  })
}

export const Made = z.object({
  feed_link: ShownFeedLink.extend({ urls: z.record(z.string(), z.url()) }),
})
const Zone = z.object({ zone: z.object({ id: z.uuid() }) })

export async function zoneOf({ key }: Person, more: object = {}): Promise<string> {
  const body = { label: 'Port & harbour', lat: 41, lon: 29, ...more }
  return parsed(await service.request('POST', '/api/v1/zones', { key, body }), 201, Zone).zone.id
}

export async function linkOf({ key }: Person, to = zone, body: object = {}) {
  const answer = await service.request('POST', `/api/v1/zones/${to}/feed-links`, { key, body })
  const { feed_link } = parsed(answer, 201, Made)
  const address = (format: string) => new URL(feed_link.urls[format] ?? '').pathname
  return { ...feed_link, address, location: answer.headers.get('Location') }
}

let nth = 0
export async function alertOf(person: Person, more: Record<string, unknown> = {}): Promise<string> {
  const event = {
    ...{
      id: `usgs:${nth}`,
      source: 'usgs',
      type: 'earthquake',
      title: `M 5.${nth++}`,
      lat: 41,
      lon: 29,
    },
    ...{ ts: '2026-01-01T00:00:00.000Z', severity: 50, url: null },
  }
  const row = {
    ...{ id: randomUUID(), zone_id: zone, zone_name: 'Port', owner_id: person.user_id },
    ...{
      event_id: event.id,
      source: 'usgs',
      event,
      severity: 50,
      reason: 'because',
      first_reason: 'r',
    },
    ...{
      status: 'dispatched',
      raised_at: new Date(),
      checks: [],
      zone_version: 1,
      event_revision: 1,
    },
    ...{ note: 'private note', updates: [], resolved: false, created_at: new Date() },
    ...{ updated_at: new Date(), changed_in: '1', ...more },
  }
  await service.database.query(
    `insert into watchpost.alerts (id, zone_id, zone_name, owner_id, event_id, source, event, severity, reason,
      first_reason, status, raised_at, checks, zone_version, event_revision, note, updates, updated_at)
    select id, zone_id, zone_name, owner_id, event_id, source, event, severity, reason,
      first_reason, status, raised_at, checks, zone_version, event_revision, note, updates, updated_at
    from jsonb_populate_record(null::watchpost.alerts, $1)`,
    [row],
  )
  return row.id
}

export const read = (path: string, headers: Record<string, string> = {}) =>
  service.request('GET', path, { headers })
