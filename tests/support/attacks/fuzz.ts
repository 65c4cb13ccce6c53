import fc from 'fast-check'
import { z } from 'zod'
import { EVENT_TYPES } from '../../../shared/schemas/event.ts'
import type { Description, Operation, Parameter } from '../openapi.ts'
import type { Answer } from '../service.ts'
import { arbitraryOf, mutate, mutation } from './arbitrary.ts'
import type { FuzzWorld } from './fuzz-world.ts'

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

/** What answers each item of its body for itself, wrong ones too. */
const ROW_BY_ROW = ['/api/v1/events', '/api/v1/zones/bulk']

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
  if (answer.status < 300 && !request.is_valid.body && !ROW_BY_ROW.includes(operation.path))
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
