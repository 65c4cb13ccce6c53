import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createTestJobs, quake, type TestJobs } from '../../../support/jobs.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

// Whom what happened is told to: which channels get an alert, and whose zones hear of a private event.
let service: Service
let jobs: TestJobs
/** Members of one organisation, a person who is only invited, one of another organisation, and nobody's. */
let people: Record<'owner' | 'admin' | 'member' | 'invited' | 'stranger', Person>
let team: string
let theirs: string

beforeAll(async () => {
  service = await createService()
  jobs = await createTestJobs(service)
  const made = await Promise.all([1, 2, 3, 4, 5].map(() => service.person()))
  const [owner, admin, member, invited, stranger] = made as [Person, Person, Person, Person, Person] // safe: five were made
  people = { owner, admin, member, invited, stranger }
  team = await service.organisation(owner, [admin, 'admin'], [member, 'member'])
  // The member has one of their own too, which is none of the team's.
  theirs = await service.organisation(stranger, [member, 'admin'])
  const invite = { email: invited.email }
  await post(owner, `orgs/${team}/members`, invite, z.unknown())
})
afterAll(async () => {
  await jobs?.close()
  await service?.close()
})

async function post<S extends z.ZodType>(by: Person, path: string, body: object, schema: S) {
  const made = await service.request('POST', `/api/v1/${path}`, { key: by.key, body })
  return parsed(made, 201, schema)
}

const Id = z.object({ id: z.uuid() })
const zoneOf = async (by: Person, body: object) =>
  (await post(by, 'zones', { label: 'A place', ...body }, z.object({ zone: Id }))).zone.id
const channelOf = async (by: Person, fields: object) => {
  const body = { kind: 'webhook', target: 'https://hooks.example.com/in', ...fields }
  return (await post(by, 'channels', body, z.object({ channel: Id }))).channel.id
}

type Who = keyof typeof people
type Shared = 'team' | 'theirs' | null
const orgOf = (shared: Shared) => ({ team, theirs, none: null })[shared ?? 'none']

describe('an alert goes to', () => {
  /** Who made a channel, and with whom it is shared. */
  const CHANNELS: Record<string, [Who, Shared]> = {
    'owner alone': ['owner', null],
    'owner in team': ['owner', 'team'],
    'admin alone': ['admin', null],
    'admin in team': ['admin', 'team'],
    'member alone': ['member', null],
    'member in theirs': ['member', 'theirs'],
    'stranger alone': ['stranger', null],
    'stranger in theirs': ['stranger', 'theirs'],
  }
  const ids: Record<string, string> = {}
  let lat = -40

  beforeAll(async () => {
    for (const [name, [who, shared]] of Object.entries(CHANNELS)) {
      ids[name] = await channelOf(people[who], { org_id: orgOf(shared) })
    }
    const off = await channelOf(people.owner, { org_id: team, enabled: false })
    const gone = await channelOf(people.owner, { org_id: team })
    await service.request('DELETE', `/api/v1/channels/${gone}`, people.owner)
    Object.assign(ids, { 'switched off': off, deleted: gone })
  })

  /** The names of the channels that an alert of this zone is delivered to. */
  async function told(zone: string, place: object): Promise<string[]> {
    await jobs.ingest(quake(place))
    await jobs.drain()
    const rows = await service.database.query<{ channel_id: string }>(
      `select d.channel_id from watchpost.deliveries d join watchpost.alerts a on a.id = d.alert_id
      where a.zone_id = $1`,
      [zone],
    )
    const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]))
    return rows.map(({ channel_id }) => names.get(channel_id) ?? 'unknown').sort()
  }
  const nextPlace = () => {
    lat += 3
    return { lat, lon: 60 }
  }

  test.each<[Who, Shared, string[]]>([
    ['owner', null, ['owner alone']],
    ['admin', null, ['admin alone']],
    ['member', null, ['member alone']],
    ['stranger', null, ['stranger alone']],
    ['owner', 'team', ['admin in team', 'owner alone', 'owner in team']],
    ['admin', 'team', ['admin alone', 'admin in team', 'owner in team']],
    ['member', 'team', ['admin in team', 'member alone', 'owner in team']],
    ['member', 'theirs', ['member alone', 'member in theirs', 'stranger in theirs']],
  ])('of a zone of the %s, shared with %s, that names none: %j', async (who, shared, expected) => {
    const place = nextPlace()
    const zone = await zoneOf(people[who], { ...place, org_id: orgOf(shared) })
    expect(await told(zone, place)).toEqual(expected)
  })

  test('of a zone that names some: those that its owner still sees, wherever they are shared', async () => {
    const place = nextPlace()
    const chosen = ['member alone', 'owner in team', 'member in theirs', 'stranger in theirs']
    const channel_ids = chosen.map((name) => ids[name])
    const zone = await zoneOf(people.member, { ...place, channel_ids })
    expect(await told(zone, place)).toEqual([...chosen].sort())
    const path = `/api/v1/orgs/${theirs}/members/${people.member.user_id}`
    // What the member shared there belongs to the stranger from now on.
    expect((await service.request('DELETE', path, people.stranger)).status).toBe(200)
    const elsewhere = { ...place, lat: place.lat + 0.1 }
    await jobs.ingest(quake(elsewhere))
    await jobs.drain()
    const [row] = await service.database.query(
      `select count(*)::integer from watchpost.deliveries d join watchpost.alerts a on a.id = d.alert_id
      where a.zone_id = $1 and d.channel_id = any($2)`,
      [zone, [ids['member in theirs'], ids['stranger in theirs']]],
    )
    expect(row).toEqual({ count: 2 })
  })

  test('of a zone that names an empty list: none', async () => {
    const place = nextPlace()
    const zone = await zoneOf(people.owner, { ...place, channel_ids: [] })
    expect(await told(zone, place)).toEqual([])
  })

  test('of a zone that names one switched off or deleted since: the others', async () => {
    const place = nextPlace()
    const zone = await zoneOf(people.owner, { ...place, channel_ids: [ids['owner alone']] })
    await service.database.query(
      'update watchpost.zones set channel_ids = channel_ids || $2::uuid[] where id = $1',
      [zone, [ids['switched off'], ids.deleted]],
    )
    expect(await told(zone, place)).toEqual(['owner alone'])
  })
})

describe('an event that belongs to', () => {
  /** Whose zone, and with whom it is shared. */
  const ZONES: [Who, Shared][] = [
    ['owner', null],
    ['owner', 'team'],
    ['admin', null],
    ['admin', 'team'],
    ['member', null],
    ['member', 'team'],
    ['invited', null],
    ['stranger', null],
    ['stranger', 'theirs'],
  ]
  const name = ([who, shared]: [Who, Shared]) => (shared ? `${who} in ${shared}` : who)

  /** What ingesting stores for an account or organisation, beside what anybody may see. */
  async function ingestFor(event: ReturnType<typeof quake>, who: Who | null, shared: Shared) {
    const { lon, lat } = event
    const row = { ...event, box: [lon, lat, lon, lat] }
    await service.database.query(`select private.ingest_events('test', $1, true, $2, $3)`, [
      JSON.stringify([row]),
      who && people[who].user_id,
      orgOf(shared),
    ])
  }

  const CASES: [string, Who | null, Shared, string[]][] = [
    ['nobody', null, null, ZONES.map(name)],
    // An alert of a shared zone would tell the organisation.
    ['its owner alone', 'owner', null, ['owner']],
    ['the member alone', 'member', null, ['member']],
    [
      'the team',
      'owner',
      'team',
      ['owner', 'owner in team', 'admin', 'admin in team', 'member', 'member in team'],
    ],
    ['another organisation', 'stranger', 'theirs', ['stranger', 'stranger in theirs']],
  ]

  test.each(CASES)(
    '%s reaches these zones and no others, live',
    async (_, who, shared, expected) => {
      const place = { lat: 10 + 3 * CASES.findIndex((each) => each[0] === _), lon: 100 }
      const zones = new Map<string, string>()
      for (const zone of ZONES) {
        const [by, org] = zone
        zones.set(await zoneOf(people[by], { ...place, org_id: orgOf(org) }), name(zone))
      }
      await jobs.drain()
      await ingestFor(quake(place), who, shared)
      await jobs.drain()
      expect((await heard(zones)).sort()).toEqual([...expected].sort())
    },
  )

  test.each(CASES)(
    '%s reaches these zones, made while it stands',
    async (_, who, shared, expected) => {
      const place = { lat: 10 + 3 * CASES.findIndex((each) => each[0] === _), lon: 130 }
      const ends_at = new Date(Date.now() + 3_600_000).toISOString()
      await ingestFor(quake({ ...place, type: 'storm', ends_at }), who, shared)
      await jobs.drain()
      const zones = new Map<string, string>()
      for (const zone of ZONES) {
        const [by, org] = zone
        zones.set(await zoneOf(people[by], { ...place, org_id: orgOf(org) }), name(zone))
      }
      await jobs.drain()
      expect((await heard(zones)).sort()).toEqual([...expected].sort())
    },
  )

  test.each(CASES)(
    '%s reaches these zones, made while it came',
    async (_, who, shared, expected) => {
      const place = { lat: 10 + 3 * CASES.findIndex((each) => each[0] === _), lon: 150 }
      const zones = new Map<string, string>()
      for (const zone of ZONES) {
        const [by, org] = zone
        zones.set(await zoneOf(people[by], { ...place, org_id: orgOf(org) }), name(zone))
      }
      // As if matching had seen none of them, because their transactions ended later.
      await service.database.query(`delete from pgboss.job where name = 'match_zone'`)
      const ids = [...zones.keys()]
      const unseen = await service.transaction()
      await unseen.query('set local session_replication_role = replica', [])
      await unseen.query('delete from watchpost.zone_boxes where zone_id = any($1)', [ids])
      await unseen.query(
        `update watchpost.zones set updated_at = now() - interval '1 hour' where id = any($1)`,
        [ids],
      )
      await unseen.commit()
      await ingestFor(quake(place), who, shared)
      await jobs.drain()
      expect(await heard(zones)).toEqual([])
      await service.database.query(
        `insert into watchpost.zone_boxes (zone_id, part, box, min_severity)
      select id, 1, boxes[1], private.min_event_severity(z) from watchpost.zones z where id = any($1)`,
        [ids],
      )
      await service.database.query(
        `select private.enqueue('match_zone', gen_random_uuid(), jsonb_build_object('zone_id', id))
      from unnest($1::uuid[]) as zone (id)`,
        [ids],
      )
      await jobs.drain()
      expect((await heard(zones)).sort()).toEqual([...expected].sort())
    },
  )

  async function heard(zones: Map<string, string>): Promise<string[]> {
    const rows = await service.database.query<{ zone_id: string }>(
      'select zone_id from watchpost.alerts where zone_id = any($1)',
      [[...zones.keys()]],
    )
    return rows.map(({ zone_id }) => zones.get(zone_id) ?? 'unknown')
  }
})
