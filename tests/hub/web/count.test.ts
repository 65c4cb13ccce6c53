import { expect, test } from 'vitest'
import { countOf } from '../../../hub/web/count.ts'

test.each([
  ['', 10, { left: 10, over: 0, isNear: false }],
  ['123456789', 10, { left: 1, over: 0, isNear: false }],
  ['1234567890', 10, { left: 0, over: 0, isNear: true }],
  [' 1234567890 ', 10, { left: 0, over: 0, isNear: true }],
  ['123456789012', 10, { left: 0, over: 2, isNear: true }],
])('“%s” of at most %i characters', (text, limit, count) => {
  expect(countOf(text, limit)).toEqual(count)
})
