import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Alert } from '../../../shared/schemas/alert.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

// Who sends again, what, and how often; and who makes a channel send at all.
type Who = 'owner' | 'admin' | 'member' | 'stranger' | 'reader'
let service: Service
let people: Record<Who, { key: string; user_id: string }>
let org: string

beforeAll(async () => {
  service = await createService()
  const [owner, admin, member, stranger] = await Promise.all([
    service.person(),
    service.person(),
    service.person(),
    service.person(),
  ])
  const reader = { ...owner, key: await service.key(owner, { scopes: ['read'] }) }
  people = { owner, admin, member, stranger, reader }
  org = await service.organisation(owner, [admin, 'admin'], [member, 'member'])
})
afterAll(() => service?.close())

const query = (statement: string, values: unknown[] = []) =>
  service.database.query<{ id: string }>(statement, values)
async function id(statement: string, values: unknown[]): Promise<string> {
  const [row] = await query(statement, values)
  return z.uuid().parse(row?.id)
}

function channelOf(who: Who, shared: boolean, more = 'null::timestamptz') {
  return id(
    `insert into watchpost.channels (owner_id, org_id, kind, target_sealed, target_masked, deleted_at)
    values ($1, $2, 'webhook', 'sealed', 'masked', ${more}) returning id`,
    [people[who].user_id, shared ? org : null],
  )
}

const EVENT = {
  id: 'test:1',
  source: 'test',
  type: 'earthquake',
  title: 'M 5',
  lat: 1,
  lon: 2,
  ts: '2026-01-01T00:00:00.000Z',
  severity: 50,
  url: null,
}

/** An alert of a zone, with a delivery of each of these states, each to a channel of its own. */
async function alertOf(who: Who, shared: boolean, states: string[], channels: string[] = []) {
  const zone = await id(
    `insert into watchpost.zones (owner_id, org_id, label, lat, lon, boxes)
    values ($1, $2, 'A zone', 1, 2, array[box '(3,2),(1,0)']) returning id`,
    [people[who].user_id, shared ? org : null],
  )
  const alert = await id(
    `insert into watchpost.alerts (zone_id, zone_name, owner_id, org_id, event_id, source, event, severity, reason,
      first_reason, status, raised_at, checks, zone_version, event_revision)
    values ($1, 'A zone', $2, $3, 'test:1', 'test', $4, 50, 'r', 'r', 'failed', now(), '[]', 1, 1) returning id`,
    [zone, people[who].user_id, shared ? org : null, EVENT],
  )
  const deliveries: string[] = []
  for (const [n, status] of states.entries()) {
    const channel = channels[n] ?? (await channelOf(who, shared))
    deliveries.push(
      await id(
        `insert into watchpost.deliveries (alert_id, channel_id, type, sequence, status)
        values ($1, $2, 'alert.escalated', 7, $3) returning id`,
        [alert, channel, status],
      ),
    )
  }
  return { alert, deliveries }
}

const redeliver = (who: Pick<Person, 'key'>, alert: string, delivery_ids?: string[]) =>
  service.request('POST', `/api/v1/alerts/${alert}/redeliver`, {
    key: who.key,
    body: delivery_ids ? { delivery_ids } : {},
  })
/** Of which deliveries there is a new one, and with what job. */
async function made(alert: string) {
  return service.database.query<{ of: string; id: string }>(
    `select d.redelivery_of as of, d.id, d.status, d.type, d.sequence, j.group_id = d.channel_id::text as has_job
    from watchpost.deliveries d left join pgboss.job j on j.id = d.id
    where d.alert_id = $1 and d.redelivery_of is not null order by d.created_at, d.id`,
    [alert],
  )
}

describe('an alert is sent again', () => {
  test.each<[Who, boolean, number]>([
    ['owner', false, 202],
    ['reader', false, 403],
    ['admin', false, 404],
    ['member', false, 404],
    ['stranger', false, 404],
    ['owner', true, 202],
    ['reader', true, 403],
    ['admin', true, 202],
    ['member', true, 403],
    ['stranger', true, 404],
  ])('by the %s, of the owner’s zone, shared: %s, it is %i', async (who, shared, status) => {
    const { alert, deliveries } = await alertOf('owner', shared, ['failed'])
    const answer = await redeliver(people[who], alert)
    expect(answer.status).toBe(status)
    const again = await made(alert)
    expect(again).toMatchObject(
      status === 202
        ? [
            {
              of: deliveries[0],
              status: 'queued',
              type: 'alert.escalated',
              sequence: 7,
              has_job: true,
            },
          ]
        : [],
    )
    expect(again).toHaveLength(status === 202 ? 1 : 0)
    if (status !== 202) return
    const told = parsed(answer, 202, z.object({ alert: Alert })).alert
    expect(told.deliveries.map(({ id }) => id)).toEqual([deliveries[0], again[0]?.id])
  })

  test('by a plain member whose own zone it is, though the zone is shared', async () => {
    const { alert } = await alertOf('member', true, ['failed'])
    expect((await redeliver(people.member, alert)).status).toBe(202)
    expect(await made(alert)).toHaveLength(1)
  })

  const STATES = ['succeeded', 'failed', 'expired', 'cancelled', 'queued', 'held']

  test('where it failed or expired, when nobody says which', async () => {
    const { alert, deliveries } = await alertOf('owner', false, STATES)
    await redeliver(people.owner, alert)
    expect((await made(alert)).map(({ of }) => of).sort()).toEqual(deliveries.slice(1, 3).sort())
  })

  test('where somebody says, whatever became of it, and of no other alert', async () => {
    const { alert, deliveries } = await alertOf('owner', false, STATES)
    const other = await alertOf('owner', false, ['failed'])
    const chosen = [...deliveries.slice(0, 2), ...deliveries.slice(3)]
    const foreign = await redeliver(people.owner, alert, [...chosen, ...other.deliveries])
    expectProblem(foreign, 404, 'not_found')
    expect(foreign.text).toContain(other.deliveries[0])
    expect(await made(alert)).toEqual([])
    const answer = await redeliver(people.owner, alert, chosen)
    expect((await made(alert)).map(({ of }) => of).sort()).toEqual(
      [deliveries[0], deliveries[1], deliveries[3]].sort(),
    )
    expect(await made(other.alert)).toEqual([])
    expect(answer.body).toMatchObject({
      skipped: deliveries.slice(4).map((delivery_id) => ({
        delivery_id,
        reason: 'It is on its way.',
      })),
    })
  })

  test.each([
    ['queued', 1],
    ['sending', 1],
    ['succeeded', 2],
    ['failed', 2],
    ['expired', 2],
  ])('once, while the new delivery is %s: %i in all', async (state, count) => {
    const { alert, deliveries } = await alertOf('owner', false, ['failed'])
    await redeliver(people.owner, alert, deliveries)
    await query(
      'update watchpost.deliveries set status = $2 where alert_id = $1 and redelivery_of is not null',
      [alert, state],
    )
    await redeliver(people.owner, alert, deliveries)
    expect(await made(alert)).toHaveLength(count)
  })

  test('to channels that are there and that the caller sees', async () => {
    const gone = await channelOf('owner', true, 'now()')
    const foreign = await channelOf('owner', false)
    const mine = await channelOf('admin', false)
    const shared = await channelOf('owner', true)
    const states = ['failed', 'failed', 'failed', 'failed']
    const channels = [gone, foreign, mine, shared]
    const { alert, deliveries } = await alertOf('owner', true, states, channels)
    expect((await redeliver(people.admin, alert)).status).toBe(202)
    // The zone is not the admin's: its owner does not see the admin's own channel.
    expect((await made(alert)).map(({ of }) => of)).toEqual(deliveries.slice(3))
    expect((await redeliver(people.owner, alert)).status).toBe(202)
    expect((await made(alert)).map(({ of }) => of)).toContain(deliveries[1])
    expect((await made(alert)).map(({ of }) => of)).not.toContain(deliveries[0])
  })

  test('a hundred times and not more, which says where to look', async () => {
    const { alert, deliveries } = await alertOf('owner', false, ['failed'])
    await query(
      `insert into watchpost.deliveries (alert_id, channel_id, type, sequence, status, redelivery_of)
      select d.alert_id, d.channel_id, d.type, d.sequence, 'failed', d.id
      from watchpost.deliveries d, generate_series(1, 99) where d.id = $1`,
      [deliveries[0]],
    )
    expect((await redeliver(people.owner, alert, deliveries)).status).toBe(202)
    await query(`update watchpost.deliveries set status = 'failed' where alert_id = $1`, [alert])
    const refused = await redeliver(people.owner, alert, deliveries)
    expectProblem(refused, 409, 'conflict')
    expect(refused.text).toContain('GET /channels/:id/deliveries')
    expect(await made(alert)).toHaveLength(100)
  })

  test.each([[{ delivery_ids: [] }], [{ delivery_ids: ['x'] }], [{ ids: [] }]])(
    'not for %j: 422',
    async (body) => {
      const { alert } = await alertOf('owner', false, ['failed'])
      const path = `/api/v1/alerts/${alert}/redeliver`
      const answer = await service.request('POST', path, { key: people.owner.key, body })
      expectProblem(answer, 422, 'invalid')
      expect(await made(alert)).toEqual([])
    },
  )
})

describe('a test of a channel', () => {
  const begin = (who: Who, channel: string) =>
    service.queryAs(
      people[who].key,
      `select from (select private.begin_test($1, '{}') as id) begun where id is not null`,
      [channel],
      'commit',
    )

  test.each<[Who, boolean, number]>([
    ['owner', false, 1],
    ['reader', false, 0],
    ['admin', false, 0],
    ['stranger', false, 0],
    ['owner', true, 1],
    ['reader', true, 0],
    ['admin', true, 1],
    ['member', true, 0],
    ['stranger', true, 0],
  ])('is begun by the %s, channel shared: %s, %i times', async (who, shared, count) => {
    const channel = await channelOf('owner', shared)
    expect(await begin(who, channel)).toBe(count)
    const rows = await query('select from watchpost.deliveries where channel_id = $1', [channel])
    expect(rows).toHaveLength(count)
    const acts = await query(
      `select actor_id from watchpost.audit where action = 'channel.tested' and target_id = $1 and account_id = $2`,
      [channel, people.owner.user_id],
    )
    expect(acts).toEqual(count ? [{ actor_id: people[who].user_id }] : [])
  })

  test('is begun of no channel that was deleted', async () => {
    expect(await begin('owner', await channelOf('owner', false, 'now()'))).toBe(0)
  })

  test('is begun a hundred times in 24 hours and not more, each channel by itself', async () => {
    const [channel, other] = [await channelOf('admin', false), await channelOf('admin', false)]
    const tested = (count: number, type: string, ago: string) =>
      service.database.query(
        `insert into watchpost.deliveries (channel_id, type, status, created_at)
        select $1, $2, 'succeeded', now() - $3::interval from generate_series(1, $4)`,
        [channel, type, ago, count],
      )
    await tested(99, 'channel.test', '23 hours 59 minutes')
    await tested(5, 'channel.test', '24 hours 1 minute')
    await tested(5, 'alert.raised', '1 minute')
    expect(await begin('admin', channel)).toBe(1)
    expect(await begin('admin', channel)).toBe('WP409')
    expect(await begin('admin', other)).toBe(1)
  })

  test('that ends is kept with its one attempt, and no other test ends with it', async () => {
    const channel = await channelOf('admin', false)
    const begun = () =>
      id(
        `insert into watchpost.deliveries (channel_id, type, status) values ($1, 'channel.test', 'sending') returning id`,
        [channel],
      )
    const shown = (delivery: string) =>
      service.database.query(
        `select d.status, a.attempt, a.outcome, a.status_code, a.duration_ms, a.error, a.response_excerpt, a.request_id
        from watchpost.deliveries d left join watchpost.delivery_attempts a on a.delivery_id = d.id
        where d.id = $1`,
        [delivery],
      )
    const other = await begun()
    for (const [outcome, status_code, error, status] of [
      ['ok', 204, null, 'succeeded'],
      ['retry', 500, 'broken', 'failed'],
      ['fail_permanent', 410, 'gone', 'failed'],
    ] as const) {
      const delivery = await begun()
      await service.queryAs(
        people.admin.key,
        `select private.end_test($1, $2, $3, 12, $4, 'said', 'abc')`,
        [delivery, outcome, status_code, error],
        'commit',
      )
      const attempt = { attempt: 1, outcome, status_code, duration_ms: 12, error }
      expect(await shown(delivery)).toEqual([
        { status, ...attempt, response_excerpt: 'said', request_id: 'abc' },
      ])
    }
    expect(await shown(other)).toMatchObject([{ status: 'sending', attempt: null }])
  })

  test.each<[Who, string, string, string]>([
    ['owner', 'channel.test', 'sending', 'failed'],
    ['admin', 'channel.test', 'sending', 'failed'],
    ['stranger', 'channel.test', 'sending', 'sending'],
    ['reader', 'channel.test', 'sending', 'sending'],
    ['owner', 'channel.test', 'succeeded', 'succeeded'],
    ['owner', 'alert.raised', 'sending', 'sending'],
  ])('is ended by the %s: a %s that was %s is %s', async (who, type, before, after) => {
    const delivery = await id(
      `insert into watchpost.deliveries (channel_id, type, status) values ($1, $2, $3) returning id`,
      [await channelOf('owner', true), type, before],
    )
    await service.queryAs(
      people[who].key,
      `select private.end_test($1, 'retry', 500, 12, 'broken', null, null)`,
      [delivery],
      'commit',
    )
    const [row] = await service.database.query(
      `select status, (select count(*)::integer from watchpost.delivery_attempts where delivery_id = d.id) as attempts
      from watchpost.deliveries d where id = $1`,
      [delivery],
    )
    expect(row).toEqual({ status: after, attempts: after === 'failed' ? 1 : 0 })
  })
})
