import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { OTHER_ACCOUNT_MARKER } from '../support/attacks/refusals.ts'
import { describeOperations, type Operation } from '../support/openapi.ts'
import {
  createService,
  type Person,
  parsed,
  type Service,
  tokenOfInvite,
} from '../support/service.ts'

let service: Service
let operations: Operation[]
beforeAll(async () => {
  service = await createService()
  const answer = await service.request('GET', '/api/v1/openapi.json')
  ;({ operations } = describeOperations(JSON.parse(answer.text)))
})
afterAll(() => service?.close())

/** A row of the log as it is stored. */
const Kept = z.object({
  account_id: z.string(),
  actor_id: z.string().nullable(),
  key_id: z.string().nullable(),
  action: z.string(),
  target_type: z.string(),
  target_id: z.string(),
  outcome: z.string(),
  details: z.unknown(),
})

/** The only routes that change nothing although they are no GET. */
const NO_ACTS: Record<string, string> = {
  previewDraft: 'stores nothing',
  pushEvents: 'events are data, up to a million a day; each has its revisions',
}
const SECRET = 'hunter2-s3cret'

/** Who acts, and things of theirs: an organisation with a second member, a channel, a zone, an alert. */
async function createStage() {
  const [person, other] = [await service.person(), await service.person()]
  const session = await service.session(person)
  const org = await service.organisation(person, [other, 'member'])
  const ask = async (method: string, path: string, body?: unknown, key = person.key) =>
    service.request(method, `/api/v1${path}`, { key, body })
  const make = async (path: string, name: string, body: object) => {
    const made = z.looseObject({ [name]: z.looseObject({ id: z.string() }) })
    return parsed(await ask('POST', path, body), 201, made)[name]?.id ?? ''
  }
  const target = `https://hooks.example.com/${SECRET}`
  const channel = await make('/channels', 'channel', { kind: 'webhook', target, org_id: org })
  const zone = await make('/zones', 'zone', { label: 'Port', lat: 41, lon: 29, org_id: org })
  const [alert] = await service.database.query<{ id: string }>(
    `insert into watchpost.alerts (zone_id, zone_name, owner_id, org_id, event_id, source, event, severity,
      reason, first_reason, status, raised_at, checks, zone_version, event_revision)
    values ($1, 'Port', $2, $3, 'usgs:x', 'usgs', $4, 50, 'r', 'r', 'failed', now(), '[]', 1, 1) returning id`,
    [
      zone,
      person.user_id,
      org,
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
    ],
  )
  await service.database.query(
    `insert into watchpost.deliveries (alert_id, channel_id, type, status) values ($1, $2, 'alert.raised', 'failed')`,
    [alert?.id, channel],
  )
  return { person, other, session, org, channel, zone, alert: alert?.id ?? '', ask, make }
}
type Stage = Awaited<ReturnType<typeof createStage>>
type Act = {
  /** What has to be done before; answers ids of it. */
  before?: (stage: Stage) => Promise<string>
  path: (stage: Stage, made: string) => string
  body?: (stage: Stage, made: string) => unknown
  action: string
  /** Where it stands when the actor has none. */
  by?: 'other'
  is_gone?: boolean
}

const remove = (path: (stage: Stage) => string) => async (stage: Stage) => {
  expect((await stage.ask('DELETE', path(stage))).status).toBe(204)
  return ''
}
const invite = async ({ ask, org, other }: Stage) => {
  await ask('DELETE', `/orgs/${org}/members/${other.user_id}`)
  const body = { email: other.email, role: 'member' }
  const made = await ask('POST', `/orgs/${org}/members`, body)
  const { invite_url } = parsed(made, 201, z.looseObject({ invite_url: z.string() }))
  return tokenOfInvite(invite_url)
}
const keyOf = async ({ person }: Stage) => {
  const [row] = await service.database.query<{ id: string }>(
    'select id from watchpost.api_keys where user_id = $1',
    [person.user_id],
  )
  return row?.id ?? ''
}

/** Every route that does something, and the act it is. */
const ACTS: Record<string, Act> = {
  createZone: {
    path: () => '/zones',
    body: () => ({ label: 'New', lat: 1, lon: 1 }),
    action: 'zone.created',
  },
  bulkZones: {
    path: () => '/zones/bulk',
    body: () => ({ zones: [{ external_id: 'a', label: 'New', lat: 1, lon: 1 }] }),
    action: 'zone.created',
  },
  updateZone: {
    path: ({ zone }) => `/zones/${zone}`,
    body: () => ({ min_severity: 7 }),
    action: 'zone.updated',
  },
  deleteZone: { path: ({ zone }) => `/zones/${zone}`, action: 'zone.deleted' },
  restoreZone: {
    before: remove(({ zone }) => `/zones/${zone}`),
    path: ({ zone }) => `/zones/${zone}/restore`,
    action: 'zone.restored',
  },
  drillZone: {
    path: ({ zone }) => `/zones/${zone}/drill?wait=0`,
    body: () => ({}),
    action: 'zone.drilled',
  },
  createFeedLink: {
    path: ({ zone }) => `/zones/${zone}/feed-links`,
    body: () => ({ label: 'Calendar' }),
    action: 'feed_link.created',
  },
  rotateFeedLink: {
    before: ({ make, zone }) => make(`/zones/${zone}/feed-links`, 'feed_link', {}),
    path: ({ zone }, id) => `/zones/${zone}/feed-links/${id}/rotate`,
    action: 'feed_link.rotated',
  },
  revokeFeedLink: {
    before: ({ make, zone }) => make(`/zones/${zone}/feed-links`, 'feed_link', {}),
    path: ({ zone }, id) => `/zones/${zone}/feed-links/${id}`,
    action: 'feed_link.revoked',
  },
  updateAlert: {
    path: ({ alert }) => `/alerts/${alert}`,
    body: () => ({ resolved: false, note: SECRET }),
    action: 'alert.noted',
  },
  acknowledgeAlert: {
    path: ({ alert }) => `/alerts/${alert}/acknowledge`,
    action: 'alert.acknowledged',
  },
  redeliverAlert: {
    path: ({ alert }) => `/alerts/${alert}/redeliver`,
    body: () => ({}),
    action: 'alert.redelivered',
  },
  createChannel: {
    path: () => '/channels',
    body: () => ({ kind: 'webhook', target: `https://hooks.example.com/${SECRET}` }),
    action: 'channel.created',
  },
  updateChannel: {
    path: ({ channel }) => `/channels/${channel}`,
    body: () => ({ target: `https://other.example.com/${SECRET}` }),
    action: 'channel.updated',
  },
  deleteChannel: { path: ({ channel }) => `/channels/${channel}`, action: 'channel.deleted' },
  restoreChannel: {
    before: remove(({ channel }) => `/channels/${channel}`),
    path: ({ channel }) => `/channels/${channel}/restore`,
    action: 'channel.restored',
  },
  testChannel: { path: ({ channel }) => `/channels/${channel}/test`, action: 'channel.tested' },
  recoverChannel: {
    path: ({ channel }) => `/channels/${channel}/recover`,
    body: () => ({ since: '2026-01-01T00:00:00.000Z' }),
    action: 'channel.recovered',
  },
  confirmChannel: {
    before: async ({ channel }) => {
      await service.database.query(
        `update watchpost.channels set kind = 'email', target_sealed = $2 where id = $1`,
        [channel, await service.seal.seal('ops@example.com')],
      )
      return ''
    },
    path: ({ channel }) => `/channels/${channel}/confirmation`,
    action: 'channel.confirmation_sent',
  },
  rotateChannelSecret: {
    path: ({ channel }) => `/channels/${channel}/rotate-secret`,
    action: 'channel.secret_rotated',
  },
  inviteMember: {
    path: ({ org }) => `/orgs/${org}/members`,
    body: () => ({ email: `${randomUUID()}@watchpost.test` }),
    action: 'member.invited',
  },
  updateMember: {
    path: ({ org, other }) => `/orgs/${org}/members/${other.user_id}`,
    body: () => ({ role: 'admin' }),
    action: 'member.updated',
  },
  removeMember: {
    path: ({ org, other }) => `/orgs/${org}/members/${other.user_id}`,
    action: 'member.deleted',
  },
  createKey: {
    path: () => '/account/keys',
    body: () => ({ name: 'New', scopes: ['read'] }),
    action: 'key.created',
  },
  revokeKey: { before: keyOf, path: (_, id) => `/account/keys/${id}`, action: 'key.revoked' },
  createOrg: {
    path: () => '/account/orgs',
    body: () => ({ name: 'New' }),
    action: 'organisation.created',
  },
  updateOrg: {
    path: ({ org }) => `/account/orgs/${org}`,
    body: () => ({ name: 'Other' }),
    action: 'organisation.updated',
  },
  deleteOrg: { path: ({ org }) => `/account/orgs/${org}`, action: 'organisation.deleted' },
  transferOrg: {
    path: ({ org }) => `/account/orgs/${org}/transfer`,
    body: ({ other }) => ({ user_id: other.user_id }),
    action: 'member.updated',
  },
  leaveOrg: {
    path: ({ org }) => `/account/orgs/${org}/leave`,
    by: 'other',
    action: 'member.deleted',
  },
  acceptInvite: {
    before: invite,
    path: () => '/account/invites/accept',
    body: (_, token) => ({ token }),
    by: 'other',
    action: 'member.updated',
  },
  deleteAccount: {
    path: () => '/account',
    body: ({ person }) => ({ confirm: person.email }),
    action: 'account.deleted',
    is_gone: true,
  },
}

test('every route but the GETs is listed as an act, or as changing nothing', () => {
  const mutating = operations.filter(({ method, is_keyed }) => method !== 'GET' && is_keyed)
  expect(mutating.map(({ id }) => id).sort()).toEqual(
    [...Object.keys(ACTS), ...Object.keys(NO_ACTS)].sort(),
  )
})

describe('each act stands in the log with actor, key, target and outcome', () => {
  test.each(Object.keys(ACTS))('%s', async (id) => {
    const act = ACTS[id] as Act // safe: one of its keys
    const operation = operations.find((each) => each.id === id) as Operation // safe: the test above
    const stage = await createStage()
    // Organisations are the session's matter; the helper of deletions asks with the key.
    if (id === 'deleteAccount') {
      const path = `/account/orgs/${stage.org}`
      expect((await stage.ask('DELETE', path, undefined, stage.session)).status).toBe(204)
    }
    const made = id === 'deleteAccount' ? '' : await act.before?.(stage)
    const actor: Pick<Person, 'user_id' | 'email' | 'key'> = act.by ? stage.other : stage.person
    const key = operation.is_account ? await service.session(actor) : actor.key
    const path = act.path(stage, made ?? '')
    const answer = await stage.ask(operation.method, path, act.body?.(stage, made ?? ''), key)
    expect([answer.status < 300, answer.text]).toEqual([true, answer.text])
    const rows = z
      .array(Kept)
      .parse(
        await service.database.query(
          `select * from watchpost.audit where request_id = $1 or (request_id is null and $2 and action = $3)`,
          [answer.headers.get('X-Request-Id'), act.is_gone ?? false, act.action],
        ),
      )
    const mine = rows.filter(({ action, account_id }) =>
      act.is_gone ? action === act.action : action === act.action && account_id === actor.user_id,
    )
    expect(mine.length).toBeGreaterThan(0)
    for (const row of mine) {
      expect(row).toMatchObject({
        outcome: 'success',
        target_type: act.action.split('.')[0],
        target_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        key_id: operation.is_account ? null : expect.any(String),
      })
      if (!act.is_gone) expect(row.actor_id).toBe(actor.user_id)
    }
    // Nothing that is sent or written is ever in it.
    expect(JSON.stringify(rows.map(({ details }) => details))).not.toMatch(
      new RegExp(`${SECRET}|wp_live_|whsec_|eyJ`),
    )
  })
})

test('redeliveries, tests, and creating and deleting are limited', async () => {
  const { ask, alert, channel, person } = await createStage()
  const { query } = service.database
  await query(
    `insert into watchpost.deliveries (alert_id, channel_id, type, status, redelivery_of)
    select d.alert_id, d.channel_id, d.type, 'failed', d.id
    from watchpost.deliveries d cross join generate_series(1, 100) where d.alert_id = $1 and redelivery_of is null`,
    [alert],
  )
  const again = await ask('POST', `/alerts/${alert}/redeliver`, {})
  expect([again.status, again.text]).toEqual([
    409,
    expect.stringContaining('redelivered 100 times'),
  ])
  await query(
    `insert into watchpost.deliveries (channel_id, type, status)
    select $1, 'channel.test', 'succeeded' from generate_series(1, 100)`,
    [channel],
  )
  const tested = await ask('POST', `/channels/${channel}/test`)
  expect([tested.status, tested.text]).toEqual([409, expect.stringContaining('tested 100 times')])
  // Without triggers, which would count them all each time.
  await query(`begin; set local session_replication_role = replica;
    insert into watchpost.zones (owner_id, label, lat, lon, boxes, deleted_at)
      select '${person.user_id}', 'Gone', 1, 1, array[box '(1,1),(0,0)'], now() from generate_series(1, 4000);
    insert into watchpost.channels (owner_id, kind, target_sealed, target_masked, deleted_at)
      select '${person.user_id}', 'ntfy', 'x', 'x', now() from generate_series(1, 200);
    commit`)
  const zone = await ask('POST', '/zones', { label: 'One more', lat: 1, lon: 1 })
  expect([zone.status, zone.text]).toEqual([409, expect.stringContaining('30 days')])
  const target = 'https://hooks.example.com/in'
  const made = await ask('POST', '/channels', { kind: 'webhook', target })
  expect([made.status, made.text]).toEqual([409, expect.stringContaining('30 days')])
})
