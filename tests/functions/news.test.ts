import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createNews } from '../../functions/news.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const never = new AbortController().signal
const isOver = (waiting: Promise<boolean>) =>
  Promise.race([waiting.then(() => true), Promise.resolve().then(() => false)])

test('all who wait are woken, and whoever waits afterwards waits for the next news', async () => {
  const news = createNews()
  const waiting = [news.wait(1000, never), news.wait(2000, never)]
  await vi.advanceTimersByTimeAsync(999)
  expect(await Promise.all(waiting.map(isOver))).toEqual([false, false])
  news.wake()
  expect(await Promise.all(waiting)).toEqual([false, false])
  const later = news.wait(1000, never)
  await vi.advanceTimersByTimeAsync(999)
  expect(await isOver(later)).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(await later).toBe(false)
  expect(vi.getTimerCount()).toBe(0)
})

test('a request that ends waits no longer, and wakes nobody else', async () => {
  const news = createNews()
  const gone = new AbortController()
  const waiting = news.wait(1000, gone.signal)
  const other = news.wait(1000, never)
  gone.abort()
  expect(await waiting).toBe(false)
  await vi.advanceTimersByTimeAsync(999)
  expect(await isOver(other)).toBe(false)
  expect(await news.wait(1000, gone.signal)).toBe(false)
})

test('when the service stops, nobody waits, and each is told why', async () => {
  const news = createNews()
  const waiting = news.wait(1000, never)
  news.stop()
  expect(await waiting).toBe(true)
  expect(await news.wait(1000, never)).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})
