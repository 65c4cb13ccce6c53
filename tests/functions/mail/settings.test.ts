import { describe, expect, test } from 'vitest'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
import { readConfig } from '../../../functions/config.ts'
import { mailboxOf, parseMailAddress } from '../../../functions/mail/address.ts'
import { parseSender, parseSmtpUrl } from '../../../functions/mail/settings.ts'

const allow = parseAllowList('mail.internal')

describe('an address', () => {
  test.each([
    ['ops@example.com', 'ops@example.com'],
    ['Ops.Team+night@EXAMPLE.com', 'Ops.Team+night@example.com'],
    ["o'brien!#$%&*/=?^_`{|}~-@example.com", "o'brien!#$%&*/=?^_`{|}~-@example.com"],
    ['nöbet@example.com', null],
    ['ops@münchen.example', 'ops@xn--mnchen-3ya.example'],
    ['ops@ÖRNEK.example', 'ops@xn--rnek-4qa.example'],
    ['ops@mail.internal', 'ops@mail.internal'],
    ['o@a.io', 'o@a.io'],
    ['first.middle.last@example.com', 'first.middle.last@example.com'],
    ['ops@example.1com', 'ops@example.1com'],
    ['ops@example.com1', 'ops@example.com1'],
    ['ops@1.example', 'ops@1.example'],
    ['ops@mail.1.example', 'ops@mail.1.example'],
    [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
    [`ops@${'a'.repeat(63)}.com`, `ops@${'a'.repeat(63)}.com`],
  ])('%s', (text, address) => {
    const parsed = parseMailAddress(text, allow)
    expect(parsed.ok ? parsed.address : null).toBe(address)
  })

  test.each([
    '',
    'ops',
    '@example.com',
    'ops@',
    'ops@example',
    'ops@localhost',
    'ops@db.internal',
    'ops@metadata.google.internal',
    'ops@127.0.0.1',
    'ops@[127.0.0.1]',
    'ops@[IPv6:::1]',
    'ops@1.2.3.4',
    'ops@1.2.3.44',
    'ops@2130706433.1',
    'ops@example.com:25',
    'ops@example.com/path',
    'ops@example.com?cc=a',
    'ops@ex%61mple.com',
    'ops@-example.com',
    'ops@example..com',
    'ops@example.com.',
    'ops@exa_mple.com',
    `ops@${'a'.repeat(64)}.com`,
    `${'a'.repeat(65)}@example.com`,
    `ops@${'a123456789.'.repeat(24)}com`,
    '.ops@example.com',
    'ops.@example.com',
    'o..ps@example.com',
    'a@b@example.com',
    '"quoted one"@example.com',
    '"a"@example.com',
    'Ops <ops@example.com>',
    'ops@example.com, victim@example.com',
    'ops@example.com;victim@example.com',
    'ops@example.com victim@example.com',
    'ops@example.com\r\nBcc: victim@example.com',
    'ops\n@example.com',
    'ops\0@example.com',
    'ops@exam\u202eple.com',
    'ops@example.com\u2028',
    'ops(comment)@example.com',
    '%s@example.com%0d%0aRCPT TO:<victim@example.com>',
  ])('is refused with what to do: %j', (text) => {
    const parsed = parseMailAddress(text, allow)
    expect(parsed).toMatchObject({ ok: false, message: expect.stringMatching(/^[A-Z"].{20,}\.$/) })
  })

  test.each([
    [
      'ops',
      'malformed',
      'Send one address, such as ops@example.com: no name, no list and no quotes.',
    ],
    ['@example.com', 'malformed', 'Send one address, such as'],
    ['o..ps@example.com', 'malformed', 'Before the @ only letters without accents'],
    [
      `${'a'.repeat(65)}@example.com`,
      'malformed',
      'Before the @ there can be at most 64 characters.',
    ],
    ['ops@example', 'malformed', 'After the @ there must be a domain with a dot'],
    ['ops@db.internal', 'private_name', '"db.internal" is not a public domain. The operator can'],
  ])('that is refused names its fault: %s', (text, code, message) => {
    const refusal = { ok: false, code, message: expect.stringContaining(message) }
    expect(parseMailAddress(text, allow)).toMatchObject(refusal)
  })

  test('has at most 254 characters', () => {
    const ofLength = (length: number) =>
      `ops@${`${'a'.repeat(49)}.`.repeat(4)}${'b'.repeat(length - 208)}.com`
    const longest = ofLength(254)
    expect(longest).toHaveLength(254)
    expect(parseMailAddress(longest, allow)).toMatchObject({ ok: true, address: longest })
    expect(parseMailAddress(ofLength(255), allow)).toMatchObject({
      ...{ ok: false, code: 'malformed', message: 'An address has at most 254 characters.' },
    })
  })

  test('is counted by the mailbox that it leads to', () => {
    expect(mailboxOf('Ops+a@example.com')).toBe('ops@example.com')
    expect(mailboxOf('ops+b+c@example.com')).toBe('ops@example.com')
    expect(mailboxOf('o.ps@example.com')).toBe('o.ps@example.com')
    // Those without a name before the tag are mailboxes of their own.
    expect(mailboxOf('+A@example.com')).toBe('+a@example.com')
    expect(mailboxOf('+a+b@example.org')).toBe('+a@example.org')
  })
})

describe('the mail server of the operator', () => {
  test.each([
    [
      'smtps://ops%40a.example:p%2Fss@mail.example.com',
      { port: 465, tls: 'implicit', user: 'ops@a.example', password: 'p/ss' },
    ],
    ['smtp://mail.example.com', { port: 587, tls: 'starttls' }],
    ['smtp://mail.example.com:2525/', { port: 2525, tls: 'starttls' }],
    ['smtp://mail.example.com?tls=none', { port: 25, tls: 'none' }],
    ['smtp://[::1]:26?tls=none', { host: '::1', port: 26, tls: 'none' }],
  ])('%s', (text, settings) => {
    expect(parseSmtpUrl(text)).toEqual({ host: 'mail.example.com', ...settings })
  })

  test.each([
    'https://mail.example.com',
    'smtp://user:password@mail.example.com?tls=none',
    'smtp://mail.example.com?tls.rejectUnauthorized=false',
    'smtps://mail.example.com?tls=none',
    'smtp://mail.example.com/inbox',
    'smtp://mail.example.com#inbox',
    'smtp:',
    'mail.example.com',
  ])('is refused: %s', (text) => {
    // With smtps:// the parameter is a contradiction.
    expect(() => parseSmtpUrl(text)).toThrow()
  })

  test('sends from an address, with a name or without', () => {
    expect(parseSender('alerts@example.com')).toEqual({
      name: 'Watchpost',
      address: 'alerts@example.com',
    })
    expect(parseSender('Nöbet, İzmir <alerts@example.com>')).toEqual({
      name: 'Nöbet, İzmir',
      address: 'alerts@example.com',
    })
    const spaced = { name: 'Night shift', address: 'alerts@example.com' }
    expect(parseSender(' Night shift < alerts@example.com >')).toEqual(spaced)
    expect(parseSender(' alerts@example.com ')).toEqual({ ...spaced, name: 'Watchpost' })
    expect(parseSender(' <alerts@example.com>')).toEqual({ ...spaced, name: 'Watchpost' })
    for (const text of ['alerts', 'A <a@example.com> b', 'A\nB <a@example.com>', '"A" <a@b.com>'])
      expect(() => parseSender(text), text).toThrow()
  })
})

describe('the configuration', () => {
  const read = (more: Record<string, string>) =>
    readConfig(
      {
        SEAL_KEYS: Buffer.alloc(32).toString('base64'),
        JOBS_DATABASE_URL: 'postgres://a:b@localhost/c',
        ...more,
      },
      'jobs',
    ).mail

  test('has no mail without a server, and demands a sender with one', () => {
    expect(read({})).toBeUndefined()
    expect(read({ MAIL_FROM: 'alerts@example.com' })).toBeUndefined()
    const server = { SMTP_URL: 'smtps://mail.example.com' }
    expect(() => read(server)).toThrow('MAIL_FROM is not set.')
    expect(read({ ...server, MAIL_FROM: 'alerts@example.com' })).toMatchObject({
      from: { address: 'alerts@example.com' },
      smtp: { host: 'mail.example.com' },
      api: undefined,
    })
  })

  test('takes the mail API of Resend unless told another', () => {
    const mine = { RESEND_API_KEY: 're_1', MAIL_FROM: 'alerts@example.com' }
    expect(read(mine)?.api).toEqual({ url: 'https://api.resend.com', key: 're_1' })
    expect(read({ ...mine, RESEND_URL: 'https://mail.example.com/v1/' })?.api?.url).toBe(
      'https://mail.example.com/v1',
    )
  })

  test('names the variable and never its value', () => {
    const secret = 'smtp://user:hunter2@mail.example.com?tls=none'
    const fault = () => read({ SMTP_URL: secret, MAIL_FROM: 'alerts@example.com' })
    expect(fault).toThrow(/^SMTP_URL must be of the form smtps:/)
    expect(fault).not.toThrow('hunter2')
  })
})
