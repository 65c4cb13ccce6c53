import { describe, expect, test } from 'vitest'
import type { Notification } from '../../../functions/channels/channel.ts'
import { email } from '../../../functions/channels/email.ts'
import type { MailStage, SendResult } from '../../../functions/channels/transport/send.ts'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
import { ALERT_ID, messageOf, NOTIFICATIONS } from './samples.ts'

const now = new Date('2026-05-01T12:00:00Z')
const classify = (result: SendResult) => email.classify(result, now)
const reply = (body: string, stage: MailStage = 'recipient'): SendResult => ({
  ok: true,
  status: Number(body.slice(0, 3)),
  headers: new Headers(),
  body,
  duration_ms: 1,
  stage,
})
const api = (status: number, body: object = {}, headers = {}): SendResult => ({
  ok: true,
  status,
  headers: new Headers(headers),
  body: JSON.stringify(body),
  duration_ms: 1,
})

describe('an answer by SMTP', () => {
  test.each<[body: string, stage: MailStage, outcome: string]>([
    ['250 2.0.0 queued', 'data', 'ok'],
    ['451 4.7.1 greylisted', 'recipient', 'retry'],
    ['452 4.2.2 mailbox full', 'recipient', 'retry'],
    ['421 4.3.2 shutting down', 'data', 'retry'],
    ['550 5.1.1 no such user', 'recipient', 'disable_channel'],
    ['550 no such user', 'recipient', 'disable_channel'],
    ['551 user not local', 'recipient', 'disable_channel'],
    ['553 no such mailbox', 'recipient', 'disable_channel'],
    ['550-5.1.1 no such user here', 'data', 'disable_channel'],
    ['550 5.2.1 mailbox disabled', 'recipient', 'disable_channel'],
    // About the sender's reputation or the text, not about the mailbox.
    ['550 5.7.1 blocked by policy', 'recipient', 'fail_permanent'],
    ['552 5.2.2 over quota', 'recipient', 'fail_permanent'],
    ['550 looks like spam', 'data', 'fail_permanent'],
    ['554 5.7.1 looks like spam', 'data', 'fail_permanent'],
    // For the operator to mend: nobody's address is to blame.
    ['535 5.7.8 bad credentials', 'connection', 'retry'],
    ['553 5.7.1 sender not allowed', 'sender', 'retry'],
    ['550 5.1.8 bad sender', 'sender', 'retry'],
  ])('%s at %s: %s', (body, stage, outcome) => {
    const classified = classify(reply(body, stage))
    expect(classified).toMatchObject({ outcome, status: Number(body.slice(0, 3)) })
    expect(classified.error === undefined).toBe(outcome === 'ok')
  })

  test('that is for the operator holds back every mail, not only this channel', () => {
    const hold = { throttled: true, throttles: 'host' }
    expect(classify(reply('535 no', 'connection'))).toMatchObject(hold)
    const gone: SendResult = { ok: false, failure: 'tls', message: 'No TLS.', duration_ms: 1 }
    expect(classify(gone)).toMatchObject({ outcome: 'retry', error: 'No TLS.', ...hold })
    expect(classify(reply('451 later')).throttles).toBeUndefined()
    // A server that shuts down wants no more mail for now, and says nothing about this address.
    expect(classify(reply('421 4.3.2 shutting down'))).toMatchObject({ throttled: true })
    expect(classify(reply('451 later'))).toMatchObject({ throttled: false })
  })

  test.each<[body: string, stage: MailStage, error: string]>([
    [
      '535 bad\r\n login',
      'connection',
      'This service’s mail server refused the login: 535 bad login',
    ],
    ['553 no', 'sender', 'This service’s mail server refused the sender: 553 no'],
    [
      '451 4.7.1 greylisted',
      'data',
      'The mail server wants to be asked again later: 451 4.7.1 greylisted',
    ],
    ['550 5.1.1 gone', 'recipient', 'The address takes no mail: 550 5.1.1 gone'],
    ['554 5.7.1 spam', 'data', 'The mail was refused: 554 5.7.1 spam'],
  ])('%s at %s is told in a sentence', (body, stage, error) => {
    expect(classify(reply(body, stage)).error).toBe(error)
  })

  test.each<[body: string, stage: MailStage, outcome: string]>([
    ['299 fine', 'data', 'ok'],
    ['300 more', 'data', 'retry'],
    ['199 odd', 'data', 'retry'],
    ['499 later', 'recipient', 'retry'],
    ['500 what', 'data', 'fail_permanent'],
    ['550 5.1.999 no such domain', 'data', 'disable_channel'],
    ['550 5.2.10 another', 'data', 'fail_permanent'],
    ['550 5.7.5.1.1', 'data', 'fail_permanent'],
    ['550 15.1.1 no code', 'data', 'fail_permanent'],
    ['550 5.100.1 policy', 'recipient', 'fail_permanent'],
    ['550 5.7.100 policy', 'recipient', 'fail_permanent'],
    ['550 they said 550 5.1.1', 'data', 'fail_permanent'],
  ])('%s at %s is at the edge: %s', (body, stage, outcome) => {
    expect(classify(reply(body, stage)).outcome).toBe(outcome)
  })

  test('that cannot be sent at all is final', () => {
    const none: SendResult = { ok: false, failure: 'refused', message: 'No mail.', duration_ms: 0 }
    expect(classify(none)).toMatchObject({ outcome: 'fail_permanent', error: 'No mail.' })
  })
})

describe('an answer of the mail API', () => {
  test.each<[status: number, body: object, outcome: string]>([
    [200, { id: 'x' }, 'ok'],
    [400, { name: 'validation_error', message: 'bad' }, 'fail_permanent'],
    [401, { name: 'missing_api_key' }, 'retry'],
    [403, { name: 'invalid_api_key' }, 'retry'],
    [409, { name: 'concurrent_idempotent_requests' }, 'retry'],
    [409, { name: 'invalid_idempotent_request' }, 'fail_permanent'],
    [422, { name: 'validation_error', message: 'Invalid `to` field.' }, 'disable_channel'],
    [422, { name: 'validation_error', message: 'Invalid `from` field.' }, 'fail_permanent'],
    [429, { name: 'rate_limit_exceeded' }, 'retry'],
    [500, {}, 'retry'],
    [503, {}, 'retry'],
    [302, {}, 'fail_permanent'],
  ])('%i %j: %s', (status, body, outcome) => {
    expect(classify(api(status, body))).toMatchObject({ outcome, status })
  })

  test('says why an address is refused, and names a temporary fault as such', () => {
    const refused = classify(api(422, { message: 'Invalid `to` field.' }))
    expect(refused.error).toBe('The address is refused: Invalid `to` field.')
    expect(classify(api(422, { message: 'An auto reply' })).outcome).toBe('fail_permanent')
    expect(classify(api(422, {})).error).toBe('The mail API of this service answered HTTP 422')
    expect(classify(api(300, {})).outcome).toBe('fail_permanent')
    expect(classify(api(199, {})).outcome).toBe('fail_permanent')
  })

  test('429 waits as long as it says, for all mail, and uses up no attempt', () => {
    expect(classify(api(429, {}, { 'retry-after': '7' }))).toMatchObject({
      retry_after_seconds: 7,
      counted: false,
      throttled: true,
      throttles: 'host',
    })
  })
})

describe('a channel', () => {
  const allow = parseAllowList('')
  const issues = (target: string, config: unknown = null) => email.check({ target, config, allow })

  test('has one address and no settings', () => {
    expect(issues('ops@example.com')).toEqual([])
    expect(issues('ops@localhost')).toMatchObject([{ path: 'target', code: 'malformed' }])
    expect(issues('ops@db.internal')).toMatchObject([{ path: 'target', code: 'private_name' }])
    expect(issues('ops@example.com', { cc: 'a@b.example' })).toMatchObject([{ path: 'config' }])
  })

  test('shows others only the domain', () => {
    expect(email.mask('ops@example.com')).toBe('…@example.com')
    expect(issues(email.mask('ops@example.com'))).not.toEqual([])
  })
})

describe('a mail', () => {
  const alert = NOTIFICATIONS['alert.raised'].alert
  const evil = '<img src=x onerror=1>\r\nBcc: victim@example.com\u202e'
  const notification = {
    ...NOTIFICATIONS['alert.raised'],
    zone: { id: 'x', label: evil },
    alert: {
      ...alert,
      event: { ...(alert?.event as object), title: evil },
      current: { ...(alert?.current as object), title: evil, url: 'javascript:alert(1)' },
    },
  }

  test('has nothing in its subject, text or HTML that event or zone could misuse', async () => {
    const sent = await email.render(messageOf('email', { notification }))
    expect(sent.subject).not.toMatch(/[\r\n\u202e]/)
    expect(sent.to).toBe('ops@example.com')
    expect(sent.html).not.toMatch(/<img|javascript:|\u202e/)
    expect(sent.html).toContain('&lt;img src=x onerror=1&gt;')
    expect(sent.text).not.toMatch(/^Bcc:/m)
  })

  test.each([
    'alert.raised',
    'alert.digest',
    'alert.digest part',
    'alert.raised drill',
    'channel.test',
  ] as const)('%s has the HTML that was agreed', async (name) => {
    const links = {
      acknowledge_url: 'https://watch.example/links/acknowledge?token=a&b="c"',
      unsubscribe_url: name === 'channel.test' ? null : 'https://watch.example/links/no',
    }
    const notification = NOTIFICATIONS[name]
    const { html, subject } = await email.render(messageOf('email', { notification, ...links }))
    await expect(`${subject}\n\n${html}`).toMatchFileSnapshot(
      `golden/html/${name.replace(' ', '.')}.txt`,
    )
  })

  test('of a drill names its zone where it has one', async () => {
    const drill = { ...NOTIFICATIONS['alert.raised drill'], zone: null }
    const subjectOf = async (notification: Notification) =>
      (await email.render(messageOf('email', { notification }))).subject
    expect(await subjectOf(drill)).toBe('DRILL: Earthquake, no real event')
    const raised = { ...NOTIFICATIONS['alert.raised'], zone: null }
    expect(await subjectOf(raised)).toBe('M 5.7 - Sea of Marmara')
  })

  test('is the same at every attempt, and says how to stop', async () => {
    const links = {
      acknowledge_url: 'https://watch.example/links/acknowledge?token=a',
      unsubscribe_url: 'https://watch.example/links/unsubscribe?token=b',
    }
    const one = await email.render(messageOf('email', { ...links, now: new Date(1) }))
    const two = await email.render(messageOf('email', { ...links, now: new Date(2) }))
    expect(two).toEqual(one)
    for (const link of Object.values(links)) {
      expect(one.text).toContain(link)
      expect(one.html).toContain(`href="${link}"`)
    }
    expect(one.html).not.toMatch(/<img|<script|src=/)
  })

  test('is of the thread of its alert, or of none', async () => {
    const threadOf = async (notification: Notification) => {
      const { thread, is_reply } = await email.render(messageOf('email', { notification }))
      return [thread, is_reply]
    }
    expect(await threadOf(NOTIFICATIONS['alert.raised'])).toEqual([`alert-${ALERT_ID}`, false])
    for (const type of ['alert.ended', 'alert.revised', 'alert.acknowledged'] as const) {
      expect(await threadOf(NOTIFICATIONS[type])).toEqual([`alert-${ALERT_ID}`, true])
    }
    for (const type of ['alert.digest', 'zone.blind', 'channel.test'] as const) {
      expect(await threadOf(NOTIFICATIONS[type])).toEqual([null, false])
    }
  })

  test('has the date of its event, or of its sending where that has none', async () => {
    const dateOf = async (timestamp: string) => {
      const notification = { ...NOTIFICATIONS['alert.raised'], timestamp }
      return (await email.render(messageOf('email', { notification, now }))).date
    }
    expect(await dateOf('2026-03-01T12:00:00Z')).toEqual(new Date('2026-03-01T12:00:00Z'))
    expect(await dateOf('soon')).toEqual(now)
  })

  test('that asks for consent has the link for it, no way to stop, and no thread', async () => {
    const type = 'channel.confirmation'
    const notification = { type, timestamp: now.toISOString(), alert: null, zone: null } as const
    const confirm_url = 'https://watch.example/links/confirm?token=a'
    const given = { notification, confirm_url, unsubscribe_url: 'https://watch.example/no' }
    const sent = await email.render(messageOf('email', given))
    expect(sent).toMatchObject({ thread: null, is_reply: false, unsubscribe_url: null })
    for (const text of [sent.text, sent.html]) {
      expect(text).toContain(confirm_url)
      expect(text).toContain('watch.example')
      expect(text).not.toContain('https://watch.example/no')
    }
    for (const missing of [{ confirm_url: null }, { public_url: null }]) {
      const message = messageOf('email', { ...given, ...missing })
      await expect(email.render(message)).rejects.toThrow('a confirmation without a link')
    }
  })

  test('goes to an address that was permitted when it was saved, and to none that is not one', async () => {
    const at = (target: string) => email.render(messageOf('email', { target }))
    expect((await at('ops@Mail.Internal')).to).toBe('ops@mail.internal')
    await expect(at('ops@mail.internal, victim@example.com')).rejects.toThrow('is not valid')
  })

  test('of a digest that is too long for Gmail is split', () => {
    const one = NOTIFICATIONS['alert.digest']
    const alerts = one.alerts ?? []
    const style = { language: 'en', time_zone: 'UTC' } as const
    expect(email.fits(one, style)).toBe(true)
    const many = Array.from({ length: 300 }, () => alerts).flat()
    expect(email.fits({ ...one, alerts: many }, style)).toBe(false)
  })
})
