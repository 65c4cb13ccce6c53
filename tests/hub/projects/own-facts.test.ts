import { expect, test } from 'vitest'
import { missingNote, ownFacts } from '../../../hub/projects/own-facts.ts'

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
])('a paragraph of ours is one fact, whole or not at all: %j', (text, facts) => {
  expect(ownFacts(`${HEAD}${text}\n`)).toEqual(facts)
})

test('value proposition, proof points and offers are facts about us, the rest is not', () => {
  const text = `${HEAD}\n## ICP\n\nFirms in Marmara.\n\n## Value proposition\n\nSaves much fuel.\n\n## Tone of voice\n\nWarm and short.\n\n## Proof points\n\n40 trucks run on it.\n\n## Offers\n\nA free trial.\n\n## Mine\n\nBest in the world.\n`
  expect(ownFacts(text)).toEqual(['Saves much fuel.', '40 trucks run on it.', 'A free trial.'])
  expect(missingNote(text)).toBeNull()
  expect(missingNote(text.replace('A free trial.', ''))?.en).toMatch(/not say yet: offers\. /)
})
