import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, test } from 'vitest'
import type { Message, Notification } from '../../../functions/channels/channel.ts'
import { CHANNEL_KINDS, deliver, findKind } from '../../../functions/channels/kinds.ts'
import { isWholeDigest, splitDigest } from '../../../functions/channels/message/digest.ts'
import type { SendResult } from '../../../functions/channels/transport/send.ts'
import { nodeSend } from '../../../functions/channels/transport/send-node.ts'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
import { webhook } from '../../../functions/channels/webhook.ts'
import { VERSION } from '../../../shared/version.ts'
import { receiver } from '../../support/servers/receiver.ts'

const allow = parseAllowList('127.0.0.1')
const now = new Date('2026-03-01T12:00:00.000Z')
const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=']
const notification: Notification = {
  type: 'alert.raised',
  timestamp: '2026-03-01T11:50:00.000Z',
  alert: { id: 'a1', severity: 60, event: { id: 'usgs:xx1', title: 'M 5.0 - Test “ville”' } },
  zone: { id: 'z1', label: 'Home' },
}
const message = (over: Partial<Message> = {}): Message => ({
  id: '7c1f5d0a-0b8e-4d53-9a77-5f6f0c2d1e11',
  notification,
  target: 'https://hooks.example.org/s3cr3t',
  config: {},
  secrets,
  now,
  language: 'en',
  time_zone: 'UTC',
  public_url: null,
  remote_ref: null,
  acknowledge_url: null,
  ...over,
})

const answered = (status: number, headers: Record<string, string> = {}, body = ''): SendResult => ({
  ok: true,
  status,
  headers: new Headers(headers),
  body,
  duration_ms: 1,
})

describe('the request', () => {
  test('is the body of the contract with the headers of Standard Webhooks', async () => {
    const config = { headers: { 'X-Team': 'red', authorization: 'Bearer t' } }
    const { url, method, headers, body } = await webhook.render(message({ config }))
    expect([method, url]).toEqual(['POST', 'https://hooks.example.org/s3cr3t'])
    expect(JSON.parse(body)).toEqual({
      type: 'alert.raised',
      timestamp: '2026-03-01T11:50:00.000Z',
      data: { alert: notification.alert, zone: { id: 'z1', label: 'Home' } },
    })
    expect(headers).toEqual({
      'X-Team': 'red',
      authorization: 'Bearer t',
      'content-type': 'application/json',
      'user-agent': `Watchpost/${VERSION}`,
      'webhook-id': '7c1f5d0a-0b8e-4d53-9a77-5f6f0c2d1e11',
      'webhook-timestamp': '1772366400',
      'webhook-signature': new Webhook(secrets[0] ?? '').sign(message().id, now, body),
    })
  })

  test('keeps its id and body on a retry and is signed for the new moment', async () => {
    const first = await webhook.render(message())
    const second = await webhook.render(message({ now: new Date(now.getTime() + 5000) }))
    expect(second.body).toBe(first.body)
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id'])
    expect(second.headers['webhook-timestamp']).toBe('1772366405')
    expect(second.headers['webhook-signature']).not.toBe(first.headers['webhook-signature'])
  })

  test('says all that a message is about, and nothing else', async () => {
    const dataOf = async (given: Partial<Notification>) => {
      const { body } = await webhook.render(
        message({ notification: { ...notification, ...given } }),
      )
      return JSON.parse(body).data
    }
    const { alert, zone } = notification
    const unacknowledged = { step: 1, steps: 2, after_minutes: 5, since: notification.timestamp }
    const drill = { id: 'd1' }
    const told = { alert, zone, drill, unacknowledged }
    expect(await dataOf({ drill, unacknowledged, facts: {} })).toEqual(told)
    const source = { source: 'usgs', status: 'down' }
    const zones = { zones: [{ id: 'z1', label: 'Home' }], zones_total: 4 }
    const about = { source, cause: { code: 'http_status' }, ...zones }
    expect(await dataOf(about)).toEqual({ source, ...zones })
    const channel = { id: 'c1', status: 'failing' }
    expect(await dataOf({ channel, alert: null, zone: null })).toEqual({ channel })
  })

  test('a digest is split into messages below 20 kB, the most severe first', async () => {
    const alerts = Array.from({ length: 400 }, (_, n) => ({ id: `a${n}`, note: 'ö'.repeat(100) }))
    const digest = { ...notification, type: 'alert.digest' as const, alert: null, alerts }
    expect(isWholeDigest(digest)).toBe(true)
    const parts = await splitDigest(digest, (part) => webhook.fits(part, message()))
    expect(parts.some(isWholeDigest)).toBe(false)
    const bodies = await Promise.all(
      parts.map(async (part) => (await webhook.render(message({ notification: part }))).body),
    )
    for (const [index, body] of bodies.entries()) {
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(20_000)
      const { data } = JSON.parse(body)
      expect(data).toMatchObject({ part: index + 1, parts: parts.length, alerts_total: 400 })
      expect(data.alert).toEqual(data.alerts[0])
      expect(data).not.toHaveProperty('left_out')
    }
    expect(bodies.flatMap((body) => JSON.parse(body).data.alerts)).toEqual(alerts)
    // No message could have carried the first alert of the next one too.
    for (const [index, part] of parts.slice(0, -1).entries()) {
      const more = [...part.alerts, ...(parts[index + 1]?.alerts.slice(0, 1) ?? [])]
      expect(webhook.fits({ ...part, part: 400, parts: 400, alerts: more }, message())).toBe(false)
    }
  })

  test('every alert is in exactly one message, and one that is too large has its own', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(30), { maxLength: 60 }),
        fc.integer({ min: 1, max: 40 }),
        async (sizes, limit) => {
          const alerts = sizes.map((size, id) => ({ id, size }))
          const sizeOf = (given: readonly { size?: unknown }[] = []) =>
            given.reduce((sum, { size }) => sum + Number(size), 0)
          const digest = { ...notification, alerts }
          const parts = await splitDigest(digest, (part) => sizeOf(part.alerts) <= limit)
          expect(parts.flatMap((part) => part.alerts)).toEqual(alerts)
          for (const part of parts) {
            expect(part.alerts.length === 1 || sizeOf(part.alerts) <= limit).toBe(true)
            expect([part.parts, part.alerts_total]).toEqual([parts.length, alerts.length])
          }
          expect(parts.map(({ part }) => part)).toEqual(parts.map((_, index) => index + 1))
        },
      ),
    )
  })

  test('one alert of exactly 20,000 bytes is sent whole, and one byte more is left out', async () => {
    const deliveries = [{ id: 'd'.repeat(100) }]
    const sent = async (length: number) => {
      const alert = { ...notification.alert, deliveries, title: 'x'.repeat(length) }
      const { body } = await webhook.render(message({ notification: { ...notification, alert } }))
      return body
    }
    const room = 20_000 - Buffer.byteLength(await sent(0))
    const [most, more] = [await sent(room), await sent(room + 1)]
    expect(Buffer.byteLength(most)).toBe(20_000)
    expect(JSON.parse(most).data.alert.deliveries).toEqual(deliveries)
    expect(JSON.parse(more).data).toMatchObject({
      alert: { deliveries: [] },
      left_out: ['deliveries'],
    })
    // A digest is split where a single alert would leave something out.
    const fits = (body: string) => {
      const { alert, zone } = JSON.parse(body).data
      return webhook.fits({ ...notification, alert, zone }, message())
    }
    expect(fits(most)).toBe(true)
    const alert = { ...JSON.parse(most).data.alert, title: 'x'.repeat(room + 1) }
    expect(webhook.fits({ ...notification, alert }, message())).toBe(false)
  })

  test('one alert that is too large leaves out what it must, and says so', async () => {
    const alert = {
      ...notification.alert,
      deliveries: [{ id: 'd' }],
      updates: Array.from({ length: 400 }, () => ({ kind: 'revised', changes: {} })),
      note: 'short',
    }
    for (const large of [alert, { ...alert, note: '記'.repeat(4000), updates: [] }]) {
      const left_out = ['deliveries', 'updates', ...(large.note === 'short' ? [] : ['note'])]
      for (const over of [{ alert: large }, { alert: large, alerts: [large] }]) {
        const given = { ...notification, ...over }
        const { body } = await webhook.render(
          message({ notification: { ...given, alert: { ...large, title: 'x'.repeat(9000) } } }),
        )
        const { data } = JSON.parse(body)
        expect(data.left_out).toEqual(left_out)
        expect(data.alert).toMatchObject({ deliveries: [], updates: [] })
      }
    }
    const { body } = await webhook.render(message({ notification: { ...notification, alert } }))
    expect(JSON.parse(body).data).not.toHaveProperty('left_out')
  })
})

describe('an answer means', () => {
  test.each([
    [200, 'ok'],
    [202, 'ok'],
    [204, 'ok'],
    [299, 'ok'],
    [301, 'fail_permanent'],
    [302, 'fail_permanent'],
    [304, 'fail_permanent'],
    [400, 'fail_permanent'],
    [401, 'fail_permanent'],
    [404, 'fail_permanent'],
    [408, 'retry'],
    [410, 'disable_channel'],
    [413, 'fail_permanent'],
    [425, 'retry'],
    [429, 'retry'],
    [500, 'retry'],
    [502, 'retry'],
    [503, 'retry'],
    [504, 'retry'],
    [599, 'retry'],
  ])('%i: %s', (status, outcome) => {
    const classified = webhook.classify(answered(status), now)
    expect(classified).toMatchObject({
      outcome,
      status,
      throttled: [429, 502, 504].includes(status),
      counted: status !== 429,
    })
    expect('error' in classified).toBe(outcome !== 'ok')
  })

  test.each([
    [429, '120', 120],
    [429, 'Sun, 01 Mar 2026 12:02:00 GMT', 120],
    [503, '7', 7],
    [429, 'whenever', undefined],
    [404, '120', undefined],
  ])('%i with Retry-After %s: %s seconds', (status, value, seconds) => {
    const classified = webhook.classify(answered(status, { 'retry-after': value }), now)
    expect(classified.retry_after_seconds).toBe(seconds)
  })

  test.each([
    ['refused', 'fail_permanent'],
    ['unresolvable', 'retry'],
    ['unreachable', 'retry'],
    ['tls', 'retry'],
    ['timeout', 'retry'],
  ] as const)('no answer, %s: %s', (failure, outcome) => {
    const result: SendResult = { ok: false, failure, message: 'No.', duration_ms: 1 }
    expect(webhook.classify(result, now)).toEqual({
      outcome,
      throttled: false,
      counted: true,
      error: 'No.',
    })
  })
})

describe('a channel as entered', () => {
  const check = (config: unknown, target = 'https://example.org/') =>
    webhook.check({ target, config, allow }).map(({ path }) => path)

  test.each([
    undefined,
    null,
    {},
    { headers: {} },
    { headers: { 'X-Api-Key': 'a b\tc' } },
    { headers: { 'X-Webhook-Team': 'a' } },
  ])('config %j is accepted', (config) => {
    expect(check(config)).toEqual([])
  })

  test.each([
    ['Host', 'a'],
    ['content-length', '5'],
    ['Content-Type', 'text/plain'],
    ['Transfer-Encoding', 'chunked'],
    ['connection', 'close'],
    ['TE', 'trailers'],
    ['Webhook-Id', 'x'],
    ['webhook-signature', 'v1,x'],
    ['x y', 'a'],
    ['', 'a'],
    ['__proto__', 'a'],
    ['x:', 'a'],
    ['x-a', 'one\r\nx-b: two'],
    ['x-a', 'one\ntwo'],
    ['x-a', 'nul\0'],
    ['x-a', 'ö'],
    ['x-a', 5],
  ])('header %j: %j is refused', (name, value) => {
    expect(check({ headers: { [name]: value } })).toEqual([
      expect.stringMatching(/^config\.headers/),
    ])
  })

  test.each([
    ['Host', 'Watchpost sets this header itself.'],
    ['webhook-id', 'Watchpost sets the headers named webhook-… itself.'],
    ['a b', 'A header name consists of letters, digits and hyphens.'],
    ['__proto__', 'A header cannot be named __proto__.'],
  ])('the name %s is refused with the reason', (name, reason) => {
    const config = JSON.parse(`{"headers":{"${name}":"x"}}`)
    const [issue] = webhook.check({ target: 'https://hooks.example.org/', config, allow })
    expect(issue).toMatchObject({ path: `config.headers.${name}`, message: reason })
  })

  test('an unknown setting, a doubled header and too many headers are refused', () => {
    expect(check({ header: {} })).toEqual(['config'])
    expect(check({ headers: 'x-a: 1' })).toEqual(['config.headers'])
    expect(check({ headers: null })).toEqual(['config.headers'])
    expect(check({ headers: { 'X-A': '1', 'x-a': '2' } })).toEqual(['config.headers'])
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, '1']))
    expect(check({ headers: many })).toEqual(['config.headers'])
    const { 'x-20': _, ...most } = many
    expect(check({ headers: most })).toEqual([])
  })

  test('target and config are judged together', () => {
    expect(check({ headers: { host: 'a' } }, 'https://10.0.0.1/')).toEqual([
      'target',
      'config.headers.host',
    ])
  })

  test('no headers that are accepted can break out of their line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (name, value) => {
        if (check({ headers: { [name]: value } }).length > 0) return
        expect(new Headers({ [name]: value }).get(name)).toBe(value.trim())
        expect(name + value).not.toMatch(/[\r\n\0]/)
      }),
    )
  })
})

describe('kinds', () => {
  test('an unknown kind does not exist, whatever its name', () => {
    for (const kind of ['fax', 'constructor', '']) {
      expect(findKind(kind)).toHaveProperty('issue.message', expect.stringContaining('not exist'))
    }
  })

  test('each kind stands in the table under its own name', () => {
    for (const [name, { kind }] of CHANNEL_KINDS) expect(kind).toBe(name)
    expect(findKind('webhook')).toEqual({ kind: webhook })
  })
})

describe('from end to end', () => {
  const open: { close: () => void }[] = []
  afterEach(() => {
    for (const server of open.splice(0)) server.close()
  })

  test('a receiver verifies exactly what was sent, with both secrets of a rotation', async () => {
    const server = await receiver((response) => response.writeHead(204).end())
    open.push(server)
    const old = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs='
    const both = [...secrets, old]
    const sent = message({ target: server.url, secrets: both, now: new Date() })
    const outcome = await deliver(webhook, sent, { send: nodeSend({ allow }) })
    expect(outcome).toMatchObject({ outcome: 'ok', status: 204 })
    for (const secret of both) {
      const [{ body, headers }] = server.received as [(typeof server.received)[number]]
      const flat = Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, String(v)]))
      expect(new Webhook(secret).verify(body, flat)).toMatchObject({ type: 'alert.raised' })
    }
  })

  test('a receiver that is gone disables, one that redirects inside fails, one that is busy waits', async () => {
    const server = await receiver((response, { path }) => {
      if (path === '/gone') return response.writeHead(410).end()
      if (path === '/busy') return response.writeHead(429, { 'retry-after': '9' }).end('later')
      return response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end()
    })
    open.push(server)
    const send = nodeSend({ allow })
    const at = (path: string) =>
      deliver(webhook, message({ target: new URL(path, server.url).href }), { send })
    expect(await at('/gone')).toMatchObject({ outcome: 'disable_channel' })
    expect(await at('/busy')).toMatchObject({
      outcome: 'retry',
      retry_after_seconds: 9,
      counted: false,
      response_excerpt: 'later',
    })
    expect(await at('/moved')).toMatchObject({ outcome: 'fail_permanent', status: 302 })
    expect(server.received).toHaveLength(3)
  })

  test('a target that has become private is given up without naming it', async () => {
    const send = nodeSend({ allow, resolve: async () => ['10.0.0.1'] })
    const outcome = await deliver(webhook, message(), { send })
    expect(outcome).toMatchObject({ outcome: 'fail_permanent' })
    expect(JSON.stringify(outcome)).not.toMatch(/s3cr3t|hooks\.example|10\.0\.0\.1/)
  })
})
