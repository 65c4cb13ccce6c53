import { describe, expect, test } from 'vitest'
import { slotsOfText } from '../../../hub/mail/render/text-slots.ts'

const slots = (text: string, subject = 'A question', language: 'en' | 'tr' = 'en') =>
  slotsOfText({ subject, text, language })
const GREETING = 'Hello {first_name}'
const CLOSING = 'Kind regards'
const letters = (length: number) => 'x'.repeat(length)
/** A sentence of so many characters. */
const sentence = (length: number) => `${letters(length - 1)}.`

test.each([
  ...['Dear Ada', 'hello,', 'Hi!', 'HEY Ada', 'Good morning', 'Good day Ada', 'Good afternoon,'],
  ...['Good evening', 'Merhaba Ada Hanım', 'Selam', 'Sayın Ada', 'sayin Ada', 'Günaydın'],
  ...['İyi günler', 'iyi günler', 'Değerli Ada', 'SAYIN ADA', 'GÜNAYDIN', 'İYİ GÜNLER'],
  ...['DEĞERLİ ADA', `Hello ${letters(74)}`],
])('“%s” greets', (opening) => {
  expect(slots(`${opening}\n\nWe deliver.`)).toMatchObject({
    greeting: opening,
    paragraphs: ['We deliver.'],
  })
})

test.each([
  ...['Oh hello Ada', 'Hiking is fun', 'Dearest', 'Good trucks', 'Merhabalar', 'Heya'],
  ...[`Hello ${letters(75)}`],
])('“%s” does not greet', (opening) => {
  expect(slots(`${opening}\n\nWe deliver.`)).toMatchObject({
    greeting: GREETING,
    paragraphs: [opening, 'We deliver.'],
  })
})

test.each<[text: string, greeting: string, paragraphs: string[]]>([
  ['Hello Ada', GREETING, ['Hello Ada']],
  ['Hello Ada\nWe deliver.', 'Hello Ada', ['We deliver.']],
  ['Hello Ada\nWe\n deliver.\n\nOn time.', 'Hello Ada', ['We deliver.', 'On time.']],
  ['We deliver.\nHello Ada', GREETING, ['We deliver. Hello Ada']],
  ['We   deliver\t on\n time.', GREETING, ['We deliver on time.']],
  ['A.\r\n \r\n\r\nB.', GREETING, ['A.', 'B.']],
  [' Hello Ada \n\n  We deliver.', 'Hello Ada', ['We deliver.']],
  ['Hello Ada\nWe\ndeliver.', 'Hello Ada', ['We deliver.']],
  ['', GREETING, []],
])('the paragraphs of %j', (text, greeting, paragraphs) => {
  expect(slots(text)).toMatchObject({ greeting, paragraphs, closing: CLOSING })
})

test.each([
  ...['Kind regards', 'Best wishes,', 'warm thanks', 'Many thanks', 'Regards', 'Best', 'Sincerely'],
  ...['Yours', 'Cheers', 'Thank you', 'Thanks', 'Saygılarımla', 'Sevgiler', 'Selamlar'],
  ...['İyi çalışmalar', 'iyi çalışmalar', 'İyi günler', 'Teşekkürler', 'Hoşça kalın', 'SEVGİLER'],
  ...['SAYGILARIMLA', 'İYİ ÇALIŞMALAR', 'İYİ GÜNLER', `Thanks ${letters(53)}`],
])('“%s” closes, without the name below', (ending) => {
  expect(slots(`We deliver.\n\n${ending}\nAyşe\nDemir`)).toMatchObject({
    paragraphs: ['We deliver.'],
    closing: ending,
  })
})

test.each(['With kind regards', 'My thanks', 'Kindly', `Thanks ${letters(54)}`])(
  '“%s” does not close',
  (ending) => {
    expect(slots(`We deliver.\n\n${ending}`)).toMatchObject({
      paragraphs: ['We deliver.', ending],
      closing: CLOSING,
    })
  },
)

test('the last paragraph closes, and none before it', () => {
  const text = 'Thanks\n\nWe deliver.\n\nOn time.\n\nRegards'
  expect(slots(text)).toMatchObject({
    paragraphs: ['Thanks', 'We deliver.', 'On time.'],
    closing: 'Regards',
  })
})

test('a text that only closes says that, and the language has its own words', () => {
  expect(slots('Hello Ada\n\nThank you')).toMatchObject({
    greeting: 'Hello Ada',
    paragraphs: ['Thank you'],
    closing: CLOSING,
  })
  expect(slots('Teslim ederiz.', 'Soru', 'tr')).toEqual({
    subject: 'Soru',
    preheader: 'Teslim ederiz.',
    greeting: 'Merhaba {first_name}',
    paragraphs: ['Teslim ederiz.'],
    closing: 'Saygılarımla',
  })
})

describe('a paragraph', () => {
  test.each<[lengths: number[], parts: number[]]>([
    [[440, 439], [880]],
    [
      [440, 440],
      [440, 440],
    ],
    [
      [439, 440, 10],
      [880, 10],
    ],
    [
      [400, 400, 400],
      [801, 400],
    ],
    [[900], [900]],
    [
      [10, 900, 10],
      [10, 900, 10],
    ],
  ])('of sentences of %j characters has parts of %j', (lengths, parts) => {
    const { paragraphs } = slots(lengths.map(sentence).join(' '))
    expect(paragraphs.map((part) => part.length)).toEqual(parts)
    expect(paragraphs.join(' ')).toBe(lengths.map(sentence).join(' '))
  })

  test('ends at any mark that ends a sentence', () => {
    const text = ['!', '?', '…'].map((mark) => letters(500) + mark)
    expect(slots(text.join(' ')).paragraphs).toEqual(text)
  })
})

test.each<[given: string[], gathered: string[]]>([
  [
    ['a.', 'b.', 'c.', 'd.', 'e.', 'f.'],
    ['a.', 'b.', 'c.', 'd.', 'e.', 'f.'],
  ],
  [
    ['aaaa.', 'b.', 'c.', 'dddd.', 'eeee.', 'ffff.', 'gggg.'],
    ['aaaa.', 'b. c.', 'dddd.', 'eeee.', 'ffff.', 'gggg.'],
  ],
  [
    ['aaaa.', 'bbbb.', 'cccc.', 'dddd.', 'eeee.', 'f.', 'g.'],
    ['aaaa.', 'bbbb.', 'cccc.', 'dddd.', 'eeee.', 'f. g.'],
  ],
  [
    ['a.', 'b.', 'cccc.', 'dddd.', 'eeee.', 'ffff.', 'gggg.', 'hhhh.'],
    ['a. b. cccc.', 'dddd.', 'eeee.', 'ffff.', 'gggg.', 'hhhh.'],
  ],
])('of more than six paragraphs, short neighbours are joined: %j', (given, gathered) => {
  expect(slots(given.join('\n\n')).paragraphs).toEqual(gathered)
})

test('neighbours that would be too long together stay apart', () => {
  const count = (...lengths: number[]) =>
    slots(lengths.map(sentence).join('\n\n')).paragraphs.length
  expect(count(440, 440, 440, 440, 440, 440, 440)).toBe(7)
  expect(count(440, 440, 440, 440, 440, 440, 439)).toBe(6)
})

test.each([
  ['One. Two.', 'One.'],
  [`Really? Yes.`, 'Really?'],
  [`${sentence(140)} Two.`, sentence(140)],
  [`${sentence(141)} Two.`, 'A question'],
  ['', 'A question'],
])('the line after the subject, of %j', (text, preheader) => {
  expect(slots(text).preheader).toBe(preheader)
})

test('a subject that stands there is cut between words, and not in a placeholder', () => {
  const of = (subject: string) => slots(sentence(200), subject).preheader
  expect(of(letters(140))).toBe(letters(140))
  expect(of(`${letters(130)} ${letters(20)}`)).toBe(`${letters(130)}…`)
  expect(of(`A word ${letters(120)} {first_name|dear friend of us}`)).toBe('A word…')
  expect(of(`A word ${letters(120)}  {first_name|dear friend of us}`)).toBe('A word…')
  expect(of(`${letters(130)}  ${letters(20)}`)).toBe(`${letters(130)}…`)
  expect(of(`{name} ${letters(125)} ${letters(20)}`)).toBe(`{name} ${letters(125)}…`)
})
