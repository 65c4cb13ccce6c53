import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateKey } from '../../../../shared/key.ts'
import { countJsonParses } from '../../../support/attacks/json-parses.ts'
import { malformedBodies } from '../../../support/attacks/malformed.ts'
import { type Description, describeOperations, type Operation } from '../../../support/openapi.ts'
import { PROOF, PROOF_MS, reportProof } from '../../../support/proof.ts'
import { runtime } from '../../../support/servers/runtimes.ts'
import { type Answer, createService, type Person, type Service } from '../../../support/service.ts'

/** Of each route, sent by a stranger and by somebody known; what they meet is the same on each runtime. */
const BODIES = runtime() !== 'node' ? 2 : PROOF ? 500 : 10
const SEED = 20_260_301

let service: Service
let person: Person
let session: string
let description: Description
let operations: Operation[]

beforeAll(async () => {
  service = await createService()
  person = await service.person()
  session = await service.session(person)
  const document = await service.request('GET', '/api/v1/openapi.json')
  description = describeOperations(document.body as Record<string, unknown>)
  operations = description.operations.filter(({ method }) => method !== 'GET')
})
afterAll(() => service?.close())

const send = (operation: Operation, body: string, headers: object, key?: string) =>
  service.request(
    operation.method,
    operation.path.replace(/\{\w+\}/g, () => randomUUID()),
    {
      body,
      headers: {
        'Content-Type': '',
        'Content-Length': String(Buffer.byteLength(body)),
        ...headers,
      },
      ...(key === undefined ? {} : { key }),
    },
  )

function complaint({ status, text, headers }: Answer, most: number): string | undefined {
  if (status >= most) return `status ${status}`
  if (status < 400) return undefined
  const type = headers.get('Content-Type')
  return type === 'application/problem+json' ? undefined : `${status} as ${type}: ${text}`
}

test(
  'no malformed body causes a 500, and no body of a stranger is parsed',
  async () => {
    const found: string[] = []
    const statuses = new Map<number, number>()
    const note = (operation: Operation, body: string, answer: Answer, wrong?: string) => {
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (!wrong) return
      found.push(`${operation.method} ${operation.path}: ${wrong}; sent ${body.slice(0, 200)}`)
    }
    for (const operation of operations) {
      const bodies = fc.sample(malformedBodies(operation, description), {
        numRuns: BODIES,
        seed: SEED,
      })
      for (const { body, headers } of bodies) {
        const parsed = countJsonParses()
        const stranger = await send(operation, body, headers)
        const unknown = body.length > 4096 && (await send(operation, body, headers, generateKey()))
        parsed.stop()
        for (const answer of unknown ? [stranger, unknown] : [stranger]) {
          const isRefused = [401, 413, 415, 429].includes(answer.status)
          note(
            operation,
            body,
            answer,
            isRefused ? complaint(answer, 500) : `${answer.status} to a stranger`,
          )
        }
        if (parsed.texts.length > 0) note(operation, body, stranger, 'a stranger’s body was parsed')
        const key = operation.is_account ? session : person.key
        const known = await send(operation, body, headers, key)
        note(operation, body, known, complaint(known, 500))
      }
    }
    expect(found.slice(0, 20)).toEqual([])
    expect(operations.length).toBeGreaterThan(20)
    reportProof('malformed bodies refused', {
      routes: operations.length,
      bodies: BODIES,
      ...Object.fromEntries([...statuses].sort(([a], [b]) => a - b)),
    })
    const met = runtime() === 'node' ? [400, 401, 415, 422] : [401, 422]
    expect([...statuses.keys()]).toEqual(expect.arrayContaining(met))
  },
  PROOF ? PROOF_MS : 120_000,
)
