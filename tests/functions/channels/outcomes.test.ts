import { describe, expect, test } from 'vitest'
import type { AnyKind } from '../../../functions/channels/channel.ts'
import { CHANNEL_KINDS } from '../../../functions/channels/kinds.ts'
import type { SendResult } from '../../../functions/channels/transport/send.ts'
import { messageOf, NOTIFICATIONS, NOW } from './samples.ts'

const KINDS = [...CHANNEL_KINDS.values()]
const STATUSES = [
  199, 200, 204, 299, 300, 301, 400, 401, 403, 404, 408, 410, 413, 425, 429, 499, 500, 503, 507,
]
/** What the services answer, as they document it or as it was seen. */
const BODIES = [
  '',
  'no JSON',
  '[]',
  '{}',
  '{"id":"1480000000000000001","channel_id":"7"}',
  '{"id":7}',
  '{"ok":true,"result":{"message_id":77,"chat":{"id":-100}}}',
  '{"ok":true}',
  '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}',
  '{"ok":false,"error_code":400,"description":"Bad Request: message is not modified"}',
  '{"ok":false,"description":"Bad Request: message to edit not found"}',
  '{"ok":false,"description":"Bad Request: something else"}',
  '{"ok":false,"description":"x","parameters":{"migrate_to_chat_id":-1009}}',
  '{"ok":false,"description":"x","parameters":{"retry_after":2.5}}',
  '{"message":"Unknown Message","code":10008}',
  '{"message":"Unknown Webhook","code":10015}',
  '{"message":"limited","retry_after":1.5,"global":true}',
  '{"status":1,"request":"abc","receipt":"r123"}',
  '{"status":0,"errors":["user identifier is invalid"],"user":"invalid"}',
  '{"status":0,"errors":["application token is invalid"],"token":"invalid"}',
  '{"status":0,"errors":["message limit reached"]}',
  '{"status":"success","message":"Event processed","dedup_key":"k"}',
  '{"status":"invalid event","message":"x","errors":["routing_key"]}',
  '{"status":0,"errors":["one","two"],"request":7}',
  '{"status":"success","dedup_key":7}',
  '{"status":"invalid event","message":"x","errors":["the routing key is wrong"]}',
  '{"error":{"code":"TooManyRequests","message":"slow down"}}',
  '{"error":null}',
  '{"reason":"BadDeviceToken"}',
  'ok',
  ' ok\n',
  'invalid_token',
  'no_service',
  'channel_not_found',
  'channel_is_archived',
  'rate_limited',
  'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429',
]

/** What a kind makes of an answer, in a line: the same outcomes of many answers stand together. */
function classified(kind: AnyKind, result: SendResult): string {
  try {
    const { status: _, ...rest } = kind.classify(result, NOW)
    return JSON.stringify(rest)
  } catch (error) {
    return `throws ${String(error)}`
  }
}

const failures = ['refused', 'timeout', 'unreachable', 'too_large', 'tls'] as const

describe.each(KINDS)('$kind', (kind) => {
  test('makes of each answer what was agreed', async () => {
    const failed = failures.map((failure) => {
      const result = { ok: false, failure, message: `It ${failure}.` } as unknown as SendResult // safe: one of the failures
      return `${failure}: ${classified(kind, result)}\n`
    })
    /** All that a body means, by status. */
    const meaning = (body: string, given: Record<string, string> = {}) => {
      const said = STATUSES.map((status) => {
        const headers = new Headers(given)
        const result = { ok: true, status, headers, body } as unknown as SendResult // safe: an answer
        return { status, meant: classified(kind, result).replaceAll(`${status}`, '{status}') }
      })
      return [...Map.groupBy(said, ({ meant }) => meant)]
        .map(([meant, all]) => `  ${all.map(({ status }) => status).join(' ')}: ${meant}\n`)
        .join('')
    }
    const bodies = BODIES.map((body) => ({ body: body || 'empty', means: meaning(body) }))
    const waits = { body: 'retry-after: 90', means: meaning('', { 'retry-after': '90' }) }
    const meant = [...Map.groupBy([...bodies, waits], ({ means }) => means)].map(
      ([means, all]) => `${all.map(({ body }) => body).join('\n')}\n${means}`,
    )
    await expect([...failed, ...meant].join('')).toMatchFileSnapshot(
      `golden/outcomes/${kind.kind}.txt`,
    )
  })
})

test('Pushover rings for an emergency that nobody has seen or resolved, and for nothing else', async () => {
  const kind = CHANNEL_KINDS.get('pushover')
  if (!kind) throw new Error('there is no Pushover')
  const rings: string[] = []
  for (const [name, notification] of Object.entries(NOTIFICATIONS)) {
    for (const more of [{}, { resolved: true }, { seen_at: NOW.toISOString() }]) {
      const alert = notification.alert && { ...notification.alert, ...more }
      const message = messageOf('pushover', {
        notification: { ...notification, alert } as typeof notification,
        config: { app_token: 'a'.repeat(30), emergency: {} },
      })
      const { body } = (await kind.render(message)) as { body: string }
      if (new URLSearchParams(body).get('priority') === '2')
        rings.push(`${name} ${JSON.stringify(more)}`)
    }
  }
  expect(rings).toEqual(['alert.escalated {}'])
})
