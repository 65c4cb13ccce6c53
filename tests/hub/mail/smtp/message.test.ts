import { simpleParser } from 'mailparser'
import { describe, expect, test } from 'vitest'
import { mailbox } from '../../../../hub/mail/address.ts'
import {
  compose,
  messageId,
  OutgoingMail,
  unsubscribeHeaders,
} from '../../../../hub/mail/smtp/message.ts'

const MAIL: OutgoingMail = {
  from: { name: 'Ayşe', address: 'ayse@demir.example' },
  to: { address: 'jo@client.example' },
  subject: 'A question',
  text: 'Hello',
  message_id: '<x@demir.example>',
  date: new Date('2026-11-25T12:00:00Z'),
}
const picture = (kind: string, bytes = 'AAAA') => `<img src="data:image/${kind};base64,${bytes}">`
const read = async (more: Partial<OutgoingMail>) => {
  const bytes = await compose({ ...MAIL, ...more })
  return { raw: bytes.toString('utf8'), mail: await simpleParser(bytes) }
}

describe('a mail as it is sent', () => {
  test('is plain text without HTML, and names nothing that was not given', async () => {
    const { raw, mail } = await read({})
    expect(raw).toMatch(/^Content-Type: text\/plain/m)
    expect(raw).toMatch(/^To: jo@client\.example\r$/m)
    expect(raw).not.toMatch(/^(List-|Reply-To|In-Reply-To|References)/im)
    expect(mail.html).toBe(false)
    expect(mail.attachments).toEqual([])
  })

  test('names where answers go and the mails before it', async () => {
    const { mail } = await read({
      reply_to: { name: 'Team', address: 'team@demir.example' },
      in_reply_to: '<b@x>',
      references: ['<a@x>', '<b@x>'],
    })
    expect(mail.replyTo?.value).toEqual([{ name: 'Team', address: 'team@demir.example' }])
    expect([mail.inReplyTo, mail.references]).toEqual(['<b@x>', ['<a@x>', '<b@x>']])
    expect((await read({ in_reply_to: '<b@x>' })).mail.references).toBe('<b@x>')
  })

  test.each(['png', 'jpeg', 'gif', 'webp'])('carries a picture %s once, by name', async (kind) => {
    const { mail } = await read({ html: `<p>${picture(kind)}${picture(kind)}</p>` })
    expect(mail.attachments).toMatchObject([
      { filename: `picture.${kind}`, cid: expect.stringMatching(/^[0-9a-f]{24}@picture$/) },
    ])
    expect(mail.html).toBe(`<p>${picture(kind)}${picture(kind)}</p>`)
  })

  test('carries each of two pictures, and leaves other kinds as they are', async () => {
    const two = await read({ html: `${picture('png')}${picture('png', 'BBBB')}` })
    expect(two.mail.attachments).toHaveLength(2)
    const other = await read({ html: picture('svg+xml') })
    expect(other.mail.attachments).toEqual([])
    expect(other.mail.html).toContain('data:image/svg+xml')
  })
})

describe('a mail is refused with', () => {
  const at = (path: string) => ({ issues: [expect.objectContaining({ path: path.split('.') })] })
  const refused = (more: object, path: string) =>
    expect(() => OutgoingMail.parse({ ...MAIL, ...more })).toThrow(
      expect.objectContaining(at(path)),
    )

  test.each([
    ['no subject', { subject: '' }, 'subject'],
    ['a long subject', { subject: 'x'.repeat(501) }, 'subject'],
    ['a subject of two lines', { subject: 'a\nb' }, 'subject'],
    ['no text', { text: '' }, 'text'],
    ['empty HTML', { html: '' }, 'html'],
    ['a long id', { message_id: `<${'x'.repeat(499)}>` }, 'message_id'],
    ['an id without brackets', { message_id: 'x@y' }, 'message_id'],
    ['two ids', { message_id: '<a@x><b@x>' }, 'message_id'],
    ['words before the id', { message_id: 'a <b@x>' }, 'message_id'],
    ['words behind the id', { message_id: '<b@x> a' }, 'message_id'],
    ['no address', { reply_to: { address: 'jo' } }, 'reply_to.address'],
    ['two addresses', { reply_to: { address: 'a@x.example,b@x.example' } }, 'reply_to.address'],
    ['an address in brackets', { reply_to: { address: '<a@x.example>' } }, 'reply_to.address'],
    ['a comment', { reply_to: { address: 'a@x.example(b)' } }, 'reply_to.address'],
    ['an address with two @', { to: { address: 'a@b@client.example' } }, 'to.address'],
    ['a long address', { reply_to: { address: `a@${'x'.repeat(253)}` } }, 'reply_to.address'],
    ['an open link', { unsubscribe_url: 'http://h.example/' }, 'unsubscribe_url'],
    ['a link of httpsx', { unsubscribe_url: 'httpsx://h.example/' }, 'unsubscribe_url'],
    ['a link of xhttps', { unsubscribe_url: 'xhttps://h.example/' }, 'unsubscribe_url'],
    ['a link with an umlaut', { unsubscribe_url: 'https://h.example/ü' }, 'unsubscribe_url'],
    [
      'a link with an umlaut inside',
      { unsubscribe_url: 'https://h.example/ü/a' },
      'unsubscribe_url',
    ],
    ['a link in brackets', { unsubscribe_url: 'https://h.example/<a>' }, 'unsubscribe_url'],
    ['a long link', { unsubscribe_url: `https://h.example/${'x'.repeat(983)}` }, 'unsubscribe_url'],
    ['many mails before it', { references: Array(21).fill('<a@x>') }, 'references'],
  ])('%s', (_, more, path) => {
    refused(more, path)
  })

  test('words that say what is wanted', () => {
    const wrong = {
      subject: 'a\nb',
      to: { address: 'jo' },
      message_id: 'x',
      unsubscribe_url: 'https://h.example/ü',
    }
    const { error } = OutgoingMail.safeParse({ ...MAIL, ...wrong })
    expect(error?.issues.map(({ message }) => message)).toEqual([
      'must be one e-mail address',
      'must be one line',
      'must be a message id in angle brackets',
      'must be plain ASCII',
    ])
  })

  test('nothing at the limits', () => {
    const most = {
      subject: 'x'.repeat(500),
      message_id: `<${'x'.repeat(498)}>`,
      reply_to: { address: `a@${'x'.repeat(252)}` },
      unsubscribe_url: `https://h.example/${'x'.repeat(982)}`,
      references: Array(20).fill('<a@x>'),
    }
    expect(OutgoingMail.parse({ ...MAIL, ...most })).toMatchObject(most)
  })
})

test('an id is of the draft and the address, whatever its case, at the domain of the sender', () => {
  const id = messageId('d', 'jo@client.example', 'ayse@demir.example')
  expect(messageId('d', 'JO@Client.example', 'ayse@DEMIR.example')).toBe(id)
  expect(messageId('dj', 'o@client.example', 'ayse@demir.example')).not.toBe(id)
  // After an update it is still the same.
  expect(id).toBe('<b7a3fdd8eebd1a3448677c8c04908e5c91364ef9@demir.example>')
})

test('a reader opts out with one click (RFC 8058)', () => {
  expect(unsubscribeHeaders('https://h.example/u')).toEqual({
    'List-Unsubscribe': '<https://h.example/u>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  })
})

test.each([
  ['Demir', 'Demir <a@demir.example>'],
  ['Demir, Ltd.', '"Demir, Ltd." <a@demir.example>'],
  ['', 'a@demir.example'],
  ['Ayşe', '=?UTF-8?Q?Ay=C5=9Fe?= <a@demir.example>'],
])('the name %j and an address are one header: %s', (name, header) => {
  expect(mailbox({ name, email: 'a@demir.example' })).toBe(header)
})

test('a long name and its address are on one line', () => {
  const name = 'Demir Lojistik '.repeat(12).trim()
  const header = mailbox({ name, email: 'a@demir.example' })
  expect(header).toBe(`${name} <a@demir.example>`)
})
