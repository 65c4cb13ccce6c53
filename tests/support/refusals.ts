import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { generateKey } from '../../shared/key.ts'
import type { Answer, Person, Service } from './service.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** What the suite must know of a route to be refused by it in every way. */
export type Route = {
  method: Method
  /** As the OpenAPI document has it. */
  path: string
  scope: 'read' | 'write'
  /** A body it accepts. */
  body?: Record<string, unknown>
  /** A query it needs. */
  query?: string
  /** What its first id names. */
  thing?: Thing
}
export type Thing = 'zone' | 'alert' | 'channel' | 'organisation'

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
  get('/events'),
  get('/zones'),
  write('POST', '/zones', { body: zone }),
  get('/zones/{id}', { thing: 'zone' }),
  write('PATCH', '/zones/{id}', { thing: 'zone', body: { label: 'Changed' } }),
  write('DELETE', '/zones/{id}', { thing: 'zone' }),
  write('POST', '/zones/{id}/restore', { thing: 'zone' }),
  { ...get('/zones/preview', { body: zone }), method: 'POST' },
  get('/zones/{id}/preview', { thing: 'zone' }),
  get('/zones/{id}/explain', { thing: 'zone', query: 'event_id=usgs:none' }),
  get('/alerts'),
  get('/alerts/{id}', { thing: 'alert' }),
  write('PATCH', '/alerts/{id}', { thing: 'alert', body: { resolved: true } }),
  write('POST', '/alerts/{id}/redeliver', { thing: 'alert', body: {} }),
  get('/channels'),
  write('POST', '/channels', { body: channel }),
  get('/channels/{id}', { thing: 'channel' }),
  write('PATCH', '/channels/{id}', { thing: 'channel', body: { enabled: false } }),
  write('DELETE', '/channels/{id}', { thing: 'channel' }),
  write('POST', '/channels/{id}/restore', { thing: 'channel' }),
  write('POST', '/channels/{id}/test', { thing: 'channel' }),
  write('POST', '/channels/{id}/rotate-secret', { thing: 'channel' }),
  get('/channels/{id}/deliveries', { thing: 'channel' }),
  get('/orgs/{id}/members', { thing: 'organisation' }),
  write('POST', '/orgs/{id}/members', { thing: 'organisation', body: { email: 'a@b.example' } }),
  get('/orgs/{id}/members/{userId}', { thing: 'organisation' }),
  write('PATCH', '/orgs/{id}/members/{userId}', { thing: 'organisation', body: { role: 'admin' } }),
  write('DELETE', '/orgs/{id}/members/{userId}', { thing: 'organisation' }),
  get('/analytics'),
  get('/audit'),
]

/** Stands in everything that belongings makes: it may show up in no other account's answers. */
export const MARKER = 'belongs-to-somebody-else'

/** One thing of each sort, all of one account, and how to read them back as they really are. */
export type Belongings = { ids: Record<Thing | 'member', string>; read: () => Promise<unknown> }

/** belongings gives an account one of everything that has an id. */
export async function belongings(service: Service, owner: Person): Promise<Belongings> {
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
    [owner.user_id, MARKER],
  )
  const channelId = await id(
    `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked, signing_secret_sealed)
    values ($1, 'webhook', $2, $4, $3) returning id`,
    [
      owner.user_id,
      await service.seal.seal(`https://${MARKER}.example.com/in`),
      await service.seal.seal(`whsec_${Buffer.alloc(24, 1).toString('base64')}`),
      `https://${MARKER}.example.com/…`,
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
        title: MARKER,
        lat: 41,
        lon: 29,
        ts: '2026-01-01T00:00:00.000Z',
        severity: 50,
        url: null,
      },
      MARKER,
    ],
  )
  const member = await id(
    `select id from watchpost.members where org_id = $1 and role = 'member'`,
    [organisation],
  )
  return {
    ids: { organisation, zone: zoneId, channel: channelId, alert: alertId, member },
    read: async () =>
      Promise.all([
        query('select * from watchpost.zones where id = $1', [zoneId]),
        query('select * from watchpost.channels where id = $1', [channelId]),
        query('select * from watchpost.alerts where id = $1', [alertId]),
        query('select * from watchpost.deliveries where channel_id = $1', [channelId]),
        query('select * from watchpost.members where org_id = $1 order by id', [organisation]),
      ]),
  }
}

/** addressOf fills a route's path with these ids, and puts its query behind it. */
export function addressOf({ path, query, thing }: Route, ids: Belongings['ids']): string {
  const filled = path
    .replace('{id}', thing ? ids[thing] : randomUUID())
    .replace('{userId}', ids.member)
  return query ? `${filled}?${query}` : filled
}

/** strangeIds are ids that nothing has. */
export function strangeIds(id: () => string): Belongings['ids'] {
  return { organisation: id(), zone: id(), channel: id(), alert: id(), member: id() }
}

/** Every way of not being known, with the Authorization header of each. */
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

/** expectProblem is what every refusal looks like, whatever was refused. */
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
