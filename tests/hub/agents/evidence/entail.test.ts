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

/** A model that always gives this answer. */
const model = (answer: Record<string, string>) => {
  const asked: string[] = []
  const ask: Ask = async ({ schema, task }) => {
    asked.push(task)
    return schema.parse(answer)
  }
  return { ask, asked }
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

  test('is asked for each half of a sentence', async () => {
    const { ask, asked } = model(YES)
    const sentence = 'Your fleet counts 40 refrigerated trucks and the sun shines.'
    await entail(ask, { sentence, evidence, language: 'en' })
    expect(asked).toHaveLength(2)
  })

  test('is compared in Turkish as well', () => {
    const fact = 'Kurulum bir günde biter.'
    expect(agreesExactly('Kurulumunuz bir günde biter.', fact, 'tr')).toBe(true)
    expect(agreesExactly('Kurulum bir günde bitmez.', fact, 'tr')).toBe(false)
    expect(agreesExactly('Kurulum bir günde biter, asla uzamaz.', fact, 'tr')).toBe(false)
    expect(agreesExactly('Kurulum 2 günde biter.', fact, 'tr')).toBe(false)
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
