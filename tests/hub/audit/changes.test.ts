import { expect, test } from 'vitest'
import { collectChanges, noteChange } from '../../../hub/audit/changes.ts'

/** The names that are noted of a change of a file. */
async function noted(before: unknown, after: unknown, file = 'mail.json'): Promise<string[]> {
  const names = new Set<string>()
  const done = await collectChanges(names, async () => {
    noteChange(file, before, after)
    return 'done'
  })
  expect(done).toBe('done')
  return [...names].sort()
}

test.each<[what: string, before: unknown, after: unknown, names: string[]]>([
  ['nothing', { a: 1, b: null, c: [1] }, { a: 1, b: null, c: [1] }, []],
  ['a value', { a: 1, b: 2 }, { a: 1, b: 3 }, ['mail.b']],
  ['a value in a value', { a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }, ['mail.a.b.c']],
  ['a value that is new', { a: 1 }, { a: 1, b: 2 }, ['mail.b']],
  ['a value that is gone', { a: 1, b: { c: 2 } }, { a: 1 }, ['mail.b.c']],
  ['a value that became empty', { a: 'x' }, { a: null }, ['mail.a']],
  ['a value that is not said', { a: undefined }, {}, []],
  ['a number that became its text', { a: 1 }, { a: '1' }, ['mail.a']],
  ['a list, as one', { a: [1, { b: 1 }] }, { a: [1, { b: 2 }] }, ['mail.a']],
  ['everything', null, { a: 1 }, ['mail', 'mail.a']],
  ['a file that is one value', 'x', 'y', ['mail']],
])('of a change of %s the names are noted', async (_, before, after, names) => {
  expect(await noted(before, after)).toEqual(names)
})

test('the section is the name of the file, and what signs people in is none', async () => {
  expect(await noted({ a: 1 }, { a: 2 }, 'my.json.json')).toEqual(['my.json.a'])
  expect(await noted({ a: 1 }, { a: 2 }, 'a.jsonl')).toEqual(['a.jsonl.a'])
  for (const file of ['sessions.json', 'admin.json']) {
    expect(await noted({ a: 1 }, { a: 2 }, file)).toEqual([])
  }
})

test('a change that no request made is noted nowhere', () => {
  expect(() => noteChange('mail.json', { a: 1 }, { a: 2 })).not.toThrow()
})
