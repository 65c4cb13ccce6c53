import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  doublingDelay,
  jittered,
  nextAttempt,
  nextPollSeconds,
  parseRetryAfter,
} from '../../shared/backoff.ts'

const start = new Date('2026-03-01T12:00:00.000Z')
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000)
const no_jitter = () => 0.5

type Input = Parameters<typeof nextAttempt>[0]

function wait(input: Partial<Input>): number | string {
  const now = input.now ?? start
  const next = nextAttempt({
    schedule: 'webhook',
    is_urgent: false,
    attempts: 1,
    counted: true,
    first_attempt_at: start,
    expires_at: later(48 * 3600),
    now,
    random: no_jitter,
    ...input,
  })
  return 'at' in next ? (next.at.getTime() - now.getTime()) / 1000 : next.give_up
}

describe('a delivery that keeps failing', () => {
  test('is tried eight times over 31.6 hours, then given up', () => {
    const waits: (number | string)[] = []
    let now = start
    for (let attempts = 0; attempts < 9; attempts += 1) {
      const first_attempt_at = attempts === 0 ? null : start
      const seconds = wait({ attempts, now, first_attempt_at })
      waits.push(seconds)
      if (typeof seconds === 'number') now = new Date(now.getTime() + seconds * 1000)
    }
    expect(waits).toEqual([0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 'attempts_used_up'])
    expect((now.getTime() - start.getTime()) / 3_600_000).toBeCloseTo(31.6, 1)
  })

  test('is spread by ten per cent either way', () => {
    expect(wait({ attempts: 2, random: () => 0 })).toBeCloseTo(270)
    expect(wait({ attempts: 2, random: () => 0.999999 })).toBeCloseTo(330, 1)
  })

  test('waits longer when the receiver says so, and not less when it says less', () => {
    expect(wait({ attempts: 1, retry_after_seconds: 60 })).toBeCloseTo(63)
    expect(wait({ attempts: 2, retry_after_seconds: 1 })).toBe(300)
  })
})

describe('a message that people read', () => {
  const waits = (given: Partial<Input>) =>
    Array.from({ length: 9 }, (_, attempts) => wait({ schedule: 'message', attempts, ...given }))

  test('is tried until its deadline, ever more seldom', () => {
    expect(waits({})).toEqual([0, 30, 120, 300, 900, 1800, 1800, 1800, 1800])
    expect(wait({ schedule: 'message', attempts: 500 })).toBe(1800)
  })

  test('about an emergency is tried sooner and more often', () => {
    expect(waits({ is_urgent: true })).toEqual([0, 5, 15, 45, 120, 300, 300, 300, 300])
  })

  test('of a webhook is no sooner for that', () => {
    expect(wait({ is_urgent: true, attempts: 2 })).toBe(300)
  })

  test('is tried for the last time at its deadline, not after it', () => {
    const message = { schedule: 'message', attempts: 8 } as const
    const expires_at = later(6 * 3600)
    expect(wait({ ...message, expires_at, now: later(6 * 3600 - 60) })).toBe(60)
    expect(wait({ ...message, expires_at, now: later(6 * 3600) })).toBe('too_old')
  })
})

describe('a delivery that is throttled', () => {
  const throttled = { counted: false, attempts: 0 }

  test('comes when the receiver said, never before', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3600 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (hint, roll) => {
          const seconds = wait({ ...throttled, retry_after_seconds: hint, random: () => roll })
          expect(seconds).toBeGreaterThanOrEqual(hint)
          expect(seconds).toBeLessThanOrEqual(Math.max(hint * 1.1, 60) + 0.001)
        },
      ),
    )
  })

  test('waits a minute without a hint, then as long as it has been waiting, at most 30 minutes', () => {
    expect(wait(throttled)).toBe(60)
    expect(wait({ ...throttled, now: later(600) })).toBe(600)
    expect(wait({ ...throttled, now: later(20 * 3600) })).toBe(1800)
  })

  test.each([
    [5, 1],
    [100, 10],
    [3600, 360],
    [36_000, 1800],
  ])('after %i seconds waits %i at least, however soon the receiver wants it', (age, least) => {
    const seconds = wait({ ...throttled, retry_after_seconds: 1, now: later(age) })
    expect(seconds).toBe(Math.max(least, 1.05))
  })

  test.each([0, 1])('makes no busy loop of "Retry-After: %i" for ever', (hint) => {
    let now = start
    let tries = 0
    for (;;) {
      const seconds = wait({ ...throttled, retry_after_seconds: hint, now })
      if (typeof seconds === 'string') break
      now = new Date(now.getTime() + seconds * 1000)
      tries += 1
    }
    expect(tries).toBeLessThan(300)
  })

  test('ends 48 hours after its first attempt, however long the receiver asks for', () => {
    const hint = { ...throttled, retry_after_seconds: 7 * 24 * 3600 }
    expect(wait({ ...hint, now: later(3600) })).toBe(47 * 3600)
    expect(wait({ ...hint, now: later(48 * 3600) })).toBe('too_old')
  })
})

describe('a feed', () => {
  const feed = { interval_seconds: 60, failing_for_seconds: 0, random: no_jitter }

  test('is asked at its interval while it works', () => {
    expect(nextPollSeconds(feed)).toBe(60)
    expect(nextPollSeconds({ ...feed, random: () => 0 })).toBe(54)
  })

  test('is asked ever more seldom while it fails, up to 15 minutes', () => {
    expect(nextPollSeconds({ ...feed, failing_for_seconds: 240 })).toBe(240)
    expect(nextPollSeconds({ ...feed, failing_for_seconds: 86_400 })).toBe(900)
    const hourly = { ...feed, interval_seconds: 3600, failing_for_seconds: 86_400 }
    expect(nextPollSeconds(hourly)).toBe(3600)
  })

  test('is left alone for as long as it asked', () => {
    expect(nextPollSeconds({ ...feed, retry_after_seconds: 3000 })).toBe(3000)
    expect(nextPollSeconds({ ...feed, retry_after_seconds: 5 })).toBe(60)
  })
})

describe('Retry-After', () => {
  test.each([
    ['120', 120],
    [' 0 ', 0],
    ['1.5', 2],
    ['Sun, 01 Mar 2026 12:02:00 GMT', 120],
    ['Sunday, 01-Mar-26 12:02:00 GMT', 120],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
    ['2026', 2026],
    ['9'.repeat(400), 30 * 24 * 3600],
    ['Sun, 01 Mar 2099 12:00:00 GMT', 30 * 24 * 3600],
    ['', undefined],
    [null, undefined],
    ['2.25', 3],
    ['2 minutes', undefined],
    ['at Sun, 01 Mar 2026 12:01:00 GMT', undefined],
    ['Sun, 99 Mar 2026', undefined],
  ])('%j means %s seconds', (value, seconds) => {
    expect(parseRetryAfter(value, start)).toBe(seconds)
  })
})

describe('failures in a row', () => {
  test.each([
    [0, 0],
    [1, 5],
    [2, 10],
    [3, 20],
    [4, 30],
    [2000, 30],
  ])('after %i the wait is %i', (failures, wait) => {
    expect(doublingDelay(failures, { first: 5, longest: 30 })).toBe(wait)
  })

  test('are waited for ever longer where no limit is set', () => {
    expect(doublingDelay(9, { first: 1 })).toBe(256)
  })

  test.each([
    [0, 90],
    [0.5, 100],
    [1, 110],
  ])('a wait is spread by a tenth: %d makes %d of 100', (random, wait) => {
    expect(jittered(100, () => random)).toBeCloseTo(wait)
  })
})
