import { expect, test } from 'vitest'
import { threadsFor } from '../../../hub/model/threads.ts'

test.each([
  [2, 2, 2],
  [1.5, 2, 2],
  [1.3, 2, 1],
  [0, 2, 1],
  [-1, 8, 1],
  [7.9, 8, 8],
  [64, 8, 8],
  [5.2, 8, 5],
])('of %d free cores and at most %i threads, %i work', (free, most, threads) => {
  expect(threadsFor(free, most)).toBe(threads)
})
