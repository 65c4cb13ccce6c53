import { describe, expect, test } from 'vitest'
import { judgeOf, type Scene } from '../../../../hub/agents/evidence/judge.ts'
import { codeSays, type Pair, readPairs } from '../../evidence/pairs.ts'

const PAIRS = readPairs()
const labelled = (label: Pair['label']) => PAIRS.filter((pair) => pair.label === label)

describe('over the whole set, code alone', () => {
  test('has 300 pairs or more, and 120 that are supported', () => {
    expect(PAIRS.length).toBeGreaterThanOrEqual(300)
    expect(labelled('supported').length).toBeGreaterThanOrEqual(120)
  })

  test('never says "supported" of what is not', () => {
    const wrong = PAIRS.filter(
      (pair) => pair.label !== 'supported' && codeSays(pair) === 'supported',
    )
    expect(wrong.map(({ trap, sentence }) => `${trap}: ${sentence}`)).toEqual([])
  })

  test('takes nothing for harmless that states something', () => {
    const wrong = PAIRS.filter((pair) => pair.label !== 'harmless' && codeSays(pair) === 'harmless')
    expect(wrong.map(({ sentence }) => sentence)).toEqual([])
  })

  test('finds 92 of the 125 supported sentences', () => {
    const found = labelled('supported').filter((pair) => codeSays(pair) === 'supported')
    expect([found.length, labelled('supported').length]).toEqual([92, 125])
  })

  test('knows each harmless sentence, and says "contradicted" only of what is', () => {
    expect(labelled('harmless').filter((pair) => codeSays(pair) !== 'harmless')).toEqual([])
    const said = PAIRS.filter((pair) => codeSays(pair) === 'contradicted')
    expect(said.filter(({ label }) => label !== 'contradicted')).toEqual([])
    expect([said.length, labelled('contradicted').length]).toEqual([27, 27])
  })

  test('turns when a sentence that it rests on is taken away', () => {
    const turned = labelled('supported')
      .filter((pair) => codeSays(pair) === 'supported')
      .flatMap((pair) => pair.needs.map((id) => ({ pair, id })))
    expect(turned.length).toBeGreaterThan(92)
    const kept = turned.filter(({ pair, id }) => {
      const evidence = pair.evidence.filter((row) => row.id !== id)
      return codeSays({ ...pair, evidence }) === 'supported'
    })
    expect(kept.map(({ pair }) => pair.sentence)).toEqual([])
  })
})

describe('over the held-out set, code alone', () => {
  const HELD_OUT = readPairs('held-out')
  const said = HELD_OUT.map((pair) => ({ pair, verdict: codeSays(pair) }))

  test('says "supported", "contradicted" and "harmless" only of what is', () => {
    const wrong = said.filter(
      ({ pair, verdict }) =>
        verdict !== 'unsure' && verdict !== pair.label.replace('not_stated', 'unsure'),
    )
    expect(wrong.map(({ pair, verdict }) => `${verdict}: ${pair.sentence}`)).toEqual([])
  })

  test('finds 70 of its 74 supported sentences, none of them without its evidence', () => {
    const found = said.filter(({ verdict }) => verdict === 'supported')
    const all = HELD_OUT.filter(({ label }) => label === 'supported')
    expect([found.length, all.length, HELD_OUT.length]).toEqual([70, 74, 235])
    const kept = found
      .flatMap(({ pair }) => pair.needs.map((id) => ({ pair, id })))
      .filter(({ pair, id }) => {
        const evidence = pair.evidence.filter((row) => row.id !== id)
        return codeSays({ ...pair, evidence }) === 'supported'
      })
    expect(kept.map(({ pair }) => pair.sentence)).toEqual([])
  })
})

describe('over the set that wants to fool it, code alone', () => {
  const FOOLED = readPairs('fooled').map((pair) => ({ pair, verdict: codeSays(pair) }))

  test('says "supported", "contradicted" and "harmless" only of what is', () => {
    const wrong = FOOLED.filter(
      ({ pair, verdict }) =>
        verdict !== 'unsure' && verdict !== pair.label.replace('not_stated', 'unsure'),
    )
    expect(wrong.map(({ pair, verdict }) => `${verdict}: ${pair.sentence}`)).toEqual([])
  })

  test('finds 14 of its 22 supported sentences, none of them without its evidence', () => {
    const all = FOOLED.filter(({ pair }) => pair.label === 'supported')
    const found = all.filter(({ verdict }) => verdict === 'supported')
    expect([found.length, all.length, FOOLED.length]).toEqual([14, 22, 131])
    const kept = found
      .flatMap(({ pair }) => pair.needs.map((id) => ({ pair, id })))
      .filter(({ pair, id }) => {
        const evidence = pair.evidence.filter((row) => row.id !== id)
        return codeSays({ ...pair, evidence }) === 'supported'
      })
    expect(kept.map(({ pair }) => pair.sentence)).toEqual([])
  })
})

const reader = { id: 'r', name: 'Ayşe Demir', company: 'Demir Lojistik' }

/** What code says of a sentence with these facts about the reader, and about us. */
function says(sentence: string, about: string[], us: string[] = [], scene: Partial<Scene> = {}) {
  const evidence = [
    ...about.map((fact, at) => ({ id: `lead${at}`, lead_id: 'r', fact })),
    ...us.map((fact, at) => ({ id: `us${at}`, lead_id: null, fact })),
  ]
  return judgeOf({ language: 'en', us: 'Nordlicht', reader, ...scene }, evidence)(sentence).verdict
}

describe('tricks', () => {
  const TRICKS: [why: string, sentence: string, about: string[], us?: string[]][] = [
    ['a date is no number', 'You started on 1.11.2021.', ['Demir Lojistik started on 11.1.2021.']],
    ['a version is none', 'We sell version 2.1.', [], ['We sell version 2.10.']],
    ['1,250 may be 1.25', 'You own 1.250 vans.', ['Demir Lojistik owns 1,250 vans.']],
    ['a range is not its end', 'You own 20 vans.', ['Demir Lojistik owns 10-20 vans.']],
    ['plus is more', 'You own 40 vans.', ['Demir Lojistik owns 40+ vans.']],
    ['about is not exactly', 'You own 40 vans.', ['Demir Lojistik owns ~40 vans.']],
    ['½ is no 12', 'You own 12 vans.', ['Demir Lojistik owns 1½ vans.']],
    ['can’t is not can', 'We can help.', [], ["We can't help."]],
    ['a country is not us', 'DHL leads us.', [], ['DHL leads US.']],
    ['the person is not the firm', 'Ayşe Demir owns 40 vans.', ['Demir Lojistik owns 40 vans.']],
    [
      'nor in the second half',
      'Ayşe Demir founded Demir Lojistik in 1998 and owns 40 vans.',
      ['Ayşe Demir founded Demir Lojistik in 1998.', 'Demir Lojistik owns 40 vans.'],
    ],
    ['"we" in a note about a lead is anybody', 'You own 40 vans.', ['We own 40 vans.']],
    ['and "we" are not the lead', 'We own 40 vans.', ['We own 40 vans.']],
    [
      'what is taken back',
      'You own 40 vans.',
      ['Demir Lojistik owns 40 vans. This is no longer so.'],
    ],
    ['a heading that denies', 'You own 40 vans.', ['False claims:\nDemir Lojistik owns 40 vans.']],
    [
      '"not" reaches over "and"',
      'You do not lie and you cheat.',
      ['Demir Lojistik does not lie.', 'Demir Lojistik cheats.'],
    ],
    ['the past of "cut"', 'Nordlicht cuts costs.', [], ['Nordlicht cut costs.']],
    ['nor of "shed"', 'Nordlicht sheds jobs.', [], ['Nordlicht shed jobs.']],
    ['nor of "forecast"', 'You forecast 3 %.', ['Demir Lojistik forecasts 3 %.']],
    ['from when', 'You operate trucks.', ['Operates 40 trucks from June.']],
    ['a name is no greeting', 'Demir Lojistik – cuts costs.', [], ['Cuts costs.']],
    ['nor with a comma', 'Demir Lojistik, cuts costs.', [], ['Cuts costs.']],
    ['letters that turn', 'You own \u202e04 vans.', ['Demir Lojistik owns 04 vans.']],
    ['another alphabet', 'You own 40 vаns.', ['Demir Lojistik owns 40 vans.']],
    ['a question says nothing', 'We lead Europe.', [], ['We lead Europe?']],
    ['a question at its end', 'You own 40 vans, right?', ['Demir Lojistik owns 40 vans.']],
    ['a year is no count', 'You own more than 1990 vans.', ['Demir Lojistik owns 2019 vans.']],
    ['a bound is not its number', 'You own at least 40 vans.', ['Demir Lojistik owns 40 vans.']],
    ['up to is no number', 'You own more than 30 vans.', ['Demir Lojistik owns up to 40 vans.']],
    [
      'of two numbers none is "more"',
      'You own more than 30 vans.',
      ['Demir Lojistik owns 40 vans.', 'Demir Lojistik owns 20 vans.'],
    ],
    ['planned is not there', 'You have depots.', ['Demir Lojistik has 3 depots in planning.']],
    ['a joined name is one', 'We deliver to Marks.', [], ['We deliver to Marks and Spencer.']],
    ['one of both', 'We are active in Italy.', [], ['We are first in Italy and Spain.']],
    ['not both', 'We deliver to Italy.', [], ['We do not deliver to Italy and Spain.']],
    [
      'a time of another verb',
      'In 2022 Ayşe Demir said that the plant closed.',
      ['Ayşe Demir said that the plant closed in 2022.'],
    ],
    ['who did it', 'The plant was sold by you.', [], ['Nordlicht sold the plant.']],
    ['who suffered it', 'We were sold by the plant.', [], ['Nordlicht sold the plant.']],
    [
      'a time reaches over "and"',
      'In 2022 you sold a plant and you own 40 vans.',
      ['Demir Lojistik sold a plant in 2022.', 'Demir Lojistik owns 40 vans.'],
    ],
    ['24 hours are no day', 'We answer within one day.', [], ['We answer within 24 hours.']],
    ['free of what', 'You cost nothing.', ['Demir Lojistik is free.']],
    ['a greeting hides nothing', 'Hello Ayşe, you lead the market.', ['Demir Lojistik grows.']],
    ['her plant is not theirs', 'You sold our plant.', ['Demir Lojistik sold its plant.']],
    ['the day is not the month', 'We opened on May 3, 2021.', [], ['We opened on 5 March 2021.']],
    ['a thousand more', 'We sold 1.250 cars.', [], ['We sold 1.25 cars.']],
  ]
  test.each(TRICKS)('%s: “%s”', (_, sentence, about, us) => {
    expect(says(sentence, about, us)).not.toMatch(/supported|harmless/)
  })

  test('a reader with our own name is told apart', () => {
    const same = { reader: { ...reader, company: 'Nordlicht' } }
    expect(says('We own 40 vans.', ['Nordlicht owns 40 vans.'], [], same)).toBe('unsure')
    expect(says('You own 40 vans.', ['Nordlicht owns 40 vans.'], [], same)).toBe('supported')
  })

  test('evidence that disagrees with itself supports nothing', () => {
    const facts = ['Demir Lojistik owns 40 vans.', 'Demir Lojistik owns 35 vans.']
    expect(says('You own 40 vans.', facts)).toBe('contradicted')
    expect(says('You own 40 vans.', facts.slice(0, 1))).toBe('supported')
  })

  test('a note about the reader speaks of the reader, and not of one of both', () => {
    expect(says('You have 40 vans.', ['Has 40 vans.'])).toBe('supported')
    expect(says('Ayşe Demir has 40 vans.', ['Has 40 vans.'])).toBe('unsure')
    expect(says('You have 40 vans.', [], ['Has 40 vans.'])).toBe('unsure')
  })

  test('characters that nobody sees are no difference', () => {
    expect(says('You own\u200b 40 va\u00adns.', ['Demir Lojistik owns 40 vans.'])).toBe('supported')
  })

  test.each([
    ["1987'de kurulan şirket aldınız.", "Demir Lojistik kurulan şirket 1987'de aldı."],
    ["Nordlicht 2021'de satın alındı.", "Nordlicht 2021'de Demir Lojistik'i satın aldı."],
    ["Demir Lojistik'in şirketinde 40 kişi çalışıyor.", 'Demir Lojistik 40 kişi çalıştırıyor.'],
    ["40'tan fazla kişi çalıştırıyorsunuz.", 'Demir Lojistik 40 kişi çalıştırıyor.'],
    ["30'dan fazla kişi çalıştırıyorsunuz.", 'Demir Lojistik 40 kişi çalıştırmıyor.'],
    ["İtalya'ya ihracat yapıyorsunuz.", "Demir Lojistik İtalya'ya ve İspanya'ya ihracat yapmıyor."],
    [
      "2022'de fabrika sattınız ve 40 kişi çalıştırıyorsunuz.",
      'Demir Lojistik 40 kişi çalıştırıyor.',
    ],
  ])('Turkish: “%s” is not supported by “%s”', (sentence, fact) => {
    expect(says(sentence, [fact], [], { language: 'tr' })).not.toMatch(/supported|harmless/)
  })

  test('a fact with "last month" says nothing a month later', () => {
    const noted = (created_at: string) =>
      judgeOf({ language: 'en', us: 'Nordlicht', reader }, [
        { id: 'f', lead_id: 'r', fact: 'Demir Lojistik bought 4 vans last month.', created_at },
      ])('You bought 4 vans last month.').verdict
    expect(noted(new Date().toISOString())).toBe('supported')
    expect(noted('2024-03-05T08:00:00Z')).toBe('unsure')
  })

  test.each([
    ['en', 'Ayşe, the first month is free.', 'The first month is free.', 'supported'],
    ['en', 'Ayşe Demir, we cut costs.', 'We cut costs.', 'supported'],
    ['en', 'Ayşe – our demo is free.', 'Our demo is free.', 'supported'],
    ['en', 'Hello Ayşe, cuts costs.', 'Cuts costs.', 'supported'],
    ['en', 'Ayşe, cuts costs.', 'Cuts costs.', 'unsure'],
    ['en', 'Nordlicht – cuts costs.', 'Nordlicht cuts costs.', 'supported'],
    ['tr', 'Ayşe, giderinizi düşürüyoruz.', 'Giderinizi düşürüyoruz.', 'supported'],
    ['tr', 'Ayşe, depo açtık.', 'Depo açtık.', 'supported'],
    ['tr', 'Demir Lojistik, gideri %12 düşürüyor.', 'Gideri %12 düşürüyor.', 'unsure'],
  ] as const)(
    'a name in front is whom we speak to, or of, in %s: “%s”',
    (language, sentence, us, verdict) => {
      expect(says(sentence, [], [us], { language })).toBe(verdict)
    },
  )

  test('a Turkish letter is another letter', () => {
    const tr = { language: 'tr' as const }
    expect(says('Filonuz öldü.', ["Demir Lojistik'in filosu oldu."], [], tr)).toBe('unsure')
    expect(says('Filonuz oldu.', ["Demir Lojistik'in filosu oldu."], [], tr)).toBe('supported')
  })
})

describe('harmless is a closed list', () => {
  test('even where the name of the reader is a claim with a number', () => {
    const named = { reader: { ...reader, name: '40 Vans' } }
    expect(says('Hello 40 Vans,', [], [], named)).toBe('unsure')
    expect(says('Hello Ayşe Demir,', [])).toBe('harmless')
  })

  test.each([
    'Thank you for your interest.',
    'Thank you for your reply.',
    'Would you like to talk about your losses?',
    'Hello Mehmet,',
    'Would you have 15 minutes next week?',
    'Best regards from the best',
    'We look forward to our award.',
    'May I send you more customers?',
    'Dear Ayşe Demir, who lost her licence,',
    'Yes? No!',
  ])('%s is judged', (sentence) => {
    expect(says(sentence, [])).toBe('unsure')
  })
})

describe('the opposite of a fact contradicts it, either way round', () => {
  const both = (one: string, other: string, language: 'en' | 'tr') =>
    [
      [one, other],
      [other, one],
    ].map(([sentence = '', fact = '']) =>
      says(`Demir Lojistik ${sentence}.`, [`Demir Lojistik ${fact}.`], [], { language }),
    )

  test.each([
    ['kamyon satıyor', 'kamyon satmıyor'],
    ['hizmet veriyor', 'hizmet vermiyor'],
    ['kamyon bulunduruyor', 'kamyon bulundurmuyor'],
    ['destek görüyor', 'destek görmüyor'],
    ['kamyon satar', 'kamyon satmaz'],
    ['hizmet verir', 'hizmet vermez'],
    ['müşteri bulur', 'müşteri bulmaz'],
    ['destek görür', 'destek görmez'],
    ['kamyon sattı', 'kamyon satmadı'],
    ['hizmet verdi', 'hizmet vermedi'],
    ['müşteri buldu', 'müşteri bulmadı'],
    ['destek gördü', 'destek görmedi'],
    ['için kamyon var', 'için kamyon yok'],
    ['üyedir', 'üye değildir'],
    ['kapalıdır', 'kapalı değildir'],
    ['ünlüdür', 'ünlü değildir'],
    ['borçludur', 'borçlu değildir'],
    ['kurulu', 'kurulu değil'],
    ['kamyon satıyor', 'kamyon asla satmıyor'],
    ['kamyon satıyor', 'hiç kamyon satmıyor'],
    ['kamyon satıyor', 'hiçbir kamyon satmıyor'],
    ['40 kamyon satıyor', '45 kamyon satıyor'],
  ])('in Turkish: %s, %s', (one, other) => {
    expect(both(one, other, 'tr')).toEqual(['contradicted', 'contradicted'])
    expect([both(one, one, 'tr'), both(other, other, 'tr')].flat()).not.toContain('contradicted')
  })

  test.each([
    ['sells trucks', 'does not sell trucks'],
    ['sells trucks', "doesn't sell trucks"],
    ['sells trucks', 'never sells trucks'],
    ['is open', 'is not open'],
    ['has trucks', 'has no trucks'],
    ['will sell trucks', 'will not sell trucks'],
    ['runs 40 trucks', 'runs 45 trucks'],
  ])('in English: %s, %s', (one, other) => {
    expect(both(one, other, 'en')).toEqual(['contradicted', 'contradicted'])
  })

  test.each([
    ['kamyon satıyor', 'kamyon satar'],
    ['kamyon satıyor', 'kamyon alıyor'],
    ['kamyon satıyor', 'kamyon almıyor'],
    ['40 kamyon satıyor', '45 kamyon satmıyor'],
    ['2 depoda 40 kamyon satıyor', '3 depoda 45 kamyon satıyor'],
    ['kamyon satar', 'kamyon sattı'],
    ['kamyon satmadı', 'kamyon satmaz'],
    ['kamyon satmamış değil', 'kamyon satmamış değil'],
  ])('but not another thing: %s, %s', (one, other) => {
    expect(both(one, other, 'tr')).not.toContain('contradicted')
  })
})
