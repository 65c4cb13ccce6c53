import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { domainOf, judgeAddress, normaliseEmail } from '../../../hub/mail/address.ts'
import { checkSenderDns, type TxtResolver } from '../../../hub/mail/smtp/sender-dns.ts'

describe('an e-mail address', () => {
  test.each([
    [' Jo.Doe@Example.COM ', 'jo.doe@example.com'],
    ['AYŞE@Öğün.com.tr', 'ayşe@xn--n-jfa90a5p.com.tr'],
    ['İLKER@İSTANBUL.COM', 'ilker@istanbul.com'],
    ["o'neil+news@mail.example.co.uk.", "o'neil+news@mail.example.co.uk"],
    ['jo@b.co', 'jo@b.co'],
    [`${'x'.repeat(64)}@example.com`, `${'x'.repeat(64)}@example.com`],
    [`${'x'.repeat(64)}@${'y.'.repeat(93)}com`, `${'x'.repeat(64)}@${'y.'.repeat(93)}com`],
  ])('%j is compared as %j', (given, normal) => {
    if (given.includes('ğ')) expect(normaliseEmail(given)).toMatch(/^ayşe@xn--[a-z0-9-]+\.com\.tr$/)
    else expect(normaliseEmail(given)).toBe(normal)
  })

  test.each([
    '',
    'jo',
    '@example.com',
    'jo@',
    'jo@localhost',
    'jo@exa mple.com',
    'jo@example..com',
    'jo..doe@example.com',
    'jo@192.0.2.1',
    'jo@example.com\r\nBcc: al@example.com',
    'jo@example.com,al@example.com',
    'Jo <jo@example.com>',
    `${'x'.repeat(65)}@example.com`,
    `jo@${'x'.repeat(64)}.com`,
    // One character more than 254.
    `${'x'.repeat(64)}@${'y.'.repeat(93)}info`,
    'jo@example.com-',
    'jo@example.com_',
    '"jo doe"@example.com',
  ])('%j is not an address', (given) => {
    expect(normaliseEmail(given)).toBeNull()
    expect(judgeAddress(given)).toBe('invalid_email')
  })

  test('that is normal stays as it is', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (email) => {
        const once = normaliseEmail(email)
        if (once !== null) expect(normaliseEmail(once)).toBe(once)
      }),
    )
  })

  test('never holds a line break, a space, a bracket or a comma', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (local, domain) => {
        expect(normaliseEmail(`${local}@${domain}.com`) ?? '').not.toMatch(/[\s<>(),;:"\\[\]]/)
      }),
    )
  })

  test.each([
    ['info@demir.com.tr', 'role_address'],
    ['Satis@demir.com.tr', 'role_address'],
    ['no-reply@demir.com.tr', 'role_address'],
    ['donotreply@demir.com.tr', 'role_address'],
    ['noreply@demir.com.tr', 'role_address'],
    ['no.reply-eu@demir.com.tr', 'role_address'],
    ['do_not.reply@demir.com.tr', 'role_address'],
    ['yanitlamayiniz@demir.com.tr', 'role_address'],
    ['bounce@demir.com.tr', 'role_address'],
    ['bounces+17@demir.com.tr', 'role_address'],
    ['bounce.eu@demir.com.tr', 'role_address'],
    ['bouncer@demir.com.tr', null],
    ['jo.noreply@demir.com.tr', null],
    ['jo.bounce@demir.com.tr', null],
    ['nora@demir.com.tr', null],
    ['sales2@demir.com.tr', 'role_address'],
    ['sales-12@demir.com.tr', 'role_address'],
    ['sales_7@demir.com.tr', 'role_address'],
    ['sales7jo@demir.com.tr', null],
    ['7sales@demir.com.tr', null],
    ['123@demir.com.tr', null],
    ['jo.yanitlamayin@demir.com.tr', null],
    ['sales+a+b@demir.com.tr', 'role_address'],
    ['support+eu@demir.com.tr', 'role_address'],
    ['jo@mailinator.com', 'disposable_address'],
    ['jo@eu.mailinator.com', 'disposable_address'],
    ['jo@0-mailer.dynv6.net', 'disposable_address'],
    ['ayse@demir.com.tr', null],
    ['infante@demir.com.tr', null],
    ['bounty@demir.com.tr', null],
  ])('%s is judged %s', (email, fault) => {
    expect(judgeAddress(email)).toBe(fault)
  })

  test('is judged in microseconds: a campaign has thousands of them', () => {
    judgeAddress('jo@demir.example')
    const before = process.cpuUsage()
    for (let n = 0; n < 2000; n += 1) judgeAddress(`jo${n}@demir${n}.example`)
    const { user, system } = process.cpuUsage(before)
    // Making the set of disposable domains anew for each of them takes two seconds and more.
    expect(user + system).toBeLessThan(400_000)
  })
})

test.each([
  ['https://www.demir.com.tr/iletisim?x=1', 'demir.com.tr'],
  ['demir.co.uk', 'demir.co.uk'],
  ['Shop.Demir.CO.UK', 'demir.co.uk'],
  ['jo@mail.demir.com', 'demir.com'],
  ['https://jo@demir.com/', 'demir.com'],
  ['jo#1@mail.demir.com', 'demir.com'],
  ['jo#@demir.com', 'demir.com'],
  ['jo?x@demir.com', 'demir.com'],
  [' demir.com ', 'demir.com'],
  ['jo@a.example@demir.com', 'demir.com'],
  ['https://demir.com/@jo', 'demir.com'],
  ['https://www.DEMİR.com/', 'demir.com'],
  ['http://192.0.2.1/', null],
  ['not a website', null],
  ['com.tr', null],
])('the domain of %j is %j', (given, domain) => {
  expect(domainOf(given)).toBe(domain)
})

describe('the DNS of a sender', () => {
  const resolver =
    (records: Record<string, string[][]>, otherwise = 'ENOTFOUND'): TxtResolver =>
    async (name) => {
      const found = records[name]
      if (found) return found
      throw Object.assign(new Error(name), { code: otherwise })
    }

  test('is found, split records joined', async () => {
    const resolve = resolver({
      'demir.example': [['some-verification=1'], ['v=spf1 include:', 'mail.example -all']],
      '_dmarc.demir.example': [['v=DMARC1; p=reject']],
      'wp._domainkey.demir.example': [['v=DKIM1; k=rsa; p=MIGf', 'MA0']],
    })
    const found = await checkSenderDns('demir.example', { resolve, selectors: ['wp'] })
    expect(found.spf).toMatchObject({
      state: 'present',
      record: 'v=spf1 include:mail.example -all',
    })
    expect(found.dkim).toMatchObject({ state: 'present', record: 'v=DKIM1; k=rsa; p=MIGfMA0' })
    expect(found.dmarc.state).toBe('present')
  })

  test('is missing when there is no such record, and a revoked key is none', async () => {
    const resolve = resolver({
      'demir.example': [['v=spf10 not this']],
      'default._domainkey.demir.example': [['v=DKIM1; p=']],
    })
    const found = await checkSenderDns('demir.example', { resolve })
    expect([found.spf.state, found.dkim.state, found.dmarc.state]).toEqual(Array(3).fill('missing'))
    expect(found.dmarc.advice?.tr).toContain('_dmarc.demir.example')
  })

  test('is unknown offline, never "missing"', async () => {
    const found = await checkSenderDns('demir.example', { resolve: resolver({}, 'ECONNREFUSED') })
    expect([found.spf.state, found.dkim.state, found.dmarc.state]).toEqual(Array(3).fill('unknown'))
  })
})
