import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countJsonParses } from '../../support/attacks/json-parses.ts'
import { type Malformed, malformedBodies } from '../../support/attacks/malformed.ts'
import { type Description, describeOperations, type Operation } from '../../support/openapi.ts'
import { PROOF, PROOF_MS, reportProof } from '../../support/proof.ts'
import { startHub, type TestHub } from '../support/hub.ts'

/** Each is sent by somebody unknown and by the admin. */
const BODIES = PROOF ? 500 : 2
const SEED = 20_261_121
/** Where nobody has to sign in: bodies are short there, and some answers are pages. */
const PUBLIC = /\/(login|setup|health|branding|invitation\/(look|accept)|u\/\{token\})$/

/** Answers in JSON-RPC, also what its transport refuses. */
const JSON_RPC = /\/mcp$/

/** A body that is right by chance would be fetched from the network here; of strangers it is sent all the same. */
const FETCHES = /\/model\/download$/

let hub: TestHub
let description: Description
let operations: Operation[]
beforeAll(async () => {
  hub = await startHub()
  const document = await (await hub.call('GET', 'spec')).json()
  description = describeOperations(document)
  operations = description.operations.filter(({ method }) => method !== 'GET')
})
afterAll(() => hub.close())

const pathOf = ({ path }: Operation) =>
  path.replace(/\{\w+\}/g, () => randomUUID()).replace('/api/cockpit/', '')

const typeOf = ({ path }: Operation, { text }: { text: string }) =>
  JSON_RPC.test(path) && text.startsWith('{"jsonrpc":"2.0",')
    ? 'application/json'
    : 'application/problem+json'

async function send(operation: Operation, { body, headers }: Malformed, isKnown: boolean) {
  const own: Record<string, string> = isKnown ? {} : { authorization: '' }
  const answer = await hub.call(operation.method, pathOf(operation), body, {
    'content-length': String(Buffer.byteLength(body)),
    ...own,
    ...headers,
  })
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    text: await answer.text(),
  }
}

test(
  'no malformed body causes a 500, and no body of a stranger is parsed',
  async () => {
    const found: string[] = []
    const statuses = new Map<number, number>()
    for (const operation of operations) {
      const bodies = fc.sample(malformedBodies(operation, description), {
        numRuns: BODIES,
        seed: SEED,
      })
      for (const malformed of bodies) {
        for (const isKnown of FETCHES.test(operation.path) ? [false] : [false, true]) {
          const parsed = countJsonParses()
          const answer = await send(operation, malformed, isKnown)
          parsed.stop()
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
          const isPublic = PUBLIC.test(operation.path)
          const wrong = [
            answer.status >= 500 && answer.status !== 503 ? `status ${answer.status}` : '',
            answer.status >= 400 && !isPublic && answer.type !== typeOf(operation, answer)
              ? `${answer.status} as ${answer.type}`
              : '',
            !isKnown && !isPublic && answer.status !== 401 ? `${answer.status} to a stranger` : '',
            !isKnown && parsed.texts.some((length) => length > 4096)
              ? 'a stranger’s was parsed'
              : '',
          ].filter((fault) => fault !== '')
          if (wrong.length > 0) {
            const who = isKnown ? 'known' : 'unknown'
            found.push(
              `${operation.method} ${operation.path} (${who}): ${wrong.join(', ')}; sent ${malformed.body.slice(0, 200)}; ${answer.text.slice(0, 200)}`,
            )
          }
        }
      }
    }
    expect(found.slice(0, 20)).toEqual([])
    expect(operations.length).toBeGreaterThan(50)
    reportProof('malformed bodies at the hub', {
      routes: operations.length,
      bodies: BODIES,
      ...Object.fromEntries([...statuses].sort(([a], [b]) => a - b)),
    })
    expect([...statuses.keys()]).toEqual(
      expect.arrayContaining(PROOF ? [400, 401, 415, 422] : [401, 415, 422]),
    )
  },
  PROOF ? PROOF_MS : 120_000,
)
