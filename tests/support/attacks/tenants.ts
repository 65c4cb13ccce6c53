import { z } from 'zod'
import type { SendRequest } from '../../../functions/channels/transport/send.ts'
import { inTransaction } from '../../../functions/db.ts'
import { ingestEvents } from '../../../functions/jobs/ingest.ts'
import { createTestJobs, quake, registerSource } from '../jobs.ts'
import {
  ADDRESS_HEADER,
  type Person,
  parsed,
  type Service,
  sendResult,
  tokenOfInvite,
} from '../service.ts'

/** Nobody else may ever read it. */
export const PRIVATE = 'zqprivate'
/** Only the members of the organisation may read it. */
export const SHARED = 'zqshared'
/** Only in sealed and sent data: it may not be in any log line, whoever asks. */
const SECRET = 'zqsecret'

export type Tenant = {
  person: Person
  fellow: Person
  /** Ids by kind: several of each, private and shared ones. */
  ids: Record<
    | 'zone'
    | 'channel'
    | 'feed_link'
    | 'drill'
    | 'alert'
    | 'delivery'
    | 'organisation'
    | 'member'
    | 'event'
    | 'audit'
    | 'key'
    | 'invite',
    string[]
  >
  /** Cursors that the tenant received. */
  cursors: string[]
  /** Secrets of the tenant: keys, signing secrets. */
  secrets: string[]
  /** The tenant's own rows as stored. */
  read: () => Promise<unknown>
}

const HEADERS = { 'User-Agent': `${PRIVATE} agent`, [ADDRESS_HEADER]: '203.0.113.77' }

/** createTenant fills every text with a marker, using only the API and the jobs. */
export async function createTenant(service: Service): Promise<Tenant> {
  const { database, request } = service
  const person = await service.person({ email: `${SHARED}@watchpost.test` })
  const fellow = await service.person()
  const { key } = person
  const org = await service.organisation(person, [fellow, 'member'])
  await database.query('update watchpost.organisations set name = $2 where id = $1', [
    org,
    `${SHARED} team`,
  ])
  const keys = await database.query<{ id: string }>(
    'update watchpost.api_keys set name = $2 where user_id = $1 returning id',
    [person.user_id, `${PRIVATE} key`],
  )

  const make = async (path: string, body: object, name: string) => {
    const headers = { ...HEADERS, 'Idempotency-Key': `${PRIVATE} ${crypto.randomUUID()}` }
    const answer = await request('POST', `/api/v1${path}`, { key, body, headers })
    const made = z.looseObject({ [name]: z.looseObject({ id: z.string() }) })
    const thing = parsed(answer, 201, made)[name]
    if (!thing) throw new Error(`${path} answered no ${name}`)
    return thing
  }
  const channelOf = (marker: string, more: object) =>
    make(
      '/channels',
      {
        kind: 'webhook',
        label: `${marker} channel`,
        target: `https://${marker}.example.com/${SECRET}`,
        config: { headers: { Authorization: `Bearer ${SECRET}` } },
        ...more,
      },
      'channel',
    )
  const channels = [await channelOf(PRIVATE, {}), await channelOf(SHARED, { org_id: org })]
  const zoneOf = (marker: string, more: object) =>
    make(
      '/zones',
      { label: `${marker} zone`, lat: 33.9, lon: -117.5, radius_km: 300, ...more },
      'zone',
    )
  const zones = [
    await zoneOf(PRIVATE, { icon: 'private' }),
    // Its alerts go to a channel of the organisation and to a private one of its owner.
    await zoneOf(SHARED, { org_id: org, icon: 'shared' }),
  ]
  const links = [
    await make(`/zones/${zones[0]?.id}/feed-links`, { label: `${PRIVATE} link` }, 'feed_link'),
    await make(`/zones/${zones[1]?.id}/feed-links`, { label: `${SHARED} link` }, 'feed_link'),
  ]
  const drills = [
    await make(`/zones/${zones[0]?.id}/drill?wait=0`, {}, 'drill'),
    await make(`/zones/${zones[1]?.id}/drill?wait=0`, {}, 'drill'),
  ]
  const invited = await request('POST', `/api/v1/orgs/${org}/members`, {
    key,
    body: { email: `${SHARED}.invited@watchpost.test` },
    headers: HEADERS,
  })
  const { invite_url } = parsed(invited, 201, z.looseObject({ invite_url: z.string() }))

  const jobs = await createTestJobs(service)
  const fails = (sent: SendRequest) => sent.url.includes(PRIVATE) && sent.body.includes('again')
  service.receiver.answer = (sent) =>
    sendResult(fails(sent) ? 400 : 200, `${sent.url.includes(PRIVATE) ? PRIVATE : SHARED} answer`)
  await registerSource(service, 'custom')
  const event = quake({
    id: `custom:${crypto.randomUUID()}`,
    source: 'custom',
    title: `${PRIVATE} event`,
    url: `https://${PRIVATE}.example`,
  })
  // Events that an account sends itself, as the ingest of its own events stores them.
  await database.query('select private.ingest_events($1, $2, true, $3)', [
    'custom',
    JSON.stringify([{ ...event, box: [event.lon, event.lat, event.lon, event.lat] }]),
    person.user_id,
  ])
  const known = quake({ title: 'M 5.1 - everybody knows' })
  await inTransaction(jobs.db, (sql) =>
    ingestEvents(sql, 'test', [known, quake({ title: 'again' })]),
  )
  await jobs.drain()
  await jobs.close()

  const list = async (path: string, name: string) => {
    const answer = await request('GET', `/api/v1${path}`, { key, headers: HEADERS })
    const page = z.looseObject({ [name]: z.array(z.looseObject({ id: z.string() })) })
    return parsed(answer, 200, page)[name] ?? []
  }
  const alerts = await list('/alerts', 'alerts')
  for (const alert of alerts) {
    const isShared = JSON.stringify(alert).includes(`"zone_id":"${zones[1]?.id}"`)
    await request('PATCH', `/api/v1/alerts/${alert.id}`, {
      key,
      body: { resolved: true, note: `${isShared ? SHARED : PRIVATE} note` },
      headers: HEADERS,
    })
  }
  const tested = await request('POST', `/api/v1/channels/${channels[0]?.id}/test`, {
    key,
    headers: HEADERS,
  })
  parsed(tested, 200, z.unknown())

  const ids = {
    zone: zones.map(({ id }) => id),
    feed_link: links.map(({ id }) => id),
    drill: drills.map(({ id }) => id),
    channel: channels.map(({ id }) => id),
    alert: alerts.map(({ id }) => id),
    delivery: (await list(`/channels/${channels[0]?.id}/deliveries`, 'deliveries')).map(
      ({ id }) => id,
    ),
    organisation: [org],
    member: [
      person.user_id,
      ...(await list(`/orgs/${org}/members`, 'members')).map(({ id }) => id),
    ],
    event: [event.id, known.id],
    audit: (await list('/audit', 'audit')).slice(0, 1).map(({ id }) => id),
    key: keys.map(({ id }) => id),
    invite: [tokenOfInvite(invite_url)],
  }
  const cursors: string[] = []
  for (const path of [
    '/zones',
    '/alerts',
    '/channels',
    '/audit',
    '/events',
    `/channels/${ids.channel[0]}/deliveries`,
  ]) {
    const answer = await request('GET', `/api/v1${path}?limit=1`, { key, headers: HEADERS })
    const { next_cursor } = parsed(answer, 200, z.object({ next_cursor: z.string().nullable() }))
    if (next_cursor) cursors.push(next_cursor)
  }
  const shown = channels.map((channel) => String(channel.signing_secret))
  return {
    person,
    fellow,
    ids,
    cursors,
    secrets: [key, SECRET, ...shown, ...shown.map((secret) => secret.replace('whsec_', ''))],
    read: async () =>
      Promise.all(
        [
          'zones',
          'feed_links',
          'drills',
          'channels',
          'alerts',
          'members',
          'organisations',
          'deliveries',
          'api_keys',
          'events',
        ].map((table) =>
          database.query(
            `select * from watchpost.${table} t where to_jsonb(t)::text like any($1) order by 1`,
            [
              [...new Set([person.user_id, org, ...Object.values(ids).flat()])].map(
                (id) => `%${id}%`,
              ),
            ],
          ),
        ),
      ),
  }
}
