import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const PATH = '/api/v1/analytics'
const DAY_MS = 24 * 60 * 60 * 1000
const Answer = z.looseObject({
  alerts_by_day: z.array(z.object({ day: z.string(), count: z.number() })),
})

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service.close())

async function zone(
  owner: Person,
  {
    org = null,
    enabled = true,
    deleted = false,
  }: { org?: string | null; enabled?: boolean; deleted?: boolean } = {},
) {
  const [row] = await service.database.query<{ id: string }>(
    `insert into watchpost.zones (owner_id, org_id, label, lat, lon, boxes, enabled, deleted_at)
    values ($1, $2, 'A place', 41, 29, array[box '(30,42),(28,40)'], $3, case when $4 then now() end)
    returning id`,
    [owner.user_id, org, enabled, deleted],
  )
  return z.object({ id: z.uuid() }).parse(row).id
}

async function alert(
  zoneId: string,
  fields: { days_ago?: number; source?: string; status?: string; resolved?: boolean } = {},
) {
  const { days_ago = 0, source = 'usgs', status = 'dispatched', resolved = false } = fields
  const [row] = await service.database.query<{ id: string }>(
    `insert into watchpost.alerts (zone_id, zone_name, owner_id, org_id, event_id, source, event, severity,
      reason, first_reason, status, resolved, raised_at, checks, zone_version, event_revision)
    select id, label, owner_id, org_id, gen_random_uuid(), $2, '{}', 50, 'Because.', 'Because.', $3, $4,
      now() - make_interval(days => $5), '[]', 1, 1
    from watchpost.zones where id = $1
    returning id`,
    [zoneId, source, status, resolved, days_ago],
  )
  return z.object({ id: z.uuid() }).parse(row).id
}

/** The last days by UTC, the oldest first. */
function lastDays(count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date(Date.now() - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  )
}

describe('GET /analytics', () => {
  test('a new account has zeros everywhere, a day each', async () => {
    const person = await service.person()
    const { body, status } = await service.request('GET', PATH, person)
    expect(status).toBe(200)
    expect(body).toEqual({
      days: 30,
      zones: { total: 0, active: 0, shared: 0 },
      channels: { total: 0, enabled: 0 },
      alerts_window: 0,
      alerts_resolved: 0,
      alerts_by_source: [],
      alerts_by_day: lastDays(30).map((day) => ({ day, count: 0 })),
      alerts_by_zone: [],
      resolve_seconds: { p50: null, p95: null },
      deliveries: { succeeded: 0, failed: 0 },
    })
  })

  test('zones are counted by their present names, the busiest first, and the time to resolve is told', async () => {
    const person = await service.person()
    const [quiet, busy] = [await zone(person), await zone(person)]
    await alert(quiet)
    const resolved = await Promise.all([alert(busy), alert(busy), alert(busy)])
    await alert(busy, { status: 'suppressed' })
    await service.database.query(`update watchpost.zones set label = 'Renamed' where id = $1`, [
      busy,
    ])
    for (const [index, id] of resolved.entries()) {
      await service.database.query(
        `update watchpost.alerts set resolved = true, resolved_at = raised_at + make_interval(secs => $2) where id = $1`,
        [id, 100 * (index + 1)],
      )
    }
    const { body } = await service.request('GET', PATH, person)
    expect(body).toMatchObject({
      zones: { total: 2, active: 2, shared: 0 },
      alerts_by_zone: [
        { zone_id: busy, zone: 'Renamed', count: 3 },
        { zone_id: quiet, zone: 'A place', count: 1 },
      ],
      resolve_seconds: { p50: 200, p95: 290 },
    })
  })

  test('by zone an alert of the window is counted once, for whoever may see the zone', async () => {
    const [owner, member] = [await service.person(), await service.person()]
    const org = await service.organisation(owner, [member, 'member'])
    const [shared, own] = [await zone(owner, { org }), await zone(owner)]
    for (const days_ago of [0, 6]) await alert(shared, { days_ago })
    await alert(own)
    // Before the window, and behind its last day.
    for (const days_ago of [7, -1]) await alert(own, { days_ago })
    const counted = async (person: Person) => {
      const { body } = await service.request('GET', `${PATH}?days=7`, person)
      const { alerts_by_zone } = z
        .looseObject({ alerts_by_zone: z.array(z.looseObject({ zone_id: z.string() })) })
        .parse(body)
      return alerts_by_zone.map(({ zone_id, count }) => [zone_id, count])
    }
    expect(await counted(owner)).toEqual([
      [shared, 2],
      [own, 1],
    ])
    expect(await counted(member)).toEqual([[shared, 2]])
    // A zone that is gone keeps the name that its alerts have.
    await service.database.query('update watchpost.zones set deleted_at = now() where id = $1', [
      own,
    ])
    const { body } = await service.request('GET', `${PATH}?days=7`, owner)
    expect(body).toMatchObject({ alerts_by_zone: [{}, { zone_id: own, zone: 'A place' }] })
  })

  test('by zone the busiest 20 are told', async () => {
    const person = await service.person()
    const [first] = await Promise.all(Array.from({ length: 21 }, () => zone(person)))
    await service.database.query(
      `insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity,
        reason, first_reason, status, raised_at, checks, zone_version, event_revision)
      select z.id, label, owner_id, gen_random_uuid(), 'usgs', '{}', 50, '', '', 'dispatched', now(), '[]', 1, 1
      from watchpost.zones z, generate_series(1, case z.id when $2 then 1 else 2 end)
      where owner_id = $1`,
      [person.user_id, first],
    )
    const { body } = await service.request('GET', PATH, person)
    const { alerts_by_zone } = z
      .looseObject({ alerts_by_zone: z.array(z.looseObject({ count: z.number() })) })
      .parse(body)
    expect(alerts_by_zone.map(({ count }) => count)).toEqual(Array(20).fill(2))
  })

  test('alerts are counted by source and day; suppressed and older ones are not', async () => {
    const person = await service.person()
    const zoneId = await zone(person)
    await alert(zoneId)
    await alert(zoneId, { resolved: true })
    await alert(zoneId, { days_ago: 6, source: 'nws' })
    await alert(zoneId, { status: 'suppressed' })
    await alert(zoneId, { days_ago: 7 })
    const answer = await service.request('GET', `${PATH}?days=7`, person)
    const days = lastDays(7)
    expect(answer.body).toMatchObject({
      days: 7,
      alerts_window: 3,
      alerts_resolved: 1,
      alerts_by_source: [
        { source: 'usgs', count: 2 },
        { source: 'nws', count: 1 },
      ],
      alerts_by_day: days.map((day, index) => ({ day, count: { 0: 1, 6: 2 }[index] ?? 0 })),
    })
  })

  test.each([1, 365])('a window of %i days has as many entries', async (days) => {
    const person = await service.person()
    const answer = await service.request('GET', `${PATH}?days=${days}`, person)
    const listed = parsed(answer, 200, Answer).alerts_by_day.map(({ day }) => day)
    expect(listed).toEqual(lastDays(days))
  })

  test.each(['0', '366', 'all'])('%s days are 400', async (days) => {
    const person = await service.person()
    expect((await service.request('GET', `${PATH}?days=${days}`, person)).status).toBe(400)
  })

  test('zones and channels are own and shared ones, deleted ones are gone', async () => {
    const [owner, member, stranger] = await Promise.all([
      service.person(),
      service.person(),
      service.person(),
    ])
    const org = await service.organisation(owner, [member, 'member'])
    const theirs = await service.request('POST', '/api/v1/zones', {
      key: owner.key,
      body: { label: 'Shared', lat: 1, lon: 1, org_id: org },
    })
    expect(theirs.status).toBe(201)
    await zone(owner)
    await zone(member, { enabled: false })
    await zone(member, { deleted: true })
    await zone(stranger)
    for (const [person, org_id] of [
      [owner, org],
      [owner, null],
      [member, null],
    ] as const) {
      await service.request('POST', '/api/v1/channels', {
        key: person.key,
        body: {
          kind: 'webhook',
          target: 'https://hooks.example.com/in',
          org_id,
          enabled: org_id !== null,
        },
      })
    }
    expect((await service.request('GET', PATH, member)).body).toMatchObject({
      zones: { total: 2, active: 1, shared: 1 },
      channels: { total: 2, enabled: 1 },
    })
  })

  test('deliveries are counted where the caller sees the channel, tests are not', async () => {
    const person = await service.person()
    const alertId = await alert(await zone(person))
    const [channel] = await service.database.query<{ id: string }>(
      `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked)
      values ($1, 'webhook', 'x', 'x') returning id`,
      [person.user_id],
    )
    await service.database.query(
      `insert into watchpost.deliveries (alert_id, channel_id, type, sequence, status, created_at)
      values ($1, $2, 'alert.raised', 0, 'succeeded', now()),
        ($1, $2, 'alert.revised', 1, 'failed', now()),
        ($1, $2, 'alert.revised', 2, 'expired', now()),
        ($1, $2, 'alert.revised', 3, 'queued', now()),
        ($1, $2, 'alert.revised', 5, 'failed', now()),
        ($1, $2, 'alert.revised', 4, 'succeeded', now() - interval '31 days'),
        (null, $2, 'channel.test', 0, 'succeeded', now())`,
      [alertId, channel?.id],
    )
    expect((await service.request('GET', PATH, person)).body).toMatchObject({
      channels: { total: 1, enabled: 1 },
      deliveries: { succeeded: 1, failed: 3 },
    })
    const stranger = await service.person()
    expect((await service.request('GET', PATH, stranger)).body).toMatchObject({
      alerts_window: 0,
      deliveries: { succeeded: 0, failed: 0 },
    })
  })
})
