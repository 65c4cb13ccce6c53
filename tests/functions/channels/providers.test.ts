/** What the answers of each service mean, given by a server on this machine that speaks as it does. */
import { describe, expect, test } from 'vitest'
import type { ChannelKind, Message } from '../../../functions/channels/channel.ts'
import { discord } from '../../../functions/channels/discord.ts'
import { ntfy } from '../../../functions/channels/ntfy.ts'
import { pagerduty } from '../../../functions/channels/pagerduty.ts'
import { pushover } from '../../../functions/channels/pushover.ts'
import { teams } from '../../../functions/channels/teams.ts'
import { telegram } from '../../../functions/channels/telegram.ts'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
import { type Answer, provider } from './provider.ts'
import { ALERT_ID, messageOf, NOTIFICATIONS, NOW } from './samples.ts'

const says = (status: number, body: string | object = '', headers = {}): Answer => ({
  status,
  body,
  headers,
})
const telegramSays = (error_code: number, description: string, parameters = {}) =>
  says(error_code, { ok: false, error_code, description, parameters })
const waits = { outcome: 'retry', throttled: true, counted: false }
const EDIT: Partial<Message> = { notification: NOTIFICATIONS['alert.ended'] }

/** Delivers once; each request gets the next answer. */
async function outcomeOf(kind: ChannelKind, answers: Answer[], over: Partial<Message> = {}) {
  const left = [...answers]
  const service = await provider(() => left.shift() ?? says(599))
  try {
    const outcome = await service.deliver(kind, messageOf(kind.kind, over))
    expect(JSON.stringify(outcome)).not.toContain('s3cr3t')
    expect('error' in outcome).toBe(outcome.outcome !== 'ok')
    return { outcome, received: service.received }
  } finally {
    service.close()
  }
}

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

describe('an update', () => {
  test('edits the message in Discord, or is a new one when that is gone', async () => {
    const over = { ...EDIT, remote_ref: '77', config: { thread_id: '148000000000000001' } }
    const edited = await outcomeOf(discord, [says(200, { id: '77' })], over)
    expect(edited.received[0]?.method).toBe('PATCH')
    expect(edited.received[0]?.path).toMatch(/\/messages\/77\?thread_id=148000000000000001$/)
    const gone = says(404, { code: 10008, message: 'Unknown Message' })
    const { outcome, received } = await outcomeOf(discord, [gone, says(200, { id: '78' })], over)
    expect(outcome).toMatchObject({ outcome: 'ok', remote_ref: '78' })
    expect(received.map(({ method }) => method)).toEqual(['PATCH', 'POST'])
    expect(received[1]?.path).toContain('?wait=true&thread_id=')
  })

  test('edits the message in Telegram, or is a new one when that cannot be edited', async () => {
    const over = { ...EDIT, remote_ref: '-1001234567890/7' }
    const lost = telegramSays(400, "Bad Request: message can't be edited")
    const sent = says(200, { ok: true, result: { message_id: 8, chat: { id: -1001234567890 } } })
    const { outcome, received } = await outcomeOf(telegram, [lost, sent], over)
    expect(outcome).toMatchObject({ outcome: 'ok', remote_ref: '-1001234567890/8' })
    expect(received.map(({ path }) => path.split('/').at(-1))).toEqual([
      'editMessageText',
      'sendMessage',
    ])
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ message_id: 7 })
  })

  test('goes to where a Telegram group has moved, and the channel with it', async () => {
    const moved = telegramSays(400, 'Bad Request: group chat was upgraded', {
      migrate_to_chat_id: -1009,
    })
    const sent = says(200, { ok: true, result: { message_id: 8, chat: { id: -1009 } } })
    const { outcome, received } = await outcomeOf(telegram, [moved, sent])
    expect(outcome).toMatchObject({ outcome: 'ok', new_target: '-1009', remote_ref: '-1009/8' })
    expect(JSON.parse(received[1]?.body ?? '').chat_id).toBe('-1009')
  })

  test('gives up when a service sends it on and on', async () => {
    const moved = (to: number) => telegramSays(400, 'moved', { migrate_to_chat_id: to })
    const { outcome, received } = await outcomeOf(telegram, [
      moved(-1),
      moved(-2),
      moved(-3),
      moved(-4),
    ])
    expect(outcome).toMatchObject({ outcome: 'retry', new_target: '-3' })
    expect(received).toHaveLength(3)
  })

  test('ends the incident in PagerDuty, also that of a source or a channel', async () => {
    const bodyOf = async (name: keyof typeof NOTIFICATIONS) =>
      JSON.parse(
        (await outcomeOf(pagerduty, [says(202)], { notification: NOTIFICATIONS[name] })).received[0]
          ?.body ?? '',
      )
    const raised = await bodyOf('alert.raised')
    expect(raised).toMatchObject({
      event_action: 'trigger',
      dedup_key: `watchpost-alert-${ALERT_ID}`,
    })
    for (const name of ['alert.ended', 'alert.retracted'] as const) {
      expect(await bodyOf(name)).toMatchObject({
        event_action: 'resolve',
        dedup_key: raised.dedup_key,
      })
    }
    for (const [begins, ends] of [
      ['zone.blind', 'zone.sighted'],
      ['channel.failing', 'channel.recovered'],
    ] as const) {
      const { event_action, dedup_key } = await bodyOf(begins)
      expect(event_action).toBe('trigger')
      expect(await bodyOf(ends)).toMatchObject({ event_action: 'resolve', dedup_key })
    }
  })

  test('has the sequence of its alert in ntfy, but for one that got worse', async () => {
    const idOf = async (name: keyof typeof NOTIFICATIONS) =>
      JSON.parse(
        (await outcomeOf(ntfy, [says(200, { id: '1' })], { notification: NOTIFICATIONS[name] }))
          .received[0]?.body ?? '',
      ).sequence_id
    expect(await idOf('alert.raised')).toBe(ALERT_ID)
    expect(await idOf('alert.ended')).toBe(ALERT_ID)
    for (const name of ['alert.escalated', 'alert.digest', 'channel.test'] as const) {
      expect(await idOf(name)).toBeUndefined()
    }
  })
})

const allow = parseAllowList(undefined)
const [D, T, P, N, M, O] = [discord, telegram, pagerduty, ntfy, teams, pushover].map(({ kind }) =>
  messageOf(kind),
) as [Message, Message, Message, Message, Message, Message]
const BASIC = { username: 'ops', password: 'Çok gizli: 1' }
const { app_token } = O.config as { app_token: string } // safe: of the samples
const ringing = (emergency: object) => ({ app_token, emergency })

test('ntfy is told a user and password as HTTP does it, in UTF-8', async () => {
  const { received } = await outcomeOf(ntfy, [says(200, { id: '1' })], { config: BASIC })
  const expected = Buffer.from('ops:Çok gizli: 1').toString('base64')
  expect(received[0]?.headers.authorization).toBe(`Basic ${expected}`)
  const open = await outcomeOf(ntfy, [says(200, { id: '1' })], { config: null })
  expect(open.received[0]?.headers).not.toHaveProperty('authorization')
  expect(ntfy.check({ target: N.target, config: BASIC, allow })).toEqual([])
})

describe('an emergency in Pushover', () => {
  const RINGS = ringing({ retry_seconds: 45, expire_seconds: 1800 })
  const sent = async (name: keyof typeof NOTIFICATIONS, over: Partial<Message> = {}) => {
    const notification = NOTIFICATIONS[name]
    const accepted = says(200, { status: 1, request: 'r1', receipt: 'R2' })
    const { outcome, received } = await outcomeOf(pushover, [accepted], {
      notification,
      config: RINGS,
      ...over,
    })
    const [{ path = '', body = '' } = {}] = received
    return { path, outcome, form: Object.fromEntries(new URLSearchParams(body)) }
  }

  test('rings until somebody has seen it, and has Pushover record that', async () => {
    const acknowledge_url = 'https://watch.example/links/acknowledge?token=abc'
    const { path, form, outcome } = await sent('alert.escalated', { acknowledge_url })
    expect(path).toBe('/1/messages.json')
    const rings = { priority: '2', retry: '45', expire: '1800', tags: ALERT_ID }
    expect(form).toMatchObject({ ...rings, callback: acknowledge_url })
    expect(outcome).toMatchObject({ outcome: 'ok', remote_ref: 'receipt:R2' })
    expect((await sent('alert.escalated')).form).not.toHaveProperty('callback')
    const byDefault = await sent('alert.escalated', { config: ringing({}) })
    expect(byDefault.form).toMatchObject({ priority: '2', retry: '60', expire: '3600' })
  })

  test('is only what is extreme, not seen yet, and chosen', async () => {
    expect((await sent('alert.raised')).form.priority).toBe('1')
    expect((await sent('alert.escalated', { config: O.config })).form.priority).toBe('1')
    const { alert, ...rest } = NOTIFICATIONS['alert.escalated']
    for (const more of [{ seen_at: NOW.toISOString() }, { resolved: true }]) {
      const notification = { ...rest, alert: { ...alert, ...more } }
      const { form } = await sent('alert.escalated', { notification })
      expect(form).not.toHaveProperty('retry')
    }
  })

  test('stops ringing when somebody has seen or resolved the alert in Watchpost', async () => {
    for (const name of ['alert.acknowledged', 'alert.resolved'] as const) {
      const { path, form } = await sent(name)
      expect(path).toBe(`/1/receipts/cancel_by_tag/${ALERT_ID}.json`)
      expect(Object.keys(form)).toEqual(['token'])
      const rang = await sent(name, { config: O.config, remote_ref: 'receipt:R2' })
      expect(rang.path).toBe(path)
      const quiet = await sent(name, { config: O.config, remote_ref: 'r1' })
      expect(quiet.path).toBe('/1/messages.json')
    }
    expect((await sent('alert.reopened')).path).toBe('/1/messages.json')
  })
})

test.each([
  [discord, D],
  [telegram, T],
  [pagerduty, P],
  [ntfy, N],
  [teams, M],
  [pushover, O],
])('$kind takes what it asks for, and masks it', (kind, { target, config }) => {
  expect(kind.check({ target, config, allow })).toEqual([])
  expect(kind.mask(target)).not.toBe(target)
  expect(kind.host(target, config)).toMatch(/^[a-z.0-9-]+(:443)?$/)
})

test.each<[ChannelKind, string, string, unknown, string, string]>([
  [
    discord,
    'another host',
    'https://discord.com.evil.example/api/webhooks/1/x',
    null,
    'wrong_host',
    'Copy Webhook URL',
  ],
  [discord, 'a page', 'https://discord.com/channels/1/2', null, 'page', 'not a webhook'],
  [discord, 'the form for Slack', `${D.target}/slack`, null, 'compatible_url', '/slack'],
  [
    discord,
    'half of it',
    'https://discord.com/api/webhooks/148000000000000000',
    null,
    'incomplete_url',
    'not complete',
  ],
  [discord, 'a query', `${D.target}?wait=true`, null, 'query', 'config.thread_id'],
  [discord, 'text', 'webhook', null, 'malformed', 'Copy Webhook URL'],
  [discord, 'a wrong thread', D.target, { thread_id: 'x' }, 'invalid_format', 'Copy Thread ID'],
  [telegram, 'the token', `123456789:${'A'.repeat(35)}`, T.config, 'token', 'config.bot_token'],
  [telegram, 'a link', 'https://t.me/watch', T.config, 'link', '@name'],
  [telegram, 'a name', 'watch', T.config, 'malformed', 'getUpdates'],
  [telegram, 'no token', T.target, null, 'invalid_type', '@BotFather'],
  [telegram, 'a wrong token', T.target, { bot_token: 'x' }, 'invalid_format', '@BotFather'],
  [pagerduty, 'a key of the REST API', 'u+abcdefghijklmnopqr', null, 'api_key', 'Events API V2'],
  [pagerduty, 'a URL', 'https://acme.pagerduty.com/services/P1', null, 'malformed', 'not a URL'],
  [pagerduty, 'a wrong region', P.target, { region: 'tr' }, 'invalid_value', '.eu'],
  [ntfy, 'no topic', 'https://ntfy.sh/', null, 'no_topic', 'my-topic'],
  [ntfy, 'more than a topic', 'https://ntfy.sh/a/b', null, 'no_topic', 'my-topic'],
  [
    ntfy,
    'a private server',
    'https://10.0.0.1/topic',
    null,
    'private_address',
    'ALLOW_PRIVATE_TARGETS',
  ],
  [ntfy, 'a user alone', N.target, { username: 'ops' }, 'custom', 'config.token'],
  [ntfy, 'a password alone', N.target, { password: 'x' }, 'custom', 'user whose password'],
  [ntfy, 'both', N.target, { ...BASIC, token: 'tk_abcdefghijklmnop' }, 'custom', 'either'],
  [ntfy, 'a wrong user', N.target, { ...BASIC, username: 'a:b' }, 'invalid_format', 'sign in'],
  [ntfy, 'another setting', N.target, { user: 'ops' }, 'unrecognized_keys', 'a username'],
  [pushover, 'fast rings', O.target, ringing({ retry_seconds: 29 }), 'too_small', 'every 30'],
  [pushover, 'a long ring', O.target, ringing({ expire_seconds: 10_801 }), 'too_big', '10800'],
  [
    pushover,
    'half a ring',
    O.target,
    ringing({ retry_seconds: 90, expire_seconds: 60 }),
    'custom',
    'retry_seconds',
  ],
  [pushover, 'a switch', O.target, { app_token, emergency: true }, 'invalid_type', '{}'],
  [ntfy, 'a wrong token', N.target, { token: 'secret' }, 'invalid_format', 'tk_'],
  [pushover, 'a mail address', 'x@pomail.net', O.config, 'malformed', 'mail address'],
  [pushover, 'no token', O.target, null, 'invalid_type', 'pushover.net/apps'],
  [pushover, 'a wrong token', O.target, { app_token: 'x' }, 'invalid_format', 'pushover.net/apps'],
  [pushover, 'the token twice', O.target, { app_token: O.target }, 'same', 'user key'],
])('$kind refuses %s with where to find the right one', (kind, _, target, config, code, says) => {
  const [issue, ...more] = kind.check({ target, config, allow })
  expect(issue?.code).toBe(code)
  expect(issue?.message).toContain(says)
  expect(more).toEqual([])
})
