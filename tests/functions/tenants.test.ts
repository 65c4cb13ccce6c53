import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateKey } from '../../shared/key.ts'
import { ROUTES } from '../support/attacks/refusals.ts'
import { createTenant, PRIVATE, SHARED, type Tenant } from '../support/attacks/tenants.ts'
import { describeOperations, type Operation, type Schema } from '../support/openapi.ts'
import { createService, type Service } from '../support/service.ts'

let service: Service
let tenant: Tenant
let operations: Operation[]
let resolve: (schema: Schema) => Schema
/** The Authorization header of each sort of caller; `own` is the tenant itself. */
let callers: Record<string, string | undefined>

beforeAll(async () => {
  service = await createService()
  tenant = await createTenant(service)
  const document = await service.request('GET', '/api/v1/openapi.json')
  ;({ operations, resolve } = describeOperations(JSON.parse(document.text)))
  const { person, fellow } = tenant
  const other = await service.person()
  const bearer = (key: string) => `Bearer ${key}`
  callers = {
    own: bearer(person.key),
    'its own session': bearer(await service.session(person)),
    'no key': undefined,
    'a malformed key': bearer('wp_live_nonsense'),
    'an unknown key': bearer(generateKey()),
    'its expired key': bearer(await service.key(person, { expires_at: new Date(0) })),
    'its revoked key': bearer(await service.key(person, { revoked: true })),
    'its expired session': bearer(await service.session(person, { claims: { exp: 1 } })),
    'a forged session': bearer(await service.session(person, { forged: true })),
    'an account below Pro': bearer((await service.person({ plan: 'free' })).key),
    'a session below Pro': bearer(await service.session(await service.account({ plan: 'free' }))),
    'a foreign key to read': bearer(await service.key(other, { scopes: ['read'] })),
    'a foreign key': bearer(other.key),
    'a foreign session': bearer(await service.session(other)),
    'a fellow member to read': bearer(await service.key(fellow, { scopes: ['read'] })),
    'a fellow member': bearer(fellow.key),
    'a fellow member’s session': bearer(await service.session(fellow)),
  }
  tenant.secrets.push(...Object.values(callers).flatMap((header) => header?.split(' ')[1] ?? []))
})
afterAll(() => service?.close())

type Ask = { method: string; path: string; body?: unknown }

/**
 * The requests of an operation that name the tenant's things in path, query, cursor and body. A path with
 * a thing of its own kind is asked with every query and body. Any other path names nothing there, so it is
 * asked without them and with one of them in turn.
 */
function requestsOf(operation: Operation): Ask[] {
  const { method } = operation
  const queries = queriesOf(operation)
  const bodies = bodiesOf(operation)
  const [first = { query: '', body: undefined }, ...rest] = queries.flatMap((query) =>
    bodies.map((body) => ({ query, body })),
  )
  return pathsOf(operation).flatMap(({ path, isOwn }, at) => {
    const other = rest[at % Math.max(1, rest.length)]
    const asked = isOwn ? [first, ...rest] : other ? [first, other] : [first]
    return asked.map(({ query, body }) => ({ method, path: path + query, body }))
  })
}

/** The paths with ids of every kind; `isOwn` if `{id}` stands for a thing of the kind before it. */
function pathsOf({ path, parameters }: Operation): { path: string; isOwn: boolean }[] {
  const { ids } = tenant
  const kind = /\/(\w+)s\/\{id\}/.exec(path)?.[1]?.replace(/^org$/, 'organisation') ?? ''
  // safe: a kind that is not one of the tenant's has no ids
  const own: string[] = ids[kind as keyof Tenant['ids']] ?? firstTwo()
  let paths = [{ path, isOwn: true }]
  for (const { name, in: place } of parameters) {
    if (place !== 'path') continue
    const named: Record<string, string[]> = { linkId: ids.feed_link, drillId: ids.drill }
    const values = name === 'id' ? firstTwo() : (named[name] ?? ids.member)
    paths = paths.flatMap((made) =>
      values.map((id) => ({
        path: made.path.replace(`{${name}}`, id),
        isOwn: made.isOwn && (name !== 'id' || own.includes(id)),
      })),
    )
  }
  return paths
}

function queriesOf({ parameters }: Operation): string[] {
  // Nobody waits for what does not come.
  if (parameters.some(({ name }) => name === 'wait')) return ['?wait=0']
  const queries = parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap(({ name, required }) => {
      const values = name === 'cursor' ? tenant.cursors : named(name)
      const asked = values.map((value) => `?${name}=${encodeURIComponent(value)}`)
      return required ? asked : ['', ...asked]
    })
  return queries.length > 0 ? [...new Set(queries)] : ['']
}

function bodiesOf({ method, path, body }: Operation): unknown[] {
  if (!body) return [undefined]
  const known = ROUTES.find((route) => route.method === method && route.path === path)
  const base = { ...(body.example ?? known?.body ?? {}) }
  const fields = Object.keys(resolve(body.schema).properties ?? {})
  const isSingle = resolve(body.schema).maxProperties === 1
  return [
    base,
    ...fields.flatMap((name) =>
      named(name).map((id) => ({
        ...(isSingle ? {} : base),
        [name]: name.endsWith('s') ? [id] : id,
      })),
    ),
  ]
}

/** A field or parameter whose schema says that it holds an id, or ids. */
function holdsId(schema: Schema): boolean {
  const { format, items, anyOf } = resolve(schema) as {
    format?: string
    items?: Schema
    anyOf?: Schema[]
  } // safe: read, not trusted
  return format === 'uuid' || (!!items && holdsId(items)) || (anyOf ?? []).some(holdsId)
}

const firstTwo = () => Object.values(tenant.ids).flatMap((ids) => ids.slice(0, 2))

/** What of the tenant a parameter or field of this name may name; nothing when it names no thing. */
function named(name: string): string[] {
  const { ids } = tenant
  if (name === 'after') return ids.audit
  // A name that callers choose for their own.
  if (name === 'external_id') return []
  if (name === 'org_id') return ids.organisation
  if (name === 'token') return ids.invite
  if (name === 'id') return ids.member
  const thing = /^(\w+)_ids?$/.exec(name)?.[1] ?? ''
  if (thing in ids) return ids[thing as keyof Tenant['ids']] // safe: tested in the line above
  return thing ? firstTwo() : []
}

async function send(who: string, { method, path, body }: Ask) {
  const authorization = callers[who]
  const answer = await service.request(method, path, {
    body,
    headers: authorization ? { Authorization: authorization } : {},
  })
  // Cursors are opaque to people, not to whoever decodes them.
  const cursors = [...answer.text.matchAll(/"next_cursor":"([\w-]+)"/g)].map(([, cursor]) =>
    Buffer.from(cursor ?? '', 'base64url').toString(),
  )
  return {
    status: answer.status,
    told: [answer.text, JSON.stringify([...answer.headers]), ...cursors].join(' '),
  }
}

/** What an answer tells of the tenant that its caller neither knew nor may know. */
function leaksOf(ask: Ask, told: string, isFellow: boolean): string[] {
  const asked = ask.path + JSON.stringify(ask.body ?? '')
  const markers = isFellow ? [PRIVATE] : [PRIVATE, SHARED]
  const unknown = isFellow
    ? []
    : Object.values(tenant.ids)
        .flat()
        .filter((id) => id !== tenant.ids.event[1])
  return [...markers, ...tenant.secrets, ...unknown].filter(
    (text) => told.includes(text) && !asked.includes(text),
  )
}

test('the tenant itself is told every marker, so that a leak would be seen', async () => {
  let told = ''
  for (const operation of operations.filter(({ method }) => method === 'GET')) {
    const who = operation.is_account ? 'its own session' : 'own'
    for (const ask of requestsOf(operation)) told += (await send(who, ask)).told
  }
  const things = ['zone', 'channel', 'note', 'event', 'agent', 'key']
  for (const thing of things) expect(told).toContain(`${PRIVATE} ${thing}`)
  for (const thing of ['zone', 'channel', 'note', 'team'])
    expect(told).toContain(`${SHARED} ${thing}`)
  expect(told).toContain(`${PRIVATE} answer`)
  expect(told).toContain('203.0.113.77')
  for (const id of [...tenant.ids.delivery, ...tenant.ids.member, ...tenant.ids.key])
    expect(told).toContain(id)
})

test('every place of every route that takes an id is asked with ids of the tenant, of every kind', () => {
  const kinds = Object.entries(tenant.ids)
  expect(kinds.filter(([, ids]) => ids.length === 0)).toEqual([])
  expect(tenant.ids.event.some((id) => id.startsWith('custom:'))).toBe(true)
  const missing: string[] = []
  let asked = 0
  for (const operation of operations) {
    const asks = requestsOf(operation)
    const has = (place: 'path' | 'body', ids: string[]) =>
      asks.filter((ask) => ids.some((id) => JSON.stringify(ask[place] ?? '').includes(id))).length
    asked +=
      has(
        'path',
        kinds.flatMap(([, ids]) => ids),
      ) +
      has(
        'body',
        kinds.flatMap(([, ids]) => ids),
      )
    if (operation.path.includes('{id}')) {
      for (const [kind, ids] of kinds) {
        const encoded = ids.slice(0, 2)
        if (has('path', encoded) === 0) missing.push(`${operation.id} {id} with ${kind}`)
      }
    }
    if (operation.path.includes('{userId}') && has('path', tenant.ids.member) === 0) {
      missing.push(`${operation.id} {userId}`)
    }
    for (const { name, in: place, schema } of operation.parameters) {
      if (
        place !== 'query' ||
        name === 'external_id' ||
        !(holdsId(schema) || /_id$|^cursor$/.test(name))
      )
        continue
      const named = asks.filter(({ path }) => path.includes(`${name}=`))
      if (named.length === 0) missing.push(`${operation.id} ?${name}`)
    }
    for (const [name, schema] of Object.entries(fieldsOf(operation))) {
      if (name === 'external_id' || !(holdsId(schema) || /_ids?$|^token$/.test(name))) continue
      const named = asks.filter(({ body }) =>
        kinds.some(([, ids]) => ids.some((id) => textIn(body, name).includes(id))),
      )
      if (named.length === 0) missing.push(`${operation.id} ${name}`)
    }
  }
  expect(missing).toEqual([])
  expect(asked).toBeGreaterThanOrEqual(224)
})

const fieldsOf = ({ body }: Operation): Record<string, Schema> =>
  body ? ((resolve(body.schema).properties ?? {}) as Record<string, Schema>) : {} // safe: an object's schema
const textIn = (body: unknown, name: string) =>
  JSON.stringify(Object.entries(body ?? {}).find(([key]) => key === name)?.[1] ?? '')

const STRANGERS = [
  'no key',
  'a malformed key',
  'an unknown key',
  'its expired key',
  'its revoked key',
  'its expired session',
  'a forged session',
  'an account below Pro',
  'a session below Pro',
  'a foreign key to read',
  'a foreign key',
  'a foreign session',
]
/** Whoever is known is answered on some routes at least: a refusal everywhere would prove nothing. */
const KNOWN = ['a session below Pro', 'a foreign key to read', 'a foreign key', 'a foreign session']

/**
 * The requests of a caller. Whoever is refused before a route begins is refused for any query and body, so
 * one of eight is asked: without a credential that holds, with a key on a route of the account, and with
 * a key to read on a route that writes. Beyond those routes a session may do what a key may.
 */
function requestsBy(who: string, operation: Operation): Ask[] {
  const { is_keyed, is_account, method } = operation
  const isSession = /session/.test(who)
  const isRefused =
    is_keyed &&
    ((STRANGERS.includes(who) && !KNOWN.includes(who)) ||
      (is_account && !isSession) ||
      (method !== 'GET' && /to read$/.test(who)))
  const step = isRefused ? 8 : is_keyed && isSession && !is_account ? 4 : 1
  return requestsOf(operation).filter((_, at) => at % step === 0)
}

test.each(STRANGERS)('%s learns and changes nothing of a tenant, on any route', async (who) => {
  const before = await tenant.read()
  const leaks: string[] = []
  const statuses = new Set<number>()
  let answered = 0
  for (const operation of operations) {
    for (const ask of requestsBy(who, operation)) {
      const { status, told } = await send(who, ask)
      statuses.add(status)
      if (status < 300 && operation.is_keyed) answered += 1
      for (const leak of leaksOf(ask, told, false)) leaks.push(`${ask.method} ${ask.path}: ${leak}`)
    }
  }
  expect(leaks).toEqual([])
  expect([...statuses].filter((status) => status >= 500)).toEqual([])
  expect(answered > 0).toBe(KNOWN.includes(who))
  expect(await tenant.read()).toEqual(before)
})

test.each(['a fellow member to read', 'a fellow member', 'a fellow member’s session'])(
  '%s learns what is shared and nothing else, on any route',
  async (who) => {
    const leaks: string[] = []
    let told = ''
    // One of the account's routes is how somebody leaves the organisation.
    for (const operation of operations.toSorted((a, b) => +a.is_account - +b.is_account)) {
      for (const ask of requestsBy(who, operation)) {
        const answer = await send(who, ask)
        told += answer.told
        for (const leak of leaksOf(ask, answer.told, true))
          leaks.push(`${ask.method} ${ask.path}: ${leak}`)
      }
    }
    expect(leaks).toEqual([])
    expect(told).toContain(`${SHARED} zone`)
  },
)

test('no log line says what is a tenant’s, or a secret of anybody', () => {
  const lines = service.lines.map((line) => JSON.stringify(line))
  expect(lines.length).toBeGreaterThan(1000)
  const words = [PRIVATE, SHARED, ...tenant.secrets]
  expect(lines.filter((line) => words.some((word) => line.includes(word)))).toEqual([])
})
