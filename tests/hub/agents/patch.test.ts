import { expect, test } from 'vitest'
import { applyEdits, patchOf } from '../../../hub/agents/engineering/patch.ts'

test.each([
  ['a b', [{ find: 'a', replace: 'c' }], 'c b'],
  // Each is made in the text that the one before it left.
  [
    'a b',
    [
      { find: 'a', replace: 'x' },
      { find: 'x b', replace: 'y' },
    ],
    'y',
  ],
  ['a b', [{ find: 'a ', replace: '' }], 'b'],
  ['a.b', [{ find: '.', replace: "$& $1 $'" }], "a$& $1 $'b"],
  ['a', [], 'a'],
])('%j with %j is %j', (before, edits, after) => {
  expect(applyEdits(before, edits)).toEqual({ after })
})

test.each([
  ['a a', 'a', 2],
  ['a', 'b', 0],
  ['a', '', 0],
  ['ab', '', 0],
  ['b'.repeat(3), 'b', 3],
])('in %j nobody can tell where %j stands, which is there %s times', (before, find, count) => {
  const result = applyEdits(before, [{ find, replace: 'x' }])
  expect(result).toEqual({ error: { en: expect.any(String), tr: expect.any(String) } })
  expect(JSON.stringify(result)).toContain(`${count}`)
})

test('a long text that is not there is named by its beginning', () => {
  const result = JSON.stringify(applyEdits('a', [{ find: 'x'.repeat(90), replace: '' }]))
  expect(result.match(/x{10,}/)?.[0]).toHaveLength(80)
})

test('a patch has every change, and says which file is new', () => {
  const patch = patchOf([
    { path: 'src/a.ts', before: 'one\ntwo\n', after: 'one\n2\n' },
    { path: 'src/new.ts', before: '', after: 'new\n' },
  ])
  expect(patch).not.toMatch(/^=+$/m)
  expect(patch.match(/^(?:---|\+\+\+|[-+]).*$/gm)?.map((line) => line.trim())).toEqual([
    '--- a/src/a.ts',
    '+++ b/src/a.ts',
    '-two',
    '+2',
    '--- /dev/null',
    '+++ b/src/new.ts',
    '+new',
  ])
})
