import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkImap, type ImapSettings, pollMailbox } from '../../../hub/mail/imap/imap.ts'
import { type ImapStandIn, startImap } from './imap-stand-in.ts'

const OURS = '<0123456789abcdef@demir.example>'

const reply = `Return-Path: <jo@client.example>
From: "Doe, Jo" <Jo@Client.example>
To: ayse@demir.example
Subject: =?utf-8?Q?Re:_G=C3=BCnayd=C4=B1n?=
Date: Sat, 21 Nov 2026 10:00:00 +0300
Message-ID: <reply@client.example>
In-Reply-To: ${OURS}
References: <first@demir.example>
 ${OURS}

Yes, please.
`

const absence = `From: jo@client.example
Subject: Out of office: Heat recovery
Date: Sat, 21 Nov 2026 10:00:00 +0300
Message-ID: <away@client.example>
In-Reply-To: ${OURS}
Auto-Submitted: auto-replied

Back on Monday.
`

const FOLDER = join(import.meta.dirname, 'reports')
const sample = (name: string) =>
  readFileSync(join(FOLDER, `${name}.eml`), 'utf8').replaceAll('@OURS@', OURS)
const postfix = sample('postfix')

let server: ImapStandIn
beforeEach(async () => {
  server = await startImap()
})
afterEach(() => server.close())

function settings(more: Partial<ImapSettings> = {}): ImapSettings {
  const { port } = server
  const login = { user: 'ayse', password: 'right', mailbox: 'INBOX' }
  return { host: '127.0.0.1', port, security: 'none', ...login, ...more }
}

async function receive(...mails: string[]) {
  const { cursor } = await pollMailbox(settings(), null)
  for (const mail of mails) server.deliver(mail)
  return pollMailbox(settings(), cursor)
}

/** A mail with an attachment of so many bytes in all. */
function withAttachment(bytes: number): string {
  const head = `From: jo@client.example
Content-Type: multipart/mixed; boundary=b

--b

Yes, please.
--b
Content-Type: application/octet-stream; name=plan.bin

`.replaceAll('\n', '\r\n')
  return `${head}${'x'.repeat(bytes - head.length - 7)}\r\n--b--`
}

describe('polling a mailbox', () => {
  test('starts with new mail, reads each once, and marks nothing as read', async () => {
    server.deliver(reply)
    const first = await pollMailbox(settings(), null)
    expect(first).toEqual({ cursor: { uid_validity: '1', last_uid: 1 }, mails: [] })
    expect((await pollMailbox(settings(), first.cursor)).mails).toEqual([])

    server.deliver(reply)
    const second = await pollMailbox(settings(), first.cursor)
    expect(second.mails.map((mail) => mail.uid)).toEqual([2])
    expect(second.cursor.last_uid).toBe(2)
    expect((await pollMailbox(settings(), second.cursor)).mails).toEqual([])
    const changing = server.commands.filter((each) =>
      /^(SELECT|UID STORE|UID COPY|APPEND)/.test(each),
    )
    expect(changing).toEqual([])
    expect(server.commands.some((each) => /BODY\[/.test(each))).toBe(false)
  })

  test('goes on where the limit ended', async () => {
    const { cursor } = await pollMailbox(settings(), null)
    for (let count = 0; count < 5; count += 1) server.deliver(reply)
    const first = await pollMailbox(settings(), cursor, { limit: 3 })
    expect(first.mails.map((mail) => mail.uid)).toEqual([1, 2, 3])
    const second = await pollMailbox(settings(), first.cursor, { limit: 3 })
    expect(second.mails.map((mail) => mail.uid)).toEqual([4, 5])
  })

  test('asks for what came since, and says goodbye', async () => {
    server.deliver(reply)
    const { cursor } = await pollMailbox(settings(), null)
    expect(server.commands.at(-1)).toBe('LOGOUT')
    server.commands.length = 0
    await pollMailbox(settings(), cursor)
    expect(server.commands).toContain('UID SEARCH UID 2:*')
    expect(server.commands.at(-1)).toBe('LOGOUT')
    server.commands.length = 0
    await checkImap(settings())
    expect(server.commands.at(-1)).toBe('LOGOUT')
    expect(server.commands.filter((each) => each.startsWith('SELECT'))).toEqual([])
  })

  test('reads the last two weeks of a renumbered mailbox again', async () => {
    server.deliver(reply)
    const { cursor } = await pollMailbox(settings(), null)
    server.renumber()
    const again = await pollMailbox(settings(), cursor)
    const since = server.commands.find((each) => each.startsWith('UID SEARCH'))
    const days = (Date.now() - Date.parse(since?.split('SINCE ')[1] ?? '')) / 86_400_000
    expect(days).toSatisfy((ago: number) => ago >= 13 && ago <= 16)
    expect(again.mails).toHaveLength(1)
    expect(again.cursor).toEqual({ uid_validity: '2', last_uid: 1 })
  })
})

describe('a mail that came in', () => {
  test('is a reply to ours', async () => {
    const { mails } = await receive(reply)
    expect(mails).toEqual([
      {
        uid: 1,
        message_id: '<reply@client.example>',
        from: 'jo@client.example',
        from_name: 'Doe, Jo',
        subject: 'Re: Günaydın',
        date: new Date('2026-11-21T07:00:00Z'),
        in_reply_to: OURS,
        references: ['<first@demir.example>', OURS],
        automatic: null,
        is_report: false,
        report: null,
        body: null,
        attachments: [],
      },
    ])
  })

  test.each([
    ['Auto-Submitted', absence],
    ['its subject', absence.replace(/Auto-Submitted.*\n/, '')],
    [
      'a Turkish subject',
      reply.replace(/Subject: .*/, 'Subject: =?utf-8?Q?Otomatik_yan=C4=B1t:_x?='),
    ],
    ['Precedence', reply.replace('To:', 'Precedence: auto_reply\nTo:')],
  ])('is an automatic answer by %s', async (_, mail) => {
    const { mails } = await receive(mail)
    expect(mails).toMatchObject([{ automatic: 'replied', is_report: false }])
  })

  test.each([
    ['List-Id: <x>', 'list'],
    ['List-Unsubscribe: <https://x.example>', 'list'],
    ['List-Post: <mailto:x@x.example>', 'list'],
    ['X-Autoreply: yes', 'replied'],
    ['X-Autorespond: yes', 'replied'],
  ])('says in %s that no person wrote it: %s', async (field, automatic) => {
    const { mails } = await receive(reply.replace('To:', `${field}\nTo:`))
    expect(mails).toMatchObject([{ automatic, is_report: false }])
  })

  const daemon = reply.replace('"Doe, Jo" <Jo@Client.example>', 'MAILER-DAEMON@client.example')
  const unreturned = (mail: string) => mail.replace('<jo@client.example>', '<>')
  test.each([
    ['of a server without a way back', unreturned(daemon), true],
    [
      'of a postmaster without one',
      unreturned(daemon.replace('MAILER-DAEMON', 'Postmaster')),
      true,
    ],
    ['of a server that has one', daemon, false],
    ['of a person without one', unreturned(reply), false],
    ['with failed recipients', reply.replace('To:', 'X-Failed-Recipients: a@x\nTo:'), true],
    [
      'with a report',
      reply.replace('To:', 'Content-Type:  Multipart/Report; boundary=b\nTo:'),
      true,
    ],
    [
      'with the word',
      reply.replace('To:', 'Content-Type: text/plain; x=multipart/report\nTo:'),
      false,
    ],
    ['of another daemon', unreturned(daemon.replace('MAILER', 'x-mailer')), false],
    ['with another type', reply.replace('To:', 'Content-Type: x-multipart/report\nTo:'), false],
    ['with more', reply.replace('To:', 'Content-Type: multipart/reports; boundary=b\nTo:'), false],
  ])('%s is a report, or is none', async (_, mail, is_report) => {
    const { mails } = await receive(mail)
    expect(mails).toMatchObject([{ is_report, report: null }])
  })

  test('is no bounce where it has a way back, whatever it says', async () => {
    const { mails } = await receive(
      postfix.replace(/^Return-Path: <>/m, 'Return-Path: <a@x.example>'),
    )
    expect(mails).toMatchObject([{ is_report: true, report: null }])
  })

  test('has its subject and its writer in one line of some length', async () => {
    const long = (count: number) => 'x'.repeat(count)
    const { mails } = await receive(
      reply
        .replace(/Subject: .*/, `Subject: =?utf-8?Q?_a=07=07b_?= ${long(400)}`)
        .replace('"Doe, Jo"', `"${long(300)}"`),
    )
    expect(mails[0]?.subject).toMatch(/^a b +x+$/)
    expect([mails[0]?.subject.length, mails[0]?.from_name]).toEqual([300, long(200)])
  })

  test.each([
    ['Postfix', 'postfix', '5.1.1'],
    ['Exim', 'exim', '5.0.0'],
    ['Dovecot, its fields in one block', 'dovecot', '5.2.1'],
    ['a server that returns only the header, its report in base64', 'headers-only', '5.1.10'],
  ])('is a bounce of %s', async (_, name, status) => {
    const { mails } = await receive(sample(name))
    expect(mails).toMatchObject([
      {
        is_report: true,
        automatic: null,
        report: {
          kind: 'bounce',
          original_ids: [OURS],
          bounced: [
            { emails: expect.arrayContaining(['dead@client.example']), status, permanent: true },
          ],
        },
      },
    ])
  })

  test('is a bounce that may end well', async () => {
    const delayed = postfix
      .replace('Action: failed', 'Action: delayed')
      .replace(/5\.1\.1/g, '4.4.1')
    const { mails } = await receive(delayed)
    expect(mails[0]?.report?.bounced).toMatchObject([{ status: '4.4.1', permanent: false }])
  })

  test('is a complaint about ours', async () => {
    const { mails } = await receive(sample('complaint'))
    expect(mails).toMatchObject([
      { is_report: true, report: { kind: 'complaint', original_ids: [OURS], bounced: [] } },
    ])
  })

  test.each([
    ['as large as what is fetched', 100_000, false],
    ['larger', 100_001, true],
  ])('that is wanted, %s: whether its end was left out', async (_, bytes, is_cut) => {
    const { cursor } = await pollMailbox(settings(), null)
    server.deliver(withAttachment(bytes))
    const { mails } = await pollMailbox(settings(), cursor, { wants: async () => true })
    expect(mails).toMatchObject([{ body: { said: 'Yes, please.', is_cut } }])
  })

  test('may lack every header', async () => {
    const { mails } = await receive('X-Nothing: 1\n\n')
    expect(mails).toMatchObject([{ from: null, subject: '', date: null, in_reply_to: null }])
  })
})

describe('the connection test', () => {
  test('passes and counts', async () => {
    server.deliver(reply)
    expect(await checkImap(settings())).toMatchObject({
      ok: true,
      message: { en: 'INBOX has 1 mail.', tr: 'INBOX kutusunda 1 e-posta var.' },
    })
  })

  test.each([
    ['a wrong password', { password: 'wrong' }, 'auth'],
    ['a missing mailbox', { mailbox: 'Nowhere' }, 'mailbox'],
    ['an unknown name', { host: 'imap.demir.invalid' }, 'dns'],
    ['a closed port', { port: 1 }, 'connect'],
    ['a port without TLS', { security: 'tls' }, 'tls'],
    ['a server without STARTTLS', { security: 'starttls' }, 'tls'],
  ] as [string, Partial<ImapSettings>, string][])('names %s', async (_, more, stage) => {
    expect(await checkImap(settings(more))).toMatchObject({ ok: false, stage })
  })

  test.each([
    ['what it answers', { password: 'wrong' }, 'Wrong password'],
    ['what the system says', { port: 1 }, 'ECONNREFUSED'],
  ] as [string, Partial<ImapSettings>, string][])(
    'names the server and %s',
    async (_, more, said) => {
      const { port } = settings(more)
      const { message } = await checkImap(settings(more))
      for (const text of [`127.0.0.1:${port}`, said]) {
        expect([message.en, message.tr]).toEqual(Array(2).fill(expect.stringContaining(text)))
      }
    },
  )
})
