import { describe, expect, test } from 'vitest'
import { type Evidence, judgeOf } from '../../../../hub/agents/evidence/judge.ts'
import { speaksForItself, stated } from '../../../../hub/agents/evidence/stated.ts'
import type { Language } from '../../../../hub/i18n/words.ts'

const reader = { id: 'r', name: 'Ayşe Demir', company: 'Demir Lojistik' }
type About = 'lead' | 'us' | 'said' | 'list'

/** What code says of a sentence with these facts. */
function says(language: Language, sentence: string, facts: [About, string][]) {
  const evidence = facts.map(
    ([about, fact], at): Evidence => ({
      id: `e${at}`,
      lead_id: about === 'us' ? null : 'r',
      fact,
      said_by_lead: about === 'said',
      column: about === 'list' ? fact.slice(0, fact.indexOf(':')) : null,
    }),
  )
  return judgeOf({ language, us: 'Nordlicht', reader }, evidence)(sentence).verdict
}

describe('a fact says nothing of whom nobody knows', () => {
  test.each<[Language, string, [About, string]]>([
    ['en', 'I have 40 trucks.', ['said', 'I have 40 trucks.']],
    ['en', 'My company has three depots.', ['said', 'My company has three depots.']],
    ['en', 'I have 20 years of experience.', ['lead', 'I have 20 years of experience.']],
    ['en', 'It has 12 branches.', ['lead', 'It has 12 branches.']],
    ['en', 'They won the export award.', ['lead', 'They won the export award.']],
    ['en', 'The company opened in 2019.', ['lead', 'The company opened in 2019.']],
    ['en', 'Nordlicht – sells fuel in Bursa.', ['lead', 'Fuel in Bursa.']],
    ['tr', '40 kamyonum var.', ['said', '40 kamyonum var.']],
    ['tr', 'Polonya’ya gidiyorum.', ['said', 'Polonya’ya gidiyorum.']],
    ['tr', 'Benim üç depom var.', ['said', 'Benim üç depom var.']],
    ['tr', 'Üç depo açtım.', ['lead', 'Üç depo açtım.']],
    ['tr', '12 şubesi var.', ['lead', '12 şubesi var.']],
    ['tr', 'Bursa’dan kamyon işletiyor.', ['lead', 'Bursa’dan kamyon işletiyor.']],
  ])('%s: “%s”', (language, sentence, fact) => {
    expect(says(language, sentence, [fact])).toBe('unsure')
  })

  test.each<[Language, string, [About, string]]>([
    ['en', 'The depot in Bursa opened in 2019.', ['lead', 'The depot in Bursa opened in 2019.']],
    ['en', 'You run 40 trucks.', ['lead', 'Runs 40 trucks.']],
    ['en', 'Your drivers are tired.', ['said', 'Our drivers are tired.']],
    ['en', 'I founded Nordlicht.', ['us', 'I founded Nordlicht.']],
    ['en', 'Cuts fuel costs by 12 %.', ['us', 'Cuts fuel costs by 12 %.']],
    ['tr', 'Şoförleriniz yorgun.', ['said', 'Şoförlerimiz yorgun.']],
    [
      'tr',
      'Deniz taşımacılığı yapıyorsunuz.',
      ['lead', 'Demir Lojistik deniz taşımacılığı yapıyor.'],
    ],
  ])('but %s: “%s” is supported', (language, sentence, fact) => {
    expect(says(language, sentence, [fact])).toBe('supported')
  })

  test('a half without a subject says what it says of the subject of the first', () => {
    const en: [About, string][] = [
      ['lead', 'Demir Lojistik employs 120 people.'],
      ['lead', 'Runs 40 trucks from Bursa.'],
      ['us', 'Cuts fuel costs by 12 %.'],
      ['us', 'Nordlicht plans routes.'],
      ['us', 'The first month is free.'],
      ['us', 'DHL leads.'],
    ]
    const tr: [About, string][] = [
      ['lead', 'Demir Lojistik 120 kişi çalıştırıyor.'],
      ['us', 'Yakıt giderini %12 düşürüyor.'],
      ['us', 'İlk ay ücretsizdir.'],
    ]
    const both: [Language, [About, string][], string, string][] = [
      ['en', en, 'Demir Lojistik employs 120 people and cuts fuel costs by 12 %.', 'unsure'],
      ['en', en, 'Nordlicht plans routes and runs 40 trucks from Bursa.', 'unsure'],
      ['en', en, 'Nordlicht plans routes and cuts fuel costs by 12 %.', 'supported'],
      ['en', en, 'DHL leads and cuts fuel costs by 12 %.', 'unsure'],
      ['en', en, 'DHL leads and the first month is free.', 'supported'],
      ['en', en, 'You employ 120 people and the first month is free.', 'supported'],
      ['tr', tr, 'Demir Lojistik 120 kişi çalıştırıyor ve yakıt giderini %12 düşürüyor.', 'unsure'],
      ['tr', tr, '120 kişi çalıştırıyorsunuz ve ilk ay ücretsizdir.', 'supported'],
    ]
    const found = both.map(([language, facts, sentence]) => says(language, sentence, facts))
    expect(found).toEqual(both.map(([, , , verdict]) => verdict))
  })

  test('“I” is a word, and no part of one', () => {
    expect(speaksForItself('Demir Lojistik imports my brand.', ['‹company›'], 'en')).toBe(true)
    expect(speaksForItself('Demir Lojistik imports mythic.', ['‹company›'], 'en')).toBe(false)
  })
})

describe('a fact says nothing that is asked, cut, quoted, open or taken back', () => {
  test.each<[Language, string, string]>([
    ['en', 'Vexa costs 90 euros.', 'Vexa costs 90 euros…'],
    ['en', 'Vexa costs 90 euros.', 'Vexa costs 90 euros...'],
    ['en', 'Vexa costs 90 euros.', 'Vexa costs 90 euros (?)'],
    ['en', 'Vexa costs 90 euros a month.', 'Vexa costs 90 euros (?) a month.'],
    ['en', 'We cut costs by 30 %.', '“We cut costs by 30 %. Great team.” Mehmet Kaya'],
    ['en', 'The team is great.', '“We cut costs by 30 %. The team is great.” Mehmet Kaya'],
    ['en', 'The team is great.', '"We love it. The team is great." Mehmet Kaya'],
    ['en', 'We are certified to ISO 27001.', '[ ] We are certified to ISO 27001.'],
    ['en', 'We deliver to Italy.', 'We deliver to Italy. Until 2020.'],
    ['en', 'We deliver to Italy.', 'We deliver to Italy. Unfortunately that ended.'],
    ['en', 'We own 40 vans.', 'We own […] 40 vans.'],
    ['en', 'We own 40 vans.', 'We own … 40 vans.'],
    ['en', 'We own 40 vans.', 'We own . . . 40 vans.'],
    ...[
      ...['Sorry, wrong.', 'Correction: to Spain.', 'Just kidding.', 'Joking.', 'Maybe.'],
      ...['Perhaps.', 'Possibly.', 'Allegedly.', 'Supposedly.', 'If we get a licence.'],
      ...[
        'Once we have a licence.',
        'When Italy lets us.',
        'As soon as we can.',
        'Assuming peace.',
      ],
      ...['Subject to a licence.', 'Or to Spain.', 'Nor do we.', 'Neither do we.', 'None of it.'],
      ...['Nothing of it is so.', 'Otherwise to Spain.', 'Rather to Spain.', 'Instead of Spain.'],
      ...[
        'Ended.',
        'Stopped last year.',
        'Discontinued.',
        'Cancelled.',
        'Expired.',
        'Alas, no more.',
      ],
      ...['Regrettably, it ended.', 'From 2030.', 'Before the war.', 'As of May.', 'Since never!'],
    ].map((next): [Language, string, string] => [
      'en',
      'We deliver to Italy.',
      `We deliver to Italy. ${next}`,
    ]),
    ...[
      ...['Eğer izin çıkarsa.', 'Şayet izin çıkarsa.', 'Tabii izin çıkarsa.', 'Ya da etmiyoruz.'],
      ...['Veya İspanya’ya.', 'Yoksa değil mi.', 'Belki.', 'Galiba.', 'Sanırım.', 'Aslında bitti.'],
      ...['Düzeltme: İspanya.', 'Pardon.', 'Özür dileriz.', 'Şaka!', 'İptal.', 'Sona erdi.'],
      ...['Bitti.', 'Henüz başlamadık.', 'Meğer bitmiş.', 'Gerçi bitti.', 'Mayıstan itibaren.'],
      ...['İzinden sonra.', 'Savaştan önce.'],
    ].map((next): [Language, string, string] => [
      'tr',
      'Teslimat yapıyoruz.',
      `Teslimat yapıyoruz. ${next}`,
    ]),
    ['tr', 'Giderimizi %30 düşürdük.', '“Giderimizi %30 düşürdük. Ekip harika.” Mehmet Kaya'],
    ['tr', 'İtalya’ya teslimat yapıyoruz.', 'İtalya’ya teslimat yapıyoruz. 2020’ye kadar.'],
    ['tr', 'İtalya’ya teslimat yapıyoruz.', 'İtalya’ya teslimat yapıyoruz. Maalesef bitti.'],
  ])('%s: “%s” of “%s”', (language, sentence, fact) => {
    expect(says(language, sentence, [['us', fact]])).toBe('unsure')
  })

  test.each([
    ['You deliver at night.', 'Your rival wrote: “We run 40 trucks. We deliver at night.”'],
    ['You run 40 trucks.', '“We run 40 trucks. We deliver at night.” Mehmet Kaya'],
  ])('what a lead quotes is not its own: “%s” of “%s”', (sentence, fact) => {
    expect(says('en', sentence, [['said', fact]])).toBe('unsure')
    expect(says('en', sentence, [['said', fact.replace(/[“”]/g, '')]])).toBe('supported')
  })

  test.each<[Language, string]>([
    ['en', 'We deliver to Italy. Ordinary trucks do it.'],
    ['en', 'We deliver to Italy. From Milan our trucks go on to the whole of the country.'],
    ['tr', 'İtalya’ya teslimat yapıyoruz. Belkıs Hanım yönetir.'],
  ])('what does not take it back, in %s: “%s”', (language, fact) => {
    const [sentence = ''] = fact.split(/(?<=\.) /)
    expect(says(language, sentence, [['us', fact]])).toBe('supported')
  })

  test('a name between quotation marks and what follows a quotation stay', () => {
    expect(stated('“Rota” plans routes. We sell it.', true, 'en')).toHaveLength(2)
    expect(stated('“Rota” plans 40 routes. We sell “Rota”.', true, 'en')).toHaveLength(2)
    expect(stated('»We love it all.« We plan 40 routes.', true, 'en')).toContain(
      'We plan 40 routes.',
    )
  })

  test('a value of a list with a question mark is not known', () => {
    expect(says('en', 'Your trucks are 42.', [['list', 'Trucks: 42?']])).toBe('unsure')
    expect(says('en', 'Your trucks are 42.', [['list', 'Trucks: 42']])).toBe('supported')
    expect(says('tr', 'Aracınız 42.', [['list', 'Araç: 42?']])).toBe('unsure')
    expect(says('en', 'Your remark is buys fuel.', [['list', 'Remark: buys fuel...']])).toBe(
      'unsure',
    )
    expect(says('en', 'Your remark is buys fuel.', [['list', 'Remark: buys … fuel']])).toBe(
      'unsure',
    )
  })
})

test.each<[Language, string, string]>([
  ['en', 'Errors fell by 5 %.', 'Errors fell by .5 %.'],
  ['tr', 'Hatalar %5 azaldı.', 'Hatalar %,5 azaldı.'],
  ['en', 'No, customers pay for support.', 'No customers pay for support.'],
])('%s: “%s” is not “%s”', (language, sentence, fact) => {
  expect(says(language, sentence, [['us', fact]])).not.toMatch(/supported/)
})

test('a firm is called by its name without its legal form', () => {
  const says = (company: string) =>
    judgeOf({ language: 'en', us: 'Nordlicht', reader: { ...reader, company } }, [
      { id: 'e', lead_id: 'r', fact: 'Kaya Metal runs 18 looms.' },
    ])('You run 18 looms.').verdict
  const forms = [
    'San. ve Tic. A.Ş.',
    'Tic. Ltd. Şti.',
    'S.L.',
    'S.r.l.',
    'GmbH & Co. KG',
    'Oy',
    'Kft.',
  ]
  expect(forms.filter((form) => says(`Kaya Metal ${form}`) !== 'supported')).toEqual([])
  expect(says('Kaya Metal Nord')).toBe('unsure')
})

test('a fact about a lead with a name of its own says it by that name', () => {
  const fact: [About, string] = ['lead', 'Ruiz Textiles runs 18 looms.']
  expect(says('en', 'Ruiz Textiles runs 18 looms.', [fact])).toBe('supported')
  expect(says('en', 'You run 18 looms.', [fact])).toBe('unsure')
})

test('“müşterimiz” is “müşterisi” of a name', () => {
  const fact: [About, string] = ['us', 'Nordlicht’in 60 müşterisi ve 4 gemisi var.']
  expect(says('tr', '60 müşterimiz ve 4 gemimiz var.', [fact])).not.toBe('contradicted')
  expect(says('tr', '60 müşterimiz var.', [['us', 'Nordlicht’in 60 müşterisi var.']])).toBe(
    'supported',
  )
  expect(says('tr', '60 müşteriniz var.', [['us', 'Nordlicht’in 60 müşterisi var.']])).toBe(
    'unsure',
  )
  expect(says('tr', '60 kamyonumuz var.', [['us', 'Nordlicht’in 60 kamyonu var.']])).toBe(
    'supported',
  )
})

test('a reader with our name and another legal form is told apart', () => {
  const evidence = [{ id: 'e', lead_id: 'r', fact: 'Demir runs 40 trucks.' }]
  const scene = {
    language: 'en' as const,
    us: 'Demir AG',
    reader: { ...reader, company: 'Demir GmbH' },
  }
  const judge = judgeOf(scene, evidence)
  expect(judge('We run 40 trucks.').verdict).toBe('unsure')
  expect(judge('Demir AG runs 40 trucks.').verdict).toBe('unsure')
  expect(judge('You run 40 trucks.').verdict).toBe('supported')
})

test('a reader whose name ends with very many legal forms is judged as soon as others', () => {
  const company = `Kaya${' San. ve Tic. Ltd. Şti. S.A.S.'.repeat(12)} Depo`
  const scene = { language: 'en' as const, us: 'Nordlicht', reader: { ...reader, company } }
  const evidence = [{ id: 'e', lead_id: null, fact: 'Nordlicht runs 40 trucks.' }]
  expect(judgeOf(scene, evidence)('We run 40 trucks.').verdict).toBe('supported')
})

describe('the sentences of a fact that may be said again', () => {
  test.each<[string, string[], Language?]>([
    ['We grow. Claims:\nWe lead. We won.', ['We grow.']],
    ['Claims:\nWe lead.', []],
    [': We grow. We lead.', [': We grow.', 'We lead.']],
    ['„We lead. We won.“ We grow.', ['We grow.']],
    ['„We lead the whole market. We won.” We grow.', ['We grow.']],
    ['We lead. ”We won. We grow.', ['We lead.', '”We won.', 'We grow.']],
    ['"We  lead  all." We grow.', ['We grow.']],
    ['"We lead." We grow.', ['"We lead."', 'We grow.']],
    ['We say "yes to all". We grow.', ['We say "yes to all".', 'We grow.']],
    ['[] We lead. We grow.', ['We grow.']],
    ['[  ] We lead. We grow.', ['We grow.']],
    ['[x] We lead.', ['[x] We lead.']],
    ['We lead. From 2030', ['From 2030']],
    ['We lead. Trucks from 2030 go there.', ['We lead.', 'Trucks from 2030 go there.']],
    ['Öncüyüz. Tabi izin çıkarsa.', ['Tabi izin çıkarsa.'], 'tr'],
    ['Öncüyüz. Şaka', ['Şaka'], 'tr'],
    ['Öncüyüz. Mayıstan sonra', ['Mayıstan sonra'], 'tr'],
    ['Öncüyüz. Tabela bu. Olsun.', ['Öncüyüz.', 'Tabela bu.', 'Olsun.'], 'tr'],
    ['Öncüyüz. Bir ay sonra başlıyoruz.', ['Öncüyüz.', 'Bir ay sonra başlıyoruz.'], 'tr'],
    [
      'Öncüyüz. Bu çok uzun cümle yalnızca mayıs ayındaki büyük fuardan sonra.',
      ['Bu çok uzun cümle yalnızca mayıs ayındaki büyük fuardan sonra.'],
      'tr',
    ],
    [
      'Öncüyüz. Çok uzun cümlemiz geçerlidir, mayıs ayındaki büyük fuardan sonra.',
      ['Öncüyüz.', 'Çok uzun cümlemiz geçerlidir, mayıs ayındaki büyük fuardan sonra.'],
      'tr',
    ],
  ])('of %j', (fact, sentences, language = 'en') => {
    expect(stated(fact, true, language)).toEqual(sentences)
  })

  test('and in a note about a lead, what is quoted as well', () => {
    expect(stated('“We lead the whole market. We won.” X', false, 'en')).toHaveLength(3)
  })
})

const WHO = ['‹company›']
describe('who speaks of itself', () => {
  test.each<[string, Language, boolean]>([
    ...'ben benim bana beni bende benden bence'
      .split(' ')
      .flatMap((word): [string, Language, boolean][] => [
        [`depo ${word} diye`, 'tr', true],
        [word, 'tr', true],
        [`depo ş${word} diye`, 'tr', false],
        [`depo ${word}ş diye`, 'tr', false],
      ]),
    ...[
      ...['kamyonum var', 'depom yok', 'masam var', 'gölüm yok', 'evim var.', 'gülüm yok'],
      ...[
        'gidiyorum',
        'gidiyorum dedi',
        'gitmişim',
        'görmüşüm dedi',
        'giderim',
        'okurum',
        'alırım',
      ],
      ...['gideceğim', 'alacağım dedi', 'gidecegim', 'gittim', 'aldım.', 'gördüm!', 'buldum'],
      ...['gitmem', 'almam.', 'almam!'],
    ].map((said): [string, Language, boolean] => [said, 'tr', true]),
    ...[
      ...['kamyon var', 'kamyonum varlık', 'kamyonum yokluk', 'gidiyorumlu', 'gitmişimdi gibi'],
      ...['gidermiş', 'gideceğimiz', 'gittimse gider', 'gitmemek zor', 'gitmemiz', 'dertimiz'],
      ...[
        'gitmomış',
        'gitmom',
        'alcağım dedi',
        'alacoğım dedi',
        'gitmaşım diyor',
        'alacağom diyor',
      ],
    ].map((said): [string, Language, boolean] => [said, 'tr', false]),
    ...['I', 'me', 'my', 'mine', 'myself'].map((said): [string, Language, boolean] => [
      `It is for ${said} alone`,
      'en',
      true,
    ]),
  ])('“%s” in %s: %s', (sentence, language, is) => {
    expect(speaksForItself(sentence, WHO, language)).toBe(is)
  })

  test.each<[string, Language, boolean]>(
    [
      ...[
        'the depot',
        'a depot',
        'an office',
        'no depot',
        'some depots',
        'all depots',
        'most depots',
      ],
      ...['many depots', 'each depot', 'every depot', 'both depots', '4 depots', '4,500 depots'],
      ...['the  depot', 'The depot', 'Ruiz Textiles', 'Kaya & Demir', 'Al-Futtaim Group'],
    ].map((who): [string, Language, boolean] => [`${who} grows`, 'en', false]),
  )('in “%s” (%s) it is told who is meant', (sentence, language, is) => {
    expect(speaksForItself(sentence, [], language)).toBe(is)
  })

  test.each([
    ...['the company grows', 'The firm grows', 'a business grows', 'it grows', 'thee grow'],
    ...['depots of Ruiz Textiles grow', 'Ruiz grows', 'R grows'],
    ...['X1 Textiles grow', 'Ruiz 7 grows'],
  ])('in “%s” nobody knows who is', (sentence) => {
    expect(speaksForItself(sentence, [], 'en')).toBe(true)
  })

  test.each([
    ...['alıyor', 'alırlar', 'giderler', 'aldı', 'gitti', 'gördü', 'buldu', 'almış', 'görmüş'],
    ...['alacak', 'gidecek', 'alır', 'gider', 'almaz', 'gitmez', 'almakta', 'gitmekte'],
    ...['almaktadır', 'gitmektedir', 'var', 'yok'],
  ])('in Turkish somebody whom nobody names “%s”', (verb) => {
    expect(speaksForItself('depo', ['depo', verb], 'tr')).toBe(true)
    expect(speaksForItself('depo', ['‹company›', verb], 'tr')).toBe(false)
  })

  test.each(['ücretsiz', 'varlık', 'yoksul', 'depoda', 'açık', 'almakto', 'kapalı', 'almaktadar'])(
    'in Turkish “%s” is said of what is named',
    (word) => {
      expect(speaksForItself('depo', ['depo', word], 'tr')).toBe(/r$/.test(word))
    },
  )
  test('of nothing nothing is said', () => {
    expect(speaksForItself('depo', [], 'tr')).toBe(false)
  })
})
