import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createApp } from '../../functions/app.ts'
import type { Deps } from '../../functions/context.ts'
import { createRoute } from '../../shared/route.ts'
import { complaintAbout, type FuzzRequest, requestsOf } from '../support/attacks/fuzz.ts'
import { createFuzzWorld, type FuzzWorld } from '../support/attacks/fuzz-world.ts'
import {
  type Description,
  describeOperations,
  type Operation,
  type Schema,
} from '../support/openapi.ts'
import { PROOF, PROOF_MS, progress, reportProof } from '../support/proof.ts'
import { type Answer, createService, PUBLIC_URL, type Service } from '../support/service.ts'

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? (PROOF ? 20_000 : 600))
const BATCH = 100
const SEED = Number(process.env.FUZZ_SEED ?? 20_260_301)

const committed = parse(readFileSync(new URL('../../docs/openapi.yaml', import.meta.url), 'utf8'))
const description: Description = describeOperations(committed)
const { operations } = description

let service: Service
let world: FuzzWorld

beforeAll(async () => {
  service = await createService()
  world = await createFuzzWorld(service)
})
afterAll(async () => {
  await world?.close()
  await service?.close()
})

test.each([
  ['openapi.json', (text: string) => JSON.parse(text)],
  ['openapi.yaml', (text: string) => parse(text)],
] as const)('%s is the committed document, with the address of the service', async (name, read) => {
  const { text } = await service.request('GET', `/api/v1/${name}`)
  const { servers, ...served } = read(text)
  const { servers: _, ...expected } = committed
  expect(served).toEqual(expected)
  expect(servers).toMatchObject([{ url: PUBLIC_URL }])
})

describe('every operation', () => {
  test('has an id of its own, a summary, a tag, and says whether it needs a key', () => {
    const ids = operations.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const raw = Object.values(committed.paths).flatMap((item) => Object.values(Object(item)))
    expect(raw.length).toBe(operations.length)
    for (const operation of raw) {
      expect(operation).toMatchObject({
        operationId: expect.stringMatching(/^[a-z][A-Za-z]+$/),
        summary: expect.stringMatching(/\S/),
        tags: [expect.any(String)],
        security: expect.any(Array),
      })
    }
  })

  test('documents its refusals', () => {
    for (const { responses, is_keyed, is_account } of operations) {
      const plan = is_account ? [] : [402]
      const expected = is_keyed ? [400, 401, ...plan, 403, 429, 500, 503] : [400, 429, 500]
      expect([...responses.keys()]).toEqual(expect.arrayContaining(expected))
    }
  })

  test('shows a valid example of every body', () => {
    const wrong = operations.flatMap(({ id, body, responses }) => {
      const bodies = [...(body ? [body] : [])]
      for (const { content } of responses.values()) {
        for (const media of Object.values(content)) bodies.push({ ...media, is_required: true })
      }
      return bodies.flatMap(({ schema, example }) => {
        const complaint =
          example === undefined ? 'there is no example' : description.complaint(schema, example)
        return complaint ? [`${id}: ${complaint}`] : []
      })
    })
    expect(wrong).toEqual([])
  })

  test('takes null for a field of its body that it answers as null', () => {
    const fieldsOf = (schema: Schema): Map<string, Schema> =>
      new Map(
        Object.entries(description.resolve(schema).properties ?? {}).map(([name, field]) => [
          name,
          description.resolve(field as Schema), // safe: the linter has tested the document
        ]),
      )
    const isNullable = (schema: Schema) => description.complaint(schema, null) === undefined
    const compared: string[] = []
    for (const { id, body, responses } of operations) {
      if (!body) continue
      const asked = fieldsOf(body.schema)
      const [answer]: { schema: Schema }[] = [200, 201].flatMap((status) =>
        Object.values(responses.get(status)?.content ?? {}),
      )
      const things = answer
        ? [...fieldsOf(answer.schema).values()].map((field) => fieldsOf(field))
        : []
      for (const [name, field] of asked) {
        const told = things.flatMap((thing): Schema[] => [thing.get(name) ?? []].flat())
        if (field.readOnly === true || !told.some((one) => isNullable(one))) continue
        // Null in the answer only says that the secret is not shown again.
        if (name === 'signing_secret') continue
        compared.push(`${id} ${name}`)
        expect(isNullable(field), `${id} ${name}`).toBe(true)
      }
    }
    expect(compared).toEqual(expect.arrayContaining(['createKey expires_at']))
    expect(compared.length).toBeGreaterThan(10)
  })

  test('takes the example of its body', async () => {
    const person = await service.person()
    const token = await service.session(person)
    const statuses = new Map<string, number>()
    for (const { id, body, path, method, is_account } of operations) {
      if (!body) continue
      const key = is_account ? token : person.key
      const address = path
        .replace(/\{(userId|linkId|drillId)\}/, '{id}')
        .replaceAll('{id}', world.ids.zones?.[0] ?? '')
      const answer = await service.request(method, address, { key, body: body.example })
      statuses.set(id, answer.status)
    }
    // What is about one thing finds none of this caller's, but only after its body was taken.
    expect(Object.fromEntries(statuses)).toEqual({
      pushEvents: 200,
      bulkZones: 200,
      createZone: 201,
      updateZone: 404,
      drillZone: 404,
      createFeedLink: 404,
      rotateFeedLink: 404,
      previewDraft: 200,
      updateAlert: 404,
      redeliverAlert: 404,
      restoreZone: 404,
      restoreChannel: 404,
      rotateChannelSecret: 404,
      testChannel: 404,
      confirmChannel: 404,
      recoverChannel: 404,
      leaveOrg: 404,
      createChannel: 201,
      updateChannel: 404,
      inviteMember: 404,
      updateMember: 404,
      createKey: 201,
      createOrg: 201,
      updateOrg: 404,
      transferOrg: 404,
      acceptInvite: 404,
      // It is another address than this one's.
      deleteAccount: 422,
    })
  })
})

test('every message shows a valid example of its own type', () => {
  expect([...description.messages.keys()]).toContain('alert.raised')
  for (const [type, { schema, example }] of description.messages) {
    expect(description.complaint(schema, example)).toBeUndefined()
    expect(example).toMatchObject({ type })
  }
})

test('what was sent to webhooks is as described', () => {
  const sent = service.receiver.requests.map(({ body }) => JSON.parse(body))
  expect(sent.length).toBeGreaterThan(0)
  for (const message of sent) {
    const described = description.messages.get(message.type)
    expect(described && description.complaint(described.schema, message)).toBeUndefined()
  }
})

test(
  'every answer to every request is as the document says',
  async () => {
    // Making an arbitrary of a schema takes longer than the request that it makes.
    const requests = operations.map((operation) =>
      requestsOf(operation, description, world).map((request) => ({ operation, request })),
    )
    const any = fc.constantFrom(...requests).chain((request) => request)
    const statuses = new Map<number, number>()
    const complaints: string[] = []
    for (let from = 0; from < REQUESTS; from += BATCH) {
      const seed = SEED + from
      for (const { operation, request } of fc.sample(any, { numRuns: BATCH, seed })) {
        const answer = await send(operation, request)
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        const complaint = complaintAbout(operation, description, request, answer)
        if (complaint) complaints.push(told({ complaint, seed, operation, request, answer }))
      }
      await world.restore()
      if (from % 1000 === 0) progress(from, REQUESTS, 'requests')
    }
    expect(complaints.slice(0, 20)).toEqual([])
    reportProof('requests answered as documented', {
      requests: REQUESTS,
      seed: SEED,
      ...Object.fromEntries([...statuses].sort(([a], [b]) => a - b)),
    })
    // What is refused at the door proves little.
    expect([...statuses.keys()]).toEqual(
      expect.arrayContaining([200, 201, 204, 400, 401, 402, 403, 404, 415, 422]),
    )
  },
  PROOF ? PROOF_MS : 60_000,
)

type Told = {
  complaint: string
  seed: number
  operation: Operation
  request: FuzzRequest
  answer: Answer
}

function told({ complaint, seed, operation, request, answer }: Told): string {
  const sent = JSON.stringify(request).slice(0, 1500)
  return `seed ${seed}, ${operation.method} ${operation.path}: ${complaint}\n  sent ${sent}\n  got ${answer.status} ${answer.text.slice(0, 500)}`
}

function send(operation: Operation, { who, path, headers, body }: FuzzRequest) {
  const key = world.keys[who]
  return service.request(operation.method, path, {
    ...(key === undefined ? {} : { key }),
    headers,
    ...(body === undefined || body === '' ? {} : { body }),
  })
}

test('a tiny threshold is accepted', async () => {
  const { key } = await service.person()
  const body = { label: 'Everything', lat: 0, lon: 0, min_severity: 5e-324, severity_multiplier: 3 }
  const answer = await service.request('POST', '/api/v1/zones', { key, body })
  expect(answer.status).toBe(201)
})

test('a malformed id is 404, also with an Idempotency-Key', async () => {
  const { key } = await service.person()
  const answer = await service.request('POST', '/api/v1/orgs/%00/members', {
    key,
    body: { email: 'a@b.example' },
    headers: { 'Idempotency-Key': 'once' },
  })
  expect(answer.status).toBe(404)
})

test('a route of the app itself refuses invalid input as those of its resources do', async () => {
  const deps = { log: () => {}, origins: [], public_url: PUBLIC_URL }
  // safe: this route needs no more of them
  const app = createApp(deps as unknown as Deps)
  const route = createRoute({
    method: 'get',
    path: '/own',
    responses: { 200: { description: '' } },
  })
  app.openapi(route, (c) => c.text('answered'))
  const answer = await app.request('/own?odd=1')
  expect([answer.status, answer.headers.get('Content-Type')]).toEqual([
    400,
    'application/problem+json',
  ])
  expect(await answer.json()).toMatchObject({ code: 'invalid_query', errors: [{ path: 'odd' }] })
})
