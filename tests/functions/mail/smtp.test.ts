import type { SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, test } from 'vitest'
import type { MailRequest } from '../../../functions/channels/transport/send.ts'
import type { SmtpSettings } from '../../../functions/mail/settings.ts'
import { createSmtp } from '../../../functions/mail/smtp.ts'
import { LOCALHOST, startMailServer } from '../../support/servers/mail-server.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const from = { name: 'Nöbet, "Watchpost"', address: 'alerts@watch.example' }
const mail: MailRequest = {
  transport: 'mail',
  id: '7b1f0c4e-0000-4000-8000-000000000001',
  to: 'ops@xn--mnchen-3ya.example',
  subject: 'M 5.2 – Bodrum, Türkiye',
  text: 'First line\n.\nA line that starts with a dot stays.',
  html: '<p>Günaydın</p>',
  date: new Date('2026-05-01T12:00:00Z'),
  thread: 'alert-1',
  is_reply: false,
  unsubscribe_url: `https://watch.example/links/unsubscribe?token=${'x'.repeat(92)}`,
}

async function prepare(
  options?: SMTPServerOptions,
  {
    ca,
    timeout_ms = 5_000,
    ...settings
  }: Partial<SmtpSettings> & { ca?: string; timeout_ms?: number } = {},
) {
  const server = await startMailServer(options)
  const target = { host: 'localhost', port: server.port, tls: 'none', ...settings } as const
  const send = createSmtp(target, { from, timeout_ms, ...(ca ? { ca } : {}) })
  closers.push(send.close, server.close)
  return { server, send }
}

const refusing = (code: number, text: string) =>
  Object.assign(new Error(text), { responseCode: code })
const PLAIN = { disabledCommands: ['STARTTLS', 'AUTH'] }

describe('a mail', () => {
  test('arrives with both parts and the headers of an alert', async () => {
    const { server, send } = await prepare()
    expect(await send(mail)).toMatchObject({ ok: true, status: 250, stage: 'data' })
    const [got] = server.mails
    // The server shows the domain as people write it.
    expect(server.to).toEqual(['ops@münchen.example'])
    expect(got).toMatchObject({
      from: { value: [from] },
      subject: mail.subject,
      text: mail.text,
      html: mail.html,
      messageId: '<7b1f0c4e-0000-4000-8000-000000000001@watch.example>',
      date: mail.date,
      references: '<alert-1@watch.example>',
    })
    expect(got?.inReplyTo).toBeUndefined()
    expect(got?.headers.get('auto-submitted')).toBe('auto-generated')
    const unfolded = server.raw[0]?.replace(/\r\n[ \t]+/g, ' ')
    expect(unfolded).toContain(`\r\nList-Unsubscribe: <${mail.unsubscribe_url}>\r\n`)
    expect(unfolded).toContain('\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n')
  })

  test('that follows another answers it; one of its own has no thread and no list', async () => {
    const { server, send } = await prepare()
    await send({ ...mail, is_reply: true })
    await send({ ...mail, thread: null, unsubscribe_url: null })
    const [reply, own] = server.mails
    expect(reply?.inReplyTo).toBe('<alert-1@watch.example>')
    expect(own?.references).toBeUndefined()
    expect(server.raw[1]).not.toMatch(/^List-/m)
  })

  test('goes over the connection of the one before', async () => {
    const { server, send } = await prepare()
    for (let nr = 0; nr < 3; nr++) expect(await send(mail)).toMatchObject({ ok: true })
    expect([server.mails.length, server.connections()]).toEqual([3, 1])
  })

  test('shares three connections with all that are sent at once', async () => {
    const { server, send } = await prepare()
    const sent = await Promise.all(Array.from({ length: 12 }, () => send(mail)))
    expect(sent.every(({ ok }) => ok)).toBe(true)
    expect([server.mails.length, server.connections()]).toEqual([12, 3])
  })

  test('cannot be given more recipients or headers by its texts', async () => {
    const { server, send } = await prepare()
    const evil = 'x\r\nBcc: victim@victim.example\r\n\r\nbody'
    await send({ ...mail, subject: evil, text: evil })
    expect(server.to).toHaveLength(1)
    const [got] = server.mails
    expect(got?.bcc).toBeUndefined()
    expect(got?.headers.has('bcc')).toBe(false)
    expect(got?.html).toBe(mail.html)
  })
})

describe('the answer of a server', () => {
  test('that refuses the recipient is passed on, with the place', async () => {
    const { server, send } = await prepare({
      ...PLAIN,
      onRcptTo: (_, __, done) => done(refusing(550, '5.1.1 no such user')),
    })
    expect(await send(mail)).toMatchObject({
      ok: true,
      status: 550,
      stage: 'recipient',
      body: '550 5.1.1 no such user',
    })
    expect(server.mails).toEqual([])
  })

  test('4xx, then ok: the same mail is taken at the next attempt', async () => {
    let asked = 0
    const { server, send } = await prepare({
      ...PLAIN,
      onRcptTo: (_, __, done) => done(asked++ ? null : refusing(451, '4.7.1 greylisted')),
    })
    expect(await send(mail)).toMatchObject({ ok: true, status: 451, stage: 'recipient' })
    expect(await send(mail)).toMatchObject({ ok: true, status: 250 })
    expect(server.mails).toHaveLength(1)
  })

  test.each([
    ['sender', { onMailFrom: (_: unknown, __: unknown, done: Done) => done(refusing(553, 'no')) }],
    [
      'data',
      {
        onData: (stream: NodeJS.ReadableStream, _: unknown, done: Done) => {
          stream.resume()
          stream.on('end', () => done(refusing(554, '5.7.1 spam')))
        },
      },
    ],
  ] as const)('says that it came as far as the %s', async (stage, options) => {
    const { send } = await prepare({ ...PLAIN, ...options })
    expect(await send(mail)).toMatchObject({ ok: true, stage })
  })

  test('that drops the connection in DATA is none, and the next attempt has the same Message-ID', async () => {
    let is_dropping = true
    const taken: string[] = []
    const { server, send } = await prepare({
      ...PLAIN,
      onData(stream, _, done) {
        let text = ''
        stream.on('data', (chunk) => {
          text += chunk
        })
        stream.on('end', () => {
          taken.push(text.match(/^Message-ID: (.+)\r$/m)?.[1] ?? '')
          if (is_dropping) server.drop()
          else done(null)
        })
      },
    })
    expect(await send(mail)).toMatchObject({ ok: false, failure: 'unreachable' })
    is_dropping = false
    expect(await send(mail)).toMatchObject({ ok: true, status: 250 })
    expect(taken).toHaveLength(2)
    expect(new Set(taken)).toEqual(new Set([`<${mail.id}@watch.example>`]))
  })

  test('that does not come ends the attempt in time', async () => {
    const { send } = await prepare({ ...PLAIN, onData: () => undefined }, { timeout_ms: 300 })
    expect(await send(mail)).toMatchObject({ ok: false, failure: 'timeout' })
  })
})

type Done = (error?: Error | null) => void

describe('the connection', () => {
  test.each([
    ['starttls', {}],
    ['implicit', { secure: true }],
  ] as const)('is encrypted (%s) and sends the password only then', async (tls, options) => {
    const said: unknown[] = []
    const { server, send } = await prepare(
      {
        ...options,
        authOptional: false,
        onAuth({ username, password }, session, done) {
          said.push([username, password, session.secure])
          done(null, { user: username })
        },
      },
      { tls, user: 'post', password: 'p@ss/word', ca: LOCALHOST.cert },
    )
    expect(await send(mail)).toMatchObject({ ok: true, status: 250 })
    expect(said).toEqual([['post', 'p@ss/word', true]])
    expect(server.mails).toHaveLength(1)
  })

  test.each([
    ['a certificate that nobody we trust has signed', 'starttls', {}, 'localhost', undefined],
    ['such a certificate from the start', 'implicit', { secure: true }, 'localhost', undefined],
    ['a certificate for another name', 'starttls', {}, '127.0.0.1', LOCALHOST.cert],
    ['no encryption', 'starttls', PLAIN, 'localhost', undefined],
  ] as const)('is not used with %s', async (_, tls, options, host, ca) => {
    const { server, send } = await prepare(options, { tls, host, ...(ca ? { ca } : {}) })
    expect(await send(mail)).toMatchObject({ ok: false, failure: 'tls' })
    expect(server.mails).toEqual([])
  })

  test('with a wrong password says so', async () => {
    const { send } = await prepare(
      { authOptional: false, onAuth: (_, __, done) => done(new Error('Invalid login')) },
      { tls: 'starttls', user: 'post', password: 'wrong', ca: LOCALHOST.cert },
    )
    expect(await send(mail)).toMatchObject({ ok: true, status: 535, stage: 'connection' })
  })

  test('that nobody answers, or whose name nobody knows, is a failure of its own', async () => {
    const options = { from, timeout_ms: 3_000 }
    const closed = createSmtp({ host: 'localhost', port: 1, tls: 'none' }, options)
    const unknown = createSmtp({ host: 'mail.watch.invalid', port: 25, tls: 'none' }, options)
    closers.push(closed.close, unknown.close)
    expect(await closed(mail)).toMatchObject({ ok: false, failure: 'unreachable' })
    expect(await unknown(mail)).toMatchObject({ ok: false, failure: 'unresolvable' })
  })
})
