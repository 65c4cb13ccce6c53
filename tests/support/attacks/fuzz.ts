import fc from 'fast-check'
import { z } from 'zod'
import { EVENT_TYPES } from '../../../shared/event.ts'
import { createTestJobs, quake } from '../jobs.ts'
import type { Description, Operation, Parameter } from '../openapi.ts'
import { type Answer, parsed, type Service } from '../service.ts'
import { arbitraryOf, mutate, mutation } from './arbitrary.ts'

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

export type FuzzRequest = {
  who: string
  path: string
  headers: Record<string, string>
  body: string | undefined
  /** Whether the query and the body conform to the document. */
  is_valid: { query: boolean; body: boolean }
}

/** requestsOf generates requests for one operation: valid, nearly valid and garbage. */
export function requestsOf(
  operation: Operation,
  description: Description,
  world: FuzzWorld,
): fc.Arbitrary<FuzzRequest> {
  const hints = hintsOf(world)
  const arbitrary = (schema: Parameter['schema']) =>
    arbitraryOf(schema, { resolve: description.resolve, hints })
  const inQuery = operation.parameters.filter((parameter) => parameter.in === 'query')
  const query = fc.record(
    Object.fromEntries(
      inQuery.map(({ name, schema }) => {
        const valid = arbitrary(schema).map(String)
        const hint = hints[name]?.map(String)
        return [name, hint ? fc.oneof(hint, valid) : valid]
      }),
    ),
    { requiredKeys: inQuery.filter(({ required }) => required).map(({ name }) => name) },
  )
  const who = fc.oneof(
    { weight: 12, arbitrary: fc.constant(operation.is_account ? 'person' : 'owner') },
    { weight: 5, arbitrary: fc.constantFrom(...Object.keys(world.keys)) },
  )
  return fc
    .record({
      who,
      ids: fc.array(fc.nat(), { minLength: 2, maxLength: 2 }),
      query,
      query_junk: oneIn(5, mutation),
      body: operation.body ? arbitrary(operation.body.schema) : fc.constant(undefined),
      body_junk: oneIn(2, mutation),
      garbage: oneIn(15, garbage),
      accept: oneIn(3, fc.constantFrom('application/geo+json', 'application/json', 'text/csv')),
      once: oneIn(8, fc.stringMatching(/^[a-z0-9-]{1,3}$/)),
    })
    .map((given) => {
      // Nobody waits here for what does not come.
      const waits = inQuery.some(({ name }) => name === 'wait')
      const asked = waits ? { ...given.query, wait: '0' } : given.query
      const values = given.query_junk ? mutate(asked, given.query_junk) : asked
      const [value, text] = bodyOf(operation, given)
      const isPost = operation.method === 'POST' || operation.method === 'PATCH'
      return {
        who: given.who,
        path: addressOf(operation, given.ids, world, values),
        headers: {
          ...(given.accept ? { accept: given.accept } : {}),
          ...(given.once && isPost ? { 'idempotency-key': given.once } : {}),
          ...(text === undefined
            ? {}
            : { 'Content-Type': given.garbage?.type ?? 'application/json' }),
        },
        body: text,
        is_valid: {
          query: !given.query_junk && !('cursor' in given.query) && !isContradictory(given.query),
          body: isValidBody(operation, description, value),
        },
      }
    })
}

/** What no schema of a query can say: parameters that exclude each other, and the order of a box. */
function isContradictory(query: object): boolean {
  const has = (...names: string[]) => names.some((name) => name in query)
  return (has('minutes', 'days') && has('from', 'to', 'active_at')) || has('bbox')
}

function oneIn<T>(weight: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: weight - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })
}

function isValidBody({ body }: Operation, description: Description, value: unknown): boolean {
  if (!body) return true
  if (value === undefined) return !body.is_required
  return description.complaint(body.schema, value) === undefined
}

const garbage = fc.record({
  type: fc.constantFrom('application/json', 'text/plain', 'application/json; charset=utf-16', ''),
  text: fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '',
      '{',
      '[]',
      'null',
      '"',
      '{"a":1,"a":2}',
      '[['.repeat(5000),
      '\u0000',
      '1e999',
    ),
  ),
})

function bodyOf(
  { body: described }: Operation,
  given: {
    body: unknown
    body_junk: Parameters<typeof mutate>[1] | null
    garbage: { text: string } | null
  },
): [value: unknown, text: string | undefined] {
  if (!described) return [undefined, undefined]
  if (given.garbage) return [parseAny(given.garbage.text), given.garbage.text]
  const value = given.body_junk ? mutate(given.body, given.body_junk) : given.body
  const text = JSON.stringify(value)
  return [text === undefined ? undefined : JSON.parse(text), text]
}

/** Text that is not JSON conforms as little as a string in its place. */
function parseAny(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return 'no JSON'
  }
}

const ODD_IDS = [
  'not-an-id',
  '%00',
  '..%2f..',
  '00000000-0000-0000-0000-000000000000',
  'é',
  '__proto__',
]

function addressOf({ path }: Operation, picks: number[], world: FuzzWorld, query: unknown): string {
  const parts = path.split('/')
  let nth = 0
  const filled = parts.map((part, index) => {
    if (!part.startsWith('{')) return part
    const known = world.ids[parts[index - 1] ?? ''] ?? []
    const ids = [...known, ...known, ...known, ...ODD_IDS]
    const pick = picks[nth++] ?? 0
    return ids[pick % ids.length] ?? ''
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    search.append(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  const text = search.toString()
  return text ? `${filled.join('/')}?${text}` : filled.join('/')
}

/** Values that the service requires but a schema cannot express, so that valid requests succeed. */
function hintsOf({ ids }: FuzzWorld): Record<string, fc.Arbitrary<unknown>> {
  const some = (collection: string) => fc.constantFrom(...(ids[collection] ?? []))
  return {
    ZonePolygon: polygon,
    bbox: fc.constantFrom('-10,35,30,60', '170,-20,-170,20', '28,40,30,42'),
    quiet_hours_tz: fc.constantFrom('UTC', 'Europe/Istanbul', 'America/New_York', 'Asia/Kathmandu'),
    kind: fc.constant('webhook'),
    target: fc.webUrl({ validSchemes: ['https'] }),
    config: fc.constantFrom(null, {}, { headers: { 'X-Team': 'night' } }),
    signing_secret: fc.constant(`whsec_${'QUJD'.repeat(8)}`),
    org_id: fc.oneof(fc.constant(null), some('orgs')),
    channel_ids: fc.oneof(fc.constant(null), fc.array(some('channels'), { maxLength: 2 })),
    delivery_ids: fc.array(some('deliveries'), { minLength: 1, maxLength: 3 }),
    event_id: some('events'),
    zone_id: some('zones'),
    after: some('audit'),
    source: fc.constant('test'),
    types: fc.oneof(fc.constant(null), fc.constant([...EVENT_TYPES])),
  }
}

const polygon = fc
  .record({ lon: fc.integer({ min: -179, max: 178 }), lat: fc.integer({ min: -80, max: 79 }) })
  .map(({ lon, lat }) => ({
    type: 'Polygon',
    coordinates: [
      [
        [lon, lat],
        [lon + 1, lat],
        [lon + 1, lat + 1],
        [lon, lat],
      ],
    ],
  }))

const FORM =
  /^(invalid_type|too_small|too_big|invalid_format|unknown_field|invalid_value|invalid_union|invalid_element)$/

/** complaintAbout describes how an answer deviates from the document; undefined if it does not. */
export function complaintAbout(
  operation: Operation,
  description: Description,
  request: FuzzRequest,
  answer: Answer,
): string | undefined {
  const described = operation.responses.get(answer.status)
  if (!described) return `status ${answer.status} is not documented`
  if (answer.status >= 500) return `status ${answer.status}`
  for (const name of described.required_headers) {
    if (!answer.headers.get(name)) return `the header ${name} is missing`
  }
  const keyed = operation.is_keyed && answer.status < 300
  if (keyed && !/^"account";r=\d+;t=\d+$/.test(answer.headers.get('RateLimit') ?? '')) {
    return 'the header RateLimit is missing'
  }
  if (answer.headers.has('Retry-After') && !described.headers.includes('Retry-After')) {
    return 'the header Retry-After is not documented'
  }
  const wrong = complaintAboutBody(described.content, description, answer)
  if (wrong) return wrong
  if (answer.status < 300 && !request.is_valid.body)
    return 'a body was taken that is not as described'
  const { code, errors = [] } = Refusal.parse(answer.status < 400 ? {} : answer.body)
  // A schema cannot describe which cursors are valid.
  const isCursor = code === 'invalid_cursor'
  if (answer.status === 400 && request.is_valid.query && request.is_valid.body && !isCursor) {
    return 'a query and body as described are malformed'
  }
  if (answer.status === 422 && request.is_valid.body) {
    const form = errors.find(({ path, code }) => FORM.test(code) && !/^(config|target)/.test(path))
    if (form) return `a body as described is refused for its form: ${form.path} ${form.code}`
  }
  return undefined
}

const Refusal = z.object({
  code: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), code: z.string() })).optional(),
})

function complaintAboutBody(
  content: Operation['responses'] extends Map<number, infer D extends { content: object }>
    ? D['content']
    : never,
  { complaint }: Description,
  answer: Answer,
): string | undefined {
  const types = Object.keys(content)
  if (types.length === 0) return answer.text === '' ? undefined : 'there is a body'
  const type = (answer.headers.get('Content-Type') ?? '').replace(/;.*/, '')
  const media = content[type]
  if (!media) return `the content type ${type} is not documented`
  const wrong = complaint(media.schema, /json$/.test(type) ? answer.body : answer.text)
  return wrong && `the body is not as described: ${wrong}`
}
