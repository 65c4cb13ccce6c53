import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Zone } from '../../../shared/schemas/zone.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const PATH = '/api/v1/zones'
const PLACE = { label: 'A place', lat: 41, lon: 29 }
const One = z.object({ zone: Zone, warnings: z.array(z.string()).optional() })

let service: Service
let people: Record<'owner' | 'admin' | 'member' | 'stranger', Person>
let org: string
beforeAll(async () => {
  service = await createService()
  const [owner, admin, member, stranger] = await Promise.all([
    service.person(),
    service.person(),
    service.person(),
    service.person(),
  ])
  people = { owner, admin, member, stranger }
  org = await service.organisation(owner, [admin, 'admin'], [member, 'member'])
})
afterAll(() => service?.close())

type Who = keyof typeof people
const WHO: Who[] = ['owner', 'admin', 'member', 'stranger']
function ask(who: Pick<Person, 'key'>, method: string, path: string, body?: object) {
  return service.request(method, PATH + path, { key: who.key, body })
}
async function create(who: Person, fields: object = {}) {
  const answer = await ask(who, 'POST', '', { ...PLACE, ...fields })
  const { zone } = parsed(answer, 201, One)
  expect(answer.headers.get('Location')).toBe(`${PATH}/${zone.id}`)
  return zone
}
const get = async (who: Person, id: string) =>
  parsed(await ask(who, 'GET', `/${id}`), 200, One).zone

async function channelOf(who: Who, shared: boolean): Promise<string> {
  const [row] = await service.database.query<{ id: string }>(
    `insert into watchpost.channels (owner_id, org_id, kind, target_sealed, target_masked)
    values ($1, $2, 'webhook', 'sealed', 'masked') returning id`,
    [people[who].user_id, shared ? org : null],
  )
  return z.uuid().parse(row?.id)
}

describe('who may do what to a zone of the owner', () => {
  const CHANGES: [string, string, object | undefined, number][] = [
    ['GET', '', undefined, 200],
    ['PATCH', '', { label: 'Changed' }, 200],
    ['DELETE', '', undefined, 204],
  ]
  // Of a private zone others do not even know.
  const MAY: Record<string, Record<Who, number>> = {
    'private GET': { owner: 200, admin: 404, member: 404, stranger: 404 },
    'private PATCH': { owner: 200, admin: 404, member: 404, stranger: 404 },
    'private DELETE': { owner: 204, admin: 404, member: 404, stranger: 404 },
    'shared GET': { owner: 200, admin: 200, member: 200, stranger: 404 },
    'shared PATCH': { owner: 200, admin: 200, member: 403, stranger: 404 },
    'shared DELETE': { owner: 204, admin: 204, member: 403, stranger: 404 },
  }
  for (const shared of [false, true]) {
    test.each(CHANGES.flatMap((change) => WHO.map((who) => [who, ...change] as const)))(
      `${shared ? 'shared' : 'private'}: the %s, %s%s`,
      async (who, method, path, body) => {
        const zone = await create(people.owner, shared ? { org_id: org } : {})
        const expected = MAY[`${shared ? 'shared' : 'private'} ${method}`]?.[who]
        const answer = await ask(people[who], method, `/${zone.id}${path}`, body)
        expect(answer.status).toBe(expected)
        if (answer.status < 300) return
        expect(await get(people.owner, zone.id)).toEqual(zone)
      },
    )
    test.each(WHO)(`${shared ? 'shared' : 'private'}: the %s, restore`, async (who) => {
      const zone = await create(people.owner, shared ? { org_id: org } : {})
      await ask(people.owner, 'DELETE', `/${zone.id}`)
      const answer = await ask(people[who], 'POST', `/${zone.id}/restore`)
      const expected = MAY[`${shared ? 'shared' : 'private'} PATCH`]?.[who]
      expect(answer.status).toBe(expected)
      const there = await ask(people.owner, 'GET', `/${zone.id}`)
      expect(there.status).toBe(expected === 200 ? 200 : 404)
    })
  }

  test.each<[Who, boolean, number]>([
    ['owner', false, 200],
    ['owner', true, 200],
    ['admin', true, 403],
    ['member', true, 403],
  ])('it is shared or unshared by the %s, shared now: %s, with %i', async (who, shared, status) => {
    const before = shared ? org : null
    const zone = await create(people.owner, { org_id: before })
    const body = { org_id: shared ? null : org }
    expect((await ask(people[who], 'PATCH', `/${zone.id}`, body)).status).toBe(status)
    const after = status === 200 ? body.org_id : before
    expect((await get(people.owner, zone.id)).org_id).toBe(after)
  })

  test.each<[Who, number]>([
    ['owner', 201],
    ['admin', 201],
    ['member', 201],
    ['stranger', 422],
  ])('one is drawn in the organisation by the %s with %i', async (who, status) => {
    const answer = await ask(people[who], 'POST', '', { ...PLACE, org_id: org })
    expect(answer.status).toBe(status)
    if (status === 422)
      expect(answer.body).toMatchObject({
        errors: [{ path: 'org_id', code: 'unknown_organisation' }],
      })
  })

  test('cannot be shared with a stranger’s organisation', async () => {
    const theirs = await service.organisation(people.stranger)
    const { id } = await create(people.owner)
    const answer = await ask(people.owner, 'PATCH', `/${id}`, { org_id: theirs })
    expectProblem(answer, 422, 'invalid')
    expect((await get(people.owner, id)).org_id).toBeNull()
  })
})

describe('a channel comes to a zone', () => {
  // Both the caller and the owner of the zone have to see it.
  test.each<[Who, Who, boolean, Who, boolean, boolean]>([
    // who asks, whose zone, shared, whose channel, shared, allowed
    ['owner', 'owner', false, 'owner', false, true],
    ['owner', 'owner', false, 'admin', true, true],
    ['owner', 'owner', true, 'owner', false, true],
    ['owner', 'owner', true, 'admin', true, true],
    ['owner', 'owner', false, 'admin', false, false],
    ['owner', 'owner', false, 'stranger', false, false],
    ['admin', 'owner', true, 'owner', false, false],
    ['admin', 'owner', true, 'owner', true, true],
    ['admin', 'owner', true, 'admin', false, false],
    ['admin', 'owner', true, 'admin', true, true],
    ['owner', 'member', true, 'member', false, false],
    ['owner', 'member', true, 'owner', false, false],
    ['owner', 'member', true, 'owner', true, true],
    ['member', 'member', false, 'owner', true, true],
    ['member', 'member', false, 'owner', false, false],
  ])('the %s, to a zone of the %s (shared %s), one of the %s (shared %s): %s', async (...given) => {
    const [who, whose, zoneShared, of, channelShared, allowed] = given
    const zone = await create(people[whose], zoneShared ? { org_id: org } : {})
    const channel = await channelOf(of, channelShared)
    const fine = await channelOf(whose, false)
    const body = { channel_ids: who === whose ? [fine, channel] : [channel] }
    const answer = await ask(people[who], 'PATCH', `/${zone.id}`, body)
    expect(answer.status).toBe(allowed ? 200 : 422)
    const after = await get(people[whose], zone.id)
    expect(after.channel_ids).toEqual(allowed ? body.channel_ids : null)
    if (allowed) return
    const path = `channel_ids.${body.channel_ids.length - 1}`
    expect(answer.body).toMatchObject({ errors: [{ path, code: 'unknown_channel' }] })
  })

  test('not once it was deleted, and not on a new zone either', async () => {
    const channel = await channelOf('owner', false)
    const foreign = await channelOf('stranger', false)
    await service.database.query('update watchpost.channels set deleted_at = now() where id = $1', [
      channel,
    ])
    for (const id of [channel, foreign]) {
      const answer = await ask(people.owner, 'POST', '', { ...PLACE, channel_ids: [id] })
      expectProblem(answer, 422, 'invalid')
      expect(answer.body).toMatchObject({ errors: [{ path: 'channel_ids.0' }] })
    }
  })
})

describe('the limit of a plan', () => {
  const LIMITS = { pro: 1000, enterprise: 10_000 } as const

  test.each(['pro', 'enterprise'] as const)(
    'counts what is there, for drawing and restoring: %s',
    async (plan) => {
      const person = await service.person({ plan })
      const { id: deleted } = await create(person)
      await ask(person, 'DELETE', `/${deleted}`)
      const filler = await service.transaction()
      await filler.query('set local session_replication_role = replica', [])
      await filler.query(
        `insert into watchpost.zones (owner_id, label, lat, lon, boxes)
        select $1, 'A zone', 1, 2, array[box '(3,2),(1,0)'] from generate_series(1, $2::integer)`,
        [person.user_id, LIMITS[plan] - 1],
      )
      await filler.commit()
      const { id: last } = await create(person)
      expectProblem(await ask(person, 'POST', '', PLACE), 409, 'limit_reached')
      expectProblem(await ask(person, 'POST', `/${deleted}/restore`), 409, 'limit_reached')
      expect((await ask(person, 'GET', `/${deleted}`)).status).toBe(404)
      await ask(person, 'DELETE', `/${last}`)
      expect((await ask(person, 'POST', `/${deleted}/restore`)).status).toBe(200)
      expectProblem(await ask(person, 'POST', `/${last}/restore`), 409, 'limit_reached')
    },
  )

  test.each([
    ['29 days 23 hours', 200],
    ['30 days', 404],
  ])('a zone deleted %s ago is restored with %i', async (age, status) => {
    const { id } = await create(people.owner)
    await ask(people.owner, 'DELETE', `/${id}`)
    await service.database.query(
      'update watchpost.zones set deleted_at = now() - $2::interval where id = $1',
      [id, age],
    )
    expect((await ask(people.owner, 'POST', `/${id}/restore`)).status).toBe(status)
  })
})

describe('a change', () => {
  test('raises the version by one and keeps the one before; a change to nothing makes no version', async () => {
    const zone = await create(people.owner)
    expect(zone.version).toBe(1)
    const changed = await ask(people.owner, 'PATCH', `/${zone.id}`, { label: 'B', radius_km: 20 })
    const { zone: after } = parsed(changed, 200, One)
    expect(after).toEqual({
      ...zone,
      label: 'B',
      radius_km: 20,
      version: 2,
      updated_at: after.updated_at,
    })
    const same = await ask(people.owner, 'PATCH', `/${zone.id}`, { label: 'B' })
    expect(parsed(same, 200, One).zone.version).toBe(2)
    const versions = await service.database.query(
      `select version, definition ->> 'label' as label from watchpost.zone_versions where zone_id = $1 order by 1`,
      [zone.id],
    )
    expect(versions).toEqual([
      { version: 1, label: 'A place' },
      { version: 2, label: 'B' },
    ])
  })

  test('of two at once, the second is told that the first came before it', async () => {
    const { id } = await create(people.owner)
    const holder = await service.transaction()
    await holder.query('select from watchpost.zones where id = $1 for update', [id])
    const answers = ['B', 'C'].map((label) => ask(people.owner, 'PATCH', `/${id}`, { label }))
    for (;;) {
      const [row] = await service.database.query<{ n: number }>(
        `select count(distinct l.pid)::integer as n from pg_locks l join pg_stat_activity a on a.pid = l.pid
        where not l.granted and a.datname = current_database()`,
      )
      if (row?.n === 2) break
    }
    await holder.commit()
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 409])
    expect((await get(people.owner, id)).version).toBe(2)
  })

  test('moves the boxes of the index with it', async () => {
    const { id } = await create(people.owner, { min_severity: 50, severity_multiplier: 2 })
    const boxes = () =>
      service.database.query<{ box: string }>(
        `select b.box::text, min_severity >= 24.9 and min_severity <= 25 as is_half, sources, types
        from watchpost.zone_boxes b where zone_id = $1`,
        [id],
      )
    const [before] = await boxes()
    expect(before).toMatchObject({ is_half: true, sources: null, types: null })
    await ask(people.owner, 'PATCH', `/${id}`, { lat: 10, sources: ['usgs'], types: ['storm'] })
    const [after, ...more] = await boxes()
    expect(more).toEqual([])
    expect(after).toMatchObject({ sources: ['usgs'], types: ['storm'] })
    expect(after?.box).not.toBe(before?.box)
    await ask(people.owner, 'DELETE', `/${id}`)
    expect(await boxes()).toEqual([])
    await ask(people.owner, 'POST', `/${id}/restore`)
    expect(await boxes()).toHaveLength(1)
  })

  test('that shares a zone takes its alerts along, and back', async () => {
    const { id } = await create(people.owner)
    await service.database.query(
      `insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity, reason,
        first_reason, status, raised_at, checks, zone_version, event_revision)
      values ($1, 'A zone', $2, 'test:1', 'test', '{}', 50, 'r', 'r', 'recorded', now(), '[]', 1, 1)`,
      [id, people.owner.user_id],
    )
    const alert = async () =>
      (
        await service.database.query('select org_id from watchpost.alerts where zone_id = $1', [id])
      )[0]
    for (const org_id of [org, null]) {
      await ask(people.owner, 'PATCH', `/${id}`, { org_id })
      expect(await alert()).toEqual({ org_id })
    }
  })
})

describe('a new zone warns', () => {
  const NEVER = /never be reached/
  test.each([
    [{ min_severity: 60, severity_multiplier: 0.5 }, NEVER, true],
    [{ min_severity: 50, severity_multiplier: 0.5 }, NEVER, false],
    [{ enabled: false }, /switched off/, true],
    [{ enabled: true }, /switched off/, false],
    [{ channel_ids: [] }, /not sent/, true],
    [{ channel_ids: null }, /not sent/, false],
    [{ sources: ['nobody'] }, /no source "nobody"/, true],
  ])('%j %s: %s', async (fields, text, warns) => {
    const answer = await ask(people.owner, 'POST', '', { ...PLACE, ...fields })
    const { warnings = [] } = parsed(answer, 201, One)
    expect(warnings.some((warning) => text.test(warning))).toBe(warns)
  })
})

test('listing brings own and shared ones, the newest first, page by page, and no deleted ones', async () => {
  const person = await service.person()
  const team = await service.organisation(people.owner, [person, 'member'])
  const made = [
    await create(person, { label: '1' }),
    await create(people.owner, { label: '2', org_id: team }),
    await create(person, { label: '3' }),
    await create(person, { label: '4', org_id: team }),
    await create(person, { label: '5' }),
  ]
  await ask(person, 'DELETE', `/${made[2]?.id}`)
  const List = z.object({ zones: z.array(Zone), next_cursor: z.string().nullable() })
  for (const limit of [1, 2, 4, 500]) {
    const seen: string[] = []
    let cursor: string | null = ''
    let pages = 0
    while (cursor !== null) {
      const query: string = `?limit=${limit}${cursor && `&cursor=${cursor}`}`
      const page: z.infer<typeof List> = parsed(await ask(person, 'GET', query), 200, List)
      seen.push(...page.zones.map(({ label }) => label))
      cursor = page.next_cursor
      pages += 1
    }
    expect(seen).toEqual(['5', '4', '2', '1'])
    expect(pages).toBe(Math.ceil(4 / limit))
  }
  for (const limit of [0, 501, 1.5, 'x']) {
    expectProblem(await ask(person, 'GET', `?limit=${limit}`), 400, 'invalid_query')
  }
})

test('what a list says of each zone is what the schema says, and what its own address says', async () => {
  const who = await service.person()
  const [channel] = await service.database.query<{ id: string }>(
    `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked)
    values ($1, 'webhook', 'sealed', 'masked') returning id`,
    [who.user_id],
  )
  const square = [
    [28, 40],
    [30, 40],
    [30, 42],
    [28, 42],
    [28, 40],
  ]
  await create(who)
  await create(who, {
    polygon: { type: 'Polygon', coordinates: [square] },
    match: 'point',
    min_severity: 12.5,
    color: '#AABBCC',
    icon: 'anchor',
    channel_ids: [channel?.id],
    sources: ['usgs', 'custom:mine'],
    types: ['earthquake'],
    quiet_windows: [{ days: ['mon'], start: '22:00', end: '07:00' }],
    emergency_severity: 90,
    aftershocks: { magnitude_gap: 1 },
    max_alerts_per_hour: 3,
    escalation: [{ after_minutes: 5, channel_ids: [channel?.id] }],
    snoozed_until: '2099-01-01T00:00:00+02:00',
    enabled: false,
  })
  const Listed = z.object({ zones: z.array(z.looseObject({ id: z.string() })) })
  const { zones } = parsed(await ask(who, 'GET', ''), 200, Listed)
  expect(zones).toHaveLength(2)
  for (const zone of zones) {
    expect(zone).toEqual(Zone.parse(zone))
    expect(zone).toEqual(await get(who, zone.id))
  }
})
