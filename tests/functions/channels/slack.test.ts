import { describe, expect, test } from 'vitest'
import { splitDigest } from '../../../functions/channels/message/digest.ts'
import { slack } from '../../../functions/channels/slack.ts'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
import { type Answer, CRAFTED, expectWhole, provider } from './provider.ts'
import { alertOf, digestOf, messageOf, NOTIFICATIONS, NOW, STYLES } from './samples.ts'

const allow = parseAllowList(undefined)
const check = (target: string, config: unknown = null) => slack.check({ target, config, allow })
const TARGET = messageOf('slack').target

type Text = { type: string; text: string }
type Block = { type: string; text?: Text; fields?: Text[]; elements?: Text[] }
const blocksIn = (body: string): Block[] => JSON.parse(body).blocks
const textOf = ({ text, fields = [], elements = [] }: Block) => [
  ...(text ? [text] : []),
  ...fields,
  ...elements,
]

/** What Slack refuses, by its documentation. */
function refusalOf(body: string): string | null {
  const { text, blocks } = JSON.parse(body)
  if (typeof text !== 'string' || text === '') return 'no_text'
  if (blocks.length > 50) return 'invalid_blocks'
  for (const block of blocks as Block[]) {
    const longest = { header: 150, section: 3000, context: 3000 }[block.type] ?? 0
    if (textOf(block).some(({ text }) => text.length === 0)) return 'invalid_blocks'
    if (block.text && block.text.text.length > longest) return 'invalid_blocks'
    if (block.type === 'header' && block.text?.type !== 'plain_text') return 'invalid_blocks'
    if ((block.fields?.length ?? 0) > 10 || (block.elements?.length ?? 0) > 10)
      return 'invalid_blocks'
    if (block.fields?.some(({ text }) => text.length > 2000)) return 'invalid_blocks'
  }
  const all = (blocks as Block[]).flatMap(textOf).reduce((sum, { text }) => sum + text.length, 0)
  return all > 13_200 ? 'msg_blocks_too_long' : null
}

describe('the target', () => {
  test('is the URL of an incoming webhook', () => {
    expect(check(TARGET)).toEqual([])
    expect(check(TARGET.replace('slack.com', 'slack-gov.com'))).toEqual([])
    expect(slack.mask(TARGET)).toBe('https://hooks.slack.com/…')
    expect(slack.host(TARGET, undefined)).toBe('hooks.slack.com')
  })

  test.each([
    [
      'a page of Slack',
      'https://app.slack.com/client/T0000AAAA/C0000',
      'wrong_host',
      'is a page of',
    ],
    [
      'another host',
      TARGET.replace('hooks.slack.com', 'hooks.slack.com.evil.example'),
      'wrong_host',
      'is not Slack',
    ],
    [
      'a workflow',
      'https://hooks.slack.com/triggers/T0/1/abc',
      'workflow_url',
      'starts a workflow',
    ],
    ['half of it', 'https://hooks.slack.com/services/T0000AAAA', 'incomplete_url', 'not complete'],
    ['a space behind it', `${TARGET} `, 'malformed', 'incoming webhook'],
    ['plain http', TARGET.replace('https', 'http'), 'malformed', 'incoming webhook'],
    ['another port', TARGET.replace('.com/', '.com:8443/'), 'malformed', 'incoming webhook'],
    ['a token', 'xoxb-1234', 'malformed', 'incoming webhook'],
  ])('%s is refused with where to find the right one', (_, target, code, says) => {
    const [issue, ...more] = check(target)
    expect(issue).toMatchObject({ path: 'target', code })
    expect(issue?.message).toContain(says)
    expect(issue?.message).toContain('Add New Webhook to Workspace')
    expect(more).toEqual([])
  })

  test('there are no settings', () => {
    expect(check(TARGET, {})).toEqual([])
    expect(check(TARGET, { channel: '#x' })).toMatchObject([
      { path: 'config', message: 'A Slack channel has no settings: leave config out.' },
    ])
  })
})

describe('text of strangers', () => {
  test.each(CRAFTED)('%j stays text', async (title) => {
    const alert = alertOf({ title, current: { url: 'https://evil.example/a|b>c' } })
    const notification = {
      ...NOTIFICATIONS['alert.raised'],
      alert,
      zone: { id: 'z', label: title },
    }
    const { body } = await slack.render(messageOf('slack', { notification }))
    expectWhole(body)
    expect(refusalOf(body)).toBeNull()
    for (const block of blocksIn(body).flatMap(textOf)) {
      if (block.type === 'plain_text') continue
      // In markup there are only our labels and links.
      const rest = block.text.replaceAll(/<https:\/\/[^<>|\s]+\|(Map|Source)>/g, '')
      expect(rest).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
    }
    expect(JSON.parse(body)).toMatchObject({ mrkdwn: false, unfurl_links: false })
    expect(JSON.parse(body).text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
  })

  test('is cut where the header ends, says so, and is told whole below', async () => {
    for (const [length, isCut] of [
      [137, false],
      [138, true],
      [500, true],
    ] as const) {
      const title = 'x'.repeat(length)
      const notification = { ...NOTIFICATIONS['alert.raised'], alert: alertOf({ title }) }
      const { body } = await slack.render(messageOf('slack', { notification }))
      const [header, section] = blocksIn(body)
      expect(header?.text?.text.endsWith('… (shortened)')).toBe(isCut)
      expect(section?.text?.text.startsWith(`${title}\n`)).toBe(isCut)
    }
  })
})

describe('a digest', () => {
  test.each([1, 22, 23, 24, 200])(
    'of %i alerts is split into messages that Slack takes',
    async (count) => {
      const digest = { ...digestOf(count), alerts: digestOf(count).alerts ?? [] }
      const parts = await splitDigest(digest, (part) => slack.fits(part, STYLES.tr))
      const bodies = await Promise.all(
        parts.map((notification) =>
          slack.render(messageOf('slack', { ...STYLES.tr, notification })),
        ),
      )
      expect(bodies.map(({ body }) => refusalOf(body))).toEqual(parts.map(() => null))
      expect(parts.flatMap(({ alerts }) => alerts)).toHaveLength(count)
      expect(parts).toHaveLength(Math.ceil(count / 22))
    },
  )

  test('with long titles is split by their length', async () => {
    const given = digestOf(40, { title: '&<>'.repeat(160) })
    const parts = await splitDigest({ ...given, alerts: given.alerts ?? [] }, (part) =>
      slack.fits(part, STYLES.en),
    )
    expect(parts.length).toBeGreaterThan(2)
    for (const notification of parts) {
      const { body } = await slack.render(messageOf('slack', { notification }))
      expect(refusalOf(body)).toBeNull()
    }
  })
})

describe('an answer of Slack means', () => {
  const says = (status: number, body: string | object, headers = {}): Answer => ({
    status,
    body,
    headers,
  })

  test.each<[string, Answer, object]>([
    ['delivered', says(200, 'ok'), { outcome: 'ok', status: 200 }],
    ['delivered, in the form of the Web API', says(200, { ok: true }), { outcome: 'ok' }],
    ['not delivered', says(200, { ok: false, error: 'no_text' }), { outcome: 'retry' }],
    ['something else answered', says(200, '<html>sign in</html>'), { outcome: 'retry' }],
    [
      'wait',
      says(429, 'rate_limited', { 'retry-after': '30' }),
      { outcome: 'retry', throttled: true, counted: false, retry_after_seconds: 30 },
    ],
    ['wait a second', says(429, ''), { outcome: 'retry', throttled: true, retry_after_seconds: 1 }],
    [
      'our mistake',
      says(400, 'invalid_payload'),
      { outcome: 'fail_permanent', error: 'Slack answered HTTP 400: invalid_payload.' },
    ],
    ['our mistake', says(400, 'invalid_blocks'), { outcome: 'fail_permanent' }],
    ['too many attachments', says(400, 'too_many_attachments'), { outcome: 'fail_permanent' }],
    [
      'an admin forbids it',
      says(403, 'action_prohibited'),
      {
        outcome: 'fail_permanent',
        error:
          'Slack answered HTTP 403: action_prohibited. That is, an admin of the workspace does not permit it.',
      },
    ],
    [
      '#general is closed',
      says(403, 'posting_to_general_channel_denied'),
      { outcome: 'fail_permanent' },
    ],
    ['the channel is gone', says(404, 'channel_not_found'), { outcome: 'disable_channel' }],
    ['the webhook is gone', says(404, 'no_service'), { outcome: 'disable_channel' }],
    ['the webhook is off', says(404, 'no_active_hooks'), { outcome: 'disable_channel' }],
    ['the workspace is gone', says(404, 'no_team'), { outcome: 'disable_channel' }],
    ['the workspace is off', says(403, 'team_disabled'), { outcome: 'disable_channel' }],
    ['the token is not valid', says(403, 'invalid_token'), { outcome: 'disable_channel' }],
    ['a word of JavaScript', says(400, 'constructor'), { outcome: 'fail_permanent' }],
    ['the channel is archived', says(410, 'channel_is_archived'), { outcome: 'disable_channel' }],
    ['another page', says(404, '<html>'), { outcome: 'fail_permanent' }],
    ['Slack fails', says(500, 'rollup_error'), { outcome: 'retry', throttled: false }],
    [
      'Slack fails for a while',
      says(503, '', { 'retry-after': '7' }),
      { outcome: 'retry', retry_after_seconds: 7 },
    ],
    [
      'a redirection',
      says(302, '', { location: 'https://x.example' }),
      { outcome: 'fail_permanent' },
    ],
  ])('%s: %j', async (_, answer, expected) => {
    const service = await provider(() => answer)
    try {
      const outcome = await service.deliver(slack, messageOf('slack'))
      expect(outcome).toMatchObject(expected)
      expect('error' in outcome).toBe(outcome.outcome !== 'ok')
      expect(JSON.stringify(outcome)).not.toContain('abcdefghijklmnop')
      expect(service.received[0]).toMatchObject({ method: 'POST', path: new URL(TARGET).pathname })
    } finally {
      service.close()
    }
  })

  test('no answer: another try', () => {
    const failed = { ok: false, message: 'It did not answer.', duration_ms: 1 } as const
    expect(slack.classify({ ...failed, failure: 'timeout' }, NOW)).toMatchObject({
      outcome: 'retry',
    })
    expect(slack.classify({ ...failed, failure: 'refused' }, NOW)).toMatchObject({
      outcome: 'fail_permanent',
    })
  })

  test('what failed is delivered once Slack is well', async () => {
    const answers: Answer[] = [
      says(500, 'rollup_error'),
      says(429, '', { 'retry-after': '1' }),
      says(200, 'ok'),
    ]
    const service = await provider(({ body }) => {
      expect(refusalOf(body)).toBeNull()
      return answers.shift() ?? says(500, '')
    })
    try {
      const outcomes = []
      for (let n = 0; n < 3; n += 1) outcomes.push(await service.deliver(slack, messageOf('slack')))
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['retry', 'retry', 'ok'])
      const bodies = service.received.map(({ body }) => body)
      expect(new Set(bodies).size).toBe(1)
    } finally {
      service.close()
    }
  })
})

test('the message of a step says for how long nobody has acknowledged the alert', async () => {
  const notification = {
    type: 'alert.raised' as const,
    timestamp: NOW.toISOString(),
    alert: alertOf(),
    zone: { id: '362d994c-aa62-4c2c-9bc2-ef021915feee', label: 'The quay' },
    unacknowledged: { step: 2, steps: 3, after_minutes: 30, since: NOW.toISOString() },
  }
  const said = async (language: 'en' | 'tr') =>
    (await slack.render({ ...messageOf('slack'), notification, language })).body
  expect(await said('en')).toContain(
    'Nobody has acknowledged this alert for 30 minutes (step 2 of 3).',
  )
  expect(await said('tr')).toContain('Bu uyarıyı 30 dakikadır kimse görmedi (adım 2/3).')
})
