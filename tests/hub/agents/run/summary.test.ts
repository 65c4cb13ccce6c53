import { expect, test } from 'vitest'
import type { AgentContext, Call } from '../../../../hub/agents/agent.ts'
import { PART, partsOf, summarised } from '../../../../hub/agents/run/summary.ts'
import type { Words } from '../../../../hub/i18n/words.ts'

type Answer = (name: string, call: Call<never>) => unknown

function contextOf(answer: Answer) {
  const asked: { name: string; labels: string[]; text: string }[] = []
  const told: string[] = []
  const context = {
    complete: async (name: string, call: Call<never>) => {
      const facts = call.facts ?? []
      asked.push({ name, labels: facts.map(({ label }) => label), text: facts[0]?.text ?? '' })
      return answer(name, call)
    },
    leaveOut: ({ en }: Words) => void told.push(en),
  } as unknown as AgentContext // safe: all that a summary uses
  return { context, asked, told }
}

const paragraph = (n: number) => `Depot ${n} has ${n}00 pallets. ${'word '.repeat(500)}`
const text = (count: number) =>
  Array.from({ length: count }, (_, n) => paragraph(n + 1)).join('\n\n')
const quoteOf = (call: Call<never>) =>
  /Depot \d+ has \d+ pallets/.exec(call.facts?.[0]?.text ?? '')?.[0] ?? ''

test('a long text is cut at paragraphs, and nothing of it is lost', () => {
  const parts = partsOf(text(5))
  expect(parts).toHaveLength(5)
  for (const part of parts) expect(part.length).toBeLessThanOrEqual(PART)
  expect(parts.join(' ').replace(/\s+/g, '')).toBe(text(5).replace(/\s+/g, ''))
  expect(partsOf('x'.repeat(PART * 2 + 1)).map(({ length }) => length)).toEqual([PART, PART, 1])
  expect(partsOf('short')).toEqual(['short'])
  expect(partsOf(' ')).toEqual([])
})

test('each part is asked about once, and each point keeps the words it comes from', async () => {
  const { context, asked, told } = contextOf((_, call) => ({
    points: [
      { text: 'Pallets', quote: quoteOf(call) },
      { text: 'Invented', quote: 'Depot 9 has 900 pallets' },
    ],
  }))
  const given = { label: 'notes.txt', text: text(3), number: 1, length: 3000, most: 12 }
  expect(await summarised(context, given)).toBe(
    [1, 2, 3].map((n) => `(part ${n}) Pallets — "Depot ${n} has ${n}00 pallets"`).join('\n'),
  )
  expect(asked.map(({ name, labels }) => [name, ...labels])).toEqual([
    ['summary 1.1', 'notes.txt, part 1 of 3'],
    ['summary 1.2', 'notes.txt, part 2 of 3'],
    ['summary 1.3', 'notes.txt, part 3 of 3'],
  ])
  expect(told).toEqual([
    'notes.txt: summarised from 3 parts; what it claims counts only by the text itself.',
  ])
})

test('what is still too long is chosen from by a summary of the summaries, and told', async () => {
  const { context, asked, told } = contextOf((name, call) =>
    name.includes('.')
      ? { points: [{ text: `Says ${'much '.repeat(10)}`, quote: quoteOf(call) }] }
      : { keep: ['P3', 'P3', 'P1'] },
  )
  const given = { label: 'notes.txt', text: text(4), number: 2, length: 200, most: 3 }
  const summary = await summarised(context, given)
  expect(summary.length).toBeLessThanOrEqual(200)
  expect(summary.split('\n').map((line) => line.slice(0, 8))).toEqual(['(part 1)', '(part 3)'])
  expect(asked.at(-1)?.name).toBe('summary 2')
  expect(told).toEqual([
    'notes.txt: the first 3 of 4 parts were read. Split the text and add the rest.',
    'notes.txt: summarised from 3 parts; what it claims counts only by the text itself.',
    'notes.txt: 2 of 3 points of its summary were given.',
  ])
})

test('a text that matters for nothing gives nothing', async () => {
  const { context } = contextOf(() => ({ points: [] }))
  const given = { label: 'x', text: text(2), number: 1, length: 100, most: 12 }
  expect(await summarised(context, given)).toBe('')
})

test.each<[text: string[], lengths: number[]]>([
  [['x'.repeat(3000)], [3000]],
  [['x'.repeat(3001)], [3000, 1]],
  // The first third is too little for a part.
  [
    ['x'.repeat(1001), '\n\n', 'x'.repeat(2500)],
    [1001, 2500],
  ],
  [
    ['x'.repeat(999), '\n\n', 'x'.repeat(500), '\n', 'x'.repeat(2000)],
    [1501, 2000],
  ],
  [
    ['x'.repeat(2000), '. ', 'x'.repeat(2000)],
    [2001, 2000],
  ],
  [
    ['x'.repeat(2000), '\n', 'x'.repeat(2000)],
    [2000, 2000],
  ],
  [
    ['x'.repeat(2000), ' ', 'x'.repeat(2000)],
    [2000, 2000],
  ],
])('a text is cut at the best place, case %#', (text, lengths) => {
  expect(partsOf(text.join('')).map(({ length }) => length)).toEqual(lengths)
})

test('points are chosen by number, shortened, and fit to the last character', async () => {
  const long = `Says ${'much '.repeat(30)}`.slice(0, 190)
  const { context, asked, told } = contextOf((name, call) =>
    name.includes('.')
      ? { points: [{ text: long, quote: quoteOf(call) }] }
      : // safe: the schema of a call parses
        (call.schema as { parse: (value: unknown) => unknown }).parse({ keep: ['P2'] }),
  )
  const line = `(part 1) ${long.trim()} — "Depot 1 has 100 pallets"`
  const given = (length: number) => ({ label: 'a.txt', text: text(2), number: 1, length, most: 12 })
  const summary = await summarised(context, given(line.length + 1))
  expect(summary).toBe(
    line.replace('part 1', 'part 2').replace('Depot 1 has 100', 'Depot 2 has 200'),
  )
  expect(asked.at(-1)).toMatchObject({ labels: ['points of a.txt'] })
  const shown = asked.at(-1)?.text.split('\n') ?? []
  expect(shown.map((one) => one.slice(0, 8))).toEqual(['P1: Says', 'P2: Says'])
  expect(shown.every((one) => one.length === 124)).toBe(true)
  expect(told.at(-1)).toBe('a.txt: 1 of 2 points of its summary were given.')
  // What fits as it is is given whole.
  told.length = asked.length = 0
  await summarised(context, given(line.length * 2 + 1))
  expect(asked).toHaveLength(2)
  expect(told).toHaveLength(1)
  await summarised(context, given(line.length))
  expect(told.at(-1)).toBe('a.txt: 0 of 2 points of its summary were given.')
})
