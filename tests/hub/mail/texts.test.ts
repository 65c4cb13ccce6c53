import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  decode,
  detectDelimiter,
  detectEncoding,
  escapeFormula,
  firstRows,
  unescapeFormula,
} from '../../../hub/leads/csv.ts'
import { columnsFrom, readRow, suggestMapping } from '../../../hub/leads/import-row.ts'
import { domainOf, judgeAddress, normaliseEmail } from '../../../hub/mail/address.ts'
import { readReport } from '../../../hub/mail/imap/report.ts'
import {
  goExpressions,
  plainText,
  safeComments,
  trackLinks,
} from '../../../hub/mail/render/go-template.ts'
import { slotsOfText } from '../../../hub/mail/render/text-slots.ts'
import { oddText } from '../../support/odd.ts'
import { agree, outcome } from '../support/agree.ts'

const long = (length: number) => 'word '.repeat(length / 5)
const MAILS = [
  'Hello Ada,\n\nWe deliver.\n\nBest regards,\nAyşe',
  'Hello Ada,\nWe deliver.\n\nMore of it.\nAnd more.',
  'Merhaba Ada Hanım,\r\n\r\nTeslim ederiz.\r\n  \r\nSaygılarımla',
  'One paragraph only.',
  'Hello Ada',
  'Hi,\n\n- a\n- b\n\n1. c\n\n\n\nCheers\nB\nC',
  `Dear Ada,\n\n${long(900)}\n\n${long(100)}`,
  Array.from({ length: 9 }, (_, n) => `Paragraph ${n}.`).join('\n\n'),
  `${long(150)}\n\nEnd.`,
  `Thanks for ${long(80)}\n\nThank you ${long(80)}`,
  '  \n\n  ',
  'Dear Sir or Madam of the department of everything that has a very long name indeed ok,\n\nText.\n\nYours',
]

test('a mail is taken apart into greeting, paragraphs and closing', async () => {
  for (const language of ['en', 'tr'] as const) {
    await agree(`mails-${language}`, MAILS, (text) =>
      slotsOfText({ subject: ' A  subject\n of it ', text, language }),
    )
  }
})

test('addresses are compared in one form, and some are never written to', async () => {
  const addresses = [
    ...[
      'a@b.co',
      ' Ada@Example.COM ',
      'İnfo@Demir.com.tr',
      'a.b+c@d-e.org',
      'a..b@c.org',
      '.a@b.org',
    ],
    ...[
      'a@b',
      'a@b.c',
      '@b.org',
      'a@',
      'a b@c.org',
      'a@b@c.org',
      'a@-b.org',
      'a@b-.org',
      'a@b.org.',
    ],
    ...['ı@ışık.com', 'a@1.2.3.4', 'a@b.123', `${'a'.repeat(64)}@b.org`, `${'a'.repeat(65)}@b.org`],
    ...[
      `a@${'b'.repeat(63)}.org`,
      `a@${'b'.repeat(64)}.org`,
      `a@${'b.'.repeat(125)}org`,
      'a@xn--a.org',
    ],
    ...[
      'info@b.org',
      'satis2@b.org',
      'noreply@b.org',
      'no-reply+1@b.org',
      'sales-1@b.org',
      'sales1a@b.org',
    ],
    ...[
      'a@mailinator.com',
      'a@x.mailinator.com',
      'https://www.a.com.tr/x',
      'b.co.uk',
      'localhost',
      '',
    ],
  ]
  await agree('addresses', addresses, (text) => [
    normaliseEmail(text),
    judgeAddress(text),
    domainOf(text),
  ])
})

test('listmonk prints what is not ours, and fills what is', async () => {
  const texts = [
    ...[
      'Hello {first_name}, bye',
      '{first_name}',
      ' {unsubscribe_url}',
      '{{ .Secret }}',
      'a < b',
      '@TrackLink',
    ],
    ...[
      '<!-- a --> b <!--\n"c"-->',
      '<a href="https://a.org/?b=1&amp;c=2">x</a>',
      '<a href="{{ x }}">',
    ],
    ...['<a href="mailto:a@b.org">', 'https://a.org@TrackLink', "it's"],
  ]
  await agree('listmonk', texts, (text) => [
    goExpressions(text),
    goExpressions(text, { first_name: 'name' }),
    plainText(text),
    plainText(text, { first_name: 'name' }),
    safeComments(text),
    trackLinks(text),
  ])
})

const HEADERS = [
  ...[
    'Name;E-mail;Firma;Telefon',
    'Ad;Soyad;E-posta;Ünvan;Ülke',
    'id,email,name',
    'Lead ID,Mail,Note',
  ],
  ...[
    'First name,Last name,Company,Score,Tags',
    ' ,  a  b ,a b,',
    'Ad,Şirketin adı',
    'Soyadı;Kurum',
  ],
  ...['Web sitesi;KVKK rızası;Aşama;Kaynak', 'mobile,homepage,status,origin,labels,remarks', 'x'],
]
const CELLS = [
  '',
  ' a@b.co ',
  'Ada',
  'won',
  'müşteri',
  'açık rıza',
  '55',
  '101',
  'x, y;z',
  'www.a.com.tr',
  'ç'.repeat(300),
]

test('a table of leads is read by its header', async () => {
  await agree('headers', HEADERS, (text) => {
    const columns = columnsFrom(firstRows(text, detectDelimiter(text), 1)[0] ?? [])
    return [columns, suggestMapping(columns, [['1', 'b']])]
  })
  const id = '0d3c6f1e-7a52-4d7e-9a53-0f6f3a1e8b11'
  const fields = [
    'id',
    'email',
    'name',
    'first_name',
    'last_name',
    'company',
    'title',
    'phone',
  ] as const
  const others = [
    'website',
    'country',
    'stage',
    'source',
    'lawful_basis',
    'score',
    'tags',
    'note',
  ] as const
  const columns = [...fields, ...others]
  const cells = columns.flatMap((column) => [id, ...CELLS].map((cell) => `${column}: ${cell}`))
  await agree('cells', cells, (text) => {
    const [column, cell = ''] = text.split(/: (.*)/s)
    return readRow(
      columns.map((one) => (one === column ? cell : one === 'company' ? 'Demir' : '')),
      { columns, mapping: Object.fromEntries(columns.map((one) => [one, one])) },
    )
  })
})

test('a file of leads is read in its encoding and by its delimiter', async () => {
  const texts = [
    'a;b\n1,5;2',
    'a,b\n"1;2",3',
    'a\tb',
    'a|b|c\nd,e|f',
    'a',
    '',
    '"a\n;b";c\r\nd;e',
    'a;b,c',
  ]
  await agree('delimiters', texts, (text) => {
    const delimiter = detectDelimiter(text)
    return [delimiter, firstRows(text, delimiter, 2)]
  })
  const bytes = [
    'ascii',
    'c3a7',
    'e7',
    'fffe6100',
    'feff0061',
    'efbbbf61',
    'f0fd',
    '6100',
    '0061',
    '80',
    'd0',
  ]
  await agree('encodings', bytes, (text) => {
    const given = text === 'ascii' ? Buffer.from('a') : Buffer.from(text, 'hex')
    const encoding = detectEncoding(given)
    return [encoding, decode(given, encoding)]
  })
  const cells = [
    '=1',
    "'=1",
    "''=1",
    '+1',
    '-1',
    '@a',
    '\t',
    '\r',
    '＝',
    '＋',
    '－',
    '＠',
    'a=1',
    "'a",
    '',
    '1',
  ]
  await agree('formulas', cells, (text) => [escapeFormula(text), unescapeFormula(text)])
})

test.each(['complaint', 'dovecot', 'exim', 'headers-only', 'postfix'])(
  'what becomes of a report like that of %s with a line that is odd',
  async (name) => {
    const text = readFileSync(new URL(`reports/${name}.eml`, import.meta.url), 'utf8')
    const usual = await outcome(() => readReport(Buffer.from(text)))
    const lines = [usual]
    for (const [place, copies] of oddText(text)) {
      for (const [value, copy] of copies.slice(0, 4)) {
        const its = await outcome(() => readReport(Buffer.from(copy)))
        if (its !== usual) lines.push(`${place} = ${value}: ${its}`)
      }
    }
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`../golden/texts/report-${name}.txt`)
  },
)
