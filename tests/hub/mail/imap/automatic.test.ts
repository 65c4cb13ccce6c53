import { describe, expect, test } from 'vitest'
import { attachmentsOf } from '../../../../hub/mail/imap/attachments.ts'
import { automaticBy, relatesTo } from '../../../../hub/mail/imap/automatic.ts'
import { messageIds, parseHeaders } from '../../../../hub/mail/imap/headers.ts'

describe('who wrote a mail', () => {
  test.each([
    ['Auto-Submitted: auto-replied', 'replied'],
    ['Auto-Submitted:  Auto-Replied (rejected)', 'replied'],
    ['Auto-Submitted: auto-generated', 'generated'],
    ['Auto-Submitted: notify', 'generated'],
    ['Auto-Submitted: auto-no', 'generated'],
    ['Auto-Submitted: no', null],
    ['Auto-Submitted: NO (by hand)', null],
    ['X-Autoreply: yes', 'replied'],
    ['X-Autorespond: yes', 'replied'],
    ['Precedence: Auto_Reply', 'replied'],
    ['Precedence: bulk', 'list'],
    ['Precedence: junk', 'list'],
    ['Precedence: list', 'list'],
    ['Precedence: lists', null],
    ['Precedence: no-bulk', null],
    ['Precedence: first-class', null],
    ['List-Id: <x>', 'list'],
    ['List-Unsubscribe: <x>', 'list'],
    ['List-Post: <x>', 'list'],
    ['List-Archive: <x>', null],
    ['Auto-Submitted: auto-generated\nList-Id: <x>', 'generated'],
    ['Auto-Submitted: no\nList-Id: <x>', 'list'],
    ['Auto-Submitted: auto-generated\nPrecedence: auto_reply', 'replied'],
    ['', null],
  ])('with %j: %s', (head, automatic) => {
    expect(automaticBy(parseHeaders(head), 'Re: Freight')).toBe(automatic)
  })

  test.each([
    'Automatic reply: Freight',
    'Auto-Reply: Freight',
    'auto response',
    'Autoreply: Freight',
    'AutoReply',
    '  Out of Office: Freight',
    'Out of the office until Monday',
    'Otomatik yanıt: Yük',
    'Otomatik yanit: Yük',
    'Otomatik cevap: Yük',
    'Ofis dışında: Yük',
    'Ofis disinda: Yük',
    'iş yeri dışında: Yük',
    'is yeri disinda',
    'Abwesenheit: Fracht',
    'Automatische Antwort: Fracht',
  ])('with the subject %j a program', (subject) => {
    expect(automaticBy(new Map(), subject)).toBe('replied')
  })

  test.each(['Re: Out of office', 'Is this an automatic reply?', 'Automation replies', 'Office'])(
    'with the subject %j a person',
    (subject) => {
      expect(automaticBy(new Map(), subject)).toBeNull()
    },
  )
})

describe('an answer is known by its subject', () => {
  test.each([
    ['Re: Freight to Hamburg', 'Freight to Hamburg'],
    ['RE: FW: Fwd: freight  to\tHAMBURG', 'Freight to Hamburg'],
    ['AW: Fracht', 'Fracht'],
    ['WG: Fracht', 'Fracht'],
    ['Antw: Fracht', 'Fracht'],
    ['Ynt: Yük', 'Yük'],
    ['Ilt: Yük', 'Yük'],
    ['Yanıt: Yük', 'Yük'],
    ['Yanit: Yük', 'Yük'],
    ['Cevap: Yük', 'Yük'],
    ['SV: RV: TR: Freight', 'Freight'],
    ['Re[2]: Freight', 'Freight'],
    ['Re [12] : Freight', 'Freight'],
    ['Re： Freight', 'Freight'],
    ['Re:Freight', 'Freight'],
    [' Re: Freight ', ' Freight '],
    ['Automatic reply: Freight', 'Freight'],
    ['AutoReply: Freight', 'Freight'],
    ['Out of Office: Freight', 'Freight'],
    ['Out of the office: Freight', 'Freight'],
    ['Otomatik yanıt: Yük', 'Yük'],
    ['Abwesenheitsnotiz: Fracht', 'Fracht'],
    ['Automatische Antwort: Fracht', 'Fracht'],
    ['Freight', 'Re: Freight'],
    ['Re: abc', 'abc'],
    ['Re: Freight (50%) [new]', 'Freight (50%) [new]'],
    ['Re: Freight for Ada', 'Freight for {first_name}'],
    ['Re: Ada Lovelace, freight for Demir', '{name}, freight for {company}'],
    ['Re: Freight for , now', 'Freight for {name}, now'],
    ['Re: Freight for', 'Freight for {name}'],
    ['Re: freight', '{name} freight'],
    [`Re: Freight for ${'x'.repeat(200)}`, 'Freight for {name}'],
    ['Re: Yu\u0308k', 'Yük'],
  ])('%j is one to %j', (subject, ours) => {
    expect(relatesTo(subject, ['Another subject', ours])).toBe(true)
  })

  test.each([
    ['Re: Freight from İzmir to Hamburg', 'Freight from {city} to Hamburg'],
    ['Re: Freight from your port to Hamburg', 'Freight from {city|your port} to Hamburg'],
    ['Re: Freight to Hamburg', 'Freight{city} to Hamburg'],
    ['Re: Freight from to Hamburg', 'Freight from {company} to Hamburg'],
  ])('%j is an answer to %j, whatever stands in the field', (subject, ours) => {
    expect(relatesTo(subject, [ours])).toBe(true)
  })

  test.each([
    ['Re: Freight', 'Freight to Hamburg'],
    ['Re: Freight to Hamburg', 'Freight'],
    ['My Freight', 'Freight'],
    ['Reply Freight', 'Freight'],
    ['A re: Freight', 'Freight'],
    ['A re: Freight', 'A Freight'],
    ['Re: ab', 'ab'],
    ['', ''],
    ['Re: Ada', '{name}'],
    ['Re: Ada is', '{name} is'],
    ['Re: FreightX', 'Freight.'],
    ['Re: Freight forest', 'Freight for {name}'],
    ['Re: Freight to Hamburg', 'Freight to Hamburg {'],
    ['Re: Freight', 'F.*t'],
    [`Re: Freight for ${'x'.repeat(201)}`, 'Freight for {name}'],
  ])('%j is none to %j', (subject, ours) => {
    expect(relatesTo(subject, [ours])).toBe(false)
  })

  test('nothing is an answer when nothing was sent', () => {
    expect(relatesTo('Re: Freight', [])).toBe(false)
  })
})

test('header fields are unfolded, and the first of a name counts', () => {
  const text =
    'Subject: One\r\n  and\r\n\tmore\r\nX-A:b:c \r\nx-a: later\r\n Y : z\r\n: nameless\r\nnothing\r\nEmpty:'
  expect([...parseHeaders(text)]).toEqual([
    ['subject', 'One and more'],
    ['x-a', 'b:c'],
    ['empty', ''],
  ])
})

test('ids of mails stand in angle brackets', () => {
  expect(messageIds('a <b@c> (<d@e>)<f@g> <h i> <> <j<k@l>')).toEqual([
    '<b@c>',
    '<d@e>',
    '<f@g>',
    '<k@l>',
  ])
})

describe('the files of a mail', () => {
  const text = { type: 'text/plain' }
  const file = (name: string | undefined, more: object = {}) => ({
    type: 'application/PDF',
    size: 7,
    disposition: 'Attachment',
    ...(name === undefined ? {} : { dispositionParameters: { filename: name } }),
    ...more,
  })
  const of = (...childNodes: object[]) =>
    // safe: these are all that is read of it
    attachmentsOf({ type: 'multipart/mixed', childNodes } as Parameters<typeof attachmentsOf>[0])

  test.each([
    ['offer.pdf', 'offer.pdf'],
    ['/tmp/offer.pdf', 'offer.pdf'],
    ['C:\\files\\offer.pdf', 'offer.pdf'],
    ['folder/', 'folder/'],
    [' of\u0000fer\u202e.pdf ', 'offer.pdf'],
    ['x'.repeat(201), 'x'.repeat(200)],
    [undefined, 'application/pdf'],
    ['\u0007', 'application/pdf'],
  ])('%j is called %j', (given, name) => {
    expect(of(text, file(given))).toEqual([{ name, type: 'application/pdf', bytes: 7 }])
  })

  test('are what is attached or has a name, and mails that are attached', () => {
    const inner = { type: 'Message/RFC822', childNodes: [file('inside.pdf')] }
    const named = { type: 'image/png', parameters: { name: 'logo.png' } }
    const both = file('told.pdf', { parameters: { name: 'other.pdf' } })
    const nested = { type: 'multipart/related', childNodes: [text, named] }
    const inline = { type: 'text/html', disposition: 'inline' }
    expect(of(text, nested, both, inner, inline)).toEqual([
      { name: 'logo.png', type: 'image/png', bytes: 0 },
      { name: 'told.pdf', type: 'application/pdf', bytes: 7 },
      { name: 'message/rfc822', type: 'message/rfc822', bytes: 0 },
    ])
  })

  test('are none without a structure, and twenty at most, from ten levels', () => {
    expect(attachmentsOf(undefined)).toEqual([])
    expect(of(...Array.from({ length: 21 }, () => file('a.pdf')))).toHaveLength(20)
    const under = (levels: number): object =>
      levels === 0 ? file('deep.pdf') : { type: 'multipart/mixed', childNodes: [under(levels - 1)] }
    expect(of(under(9))).toHaveLength(1)
    expect(of(under(10))).toHaveLength(0)
  })
})

test('a subject with many fields is compared with any answer at once', () => {
  const ours = `${Array.from({ length: 12 }, (_, at) => `{f${at}}`).join(' x ')} end`
  expect(relatesTo(`${'x '.repeat(148)}y`, [ours])).toBe(false)
  expect(relatesTo(`${'x '.repeat(140)}end`, [ours])).toBe(true)
})
