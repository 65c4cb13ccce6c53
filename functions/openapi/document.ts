import type { OpenAPIHono } from '@hono/zod-openapi'
import { VERSION } from '../../shared/version.ts'
import { AlertMessage, DigestMessage, TestMessage } from '../../shared/webhook.ts'
import type { Env } from '../context.ts'
import { EVENTS_AS_GEOJSON, EXAMPLES, MESSAGE_EXAMPLES } from './examples.ts'
import { ACCOUNT_EXAMPLES } from './examples-account.ts'
import { HEADERS, headersOf, PROBLEMS, problemName, refTo } from './parts.ts'

type Document = ReturnType<OpenAPIHono<Env>['getOpenAPI31Document']>
type Operation = NonNullable<NonNullable<Document['paths']>[string]['get']>
type Response = NonNullable<Operation['responses']>[string]
type Content = { [type: string]: { schema?: object; example?: unknown } }

export const METHODS = ['get', 'post', 'patch', 'delete'] as const

const DESCRIPTION = `Watch zones over open event feeds, and proof of every decision and delivery.
Open feeds become canonical events; what happens inside your zones raises alerts; alerts go to your channels.

**Form.** JSON, UTF-8, snake_case. Times are ISO 8601 UTC ending in \`Z\`. Ids are UUIDs unless said otherwise.
Unknown body fields are refused with 422, unknown query parameters with 400, so that a typing mistake never
passes in silence. Bodies are at most 2 MiB.

**Keys.** Send \`Authorization: Bearer wp_live_…\`. A key has the scopes \`read\`, \`write\` (which implies
\`read\`) or \`ingest\`. The access token of a session does what a key with \`write\` does, and alone manages the
account (\`/account\`).

**Errors** are RFC 9457 problem details: \`code\` is a stable word, \`detail\` says what to do next, and every
answer carries \`X-Request-Id\`. What belongs to somebody else is 404, as if it were not there.

**Pages.** Pass \`next_cursor\` as \`cursor\` until it is null. A page may be shorter than \`limit\` before that.

**Retries.** A creating POST with an \`Idempotency-Key\` happens once, however often it is sent. After 429 and
503 wait as \`Retry-After\` says.

**Compatibility.** Fields, enum values and addresses may be added under \`/api/v1\`; nothing is removed.`

/** What the generator cannot see in the routes: the messages we send. */
export function registerMessages({ openAPIRegistry: registry }: OpenAPIHono<Env>): void {
  const messages = [
    ['alert.raised', 'An event raised an alert', AlertMessage, MESSAGE_EXAMPLES.raised],
    ['alert.revised', 'What an alert told has changed', AlertMessage],
    ['alert.escalated', 'It got worse: a higher band, or an emergency', AlertMessage],
    ['alert.ended', 'The event is over', AlertMessage],
    ['alert.retracted', 'The source took the event back', AlertMessage],
    ['alert.digest', 'What quiet hours held', DigestMessage, MESSAGE_EXAMPLES.digest],
    ['channel.test', 'A test of the channel', TestMessage, MESSAGE_EXAMPLES.test],
  ] as const
  for (const [type, summary, schema, example = MESSAGE_EXAMPLES.raised] of messages) {
    registry.registerWebhook({
      method: 'post',
      path: type,
      operationId: `on_${type.replace('.', '_')}`,
      tags: ['Webhooks'],
      summary,
      security: [],
      parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
        (name) => ({ $ref: `#/components/parameters/${name}` }) as never, // safe: registered below
      ),
      request: {
        body: {
          required: true,
          content: { 'application/json': { schema, example: { ...example, type } } },
        },
      },
      responses: {
        '2XX': { description: 'Taken. Any body; its start is kept as proof.' },
        default: {
          description:
            '410: no longer wanted, the channel is switched off. 408, 425, 429 and 5xx: tried again, up to 8 times ' +
            'in 32 hours or as Retry-After says. Anything else: refused for good.',
        },
      },
    })
  }
  const header = (name: string, description: string, example: string) =>
    registry.registerComponent('parameters', name, {
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
      example,
    })
  header(
    'webhook-id',
    'The same on every attempt: what came twice is known by it.',
    '18c7dc65-d07c-4d8f-81ca-8c8c7ed0f408',
  )
  header(
    'webhook-timestamp',
    'When this attempt was signed, in seconds since 1970. Refuse what is minutes old.',
    '1772366500',
  )
  header(
    'webhook-signature',
    '`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64; two, with a space between, while a secret is rotated.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  )
}

/** The OpenAPI 3.1 description, generated from the routes themselves. */
export function describe(app: OpenAPIHono<Env>, serverUrl: string): Document {
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Watchpost',
      version: VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: serverUrl, description: 'The service this document came from.' }],
    tags: [
      { name: 'Events', description: 'What happened inside the caller’s zones.' },
      { name: 'Zones', description: 'The places people care about.' },
      { name: 'Alerts', description: 'What was raised, and how it was delivered.' },
      { name: 'Channels', description: 'Where alerts go.' },
      { name: 'Organisations', description: 'Who shares zones and channels.' },
      { name: 'Account', description: 'The caller, its usage and its audit log.' },
      { name: 'Service', description: 'The service itself; needs no key.' },
      { name: 'Webhooks', description: 'What a webhook channel receives (Standard Webhooks 1.0).' },
    ],
  })
  for (const item of Object.values(document.paths ?? {})) {
    for (const method of METHODS) {
      const operation = item[method]
      if (operation) complete(operation, method)
    }
  }
  document.components = { ...document.components, headers: HEADERS, responses: PROBLEMS }
  return document
}

/** What middleware does to every operation, and an example of each body. */
function complete(operation: Operation, method: (typeof METHODS)[number]): void {
  const isKeyed = (operation.security ?? []).length > 0
  // What a key may do, so may who signed in.
  if (operation.security?.some((scheme) => 'key' in scheme)) {
    operation.security = [{ key: [] }, { session: [] }]
  }
  const usual = [400, 429, 500, ...(method === 'get' ? [] : [413, 415])]
  const described = operation.responses ?? {}
  const statuses = new Set([...Object.keys(described).map(Number), ...usual])
  const responses = [...statuses]
    .sort((a, b) => a - b)
    .map((status): [string, Response] => {
      const name = problemName(status)
      if (name) return [String(status), { $ref: refTo('responses', name) }]
      const given: Response = described[String(status)]
      return [String(status), { ...given, headers: headersOf(status, isKeyed) }]
    })
  operation.responses = Object.fromEntries(responses)
  for (const parameter of operation.parameters ?? []) sayOnce(parameter)

  const examples: typeof EXAMPLES = { ...EXAMPLES, ...ACCOUNT_EXAMPLES }
  const { request, response } = examples[operation.operationId ?? ''] ?? {}
  const body = operation.requestBody
  if (body && 'content' in body) exemplify(body.content, request)
  for (const [, given] of responses) {
    if ('content' in given) exemplify(given.content, response)
  }
}

function exemplify(content: Content, example: object | undefined): void {
  for (const [type, media] of Object.entries(content)) {
    const value = type === 'application/geo+json' ? EVENTS_AS_GEOJSON : example
    if (value) media.example = value
  }
}

/** The generator describes a parameter and its schema with the same words. */
function sayOnce(parameter: { description?: string; schema?: { description?: string } }): void {
  if (parameter.schema?.description === parameter.description) delete parameter.schema?.description
}
