import { expect, test } from 'vitest'
import {
  MEASURES,
  type Weeks,
  weeksFact,
  weeksSentence,
  weeksTable,
} from '../../../../hub/agents/numbers/weeks.ts'

const none = Object.fromEntries(MEASURES.map((measure) => [measure, { now: 0, before: 0 }]))
// safe: a value for each measure
const weeks = (some: Partial<Weeks>) => ({ ...none, ...some }) as Weeks
const week = weeks({
  leads: { now: 1200, before: 0 },
  sent: { now: 0, before: 7 },
  failed: { now: 2, before: 2 },
})

test('a table compares each measure with the week before, by sign', () => {
  const text = weeksTable(week, 'en').join('\n')
  expect(text).toMatch(/^## This week and the last$/m)
  const cells = text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').flatMap((cell) => cell.trim() || []))
  expect(cells).toContainEqual(['What', 'Last 7 days', '7 days before', 'Change'])
  expect(cells).toContainEqual(['New leads', '1,200', '0', '+1,200'])
  expect(cells).toContainEqual(['Mails sent', '0', '7', '-7'])
  expect(cells).toContainEqual(['Missions failed', '2', '2', '0'])
  // Two lines above those of the measures.
  expect(cells).toHaveLength(2 + MEASURES.length)
  expect(weeksTable(week, 'tr').join('\n')).toMatch(/Yeni aday\s*\|\s*1\.200/)
})

test('a sentence tells only what moved in one of the two weeks', () => {
  expect(weeksSentence(week, 'en')).toBe(
    'In 7 days: New leads 1,200 (before 0), Mails sent 0 (before 7), Missions failed 2 (before 2).',
  )
  expect(weeksSentence(weeks({}), 'en')).toBe('Nothing has happened in the last 14 days.')
  expect(weeksSentence(weeks({ done: { now: 1, before: 0 } }), 'tr')).toBe(
    '7 günde: Biten görev 1 (önceki 0).',
  )
})

test('a model is told every measure, one a line', () => {
  const { label, text } = weeksFact(week)
  expect(label).toBe('the last 7 days, and the 7 days before')
  expect(text?.split('\n')).toHaveLength(MEASURES.length)
  expect(text).toContain('New leads: 1200 (before: 0)\nMails sent: 0 (before: 7)\n')
})
