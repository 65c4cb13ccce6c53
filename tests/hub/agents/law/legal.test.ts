import { describe, expect, test } from 'vitest'
import type { Language } from '../../../../hub/i18n/words.ts'
import { runAlone, type Scene } from '../run-alone.ts'

const NONE = { answers: [] }
const SLOTS = {
  party_a: null,
  party_b: null,
  purpose: 'They exchange the routes of their trucks.',
  term: null,
  survival: null,
  governing_law: null,
}
const ANSWERS = {
  slots: SLOTS,
  'answers 1': NONE,
  'answers 2': NONE,
  'answers 3': NONE,
  'answers 4': NONE,
  outline: { title: 'A text', headings: ['First', 'Second'] },
  'section 1': { paragraphs: ['One.'], points: [] },
  'section 2': { paragraphs: ['Two.'], points: [] },
}
const run = (task: string, more: Partial<Scene> = {}, language: Language = 'en') =>
  runAlone(
    { agent: 'legal', task: { en: task, tr: task }, ...more, answers: { ...ANSWERS, ...more.answers } },
    language,
  ) // biome-ignore format: one call

/** What kind of paper a task asks for, by what the model is asked for it. */
async function kindOf(task: string): Promise<string> {
  const done = await runAlone(
    { agent: 'legal', task: { en: task, tr: task }, answers: ANSWERS },
    'en',
  ).catch((error: unknown) => String(error))
  if (done.includes('asks the model for slots')) return 'nda'
  return /Which of these (KVKK|GDPR) questions/.exec(done)?.[1] ?? 'other'
}

test.each([
  ['NDA with Demir', 'nda'],
  ['a non-disclosure agreement', 'nda'],
  ['nonsense about gizlilik', 'nda'],
  ['a non compete clause', 'other'],
  ['a nonprofit in Bursa', 'other'],
  ['gizlilik sözleşmesi', 'nda'],
  ['gizlilik anlaşması', 'nda'],
  ['a confidentiality agreement', 'nda'],
  ['full disclosure of our prices', 'other'],
  ['what does confidentiality mean', 'other'],
  ['gizlilik hakkında', 'other'],
  ['an agreement with Demir', 'other'],
  ['bir sözleşme', 'other'],
  ['bir anlaşma', 'other'],
  ['KVKK list', 'KVKK'],
  ['VERBİS kaydı', 'KVKK'],
  ['İYS izinleri', 'KVKK'],
  ['GDPR list', 'GDPR'],
  ['KVKK and GDPR', 'KVKK'],
  ['GDPR policy', 'other'],
  ['GDPR notice', 'other'],
  ['KVKK aydınlatma metni', 'other'],
  ['KVKK politikası', 'other'],
  ['GDPR agreement', 'other'],
  ['KVKK sözleşmesi', 'other'],
  ['a memo about trademarks', 'other'],
])('“%s” asks for %s', async (task, kind) => {
  expect(await kindOf(task)).toBe(kind)
})

describe('an NDA', () => {
  const filled = async (task: string, slots: Partial<typeof SLOTS> | object, more = {}) => {
    const scene = { answers: { slots: { ...SLOTS, ...slots } }, ...more }
    return run(task, scene)
  }
  const task = 'NDA between Rota and Demir Ltd for two years under Turkish law, 18 months after it'

  test('names whom the task names, and leaves a blank for anybody else', async () => {
    const done = await filled(task, { party_a: ' Rota ', party_b: 'Kaya AŞ' })
    expect(done).toMatch(/\bRota\b(?! \])/)
    expect(done).toContain('full name and address of the second party')
    expect(done).not.toContain('**Kaya')
    expect(done).not.toContain('full name and address of the first party')
  })

  test('names whom the brief or a given text names', async () => {
    const parties = { party_a: 'Kaya AŞ', party_b: 'Deniz Ltd' }
    const done = await filled('NDA', parties, {
      brief: 'We are Kaya AŞ.',
      input: { text: 'With Deniz Ltd.' },
    })
    expect(done).not.toContain('full name and address')
    const apart = await filled('NDA for Kaya', { party_a: 'Deniz' }, { brief: 'Deniz pays.' })
    expect(apart).not.toContain('full name and address of the first party')
  })

  test.each([
    ['two years', true],
    ['2 years', false],
    ['18', true],
    ['18 months', true],
    ['18 ay', true],
    ['two-year', true],
    ['nine years', false],
    ['year', false],
    ['  ', false],
    ['two decades', false],
    ['two workdays', false],
  ])('lasts for the time that the task says: “%s” %s', async (term, isKept) => {
    const done = await filled(task, { term, survival: null })
    expect(done.includes('term, e.g. two years')).toBe(!isKept)
    const after = await filled(task, { term: null, survival: term })
    expect(after.includes('\\[period')).toBe(!isKept)
  })

  test('has the law that the task names, not one that shares a word with it', async () => {
    expect(await filled(task, { governing_law: 'Turkish law' })).not.toContain(
      'governing law and courts',
    )
    expect(await filled(task, { governing_law: 'two law' })).toContain('governing law and courts')
  })
})

describe('a checklist', () => {
  const answered = (quote: string, state = 'met') => ({
    'answers 1': { answers: [{ id: 'basis', state, quote }] },
  })
  const row = (done: string, where: string) =>
    done.split('\n').find((line) => line.trim().startsWith('|') && line.includes(`| ${where} |`))

  test.each<[from: string, where: string, scene: Partial<Scene>]>([
    ['the task', 'the task', {}],
    ['the brief', 'CONTEXT.md', { brief: 'Everybody gives consent at the fair.' }],
    [
      'a given text',
      'pasted text',
      { input: { text: 'Everybody gives consent at the fair.' } },
    ],
    [
      'a paper',
      'docs/a.md',
      { files: { 'docs/a.md': 'Everybody gives consent at the fair.' } },
    ],
  ])('says that an answer is from %s', async (from, where, scene) => {
    const words = 'gives consent at the fair'
    const task = from === 'the task' ? `KVKK: everybody ${words}` : 'KVKK list'
    expect(row(await run(task, { ...scene, answers: answered(words) }), where)).toContain(
      `| stated | ${words} |`,
    )
  }) // biome-ignore format: a table

  test('takes no answer that is not known, and none that nobody has said', async () => {
    const brief = 'Everybody gives consent at the fair.'
    const unknown = await run('KVKK list', {
      brief,
      answers: answered('gives consent at the fair', 'unknown'),
    })
    expect(unknown).toContain('0 of 12 questions')
    expect(row(unknown, 'CONTEXT.md')).toBeUndefined()
    expect(await run('KVKK', { brief, answers: answered('consent is sent') })).toContain('0 of')
    const open = await run('KVKK', { brief, answers: answered('consent', 'open') })
    expect(open).toContain('1 of 12 questions')
  })

  test.each([
    [{ leads: 0, source: 0, basis: 0 }, undefined, undefined],
    [{ leads: 9, source: 0, basis: 0 }, 'stated | 0 of 9 leads have no source', undefined],
    [
      { leads: 9, source: 2, basis: 3 },
      'open | 2 of 9 leads have no source',
      'open | 3 of 9 leads have no lawful basis',
    ],
  ])('counts by itself: %j', async (counts, source, basis) => {
    const done = await run('KVKK', { rows: [[/^select count\(\*\)::int as leads/, [counts]]] })
    const said = (what: string) =>
      new RegExp(`\\| (\\w+ \\| \\d+ of \\d+ leads have no ${what}) \\|`).exec(done)?.[1]
    expect(said('source')).toBe(source)
    expect(said('lawful basis')).toBe(basis)
  })

  test('shows the model the two likeliest passages of a question', async () => {
    const paper = (n: number) => `The consent number ${n} is handed out.`
    const done = await run('KVKK', {
      files: { 'docs/a.md': [1, 2, 3].map(paper).join('\n\n') },
    })
    expect(done).toContain(paper(1))
    expect(done).toContain(paper(2))
    expect(done).not.toContain(paper(3))
  })
})

test('another text is written with the six likeliest passages', async () => {
  const paper = (n: number) => `Trademarks number ${n} are ours.`
  const papers = [1, 2, 3, 4, 5, 6, 7].map(paper)
  const done = await run('a memo on trademarking rights', {
    files: { 'docs/a.md': [...papers, 'Memo and tea for all.'].join('\n\n') },
  })
  expect(done).toContain(paper(6))
  expect(done).not.toContain(paper(7))
  // Short words tell nothing.
  expect(done).not.toContain('tea for all')
})
