import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createPool } from '../../functions/db.ts'
import { createService, type Person, parsed, type Service } from '../support/service.ts'
import { fillLargeDatabase, type LargeDatabase } from './large-database.ts'
import { explainAll, plansOf, type Recorder, recordStatements, summarisePlans } from './plans.ts'

const LARGE = [
  'accounts',
  'alert_events',
  'alerts',
  'audit',
  'channels',
  'deliveries',
  'delivery_attempts',
  'event_revisions',
  'events',
  'members',
  'zone_boxes',
  'zone_versions',
  'zones',
]
/** The caller's own and those of two organisations. */
const TENANTS = 3

let service: Service
let recorder: Recorder
let caller: Person
let busy: Person
let ids: LargeDatabase & { linkId: string; drillId: string }

beforeAll(async () => {
  service = await createService({
    connect: ({ apiUrl }) => {
      recorder = recordStatements(createPool({ url: apiUrl, max: 1 }))
      return recorder.db
    },
  })
  caller = await service.person()
  busy = await service.person()
  const large = await fillLargeDatabase(service, caller, busy)
  const made = await service.request('POST', `/api/v1/zones/${large.zone}/feed-links`, {
    key: caller.key,
    body: {},
  })
  const Link = z.object({ feed_link: z.object({ id: z.uuid() }) })
  const held = await service.request('POST', `/api/v1/zones/${large.zone}/drill?wait=0`, {
    key: caller.key,
  })
  const Held = z.object({ drill: z.object({ id: z.uuid() }) })
  ids = {
    ...large,
    linkId: parsed(made, 201, Link).feed_link.id,
    drillId: parsed(held, 201, Held).drill.id,
  }
  await explainAll(service.database)
  await service.request('GET', '/api/v1/me', { key: caller.key })
  await service.request('GET', '/api/v1/me', { key: busy.key })
}, 120_000)
afterAll(() => service?.close())

type Case = {
  /** As the OpenAPI document has it. */
  route: string
  ask?: string
  /** Ask for the page after the first. */
  next?: boolean
  body?: object
  as?: 'busy'
  /** Most rows that may be read of the large tables, what filters throw away included. */
  read: number
  /** Most rows that may be sorted; else a page of each tenant. */
  sort?: number
}
const DRAFT = { label: 'Draft', lat: 41, lon: 29, radius_km: 200 }
const FIRST = '00000000-0000-0000-0000-000000000000'
// An alert costs about a dozen rows more: its event as it is now, its deliveries, their channels, and whether
// they may be seen.
const CASES: Case[] = [
  { route: '/me', read: 20 },
  { route: '/web-push', read: 20 },
  { route: '/events', ask: '?minutes=1440', read: 2000, sort: 500 },
  { route: '/events', ask: '?minutes=1440&source=test&min_severity=90', read: 2000, sort: 500 },
  { route: '/events', ask: '?minutes=1440&zone_id={zone}', read: 50 },
  { route: '/events', ask: '?minutes=1440', as: 'busy', read: 20_000, sort: 5000 },
  { route: '/zones', read: 200 },
  { route: '/zones', ask: '?limit=50', next: true, read: 150 },
  { route: '/zones', as: 'busy', read: 200 },
  { route: '/zones/{id}', ask: '{zone}', read: 20 },
  { route: '/zones/{id}/preview', ask: '?days=90', read: 100 },
  { route: '/zones/{id}/explain', ask: '?event_id={event}', read: 50 },
  { route: '/zones/{id}/versions', read: 20 },
  { route: '/zones/{id}/drills/{drillId}', read: 30 },
  { route: '/zones/{id}/feed-links', read: 20 },
  { route: '/zones/{id}/feed-links/{linkId}', read: 20 },
  { route: '/alerts', ask: '?days=90', read: 2700 },
  { route: '/alerts', ask: '?days=90', next: true, read: 2700 },
  { route: '/alerts', ask: '?days=90&zone_id={zone}', read: 520 },
  { route: '/alerts', ask: '?days=90&updated_after=2026-01-01T00:00:00Z', read: 2700 },
  // What is rare is looked for among the caller's alerts of the window, never among everybody's.
  { route: '/alerts', ask: '?days=90&resolved=true', read: 4500 },
  { route: '/alerts', ask: '?days=90&status=held', read: 4500 },
  { route: '/alerts', ask: '?days=90&event_id=other:33', read: 4500 },
  { route: '/alerts/{id}', read: 40 },
  { route: '/alerts/{id}/evidence', read: 60 },
  { route: '/alerts/changes', read: 6000 },
  { route: '/alerts/changes', as: 'busy', read: 3000 },
  { route: '/events/changes', read: 1000 },
  { route: '/events/{id}', read: 50 },
  { route: '/events/map', ask: '?bbox=28,40,30,42', read: 20_000, sort: 2000 },
  { route: '/events/footprints', ask: '?bbox=28,40,30,42', read: 2000, sort: 500 },
  { route: '/events/tracks', ask: '?bbox=28,40,30,42', read: 20_000, sort: 2000 },
  { route: '/events/tracks', ask: '?event_id={event}', read: 50 },
  { route: '/events', ask: '?from=2026-01-01T00:00:00Z&zone_id={zone}', read: 2000 },
  { route: '/events', ask: '?active_at=2026-01-01T00:00:00Z', read: 2000, sort: 500 },
  { route: '/channels', read: 200 },
  { route: '/channels', ask: '?limit=50', next: true, read: 150 },
  { route: '/channels/{id}', read: 20 },
  { route: '/channels/{id}/deliveries', read: 1500 },
  { route: '/channels/{id}/deliveries', next: true, read: 1500 },
  { route: '/channels/{id}/deliveries', ask: '?delivery_id={zone}', read: 20 },
  { route: '/orgs/{id}/members', read: 250, sort: 100 },
  { route: '/orgs/{id}/members/{userId}', read: 20 },
  // Counts what the caller has, all of it and once: 300 zones and channels, 3,000 alerts and deliveries.
  { route: '/analytics', ask: '?days=365', read: 16_000, sort: 6000 },
  { route: '/audit', ask: '?days=365', read: 300, sort: 0 },
  { route: '/audit', ask: '?days=365', next: true, read: 300, sort: 0 },
  { route: '/audit', ask: `?days=365&after=${FIRST}`, read: 600, sort: 0 },
]

test('every route that reads for a caller is looked at', async () => {
  const reading = (await service.routes()).filter(
    ({ method, is_public, is_account }) => method === 'GET' && !is_public && !is_account,
  )
  expect([...new Set(CASES.map(({ route }) => `/api/v1${route}`))].sort()).toEqual(
    reading.map(({ path }) => path).sort(),
  )
})

describe.each([...CASES, { route: '/zones/preview', ask: '?days=90', body: DRAFT, read: 200 }])(
  '$route $ask $as',
  (given: Case) => {
    test('reads by index, sorts at most a page, and touches few rows', async () => {
      const key = given.as === 'busy' ? busy.key : caller.key
      const method = given.body ? 'POST' : 'GET'
      const path = addressOf(given)
      let cursor = ''
      if (given.next) {
        const first = await service.request(method, path, { key })
        const page = parsed(first, 200, z.object({ next_cursor: z.string() }))
        cursor = `${path.includes('?') ? '&' : '?'}cursor=${page.next_cursor}`
      }
      recorder.drain()
      const answer = await service.request(method, path + cursor, { key, body: given.body })
      expect(answer.status, answer.text).toBe(200)
      const plans = await plansOf(service.database.apiUrl, recorder.drain())
      const found = summarisePlans(plans, LARGE)
      expectFrugal(found, given)
    })
  },
)

describe('the functions of the jobs', () => {
  test.each([
    ['private.batch_candidates(array[$1]::uuid[])', 'batch', 5000],
    ['private.zone_candidates($1)', 'zone', 100],
  ] as const)('%s reads by index', async (call, thing, read) => {
    const statement = { text: `select * from ${call}`, values: [ids[thing]] }
    const found = summarisePlans(await plansOf(service.database.jobsUrl, [statement]), LARGE)
    expectFrugal(found, { read, sort: 5000 })
  })
})

function expectFrugal(
  found: ReturnType<typeof summarisePlans>,
  { read, sort }: Partial<Case>,
): void {
  expect(found.plans).toBeGreaterThan(0)
  expect(found.scans).toEqual([])
  expect(found.read).toBeGreaterThan(0)
  expect(found.read).toBeLessThanOrEqual(read ?? 0)
  expect(found.sorted).toBeLessThanOrEqual(sort ?? 101 * (1 + TENANTS))
}

function addressOf({ route, ask = '' }: Case): string {
  const thing = /^\/(zone|channel|alert|org|event)s\/\{id\}/.exec(route)?.[1] ?? ''
  const query = ask.startsWith('?') ? ask : ''
  const filled: Record<string, string> = {
    ...ids,
    id: ids[thing as keyof LargeDatabase],
    userId: caller.user_id,
  }
  return `/api/v1${route}${query}`.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => filled[name] ?? name,
  )
}
