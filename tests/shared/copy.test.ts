import { expect, test } from 'vitest'
import { parentsFirst } from '../../shared/copy.ts'

const table = (name: string, ...parents: string[]) => ({ name, parents })
const order = (...tables: ReturnType<typeof table>[]) =>
  parentsFirst(tables).map(({ name }) => name)

test('tables come after those that their rows refer to, else in the order given', () => {
  expect(order()).toEqual([])
  expect(order(table('b'), table('a'))).toEqual(['b', 'a'])
  expect(order(table('a', 'b'), table('b', 'c'), table('d'), table('c'))).toEqual([
    'd',
    'c',
    'b',
    'a',
  ])
  // Both parents come first, not one of them.
  expect(order(table('a', 'b', 'c'), table('c', 'b'), table('b'))).toEqual(['b', 'c', 'a'])
})

test('what a table refers to may be left out', () => {
  expect(order(table('a', 'elsewhere'), table('b'))).toEqual(['a', 'b'])
})

test('a circle is refused by the names of its tables', () => {
  const circle = [table('a', 'b'), table('b', 'a'), table('c')]
  expect(() => order(...circle)).toThrow('tables refer to each other in a circle: a,b')
})
