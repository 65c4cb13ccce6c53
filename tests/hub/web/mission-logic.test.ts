import { expect, test } from 'vitest'
import { othersIn } from '../../../hub/agents/recipients/follow-up.ts'
import { tokensOf } from '../../../hub/agents/recipients/tokens.ts'
import { namedLanguage } from '../../../hub/agents/run/facts.ts'
import { routeNamed } from '../../../hub/agents/run/route.ts'
import { isOnHub } from '../../../hub/web/pages/missions/approval-kind.ts'
import { chipsFor } from '../../../hub/web/pages/missions/chips.ts'
import { overLimits } from '../../../hub/web/pages/missions/over-limits.ts'
import { personName } from '../../../hub/web/pages/missions/person-name.ts'
import { threadText } from '../../../hub/web/pages/missions/thread.text.ts'

test.each([
  ['external', 'read_web', false],
  ['external', 'search_web', false],
  ['external', 'restart_hub', true],
  ['external', 'retry_failed_missions', true],
  ['destructive', 'delete_old_backups', false],
  ['prompt', 'add_prompt_rule', false],
] as const)('of %s, %s is about this hub alone: %s', (kind, what, expected) => {
  expect(isOnHub({ kind, action: { do: what } })).toBe(expected)
})

const limits = {
  task_characters: 4000,
  whole_text_characters: 3000,
  part_characters: 3000,
  parts: 12,
  mails: 5,
  context_tokens: 8192,
  context_is_known: true,
}

test.each([
  [{ task: 4000, text: 3000 }, []],
  [{ task: 4001, text: 0 }, [{ kind: 'long_task', n: 4000 }]],
  [{ task: 0, text: 3001 }, [{ kind: 'in_parts', n: 2 }]],
  [{ task: 0, text: 36_000 }, [{ kind: 'in_parts', n: 12 }]],
  [{ task: 0, text: 36_001 }, [{ kind: 'cut', n: 36_000 }]],
])('of %j the form says %j before it is sent', (given, expected) => {
  expect(overLimits(given, limits)).toEqual(expected)
})

test('what was written can be asked for shorter, in a language, and for others', () => {
  const result = { summary: 'Done', documents: [], drafts: [] }
  expect(chipsFor(null)).toEqual([])
  expect(chipsFor(result)).toEqual([])
  expect(chipsFor({ ...result, documents: [{ path: 'docs/a.md', title: 'A' }] })).toEqual([
    'shorter',
    'english',
    'turkish',
  ])
  expect(chipsFor({ ...result, drafts: ['d'] })).toContain('others')
})

test.each(['en', 'tr'] as const)('the words of the chips in %s mean what they say', (language) => {
  const text = threadText[language]
  expect(namedLanguage(text.english)).toBe('en')
  expect(namedLanguage(text.turkish)).toBe('tr')
  expect(namedLanguage(text.shorter)).toBeUndefined()
  expect(othersIn(tokensOf(text.others).tokens)).toMatchObject({ count: undefined })
  for (const words of [text.shorter, text.english, text.turkish, text.others]) {
    expect(routeNamed(words)).toBeUndefined()
  }
})

test('two people of the same name and firm are told apart by their e-mail', () => {
  const person = (
    id: string,
    name: string | null,
    company: string | null,
    email: string | null,
  ) => ({
    id,
    name,
    company,
    email,
  })
  const elif = person('1', 'Elif Rossi', 'Trakya', 'elif@trakya.example')
  const other = person('2', 'Elif Rossi', 'Trakya', 'e.rossi@mail.example')
  const firm = person('3', null, 'Trakya', 'info@trakya.example')
  const all = [elif, other, firm, person('4', null, 'Trakya', null)]
  expect(all.map((one) => personName(one, all))).toEqual([
    'Elif Rossi, elif@trakya.example',
    'Elif Rossi, e.rossi@mail.example',
    'Trakya, info@trakya.example',
    'Trakya',
  ])
  expect(personName(elif, [elif, firm])).toBe('Elif Rossi, Trakya')
})
