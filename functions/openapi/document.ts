import type { OpenAPIHono } from '@hono/zod-openapi'
import {
  AlertMessage,
  BlindMessage,
  DigestMessage,
  FailingMessage,
  RecoveredMessage,
  SightedMessage,
  TestMessage,
} from '../../shared/schemas/webhook.ts'
import { VERSION } from '../../shared/version.ts'
import type { Env } from '../context.ts'
import { EXAMPLES, MESSAGE_EXAMPLES } from './examples.ts'
import { ACCOUNT_EXAMPLES } from './examples-account.ts'
import { DRILL_EXAMPLES } from './examples-drills.ts'
import { EVENT_EXAMPLES, GEOJSON_EXAMPLES } from './examples-events.ts'
import { FEED_EXAMPLES, MEDIA_EXAMPLES } from './examples-feeds.ts'
import { HEADERS, headersOf, PROBLEMS, problemName, refTo } from './parts.ts'

type Document = ReturnType<OpenAPIHono<Env>['getOpenAPI31Document']>
type Operation = NonNullable<NonNullable<Document['paths']>[string]['get']>
type Response = NonNullable<Operation['responses']>[string]
type Content = { [type: string]: { schema?: object; example?: unknown } }

export const METHODS = ['get', 'post', 'patch', 'delete'] as const

const DESCRIPTION = `Watchpost watches open event feeds (earthquakes, storms, vessels and others) for you. Each feed is turned into
canonical events, an event inside one of your zones raises an alert, and the alert is sent to your channels. Every
decision and every delivery is recorded and can be looked up.

**Form.** JSON, UTF-8, snake_case. Times are ISO 8601 UTC ending in \`Z\`. Ids are UUIDs unless said otherwise.
Unknown body fields are refused with 422 and unknown query parameters with 400, so that a typo never goes
unnoticed. A body can have at most 2 MiB.

**Keys.** Send \`Authorization: Bearer wp_live_…\`. A key has the scopes \`read\`, \`write\` (which implies
\`read\`) or \`ingest\`. The access token of a session can do what a key with \`write\` can, and only a session can
manage the account (\`/account\`).

**Errors** are RFC 9457 problem details: \`code\` is a stable identifier, \`detail\` says what to do next, and every
answer carries \`X-Request-Id\`. What belongs to somebody else is answered 404, as if it did not exist.

**Pages.** Send \`next_cursor\` as \`cursor\` until it is null. A page may be shorter than \`limit\` even before the end.

**Retries.** A creating POST with an \`Idempotency-Key\` takes effect once, however often it is sent. After 429 and
503, wait for the time in \`Retry-After\`.

**Compatibility.** Fields, enum values and routes may be added under \`/api/v1\`; nothing is removed.`

/** Registers the webhook messages, which the generator cannot see in the routes. */
export function registerMessages({ openAPIRegistry: registry }: OpenAPIHono<Env>): void {
  const messages = [
    ['alert.raised', 'An event raised an alert', AlertMessage, MESSAGE_EXAMPLES.raised],
    ['alert.revised', 'The event of an alert has changed', AlertMessage],
    [
      'alert.escalated',
      'The event has reached a higher band or the emergency severity',
      AlertMessage,
    ],
    ['alert.ended', 'The event has ended', AlertMessage],
    ['alert.retracted', 'The source has retracted the event', AlertMessage],
    ['alert.acknowledged', 'Somebody has seen the alert', AlertMessage],
    ['alert.resolved', 'Somebody has resolved the alert', AlertMessage],
    ['alert.reopened', 'Somebody has reopened the alert', AlertMessage],
    ['alert.digest', 'The alerts that quiet hours held', DigestMessage, MESSAGE_EXAMPLES.digest],
    [
      'zone.blind',
      'A source that zones watch has failed for too long',
      BlindMessage,
      MESSAGE_EXAMPLES.blind,
    ],
    ['zone.sighted', 'The source is well again', SightedMessage, MESSAGE_EXAMPLES.sighted],
    [
      'channel.failing',
      'Nothing reaches another channel of the owner',
      FailingMessage,
      MESSAGE_EXAMPLES.failing,
    ],
    ['channel.recovered', 'That channel works again', RecoveredMessage, MESSAGE_EXAMPLES.recovered],
    ['channel.test', 'A test message', TestMessage, MESSAGE_EXAMPLES.test],
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
        '2XX': { description: 'Accepted. The body may be anything; its start is kept as proof.' },
        default: {
          description:
            '410 disables the channel. 408, 425, 429 and 5xx are retried, up to 8 times in 32 hours or as Retry-After ' +
            'says. Any other status fails the delivery for good.',
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
    'The same on every attempt, so that a receiver can detect duplicates.',
    '18c7dc65-d07c-4d8f-81ca-8c8c7ed0f408',
  )
  header(
    'webhook-timestamp',
    'When this attempt was signed, in seconds since 1970. Reject messages that are several minutes old.',
    '1772366500',
  )
  header(
    'webhook-signature',
    '`v1,` followed by the HMAC-SHA256 of `id.timestamp.body` in base64; two of them, separated by a space, while a secret is being rotated.',
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
    servers: [{ url: serverUrl, description: 'The service that published this document.' }],
    tags: [
      { name: 'Events', description: 'Events inside the caller’s zones.' },
      { name: 'Zones', description: 'The areas to watch, and their rules.' },
      { name: 'Alerts', description: 'What was raised and how it was delivered.' },
      { name: 'Channels', description: 'Where alerts are sent.' },
      {
        name: 'Feeds out',
        description: 'Secret links at which programs read the alerts of a zone.',
      },
      { name: 'Organisations', description: 'Groups of people who share zones and channels.' },
      { name: 'Account', description: 'The caller, its keys, its usage and its audit log.' },
      { name: 'Service', description: 'The service itself. No key is needed.' },
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

/** Adds what middleware does to every operation, and the examples. */
function complete(operation: Operation, method: (typeof METHODS)[number]): void {
  const isKeyed = (operation.security ?? []).length > 0
  // Every route that accepts a key also accepts a session.
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
  for (const parameter of operation.parameters ?? []) dropRepeatedDescription(parameter)

  const examples: typeof EXAMPLES = {
    ...EXAMPLES,
    ...EVENT_EXAMPLES,
    ...FEED_EXAMPLES,
    ...DRILL_EXAMPLES,
    ...ACCOUNT_EXAMPLES,
  }
  const { request, response } = examples[operation.operationId ?? ''] ?? {}
  const geojson = GEOJSON_EXAMPLES[operation.operationId ?? '']
  const others = {
    ...(geojson && { 'application/geo+json': geojson }),
    ...MEDIA_EXAMPLES[operation.operationId ?? ''],
  }
  const body = operation.requestBody
  if (body && 'content' in body) exemplify(body.content, request)
  for (const [, given] of responses) {
    if ('content' in given) exemplify(given.content, response, others)
  }
}

function exemplify(
  content: Content,
  example: object | undefined,
  others: Record<string, unknown> = {},
): void {
  for (const [type, media] of Object.entries(content)) {
    const value = type === 'application/json' ? example : others[type]
    if (value) media.example = value
  }
}

/** Removes the description of a parameter's schema when it repeats that of the parameter. */
function dropRepeatedDescription(parameter: {
  description?: string
  schema?: { description?: string }
}): void {
  if (parameter.schema?.description === parameter.description) delete parameter.schema?.description
}
