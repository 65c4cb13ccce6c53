import { expect, test } from 'vitest'
import type { AgentContext } from '../../../../hub/agents/agent.ts'
import { historyFact, MAX_HISTORY } from '../../../../hub/agents/evidence/history.ts'
import type { Words } from '../../../../hub/i18n/words.ts'

const leftOut: Words[] = []
// safe: all that a history uses of its mission
const context = { leaveOut: (words: Words) => void leftOut.push(words) } as unknown as AgentContext

type Row = NonNullable<Parameters<typeof historyFact>[2]>[number]
const row = (more: Partial<Row>): Row => ({
  lead_id: 'l',
  kind: 'note',
  at: '2026-03-04T10:00:00Z',
  subject: null,
  text: null,
  ...more,
})

test('each entry is a line with its day, who said it, its subject and its words', () => {
  const quoting = 'Yes,\nTuesday.\n\nOn Mon, 2 Mar 2026, Ayşe wrote:\n> would you like to talk'
  const [fact, ...more] = historyFact(context, 'Demir', [
    row({ kind: 'they', subject: 'Re:  A\nquestion', text: quoting }),
    row({ kind: 'we', at: '2026-03-02T08:00:00Z', subject: 'A question', text: 'Hello.' }),
    row({ text: '> keeps a quote', at: '2026-03-01T00:00:00Z' }),
    row({ kind: 'happened', subject: 'stage', text: 'won' }),
    row({ kind: 'happened', subject: 'opened' }),
    row({ kind: 'we', subject: 'x'.repeat(200), text: 'y'.repeat(900) }),
  ])
  expect(more).toEqual([])
  expect(fact?.label).toBe('what was said so far, newest first')
  expect(fact?.text.split('\n')).toEqual([
    '2026-03-04 they answered "Re: A question": Yes, Tuesday.',
    '2026-03-02 we wrote "A question": Hello.',
    '2026-03-01 our note, not for the reader: > keeps a quote',
    '2026-03-04 happened "stage": won',
    '2026-03-04 happened "opened"',
    `2026-03-04 we wrote "${'x'.repeat(119)}…": ${'y'.repeat(699)}…`,
  ])
  expect(leftOut).toEqual([])
})

test('the newest entries that fit are given, and it is said how many did not', () => {
  const line = '2026-03-04 our note, not for the reader: '
  const long = (length: number) => row({ text: 'z'.repeat(length - line.length) })
  // Four lines with their line breaks leave room for 196 characters.
  const four = Array.from({ length: 4 }, () => long(700))
  expect(historyFact(context, 'Demir', [...four, long(196)])[0]?.text).toHaveLength(3000)
  expect(leftOut).toEqual([])
  expect(historyFact(context, 'Demir', [...four, long(197), long(50)])[0]?.text).toHaveLength(2803)
  expect(leftOut.map(({ en }) => en)).toEqual([
    'Demir: the newest 4 of 6 entries of the history were given.',
  ])
  expect(MAX_HISTORY).toBe(3000)
})

test('without a history there is no fact', () => {
  expect(historyFact(context, 'Demir')).toEqual([])
  expect(historyFact(context, 'Demir', [])).toEqual([])
})
