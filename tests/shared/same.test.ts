import { expect, test } from 'vitest'
import { isSame } from '../../shared/same.ts'

test.each<[unknown, unknown]>([
  [
    { a: 1, b: { c: 2, d: [3] } },
    { b: { d: [3], c: 2 }, a: 1 },
  ],
  [{ a: undefined }, {}],
  [
    [null, 'x', 1, true],
    [null, 'x', 1, true],
  ],
  ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'],
  ['2026-03-01T12:00:00Z', '2026-03-01T14:00:00+02:00'],
  [{ at: '2026-03-01T12:00:00.5Z' }, { at: '2026-03-01T06:30:00.500-05:30' }],
])('%j and %j are the same', (a, b) => {
  expect(isSame(a, b)).toBe(true)
})

test.each<[unknown, unknown]>([
  [{ a: 1 }, { a: 2 }],
  [{ a: 1 }, { a: 1, b: null }],
  [{ a: null }, {}],
  [
    [1, 2],
    [2, 1],
  ],
  [{ 0: 'a' }, ['a']],
  [1, '1'],
  ['2026-03-01T12:00:00Z', '2026-03-01T12:00:01Z'],
  ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00+02:00'],
  // Texts that only hold a time, or are none, stay what they are.
  ['at 2026-03-01T12:00:00Z', 'at 2026-03-01T12:00:00.000Z'],
  ['2026-03-01T12:00:00Z!', '2026-03-01T12:00:00.000Z!'],
  ['2026-13-01T12:00:00Z', '2026-13-01T12:00:00.000Z'],
  ['+002026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'],
  ['2026-03-01', '2026-03-01T00:00:00.000Z'],
])('%j and %j are not', (a, b) => {
  expect(isSame(a, b)).toBe(false)
})
