import { describe, expect, test } from 'vitest'
import { splitDigest } from '../../../functions/channels/message/digest.ts'
import { teams } from '../../../functions/channels/teams.ts'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
import { cardIn, markdownIn, plainIn } from './adaptive-card.ts'
import { type Answer, CRAFTED, provider } from './provider.ts'
import { alertOf, digestOf, messageOf, NOTIFICATIONS, NOW, STYLES } from './samples.ts'

const allow = parseAllowList(undefined)
const check = (target: string, config: unknown = null) => teams.check({ target, config, allow })
const TARGET = messageOf('teams').target
const OLDER =
  'https://prod-96.westeurope.logic.azure.com:443/workflows/0123456789abcdef/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=abcdefghijklmnop'

describe('the target', () => {
  test.each([TARGET, OLDER, TARGET.replace('.com/', '.com:443/')])('may be %s', (target) => {
    expect(check(target)).toEqual([])
  })

  test('is told without what is secret', () => {
    const host = 'default0123456789.ab.environment.api.powerplatform.com'
    expect(teams.mask(TARGET)).toBe(`https://${host}/…`)
    expect(teams.host(TARGET, undefined)).toBe(host)
    expect(teams.host(OLDER, undefined)).toBe('prod-96.westeurope.logic.azure.com')
  })

  test.each([
    [
      'a connector of Office 365',
      'https://contoso.webhook.office.com/webhookb2/1@2/IncomingWebhook/3/4',
      'retired_connector',
      'which Microsoft has switched off',
    ],
    [
      'an older connector',
      'https://outlook.office.com/webhook/1@2/IncomingWebhook/3/4',
      'retired_connector',
      'which Microsoft has switched off',
    ],
    [
      'a page of Teams',
      'https://teams.microsoft.com/l/channel/19%3Aabc',
      'page',
      'is a page of Microsoft',
    ],
    [
      'a page of Power Automate',
      'https://make.powerautomate.com/environments/1/flows/2',
      'page',
      'is a page of Microsoft',
    ],
    [
      'another host',
      TARGET.replace('powerplatform.com', 'powerplatform.com.evil.example'),
      'wrong_host',
      'is not a host of Teams workflows',
    ],
    [
      'a host that only ends alike',
      TARGET.replace('default0123456789.ab.environment.api', 'evil-environment.api'),
      'wrong_host',
      'is not a host of Teams workflows',
    ],
    ['half of it', OLDER.replace('/triggers/manual/paths/invoke', ''), 'incomplete_url', '/paths/'],
    ['plain http', TARGET.replace('https', 'http'), 'malformed', 'a workflow'],
    ['another port', OLDER.replace(':443', ':8443'), 'malformed', 'a workflow'],
    ['a space behind it', `${TARGET} `, 'malformed', 'a workflow'],
    ['a name', '#alerts', 'malformed', 'a workflow'],
  ])('%s is refused with where to find the right one', (_, target, code, says) => {
    const [issue, ...more] = check(target)
    expect(issue).toMatchObject({ path: 'target', code })
    expect(issue?.message).toContain(says)
    expect(issue?.message).toContain('choose “Send webhook alerts to a channel”')
    expect(more).toEqual([])
  })

  test.each([
    ['without a signature', TARGET.replace(/&sig=.*/, ''), 'set “Who can trigger the flow?” to'],
    ['with an empty signature', TARGET.replace(/sig=.*/, 'sig='), 'has no signature'],
    ['copied from HTML', TARGET.replaceAll('&', '&amp;'), 'write “&” where it has “&amp;”'],
  ])('a URL %s is refused with the way out', (_, target, says) => {
    expect(check(target)).toMatchObject([
      { path: 'target', code: 'incomplete_url', message: expect.stringContaining(says) },
    ])
  })

  test('there are no settings', () => {
    expect(check(TARGET, {})).toEqual([])
    expect(check(TARGET, { channel: 'x' })).toMatchObject([
      { path: 'config', message: 'A Teams channel has no settings: leave config out.' },
    ])
  })
})

describe('every message', () => {
  test.each(Object.entries(NOTIFICATIONS))('%s is a card that workflows post', async (_, given) => {
    for (const style of Object.values(STYLES)) {
      const message = messageOf('teams', { ...style, notification: given })
      const { method, headers, body } = await teams.render(message)
      expect(method).toBe('POST')
      expect(headers['content-type']).toBe('application/json')
      expect(cardIn(body).lang).toBe(style.language)
    }
  })

  test('has buttons for the map, the source and what was seen', async () => {
    const acknowledge_url = 'https://watch.example/seen#abc'
    const { body } = await teams.render(messageOf('teams', { acknowledge_url }))
    expect(cardIn(body).actions?.map(({ title }) => title)).toEqual([
      'Map',
      'Source',
      'I have seen it',
    ])
  })
})

const MENTIONS = [
  '<at>boss@example.com</at>',
  '< AT>boss</ at >',
  '{{{{TIME(2026-03-01T00:00:00Z)}}',
]

describe('text of strangers', () => {
  test.each([...CRAFTED, ...MENTIONS])('%j stays text', async (title) => {
    const url = 'https://evil.example/a](https://b.example) **x** <at>y</at>'
    const zone = { id: 'z', label: title }
    const alert = alertOf({ title, current: { url, subject: title }, more: { zone_name: title } })
    const raised = { ...NOTIFICATIONS['alert.raised'], alert, zone }
    const { body } = await teams.render(messageOf('teams', { notification: raised }))
    const digest = { ...digestOf(3, { title, current: { url } }), zone }
    const bundled = await teams.render(messageOf('teams', { notification: digest }))
    for (const sent of [body, bundled.body]) {
      expect(sent).not.toMatch(/<\s*\/?\s*at\b/i)
      expect(sent).not.toContain('{{')
      // In Markdown there are only our labels and links.
      for (const text of markdownIn(cardIn(sent))) {
        const rest = text.replaceAll(/\[(Map|Source)\]\(https:\/\/[^()[\]<>\s]+\)/g, '')
        expect(rest).toBe(' · ')
      }
    }
    const shown = plainIn(cardIn(body))[0]?.replaceAll('\u2060', '')
    expect(shown?.startsWith('🟠 ')).toBe(true)
    expect(shown?.slice(3, 8)).toBe(title.trim().slice(0, 5).replace(/\n/, ' '))
  })

  test('the title of an event is never cut', async () => {
    for (const title of ['海'.repeat(500), '"'.repeat(500), '{'.repeat(500), '😀'.repeat(250)]) {
      const notification = { ...NOTIFICATIONS['alert.raised'], alert: alertOf({ title }) }
      const { body } = await teams.render(messageOf('teams', { notification }))
      expect(plainIn(cardIn(body))[0]?.replaceAll('\u2060', '')).toBe(`🟠 ${title}`)
    }
  })

  test('what is longer than a part may be is cut and says so', async () => {
    const shown = async (length: number) => {
      const alert = alertOf({ current: { subject: 'x'.repeat(length) } })
      const notification = { ...NOTIFICATIONS['alert.raised'], alert }
      const { body } = await teams.render(messageOf('teams', { notification }))
      return plainIn(cardIn(body)).find((line) => line.startsWith('Followed: '))
    }
    expect(await shown(499)).toBe(`Followed: ${'x'.repeat(499)}`)
    expect(await shown(500)).toBe(`Followed: ${'x'.repeat(500)}`)
    const cut = (await shown(501)) ?? ''
    expect(cut.endsWith('x… (shortened)')).toBe(true)
    expect(Buffer.byteLength(cut)).toBe('Followed: '.length + 500)
  })

  test('the largest alert fits into a message', async () => {
    const long = '"'.repeat(5_000)
    const url = `https://x.example/${'a'.repeat(1_480)}`
    const alert = alertOf({
      title: long,
      current: { url, subject: long, ends_at: NOW.toISOString() },
      updates: [{ kind: 'escalated', changes: { severity: [1, 2], magnitude: [1, 2] } }],
      more: { attribution: long, reason: long, zone_name: long },
    })
    const given = {
      type: 'alert.escalated',
      facts: {},
      alert,
      zone: { id: 'z', label: long },
    } as const
    const notification = { ...NOTIFICATIONS['alert.escalated'], ...given }
    const acknowledge_url = `https://watch.example/${'b'.repeat(1_400)}`
    const { body } = await teams.render(messageOf('teams', { notification, acknowledge_url }))
    cardIn(body)
  })
})

describe('a digest', () => {
  const bodiesOf = async (given: ReturnType<typeof digestOf>) => {
    const digest = { ...given, alerts: given.alerts ?? [] }
    const parts = await splitDigest(digest, (part) => teams.fits(part, STYLES.tr))
    const messages = parts.map((notification) => messageOf('teams', { ...STYLES.tr, notification }))
    const requests = await Promise.all(messages.map((message) => teams.render(message)))
    return { parts, bodies: requests.map(({ body }) => body) }
  }

  test.each([1, 3, 200])('of %i alerts is split into cards that workflows post', async (count) => {
    const { parts, bodies } = await bodiesOf(digestOf(count))
    expect(parts.flatMap(({ alerts }) => alerts)).toHaveLength(count)
    for (const body of bodies) cardIn(body)
    expect(bodies.flatMap((body) => markdownIn(cardIn(body)))).toHaveLength(count)
  })

  test('fills a message up to 20,000 bytes and no further', async () => {
    const { parts, bodies } = await bodiesOf(digestOf(200))
    const sizes = bodies.map((body) => Buffer.byteLength(body))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(20_000)
    // What one more alert takes.
    const one = (sizes[0] ?? 0) / (parts[0]?.alerts.length ?? 1)
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(20_000 - 1.1 * one)
  })

  test('with long titles is split by their length', async () => {
    const { parts, bodies } = await bodiesOf(digestOf(12, { title: 'ş"\\'.repeat(166) }))
    expect(parts.length).toBeGreaterThan(1)
    for (const body of bodies) cardIn(body)
  })
})

describe('an answer of a workflow means', () => {
  const says = (status: number, body: string | object = '', headers = {}): Answer => ({
    status,
    body,
    headers,
  })
  const fails = (status: number, code: string) =>
    says(status, { error: { code, message: `no ${TARGET}` } })

  test.each<[string, Answer, object]>([
    ['delivered', says(202), { outcome: 'ok', status: 202 }],
    ['delivered, with an answer of the workflow', says(200, 'done'), { outcome: 'ok' }],
    [
      'wait',
      says(429, '', { 'retry-after': '7' }),
      { outcome: 'retry', throttled: true, counted: false, retry_after_seconds: 7 },
    ],
    [
      'wait a minute',
      fails(429, 'WorkflowRunTooManyRequests'),
      {
        outcome: 'retry',
        throttled: true,
        counted: false,
        retry_after_seconds: 60,
        error: 'The workflow answered HTTP 429: WorkflowRunTooManyRequests.',
      },
    ],
    [
      'it is switched off',
      fails(400, 'WorkflowTriggerIsNotEnabled'),
      {
        outcome: 'disable_channel',
        error:
          'The workflow answered HTTP 400: WorkflowTriggerIsNotEnabled. That is, the workflow is switched off or was deleted. Switch it on in Teams under Workflows, or make another and set its URL as the target.',
      },
    ],
    [
      'it is for members only',
      fails(401, 'DirectApiAuthorizationRequired'),
      {
        outcome: 'disable_channel',
        error: expect.stringContaining('set “Who can trigger the flow?” to Anyone'),
      },
    ],
    [
      'the signature is wrong',
      fails(401, 'AuthorizationFailed'),
      { outcome: 'disable_channel', error: expect.stringContaining('Copy the URL') },
    ],
    ['it is forbidden', says(403), { outcome: 'disable_channel' }],
    [
      'it is gone',
      fails(404, 'WorkflowNotFound'),
      { outcome: 'disable_channel', error: expect.stringContaining('Make another') },
    ],
    ['it is gone for good', says(410), { outcome: 'disable_channel' }],
    [
      'our mistake',
      fails(400, 'TriggerInputSchemaMismatch'),
      {
        outcome: 'fail_permanent',
        error: 'The workflow answered HTTP 400: TriggerInputSchemaMismatch.',
      },
    ],
    ['the card is too large', fails(413, 'RequestEntityTooLarge'), { outcome: 'fail_permanent' }],
    ['a name that is none', fails(400, 'constructor'), { outcome: 'fail_permanent' }],
    [
      'a page of something else',
      says(400, '<html>'),
      { outcome: 'fail_permanent', error: 'The workflow answered HTTP 400.' },
    ],
    [
      'a redirection',
      says(302, '', { location: 'https://x.example' }),
      { outcome: 'fail_permanent' },
    ],
    ['it failed', fails(502, 'NoResponse'), { outcome: 'retry', throttled: false, counted: true }],
    [
      'it fails for a while',
      says(503, '', { 'retry-after': '9' }),
      { outcome: 'retry', retry_after_seconds: 9 },
    ],
  ])('%s: %j', async (_, answer, expected) => {
    const service = await provider(() => answer)
    try {
      const { response_excerpt, ...outcome } = await service.deliver(teams, messageOf('teams'))
      expect(outcome).toMatchObject(expected)
      expect('error' in outcome).toBe(outcome.outcome !== 'ok')
      expect(JSON.stringify(outcome)).not.toContain('abcdefghijklmnop')
      const { pathname, search, host } = new URL(TARGET)
      expect(service.received).toMatchObject([
        { method: 'POST', path: pathname + search, headers: { 'x-host': host } },
      ])
    } finally {
      service.close()
    }
  })

  test('no answer: another try', () => {
    const failed = { ok: false, message: 'It did not answer.', duration_ms: 1 } as const
    const classify = (failure: 'timeout' | 'refused') =>
      teams.classify({ ...failed, failure }, NOW).outcome
    expect(classify('timeout')).toBe('retry')
    expect(classify('refused')).toBe('fail_permanent')
  })

  test('what failed is delivered once the workflow is well', async () => {
    const answers = [fails(502, 'NoResponse'), says(429, '', { 'retry-after': '1' }), says(202)]
    const service = await provider(({ body }) => {
      cardIn(body)
      return answers.shift() ?? says(500)
    })
    try {
      const outcomes = []
      for (let n = 0; n < 3; n += 1) outcomes.push(await service.deliver(teams, messageOf('teams')))
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['retry', 'retry', 'ok'])
      expect(new Set(service.received.map(({ body }) => body)).size).toBe(1)
    } finally {
      service.close()
    }
  })
})
