import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { FACT_NAMES, factName } from '../../../../hub/agents/run/fact-names.ts'

const ROOT = resolve(import.meta.dirname, '../../../..')
/** What the model alone is told, and what cannot be left out. */
const OURS = ['what the user asked for', 'why your last answer was not accepted']

const sources = globSync('hub/agents/**/*.ts', { cwd: ROOT })
  .filter((path) => !/\.text\.ts$|run\/fact-names\.ts$/.test(path))
  .map((path) => readFileSync(resolve(ROOT, path), 'utf8'))

test('every fact that an agent gives its model has a name in both languages', () => {
  const labels = sources
    .flatMap((text) => [...text.matchAll(/label: '([^']+)'/g)])
    .map(([, label]) => label ?? '')
    .filter((label) => !OURS.includes(label))
  expect(labels.length).toBeGreaterThan(15)
  expect(labels.filter((label) => !Object.hasOwn(FACT_NAMES, label))).toEqual([])
})

test('every name is that of a fact which an agent gives', () => {
  const unused = Object.keys(FACT_NAMES).filter(
    (label) => !sources.some((text) => text.includes(`'${label}'`)),
  )
  expect(unused).toEqual([])
  expect(Object.values(FACT_NAMES).flatMap((name) => Object.values(name))).not.toContain('')
})

test.each([
  ['yapıştırılan metin', 'pasted text', 'yapıştırılan metin'],
  ['pasted text', 'pasted text', 'yapıştırılan metin'],
  ['görevin metni', 'the task', 'görevin metni'],
  [
    'yapıştırılan metin, part 1 of 2',
    'pasted text, part 1 of 2',
    'yapıştırılan metin, 2 bölümün 1. bölümü',
  ],
  ['points of pasted text', 'points of pasted text', 'yapıştırılan metin: özetin noktaları'],
  ['mail 2 of this sequence', 'mail 2 of this sequence', 'bu dizinin 2. e-postası'],
  ['docs/price list.txt', 'docs/price list.txt', 'docs/price list.txt'],
  ['toString', 'toString', 'toString'],
])('a reader reads what was left out of “%s” in the language of the page', (label, en, tr) => {
  expect(factName(label)).toEqual({ en, tr })
})
