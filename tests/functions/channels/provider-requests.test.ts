/** What each service is asked, and what its channels take. */
import { describe, expect, test } from 'vitest'
import type { ChannelKind, Message } from '../../../functions/channels/channel.ts'
import { discord } from '../../../functions/channels/discord.ts'
import { ntfy } from '../../../functions/channels/ntfy.ts'
import { pagerduty } from '../../../functions/channels/pagerduty.ts'
import { pushover } from '../../../functions/channels/pushover.ts'
import { teams } from '../../../functions/channels/teams.ts'
import { telegram } from '../../../functions/channels/telegram.ts'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
import { outcomeOf, says, telegramSays } from './provider.ts'
import { ALERT_ID, messageOf, NOTIFICATIONS, NOW } from './samples.ts'

const EDIT: Partial<Message> = { notification: NOTIFICATIONS['alert.ended'] }

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
  [ntfy, 'no password', N.target, { ...BASIC, password: '' }, 'invalid_format', 'password'],
  [ntfy, 'two lines', N.target, { ...BASIC, password: 'a\nb' }, 'invalid_format', 'password'],
  [ntfy, 'a last line', N.target, { ...BASIC, password: 'a\n' }, 'invalid_format', 'password'],
  [ntfy, 'a first line', N.target, { ...BASIC, password: '\na' }, 'invalid_format', 'password'],
  [
    ntfy,
    'a novel',
    N.target,
    { ...BASIC, password: 'x'.repeat(201) },
    'invalid_format',
    'password',
  ],
  [ntfy, 'half a token', N.target, { token: `x tk_${'a'.repeat(20)}` }, 'invalid_format', 'tk_'],
  [
    ntfy,
    'more than a token',
    N.target,
    { token: `tk_${'a'.repeat(20)} x` },
    'invalid_format',
    'tk_',
  ],
  [ntfy, 'a user first', N.target, { ...BASIC, username: ':b' }, 'invalid_format', 'sign in'],
  [ntfy, 'a user last', N.target, { ...BASIC, username: 'a:' }, 'invalid_format', 'sign in'],
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

test.each([
  ['a user alone', ntfy, N.target, { username: 'ops' }, 'config.password'],
  ['a password alone', ntfy, N.target, { password: 'x' }, 'config.username'],
  ['both', ntfy, N.target, { ...BASIC, token: 'tk_abcdefghijklmnop' }, 'config.token'],
  ['no token', pushover, O.target, null, 'config.app_token'],
  ['the token twice', pushover, O.target, { app_token: O.target }, 'target'],
  [
    'fast rings',
    pushover,
    O.target,
    ringing({ retry_seconds: 29 }),
    'config.emergency.retry_seconds',
  ],
])('%s is told of its field', (_, kind, target, config, path) => {
  expect(kind.check({ target, config, allow }).map((issue) => issue.path)).toEqual([path])
})
