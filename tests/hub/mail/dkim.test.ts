import { createHash, createPublicKey, createVerify } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  makeKey,
  publishedAs,
  recordOf,
  removeKey,
  setSigning,
  signed,
} from '../../../hub/mail/smtp/dkim.ts'
import { compose } from '../../../hub/mail/smtp/message.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import {
  apiOf,
  draftsOf,
  LEAD,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../support/mail-help.ts'

let hub: TestHub
let api: ReturnType<typeof apiOf>
const DOMAIN = 'demir.example'
beforeAll(async () => {
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir' })
})
afterAll(() => hub.close())

/** One header in the relaxed form (RFC 6376, 3.4.2). */
const relaxed = (header: string) => {
  const [, name = '', value = ''] = /^([^:]+):([\s\S]*)$/.exec(header) ?? []
  return `${name.trim().toLowerCase()}:${value
    .replace(/\r\n/g, '')
    .replace(/[\t ]+/g, ' ')
    .trim()}`
}

/** Checks a signed mail against the published record, as a receiver does (RFC 6376, 6.1). */
function verify(bytes: Buffer, record: string): { isValid: boolean; tags: Record<string, string> } {
  const source = bytes.toString('latin1')
  const end = source.indexOf('\r\n\r\n')
  const headers = source.slice(0, end).split(/\r\n(?![\t ])/)
  const body = source.slice(end + 4)
  const signature = headers.find((one) => /^dkim-signature:/i.test(one)) ?? ''
  const tags = Object.fromEntries(
    signature
      .slice(signature.indexOf(':') + 1)
      .split(';')
      .map((tag) => {
        const at = tag.indexOf('=')
        return [tag.slice(0, at).trim(), tag.slice(at + 1).replace(/\s+/g, '')]
      }),
  )
  const text = body
    .split('\r\n')
    .map((line) => line.replace(/[\t ]+/g, ' ').replace(/ $/, ''))
    .join('\r\n')
    .replace(/(\r\n)*$/, '\r\n')
  const bodyHash = createHash('sha256').update(text, 'latin1').digest('base64')
  const left = headers.filter((one) => one !== signature).reverse()
  const chosen = (tags.h ?? '').split(':').flatMap((name) => {
    const at = left.findIndex((one) => one.toLowerCase().startsWith(`${name.toLowerCase()}:`))
    return at === -1 ? [] : left.splice(at, 1)
  })
  const bare = relaxed(signature).replace(/([;:\s]b=)[^;]*/, '$1')
  const data = `${chosen.map((one) => `${relaxed(one)}\r\n`).join('')}${bare.trimEnd()}`
  const [, p = ''] = /p=([^;]+)/.exec(record) ?? []
  const key = createPublicKey({ key: Buffer.from(p, 'base64'), format: 'der', type: 'spki' })
  const isSigned = createVerify('RSA-SHA256')
    .update(data, 'latin1')
    .verify(key, tags.b ?? '', 'base64')
  return { isValid: isSigned && bodyHash === tags.bh, tags }
}

const MAIL = {
  from: { name: 'Ayşe Demir', address: `ayse@${DOMAIN}` },
  to: { name: 'Jo Öz', address: 'jo@client.example' },
  reply_to: { address: `antwort@${DOMAIN}` },
  subject: 'Ölçüm için bir soru, oldukça uzun bir konu satırı ile birlikte gönderiliyor',
  html: '<p>Merhaba  Jo,</p>\n<p>çok kısa.</p>',
  text: 'Merhaba  Jo,\n\nçok kısa.   \n\n\n',
  message_id: `<x@${DOMAIN}>`,
  date: new Date('2026-11-25T12:00:00Z'),
  unsubscribe_url: 'https://hub.demir.example/api/cockpit/u/x',
}

describe('a signature', () => {
  test('is valid for the record, with a key of 2,048 bits that only its owner reads', async () => {
    const key = await makeKey(hub.paths, DOMAIN)
    const { name, value } = recordOf(DOMAIN, key)
    expect(name).toMatch(/^hub\d{8}\._domainkey\.demir\.example$/)
    const bytes = await signed(await compose(MAIL), DOMAIN, key)
    // SMTP ends each line by CRLF, and so does the form that is signed.
    const sent = bytes.toString('latin1').replace(/\r?\n/g, '\r\n')
    const { isValid, tags } = verify(Buffer.from(sent, 'latin1'), value)
    expect(isValid).toBe(true)
    expect(tags).toMatchObject({ v: '1', a: 'rsa-sha256', d: DOMAIN, s: key.selector })
    // RFC 8058, 4: one-click unsubscribing counts only if both of its headers are signed.
    const covered = (tags.h ?? '').toLowerCase().split(':')
    for (const header of ['from', 'subject', 'list-unsubscribe', 'list-unsubscribe-post']) {
      expect(covered).toContain(header)
    }
    const [, p = ''] = /p=(.+)$/.exec(value) ?? []
    const der = { key: Buffer.from(p, 'base64'), format: 'der', type: 'spki' } as const
    expect(createPublicKey(der).asymmetricKeyDetails?.modulusLength).toBe(2048)
    const file = join(hub.paths.config_dir, 'dkim.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readFile(file, 'utf8')).toContain('PRIVATE KEY')
  })

  test.each([
    ['the subject', (text: string) => text.replace('Subject: ', 'Subject: Re: ')],
    ['the sender', (text: string) => text.replace(`ayse@${DOMAIN}`, `eve@${DOMAIN}`)],
    ['the body', (text: string) => `${text}more\r\n`],
    ['the link', (text: string) => text.replace('/u/x', '/u/y')],
  ])('is void when somebody changes %s', async (_, change) => {
    const key = await makeKey(hub.paths, DOMAIN)
    const bytes = await signed(await compose(MAIL), DOMAIN, key)
    const sent = bytes.toString('latin1').replace(/\r?\n/g, '\r\n')
    const { value } = recordOf(DOMAIN, key)
    expect(verify(Buffer.from(sent, 'latin1'), value).isValid).toBe(true)
    const changed = Buffer.from(change(sent), 'latin1')
    expect(changed.toString('latin1')).not.toBe(sent)
    expect(verify(changed, value).isValid).toBe(false)
  })
})

test('the DNS tells a published key from another, a missing one and no answer', async () => {
  const key = await makeKey(hub.paths, DOMAIN)
  const { name, value } = recordOf(DOMAIN, key)
  const answer = (records: string[][]) => async (asked: string) => {
    expect(asked).toBe(name)
    return records
  }
  const fails = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }))
  // A record beyond 255 characters comes in pieces, and people add spaces.
  const pieces = [value.slice(0, 200), value.slice(200)]
  expect(await publishedAs(DOMAIN, key, answer([['x'], pieces]))).toBe('present')
  expect(await publishedAs(DOMAIN, key, answer([['v=DKIM1;p=MIGf AAAA']]))).toBe('other')
  expect(await publishedAs(DOMAIN, key, answer([['v=DKIM1; p=']]))).toBe('missing')
  expect(await publishedAs(DOMAIN, key, fails('ENOTFOUND'))).toBe('missing')
  expect(await publishedAs(DOMAIN, key, fails('ECONNREFUSED'))).toBe('unknown')
})

describe('a mail of a project', () => {
  let smtp: MailServer
  let lead_id: string
  const raw: Buffer[] = []
  beforeAll(async () => {
    smtp = await startMailServer({
      onData(stream, _session, callback) {
        const parts: Buffer[] = []
        stream.on('data', (part: Buffer) => parts.push(part))
        stream.on('end', () => {
          raw.push(Buffer.concat(parts))
          callback()
        })
      },
    })
    await setBrand(api)
    await api.put('settings/mail', smtpSettings(smtp.port))
    const data = { name: 'Jo Öz', email: 'jo@client.example', company: 'Client', ...LEAD }
    lead_id = (await api.ok('lead/quick_add', { slug: 'demir', data })).lead.id
  })
  afterAll(() => smtp.close())
  const { of, create } = draftsOf(() => ({ api, lead_id }))
  const send = async () => {
    const id = await create()
    for (const step of ['render', 'approve', 'push', 'send']) await api.ok(`draft/${step}`, of(id))
    await hub.deps.mailer.run()
    return raw.at(-1) ?? Buffer.alloc(0)
  }

  test('is signed from when the DNS has the record, or does not answer and somebody asks for it', async () => {
    const made = (await api.ok('projects/dkim/make', { slug: 'demir' })).dkim
    const dns = vi.spyOn(Resolver.prototype, 'resolveTxt')
    onTestFinished(() => dns.mockRestore())
    const away = Object.assign(new Error('no'), { code: 'ECONNREFUSED' })
    for (const [records, sign_anyway, published, signs, said] of [
      [away, false, 'unknown', false, 'DNS did not answer about hub'],
      [away, true, 'unknown', true, 'DNS did not answer here. Mails are signed'],
      [away, false, 'unknown', true, 'DNS did not answer about hub'],
      [[], true, 'missing', false, 'has no such record yet'],
      [[[made.record.value]], false, 'present', true, 'is published. Mails are signed'],
      [[['v=DKIM1; p=AAAA']], true, 'other', false, 'has another key'],
    ] as const) {
      dns.mockImplementation(async () => {
        if (records instanceof Error) throw records
        return records.map((parts) => [...parts])
      })
      const asked = { slug: 'demir', ...(sign_anyway ? { sign_anyway } : {}) }
      expect(await api.ok('projects/dkim/check', asked)).toEqual({
        dkim: { ...made, signs },
        published,
        message: expect.stringContaining(said),
      })
    }
  })

  test('is signed once its key is in use, with the record that the page shows', async () => {
    const made = (await api.ok('projects/dkim/make', { slug: 'demir' })).dkim
    expect(made).toMatchObject({ domain: DOMAIN, signs: false })
    expect(JSON.stringify(made)).not.toContain('PRIVATE')
    expect((await send()).toString('latin1')).not.toMatch(/^dkim-signature:/im)
    await setSigning(hub.paths, DOMAIN, true)
    const { dkim } = (await api.get('projects/brand?project=demir')).body
    expect(dkim).toEqual({ ...made, signs: true })
    expect(verify(await send(), dkim.record.value).isValid).toBe(true)
    await api.ok('projects/dkim/remove', { slug: 'demir' })
    expect((await send()).toString('latin1')).not.toMatch(/^dkim-signature:/im)
    const check = await api.post('projects/dkim/check', { slug: 'demir' })
    expect(check).toMatchObject({ status: 409, body: { detail: expect.stringContaining(DOMAIN) } })
  })
})

test('no key of a domain has the selector of one before it on that day', async () => {
  const now = new Date('2026-11-30T10:00:00Z')
  const selectors = []
  for (let nth = 0; nth < 4; nth += 1) {
    selectors.push((await makeKey(hub.paths, 'often.example', now)).selector)
  }
  expect(selectors).toEqual(['hub20261130', 'hub20261130b', 'hub20261130c', 'hub20261130d'])
  const next = await makeKey(hub.paths, 'often.example', new Date('2026-12-01T10:00:00Z'))
  expect(next.selector).toBe('hub20261201')
  await removeKey(hub.paths, 'often.example')
})
