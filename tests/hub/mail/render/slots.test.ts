import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  line,
  MailBranding,
  MailFooter,
  MailSignature,
  SLOTS,
  TEMPLATES,
} from '../../../../hub/mail/render/slots.ts'

const COMMON = { subject: 'Freight', preheader: 'To Hamburg' }
const offer = (url: string) => ({
  ...COMMON,
  greeting: 'Hello',
  paragraphs: ['We carry freight.'],
  offer: { title: 'Ten percent', points: [] },
  button: { label: 'See it', url },
  closing: 'Regards',
})
const urlOf = (url: string) => SLOTS.offer.parse(offer(url)).button.url

describe('the link of a button', () => {
  test.each([
    ['https://x.example/a', 'https://x.example/a'],
    ['  http://x.example/a ', 'http://x.example/a'],
    ['mailto:ada@x.example', 'mailto:ada@x.example'],
    ['https://x.example/{a}?q="<b>`', 'https://x.example/%7Ba%7D?q=%22%3Cb%3E%60'],
    ['https://x.example/a@TrackLink', 'https://x.example/a%40TrackLink'],
    [`https://x.example/${'a'.repeat(982)}`, `https://x.example/${'a'.repeat(982)}`],
  ])('is kept as it will be called', (given, kept) => {
    expect(urlOf(given)).toBe(kept)
  })

  test.each([
    'ftp://x.example/a',
    'javascript:alert(1)',
    'x.example/a',
    '',
    'https://ada@x.example/',
    'https://:secret@x.example/',
  ])('is not %j, and it is said what it may be', (given) => {
    expect(SLOTS.offer.safeParse(offer(given)).error?.issues).toMatchObject([
      {
        code: 'custom',
        path: ['button', 'url'],
        message: expect.stringMatching(/^must be an http, https or mailto/),
      },
    ])
  })

  test('has at most 1,000 characters', () => {
    const { error } = SLOTS.offer.safeParse(offer(`https://x.example/${'a'.repeat(983)}`))
    expect(error?.issues).toMatchObject([{ code: 'too_big', path: ['button', 'url'] }])
  })
})

test.each([
  ['a\r\n\tb', 'a b'],
  ['  a   b ', 'a b'],
  ['a\u2028b\u2029\ufeffc', 'a b c'],
  ['\0', ''],
])('in one line %j is %j', (given, shown) => {
  expect(line(given)).toBe(shown)
})

describe('the look of the sender', () => {
  const PICTURE = 'data:image/png;base64,iVBORw0K'
  const read = (more: object) => MailBranding.safeParse({ name: 'Demir', ...more }).success

  test('has a width and a colour of its own, unless others are given', () => {
    expect(MailBranding.parse({ name: 'Demir' })).toEqual({
      name: 'Demir',
      logo: null,
      logo_width: 140,
      color: '#1f5f99',
    })
  })

  test.each([
    { color: '#AB12cd' },
    { logo_width: 24 },
    { logo_width: 300 },
    { logo: 'https://x.example/logo.png' },
    { logo: `https://x.example/${'a'.repeat(982)}` },
    { logo: PICTURE },
    { logo: `${PICTURE}=` },
    { logo: `${PICTURE}==` },
    { logo: PICTURE.replace('png', 'webp') },
    { logo: `data:image/png;base64,${'A'.repeat(39_978)}` },
    { name: 'x'.repeat(80) },
  ])('is taken at its limits', (more) => {
    expect(read(more)).toBe(true)
  })

  test.each([
    { color: '#ab12c' },
    { color: '#ab12cde' },
    { color: 'x#ab12cd' },
    { color: 'red' },
    { logo_width: 23 },
    { logo_width: 301 },
    { logo_width: 30.5 },
    { logo: 'http://x.example/logo.png' },
    { logo: 'xhttps://x.example/logo.png' },
    { logo: 'httpsx://x.example/logo.png' },
    { logo: `https://x.example/${'a'.repeat(983)}` },
    { logo: PICTURE.replace('png', 'svg+xml') },
    { logo: ` ${PICTURE}` },
    { logo: `${PICTURE}" onload="x` },
    { logo: `${PICTURE}===` },
    { logo: 'data:image/png;base64,' },
    { logo: `data:image/png;base64,${'A'.repeat(39_979)}` },
    { name: 'x'.repeat(81) },
    { name: ' ' },
  ])('is refused beyond its limits', (more) => {
    expect(read(more)).toBe(false)
  })

  test('of a wrong colour shows one that is right', () => {
    const { error } = MailBranding.safeParse({ name: 'Demir', color: 'red' })
    expect(error?.issues[0]?.message).toMatch(/ #[0-9a-f]{6}$/)
  })
})

test('a signature has one to six lines of 80 characters', () => {
  const of = (...lines: string[]) => MailSignature.safeParse(lines).success
  expect([of('Ada'), of(...Array<string>(6).fill('x')), of('x'.repeat(80))]).toEqual(
    Array(3).fill(true),
  )
  expect([of(), of(...Array<string>(7).fill('x')), of('x'.repeat(81)), of('')]).toEqual(
    Array(4).fill(false),
  )
})

test('a footer names the sender’s address and the reason; the words of its link may be others', () => {
  const whole = { postal_address: 'Demir, Izmir', reason: 'You asked', unsubscribe: 'Stop' }
  expect(MailFooter.parse(whole)).toEqual(whole)
  const { unsubscribe, ...least } = whole
  expect(MailFooter.parse(least)).toEqual(least)
  for (const wrong of [
    { postal_address: ' ' },
    { reason: '' },
    { postal_address: 'x'.repeat(301) },
    { reason: 'x'.repeat(301) },
    { unsubscribe: 'x'.repeat(61) },
  ]) {
    expect([wrong, MailFooter.safeParse({ ...whole, ...wrong }).success]).toEqual([wrong, false])
  }
})

type Schema = {
  type?: string
  description?: string
  properties?: Record<string, Schema>
  items?: Schema
}
/** The texts of a schema that nobody explains to the writer. */
const unexplained = (schema: Schema, path: string): string[] => [
  ...(schema.type === 'string' && !schema.description ? [path] : []),
  ...(schema.items ? unexplained(schema.items, `${path}[]`) : []),
  ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
    unexplained(one, `${path}.${name}`),
  ),
]

test.each([
  ...TEMPLATES.map((name) => [name, SLOTS[name]] as const),
  ['branding', MailBranding.pick({ name: true })] as const,
  ['signature', MailSignature] as const,
  ['footer', MailFooter] as const,
])('each text of %s says what belongs there', (name, schema) => {
  const written = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  expect(unexplained(written as Schema, name)).toEqual([])
})
