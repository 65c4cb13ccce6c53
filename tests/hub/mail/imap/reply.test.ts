import { describe, expect, test } from 'vitest'
import { MAX_WHOLE, readText, reportedBy, unquoted } from '../../../../hub/mail/imap/reply.ts'

const OURS = '> We carry freight.\n> Shall we talk?'

test.each([
  ['plain', 'We have 42 trucks.', 'We have 42 trucks.'],
  [
    'Gmail',
    `Yes, Tuesday.\n\nOn Mon, 2 Mar 2026 at 10:00, Ada <a@x.example> wrote:\n\n${OURS}`,
    'Yes, Tuesday.',
  ],
  [
    'Gmail in two lines',
    `Yes.\n\nOn Mon, 2 Mar 2026 at 10:00, Ada Lovelace\n<a@x.example> wrote:\n${OURS}`,
    'Yes.',
  ],
  [
    'Gmail in Turkish',
    `Salı uygun.\n\nAda <a@x.example>, 2 Mar 2026 Pzt, 10:00 tarihinde şunu yazdı:\n\n${OURS}`,
    'Salı uygun.',
  ],
  [
    'Outlook, without marks',
    'Fine.\n\nFrom: Ada <a@x.example>\nSent: Monday\nTo: Bo\nSubject: Re\n\nWe carry freight.',
    'Fine.',
  ],
  [
    'Outlook in Turkish',
    'Olur.\n\nKimden: Ada <a@x.example>\nGönderildi: Pazartesi\nKime: Bo\nKonu: Re\n\nYük taşırız.',
    'Olur.',
  ],
  ['a divider', 'No.\n\n-----Original Message-----\nWe carry freight.', 'No.'],
  ['a divider in Turkish', 'Hayır.\n\n---- Özgün ileti ----\nYük taşırız.', 'Hayır.'],
  ['a divider that begins with İ', 'Sana.\n\n--- İletilen ileti ---\nYük taşırız.', 'Sana.'],
  ['a line', 'No.\n________________________________\nWe carry freight.', 'No.'],
  [
    'forwarded, a line above its head',
    'For you.\n\n---------------\nFrom: Bo <b@x.example>\nDate: Monday\nTo: Cy\n\nAsk them.',
    'For you.',
  ],
  [
    'forwarded by Apple Mail',
    'For you.\n\nBegin forwarded message:\n\nFrom: Bo <b@x.example>\nSubject: Re\n\nAsk them.',
    'For you.',
  ],
  [
    'forwarded by Apple Mail in Turkish',
    'Sana.\n\nİletilen iletinin başlangıcı:\n\nKimden: Bo <b@x.example>\nKonu: Re\n\nSorun.',
    'Sana.',
  ],
  ['a list that is parted by lines', 'Ali\n-----\nVeli', 'Ali\n-----\nVeli'],
  [
    'answers between',
    `On Mon, 2 Mar 2026, Ada wrote:\n> How many?\n\nForty.\n\n> When?\n\nMay.`,
    'Forty.\n\nMay.',
  ],
  ['all above, without marks', 'Yes.\nOn Mon, 2 Mar 2026, Ada wrote:\nWe carry freight.', 'Yes.'],
  ['a signature', 'Yes.\n-- \nBo\nHead of Logistics', 'Yes.'],
  ['a telephone', 'Evet.\n\niPhone’umdan gönderildi', 'Evet.'],
  ['a telephone in English', 'Yes.\n\nSent from my iPhone', 'Yes.'],
  [
    'a sentence with a colon',
    'From: Monday on we are closed.\n\nRegards',
    'From: Monday on we are closed.\n\nRegards',
  ],
  [
    'a sentence on somebody',
    'On Monday our driver wrote: no diesel.',
    'On Monday our driver wrote: no diesel.',
  ],
  ['nothing but quotes', OURS, ''],
])('what a reply says itself: %s', (_, text, said) => {
  expect(unquoted(text)).toBe(said)
  expect(unquoted(text.replaceAll('\n', '\r\n'))).toBe(said)
})

describe('a mail', () => {
  const mail = (type: string, body: string) =>
    new TextEncoder().encode(
      `From: a@x.example\r\nContent-Type: ${type}; charset=utf-8\r\n\r\n${body}`,
    )
  test.each([
    ['text/plain', `Evet, 42 kamyon.\n\n${OURS}`, 'Evet, 42 kamyon.'],
    [
      'text/html',
      '<p>Yes, <b>42</b> trucks.<br>Call me.</p><script>x()</script><blockquote>We carry</blockquote>',
      'Yes, 42 trucks.\nCall me.',
    ],
    ['text/html', '<p>Yes.</p><div class="gmail_quote">On Monday Ada wrote</div>', 'Yes.'],
    ['text/plain', '', null],
    ['text/plain', OURS, null],
    ['text/plain', 'x'.repeat(MAX_WHOLE + 5), 'x'.repeat(MAX_WHOLE)],
  ])('%s: %j', async (type, body, said) => {
    const read = await readText(mail(type, body))
    expect(read.said).toBe(said)
    expect(read.is_cut).toBe(body.length > MAX_WHOLE)
  })

  test('keeps what it quotes apart, and never a tag', async () => {
    const html = '<p>Yes.</p><blockquote>We <b>carry</b> freight.</blockquote><script>x()</script>'
    const read = await readText(mail('text/html', html))
    expect(read).toMatchObject({ said: 'Yes.', whole: 'Yes.\n\n> We carry freight.' })
  })

  test.each([
    [
      'ISO-8859-9, quoted',
      'text/plain; charset=iso-8859-9',
      'quoted-printable',
      'Te=FEekk=FCrler, g=F6r=FC=FEelim.',
    ],
    [
      'Windows-1254, base64',
      'text/plain; charset=windows-1254',
      'base64',
      Buffer.from('Te\xfeekk\xfcrler, g\xf6r\xfc\xfeelim.', 'latin1').toString('base64'),
    ],
    [
      'UTF-8, base64',
      'text/plain; charset="utf-8"',
      'base64',
      Buffer.from('Teşekkürler, görüşelim.').toString('base64'),
    ],
    [
      'control and direction marks',
      'text/plain; charset=utf-8',
      '8bit',
      'Te\u202eşekkür\u0000ler, \u0007görüşelim.',
    ],
  ])('reads %s', async (_, type, encoding, body) => {
    const raw = `Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}\r\n`
    expect((await readText(Buffer.from(raw))).said).toBe('Teşekkürler, görüşelim.')
  })

  test('in a charset that nobody knows, or broken, is still text', async () => {
    const raw = 'Content-Type: text/plain; charset=x-klingon\r\n\r\nHello\r\n'
    expect((await readText(Buffer.from(raw))).said).toBe('Hello')
    expect((await readText(Buffer.from([0xff, 0xfe, 0x00]))).said).toBeNull()
  })
})

test('a paragraph of a reply is one fact, whole or not at all', () => {
  const text = `We have 42 trucks. But not all\nrun.\n\nshort\n\n${'x'.repeat(1001)}\n\nWe close in May.`
  expect(reportedBy(text)).toEqual(['We have 42 trucks. But not all run.', 'We close in May.'])
  expect(reportedBy('A whole paragraph.\n\n'.repeat(20))).toHaveLength(10)
})
