import { afterEach, expect, test, vi } from 'vitest'
import { createWakes } from '../../../functions/jobs/wakes.ts'

const LONG_MS = 60_000

afterEach(() => void vi.useRealTimers())

test('a name is woken by itself or with all, and not with another', async () => {
  const wakes = createWakes()
  const woken: string[] = []
  const sleep = async (name: string) => {
    await wakes.sleep(name, LONG_MS)
    woken.push(name)
  }
  const both = [sleep('match'), sleep('deliver')]
  wakes.wake('deliver')
  await both[1]
  expect(woken).toEqual(['deliver'])
  wakes.wake()
  await both[0]
  expect(woken).toEqual(['deliver', 'match'])
})

test('a wake that came since a count ends the sleep at once', async () => {
  const wakes = createWakes()
  const since = wakes.count('deliver')
  wakes.wake('match')
  expect(wakes.count('deliver')).toBe(since)
  wakes.wake('deliver')
  await wakes.sleep('deliver', LONG_MS, since)
  const later = wakes.count('deliver')
  wakes.wake()
  await wakes.sleep('deliver', LONG_MS, later)
  const last = wakes.count('deliver')
  wakes.wake('deliver')
  wakes.wake()
  await wakes.sleep('deliver', LONG_MS, last)
})

test('otherwise it sleeps until its time is over', async () => {
  const began = performance.now()
  await createWakes().sleep('deliver', 20)
  expect(performance.now() - began).toBeGreaterThanOrEqual(15)
})

test('a name is woken at a moment, and no other name is', async () => {
  vi.useFakeTimers()
  const wakes = createWakes()
  wakes.wakeAt('deliver', new Date(Date.now() + 500))
  await vi.advanceTimersByTimeAsync(499)
  expect(wakes.count('deliver')).toBe(0)
  await vi.advanceTimersByTimeAsync(1)
  expect([wakes.count('deliver'), wakes.count('match')]).toEqual([1, 0])
})

test('a moment that is over wakes a name at once, without a negative time', async () => {
  const wakes = createWakes()
  const set = vi.spyOn(globalThis, 'setTimeout')
  wakes.wakeAt('deliver', new Date(Date.now() - 500))
  expect(set.mock.calls.map(([, ms]) => ms)).toEqual([0])
  set.mockRestore()
  await wakes.sleep('deliver', LONG_MS, 0)
})
