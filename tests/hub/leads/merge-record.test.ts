import { expect, test } from 'vitest'
import { changedRows } from '../../../hub/leads/merge-record.ts'

type Row = [table: string, key: object, content: object]
const [KEPT, GONE] = ['kept-id', 'gone-id']
const NOTE = { id: 1 }
const PAIR = { draft_id: 'd', email: 'a@x.example' }

/** Rows as PostgreSQL gives them: the keys of an object in an order of its own. */
const snapshot = (rows: Row[]) => ({
  rows: new Map(
    rows.map(([table, key, content]) => {
      const row = { table, key: JSON.stringify(key), content: JSON.stringify(content) }
      return [`${table} ${row.key}`, row]
    }),
  ),
  naming: [],
})
const moved = (table: string, column: string, key: object) => ({ table, column, key: { ...key } })

function changed(before: Row[], after: Row[], moved_rows: ReturnType<typeof moved>[] = []) {
  const given = { before: snapshot(before), after: snapshot(after), moved_rows }
  return JSON.parse(changedRows({ ...given, gone_id: GONE, kept_id: KEPT }))
}

test('a merge records each row that it changed, made or deleted, and none that stayed', () => {
  const rows: Row[] = [
    ['leads', { id: 'a' }, { name: 'Ada' }],
    ['tasks', { id: 'b' }, { title: 'Call' }],
    ['notes', NOTE, { text: 'x' }],
  ]
  expect(changed(rows, rows)).toEqual([])
  const after: Row[] = [
    ['leads', { id: 'a' }, { name: 'Ada L' }],
    ['notes', NOTE, { text: 'x' }],
    ['notes', { id: 2 }, { text: 'y' }],
  ]
  expect(changed(rows, after)).toEqual([
    { table: 'leads', key: { id: 'a' }, before: { name: 'Ada' }, after: { name: 'Ada L' } },
    { table: 'tasks', key: { id: 'b' }, before: { title: 'Call' }, after: null },
    { table: 'notes', key: { id: 2 }, before: null, after: { text: 'y' } },
  ])
})

test('a row that only moved to the kept lead is not among them', () => {
  const before: Row[] = [['notes', NOTE, { lead_id: GONE, text: 'x' }]]
  const after = (content: object): Row[] => [['notes', NOTE, content]]
  const move = [moved('notes', 'lead_id', NOTE)]
  expect(changed(before, after({ lead_id: KEPT, text: 'x' }), move)).toEqual([])
  expect(changed(before, after({ lead_id: KEPT, text: 'x' }))).toHaveLength(1)
  expect(changed(before, after({ lead_id: KEPT, text: 'y' }), move)).toHaveLength(1)
  expect(changed(before, after({ lead_id: 'other', text: 'x' }), move)).toHaveLength(1)
  expect(changed(before, [], move)).toHaveLength(1)
  // Another table, or another row of it, moved.
  for (const one of [moved('tasks', 'lead_id', NOTE), moved('notes', 'lead_id', { id: 2 })]) {
    expect(changed(before, after({ lead_id: KEPT, text: 'x' }), [one])).toHaveLength(1)
  }
})

test('a row may have moved by several columns, and its key is told in any order', () => {
  const before: Row[] = [['pairs', PAIR, { one: GONE, two: GONE, three: GONE }]]
  const after: Row[] = [['pairs', PAIR, { one: KEPT, two: KEPT, three: GONE }]]
  const reversed = { email: 'a@x.example', draft_id: 'd' }
  const both = [moved('pairs', 'one', reversed), moved('pairs', 'two', reversed)]
  expect(changed(before, after, both)).toEqual([])
  expect(changed(before, after, both.slice(1))).toHaveLength(1)
})

test('a number stays as exact as PostgreSQL had it', () => {
  const row = (amount: string) => ({
    rows: new Map([['deals {}', { table: 'deals', key: '{}', content: `{"amount": ${amount}}` }]]),
    naming: [],
  })
  const given = { before: row('12345678901234.5678'), after: row('1.10') }
  expect(changedRows({ ...given, moved_rows: [], gone_id: GONE, kept_id: KEPT })).toBe(
    '[{"table":"deals","key":{},"before":{"amount": 12345678901234.5678},"after":{"amount": 1.10}}]',
  )
})
