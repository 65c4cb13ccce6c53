import { describe, expect, test } from 'vitest'
import { query, TOOLS } from '../../../functions/api/mcp-tools.ts'

const ID = '0b0f8a52-7f2f-4c7a-9f7e-3f3c2f0a1b2c'
const OTHER = '1c1f8a52-7f2f-4c7a-9f7e-3f3c2f0a1b2c'
const zone = { label: 'Port', lat: 41, lon: 29 }
const channel = { kind: 'webhook', target: 'https://hooks.example.com/x' }

function toolOf(name: string) {
  const tool = TOOLS.find((one) => one.name === name)
  if (!tool) throw new Error(`there is no tool ${name}`)
  return tool
}

/** The scope, then the request that a tool makes of what a model gives it. */
const asked = (name: string, input: Record<string, unknown>) => {
  const { scope, input: schema, call } = toolOf(name)
  const { method, path, body } = call(schema.parse(input))
  return [scope, `${method} ${path}`, ...(body === undefined ? [] : [body])]
}

const page = { limit: 5, cursor: 'c' }

test.each<[string, Record<string, unknown>, unknown[]]>([
  ['list_events', {}, ['read', 'GET /events']],
  [
    'list_events',
    { minutes: 5, zone_id: ID, source: 'usgs', type: 'storm', min_severity: 0, ...page },
    [
      'read',
      `GET /events?minutes=5&zone_id=${ID}&source=usgs&type=storm&min_severity=0&limit=5&cursor=c`,
    ],
  ],
  ['list_zones', {}, ['read', 'GET /zones?geometry=simplified']],
  [
    'list_zones',
    { external_id: 'a b', ...page },
    ['read', 'GET /zones?external_id=a+b&limit=5&cursor=c&geometry=simplified'],
  ],
  ['get_zone', { zone_id: ID }, ['read', `GET /zones/${ID}`]],
  [
    'list_alerts',
    { days: 2, zone_id: ID, resolved: false, seen: true, status: 'held', ...page },
    [
      'read',
      `GET /alerts?days=2&zone_id=${ID}&resolved=false&seen=true&status=held&limit=5&cursor=c`,
    ],
  ],
  ['get_alert', { alert_id: ID }, ['read', `GET /alerts/${ID}`]],
  [
    'explain_event',
    { zone_id: ID, event_id: 'usgs:1' },
    ['read', `GET /zones/${ID}/explain?event_id=usgs%3A1`],
  ],
  ['preview_zone', { zone_id: ID, days: 3 }, ['read', `GET /zones/${ID}/preview?days=3`]],
  ['preview_zone', { zone_id: ID }, ['read', `GET /zones/${ID}/preview`]],
  ['preview_draft', { zone, days: 3 }, ['read', 'POST /zones/preview?days=3', zone]],
  ['create_zone', { zone }, ['write', 'POST /zones', zone]],
  [
    'update_zone',
    { zone_id: ID, changes: { lat: 3 } },
    ['write', `PATCH /zones/${ID}`, { lat: 3 }],
  ],
  ['delete_zone', { zone_id: ID }, ['write', `DELETE /zones/${ID}`]],
  [
    'resolve_alert',
    { alert_id: ID, resolved: true, note: 'n' },
    ['write', `PATCH /alerts/${ID}`, { resolved: true, note: 'n' }],
  ],
  ['acknowledge_alert', { alert_id: ID }, ['write', `POST /alerts/${ID}/acknowledge`]],
  [
    'redeliver_alert',
    { alert_id: ID, delivery_ids: [OTHER] },
    ['write', `POST /alerts/${ID}/redeliver`, { delivery_ids: [OTHER] }],
  ],
  ['redeliver_alert', { alert_id: ID }, ['write', `POST /alerts/${ID}/redeliver`, {}]],
  ['list_channels', page, ['read', 'GET /channels?limit=5&cursor=c']],
  [
    'list_channel_deliveries',
    { channel_id: ID, ...page },
    ['read', `GET /channels/${ID}/deliveries?limit=5&cursor=c`],
  ],
  ['create_channel', { channel }, ['write', 'POST /channels', channel]],
  [
    'update_channel',
    { channel_id: ID, changes: { label: 'L' } },
    ['write', `PATCH /channels/${ID}`, { label: 'L' }],
  ],
  ['delete_channel', { channel_id: ID }, ['write', `DELETE /channels/${ID}`]],
  ['test_channel', { channel_id: ID }, ['write', `POST /channels/${ID}/test`]],
  ['get_me', {}, ['read', 'GET /me']],
  ['list_members', { org_id: ID }, ['read', `GET /orgs/${ID}/members`]],
  [
    'invite_member',
    { org_id: ID, invite: { email: 'a@watchpost.test' } },
    ['write', `POST /orgs/${ID}/members`, { email: 'a@watchpost.test' }],
  ],
  [
    'update_member',
    { org_id: ID, member_id: OTHER, changes: { role: 'admin' } },
    ['write', `PATCH /orgs/${ID}/members/${OTHER}`, { role: 'admin' }],
  ],
  [
    'remove_member',
    { org_id: ID, member_id: OTHER },
    ['write', `DELETE /orgs/${ID}/members/${OTHER}`],
  ],
])('%s with %j asks the API for what it promises', (name, input, request) => {
  expect(asked(name, input)).toEqual(request)
})

describe('what a model gives a tool', () => {
  const takes = (name: string, input: object) => toolOf(name).input.safeParse(input).success
  const LISTS = ['list_events', 'list_zones', 'list_alerts', 'list_channels']
  const of = { zone_id: ID, alert_id: ID, channel_id: ID }

  test.each<[string, string, unknown[], unknown[], object]>([
    ...LISTS.map((name): [string, string, unknown[], unknown[], object] => [
      name,
      'limit',
      [1, 500],
      [0, 501, 1.5, '5'],
      {},
    ]),
    ['list_channel_deliveries', 'limit', [1, 500], [0, 501], { channel_id: ID }],
    ['list_events', 'minutes', [1, 1440], [0, 1441, 1.5], {}],
    ['list_events', 'min_severity', [0, 0.5, 100], [-1, 101], {}],
    ['list_events', 'zone_id', [ID], ['x'], {}],
    ['list_alerts', 'days', [1, 90], [0, 91, 1.5], {}],
    ['preview_zone', 'days', [1, 90], [0, 91], { zone_id: ID }],
    ['preview_draft', 'days', [1, 90], [0, 91], { zone }],
    ['list_alerts', 'resolved', [true, false], ['yes'], {}],
    [
      'resolve_alert',
      'note',
      ['', 'n'.repeat(4000)],
      ['n'.repeat(4001)],
      { alert_id: ID, resolved: true },
    ],
    ['resolve_alert', 'resolved', [true, false], [undefined], { alert_id: ID }],
    [
      'redeliver_alert',
      'delivery_ids',
      [[], Array(100).fill(ID)],
      [Array(101).fill(ID), ['x']],
      { alert_id: ID },
    ],
    ['get_zone', 'zone_id', [ID], ['x', undefined], {}],
  ])('%s takes a %s of %j and not of %j', (name, field, taken, refused, rest) => {
    expect(taken.map((value) => takes(name, { ...rest, [field]: value }))).toEqual(
      taken.map(() => true),
    )
    expect(refused.map((value) => takes(name, { ...rest, [field]: value }))).toEqual(
      refused.map(() => false),
    )
  })

  test.each(TOOLS.map(({ name }) => name))('has no field that %s does not know', (name) => {
    const { input } = toolOf(name)
    const given = { ...of, zone, channel, changes: {}, org_id: ID, member_id: ID, resolved: true }
    const known = Object.fromEntries(
      Object.entries({ ...given, event_id: 'e', invite: { email: 'a@watchpost.test' } }).filter(
        ([field]) => field in input.shape,
      ),
    )
    expect(takes(name, known)).toBe(true)
    expect(takes(name, { ...known, other: 1 })).toBe(false)
  })
})

test('a query has only what was given, in its encoding', () => {
  expect(query({})).toBe('')
  expect(query({ a: undefined })).toBe('')
  expect(query({ a: 'x&y=z', b: undefined, c: 0, d: false })).toBe('?a=x%26y%3Dz&c=0&d=false')
})
