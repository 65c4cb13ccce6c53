import { getEventListeners } from 'node:events'
import { expect, test, vi } from 'vitest'
import { pause } from '../../shared/pause.ts'

const isOver = (waiting: Promise<void>) => Promise.race([waiting.then(() => true), false])

test('a pause is over after its time, and not before', async () => {
  vi.useFakeTimers()
  try {
    const { signal } = new AbortController()
    const waiting = pause(1000, signal)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(999)
    expect(await isOver(waiting)).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    await waiting
    expect(vi.getTimerCount()).toBe(0)
    // A signal that lasts as long as the process keeps nothing of it.
    expect(getEventListeners(signal, 'abort')).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})

test('it is over at once when it is aborted, before or meanwhile', async () => {
  vi.useFakeTimers()
  try {
    const stopping = new AbortController()
    const waiting = pause(60_000, stopping.signal)
    stopping.abort()
    await waiting
    await pause(60_000, stopping.signal)
    // Nothing is left that would keep the process alive.
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
