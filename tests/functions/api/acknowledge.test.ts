import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Alert } from '../../../shared/schemas/alert.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const One = z.object({ alert: Alert })
const List = z.looseObject({ alerts: z.array(Alert) })

let service: Service
/** The login of the API, which calls what a link does. */
let login: pg.Client

beforeAll(async () => {
  service = await createService()
  login = new pg.Client({ connectionString: service.database.apiUrl })
  await login.connect()
})
afterAll(async () => {
  await login?.end()
  await service?.close()
})

async function id(statement: string, values: unknown[]): Promise<string> {
  const [row] = await service.database.query<{ id: string }>(statement, values)
  return z.uuid().parse(row?.id)
}

const EVENT = { id: 'test:1', source: 'test', title: 'M 5', ts: '2026-01-01T00:00:00.000Z' }
const WIRE = { type: 'earthquake', lat: 1, lon: 2, severity: 50, url: null }

type Made = { owner: Person; zone: string; alert: string; channel: string; org: string | null }
/** An alert that was delivered to a channel; both are shared where there is an organisation. */
async function told(owner: Person, org: string | null = null, status = 'succeeded'): Promise<Made> {
  const zone = await id(
    `insert into watchpost.zones (owner_id, org_id, label, lat, lon, boxes)
    values ($1, $2, 'The quay', 1, 2, array[box '(3,2),(1,0)']) returning id`,
    [owner.user_id, org],
  )
  const alert = await id(
    `insert into watchpost.alerts (zone_id, zone_name, owner_id, org_id, event_id, source, event, severity, reason,
      first_reason, status, raised_at, checks, zone_version, event_revision)
    values ($1, 'The quay', $2, $3, 'test:1', 'test', $4, 50, 'It reaches 50.', 'r', 'dispatched', now(), '[]', 1, 1)
    returning id`,
    [zone, owner.user_id, org, { ...EVENT, ...WIRE }],
  )
  const channel = await id(
    `insert into watchpost.channels (owner_id, org_id, kind, label, target_sealed, target_masked)
    values ($1, $2, 'webhook', 'On call', 'sealed', 'masked') returning id`,
    [owner.user_id, org],
  )
  await service.database.query(
    `insert into watchpost.deliveries (alert_id, channel_id, type, status) values ($1, $2, 'alert.raised', $3)`,
    [alert, channel, status],
  )
  return { owner, zone, alert, channel, org }
}

const post = (who: Pick<Person, 'key'>, alert: string) =>
  service.request('POST', `/api/v1/alerts/${alert}/acknowledge`, { key: who.key })
const acknowledge = async (who: Pick<Person, 'key'>, alert: string) =>
  parsed(await post(who, alert), 200, One).alert
const alertOf = async ({ owner, alert }: Made) =>
  parsed(await service.request('GET', `/api/v1/alerts/${alert}`, owner), 200, One).alert

type Outcome = { outcome: string; alert: Record<string, unknown> | null }
async function follow({ alert, channel }: Pick<Made, 'alert' | 'channel'>): Promise<Outcome> {
  const { rows } = await login.query<{ done: Outcome }>(
    'select private.acknowledge_alert($1, $2, $3) as done',
    [alert, channel, { ip: '203.0.113.9', user_agent: 'Phone' }],
  )
  return rows[0]?.done ?? { outcome: 'nothing', alert: null }
}

async function actsOn(alert: string) {
  return service.database.query<{ action: string; actor_id: string | null; details: object }>(
    `select action, actor_id, ip, details from watchpost.audit where target_id = $1 order by seq`,
    [alert],
  )
}

const NOT_SEEN = { seen_at: null, seen_by: null, seen_via: null, seen_channel: null }

describe('acknowledging an alert', () => {
  test('says who did first, and how; once more changes nothing', async () => {
    const [owner, other] = [await service.person(), await service.person()]
    const org = await service.organisation(owner, [other, 'member'])
    const made = await told(owner, org)
    expect(await alertOf(made)).toMatchObject(NOT_SEEN)
    const first = await acknowledge(owner, made.alert)
    expect(first).toMatchObject({ seen_by: owner.user_id, seen_via: 'api', seen_channel: null })
    expect(Date.now() - Date.parse(first.seen_at ?? '')).toBeLessThan(60_000)
    expect(first).toMatchObject({ resolved: false, status: 'dispatched' })
    const session = { key: await service.session(other) }
    expect(await acknowledge(session, made.alert)).toEqual(first)
    expect((await follow(made)).outcome).toBe('already')
    expect(await alertOf(made)).toEqual(first)
    const acts = await actsOn(made.alert)
    expect(acts.map(({ action }) => action)).toEqual(['alert.acknowledged'])
    expect(acts).toMatchObject([{ actor_id: owner.user_id }])
  })

  test('one of two at once wins, and both are told of the same one', async () => {
    const [owner, other] = [await service.person(), await service.person()]
    const org = await service.organisation(owner, [other, 'member'])
    const made = await told(owner, org)
    const [one, two] = await Promise.all([owner, other].map((who) => acknowledge(who, made.alert)))
    expect([owner.user_id, other.user_id]).toContain(one?.seen_by)
    expect(two).toEqual(one)
    // In the log of the owner, and in that of the member who did it.
    const acts = await actsOn(made.alert)
    expect(acts.map(({ actor_id }) => actor_id)).toEqual(
      Array(one?.seen_by === owner.user_id ? 1 : 2).fill(one?.seen_by),
    )
  })

  test('is for everybody who sees the alert and may write', async () => {
    const [owner, member, stranger] = [
      await service.person(),
      await service.person(),
      await service.person(),
    ]
    const org = await service.organisation(owner, [member, 'member'])
    const reader = { key: await service.key(owner, { scopes: ['read'] }) }
    const { alert } = await told(owner, org)
    expect((await post(stranger, alert)).status).toBe(404)
    expect((await post(reader, alert)).status).toBe(403)
    const statement = `update watchpost.alerts set seen_at = now(), seen_via = 'api' where id = $1`
    expect(await service.queryAs(stranger.key, statement, [alert], 'commit')).toBe(0)
    expect(await service.queryAs(reader.key, statement, [alert], 'commit')).toBe(0)
    expect((await acknowledge(member, alert)).seen_by).toBe(member.user_id)
  })

  test('resolving an alert acknowledges it, unless somebody has; reopening leaves that', async () => {
    const owner = await service.person()
    const made = await told(owner)
    const patch = async (alert: string, body: object) => {
      const options = { key: owner.key, body }
      return parsed(await service.request('PATCH', `/api/v1/alerts/${alert}`, options), 200, One)
        .alert
    }
    expect(await patch(made.alert, { note: 'Looking.' })).toMatchObject(NOT_SEEN)
    const done = await patch(made.alert, { resolved: true })
    expect(done).toMatchObject({
      seen_at: done.resolved_at,
      seen_by: owner.user_id,
      seen_via: 'api',
    })
    const { seen_at, seen_by, seen_via } = done
    const seen = { seen_at, seen_by, seen_via }
    expect(await patch(made.alert, { resolved: false })).toMatchObject(seen)
    const acts = await actsOn(made.alert)
    const actions = acts.map(({ action }) => action)
    expect(actions).toEqual(['alert.noted', 'alert.resolved', 'alert.reopened'])

    const linked = await told(owner)
    await follow(linked)
    const kept = await patch(linked.alert, { resolved: true })
    expect(kept).toMatchObject({ resolved_via: 'api', seen_via: 'channel', seen_by: null })
    expect(await patch(linked.alert, { ...kept, note: 'Read and sent back.' })).toMatchObject({
      note: 'Read and sent back.',
      seen_at: kept.seen_at,
    })
    const refused = await service.request('PATCH', `/api/v1/alerts/${linked.alert}`, {
      key: owner.key,
      body: { seen_at: null },
    })
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('seen_at')])
  })

  test('alerts are listed by whether somebody has, and the change is told to followers', async () => {
    const owner = await service.person()
    const [one, two] = [await told(owner), await told(owner)]
    const ids = async (filter: string) =>
      parsed(await service.request('GET', `/api/v1/alerts?${filter}`, owner), 200, List).alerts.map(
        (alert) => alert.id,
      )
    const Changes = z.looseObject({ changes: z.array(z.unknown()), next_cursor: z.string() })
    const changes = async (query: string) =>
      parsed(await service.request('GET', `/api/v1/alerts/changes${query}`, owner), 200, Changes)
    const { next_cursor } = await changes('')
    await acknowledge(owner, one.alert)
    expect(await ids('seen=true')).toEqual([one.alert])
    expect(await ids('seen=false')).toEqual([two.alert])
    expect(await ids('')).toHaveLength(2)
    expect((await changes(`?after=${next_cursor}`)).changes).toMatchObject([
      { kind: 'upsert', alert: { id: one.alert, seen_via: 'api' } },
    ])
  })
})

describe('the link of a message', () => {
  test('acknowledges in the name of its channel, once, and the audit log says so', async () => {
    const made = await told(await service.person())
    const { rows } = await login.query('select private.alert_behind_link($1, $2) as shown', [
      made.alert,
      made.channel,
    ])
    const facts = { checks: [], news: null }
    const about = { zone: 'The quay', title: 'M 5', facts, channel: 'On call' }
    expect(rows).toMatchObject([{ shown: { ...about, seen_at: null, is_seen_here: false } }])
    const first = await follow(made)
    expect(first).toMatchObject({
      outcome: 'acknowledged',
      alert: { ...about, seen_via: 'channel', is_seen_here: true },
    })
    expect(await follow(made)).toEqual({ ...first, outcome: 'already' })
    expect(await alertOf(made)).toMatchObject({
      seen_at: first.alert?.seen_at,
      seen_by: null,
      seen_via: 'channel',
      seen_channel: 'On call',
    })
    expect(await actsOn(made.alert)).toEqual([
      {
        action: 'alert.acknowledged',
        actor_id: null,
        ip: '203.0.113.9',
        details: {
          changed: { seen_via: [null, 'channel'], seen_channel_id: [null, made.channel] },
        },
      },
    ])
  })

  test('leaves nothing of its caller behind for what follows in the transaction', async () => {
    const made = await told(await service.person())
    await login.query('begin')
    expect((await follow(made)).outcome).toBe('acknowledged')
    const left = await login.query(`select current_setting('request.jwt.claims', true) as claims`)
    await login.query('commit')
    expect(left.rows).toEqual([{ claims: '' }])
  })

  test('after somebody else says when and how, but neither who nor through which channel', async () => {
    const owner = await service.person()
    const made = await told(owner)
    const { seen_at } = await acknowledge(owner, made.alert)
    const { outcome, alert } = await follow(made)
    expect([outcome, alert]).toMatchObject([
      'already',
      { seen_at, seen_via: 'api', is_seen_here: false },
    ])
    expect(JSON.stringify(alert)).not.toContain(owner.user_id)
    expect(JSON.stringify(alert)).not.toContain(owner.email)
  })

  test.each([
    ['the channel was deleted', 'update watchpost.channels set deleted_at = now() where id = $1'],
    ['the channel is off', 'update watchpost.channels set enabled = false where id = $1'],
    ['the zone was deleted', 'update watchpost.zones set deleted_at = now() where id = $2'],
    ['the plan is free', `update watchpost.accounts set plan = 'free' where user_id = $3`],
    [
      'the owner no longer sees the channel',
      'update watchpost.channels set owner_id = $4 where id = $1',
    ],
    ['the channel was never sent it', 'delete from watchpost.deliveries where channel_id = $1'],
    [
      'it waits to be sent',
      `update watchpost.deliveries set status = 'queued' where channel_id = $1`,
    ],
    [
      'it was cancelled before it was sent',
      `update watchpost.deliveries set status = 'cancelled' where channel_id = $1`,
    ],
  ])('is gone when %s', async (_, statement) => {
    const made = await told(await service.person())
    const other = await service.person()
    const values = [made.channel, made.zone, made.owner.user_id, other.user_id]
    const used = [1, 2, 3, 4].filter((nr) => statement.includes(`$${nr}`))
    const plain = used.reduce(
      (text, nr, index) => text.replace(`$${nr}`, `$${index + 1}`),
      statement,
    )
    await service.database.query(
      plain,
      used.map((nr) => values[nr - 1]),
    )
    expect(await follow(made)).toEqual({ outcome: 'gone', alert: null })
    const [row] = await service.database.query(
      'select seen_at from watchpost.alerts where id = $1',
      [made.alert],
    )
    expect(row).toEqual({ seen_at: null })
  })

  test('works as soon as the message is being sent, and for none that never was', async () => {
    const owner = await service.person()
    expect((await follow(await told(owner, null, 'sending'))).outcome).toBe('acknowledged')
    for (const status of ['held', 'failed', 'expired']) {
      expect([status, (await follow(await told(owner, null, status))).outcome]).toEqual([
        status,
        'gone',
      ])
    }
  })

  test('is gone for another channel, another alert, and none; a failed try was one', async () => {
    const owner = await service.person()
    const [one, two] = [await told(owner), await told(owner)]
    const none = '00000000-0000-4000-8000-000000000000'
    for (const [alert, channel] of [
      [one.alert, two.channel],
      [two.alert, one.channel],
      [none, one.channel],
      [one.alert, none],
    ] as const) {
      expect((await follow({ alert, channel })).outcome).toBe('gone')
    }
    await service.database.query(
      `update watchpost.deliveries set status = 'failed', attempts = 1 where alert_id = $1`,
      [one.alert],
    )
    expect((await follow(one)).outcome).toBe('acknowledged')
  })

  test('names its channel only to those who see it', async () => {
    const [owner, member] = [await service.person(), await service.person()]
    const org = await service.organisation(owner, [member, 'member'])
    const made = await told(owner, org)
    await service.database.query('update watchpost.channels set org_id = null where id = $1', [
      made.channel,
    ])
    expect((await follow(made)).outcome).toBe('acknowledged')
    expect((await alertOf(made)).seen_channel).toBe('On call')
    expect(await alertOf({ ...made, owner: member })).toMatchObject({
      seen_via: 'channel',
      seen_channel: null,
    })
  })
})
