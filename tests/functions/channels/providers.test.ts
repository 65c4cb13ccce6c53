/** What the answers of each service mean, given by a server on this machine that speaks as it does. */
import { expect, test } from 'vitest'
import type { ChannelKind } from '../../../functions/channels/channel.ts'
import { discord } from '../../../functions/channels/discord.ts'
import { ntfy } from '../../../functions/channels/ntfy.ts'
import { pagerduty } from '../../../functions/channels/pagerduty.ts'
import { pushover } from '../../../functions/channels/pushover.ts'
import { telegram } from '../../../functions/channels/telegram.ts'
import { type Answer, outcomeOf, says, telegramSays } from './provider.ts'
import { NOW } from './samples.ts'

const waits = { outcome: 'retry', throttled: true, counted: false }

const ANSWERS: [ChannelKind, string, Answer, object][] = [
  [discord, 'delivered', says(200, { id: '77' }), { outcome: 'ok', remote_ref: '77' }],
  [discord, 'delivered without a name', says(204), { outcome: 'ok' }],
  [
    discord,
    'delivered, and the bucket is empty',
    says(200, { id: '77' }, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '1.4' }),
    { outcome: 'ok', retry_after_seconds: 2 },
  ],
  [
    discord,
    'wait for the webhook',
    says(429, { retry_after: 0.4, global: false }),
    { ...waits, retry_after_seconds: 1 },
  ],
  [
    discord,
    'wait everywhere',
    says(429, { retry_after: 64.57, global: true }),
    { ...waits, throttles: 'host', retry_after_seconds: 65 },
  ],
  [
    discord,
    'the wall before Discord',
    says(429, 'error code: 1015', { 'retry-after': '90' }),
    { ...waits, throttles: 'host', retry_after_seconds: 90 },
  ],
  [
    discord,
    'the wall forbids',
    says(403, '<html>'),
    { outcome: 'retry', throttled: true, throttles: 'host' },
  ],
  [
    discord,
    'the webhook is gone',
    says(404, { code: 10015, message: 'Unknown Webhook' }),
    {
      outcome: 'disable_channel',
      error:
        'Discord answered HTTP 404: Unknown Webhook. The webhook was deleted. Make another webhook in Discord and set it as the target.',
    },
  ],
  [
    discord,
    'the token is wrong',
    says(401, { code: 50027, message: 'Invalid Webhook Token' }),
    { outcome: 'disable_channel' },
  ],
  [
    discord,
    'a forum',
    says(400, { code: 220001, message: 'forum' }),
    { outcome: 'fail_permanent', error: expect.stringContaining('config.thread_id') },
  ],
  [
    discord,
    'our mistake',
    says(400, { code: 50035, message: 'Invalid Form Body' }),
    { outcome: 'fail_permanent' },
  ],
  [discord, 'it fails', says(502, '<html>'), { outcome: 'retry', throttled: false, counted: true }],
  [
    telegram,
    'delivered',
    says(200, { ok: true, result: { message_id: 7, chat: { id: -100 } } }),
    { outcome: 'ok', remote_ref: '-100/7' },
  ],
  [
    telegram,
    'not delivered',
    says(200, { ok: false, error_code: 400, description: 'Bad Request: message text is empty' }),
    { outcome: 'fail_permanent' },
  ],
  [
    telegram,
    'wait',
    telegramSays(429, 'Too Many Requests: retry after 33', { retry_after: 33 }),
    { ...waits, retry_after_seconds: 33 },
  ],
  [
    telegram,
    'blocked',
    telegramSays(403, 'Forbidden: bot was blocked by the user'),
    { outcome: 'disable_channel' },
  ],
  [
    telegram,
    'kicked',
    telegramSays(403, 'Forbidden: bot was kicked from the supergroup chat'),
    { outcome: 'disable_channel' },
  ],
  [
    telegram,
    'the token was revoked',
    telegramSays(401, 'Unauthorized'),
    { outcome: 'disable_channel', error: expect.stringContaining('@BotFather') },
  ],
  [telegram, 'the token never was', telegramSays(404, 'Not Found'), { outcome: 'disable_channel' }],
  [
    telegram,
    'no such chat',
    telegramSays(400, 'Bad Request: chat not found'),
    { outcome: 'fail_permanent', error: expect.stringContaining('is the bot in it') },
  ],
  [
    telegram,
    'nothing changed',
    telegramSays(400, 'Bad Request: message is not modified: …'),
    { outcome: 'ok' },
  ],
  [telegram, 'it fails', telegramSays(500, 'Internal Server Error'), { outcome: 'retry' }],
  [telegram, 'another page', says(404, '<html>'), { outcome: 'fail_permanent' }],
  [
    pagerduty,
    'accepted',
    says(202, { status: 'success', dedup_key: 'k' }),
    { outcome: 'ok', remote_ref: 'k' },
  ],
  [
    pagerduty,
    'the key is wrong',
    says(400, {
      status: 'invalid event',
      message: 'Event object is invalid',
      errors: ["'routing_key' is invalid"],
    }),
    { outcome: 'disable_channel' },
  ],
  [
    pagerduty,
    'our mistake',
    says(400, { message: 'Event object is invalid', errors: ["'severity' is missing"] }),
    {
      outcome: 'fail_permanent',
      error: "PagerDuty answered HTTP 400: Event object is invalid: 'severity' is missing.",
    },
  ],
  [pagerduty, 'wait some minutes', says(429), { ...waits, retry_after_seconds: 120 }],
  [
    pagerduty,
    'wait',
    says(429, '', { 'retry-after': '30' }),
    { ...waits, retry_after_seconds: 30 },
  ],
  [pagerduty, 'it fails', says(503), { outcome: 'retry', counted: true }],
  [pagerduty, 'something else answered', says(200, 'ok'), { outcome: 'retry' }],
  [pagerduty, 'not permitted', says(403), { outcome: 'fail_permanent' }],
  [
    ntfy,
    'delivered',
    says(200, { id: 'x1', event: 'message' }),
    { outcome: 'ok', remote_ref: 'x1' },
  ],
  [
    ntfy,
    'not ntfy',
    says(200, '<html>'),
    { outcome: 'fail_permanent', error: expect.stringContaining('not ntfy') },
  ],
  [
    ntfy,
    'too many requests',
    says(429, { code: 42901, http: 429, error: 'limit reached: too many requests' }),
    { ...waits, throttles: 'host', retry_after_seconds: 10 },
  ],
  [
    ntfy,
    'the quota of the day',
    says(429, { code: 42908, http: 429, error: 'limit reached' }),
    { ...waits, throttles: 'host', retry_after_seconds: 11 * 3600 + 58 * 60 + 60 },
  ],
  [
    ntfy,
    'too many failures',
    says(429, { code: 42909, http: 429, error: 'limit reached' }),
    { ...waits, retry_after_seconds: 300 },
  ],
  [
    ntfy,
    'no token',
    says(401, { code: 40101, http: 401, error: 'unauthorized' }),
    { outcome: 'disable_channel', error: expect.stringContaining('config.token') },
  ],
  [
    ntfy,
    'not permitted',
    says(403, { code: 40301, http: 403, error: 'forbidden' }),
    { outcome: 'disable_channel' },
  ],
  [ntfy, 'a proxy forbids', says(403, '<html>'), { outcome: 'fail_permanent' }],
  [
    ntfy,
    'a wrong topic',
    says(400, { code: 40009, http: 400, error: 'invalid request: topic invalid' }),
    { outcome: 'fail_permanent' },
  ],
  [
    ntfy,
    'too large',
    says(413, { code: 41303, http: 413, error: 'JSON body too large' }),
    { outcome: 'fail_permanent' },
  ],
  [
    ntfy,
    'UnifiedPush',
    says(507, { code: 50701, http: 507, error: 'no subscriber' }),
    { outcome: 'fail_permanent' },
  ],
  [
    ntfy,
    'it fails',
    says(500, { code: 50001, http: 500, error: 'internal' }),
    { outcome: 'retry' },
  ],
  [
    pushover,
    'delivered',
    says(200, { status: 1, request: 'r1' }),
    { outcome: 'ok', remote_ref: 'r1' },
  ],
  [
    pushover,
    'the user is unknown',
    says(400, { status: 0, user: 'invalid', errors: ['user identifier is invalid'] }),
    { outcome: 'disable_channel', error: expect.stringContaining('user identifier is invalid') },
  ],
  [
    pushover,
    'the application is unknown',
    says(400, { status: 0, token: 'invalid', errors: ['application token is invalid'] }),
    { outcome: 'disable_channel', error: expect.stringContaining('config.app_token') },
  ],
  [
    pushover,
    'our mistake',
    says(400, { status: 0, errors: ['message cannot be blank'] }),
    { outcome: 'fail_permanent' },
  ],
  [
    pushover,
    'the month is used up',
    says(429, { status: 0 }, { 'x-limit-app-reset': String(NOW.getTime() / 1000 + 5000) }),
    { ...waits, retry_after_seconds: 5000 },
  ],
  [pushover, 'it fails', says(500), { outcome: 'retry' }],
]

test.each(ANSWERS)('$kind says: %s', async (kind, _, answer, expected) => {
  expect((await outcomeOf(kind, [answer])).outcome).toMatchObject(expected)
})

test.each([discord, telegram, pagerduty, ntfy])(
  '$kind: no answer is another try, and it recovers',
  async (kind) => {
    const failed = { ok: false, message: 'It did not answer.', duration_ms: 1 } as const
    expect(kind.classify({ ...failed, failure: 'timeout' }, NOW).outcome).toBe('retry')
    expect(kind.classify({ ...failed, failure: 'refused' }, NOW).outcome).toBe('fail_permanent')
    const well: Record<string, Answer> = {
      discord: says(200, { id: '1' }),
      telegram: says(200, { ok: true, result: {} }),
      pagerduty: says(202, {}),
      ntfy: says(200, { id: '1' }),
    }
    expect((await outcomeOf(kind, [says(503)])).outcome.outcome).toBe('retry')
    expect((await outcomeOf(kind, [well[kind.kind] ?? says(599)])).outcome.outcome).toBe('ok')
  },
)
