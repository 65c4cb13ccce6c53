import { expect, test } from 'vitest'
import { briefFor } from '../../../hub/projects/brief.ts'

const section = (name: string, body: string) => `## ${name}\n\n${body}\n\n`
const long = (words: string) => `${words} ${'x'.repeat(300)}`
const FILE = `# Rota\n\nFirst line.\n\n${[
  section('Description', 'Plans routes.'),
  section('ICP', long('haulage firms')),
  section('Offers', long('a free trial of the planner')),
  section('Tone of voice', 'Warm.'),
  section('Prices', long('kamyon başına fiyat listesi')),
  section('Empty', ''),
].join('')}`

test.each([
  [
    'whole where it fits',
    'anything',
    5000,
    ['Description', 'ICP', 'Offers', 'Tone of voice', 'Prices'],
    [],
  ],
  [
    'by the words of the task',
    'offer them a trial',
    800,
    ['Description', 'ICP', 'Offers', 'Tone of voice'],
    ['Prices'],
  ],
  [
    'one section only',
    'offer them a trial',
    480,
    ['Description', 'Offers', 'Tone of voice'],
    ['ICP', 'Prices'],
  ],
  [
    'in Turkish with endings',
    'fiyatları yaz',
    480,
    ['Description', 'Tone of voice', 'Prices'],
    ['ICP', 'Offers'],
  ],
  [
    'without words in common, from the top',
    'zzz',
    480,
    ['Description', 'ICP', 'Tone of voice'],
    ['Offers', 'Prices'],
  ],
  [
    'what every task needs first',
    'offer them a trial',
    100,
    ['Description', 'Tone of voice'],
    ['ICP', 'Offers', 'Prices'],
  ],
])('CONTEXT.md is given %s', (_, task, most, names, left) => {
  const brief = briefFor(FILE, task, most)
  expect(brief.text).toMatch(/^# Rota\n\nFirst line\./)
  expect([...brief.text.matchAll(/^## (.*)$/gm)].map(([, name]) => name)).toEqual(names)
  expect(brief.left).toEqual(left)
  expect(brief.is_cut).toBe(false)
  expect(brief.text.length).toBeLessThanOrEqual(most)
})

test('a file of one long piece has its beginning, and says so', () => {
  expect(briefFor('x'.repeat(50), 'a', 10)).toEqual({
    text: 'x'.repeat(10),
    left: [],
    is_cut: true,
  })
  expect(briefFor('', 'a', 10)).toEqual({ text: '', left: [], is_cut: false })
})
