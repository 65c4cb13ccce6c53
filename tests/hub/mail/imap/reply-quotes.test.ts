import { describe, expect, test } from 'vitest'
import {
  MAX_WHOLE,
  readText,
  reportedBy,
  unquoted,
  withoutMail,
} from '../../../../hub/mail/imap/reply.ts'

test.each([
  [
    'Gmail in German',
    'Ja.\n\nAm Mo., 2. März 2026 um 10:00 Uhr schrieb Ada Lovelace von Demir <ada@demir.example>:\nWir liefern.',
    'Ja.',
  ],
  [
    'German in two lines',
    'Ja.\n\nAm Mo., 2. März 2026 um 10:00 Uhr\nschrieb Ada <a@x.example>:\nWir liefern.',
    'Ja.',
  ],
  [
    'two lines, spaces behind them',
    'Yes.\n\nOn Mon, 2 Mar 2026, Ada\n<a@x.example> wrote:  \nWe carry freight.',
    'Yes.',
  ],
  [
    'Turkish with a date and no address',
    'Olur.\n\n2 Mart 2026 Pazartesi 10:00 tarihinde Ada Lovelace şunu yazdı:\nYük taşırız.',
    'Olur.',
  ],
  [
    'Turkish with an address and no date',
    'Olur.\n\nAda Lovelace <ada@x.example> şunları yazdı:\nYük taşırız.',
    'Olur.',
  ],
  ['an indented line above it', 'Yes.\n  On Mon, 2 Mar 2026, Ada wrote:\nWe carry.', 'Yes.'],
  ['indented quotes', 'On Mon, 2 Mar 2026, Ada wrote:\n  > How many?\nForty.', 'Forty.'],
  ['an indented divider', 'No.\n  ----- Original Message -----\nWe carry.', 'No.'],
  ['a line with spaces behind it', 'No.\n________________  \nWe carry.', 'No.'],
  ['an indented signature', 'Yes.\n  Sent from my iPhone', 'Yes.'],
  ['a head in bold', 'Fine.\n\n*From:* Ada\n*Sent:* Monday\n\nWe carry.', 'Fine.'],
  ['an indented head', 'Fine.\n\n From: Ada\n Sent: Monday\n\nWe carry.', 'Fine.'],
  ['a head with spaces', 'Fine.\n\nFrom : Ada\nSent : Monday\n\nWe carry.', 'Fine.'],
  ['a head with a long first field', 'Fine.\nFrom: Ada\nB\nC\nD\nE\nDate: Monday\n\nWe.', 'Fine.'],
  ['a head and nothing else', 'From: Ada\nDate: Monday\n\nWe carry.', ''],
  [
    'a rule of dashes apart',
    'A.\nB.\nC.\n\n-----  \n  \n\nFrom: Bo\nDate: Monday\n\nAsk.',
    'A.\nB.\nC.',
  ],
  ['a rule of equal signs', 'For you.\n=====\nFrom: Bo\nDate: Monday\n\nAsk.', 'For you.'],
  ['a rule of stars', 'For you.\n*****\nFrom: Bo\nDate: Monday\n\nAsk.', 'For you.'],
  ['lines that end as on old Macs', 'Yes.\r> We carry.\rNo.', 'Yes.\nNo.'],
  ['spaces at the end of lines', 'Yes.   \nNo.\t \nGood.', 'Yes.\nNo.\nGood.'],
])('what a reply repeats is left out: %s', (_, text, said) => {
  expect(unquoted(text)).toBe(said)
})

test.each([
  'I looked on the page that Ada wrote:\nWe carry freight.',
  'On Monday our driver wrote:nothing',
  'We agreed on all points with Ada\nas she wrote:\nFreight.',
  'On Monday we met Ada and Bo\nwho wrote: no diesel today',
  'Please fill in your name: ____________\nand send it back.',
  'The option\n--y\nanswers yes.',
  'Begin forwarded message: what does that mean?',
  'İletilen iletinin başlangıcı: bu ne demek?',
  'Greetings from: Ada\nDate: Monday',
  'Date: Monday\nFrom: Tuesday on we are closed.',
  'From: Tuesday on we are closed.\nHere is\nour next\nfree\nday\nas promised\nDate: May',
  'From: Tuesday on we are closed.\nThe new date: May',
])('what a person wrote is kept: %j', (text) => {
  expect(unquoted(text)).toBe(text)
})

test.each(['Ask them ---', '--- Bo ---', '= Bo', '=', '*'])(
  'above a forwarded head, %j is no rule and is kept',
  (line) => {
    expect(unquoted(`${line}\nFrom: Bo\nDate: Monday\n\nAsk.`)).toBe(line)
  },
)

describe('our own mail below a reply', () => {
  const MAIL = 'Hello Jo,\n\nWe carry freight from Izmir to Hamburg.\n\nDemir, Liman 1\n'
  const withLink = (line: string) => `${MAIL}${line}`

  test('is left out, whatever its spaces, and what stands around it is kept', () => {
    const repeated =
      'Hello Jo,\n\n  We  carry   freight from Izmir to Hamburg.\n\n\n\nDemir, Liman 1'
    expect(withoutMail(`Yes.\n\nTuesday.\nAt ten.\n\n${repeated}`, MAIL)).toBe(
      'Yes.\n\nTuesday.\nAt ten.',
    )
    expect(withoutMail(`${repeated}\nYes.\nTuesday.`, MAIL)).toBe('Yes.\nTuesday.')
    expect(withoutMail(`Yes.\n\n${repeated}\n\nTuesday.`, MAIL)).toBe('Yes.\n\nTuesday.')
    const close = repeated.replaceAll('\n\n\n\n', '\n')
    expect(withoutMail(`Yes.\n\n${close}`, MAIL)).toBe('Yes.')
    expect(withoutMail(`${repeated}\n\nYes.\n\nTuesday.`, MAIL)).toBe('Yes.\n\nTuesday.')
  })

  test('does not take what a person wrote above it in the same words', () => {
    const said = 'Hello Jo,\n\nYes.\n\nWe carry freight from Izmir to Hamburg.'
    expect(withoutMail(said, MAIL)).toBe('Hello Jo,\n\nYes.')
  })

  test('is known by a line of 20 characters, not by a shorter one', () => {
    const [short, long] = ['x'.repeat(19), 'x'.repeat(20)]
    expect(withoutMail(`Yes.\n${short}`, `${MAIL}${short}`)).toBe(`Yes.\n${short}`)
    expect(withoutMail(`Yes.\n${long}`, `${MAIL}${long}`)).toBe('Yes.')
    expect(withoutMail('Yes.\nAnother long line of a person.', MAIL)).toBe(
      'Yes.\nAnother long line of a person.',
    )
  })

  const QUOTED = 'We carry freight from Izmir to Hamburg.'
  test.each([
    ['Opt out here <{unsubscribe_url}>', 'Opt out here <https://hub.example/u/abc>'],
    ['Opt out here <{unsubscribe_url}>', 'OPT OUT HERE'],
    ['Opt out here: {unsubscribe_url}', 'Opt out here: http://hub.example/u/abc'],
    ['Link:{unsubscribe_url}', 'Link:https://hub.example/u/abc'],
    ['Opt out here <{unsubscribe_url}>', 'Unsubscribe <https://hub.example/u/abc>'],
    ['Opt out here <{unsubscribe_url}>', 'Abonelikten çık <https://hub.example/u/abc>'],
  ])('is left out with its link: %j as %j', (line, repeated) => {
    expect(withoutMail(`Yes.\n\n${QUOTED}\n${repeated}`, withLink(line))).toBe('Yes.')
  })

  test.each([
    ['Opt out here <{unsubscribe_url}>', 'Stop'],
    ['Ask {unsubscribe_url} for it', 'Ask'],
  ])('of %j, a line %j is a person’s', (line, own) => {
    expect(withoutMail(`Yes.\n\n${QUOTED}\n${own}`, withLink(line))).toBe(`Yes.\n\n${own}`)
  })
})

describe('the text of a mail', () => {
  const bytes = (type: string, body: string) =>
    new TextEncoder().encode(`Content-Type: ${type}\r\n\r\n${body}`)
  const alternative = (boundary: string, ...parts: string[]) =>
    [...parts.map((part) => `--${boundary}\r\n${part}\r\n`), `--${boundary}--\r\n`].join('')

  test('of HTML has the words of links, no pictures, and lines of any length', async () => {
    const long = 'many words '.repeat(20).trim()
    const html = `<p>See <a href="https://x.example/a">our page</a><img src="https://x.example/p.png" alt="logo"> ${long}</p>`
    const text = `See our page ${long}`
    const read = await readText(bytes('text/html; charset=utf-8', html))
    expect(read).toEqual({ said: text, whole: text, is_cut: false })
  })

  test('is the plain part when there are both', async () => {
    const parts = [
      'Content-Type: text/plain\r\n\r\nPlain.',
      'Content-Type: text/html\r\n\r\n<p>Rich.</p>',
    ]
    const body = alternative('b', ...parts)
    const read = await readText(bytes('multipart/alternative; boundary=b', body))
    expect(read).toEqual({ said: 'Plain.', whole: 'Plain.', is_cut: false })
  })

  test('is nothing in parts that are nested without end', async () => {
    let part = 'Content-Type: text/plain\r\n\r\nDeep.'
    for (let depth = 0; depth < 25; depth += 1) {
      part = `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n${alternative(`b${depth}`, part)}`
    }
    const read = await readText(new TextEncoder().encode(part))
    expect(read).toEqual({ said: null, whole: '', is_cut: false })
  })

  test.each(['Yes.\r\nTuesday.', 'Yes.\rTuesday.', 'Yes.\nTuesday.'])(
    'has its lines, however they end: %j',
    async (text) => {
      const type = 'text/plain\r\nContent-Transfer-Encoding: base64'
      const read = await readText(bytes(type, Buffer.from(text).toString('base64')))
      expect(read).toEqual({ said: 'Yes.\nTuesday.', whole: 'Yes.\nTuesday.', is_cut: false })
    },
  )

  test('of HTML with very many tags is that of the first 6,000, and says so', async () => {
    const read = (tags: number) =>
      readText(bytes('text/html', `<p>First.</p>${'<i></i>'.repeat(tags)}<p>Last.</p>`))
    expect(await read(2998)).toMatchObject({ said: 'First.\n\nLast.', is_cut: false })
    expect(await read(2999)).toMatchObject({ said: 'First.', is_cut: true })
  })

  test('of HTML that is nested without end is that above', async () => {
    const html = `<p>Yes.</p>${'<div>'.repeat(20_000)}${'</b>'.repeat(20_000)}`
    expect(await readText(bytes('text/html', html))).toMatchObject({
      said: expect.stringMatching(/^Yes\./),
      is_cut: true,
    })
    const deep = `<p>Yes.</p>${'<div>'.repeat(250)}deep`
    expect((await readText(bytes('text/html', deep))).said).toMatch(/^Yes\.\s+\.\.\.$/)
  })

  test.each(['<a@b', '<a@', 'on ', 'x günü ', 'from: '])(
    'of one endless line of %j is that line',
    async (part) => {
      const line = part.repeat(90_000 / part.length)
      const read = await readText(bytes('text/plain', line))
      expect(read.said).toBe(line.slice(0, MAX_WHOLE).trimEnd())
      expect(read.is_cut).toBe(true)
    },
  )

  test('takes no line of more than 500 characters for one above a quote', async () => {
    const von = `Von: ${'x'.repeat(495)}`
    const head = (line: string) => `Yes.\n\n${line}\nSent: today\nOur mail`
    expect((await readText(bytes('text/plain', head(von)))).said).toBe('Yes.')
    expect((await readText(bytes('text/plain', head(`${von}x`)))).said).toContain('Our mail')
  })

  test('of more than 10,000 lines is that of the first, and says so', async () => {
    const read = (lines: number) =>
      readText(bytes('text/plain', `First.\n${'\n'.repeat(lines)}Last.\n`))
    const [most, more] = [await read(9990), await read(10_001)]
    expect(most).toMatchObject({ said: 'First.\n\nLast.', is_cut: false })
    expect(more).toMatchObject({ said: 'First.', is_cut: true })
  })

  test('is whole at the limit', async () => {
    const read = await readText(bytes('text/plain', 'x'.repeat(MAX_WHOLE)))
    expect(read.is_cut).toBe(false)
    expect(read.whole).toHaveLength(MAX_WHOLE)
  })
})

test('a paragraph that may become evidence has 11 to 1,000 characters and single spaces', () => {
  const [short, least, most] = ['x'.repeat(10), 'x'.repeat(11), 'y'.repeat(1000)]
  expect(reportedBy(`${short}\n\n${least}\n\n${most}`)).toEqual([least, most])
  expect(reportedBy('  Forty   two\n  trucks.  ')).toEqual(['Forty two trucks.'])
})
