import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { generateKey } from '../../../shared/key.ts'
import type { Answer, Person, Service } from '../service.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** What the suite needs to know about a route to provoke every refusal. */
export type Route = {
  method: Method
  /** The path in the form of the OpenAPI document. */
  path: string
  scope: 'read' | 'write' | 'ingest'
  /** A body it accepts. */
  body?: Record<string, unknown>
  /** The query it requires. */
  query?: string
  /** What the first id in the path identifies. */
  thing?: Thing
}
type Thing = 'zone' | 'alert' | 'channel' | 'organisation' | 'event'

const zone = { label: 'A place', lat: 41, lon: 29 }
const channel = { kind: 'webhook', target: 'https://hooks.example.com/in' }

function get(path: string, more: Partial<Route> = {}): Route {
  return { method: 'GET', path: `/api/v1${path}`, scope: 'read', ...more }
}

function write(method: Method, path: string, more: Partial<Route> = {}): Route {
  return { method, path: `/api/v1${path}`, scope: 'write', ...more }
}

/** Every route that needs a key. A test compares it with the OpenAPI document. */
export const ROUTES: Route[] = [
  get('/me'),
  get('/web-push'),
  get('/events'),
  {
    ...write('POST', '/events', { body: { source: 'custom:test', events: [{}] } }),
    scope: 'ingest',
  },
  get('/events/changes'),
  get('/events/footprints'),
  get('/events/map'),
  get('/events/tracks'),
  get('/events/{id}', { thing: 'event' }),
  get('/zones'),
  write('POST', '/zones', { body: zone }),
  write('POST', '/zones/bulk', { body: { zones: [{ ...zone, external_id: 'site-1' }] } }),
  get('/zones/{id}', { thing: 'zone' }),
  write('PATCH', '/zones/{id}', { thing: 'zone', body: { label: 'Changed' } }),
  write('DELETE', '/zones/{id}', { thing: 'zone' }),
  write('POST', '/zones/{id}/restore', { thing: 'zone' }),
  { ...get('/zones/preview', { body: zone }), method: 'POST' },
  get('/zones/{id}/preview', { thing: 'zone' }),
  get('/zones/{id}/explain', { thing: 'zone', query: 'event_id=usgs:none' }),
  get('/zones/{id}/versions', { thing: 'zone' }),
  write('POST', '/zones/{id}/drill', { thing: 'zone', body: {}, query: 'wait=0' }),
  get('/zones/{id}/drills/{drillId}', { thing: 'zone' }),
  get('/zones/{id}/feed-links', { thing: 'zone' }),
  write('POST', '/zones/{id}/feed-links', { thing: 'zone', body: { label: 'Calendar' } }),
  get('/zones/{id}/feed-links/{linkId}', { thing: 'zone' }),
  write('POST', '/zones/{id}/feed-links/{linkId}/rotate', { thing: 'zone' }),
  write('DELETE', '/zones/{id}/feed-links/{linkId}', { thing: 'zone' }),
  get('/alerts'),
  get('/alerts/changes'),
  get('/alerts/{id}', { thing: 'alert' }),
  get('/alerts/{id}/evidence', { thing: 'alert' }),
  write('PATCH', '/alerts/{id}', { thing: 'alert', body: { resolved: true } }),
  write('POST', '/alerts/{id}/acknowledge', { thing: 'alert' }),
  write('POST', '/alerts/{id}/redeliver', { thing: 'alert', body: {} }),
  get('/channels'),
  write('POST', '/channels', { body: channel }),
  get('/channels/{id}', { thing: 'channel' }),
  write('PATCH', '/channels/{id}', { thing: 'channel', body: { enabled: false } }),
  write('DELETE', '/channels/{id}', { thing: 'channel' }),
  write('POST', '/channels/{id}/restore', { thing: 'channel' }),
  write('POST', '/channels/{id}/test', { thing: 'channel' }),
  write('POST', '/channels/{id}/rotate-secret', { thing: 'channel' }),
  write('POST', '/channels/{id}/recover', {
    thing: 'channel',
    body: { since: '2026-01-01T00:00:00.000Z' },
  }),
  get('/channels/{id}/deliveries', { thing: 'channel' }),
  write('POST', '/channels/{id}/confirmation', { thing: 'channel' }),
  get('/orgs/{id}/members', { thing: 'organisation' }),
  write('POST', '/orgs/{id}/members', { thing: 'organisation', body: { email: 'a@b.example' } }),
  get('/orgs/{id}/members/{userId}', { thing: 'organisation' }),
  write('PATCH', '/orgs/{id}/members/{userId}', { thing: 'organisation', body: { role: 'admin' } }),
  write('DELETE', '/orgs/{id}/members/{userId}', { thing: 'organisation' }),
  get('/analytics'),
  get('/audit'),
]

/** A word in every row that createOwnedThings makes; no answer to another account may contain it. */
export const OTHER_ACCOUNT_MARKER = 'belongs-to-somebody-else'

/** One thing of each kind, all owned by one account; `read` gives their rows as stored. */
export type OwnedThings = {
  ids: Record<Thing | 'member' | 'feed_link' | 'drill', string>
  read: () => Promise<unknown>
}

/** Gives an account one of everything that has an id. */
export async function createOwnedThings(service: Service, owner: Person): Promise<OwnedThings> {
  const { query } = service.database
  const id = async (statement: string, values: unknown[]) => {
    const [row] = await query<{ id: string }>(statement, values)
    if (!row) throw new Error(`nothing was made by ${statement}`)
    return row.id
  }
  const organisation = await service.organisation(owner, [await service.account(), 'member'])
  const zoneId = await id(
    `insert into watchpost.zones (owner_id, label, lat, lon, boxes)
    values ($1, $2, 41, 29, array[box '(30,42),(28,40)']) returning id`,
    [owner.user_id, OTHER_ACCOUNT_MARKER],
  )
  const feedLink = await id(
    `insert into watchpost.feed_links (zone_id, owner_id, label, token_hash)
    values ($1, $2, $3, sha256(gen_random_uuid()::text::bytea)) returning id`,
    [zoneId, owner.user_id, OTHER_ACCOUNT_MARKER],
  )
  const drill = await id(
    `insert into watchpost.drills (zone_id, created_by, event, ignores_quiet_hours, escalates)
    values ($1, $2, $3, false, false) returning id`,
    [
      zoneId,
      owner.user_id,
      { type: 'earthquake', source: 'drill', severity: 40, lat: 41, lon: 29 },
    ],
  )
  const channelId = await id(
    `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked, signing_secret_sealed)
    values ($1, 'webhook', $2, $4, $3) returning id`,
    [
      owner.user_id,
      await service.seal.seal(`https://${OTHER_ACCOUNT_MARKER}.example.com/in`),
      await service.seal.seal(`whsec_${Buffer.alloc(24, 1).toString('base64')}`),
      `https://${OTHER_ACCOUNT_MARKER}.example.com/…`,
    ],
  )
  const alertId = await id(
    `insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity,
      reason, first_reason, status, raised_at, checks, zone_version, event_revision)
    values ($1, $4, $2, 'usgs:x', 'usgs', $3, 50, $4, $4, 'dispatched', now(), '[]', 1, 1)
    returning id`,
    [
      zoneId,
      owner.user_id,
      {
        id: 'usgs:x',
        source: 'usgs',
        type: 'earthquake',
        title: OTHER_ACCOUNT_MARKER,
        lat: 41,
        lon: 29,
        ts: '2026-01-01T00:00:00.000Z',
        severity: 50,
        url: null,
      },
      OTHER_ACCOUNT_MARKER,
    ],
  )
  await query(
    `insert into watchpost.sources (source, title, attribution, types, interval_seconds)
    values ('custom', '', '', '{}', 60) on conflict do nothing`,
  )
  const event = await id(
    `insert into watchpost.events (id, source, type, title, lat, lon, ts, severity, status, extent, owner_id)
    values ('custom:' || gen_random_uuid(), 'custom', 'other', $2, 41, 29, now(), 50, 'active',
      box '(29,41),(29,41)', $1) returning id`,
    [owner.user_id, OTHER_ACCOUNT_MARKER],
  )
  const member = await id(
    `select id from watchpost.members where org_id = $1 and role = 'member'`,
    [organisation],
  )
  return {
    ids: {
      organisation,
      zone: zoneId,
      feed_link: feedLink,
      drill,
      channel: channelId,
      alert: alertId,
      event,
      member,
    },
    read: async () =>
      Promise.all([
        query('select * from watchpost.zones where id = $1', [zoneId]),
        query('select * from watchpost.feed_links where zone_id = $1', [zoneId]),
        query('select * from watchpost.drills where zone_id = $1', [zoneId]),
        query('select * from watchpost.channels where id = $1', [channelId]),
        query('select * from watchpost.alerts where id = $1', [alertId]),
        query('select * from watchpost.deliveries where channel_id = $1', [channelId]),
        query('select * from watchpost.members where org_id = $1 order by id', [organisation]),
      ]),
  }
}

/** A route's path with these ids filled in and its query appended. */
export function pathOf({ path, query, thing }: Route, ids: OwnedThings['ids']): string {
  const filled = path
    .replace('{id}', thing ? ids[thing] : randomUUID())
    .replace('{userId}', ids.member)
    .replace('{linkId}', ids.feed_link)
    .replace('{drillId}', ids.drill)
  return query ? `${filled}?${query}` : filled
}

/** Ids that nothing has. */
export function unknownIds(id: () => string): OwnedThings['ids'] {
  return {
    organisation: id(),
    zone: id(),
    feed_link: id(),
    drill: id(),
    channel: id(),
    alert: id(),
    event: id(),
    member: id(),
  }
}

/** The Authorization header of every caller that must be answered 401. */
export async function unknownCallers(
  service: Service,
): Promise<Record<string, string | undefined>> {
  const account = await service.account()
  const good = await service.key(account)
  const expired = await service.key(account, { expires_at: new Date(Date.now() - 1000) })
  const revoked = await service.key(account, { revoked: true })
  return {
    'no key': undefined,
    'an empty key': 'Bearer ',
    'another scheme': `Basic ${good}`,
    'a key and more': `Bearer ${good} ${good}`,
    'a key of another form': 'Bearer sk_live_0123456789',
    'a key with a wrong checksum': `Bearer ${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`,
    'an unknown key': `Bearer ${generateKey()}`,
    'a revoked key': `Bearer ${revoked}`,
    'an expired key': `Bearer ${expired}`,
  }
}

/** Expects a complete problem document with this status and code. */
export function expectProblem(answer: Answer, status: number, code: string): void {
  const words = code.replaceAll('_', ' ')
  expect(answer.body).toMatchObject({
    type: `https://watchpost.dev/problems/${code}`,
    title: words.charAt(0).toUpperCase() + words.slice(1),
    status,
    code,
    detail: expect.stringMatching(/\S/),
    request_id: answer.headers.get('X-Request-Id'),
  })
  expect(answer.status).toBe(status)
  expect(answer.headers.get('Content-Type')).toBe('application/problem+json')
  expect(answer.headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(answer.headers.get('WWW-Authenticate')).toBe(
    status === 401 ? 'Bearer realm="watchpost"' : null,
  )
}
