import { describe, expect, test } from 'vitest'
import { judgeOf } from '../../../../hub/agents/evidence/judge.ts'
import { statementsOf } from '../../../../hub/agents/evidence/labelled.ts'

const reader = { id: 'l1', name: 'Ayşe Kaya', company: 'Kuzey Lojistik' }
const row = (column: string, value: string) => ({
  id: column,
  lead_id: 'l1',
  fact: `${column}: ${value}`,
  column,
})
const EN = [
  row('Trucks', '42'),
  row('Number of depots', '3'),
  row('Warehouse', 'Bursa'),
  row('ERP', 'SAP'),
  row('Remark', 'Buys fuel. Never on Mondays.'),
  row('Drivers', `${'x'.repeat(20)}…`),
]
const TR = [
  row('Kamyon', '42'),
  row('Depo sayısı', '3'),
  row('Araç adedi', '7'),
  row('Kullandığı yazılım', 'SAP'),
  row('Durak', '5'),
  row('Kitap', '9'),
  row('Tanker', '6'),
]

describe('a fact of a list supports exactly what it says', () => {
  test.each([
    ['en', 'You have 42 trucks.', 'supported'],
    ['en', 'Kuzey Lojistik has 42 trucks.', 'supported'],
    ['en', 'You have 3 depots.', 'supported'],
    ['en', 'Your warehouse is Bursa.', 'supported'],
    ['en', 'Your ERP is SAP.', 'supported'],
    ['en', 'You have 43 trucks.', 'contradicted'],
    ['en', 'You do not have 42 trucks.', 'contradicted'],
    ['en', 'We have 42 trucks.', 'unsure'],
    ['en', 'You have 42 electric trucks.', 'unsure'],
    ['en', 'You have more than 42 trucks.', 'unsure'],
    ['en', 'Your remark is buys fuel.', 'unsure'],
    ['en', `Your drivers are ${'x'.repeat(20)}.`, 'unsure'],
    ['tr', '42 kamyonunuz var.', 'supported'],
    ['tr', "Kuzey Lojistik'in 42 kamyonu var.", 'supported'],
    ['tr', '3 deponuz var.', 'supported'],
    ['tr', 'Depo sayınız 3.', 'supported'],
    ['tr', '7 aracınız var.', 'supported'],
    ['tr', '5 durağınız var.', 'supported'],
    ['tr', '9 kitabınız var.', 'supported'],
    ['tr', '6 tankeriniz var.', 'supported'],
    ['tr', '6 tankerınız var.', 'unsure'],
    ['tr', '43 kamyonunuz var.', 'contradicted'],
    ['tr', '42 kamyonunuz yok.', 'contradicted'],
    ['tr', '42 kamyonumuz var.', 'unsure'],
    ['tr', '42 yeni kamyonunuz var.', 'unsure'],
  ] as const)('%s: %s is %s', (language, sentence, verdict) => {
    const judge = judgeOf({ language, reader, us: 'Demir' }, language === 'en' ? EN : TR)
    expect(judge(sentence)).toMatchObject({ verdict })
  })

  test('and never what a list says of somebody else, or a text with a colon of another origin', () => {
    const scene = { language: 'en', reader, us: 'Demir' } as const
    const other = EN.map((one) => ({ ...one, lead_id: 'l2' }))
    expect(judgeOf(scene, other)('You have 42 trucks.').verdict).toBe('unsure')
    const page = EN.map(({ column: _, ...one }) => one)
    expect(judgeOf(scene, page)('You have 42 trucks.').verdict).toBe('unsure')
  })
})

test('a label with a sentence in it says nothing', () => {
  expect(statementsOf('Wrong. Trucks', '42', 'en')).toEqual([])
  expect(statementsOf('Not sure?', '42', 'en')).toEqual([])
  expect(statementsOf('x'.repeat(81), '42', 'en')).toEqual([])
  expect(statementsOf('Araç', 'çok', 'tr')).toEqual(['araçınız çok', 'aracınız çok'])
  expect(statementsOf('%', '4', 'tr')).toEqual([])
  expect(statementsOf('araç 7', '4', 'tr')).toEqual([])
  expect(statementsOf('krt', '4', 'tr')).toEqual([])
  expect(statementsOf('x'.repeat(80), '42', 'en')).toHaveLength(3)
})

test.each([
  ['en', 'Trucks', '42', 'You have 42 trucks'],
  ['en', ' Trucks ', ' 42 ', 'Your trucks are 42'],
  ['en', 'Load', '1,250.50', 'You have 1,250.50 load'],
  ['en', 'Load', '10.25', 'Your load is 10.25'],
  ['en', 'Number of trucks', '42', 'You have 42 trucks'],
  ['en', 'No of trucks', '42', 'You have 42 trucks'],
  ['en', 'count of Trucks', '42', 'You have 42 trucks'],
  ['en', 'Truck count', '42', 'You have 42 truck'],
  ['en', 'SAP trucks', '42', 'You have 42 SAP trucks'],
  ['en', 'A truck', '42', 'Your a truck is 42'],
  ['en', 'T', '42', 'Your t is 42'],
  ['en', 'eCMR Trucks', '42', 'Your eCMR Trucks is 42'],
  ['en', 'the Trucks', '42', 'Your the Trucks is 42'],
  ['tr', 'Kamyon sayisi', '42', '42 kamyonunuz var'],
  ['tr', 'Filo', '4', '4 filonuz var'],
  ['tr', 'Köprü', '4', '4 köprünüz var'],
  ['tr', 'Sürü', '4', '4 sürünüz var'],
  ['tr', 'Göl', '4', '4 gölünüz var'],
  ['tr', 'Kamyonet', '4', '4 kamyonediniz var'],
  ['tr', 'Kanat', '4', '4 kanadınız var'],
  ['tr', 'Gemi', '4', '4 geminiz var'],
  ['tr', 'Kapı', '4', '4 kapınız var'],
  ['tr', 'Yol', '4', '4 yolunuz var'],
  ['tr', 'Masası', '4', '4 masanız var'],
  ['tr', 'Masasız araç', '4', '4 masasız aracınız var'],
] as const)('in %s “%s” of %s says “%s”', (language, label, value, statement) => {
  expect(statementsOf(label, value, language)).toContain(statement)
})

test.each([
  ['en', 'Trucks', 'about 42'],
  ['en', 'Trucks', '42 or so'],
  ['en', 'Trucks', '42 to 45'],
  ['en', 'Trucks', '42x5'],
  ['tr', 'Kamyon', '42 kadar'],
] as const)('in %s “%s” of “%s” is no count', (language, label, value) => {
  const counts = statementsOf(label, value, language).filter((text) => /^You have| var$/.test(text))
  expect(counts).toEqual([])
})

test.each([
  ['en', 'My number of trucks', 'You have 42 trucks'],
  ['en', 'Trucks countable', 'You have 42 trucks'],
  ['tr', 'Kamyon sayısı toplamı', '42 kamyonunuz var'],
] as const)('in %s “%s” is not what it counts', (language, label, statement) => {
  expect(statementsOf(label, '42', language)).not.toContain(statement)
})

describe('what a lead wrote itself is told back to it', () => {
  const said = (fact: string, more: object = {}) => [
    { id: 'r1', lead_id: 'l1', fact, said_by_lead: true, ...more },
  ]
  test.each([
    ['en', 'We have 42 trucks.', 'You have 42 trucks.', 'supported'],
    ['en', 'We have 42 trucks.', 'Kuzey Lojistik has 42 trucks.', 'supported'],
    ['en', 'We have 42 trucks.', 'We have 42 trucks.', 'unsure'],
    ['en', 'We have 42 trucks.', 'You have 40 trucks.', 'contradicted'],
    ['en', 'You have a good price.', 'You have a good price.', 'unsure'],
    ['en', 'You have a good price.', 'We have a good price.', 'supported'],
    ['en', 'Demir has 42 trucks.', 'You have 42 trucks.', 'unsure'],
    ['en', 'We have 42 trucks. But not all run.', 'You have 42 trucks.', 'unsure'],
    ['en', 'Do we have 42 trucks?', 'You have 42 trucks.', 'unsure'],
    ['tr', '42 kamyonumuz var.', '42 kamyonunuz var.', 'supported'],
    ['tr', '42 kamyonumuz var.', '42 kamyonumuz var.', 'unsure'],
  ] as const)('%s: “%s” makes “%s” %s', (language, fact, sentence, verdict) => {
    const judge = judgeOf({ language, reader, us: 'Demir' }, said(fact))
    expect(judge(sentence)).toMatchObject({ verdict })
  })

  test('and never to another lead', () => {
    const judge = judgeOf(
      { language: 'en', reader, us: 'Demir' },
      said('We have 42 trucks.', { lead_id: 'l2' }),
    )
    expect(judge('You have 42 trucks.').verdict).toBe('unsure')
  })
})
