/** What each kind of channel does with every message: how fast, how urgently, and with which headers. */
import { describe, expect, test } from 'vitest'
import type {
  AnyKind,
  Classification,
  Message,
  Notification,
} from '../../../functions/channels/channel.ts'
import { CHANNEL_KINDS, deliver, findKind } from '../../../functions/channels/kinds.ts'
import type { SendResult } from '../../../functions/channels/transport/send.ts'
import { alertOf, messageOf, NOTIFICATIONS, RECEIVERS } from './samples.ts'

const VERSION = /^Watchpost\/\d+\.\d+\.\d+/

test('each kind has the pace that its service bears, and is tried as long as its readers want', () => {
  const paces = [...CHANNEL_KINDS.values()].map(({ kind, schedule, pace, bundles = true }) => {
    const fast = pace ? `${pace.messages} in ${pace.per_seconds} s` : 'at once'
    return `${kind}: ${schedule}, ${fast}${bundles ? '' : ', each alone'}`
  })
  expect(paces).toEqual([
    'webhook: webhook, 10 in 1 s',
    'slack: message, 1 in 1 s',
    'discord: message, 5 in 2 s',
    'telegram: message, 20 in 60 s',
    'email: message, 1 in 2 s',
    'pagerduty: message, 1 in 1 s, each alone',
    'ntfy: message, 1 in 5 s',
    'teams: message, 4 in 4 s',
    'pushover: message, 1 in 1 s',
    'mqtt: webhook, at once',
    'webpush: message, at once',
  ])
})

test('each kind shares its limits with the channels at the same host', () => {
  const hosts = Object.keys(RECEIVERS).map((name) => {
    const { target, config } = messageOf(name)
    return [name, CHANNEL_KINDS.get(name)?.host(target, config)]
  })
  expect(Object.fromEntries(hosts)).toEqual({
    email: 'mail',
    webpush: 'updates.push.services.mozilla.com',
    slack: 'hooks.slack.com',
    discord: 'discord.com',
    telegram: 'api.telegram.org',
    pagerduty: 'events.eu.pagerduty.com',
    teams: 'default0123456789.ab.environment.api.powerplatform.com',
    pushover: 'api.pushover.net',
    ntfy: 'ntfy.sh',
  })
})

async function sent(name: string, over: Parameters<typeof messageOf>[1] = {}) {
  const request = await CHANNEL_KINDS.get(name)?.render(messageOf(name, over))
  if (!request || !('headers' in request)) throw new Error(`${name} is not sent by HTTP`)
  const { headers, body } = request
  const fields = name === 'pushover' ? Object.fromEntries(new URLSearchParams(body)) : null
  return { ...request, headers, fields: fields ?? JSON.parse(body) }
}

test.each([
  ['slack', 'application/json'],
  ['discord', 'application/json'],
  ['telegram', 'application/json'],
  ['pagerduty', 'application/json'],
  ['ntfy', 'application/json'],
  ['teams', 'application/json'],
  ['pushover', 'application/x-www-form-urlencoded'],
])('a request to %s is %s and says whose it is', async (name, type) => {
  const { headers } = await sent(name)
  expect(headers).toMatchObject({
    'content-type': type,
    'user-agent': expect.stringMatching(VERSION),
  })
})

describe('an alert is as urgent as it is bad', () => {
  const ofSeverity = (severity: number): { notification: Notification } => ({
    notification: { ...NOTIFICATIONS['alert.raised'], alert: alertOf({ severity }), facts: {} },
  })
  const BANDS = [19, 20, 40, 60, 80]
  const each = <T>(take: (over: { notification: Notification }) => Promise<T>) =>
    Promise.all(BANDS.map((severity) => take(ofSeverity(severity))))

  test('by Pushover, ntfy, PagerDuty and a browser', async () => {
    expect(await each(async (over) => (await sent('pushover', over)).fields.priority)).toEqual([
      ...['-1', '-1', '0', '1', '1'],
    ])
    expect(await each(async (over) => (await sent('ntfy', over)).fields.priority)).toEqual([
      ...[2, 2, 3, 4, 5],
    ])
    const severityOf = async (over: object) =>
      (await sent('pagerduty', over)).fields.payload.severity
    expect(await each(severityOf)).toEqual(['info', 'info', 'warning', 'error', 'critical'])
    const browser = CHANNEL_KINDS.get('webpush')
    const urgency = async (over: object) => browser?.render(messageOf('webpush', over))
    expect(await each(urgency)).toMatchObject(
      ['normal', 'normal', 'high', 'high', 'high'].map((urgency) => ({ urgency })),
    )
  })

  test('in its colour and sign', async () => {
    const colourOf = async (over: object) => (await sent('discord', over)).fields.embeds[0].color
    expect(await each(colourOf)).toEqual([0x9ca3af, 0x22a06b, 0xeab308, 0xf97316, 0xdc2626])
    const styleOf = async (over: object) =>
      (await sent('teams', over)).fields.attachments[0].content.body[0].style
    const looks = ['default', 'default', 'warning', 'attention', 'attention']
    expect(await each(styleOf)).toEqual(looks)
    const signOf = async (over: object) => [...(await sent('slack', over)).fields.text][0]
    expect(await each(signOf)).toEqual(['⚪', '🟢', '🟡', '🟠', '🔴'])
  })

  test('in Telegram with a sound, unless it is over', async () => {
    const isSilent = async (over: object) => (await sent('telegram', over)).fields
    expect((await isSilent(ofSeverity(10))).disable_notification).toBe(false)
    const over = { notification: NOTIFICATIONS['alert.ended'] }
    expect((await isSilent(over)).disable_notification).toBe(true)
  })
})

describe('where a channel has it set, a message goes', () => {
  test('to the topic of a Telegram group', async () => {
    const config = { bot_token: `123456789:${'a'.repeat(35)}`, thread_id: 12 }
    const first = await sent('telegram', { config })
    expect(first.fields).toMatchObject({ chat_id: '-1001234567890', message_thread_id: 12 })
    expect((await sent('telegram')).fields).not.toHaveProperty('message_thread_id')
    const notification = NOTIFICATIONS['alert.ended']
    // What does not name a message is no reason to edit one.
    for (const remote_ref of ['-100/7x', 'x-100/7', '-100/', '7']) {
      const { url } = await sent('telegram', { notification, remote_ref })
      expect(url).toMatch(/\/sendMessage$/)
    }
  })

  test('to one device of Pushover', async () => {
    const config = { app_token: 'a'.repeat(30), device: 'phone' }
    expect((await sent('pushover', { config })).fields.device).toBe('phone')
    expect((await sent('pushover')).fields).not.toHaveProperty('device')
  })

  test('to Pushover with a ring only when an alert is new or got worse', async () => {
    const config = { app_token: 'a'.repeat(30), emergency: {} }
    const priorityOf = async (type: Notification['type']) => {
      const alert = alertOf({ severity: 90 })
      const notification = { ...NOTIFICATIONS['alert.raised'], type, alert, facts: {} }
      return (await sent('pushover', { config, notification })).fields.priority
    }
    const types = ['alert.raised', 'alert.escalated', 'alert.revised', 'alert.reopened'] as const
    expect(await Promise.all(types.map(priorityOf))).toEqual(['2', '2', '1', '1'])
  })

  test('to the region of PagerDuty', async () => {
    const urlOf = async (config: object | null) => (await sent('pagerduty', { config })).url
    expect(await urlOf({ region: 'eu' })).toBe('https://events.eu.pagerduty.com/v2/enqueue')
    expect(await urlOf({ region: 'us' })).toBe('https://events.pagerduty.com/v2/enqueue')
    expect(await urlOf(null)).toBe('https://events.pagerduty.com/v2/enqueue')
    expect(CHANNEL_KINDS.get('pagerduty')?.host('', null)).toBe('events.pagerduty.com')
  })
})

describe('an incident of PagerDuty', () => {
  const eventOf = async (notification: Notification) =>
    (await sent('pagerduty', { notification })).fields.event_action
  const about = (type: Notification['type'], given: Parameters<typeof alertOf>[0]) =>
    ({ ...NOTIFICATIONS['alert.raised'], type, alert: alertOf(given), facts: {} }) as const

  test('is not opened for what is over before its message is sent', async () => {
    const resolved = { more: { resolved: true } }
    expect(await eventOf(about('alert.raised', resolved))).toBe('resolve')
    for (const type of ['alert.digest', 'alert.reopened'] as const) {
      const alert = alertOf({ status: 'ended' })
      const over = { ...about(type, { status: 'ended' }), alerts: [alert] }
      expect(await eventOf(over)).toBe('resolve')
      expect(await eventOf({ ...over, ...about(type, {}), alerts: [alertOf()] })).toBe('trigger')
    }
    expect(await eventOf(about('alert.acknowledged', {}))).toBe('acknowledge')
  })
})

test('a click on a notification of a browser leads somewhere, whatever it is about', async () => {
  const navigate = async (over: object) => {
    const message = messageOf('webpush', { notification: NOTIFICATIONS['channel.test'], ...over })
    const request = await CHANNEL_KINDS.get('webpush')?.render(message)
    return JSON.parse(String(request && 'payload' in request && request.payload)).notification
      .navigate
  }
  expect(await navigate({})).toBe('https://watch.example')
  expect(await navigate({ public_url: null })).toBe('https://www.openstreetmap.org/')
  expect(await navigate({ notification: NOTIFICATIONS['alert.raised'] })).toContain('mlat=40.87')
})

test('a kind that does not exist is answered with those that do', () => {
  expect(findKind('pigeon')).toEqual({
    issue: {
      path: 'kind',
      code: 'unavailable_kind',
      message:
        'The channel kind "pigeon" does not exist. Use "webhook", "slack", "discord", "telegram", "email", "pagerduty", "ntfy", "teams", "pushover", "mqtt" or "webpush".',
    },
  })
  expect(findKind('ntfy')).toEqual({ kind: CHANNEL_KINDS.get('ntfy') })
})

describe('a message is sent', () => {
  const ANSWER: SendResult = {
    ...{ ok: true, status: 200, body: 'thanks', duration_ms: 12_345 },
    headers: new Headers({ 'x-request-id': 'r1' }),
  }
  /** Sends by a kind that makes of each answer the next of these; answers where it went, and what came of it. */
  async function sent(meant: Partial<Classification>[], over: Partial<Message> = {}) {
    const went: string[] = []
    const left = [...meant]
    const kind = {
      kind: 'test',
      render: async ({ target, remote_ref }: Message) => {
        went.push(`${target} ${remote_ref}`)
        return { url: target, method: 'POST', headers: {}, body: '' }
      },
      classify: () => ({ outcome: 'retry', throttled: false, counted: true, ...left.shift() }),
    } as unknown as AnyKind // safe: what sending needs of a kind
    const message = { ...messageOf('ntfy'), target: 'a', remote_ref: 'first', ...over }
    const outcome = await deliver(kind, message, { send: async () => ANSWER })
    return { went, outcome }
  }

  test('once, and its outcome has what the receiver said and how long that took', async () => {
    const { went, outcome } = await sent([{ outcome: 'ok' }])
    expect(went).toEqual(['a first'])
    expect(outcome).toEqual({
      ...{ outcome: 'ok', throttled: false, counted: true, duration_ms: 12_345 },
      ...{ response_excerpt: 'thanks', request_id: 'r1' },
    })
  })

  test('anew, where the one that it was to change is gone, and that takes its own time', async () => {
    const { went, outcome } = await sent([{ is_gone: true }, { outcome: 'ok' }])
    expect(went).toEqual(['a first', 'a null'])
    expect(outcome).toMatchObject({ outcome: 'ok' })
    expect(outcome.duration_ms).toBeLessThan(12_345)
    expect(outcome.duration_ms).toBeGreaterThanOrEqual(0)
    expect(outcome).not.toHaveProperty('new_target')
  })

  test('once, where there was none to change', async () => {
    const { went } = await sent([{ is_gone: true }, { outcome: 'ok' }], { remote_ref: null })
    expect(went).toEqual(['a null'])
  })

  test('to where the receiver is now, as the same message, and no more than twice', async () => {
    const moves = ['b', 'c', 'd', 'e'].map((new_target) => ({ new_target }))
    const { went, outcome } = await sent(moves)
    expect(went).toEqual(['a first', 'b first', 'c first'])
    expect(outcome.new_target).toBe('d')
    const stays = await sent([{ new_target: 'b' }, { outcome: 'ok' }])
    expect(stays.outcome).toMatchObject({ outcome: 'ok', new_target: 'b' })
    expect((await sent([{ new_target: 'a' }, { outcome: 'ok' }])).went).toEqual(['a first'])
  })
})
