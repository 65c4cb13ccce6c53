import { describe, expect, test } from 'vitest'
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

describe('at its limits', () => {
  const file = (...sections: string[]) => `# R\n\n${sections.join('\n\n')}\n`
  const of = (name: string, length: number) =>
    `## ${name}\n\n${'x'.repeat(length - name.length - 5)}`

  test('a file is whole at exactly the length there is, and a section with the line before it', () => {
    const [first, second] = [of('First', 40), of('Second', 40)]
    const whole = file(first, second).trim()
    expect(briefFor(whole, 'zzz', whole.length).left).toEqual([])
    // The title takes 3 and 2 for the line after it, each section 40 and 2.
    expect(briefFor(whole, 'zzz', 47)).toMatchObject({ left: ['Second'], is_cut: false })
    const shorter = briefFor(whole, 'zzz', 46)
    expect(shorter).toMatchObject({ left: ['Second'], is_cut: true })
    expect(shorter.text).toBe(`# R\n\n${first}`.slice(0, 46))
  })

  test('of a third section nothing is given rather than a part', () => {
    const text = file(of('First', 40), of('Second', 40), of('Third', 40))
    expect(briefFor(text, 'zzz', 100)).toMatchObject({ left: ['Third'], is_cut: false })
  })

  test('a short word is itself alone, and a longer one its beginning', () => {
    const text = file(
      '## A\n\nWe have a car pool for you.',
      '## B\n\nWe sell carpets for your home.',
    )
    expect(briefFor(text, 'car', 40).left).toEqual(['B'])
    expect(briefFor(text, 'carpet', 45).left).toEqual(['A'])
    expect(briefFor(text, 'carp', 45).left).toEqual(['B'])
  })

  test('a section is named without the spaces around its name, and without a name it is none', () => {
    const text = file('##   ICP  \n\nFirms.', `## Rest\n\n${'x'.repeat(100)}`)
    expect(briefFor(text, 'rest', 110).left).toEqual(['ICP'])
  })

  test('what stands before the sections comes first, whatever the task is', () => {
    const first = of('First', 40)
    for (const head of ['# R', '# R ## 3']) {
      const whole = `${head}\n\n${first}`
      const most = whole.length - 1
      expect(briefFor(whole, 'first', most)).toEqual({
        text: whole.slice(0, most),
        left: [],
        is_cut: true,
      })
    }
  })

  test('description and tone come before the others, wherever they stand', () => {
    const text = file(of('ICP', 40), of('Description', 40), of('Tone of voice', 40))
    expect(briefFor(text, 'icp', 100).left).toEqual(['ICP'])
  })

  test('a heading inside a section begins no other', () => {
    const text = file(of('First', 40), `## Long\n\n### Sub\n\n${'x'.repeat(100)}`)
    expect(briefFor(text, 'zzz', 60).left).toEqual(['Long'])
  })

  test('a section without words is left out, also the last one, and empty lines above all', () => {
    expect(briefFor('\n\n## A\n\nx\n\n## B\n\n## C', 'zzz', 100)).toEqual({
      text: '## A\n\nx',
      left: [],
      is_cut: false,
    })
  })
})
