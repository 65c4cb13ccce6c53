import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { afterEach, expect, test, vi } from 'vitest'
import { threadsFor, watchCores } from '../../../hub/model/threads.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

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

test('the threads follow what other processes use, half a step a second', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'performance'] })
  const [core] = os.cpus()
  if (!core) throw new Error('no core')
  let [idle, user, system] = [0, 0, 0]
  vi.spyOn(os, 'cpus').mockImplementation(() =>
    Array.from({ length: 4 }, () => ({ ...core, times: { ...core.times, idle: idle / 4 } })),
  )
  syncBuiltinESMExports()
  vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user, system }))
  const told: number[] = []
  watchCores(4, (threads) => told.push(threads))
  /** What is told after a second in which so many cores were idle, and so many ours. */
  const after = (idle_cores: number, own_cores: number) => {
    told.length = 0
    idle += idle_cores * 1000
    user += own_cores * 750_000
    system += own_cores * 250_000
    vi.advanceTimersByTime(1000)
    return [...told]
  }
  expect(after(4, 0), 'all idle').toEqual([])
  expect(after(0, 4), 'all ours').toEqual([])
  expect(after(0, 0), 'all of others').toEqual([2])
  expect(after(2, 0), 'half of others').toEqual([])
  expect(after(4, 1), 'idle beyond what there is').toEqual([3])
  expect(after(3, 1), 'nothing of others').toEqual([4])
  expect(after(0, 2), 'half ours, half of others').toEqual([3])
})
