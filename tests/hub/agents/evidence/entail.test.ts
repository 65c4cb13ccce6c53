import { describe, expect, test } from 'vitest'
import { type Ask, agreesExactly, entail } from '../../../../hub/agents/evidence/entail.ts'
import { JUDGE_VERSION } from '../../../../hub/agents/evidence/judge.ts'
import { type Measured, opensGate } from '../../../../hub/agents/evidence/measured.ts'
import { type JudgedSentence, withOpinion } from '../../../../hub/mail/drafts/judged.ts'

const evidence = [
  { id: 'trucks', lead_id: 'r', fact: 'Demir Lojistik runs 40 refrigerated trucks from Bursa.' },
  { id: 'us', lead_id: null, fact: 'Nordlicht plans routes.' },
]
const SENTENCE = 'Your fleet counts 40 refrigerated trucks.'

/** A model that gives these answers in turn, and the last one to all that follows. */
const model = (...answers: Record<string, string>[]) => {
  const asked: string[] = []
  const calls: Omit<Parameters<Ask>[0], 'schema' | 'task'>[] = []
  const ask: Ask = async ({ schema, task, ...call }) => {
    asked.push(task)
    calls.push(call)
    return schema.parse(answers[asked.length - 1] ?? answers.at(-1))
  }
  return { ask, asked, calls }
}
const YES = { verdict: 'supported', evidence: 'E1', quote: '40 refrigerated trucks' }
const asks = (answer: Record<string, string>, sentence = SENTENCE) =>
  entail(model(answer).ask, { sentence, evidence, language: 'en' })

describe('the answer of a model', () => {
  test('counts with words that stand in the evidence it names', async () => {
    expect(await asks(YES)).toEqual({
      verdict: 'supported',
      evidence_ids: ['trucks'],
      quote: '40 refrigerated trucks',
    })
    const nothing = { verdict: 'not_stated', evidence_ids: [], quote: null }
    expect(await asks({ ...YES, quote: '40 electric trucks' })).toEqual(nothing)
    expect(await asks({ ...YES, quote: '' })).toEqual(nothing)
    expect(await asks({ ...YES, evidence: 'E2' })).toEqual(nothing)
    expect(await asks({ ...YES, evidence: 'none' })).toEqual(nothing)
    expect(await asks({ ...YES, verdict: 'not stated' })).toEqual(nothing)
  })

  test.each([
    ['a number', 'Your fleet counts 45 refrigerated trucks.'],
    ['what it counts', 'Your fleet counts 40 electric trucks.'],
    ['a name', 'Your fleet of 40 refrigerated trucks is in Ankara.'],
    ['a negation', 'Your fleet does not count 40 refrigerated trucks.'],
    ['a hedge', 'Your fleet may count 40 refrigerated trucks.'],
    ['a comparison', 'Your fleet counts more than 40 refrigerated trucks.'],
    ['a quantifier', 'All of your 40 refrigerated trucks run.'],
    ['a superlative', 'Your 40 refrigerated trucks are the largest.'],
  ])('decides nothing about %s', async (_, sentence) => {
    expect((await asks(YES, sentence)).verdict).toBe('not_stated')
  })

  const halves = {
    sentence: 'Your fleet counts 40 refrigerated trucks and it plans routes.',
    evidence,
    language: 'en' as const,
  }
  const ROUTES = { verdict: 'supported', evidence: 'E1', quote: 'plans routes' }
  const NO = { ...YES, verdict: 'contradicted' }
  test('is asked for each half of a sentence, and both must be supported', async () => {
    const { ask, asked } = model(YES, ROUTES)
    expect(await entail(ask, halves)).toEqual({
      verdict: 'supported',
      evidence_ids: ['trucks', 'us'],
      quote: '40 refrigerated trucks … plans routes',
    })
    expect(asked).toHaveLength(2)
    expect(await entail(model(YES, { ...ROUTES, verdict: 'not stated' }).ask, halves)).toEqual({
      verdict: 'not_stated',
      evidence_ids: [],
      quote: null,
    })
    const same = { ...halves, sentence: 'Your fleet counts trucks and it runs from Bursa.' }
    const twice = await entail(model({ ...YES, quote: 'trucks from Bursa' }).ask, same)
    expect(twice).toMatchObject({ verdict: 'supported', evidence_ids: ['trucks'] })
  })

  test('against one half is against the sentence', async () => {
    const against = { ...ROUTES, verdict: 'contradicted' }
    expect(await entail(model(YES, against).ask, halves)).toEqual({
      verdict: 'contradicted',
      evidence_ids: ['us'],
      quote: 'plans routes',
    })
    // What contradicts differs in numbers and names.
    const other = 'Your fleet counts 90 trucks in Ankara.'
    expect(await asks(NO, other)).toMatchObject({ verdict: 'contradicted' })
    expect(await asks({ ...NO, quote: 'none of this' }, other)).toMatchObject({
      verdict: 'not_stated',
    })
  })

  test('is asked for with at most twelve pieces of evidence, the likeliest first', async () => {
    const others = Array.from({ length: 20 }, (_, at) => ({
      id: `other ${at}`,
      lead_id: 'r',
      fact: `Something ${at} "else".`,
    }))
    const { ask, asked, calls } = model(YES)
    const sentence = 'The “fleet” counts "40" refrigerated trucks.'
    await entail(ask, { sentence, evidence: [...others, ...evidence], language: 'en' })
    const lines = asked[0]?.split('\n') ?? []
    expect(lines).toHaveLength(14)
    expect(lines[0]).toBe(`E1: "${evidence[0]?.fact}"`)
    expect(lines[1]).toBe(`E2: "Something 0 'else'."`)
    expect(lines[11]).toMatch(/^E12: /)
    expect(lines[12]).toMatch(/^Sentence: "[^"]+"$/)
    expect(lines[12]).toContain(`'40'`)
    expect(lines[13]).toMatch(/^Does the evidence say what the sentence says, all of it\? /)
    expect(calls).toEqual([
      { name: 'entail', temperature: 0, system: expect.stringMatching(/orders in it are not/) },
    ])
  })

  test('about words that begin alike counts as likely', async () => {
    const facts = ['Nothing at all.', 'Refrigeration is theirs.', 'Refrigerators and trucks.']
    const { ask, asked } = model(YES)
    await entail(ask, {
      sentence: SENTENCE,
      evidence: facts.map((fact) => ({ id: fact, lead_id: 'r', fact })),
      language: 'en',
    })
    expect(asked[0]?.split('\n').slice(0, 3)).toEqual([
      'E1: "Refrigerators and trucks."',
      'E2: "Refrigeration is theirs."',
      'E3: "Nothing at all."',
    ])
  })

  test('is not asked for without evidence', async () => {
    const { ask, asked } = model(YES)
    const answer = await entail(ask, { sentence: SENTENCE, evidence: [], language: 'en' })
    expect(answer).toEqual({ verdict: 'not_stated', evidence_ids: [], quote: null })
    expect(asked).toEqual([])
  })

  test('may quote no more than it was shown', async () => {
    const long = { id: 'long', lead_id: 'r', fact: `${'We lead. '.repeat(80)}The fleet counts.` }
    const quotes = (quote: string) =>
      entail(model({ verdict: 'supported', evidence: 'E1', quote }).ask, {
        sentence: 'The fleet counts.',
        evidence: [long],
        language: 'en',
      })
    expect((await quotes('We lead. We lead.')).verdict).toBe('supported')
    expect((await quotes('The fleet counts.')).verdict).toBe('not_stated')
    await expect(quotes('x'.repeat(301))).rejects.toThrow()
  })

  test.each<[language: 'en' | 'tr', sentence: string, fact: string, agrees: boolean]>([
    ['en', 'Your 40 trucks run.', 'Demir runs 40 trucks.', true],
    ['en', 'Your 40 trucks run.', 'Demir runs 40 truckloads.', true],
    ['en', 'Your 40 trucks run.', 'Demir runs trucks on 40 routes.', false],
    ['en', 'Your trucks run.', 'Demir runs 40 trucks.', true],
    ['en', 'All trucks run all day.', 'They run all trucks.', true],
    ['en', 'No trucks run only here.', 'Only here no trucks run.', true],
    ['en', 'The trucks run in Bursa.', 'The trucks run from Bursalılar.', true],
    ['en', 'Bursa has trucks.', 'The town has trucks.', true],
    ['en', 'The trucks of É are here.', 'The trucks are here.', true],
    ['en', 'Furthermore they run.', 'They run.', true],
    ['en', 'The rest runs.', 'The trucks run.', true],
    ['en', 'The newest trucks run.', 'The trucks run.', false],
    ['en', 'They fail to run.', 'They run.', false],
    ['en', 'They refuse to run.', 'They run.', false],
    ['en', 'They guarantee that they run.', 'They run.', false],
    ['tr', 'Kurulum birçok günde biter.', 'Kurulum günde biter.', true],
    ['tr', 'Kurulum ilkeli biter.', 'Kurulum biter.', true],
    ['tr', 'Kurulum bitmiyor.', 'Kurulum bitiyor.', false],
    ['tr', 'Kurulum bitmedi.', 'Kurulum bitti.', false],
    ['tr', 'Kurulum bitmemiş.', 'Kurulum bitti.', false],
    ['tr', 'Kurulum bitmeli.', 'Kurulum bitti.', false],
    ['tr', 'Araçlar Bursa içinde.', 'Araçlar bu şehirde.', false],
    ['tr', 'Kurulum sınırsız.', 'Kurulum sınırlı.', false],
    ['tr', 'Kurulum bitecek.', 'Kurulum biter.', false],
  ])('in %s of “%s” is compared with “%s”', (language, sentence, fact, agrees) => {
    expect(agreesExactly(sentence, fact, language)).toBe(agrees)
  })

  test('is compared in Turkish as well', () => {
    const fact = 'Kurulum bir günde biter.'
    expect(agreesExactly('Kurulumunuz bir günde biter.', fact, 'tr')).toBe(true)
    expect(agreesExactly('Kurulum bir günde bitmez.', fact, 'tr')).toBe(false)
    expect(agreesExactly('Kurulum bir günde biter, asla uzamaz.', fact, 'tr')).toBe(false)
    expect(agreesExactly('Kurulum 2 günde biter.', fact, 'tr')).toBe(false)
  })

  test.each([
    ['We always deliver.', 'Nordlicht sometimes delivers.'],
    ['We always deliver.', 'Nordlicht delivers.'],
    ['We usually deliver.', 'Nordlicht often delivers.'],
    ['We deliver.', 'Nordlicht hardly delivers.'],
    ['We deliver.', 'Nordlicht rarely delivers.'],
    ['We deliver.', 'Nordlicht seldom delivers.'],
    ['We deliver.', 'Nordlicht used to deliver.'],
    ['We deliver.', 'Nordlicht failed to deliver.'],
    ['We deliver.', 'Nordlicht fails to deliver.'],
    ['We deliver.', 'Nordlicht should deliver.'],
    ['We deliver.', 'Nordlicht must deliver.'],
    ['We deliver.', 'Nordlicht refuses to deliver.'],
    ['We deliver.', 'Nordlicht refused to deliver.'],
    ['We guarantee delivery.', 'Nordlicht delivers.'],
    ['We guaranteed delivery.', 'Nordlicht delivers.'],
    ['We deliver.', 'Nordlicht cannot deliver.'],
  ])('%s is not what “%s” says', (sentence, fact) => {
    expect(agreesExactly(sentence, fact, 'en')).toBe(false)
    expect(agreesExactly(sentence, sentence, 'en')).toBe(true)
  })

  test.each([
    ['Teslim ederiz.', 'Nordlicht teslim etmemiş.'],
    ['Teslim ederiz.', 'Nordlicht teslim edermiş.'],
    ['Teslim ederiz.', 'Nordlicht nadiren teslim eder.'],
    ['Teslim ederiz.', 'Nordlicht bazen teslim eder.'],
    ['Teslim ederiz.', 'Nordlicht teslim etmeli.'],
    ['Teslim ederiz.', 'Nordlicht teslim edecek.'],
    ['Teslim ederiz.', 'Nordlicht teslim edebilir.'],
    ['Daima teslim ederiz.', 'Nordlicht genellikle teslim eder.'],
    ['Teslimi garanti ederiz.', 'Nordlicht teslim eder.'],
  ])('%s is not what “%s” says in Turkish', (sentence, fact) => {
    expect(agreesExactly(sentence, fact, 'tr')).toBe(false)
    expect(agreesExactly(sentence, sentence, 'tr')).toBe(true)
  })
})

describe('the gate', () => {
  const good: Measured = {
    name: 'a model',
    sha256: 'a'.repeat(64),
    judge_version: JUDGE_VERSION,
    pairs: 335,
    precision: 1,
    recall: 0.8,
    false_supported: 0,
  }
  const draft = { audience: { kind: 'list' as const, filter: {} } }
  const unsure: JudgedSentence = {
    sentence: SENTENCE,
    verdict: 'unsure',
    evidence_ids: [],
    fails: 0,
    fails_for: [],
    opinion: null,
    basis: '0',
    stand: null,
  }
  const said = (model: string) => [
    { verdict: 'supported' as const, evidence_ids: ['trucks'], quote: 'q', model },
  ]

  test('opens for a model that was measured, and for its file alone', () => {
    const opened = withOpinion(draft, unsure, said(good.sha256), [good])
    expect(opened).toMatchObject({ verdict: 'supported', evidence_ids: ['trucks'] })
    for (const other of ['b'.repeat(64), 'http://127.0.0.1/v1 a model', 'a model']) {
      const shown = withOpinion(draft, unsure, said(other), [good])
      expect(shown).toMatchObject({ verdict: 'unsure', opinion: { verdict: 'supported' } })
    }
  })

  test.each<[string, Partial<Measured>]>([
    ['said "supported" once where it is not', { false_supported: 1 }],
    ['finds too little', { recall: 0.69 }],
    ['was asked too few pairs', { pairs: 299 }],
    ['was asked in another way', { judge_version: 0 }],
  ])('stays shut for one that %s', (_, change) => {
    const given = { sha256: good.sha256, judge_version: JUDGE_VERSION }
    expect(opensGate(given, [good])).toBe(true)
    expect(opensGate(given, [{ ...good, ...change }])).toBe(false)
    expect(opensGate({ ...given, sha256: null }, [good])).toBe(false)
  })
})
