import { describe, expect, test } from 'vitest'
import type { Notification } from '../../../functions/channels/channel.ts'
import { MAX_PUSH_BYTES, type SendResult } from '../../../functions/channels/transport/send.ts'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
import { webpush } from '../../../functions/channels/webpush.ts'
import { ALERT_ID, alertOf, messageOf, NOTIFICATIONS, NOW } from './samples.ts'

const ENDPOINT = 'https://updates.push.services.mozilla.com/wpush/v2/gAAAAAB'
const KEYS = {
  p256dh: Buffer.alloc(65, 4).toString('base64url'),
  auth: Buffer.alloc(16, 1).toString('base64url'),
}

const raised = (title: string, severity = 72): Notification => ({
  ...NOTIFICATIONS['alert.raised'],
  alert: alertOf({ title, severity }),
})

async function render(notification: Notification, language: 'en' | 'tr' = 'en') {
  const request = await webpush.render(messageOf('webpush', { notification, language }))
  return { ...request, shown: JSON.parse(request.payload) }
}

describe('what a browser shows', () => {
  test('an alert with its numbers, its place on a map, and a tag that its updates share', async () => {
    const { shown, topic, urgency, endpoint, keys } = await render(raised('M 6.1 - Kütahya'))
    expect({ endpoint, keys }).toEqual({ endpoint: ENDPOINT, keys: KEYS })
    expect(shown).toMatchObject({
      web_push: 8030,
      notification: {
        title: '🟠 M 6.1 - Kütahya',
        body: expect.stringMatching(/reaches 50[\s\S]*Magnitude: 5\.7/),
        lang: 'en',
        navigate: expect.stringContaining('openstreetmap.org'),
        tag: ALERT_ID,
        data: { type: 'alert.raised', alert_id: ALERT_ID },
      },
    })
    expect({ topic, urgency }).toEqual({ topic: ALERT_ID.replaceAll('-', ''), urgency: 'high' })
    expect(topic).toMatch(/^[\w-]{1,32}$/)
  })

  test('a slight event does not wake the device', async () => {
    expect((await render(raised('M 4', 25))).urgency).toBe('normal')
  })

  test('a change of an alert is silent, unless the alert has escalated', async () => {
    const types = ['alert.raised', 'alert.revised', 'alert.escalated'] as const
    const shown = await Promise.all(types.map((type) => render(NOTIFICATIONS[type])))
    expect(shown.map((one) => one.shown.notification.renotify)).toEqual([false, false, true])
  })

  test('what is not about one alert has neither topic nor tag', async () => {
    const { shown, topic } = await render(NOTIFICATIONS['channel.test'], 'tr')
    expect(topic).toBeNull()
    expect(shown.notification).toMatchObject({ lang: 'tr' })
    expect(shown.notification).not.toHaveProperty('tag')
  })

  test.each([
    ['long', 'x'.repeat(5_000)],
    ['of quotation marks', '"'.repeat(5_000)],
    ['of emoji', '🌋'.repeat(3_000)],
    ['of what JSON writes as escapes', '\u0001\ud800'.repeat(2_000)],
  ])('a title %s still fits', async (_, title) => {
    const { payload, shown } = await render(raised(title))
    expect(Buffer.byteLength(payload)).toBeLessThanOrEqual(MAX_PUSH_BYTES)
    expect(shown.notification.title.length).toBeGreaterThan(1)
    expect(shown.notification.title.isWellFormed()).toBe(true)
  })

  test('a payload of 3,993 bytes is sent whole, and of more a shorter text without links', async () => {
    /** Quotation marks count twice in JSON: enough of them make it too large before the text is cut. */
    const ofMarks = async (marks: number, rest: string) => {
      const alert = alertOf({ title: 'M 5', more: { reason: '"'.repeat(marks) + rest } })
      const { payload, shown } = await render({ ...raised('M 5'), alert, facts: {} })
      return { size: Buffer.byteLength(payload), ...shown.notification }
    }
    const sizes = []
    for (const rest of ['', 'x']) {
      let marks = 1_000
      for (let step = 512; step >= 1; step /= 2) {
        if ((await ofMarks(marks + step, rest)).data.links.length > 0) marks += step
      }
      sizes.push((await ofMarks(marks, rest)).size)
      const { body, data } = await ofMarks(marks + 1, rest)
      expect(data.links).toEqual([])
      expect(body).toMatch(/"… \(shortened\)$/)
      expect(Buffer.byteLength(body)).toBe(333)
    }
    expect(sizes.sort()).toEqual([3_992, 3_993])
  })
})

describe('a subscription', () => {
  const codes = (target: string, config: unknown = KEYS, allow = '') =>
    webpush
      .check({ target, config, allow: parseAllowList(allow) })
      .map(({ path, code }) => `${path} ${code}`)

  test.each([
    ENDPOINT,
    'https://fcm.googleapis.com/fcm/send/abc',
    'https://web.push.apple.com/QGuQyavXutnMH',
    'https://wns2-par02p.notify.windows.com/w/?token=abc',
  ])('%s passes', (target) => {
    expect(codes(target)).toEqual([])
  })

  test.each([
    'http://fcm.googleapis.com/fcm/send/abc',
    'https://fcm.googleapis.com.example.com/a',
    'https://evilfcm.googleapis.com/a',
    'https://a.b.push.apple.com/a',
    'https://us:pw@fcm.googleapis.com/a',
    'https://127.0.0.1/a',
    'a',
  ])('%s is refused', (target) => {
    expect(codes(target)).toEqual([expect.stringMatching(/^target (malformed|wrong_host)$/)])
  })

  test('the operator can permit another push service by name', () => {
    expect(codes('https://push.example.com/a', KEYS, 'push.example.com')).toEqual([])
    const other = codes('https://push.example.org/a', KEYS, 'push.example.com')
    expect(other).toEqual(['target wrong_host'])
  })

  test('keys of another length, none, and more than the two are refused by name', () => {
    const short = Buffer.alloc(64, 4).toString('base64url')
    expect(codes(ENDPOINT, { ...KEYS, p256dh: short })).toEqual(['config.p256dh custom'])
    expect(codes(ENDPOINT, { ...KEYS, auth: 'a b' })).toEqual(['config.auth custom'])
    expect(codes(ENDPOINT, null)).toEqual([
      'config.p256dh invalid_type',
      'config.auth invalid_type',
    ])
    expect(codes(ENDPOINT, { ...KEYS, expirationTime: null })).toEqual(['config unrecognized_keys'])
  })
})

describe('what the push service answers', () => {
  const answered = (status: number, headers: Record<string, string> = {}): SendResult => ({
    ok: true,
    status,
    headers: new Headers(headers),
    body: '',
    duration_ms: 1,
  })

  test.each([
    [200, 'ok'],
    [201, 'ok'],
    [202, 'ok'],
    [400, 'fail_permanent'],
    [401, 'disable_channel'],
    [403, 'disable_channel'],
    [404, 'disable_channel'],
    [410, 'disable_channel'],
    [413, 'fail_permanent'],
    [429, 'retry'],
    [500, 'retry'],
    [503, 'retry'],
  ])('%s means %s', (status, outcome) => {
    expect(webpush.classify(answered(status), NOW)).toMatchObject({ outcome, status })
  })

  test('a hint when to try again is kept, and being throttled uses up no attempt', () => {
    expect(webpush.classify(answered(429, { 'retry-after': '120' }), NOW)).toMatchObject({
      throttled: true,
      counted: false,
      retry_after_seconds: 120,
    })
    expect(webpush.classify(answered(503), NOW)).toMatchObject({ throttled: false, counted: true })
  })

  test('without an answer it is tried again', () => {
    const failed = { ok: false, failure: 'timeout', message: 'late', duration_ms: 1 } as const
    expect(webpush.classify(failed, NOW)).toMatchObject({ outcome: 'retry', error: 'late' })
  })
})
