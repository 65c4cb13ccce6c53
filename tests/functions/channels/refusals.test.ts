/** What every kind says when what somebody gives for a channel is not right: all its words, and what it takes. */
import { describe, expect, test } from 'vitest'
import { CHANNEL_KINDS } from '../../../functions/channels/kinds.ts'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
// As the service says it: with sentences of its own where a schema has none.
import '../../../shared/words/issue-words.ts'
import { RECEIVERS } from './samples.ts'

const allow = parseAllowList('10.0.0.0/8, relay')
const DISCORD = RECEIVERS.discord?.target ?? ''
const SLACK = RECEIVERS.slack?.target ?? ''
const TEAMS = RECEIVERS.teams?.target ?? ''
const TOKEN = `123456789:${'A'.repeat(35)}`
const USER = 'uQiRzpo4DXghDmr9QzzfQu27cmVRsG'

const TARGETS = [
  ...['', ' ', 'webhook', 'https://', 'http://hooks.example.org/a', 'https://hooks.example.org/a'],
  ...['https://a:b@hooks.example.org/a', 'https://hooks.example.org:8443/a', 'ftp://a.example/b'],
  ...['https://10.1.2.3/a', 'https://192.168.0.1/a', 'https://db.internal/a', 'http://relay/a'],
  ...[DISCORD, ` ${DISCORD}`, `${DISCORD}/slack`, `${DISCORD}/github/`, `${DISCORD}?wait=true`],
  ...[DISCORD.replace('discord.com/api', 'canary.discord.com/api/v10'), `${DISCORD}/more`],
  ...[DISCORD.replace('discord.com', 'discordapp.com'), DISCORD.replace('148', 'x148')],
  ...['https://discord.com/channels/1/2', 'https://discord.com/api/webhooks/148000000000000000'],
  ...[SLACK, `${SLACK}/more`, `${SLACK}?a=1`, 'https://hooks.slack.com/services/T0/B0'],
  ...['https://acme.slack.com/archives/C0', 'https://hooks.slack-gov.com/services/T0/B0/abc'],
  ...['https://hooks.slack.com/workflows/T0/A0/1/abc', 'xoxb-1234', '#alerts'],
  ...[TEAMS, TEAMS.replace(/&sig=.*/, ''), TEAMS.replace('/paths/invoke', '')],
  ...['https://acme.webhook.office.com/webhookb2/a', 'https://teams.microsoft.com/l/channel/a'],
  ...['https://prod-1.westeurope.logic.azure.com/workflows/a/triggers/manual/paths/invoke?sig=a'],
  ...['-1001234567890', '12345', '@watchpost', '@a', 'watchpost', 'https://t.me/watch', TOKEN],
  ...['ops@example.com', 'ops@localhost', 'ops@db.internal', '@example.com', 'a b@example.com'],
  ...['0123456789abcdef0123456789abcdef', 'u+abcdefghijklmnopqr', 'https://acme.pagerduty.com/a'],
  ...['https://ntfy.sh/', 'https://ntfy.sh/watch', 'https://ntfy.sh/a/b', 'https://ntfy.sh/a?b=1'],
  ...['https://ntfy.sh/a#b', `https://ntfy.sh/${'a'.repeat(65)}`, USER, `${USER}x`, 'x@pomail.net'],
  ...['mqtts://broker.example.org', 'mqtts://broker.example.org/a', 'mqtt://broker.example.org/a'],
  ...['mqtts://a:b@broker.example.org/a', 'mqtts://broker.example.org/a?b', 'mqtts:broker/a'],
  ...['mqtts://broker.example.org/%23', `mqtts://broker.example.org/${'a'.repeat(501)}`],
  ...['mqtts://broker.example.org/$SYS/a', 'mqtt://10.1.2.3/a', 'mqtts://192.168.0.1/a'],
  ...[RECEIVERS.webpush?.target ?? '', 'https://fcm.googleapis.com/fcm/send/a'],
]

const given = (kind: string) => RECEIVERS[kind]?.config
const keys = given('webpush') as object
const app_token = 'azGDORePK8gMaC0QOYAMyEEuzJnyUi'
const CONFIGS: unknown[] = [
  ...[undefined, null, {}, [], 'text', 7, { other: 1 }],
  ...[{ thread_id: '148000000000000001' }, { thread_id: 'x' }, { thread_id: `1${'0'.repeat(25)}` }],
  ...[{ bot_token: TOKEN }, { bot_token: 'x' }, { bot_token: TOKEN, thread_id: 1 }],
  ...[{ bot_token: TOKEN, thread_id: 0 }, { bot_token: `${TOKEN}\n` }],
  ...[{ region: 'eu' }, { region: 'tr' }, { token: 'tk_abcdefghijklmnop' }, { token: 'secret' }],
  ...[{ username: 'ops' }, { password: 'x' }, { username: 'ops', password: 'x' }],
  ...[
    { username: 'a:b', password: 'x' },
    { username: 'ops', password: 'a\nb' },
  ],
  ...[
    { username: '', password: '' },
    { username: 'ops', password: 'x', token: 'tk_abcdefghijkl' },
  ],
  ...[{ app_token }, { app_token: USER }, { app_token: 'x' }, { app_token, device: 'phone' }],
  ...[
    { app_token, device: 'a b' },
    { app_token, device: 'a'.repeat(26) },
  ],
  ...[
    { app_token, emergency: {} },
    { app_token, emergency: true },
  ],
  ...[
    { app_token, emergency: { retry_seconds: 29 } },
    { app_token, emergency: { retry_seconds: 90, expire_seconds: 60 } },
    { app_token, emergency: { expire_seconds: 10_801 } },
    { app_token, emergency: { other: 1 } },
  ],
  ...[{ qos: 0 }, { qos: 2, retain: true }, { retain: 'yes' }],
  ...[keys, { ...keys, auth: 'x' }, { ...keys, p256dh: 'x' }, { ...keys, other: 1 }],
  ...[{ headers: { 'x-a': 'b' } }, { headers: { Host: 'a' } }, { headers: { 'a b': 'c' } }],
  ...[{ headers: { 'x-a': 'b\nc' } }, { headers: { 'webhook-id': 'a' } }, { headers: 'x' }],
]

/** A line for what is said, and below it for which of the given. */
function said<T>(all: readonly T[], check: (one: T) => string, shown: (one: T) => string): string {
  return [...Map.groupBy(all, check)]
    .map(
      ([words, some]) => `${words || 'takes'}\n${some.map((one) => `  ${shown(one)}\n`).join('')}`,
    )
    .join('')
}

describe.each([...CHANNEL_KINDS.values()])('$kind', (kind) => {
  const right = RECEIVERS[kind.kind]
  const say = (target: string, config: unknown) =>
    kind
      .check({ target, config, allow })
      .map(({ path, code, message }) => `${path} ${code}: ${message}`)
      .join('\n')

  test('says of every target and config what is wrong with it', async () => {
    const target =
      right?.target ?? (kind.kind === 'mqtt' ? 'mqtts://a.example.org/b' : 'https://a.example.org/')
    const long = (text: string) => (text.length > 150 ? `${text.slice(0, 60)}…` : text)
    const targets = said(
      TARGETS,
      (one) => say(one, right?.config),
      (one) => long(JSON.stringify(one)),
    )
    const configs = said(
      CONFIGS,
      (one) => say(target, one),
      (one) => long(JSON.stringify(one) ?? 'none'),
    )
    await expect(`${targets}\n${configs}`).toMatchFileSnapshot(`golden/refusals/${kind.kind}.txt`)
  })

  test('shows of a target what tells it from others, and nothing that is secret', async () => {
    const masks = [...new Set(TARGETS.filter((target) => say(target, right?.config) === ''))].map(
      (target) => `${kind.mask(target)}, ${kind.host(target, right?.config)}\n`,
    )
    await expect(masks.join('')).toMatchFileSnapshot(`golden/refusals/${kind.kind}.masks.txt`)
  })
})
