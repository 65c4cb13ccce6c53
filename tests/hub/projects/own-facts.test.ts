import { expect, test } from 'vitest'
import { contextNote, ownFacts } from '../../../hub/projects/own-facts.ts'

const HEAD = '# Rota\n\n## Description\n\n'

test.each([
  ['Plans routes for cold chains.', ['Plans routes for cold chains.']],
  [
    '- Plans routes.\n* Saves much fuel.\n1. Runs in a day.',
    ['Plans routes.', 'Saves much fuel.', 'Runs in a day.'],
  ],
  ['Saves fuel. But not always.', ['Saves fuel. But not always.']],
  ['short', []],
  [`${'x '.repeat(500)}but not`, []],
  ['Plans routes.\nPlans routes.', ['Plans routes.']],
  ['10. Plans routes.\n11) Saves much fuel.', ['Plans routes.', 'Saves much fuel.']],
  ['Version 2. Plans routes.', ['Version 2. Plans routes.']],
  [' Plans \t routes. \nSaves much fuel.', ['Plans routes.', 'Saves much fuel.']],
])('a paragraph of ours is one fact, whole or not at all: %j', (text, facts) => {
  expect(ownFacts(`${HEAD}${text}\n`)).toEqual(facts)
})

test.each([
  ['Never say:\n\n- We lead all of Europe.\n- We are certified.\n\nWe plan routes.', 1],
  ['### What we do not do\nWe repair no trucks.\nWe sell no fuel.\n\nWe plan routes.', 2],
  ['Competitors:\n1. Kaya plans routes, too.\nWe plan routes.', 2],
  ['Bunları söylemeyin:\n- Avrupa lideriyiz.\n\nRota planlıyoruz.', 2],
  ['What we offer:\n- We plan routes.\n- We save much fuel.', 3],
  ['Never say:\n- We lead Europe.\nWhat is true:\n- We plan routes.', 2],
  ['Never say:  \n- We lead Europe.\n\nWe plan routes.', 1],
  ['No - not:\n- We lead Europe.\n\nWe plan routes.', 1],
  ['- Never say:\n  - We lead Europe.\n  - We are certified.\n- We plan routes.', 1],
  ['- Never say:\n  - We lead Europe.\n\n  - We are certified.\n\nWe plan routes.', 1],
  ['- We plan routes.\n- Never say:\n- We lead Europe.\n- We are certified.', 1],
  ['- Never say\n    - We lead Europe.\n- We plan routes.', 1],
  ['- Söylemeyin\n  - Avrupa lideriyiz.\n- Rota planlıyoruz.', 1],
  ['- Never late: We plan routes.\n- We save much fuel.', 2],
  ['- Our dispatchers never sleep\n- We plan routes.', 2],
  ['- We plan routes with no delay in\n  - Bursa and around\n  - Izmir and around', 3],
  ['Read https://rota.example/not\nWe plan routes.', 2],
  ['It is ranked ### not lower.\nWe plan routes.', 2],
])('what stands under a heading that denies it is no fact: %j', (text, facts) => {
  const found = ownFacts(`${HEAD}${text}\n`)
  expect(found).toHaveLength(facts)
  expect(found.join(' ')).toMatch(/We plan routes|Rota planlıyoruz/)
  expect(found.join(' ')).not.toMatch(/Europe|certified|no trucks|fuel\. We|Kaya|Avrupa/)
})

test.each([
  "What we are not|Never say|No|Don't|Don’t say|Avoid|Wrong|False claims|Plan|Plans|Planned",
  'Todo|To do|To-do|Until 2027|Former|Formerly|Future|Idea|Ideas|Draft|Drafts',
  'Competitor|Our competitors|NEVER|(never)',
  'Doğru değil|Asla|Hiç|Yanlış|Henüz yok|Planlar|Planlanan|Yapılacak|Yapılacaklar',
  'Eski|Eskiden|Rakip|Rakiplerimiz|Fikir|Fikirler|Taslak|Söylemeyin|Yazmayın',
  'Yapmıyoruz|Vermiyoruz|Olmuyoruz|Görmüyoruz|Yapmaz|Vermez|Söylenmez|Çalışmaz',
])('headings that deny what follows: %s', (headings) => {
  for (const heading of headings.split('|')) {
    for (const line of [`${heading}:`, `### ${heading}`]) {
      const facts = ownFacts(`${HEAD}${line}\n- We lead all of Europe.\n\nWe plan routes.\n`)
      expect(facts.join(), line).not.toContain('Europe')
      expect(facts.join(), line).toContain('We plan routes.')
    }
  }
})

test.each([
  'Notable|Known|Piano|Planner|Ideal|Drafted|Futuristic|Formerlys|Competitorship|Avoidable',
  'Eskişehir|Planlama|Taslaklı|Amazon|Hiçlik|Maz|Mayın|Today',
])('headings that deny nothing: %s', (headings) => {
  for (const heading of headings.split('|')) {
    const facts = ownFacts(`${HEAD}${heading}:\n- We lead all of Europe.\n`)
    expect(facts.join(), heading).toContain('We lead all of Europe.')
  }
})

test('a paragraph that is denied ends at a line of spaces, a list at what is no item', () => {
  const facts = (text: string) => ownFacts(`${HEAD}${text}\n`)
  expect(facts('Never say:\nWe lead Europe.\n  \nWe plan routes.')).toEqual(['We plan routes.'])
})

test('a fact has one space between words, 11 to 1000 characters, and there are 60 at most', () => {
  const facts = (text: string) => ownFacts(`${HEAD}${text}\n`)
  expect(facts('- Plans \t routes. ')).toEqual(['Plans routes.'])
  expect(facts(`${'x'.repeat(10)}\n${'y'.repeat(11)}`)).toEqual(['y'.repeat(11)])
  expect(facts(`${'x'.repeat(1000)}\n${'y'.repeat(1001)}`)).toEqual(['x'.repeat(1000)])
  const many = Array.from({ length: 61 }, (_, at) => `- Plans route ${at}.`)
  expect(facts(many.join('\n'))).toHaveLength(60)
})

test('value proposition, proof points and offers are facts about us, the rest is not', () => {
  const text = `${HEAD}\n## ICP\n\nFirms in Marmara.\n\n## Value proposition\n\nSaves much fuel.\n\n## Tone of voice\n\nWarm and short.\n\n## Proof points\n\n40 trucks run on it.\n\n## Offers\n\nA free trial.\n\n## Mine\n\nBest in the world.\n`
  expect(ownFacts(text)).toEqual(['Saves much fuel.', '40 trucks run on it.', 'A free trial.'])
  expect(contextNote(text)).toBeNull()
  expect(contextNote(text.replace('A free trial.', ''))?.en).toMatch(/not say yet: offers\. /)
  const less = text.replace('A free trial.', '').replace('40 trucks run on it.', '')
  expect(contextNote(less)?.en).toMatch(/not say yet: proof points, offers\. /)
})

test('a statement that is too long, or one too many, is named', () => {
  const whole = `${HEAD}We plan routes.\n\n## Value proposition\n\nSaves fuel.\n\n## Tone of voice\n\nWarm.\n\n## Proof points\n\n40 trucks run on it.\n\n## Offers\n\nA free trial.\n`
  expect(contextNote(whole)).toBeNull()
  const long = contextNote(whole.replace('We plan routes.', 'x'.repeat(1001)))
  expect(long?.en).toMatch(/^A paragraph of the project’s description with more than 1000 char/)
  expect(long?.tr).toMatch(/1000 karakterden uzun 1 paragraf/)
  const many = Array.from({ length: 61 }, (_, at) => `- Plans route ${at}.`).join('\n')
  const more = contextNote(whole.replace('We plan routes.', many))
  expect(more?.en).toBe(
    'Only the first 60 statements of the project support what a mail says; 4 more do not.',
  )
})
