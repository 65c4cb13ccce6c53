import { z } from 'zod'
import { createTestJobs, quake } from '../jobs.ts'
import { parsed, type Service } from '../service.ts'

/** The objects in requests: the caller's own, those of others, deleted and unknown ones. */
export type FuzzWorld = {
  /** The ids, by the path segment before them. */
  ids: { [collection: string]: string[] }
  keys: { [who: string]: string | undefined }
  /** Restores what requests have deleted. */
  restore: () => Promise<void>
  close: () => Promise<void>
}

/**
 * createFuzzWorld fills a service with three accounts, what they own and share, and its history.
 */
export async function createFuzzWorld(service: Service): Promise<FuzzWorld> {
  const [owner, colleague, stranger] = [
    await service.person(),
    await service.person(),
    await service.person({ plan: 'enterprise' }),
  ]
  const team = await service.organisation(owner, [colleague, 'member'])
  const foreign = await service.organisation(stranger)
  const person = await service.person()
  const club = await service.organisation(person)
  const jobs = await createTestJobs(service)
  const make = async (key: string, path: string, body: object) => {
    const made = parsed(await service.request('POST', path, { key, body }), 201, Made)
    return 'zone' in made ? made.zone.id : made.channel.id
  }
  const place = { lat: 41, lon: 29, radius_km: 200 }
  const zones = [
    await make(owner.key, '/api/v1/zones', { ...place, label: 'Mine' }),
    await make(owner.key, '/api/v1/zones', { ...place, label: 'Shared', org_id: team }),
    await make(owner.key, '/api/v1/zones', { ...place, label: 'Vessels', types: ['vessel'] }),
    await make(stranger.key, '/api/v1/zones', { ...place, label: 'Theirs' }),
  ]
  const target = 'https://hooks.example.com/in'
  const channels = [
    await make(owner.key, '/api/v1/channels', { kind: 'webhook', target }),
    await make(owner.key, '/api/v1/channels', { kind: 'webhook', target, org_id: team }),
    await make(stranger.key, '/api/v1/channels', { kind: 'webhook', target }),
  ]
  const owned = await service.request('POST', `/api/v1/zones/${zones[0]}/feed-links`, {
    key: owner.key,
    body: {},
  })
  const { feed_link } = parsed(owned, 201, MadeLink)
  const held = await service.request('POST', `/api/v1/zones/${zones[0]}/drill?wait=0`, {
    key: owner.key,
  })
  const { drill } = parsed(held, 201, z.object({ drill: z.looseObject({ id: z.uuid() }) }))
  const [kept] = await service.database.query<{ row: object }>(
    'select to_jsonb(l) as row from watchpost.feed_links l',
  )
  await jobs.drain()
  const happened = [
    quake({ lat: 41, lon: 29 }),
    quake({
      lat: 40.9,
      lon: 29.2,
      severity: 90,
      type: 'storm',
      ends_at: '2099-01-01T00:00:00.000Z',
    }),
    quake({ lat: 41.1, lon: 28.9, geometry: { type: 'Point', coordinates: [28.9, 41.1] } }),
    quake({ lat: 41, lon: 29, type: 'vessel', subject: 'mmsi:271000001', severity: 0 }),
  ]
  await jobs.ingest(...happened)
  await jobs.drain()
  const idsOf = async (statement: string) =>
    (await service.database.query<{ id: string }>(statement)).map(({ id }) => id)
  const keyOf = (who: typeof owner, ...scopes: ('read' | 'write' | 'ingest')[]) =>
    service.key(who, { scopes })
  return {
    ids: {
      zones,
      channels,
      'feed-links': [feed_link.id],
      drills: [drill.id],
      feeds: Object.values(feed_link.urls).map((url) => url.split('/').at(-1) ?? ''),
      alerts: await idsOf('select id from watchpost.alerts'),
      orgs: [team, foreign, club],
      keys: await idsOf(`select id from watchpost.api_keys where user_id = '${person.user_id}'`),
      members: [
        colleague.user_id,
        owner.user_id,
        stranger.user_id,
        ...(await idsOf('select id from watchpost.members')),
      ],
      deliveries: await idsOf('select id from watchpost.deliveries'),
      events: happened.map(({ id }) => id),
      audit: await idsOf('select id from watchpost.audit limit 5'),
    },
    keys: {
      owner: owner.key,
      reader: await keyOf(owner, 'read'),
      ingester: await keyOf(owner, 'ingest'),
      colleague: colleague.key,
      stranger: stranger.key,
      unpaid: (await service.person({ plan: 'free' })).key,
      revoked: await service.key(owner, { revoked: true }),
      malformed: 'wp_live_0',
      person: await service.session(person),
      nobody: undefined,
    },
    restore: async () => {
      // First removes what requests have created, because the plan limits the number.
      for (const [table, ids] of Object.entries({ zones, channels })) {
        await service.database.query(
          `update watchpost.${table} set deleted_at = now() where deleted_at is null and id <> all($1)`,
          [ids],
        )
        await service.database.query(
          `update watchpost.${table} set deleted_at = null where deleted_at is not null and id = any($1)`,
          [ids],
        )
      }
      await service.database.query('delete from watchpost.feed_links')
      await service.database.query(
        'insert into watchpost.feed_links select * from jsonb_populate_record(null::watchpost.feed_links, $1)',
        [kept?.row],
      )
      await service.database.query(`delete from watchpost.members where status = 'invited'`)
      await service.database.query(
        `insert into watchpost.members (org_id, user_id, email, role, status, joined_at)
        values ($1, $2, $3, 'member', 'active', now()) on conflict do nothing`,
        [team, colleague.user_id, colleague.email],
      )
      await service.database.query(
        `insert into watchpost.organisations (id, name) values ($1, 'Club') on conflict do nothing`,
        [club],
      )
      await service.database.query(
        `insert into watchpost.members (org_id, user_id, email, role, status, joined_at)
        values ($1, $2, $3, 'owner', 'active', now()) on conflict do nothing`,
        [club, person.user_id, person.email],
      )
      await jobs.drain()
    },
    close: () => jobs.close(),
  }
}

const Thing = z.object({ id: z.uuid() })
const MadeLink = z.object({
  feed_link: z.object({ id: z.uuid(), urls: z.record(z.string(), z.url()) }),
})
const Made = z.union([z.object({ zone: Thing }), z.object({ channel: Thing })])
