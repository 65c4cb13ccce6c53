import { expect, test } from 'vitest'
import { impliedBy, membersOf, withoutPlace } from '../../../../hub/agents/evidence/implied.ts'

const words = (text: string) => text.split(' ')

test.each([
  [
    'en',
    'You deliver to Italy, Slovenia and Croatia.',
    ['You deliver to Italy', 'You deliver to Slovenia', 'You deliver to Croatia'],
  ],
  ['en', 'You speak German', undefined],
  ['en', 'It understands German and Turkish', ['It understands German', 'It understands Turkish']],
  ['en', 'You work in the United Kingdom and Italy', undefined],
  ['en', 'You work for Marks and Spencer', undefined],
  ['en', 'You deliver only to Italy and Croatia', undefined],
  ['en', 'You don’t deliver to Italy and Croatia', undefined],
  ['en', 'Your 40 trucks go to Italy and Croatia', undefined],
  ['en', 'The largest firm goes to Italy and Croatia', undefined],
  [
    'tr',
    'İtalya’ya, Slovenya’ya ve Hırvatistan’a teslimat yapıyorsunuz',
    [
      "İtalya'ya teslimat yapıyorsunuz",
      "Slovenya'ya teslimat yapıyorsunuz",
      "Hırvatistan'a teslimat yapıyorsunuz",
    ],
  ],
  ['tr', 'Yalnızca İtalya’ya ve Hırvatistan’a teslimat yapıyorsunuz', undefined],
  ['tr', 'İtalya’ya ve Hırvatistan’a teslimat yapmıyorsunuz', undefined],
  ['tr', 'İtalya’ya ve Hırvatistan’a 40 kamyon gider', undefined],
  ['tr', 'Marks’a ve Spencer’a teslimat yapıyorsunuz', undefined],
] as const)('in %s: "%s" is said of each by itself, or of none', (language, sentence, members) => {
  expect(membersOf(sentence, language)).toEqual(members)
})

const ITALY_AND_SPAIN = ['İtalya’ya', 'İspanya’ya'].join(' ve ')
test.each([
  ...[
    ...['You run ten trucks', 'You run a dozen trucks', 'You run several trucks', 'You go mainly'],
    ...[
      'You go mostly',
      'Half of your sales go',
      'A third of your trucks go',
      'Hundreds of you go',
    ],
    ...['The majority of sales go', 'The rest of sales goes', 'Nobody else goes', 'Two firms go'],
    ...['The total of sales goes', 'Two thirds go', 'Few trucks go', 'A couple of trucks go'],
    ...['An average truck goes', 'The best trucks go', 'Three quarters go', 'You go partly'],
    ...[
      'A quarter of sales goes',
      'A third of us goes',
      'You do not go',
      'Thousands of trucks go',
      'You go apart from that',
      'You may go',
    ],
  ].map((head) => ['en', `${head} to Italy and Spain`] as const),
  ...[
    ...['On kamyon', 'İki kamyon', 'Yüz kamyon', 'Bin kamyon', 'Bir kamyon', 'Satışların yarısı'],
    ...['Satışların çoğu', 'Satışların çoğunluğu', 'Birkaç kamyon', 'Birçok kamyon', 'Üçte biri'],
    ...['Toplam satış', 'Ortalama satış', 'Bir kısmı', 'Ağırlıklı olarak', 'Kimse', 'Satışlar hiç'],
    ...['Lider firma', 'Liderimiz', 'Toplamda 8 kamyon', 'Toplamı', 'Çoğunlu', 'Çoğunluğumuz'],
    ...['Çoğu', 'Çoğumuz', 'Yarı', 'Yarımız', 'Satışların kısmısı', 'Toplam', 'Bu kısmımız'],
    ...['Gitmez firma', 'Varmaz firma', 'Gitmedi ama', 'Varmadı ama', 'Gitmiyorsa'],
  ].map((head) => ['tr', `${head} ${ITALY_AND_SPAIN} gider`] as const),
])('in %s no member of “%s” is said by itself', (language, sentence) => {
  expect(membersOf(sentence, language)).toBeUndefined()
})

test('a list of which one member is unknown is none', () => {
  expect(membersOf('You deliver to Italy and Spencer', 'en')).toBeUndefined()
  expect(membersOf('You deliver to Spencer and Italy', 'en')).toBeUndefined()
  expect(membersOf('You speak for Undefined and Italy', 'en')).toBeUndefined()
})

test.each([
  'firm gidermezlik',
  'madde madde',
  'ortak',
  'nedense',
  'onlar',
  'binlik firma',
  'liman',
])('in tr “%s” changes no list', (head) => {
  expect(membersOf(`${head} ${ITALY_AND_SPAIN} gider`, 'tr')).toHaveLength(2)
})

test.each(['second', 'minute', 'hour', 'day', 'week', 'month', 'year', 'time'])(
  '“40 %ss” are no things that somebody has',
  (measure) => {
    for (const form of [measure, `${measure}s`]) {
      expect(impliedBy(words(`‹you› have 40 ${form}`), 'en')).toEqual([])
    }
    expect(impliedBy(words(`‹you› have 40 ${measure}rs`), 'en')).toHaveLength(1)
  },
)

test.each([
  ['en', 'You run 40 trucks from Bursa.', 'You run 40 trucks'],
  ['en', 'You run 40 trucks in Bursa', 'You run 40 trucks'],
  ['en', 'You run 40 trucks in winter', undefined],
  ['en', 'You run 40 trucks from June.', undefined],
  ['en', 'You run 40 trucks in Winter!', undefined],
  ['en', 'You run 40 trucks from Monday', undefined],
  ['en', 'You run 40 trucks in Mayland', 'You run 40 trucks'],
  ['en', 'You run 40 trucks from Saint-Denis', 'You run 40 trucks'],
  ['en', 'You run 40 trucks', undefined],
  ['tr', 'You run 40 trucks in Bursa', undefined],
] as const)('in %s the place can be left out of "%s": %s', (language, sentence, bare) => {
  expect(withoutPlace(sentence, language)).toBe(bare)
})

test.each([
  ['en', '‹you› run 40 trucks', ['‹you› run trucks']],
  ['en', '‹you› have 2 depots here', ['‹you› have depots here']],
  // One truck is no trucks, and two and a half of them are not counted.
  ['en', '‹you› run 1 truck', []],
  ['en', '‹you› run 2.5 trucks', []],
  ['en', '‹you› run many trucks', []],
  ['en', '‹you› rent 40 trucks', []],
  ['en', 'demir run 40 trucks', []],
  ['en', '‹you› have 40 %', []],
  ['en', '‹you› have 40 hours', []],
  ['en', '‹you› have 40 km', []],
  ['en', '‹you› have 40', []],
  ['en', '‹you› run 40 trucks and vans', []],
  ['en', '‹you› run only 40 trucks', []],
  ['tr', 'demir:of 40 kamyonu var', ['demir:of kamyonları var', 'demir:of kamyonleri var']],
  ['tr', 'demir:of 40 deposu var', ['demir:of depoları var', 'demir:of depoleri var']],
  [
    'tr',
    'demir:of 3 aracı var',
    ['aracları', 'aracleri', 'araçları', 'araçleri'].map((form) => `demir:of ${form} var`),
  ],
  ['en', 'x‹you› run 40 trucks', []],
  ['en', '‹you›:of run 40 trucks', []],
  ['en', '‹you› run 40 -trucks', []],
  ['en', '‹you›', []],
  ['en', '‹you› run', []],
  ['tr', 'demir:of', []],
  ['tr', 'demir:of 40', []],
  [
    'tr',
    'demir:of 40 yeni kamyonu var',
    ['demir:of yeni kamyonları var', 'demir:of yeni kamyonleri var'],
  ],
  [
    'tr',
    'demir:of 4 kitabı var',
    ['kitabları', 'kitableri', 'kitapları', 'kitapleri'].map((form) => `demir:of ${form} var`),
  ],
  [
    'tr',
    'demir:of 4 durağı var',
    ['durağları', 'durağleri', 'durakları', 'durakleri'].map((form) => `demir:of ${form} var`),
  ],
  [
    'tr',
    'demir:of 4 kanadı var',
    ['kanadları', 'kanadleri', 'kanatları', 'kanatleri'].map((form) => `demir:of ${form} var`),
  ],
  ['tr', 'demir:of 4 masası var', ['demir:of masaları var', 'demir:of masaleri var']],
  ['tr', 'demir:of 4 asasıl var', []],
  ['tr', 'demir:of 1 kamyonu var', []],
  ['tr', 'demir:of 40 kamyonu yok', []],
  ['tr', 'demir 40 kamyonu var', []],
  ['tr', 'demir:of 40 kamyon var', []],
  ['tr', 'demir:of 40 kamyonu ve deposu var', []],
  ['tr', 'demir:of yaklaşık 40 kamyonu var', []],
] as const)('in %s: "%s" says without its number %j', (language, text, implied) => {
  expect(impliedBy(words(text), language).map((tokens) => tokens.join(' '))).toEqual(implied)
})
