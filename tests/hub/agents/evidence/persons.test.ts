import { expect, test } from 'vitest'
import {
  asReader,
  fromReader,
  type Names,
  personed,
  subjectOf,
  turned,
  type Voice,
  verbAfter,
} from '../../../../hub/agents/evidence/persons.ts'

const NAMES: Names = {
  us: ['Nordlicht GmbH'],
  person: 'Ayşe Yılmaz',
  company: 'Demir Lojistik A.Ş.',
}

test.each<[voice: Voice, sentence: string, said: string]>([
  ['mail', 'We run trucks.', '‹us› run trucks'],
  ['mail', 'Nordlicht runs trucks.', '‹us› run trucks'],
  ['mail', 'Nordlicht GmbH carries us.', '‹us› carry ‹us›'],
  ['mail', 'Our trucks', '‹us›:of trucks'],
  ['mail', "Nordlicht's trucks", '‹us›:of trucks'],
  ['mail', 'You run.', '‹you› run'],
  ['mail', 'Your trucks', '‹you›:of trucks'],
  ['mail', 'Demir Lojistik has trucks.', '‹company› have trucks'],
  ['mail', 'Demir Lojistik A.Ş. is here', '‹company› be here'],
  ['mail', "Demir Lojistik's trucks", '‹company›:of trucks'],
  ['mail', 'Ayşe Yılmaz was here', '‹person› was here'],
  // A first name alone may be anybody's.
  ['mail', 'Ayşe was here', 'ayşe was here'],
  ['mail', 'We are', '‹us› be'],
  ['mail', 'You does', '‹you› do'],
  ['mail', 'Nordlicht pushes', '‹us› push'],
  ['mail', 'Nordlicht misses', '‹us› miss'],
  ['mail', 'Nordlicht fixes', '‹us› fix'],
  ['mail', 'Nordlicht goes', '‹us› go'],
  ['mail', 'Nordlicht says', '‹us› say'],
  ['mail', 'Nordlicht focus', '‹us› focus'],
  // A verb whose past looks like its present.
  ['mail', 'We cut costs', '‹us› cut:unclear costs'],
  ['mail', 'Nordlicht cuts costs', '‹us› cut:s costs'],
  ['mail', 'Nordlicht cut costs', '‹us› cut:past costs'],
  ['mail', 'You', '‹you›'],
  ['mail', 'The trucks run', 'the trucks run'],
  ['mail', 'Trucks we run', 'trucks ‹us› run'],
  // In a note about a lead nobody knows who "we" and "you" are, and its verb has no subject.
  ['lead', 'We run.', '‹we?› run'],
  ['lead', 'Our trucks', '‹our?› trucks'],
  ['lead', 'You run.', '‹you?› run'],
  ['lead', 'Has 40 trucks', '‹you› have 40 trucks'],
  ['lead', 'Owns ships', '‹you› own ships'],
  ['lead', 'Runs 40 trucks', '‹you› run 40 trucks'],
  ['lead', 'Cuts 40 %', '‹you› cut:s 40 %'],
  ['lead', 'Runs trucks', 'runs trucks'],
  ['lead', 'Focus 40', 'focus 40'],
  ['lead', 'Basel 40', 'basel 40'],
  ['lead', 'Demir Lojistik runs', '‹company› run'],
  ['us', 'We run.', '‹us› run'],
  ['us', 'Has 40 trucks', 'has 40 trucks'],
])('in %s “%s” is “%s”', (voice, sentence, said) => {
  expect(personed(sentence, NAMES, voice, 'en').join(' ')).toBe(said)
})

test.each<[sentence: string, said: string]>([
  ["Nordlicht'in kamyonu", '‹us›:of kamyonu'],
  ["Nordlicht'e yazar", '‹us›:a yazar'],
  ["Nordlicht'i arar", '‹us›:i arar'],
  ["Nordlicht'te durur", '‹us›:da durur'],
  ["Nordlicht'ten alır", '‹us›:dan alır'],
  ["Nordlicht'le gider", '‹us›:la gider'],
  ["Demir Lojistik'in kamyonu var", '‹company›:of kamyonu var'],
  // Other endings are no case of the name.
  ["Nordlicht'lerin aracı", '‹us› lerin aracı'],
  ["Nordlicht'teki araç", '‹us› teki araç'],
  ["Nordlicht'tenmiş gibi", '‹us› tenmiş gibi'],
  ["Nordlicht'leyken gider", '‹us› leyken gider'],
  ["Nordlicht'ime yazar", '‹us› ime yazar'],
  ["Nordlicht'imi arar", '‹us› imi arar'],
  ["Nordlicht'inki var", '‹us› inki var'],
  ["Nordlicht'elim var", '‹us› elim var'],
  ["Nordlicht'imde var", '‹us› imde var'],
  ["Nordlicht'imden alır", '‹us› imden alır'],
  ["Nordlicht'ile gider", '‹us› ile gider'],
  ['Biz taşırız', '‹us› taşır'],
  ['bizim araç', '‹us›:of araç'],
  ['bize yazar', '‹us›:a yazar'],
  ['bizi arar', '‹us›:i arar'],
  ['bizde var', '‹us›:da var'],
  ['bizden alır', '‹us›:dan alır'],
  ['siz taşır', '‹you› taşır'],
  ['sizin araç', '‹you›:of araç'],
  ['size yazar', '‹you›:a yazar'],
  ['sizi arar', '‹you›:i arar'],
  ['sizde var', '‹you›:da var'],
  ['sizden alır', '‹you›:dan alır'],
  // The ending of the verb says who acts.
  ['Yük taşıyoruz', '‹us› yük taşıyor'],
  ['Yük taşırız', '‹us› yük taşır'],
  ['Yük almayız', '‹us› yük almaz'],
  ['Yük taşıyacağız', '‹us› yük taşıyacak'],
  ['Yük göndereceğiz', '‹us› yük gönderecek'],
  ['Yük taşıdık', '‹us› yük taşıdı'],
  ['Yük almışız', '‹us› yük almış'],
  ['Yük taşımaktayız', '‹us› yük taşımakta'],
  ['Yük taşımaktasınız', '‹you› yük taşımakta'],
  ['Yük taşıyorsunuz', '‹you› yük taşıyor'],
  ['Yük taşırsınız', '‹you› yük taşır'],
  ['Yük almazsınız', '‹you› yük almaz'],
  ['Yük taşıyacaksınız', '‹you› yük taşıyacak'],
  ['Yük taşıdınız', '‹you› yük taşıdı'],
  ['Yük almışsınız', '‹you› yük almış'],
  // And that of a noun whose it is.
  ['Kamyonunuz var', '‹you›:of kamyonu var'],
  ['Kamyonumuz var', '‹us›:of kamyonu var'],
  ['Müşterimiz var', '‹us›:of müşterisi var'],
  ['Müşteriniz var', '‹you›:of müşterisi var'],
  ['Filomuz var', '‹us›:of filosu var'],
  ['Filonuzda araç var', '‹you›:of filosunda araç var'],
  ['Filonuza araç gelir', '‹you›:of filosuna araç gelir'],
  ['Kamyonunuzla gider', '‹you›:of kamyonuyla gider'],
  ['Gemimizden alır', '‹us›:of gemisinden alır'],
  ['Arabanız var', '‹you›:of arabası var'],
  ['sizin kamyonunuz', '‹you›:of kamyonu'],
  ['Kamyonunuz ve gemimiz var', '‹you›:of ‹us›:of kamyonu ve gemisi var'],
  ['Biz kamyonumuz var', '‹us›:of ‹us› kamyonu var'],
  // Words that only end so.
  ['Deniz temiz', 'deniz temiz'],
  ['Karadenizde', 'karadenizde'],
  ['Yıldızın ışığı', 'yıldızın ışığı'],
  ['Önümüzdeki yıl', 'önümüzdeki yıl'],
  ['Omuzunda', 'omuzunda'],
  // A number keeps its ending apart.
  ["Bursa'dan gelir", 'bursadan gelir'],
  ["40'tan fazla", '40 tan fazla'],
])('“%s” is “%s”', (sentence, said) => {
  expect(personed(sentence, NAMES, 'mail', 'tr').join(' ')).toBe(said)
})

test('in a Turkish note about a lead nobody knows whose something is', () => {
  const of = (sentence: string) => personed(sentence, NAMES, 'lead', 'tr').join(' ')
  expect(of('Yük taşıyoruz')).toBe('yük taşıyoruz')
  expect(of('Kamyonunuz var')).toBe('kamyonunuz var')
  expect(of("Bursa'dan gelir")).toBe('bursadan gelir')
})

test.each([
  'San. ve Tic. A.Ş.', 'San.', 'Sanayi ve Ticaret', 'Tic.', 'Ltd. Şti.', 'Limited Şirketi', 'Limited',
  'GmbH & Co. KG', 'GmbH', 'KG', 'OHG', 'AG', 'Inc.', 'LLC', 'Corp', 'S.A.', 'SAS', 'S.R.L.', 'S.L.',
  'S.L.U.', 'S.p.A.', 'SARL', 'B.V.', 'N.V.', 'Oy', 'Oyj', 'AB', 'ApS', 'A/S', 'sp. z o.o.', 's.r.o.',
  'Kft', 'Plc', 'Co.', 'Ltd, Co', 'AŞ',
])('a company is the same without “%s”', (form) => {
  const names = { us: [], person: null, company: ` Demir ${form}` }
  expect(personed('Demir runs', names, 'mail', 'en')).toEqual(['‹company›', 'run'])
  // The form belongs to a name that has more than it.
  expect(personed(`x${form}`, names, 'mail', 'en')).not.toContain('‹company›')
}) // biome-ignore format: a list

test.each<[names: Partial<Names>, sentence: string, said: string]>([
  // A reader with our own name is told apart by "we" and "you" alone.
  [{ us: ['Demir Ltd'], company: 'Demir GmbH' }, 'Demir runs', '‹company› run'],
  [{ us: ['Ada Lovelace'], person: 'Ada Lovelace' }, 'Ada Lovelace runs', '‹person› run'],
  [{ us: ['Demir'] }, 'Demir runs', '‹us› run'],
  [{ person: 'Ayşe' }, 'Ayşe runs', 'ayşe runs'],
  // The longer of two names counts.
  [{ us: ['Rota', 'Rota Lab'] }, 'Rota Lab runs', '‹us› run'],
  [{ us: ['Rota', 'Rota Lab'] }, 'Rota runs', '‹us› run'],
  [{ us: ['Rota'], company: 'Rota Lab' }, 'Rota Lab runs', '‹company› run'],
  [{ us: ['Rota'], company: 'Rota Lab' }, 'Rota runs', '‹us› run'],
  [{ us: [' '] }, 'x runs', 'x runs'],
])('with the names %j “%s” is “%s”', (names, sentence, said) => {
  const all = { us: [], person: null, company: null, ...names }
  expect(personed(sentence, all, 'mail', 'en').join(' ')).toBe(said)
})

test('the verb behind a shared subject has the same form', () => {
  expect(verbAfter(['‹us›', 'runs', 'x'])).toEqual(['‹us›', 'run', 'x'])
  expect(verbAfter(['‹company›', 'has'])).toEqual(['‹company›', 'have'])
  expect(verbAfter(['‹us›', 'cut:past'])).toEqual(['‹us›', 'cut:past'])
  expect(verbAfter(['‹us›'])).toEqual(['‹us›'])
  expect(verbAfter(['x', 'runs'])).toEqual(['x', 'runs'])
  expect(subjectOf(['‹you›', 'x'])).toBe('‹you›')
  expect(subjectOf(['x', '‹you›'])).toBeUndefined()
  expect(subjectOf(['‹you›:of'])).toBeUndefined()
})

test('a reader may be called “you” in each of four places, and in no more', () => {
  expect(asReader(['‹person›:of', 'and', '‹company›'])).toEqual([
    ['‹person›:of', 'and', '‹company›'],
    ['‹you›:of', 'and', '‹company›'],
    ['‹person›:of', 'and', '‹you›'],
    ['‹you›:of', 'and', '‹you›'],
  ])
  expect(asReader(['x', '‹us›'])).toEqual([['x', '‹us›']])
  const four = Array.from({ length: 4 }, () => '‹company›')
  expect(asReader(four)).toHaveLength(16)
  expect(asReader([...four, '‹person›'])).toEqual([[...four, '‹person›']])
  expect(fromReader(['‹you›:of', 'x'])).toEqual([
    ['‹you›:of', 'x'],
    ['‹company›:of', 'x'],
  ])
})

test('what the reader said is told back, and our name in it stays a word', () => {
  const of = (said: string) => turned(said, NAMES, 'en').join(' ')
  expect(of('We run your trucks with Nordlicht.')).toBe('‹you› run ‹us›:of trucks with nordlicht')
  expect(of('You help us')).toBe('‹us› help ‹you›')
})
