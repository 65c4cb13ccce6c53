import { expect, test } from 'vitest'
import { route, routeNamed } from '../../../../hub/agents/run/route.ts'

/** Whom words point to, with their points and the words. */
const candidatesOf = (task: string) =>
  route(task).candidates.map(({ agent, points, words }) => `${agent} ${points} ${words.join('|')}`)

test.each([
  ['/sales now', 'sales', '/sales is a command of Sales.'],
  [' /Legal', 'legal', '/legal is a command of Legal.'],
  ['/geliştir', 'pm', '/gelistir is a command of Process.'],
  ['/web_research x', 'web_research', '/web_research is a command of Web research.'],
])('“%s” is a command of %s', (task, agent, reason) => {
  expect(route(task)).toMatchObject({ agent, decided_by: 'command', candidates: [] })
  expect(route(task).reason.en).toBe(reason)
  expect(routeNamed(task)?.agent).toBe(agent)
})

test.each([
  ['x /legal', '“legal” says too little by itself.', ['legal 2 legal']],
  ['/1legal', 'No phrase in the task belongs to an agent.', []],
  ['zebra', 'No phrase in the task belongs to an agent.', []],
  [
    '/nobody write a report',
    '“report” could mean Data or Documents.',
    ['data 2 report', 'docs 1 write'],
  ],
  ['search', 'No phrase in the task belongs to an agent.', ['research 1 search']],
  // What a task is about counts half, and is shown rounded up.
  ['something about an email', 'No phrase in the task belongs to an agent.', ['marketing 1 email']],
])('“%s” does not decide: %s', (task, reason, candidates) => {
  expect(route(task)).toMatchObject({ agent: null, decided_by: 'model' })
  expect(route(task).reason.en).toBe(reason)
  expect(candidatesOf(task)).toEqual(candidates)
  expect(routeNamed(task)).toBeUndefined()
})

test.each<[task: string, named: boolean, candidates: string[]]>([
  // An ordinary phrase counts by its words, with up to three others between them.
  ['find me 20 more companies', false, ['research 4 find|companies']],
  ['find one two three companies', false, ['research 4 find|companies']],
  ['find one two three four companies', false, ['research 3 find|companies']],
  ['bul', false, ['research 2 bul']],
  ['import x.csv', false, ['research 2 x.csv']],
  // One that is unmistakable, and one that names what is to be made.
  ['prepare an NDA', true, ['legal 6 NDA']],
  ['write a proposal for Demir', true, ['sales 7 proposal', 'docs 1 write']],
  ['invoice and contract', true, ['finance 6 invoice', 'legal 2 contract']],
  [
    'write a mail about the budget',
    true,
    ['marketing 11 write|mail', 'finance 1 budget', 'docs 1 write'],
  ],
  // The kind of a sentence counts as much, and the rest of it is what it is about.
  [
    'Is it legal to send marketing mails without consent?',
    true,
    ['legal 11 legal|consent', 'marketing 2 marketing|mails'],
  ],
])('“%s” decides by its words', (task, named, candidates) => {
  const [agent] = candidates[0]?.split(' ') ?? []
  expect(route(task)).toMatchObject({ agent, decided_by: 'phrases' })
  expect(candidatesOf(task)).toEqual(candidates)
  expect(routeNamed(task)?.agent).toBe(named ? agent : undefined)
})

test('no more than three agents are shown', () => {
  const shown = candidatesOf('a budget, a mail, a contract, a report and some code for the leads')
  expect(shown).toHaveLength(3)
})
