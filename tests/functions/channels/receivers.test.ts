/** Which addresses and settings a channel of each kind takes, to the last character. */
import { describe, expect, test } from 'vitest'
import { CHANNEL_KINDS } from '../../../functions/channels/kinds.ts'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
import { messageOf, RECEIVERS } from './samples.ts'

const allow = parseAllowList(undefined)

function codes(name: string, target: string, config: unknown = RECEIVERS[name]?.config ?? null) {
  const kind = CHANNEL_KINDS.get(name)
  if (!kind) throw new Error(`there is no ${name}`)
  return kind.check({ target, config, allow }).map(({ path, code }) => `${path} ${code}`)
}
const targetOf = (name: string) => messageOf(name).target

const HOOK = '/api/webhooks/148000000000000000'
const TOKEN = 's3cr3t-s3cr3t-s3cr3t'
const SLACK = '/services/T0000AAAA/B0000BBBB/abcdefghijklmnopqrstuvwx'

describe('the target of a channel is taken when it is', () => {
  test.each([
    ...['discord.com', 'discordapp.com', 'ptb.discord.com', 'canary.discord.com'].map(
      (host): [string, string] => ['discord', `https://${host}${HOOK}/${TOKEN}`],
    ),
    ['discord', `https://discord.com/api/v10/webhooks/148000000000000000/${TOKEN}`],
    ['discord', `https://discord.com/api/webhooks/${'1'.repeat(15)}/slack${TOKEN}`],
    ['discord', `https://discord.com/api/webhooks/${'1'.repeat(25)}/${TOKEN}`],
    ['telegram', '1'],
    ['telegram', '-12345678901234567890'],
    ['telegram', '@wat5'],
    ['telegram', `@w${'_'.repeat(31)}`],
    ['ntfy', `https://ntfy.sh/${'a'.repeat(64)}`],
    ['ntfy', 'https://ntfy.example.com:8443/Alerts_of-1'],
    ['teams', targetOf('teams').replace('/invoke?', '/invoke/?')],
    ['webpush', 'https://push.services.mozilla.com/wpush/v2/a'],
    ['webpush', 'https://push.apple.com/a'],
    ['webpush', 'https://notify.windows.com/a'],
    ['webpush', 'https://fcm.googleapis.com/fcm/send/a'],
    ...['api-1.push.apple.com', 'wns2-by3p.notify.windows.com'].map((host): [string, string] => [
      ...(['webpush', `https://${host}/a`] as const),
    ]),
    ['slack', 'https://hooks.slack.com/services/T0A/B0A/a9Z'],
    ['teams', targetOf('teams').replace(/default[^/]*/, 'prod-1.westeurope.logic.azure.com')],
    ['pagerduty', 'aZ09'.repeat(8)],
    ['pushover', `aZ09${'u'.repeat(26)}`],
  ])('of %s: %s', (name, target) => {
    expect(codes(name, target)).toEqual([])
  })
})

describe('the target of a channel is refused when it is', () => {
  test.each([
    ['discord', `https://discord.com/x${HOOK}/${TOKEN}`, 'incomplete_url'],
    ['discord', `https://discord.com${HOOK}/${TOKEN}/messages/1`, 'incomplete_url'],
    ['discord', `https://discord.com${HOOK}/${TOKEN.slice(1)}`, 'incomplete_url'],
    ['discord', `https://discord.com/api/v/webhooks/148000000000000000/${TOKEN}`, 'incomplete_url'],
    ['discord', `https://discord.com/api/webhooks/${'1'.repeat(14)}/${TOKEN}`, 'incomplete_url'],
    ['discord', `https://discord.com/api/webhooks/${'1'.repeat(26)}/${TOKEN}`, 'incomplete_url'],
    ['discord', `https://discord.com${HOOK}/${TOKEN}/github/`, 'compatible_url'],
    ['discord', `https://evil-discord.com${HOOK}/${TOKEN}`, 'wrong_host'],
    ['discord', `http://discord.com${HOOK}/${TOKEN}`, 'malformed'],
    ['discord', `https://me:pw@discord.com${HOOK}/${TOKEN}`, 'malformed'],
    ['discord', `https://discord.com:8443${HOOK}/${TOKEN}`, 'malformed'],
    ['slack', `https://hooks.slack.com${SLACK}/more`, 'incomplete_url'],
    ['slack', `https://hooks.slack.com/x${SLACK}`, 'incomplete_url'],
    ['slack', 'https://hooks.slack.com/workflows/T0/A1/2/abc', 'workflow_url'],
    ['slack', `https://evil.example/workflows/T0`, 'wrong_host'],
    ['slack', `https://evilslack.com${SLACK}`, 'wrong_host'],
    ['slack', `https://me:pw@hooks.slack.com${SLACK}`, 'malformed'],
    ['teams', targetOf('teams').replace('/invoke?', '/invoke/x?'), 'incomplete_url'],
    ['teams', targetOf('teams').replace('https://', 'https://me:pw@'), 'malformed'],
    ['teams', 'https://logic.azure.com/workflows/a/triggers/b/paths/invoke?sig=c', 'wrong_host'],
    ['teams', 'https://outlook.office365.com/webhook/1', 'retired_connector'],
    ['teams', 'https://teams.cloud.microsoft/l/channel/1', 'page'],
    ['telegram', '123456789012345678901', 'malformed'],
    ['telegram', '1x', 'malformed'],
    ['telegram', 'x1', 'malformed'],
    ['telegram', '--1', 'malformed'],
    ['telegram', '@wat', 'malformed'],
    ['telegram', '@1watch', 'malformed'],
    ['telegram', 'x@watch', 'malformed'],
    ['telegram', '@watch/1', 'malformed'],
    ['telegram', `@w${'_'.repeat(32)}`, 'malformed'],
    ['telegram', 'https://telegram.me/watch', 'link'],
    ['pagerduty', 'a'.repeat(31), 'malformed'],
    ['pagerduty', 'a'.repeat(33), 'malformed'],
    ['pagerduty', `${'a'.repeat(31)}-`, 'malformed'],
    ['pagerduty', `${'a'.repeat(21)}+`, 'malformed'],
    ['pushover', 'u'.repeat(29), 'malformed'],
    ['pushover', 'u'.repeat(31), 'malformed'],
    ['pushover', `${'u'.repeat(29)}-`, 'malformed'],
    ['ntfy', `https://ntfy.sh/${'a'.repeat(65)}`, 'no_topic'],
    ['ntfy', 'https://ntfy.sh/a.b', 'no_topic'],
    ['ntfy', 'https://ntfy.sh/topic?auth=x', 'no_topic'],
    ['ntfy', 'https://ntfy.sh/topic#x', 'no_topic'],
    ['ntfy', 'http://ntfy.sh/topic', 'plain_http'],
    ['webpush', 'https://evilpush.services.mozilla.com/a', 'wrong_host'],
    ['webpush', 'https://push.services.mozilla.com.evil.example/a', 'wrong_host'],
    ['webpush', 'https://evilnotify.windows.com/a', 'wrong_host'],
    ['webpush', 'https://notify.windows.com.evil.example/a', 'wrong_host'],
    ['webpush', 'https://push.apple.com.evil.example/a', 'wrong_host'],
    ['webpush', 'https://fcm.googleapis.com:8443/a', 'malformed'],
    ...[
      ...['xfcm.googleapis.com', 'fcm.googleapis.com.evil.example', 'fcmxgoogleapis.com'],
      ...['a.fcm.googleapis.com', 'fcm.googleapisxcom.example', 'pushxservices.mozilla.com'],
      ...[
        'push.servicesxmozilla.com',
        'a_b.push.apple.com',
        'pushxapple.com',
        'notifyxwindows.com',
      ],
    ].map((host): [string, string, string] => ['webpush', `https://${host}/a`, 'wrong_host']),
    ['slack', 'https://hooks.slack.com/services/t0/B0/abc', 'incomplete_url'],
    ['slack', 'https://hooks.slack.com/services/T0/b0/abc', 'incomplete_url'],
    ['slack', 'https://hooks.slack.com/services/T0/B0/a-c', 'incomplete_url'],
    ['slack', 'https://hooks.slack.com/services/T/B/a', 'incomplete_url'],
    ['slack', 'https://hooks.slack.com/x/workflows/T0', 'incomplete_url'],
    ['slack', 'https://slack.com/archives/C0', 'wrong_host'],
    ['slack', 'https://hooks.slack.com/triggers/T0/1', 'workflow_url'],
    ['discord', `https://discord.com/x/channels/1/2`, 'incomplete_url'],
    ['discord', `https://discord.com${HOOK}/${TOKEN}/slackx`, 'incomplete_url'],
    ['discord', `https://discord.com${HOOK}/${TOKEN}/slack/x`, 'incomplete_url'],
    [
      'discord',
      `https://discord.com/api/v1x/webhooks/148000000000000000/${TOKEN}`,
      'incomplete_url',
    ],
    ['discord', `https://discord.com${HOOK}/${TOKEN}.x`, 'incomplete_url'],
    ...[
      ...['a.webhook.office.com', 'outlook.office.com'].map((host) => [host, 'retired_connector']),
      ...['webhook.office.com', 'xoutlook.office.com', 'outlook.office36.com'],
      ...['outlook.office.com.evil.example', 'teams.microsoft.com.evil.example'],
      ...['xteams.microsoft.com', 'logic.azure.com.evil.example', 'a.logicxazure.com'],
    ].map((given): [string, string, string] => {
      const [host, code = 'wrong_host'] = [given].flat()
      return ['teams', `https://${host}/workflows/a/triggers/b/paths/invoke?sig=c`, code]
    }),
    ['teams', 'https://a.teams.microsoft.com/l/channel/1', 'page'],
    ['teams', 'https://make.powerautomate.com/a', 'page'],
    ...[
      ...['/workflows//triggers/b/paths/invoke', '/workflows/a/triggers//paths/invoke'],
      ...['/workflows/a/b/triggers/c/paths/invoke', '/workflows/a/triggers/b/c/paths/invoke'],
    ].map((path): [string, string, string] => [
      ...(['teams', `https://a.logic.azure.com${path}?sig=c`, 'incomplete_url'] as const),
    ]),
    ['pagerduty', 'a'.repeat(20), 'api_key'],
    ['pagerduty', 'aZ09+_-'.padEnd(20, 'x'), 'api_key'],
    ['pagerduty', 'a'.repeat(19), 'malformed'],
    ['pagerduty', `${'a'.repeat(19)}.`, 'malformed'],
    ['telegram', 'https://t.me/watch', 'link'],
    ['telegram', 'https://telegramxme/watch', 'malformed'],
  ])('of %s: %s', (name, target, code) => {
    expect(codes(name, target)).toEqual([`target ${code}`])
  })
})

const key = (length: number) => Buffer.alloc(length, 4).toString('base64url')
const PUSHOVER = { app_token: 'a'.repeat(30) }
const BOT = { bot_token: `123456789:${'a'.repeat(35)}` }
const rings = (retry_seconds: number, expire_seconds: number) => ({
  ...PUSHOVER,
  emergency: { retry_seconds, expire_seconds },
})
const header = (name: string, value = 'a') => ({ headers: { [name]: value } })

test.each<[string, unknown]>([
  ['discord', { thread_id: '1'.repeat(15) }],
  ['discord', { thread_id: '1'.repeat(25) }],
  ['telegram', { ...BOT, thread_id: 1 }],
  ['telegram', { bot_token: `123456:${'-'.repeat(30)}` }],
  ['telegram', { bot_token: `${'1'.repeat(16)}:${'_'.repeat(64)}` }],
  ['pagerduty', { region: 'us' }],
  ['pagerduty', null],
  ['pushover', { ...PUSHOVER, device: 'a' }],
  ['pushover', { ...PUSHOVER, device: 'My-phone_1'.padEnd(25, 'x') }],
  ['pushover', rings(30, 30)],
  ['pushover', rings(10_800, 10_800)],
  ['ntfy', { token: `tk_${'a'.repeat(10)}` }],
  ['ntfy', { token: `tk_${'a'.repeat(60)}` }],
  ['ntfy', { username: 'a'.repeat(64), password: 'ö'.repeat(200) }],
  ['webpush', { p256dh: `${key(65)}=`, auth: `${key(16)}==` }],
  ['webhook', header('x'.repeat(100), 'a'.repeat(4096))],
  ['mqtt', { username: 'a'.repeat(500), password: 'a'.repeat(500) }],
])('a channel of %s may have the settings %j', (name, config) => {
  expect(codes(name, TARGETS[name] ?? targetOf(name), config)).toEqual([])
})
const TARGETS: Record<string, string> = {
  webhook: 'https://hooks.example.org/a',
  mqtt: 'mqtts://broker.example.org/a',
}

test.each<[string, unknown, string]>([
  ['discord', { thread_id: '1'.repeat(14) }, 'thread_id invalid_format'],
  ['discord', { thread_id: '1'.repeat(26) }, 'thread_id invalid_format'],
  ['discord', { thread_id: `${'1'.repeat(15)}&wait=false` }, 'thread_id invalid_format'],
  ['telegram', { ...BOT, thread_id: 0 }, 'thread_id too_small'],
  ['telegram', { ...BOT, thread_id: 1.5 }, 'thread_id invalid_type'],
  ['telegram', { bot_token: `123456789:${'a'.repeat(29)}` }, 'bot_token invalid_format'],
  ['telegram', { bot_token: `123456789:${'a'.repeat(65)}` }, 'bot_token invalid_format'],
  ['telegram', { bot_token: `12345:${'a'.repeat(35)}` }, 'bot_token invalid_format'],
  ['telegram', { bot_token: `${BOT.bot_token}/x` }, 'bot_token invalid_format'],
  ['telegram', { bot_token: `x/${BOT.bot_token}` }, 'bot_token invalid_format'],
  ['pushover', { app_token: 'a'.repeat(31) }, 'app_token invalid_format'],
  ['pushover', { ...PUSHOVER, device: 'a'.repeat(26) }, 'device invalid_format'],
  ['pushover', { ...PUSHOVER, device: '' }, 'device invalid_format'],
  ['pushover', { ...PUSHOVER, device: 'a,b' }, 'device invalid_format'],
  ['ntfy', { token: `tk_${'a'.repeat(9)}` }, 'token invalid_format'],
  ['ntfy', { token: `tk_${'a'.repeat(61)}` }, 'token invalid_format'],
  ['ntfy', { username: 'a'.repeat(65), password: 'x' }, 'username invalid_format'],
  ['webpush', { p256dh: key(66), auth: key(16) }, 'p256dh custom'],
  ['webpush', { p256dh: key(65), auth: key(15) }, 'auth custom'],
  ['webpush', { p256dh: key(65), auth: key(17) }, 'auth custom'],
  ['webpush', { p256dh: key(65), auth: `${key(16)}===` }, 'auth custom'],
  ['webhook', header('x'.repeat(101)), `headers.${'x'.repeat(101)} invalid_key`],
  ['webhook', header('x', 'a'.repeat(4097)), 'headers.x too_big'],
  ...[
    ...['content-encoding', 'user-agent', 'expect', 'date', 'keep-alive', 'proxy-connection'],
    ...['proxy-authenticate', 'proxy-authorization', 'trailer', 'upgrade', 'Webhook-Timestamp'],
  ].map((name): [string, unknown, string] => [
    'webhook',
    header(name),
    `headers.${name} invalid_key`,
  ]),
  ['mqtt', { username: 'a'.repeat(501) }, 'username too_big'],
  ['mqtt', { password: 'a'.repeat(501) }, 'password too_big'],
  ['mqtt', { password: '' }, 'password too_small'],
])('a channel of %s may not have the settings %j', (name, config, issue) => {
  expect(codes(name, TARGETS[name] ?? targetOf(name), config)).toEqual([`config.${issue}`])
})

test('a channel is shown to others without what is secret in its target', () => {
  const shown = Object.keys(RECEIVERS).map((name) => [
    name,
    CHANNEL_KINDS.get(name)?.mask(targetOf(name)),
  ])
  expect(Object.fromEntries(shown)).toEqual({
    email: '…@example.com',
    webpush: 'https://updates.push.services.mozilla.com/…',
    slack: 'https://hooks.slack.com/…',
    discord: 'https://discord.com/…',
    telegram: '…890',
    pagerduty: '…cdef',
    teams: 'https://default0123456789.ab.environment.api.powerplatform.com/…',
    pushover: '…VRsG',
    ntfy: 'https://ntfy.sh/…',
  })
  expect(CHANNEL_KINDS.get('telegram')?.mask('1234567')).toBe('…')
  expect(CHANNEL_KINDS.get('telegram')?.mask('12345678')).toBe('…678')
  expect(CHANNEL_KINDS.get('pagerduty')?.mask('a'.repeat(19))).toBe('…')
})
