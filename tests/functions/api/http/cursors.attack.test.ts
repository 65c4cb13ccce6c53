import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { forgedCursors } from '../../../support/attacks/cursors.ts'
import { createTestJobs, quake } from '../../../support/jobs.ts'
import {
  type Description,
  describeOperations,
  type Operation,
  type Schema,
} from '../../../support/openapi.ts'
import { runtime } from '../../../support/servers/runtimes.ts'
import { createService, type Person, parsed, type Service } from '../../../support/service.ts'

/** Stands in every value that must not come back, not even in a log. */
const CANARY = '0000-01-01T00:00:00.000777Z'

/** At the edge a request takes a while: some of all are enough to see that a list is the same there. */
const STEP = runtime() === 'node' || process.env.PROOF ? 1 : 12

let service: Service
let person: Person
let session: string
let channel: string
let zone: string
let event: string
const HERE = { label: 'Here', lat: 41, lon: 29, radius_km: 200 }
let document: Description

beforeAll(async () => {
  service = await createService()
  // Far in the east the last day of 9999 is one of the year 10000.
  await service.database.query(
    `do $$ begin execute format('alter database %I set timezone = %L', current_database(), 'Asia/Tokyo'); end $$`,
  )
  person = await service.person()
  session = await service.session(person)
  const { key } = person
  const make = (path: string, body: object) => service.request('POST', path, { key, body })
  for (const label of ['One', 'Two']) {
    const drawn = await make('/api/v1/zones', { ...HERE, label })
    zone = parsed(drawn, 201, z.object({ zone: z.object({ id: z.string() }) })).zone.id
    const made = await make('/api/v1/channels', {
      kind: 'webhook',
      target: 'https://hooks.example.com/in',
    })
    channel = parsed(made, 201, z.object({ channel: z.object({ id: z.string() }) })).channel.id
  }
  // A second version of a zone.
  const patch = { key, body: { label: 'Three' } }
  expect((await service.request('PATCH', `/api/v1/zones/${zone}`, patch)).status).toBe(200)
  await service.key(person)
  const jobs = await createTestJobs(service)
  await jobs.drain()
  const geometry = {
    type: 'LineString' as const,
    coordinates: [
      [29, 41],
      [29, 41.1],
    ],
  }
  const first = quake({ lat: 41, lon: 29, geometry })
  await jobs.ingest(first, quake({ lat: 41.1, lon: 29 }))
  await jobs.ingest({ ...first, severity: 61 })
  event = first.id
  await jobs.drain()
  await jobs.close()
  const answer = await service.request('GET', '/api/v1/openapi.json')
  document = describeOperations(JSON.parse(answer.text))
})
afterAll(() => service?.close())

const addressOf = ({ path }: Operation) =>
  path.replace(
    '{id}',
    path.includes('/events/') ? event : path.includes('/zones/') ? zone : channel,
  )
/** A preview of a draft pages its events, so it is a list with a body. */
const bodyOf = ({ id }: Operation) => (id === 'previewDraft' ? HERE : undefined)
const bearerOf = ({ is_account }: Operation) => (is_account ? session : person.key)

/** What of an answer or its log line must not be: a fault, or anything of what was sent. */
function faultsIn(status: number, text: string, lines: object[], sent: string[]): string[] {
  const said = JSON.stringify(lines)
  return [
    ...(status >= 500 ? [`${status}`] : []),
    ...lines.filter((line) => 'error' in line).map((line) => JSON.stringify(line)),
    ...sent.filter((value) => value.length >= 8 && (said.includes(value) || text.includes(value))),
  ]
}

async function ask(operation: Operation, query: string, body?: unknown) {
  const before = service.lines.length
  const answer = await service.request(operation.method, `${addressOf(operation)}${query}`, {
    key: bearerOf(operation),
    body,
  })
  return { ...answer, lines: service.lines.slice(before) }
}

test('a forged cursor is refused with its reason, field by field, on every list', async () => {
  const lists = document.operations.filter(({ parameters }) =>
    parameters.some(({ name }) => name === 'cursor'),
  )
  expect(lists.length).toBeGreaterThanOrEqual(7)
  const faults: string[] = []
  let forged = 0
  for (const operation of lists) {
    const first = await ask(operation, '?limit=1', bodyOf(operation))
    const { next_cursor } = parsed(first, 200, z.object({ next_cursor: z.string() }))
    for (const cursor of forgedCursors(next_cursor).filter((_, at) => at % STEP === 0)) {
      forged += 1
      const { status, body, text, lines } = await ask(
        operation,
        `?limit=1&cursor=${encodeURIComponent(cursor)}`,
        bodyOf(operation),
      )
      const found = faultsIn(status, text, lines, [cursor])
      if (status !== 200 && !(status === 400 && JSON.stringify(body).includes('"cursor"'))) {
        found.push(`${status} ${text}`)
      }
      const shown = Buffer.from(cursor, 'base64url').toString()
      for (const fault of found) faults.push(`${operation.id} ${shown}: ${fault}`)
    }
  }
  expect(faults).toEqual([])
  expect(forged).toBeGreaterThan(1000 / STEP)
}, 120_000)

/** Where a schema takes a time: the path to each, within a body or as a parameter. */
function timesIn(schema: Schema, path: string[] = []): string[][] {
  const { format, properties, anyOf, items } = document.resolve(schema) as {
    format?: string
    properties?: { [name: string]: Schema }
    anyOf?: Schema[]
    items?: Schema
  } // safe: read, not trusted
  return [
    ...(format === 'date-time' ? [path] : []),
    ...Object.entries(properties ?? {}).flatMap(([name, each]) => timesIn(each, [...path, name])),
    ...(anyOf ?? []).flatMap((each) => timesIn(each, path)),
    ...(items ? timesIn(items, [...path, '0']) : []),
  ]
}

const TIMES = [
  CANARY,
  '0000-02-29T00:00:00Z',
  '0999-12-31T23:59:59Z',
  '9999-12-31T23:59:59.9999999Z',
  'infinity',
  '-infinity',
  '294277-01-01T00:00:00Z',
]

/** A copy of a value with something else at a path. */
function withAt(value: unknown, [name, ...path]: string[], put: unknown): unknown {
  if (name === undefined) return put
  const given = Object(value ?? {})
  const copy = Array.isArray(given) ? [...given] : { ...given }
  return Object.assign(copy, { [name]: withAt(given[name], path, put) })
}

/** The first row of a list of zones was refused, with the field that is wrong. */
function isRejected(answer: unknown, field: string): boolean {
  const Row = z.object({ status: z.string(), error: z.unknown() })
  const [row] = z.object({ results: z.array(Row) }).parse(answer).results
  return row?.status === 'rejected' && JSON.stringify(row.error).includes(`"path":"${field}"`)
}

test('a time outside the calendar is refused, with its field, in every query and body', async () => {
  const asked: string[] = []
  const faults: string[] = []
  for (const operation of document.operations.filter(({ is_keyed }) => is_keyed)) {
    const inQuery = operation.parameters
      .filter(({ in: place, schema }) => place === 'query' && timesIn(schema).length > 0)
      .map(({ name }) => name)
    const inBody = operation.body ? timesIn(operation.body.schema) : []
    for (const time of TIMES) {
      const requests = [
        ...inQuery.map((name) => ({
          name,
          query: `?${name}=${encodeURIComponent(time)}`,
          body: undefined,
        })),
        ...inBody.map((path) => ({
          name: path.join('.'),
          query: '',
          body: withAt(operation.body?.example, path, time),
        })),
      ]
      for (const { name, query, body } of requests) {
        asked.push(`${operation.id} ${name}`)
        const { status, body: answer, text, lines } = await ask(operation, query, body)
        const isNamed = JSON.stringify(answer).includes(`"path":"${name}"`)
        const found = faultsIn(status, text, lines, [time])
        // An item of several is refused for itself.
        const isRefused = name.startsWith('events.0.')
          ? status === 200 && text.includes(`"reason":"${name.slice('events.0.'.length)}: `)
          : name.startsWith('zones.0.')
            ? status === 200 && isRejected(answer, name.slice('zones.0.'.length))
            : [400, 422].includes(status) && isNamed
        if (!isRefused) found.push(`${status} ${text}`)
        for (const fault of found) faults.push(`${operation.id} ${name} ${time}: ${fault}`)
      }
    }
  }
  expect(faults).toEqual([])
  expect([...new Set(asked)].sort()).toEqual([
    'bulkZones zones.0.snoozed_until',
    'createKey expires_at',
    'createZone snoozed_until',
    'getEventMap from',
    'getEventMap to',
    'listAlerts from',
    'listAlerts to',
    'listAlerts updated_after',
    'listEvents active_at',
    'listEvents from',
    'listEvents to',
    'listFootprints from',
    'listFootprints to',
    'listTracks from',
    'listTracks to',
    'previewDraft snoozed_until',
    'pushEvents events.0.ends_at',
    'pushEvents events.0.revised_at',
    'pushEvents events.0.ts',
    'recoverChannel since',
    'updateZone snoozed_until',
  ])
})

test('the first and the last time of the calendar are taken and answered', async () => {
  for (const time of ['1000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']) {
    const answer = await service.request('POST', '/api/v1/zones', {
      key: person.key,
      body: { label: time, lat: 1, lon: 1, snoozed_until: time },
    })
    expect(answer.body).toMatchObject({ zone: { snoozed_until: time } })
  }
})

test('a hand-made cursor does not widen the window of events', async () => {
  const first = await service.request('GET', '/api/v1/events?limit=1&minutes=60', person)
  const { next_cursor } = parsed(first, 200, z.object({ next_cursor: z.string() }))
  const [version, digest, ts, id] = JSON.parse(Buffer.from(next_cursor, 'base64url').toString())
  await service.database.query(
    `update watchpost.events set ts = ts - interval '10 days' where id <> $1`,
    [id],
  )
  const forged = Buffer.from(
    JSON.stringify([version, digest, ts, id, '1000-01-01T00:00:00.000Z']),
  ).toString('base64url')
  const answer = await service.request(
    'GET',
    `/api/v1/events?limit=1&minutes=60&cursor=${forged}`,
    person,
  )
  expect(answer.body).toEqual({ events: [], next_cursor: null })
})
