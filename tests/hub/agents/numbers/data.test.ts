import { describe, expect, test } from 'vitest'
import { runAlone, type Scene } from '../run-alone.ts'

type Query = NonNullable<NonNullable<Scene['more']>['query']>
const FOUND = {
  columns: ['City', 'Leads'],
  rows: [
    ['Bursa', 2],
    ['Ankara', 5],
  ],
  is_cut: false,
}
const asked = (sql: string, chart = 'none') => ({ title: 'By city', sql, chart })

/** What the data agent answers to a question that it does not know. */
const answered = (answers: Record<string, unknown>, query: Query = async () => FOUND) =>
  runAlone(
    {
      agent: 'data',
      task: { en: 'leads in Bursa and Ankara', tr: 'Bursa’daki adaylar' },
      answers,
      more: { query },
    },
    'en',
  )

test.each([
  ['bar', '"kind": "bar"'],
  ['line', '"kind": "bar"'],
  ['none', undefined],
])('an answer with the chart “%s” has %s', async (chart, shown) => {
  const log = await answered({ query: asked('select 1 as a', chart) })
  if (shown) expect(log).toContain(shown)
  else expect(log).not.toContain('"chart": {')
  expect(log).not.toContain('query again')
})

test('a statement that the database refuses is written once more, with the reason', async () => {
  const statements: string[] = []
  const log = await answered(
    { query: asked('select x from leads'), 'query again': asked('select name from leads') },
    async (sql) => {
      statements.push(sql)
      if (statements.length === 1) throw new Error('column "x" does not exist')
      return FOUND
    },
  )
  expect(statements).toEqual(['select x from leads', 'select name from leads'])
  expect(log).toContain('Write it again without that mistake.')
  expect(log).toContain('select x from leads')
  expect(log).toContain('"sql": "select name from leads"')
})

test('a statement that fails twice ends the mission, and is shown', async () => {
  const log = await answered(
    { query: asked('select x from leads'), 'query again': asked('select y from leads') },
    async () => {
      throw new Error('no such column')
    },
  )
  expect(log).toMatch(/^fails: .*select y from leads/ms)
})

describe('one statement that reads', () => {
  test.each([
    'select 1', ' SELECT 1 ; ', 'select 1;\n', 'with a as (select 1) select * from a',
    'values (1)', "select ';'", "select 'it''s; so', ';'", "select '', ''';'", 'select(1)',
  ])('is %j', async (sql) => {
    expect(await answered({ query: asked(sql) })).not.toContain('objects')
  }) // biome-ignore format: a list

  test.each([
    'delete from leads', 'selected', 'a select', '(select 1)', 'explain select 1',
    'select 1; select 2', 'select 1;;', "select ';' ; select 1", "select 'a'; select 'b'",
    'withdraw',
  ])('is not %j', async (sql) => {
    expect(await answered({ query: [asked(sql), asked('select 1')] })).toMatch(/^objects: /m)
  }) // biome-ignore format: a list
})
