import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  nextStep,
  resume,
  roundAt,
  roundOf,
  roundsIn,
} from '../../../../functions/feeds/replay/clock.ts'

const startedAt = new Date('2026-05-05T05:05:05.000Z')
const at = (ms: number) => new Date(startedAt.getTime() + ms)
const MINUTE = 60_000

describe('rounds', () => {
  test('take 5 minutes first and 30 later, without a gap', () => {
    expect([1, 2, 3].map((number) => roundOf(number))).toEqual([
      { number: 1, start: 0, length: 5 * MINUTE },
      { number: 2, start: 5 * MINUTE, length: 30 * MINUTE },
      { number: 3, start: 35 * MINUTE, length: 30 * MINUTE },
    ])
  })

  test('every position lies in its round', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e10 }), (position) => {
        const { start, length } = roundOf(roundAt(position))
        expect(position).toBeGreaterThanOrEqual(start)
        expect(position).toBeLessThan(start + length)
      }),
    )
  })

  test.each([
    [0, 1, [1]],
    [0, 5 * MINUTE, [1]],
    [5 * MINUTE - 1, 5 * MINUTE + 1, [1, 2]],
    [5 * MINUTE, 35 * MINUTE, [2]],
    [10, 10, [1]],
  ])('from %i to %i are %j', (from, to, numbers) => {
    expect([...roundsIn(from, to)].map(({ number }) => number)).toEqual(numbers)
  })
})

describe('several replays', () => {
  const state = (position_ms: number, polled_at: number) => ({
    position_ms,
    polled_at: at(polled_at).toISOString(),
  })
  const play = (states: ReturnType<typeof resume>, now: number) =>
    states.map((given) => nextStep(given, { now: at(now), startedAt }))

  test('go on together after a pause, each from where it stopped', () => {
    const stopped = [state(70_000, 70_000), state(68_500, 68_500)]
    const steps = play(resume(stopped, at(1e9)), 1e9 + 4000)
    expect(steps.map(({ from, to }) => [from, to])).toEqual([
      [70_000, 74_000],
      [68_500, 74_000],
    ])
    expect(new Set(steps.map(({ origin }) => origin)).size).toBe(1)
  })

  test('one that is new joins where the others are, in the middle of a round', () => {
    const steps = play(resume([{}, state(400_000, 400_000), {}], at(1e9)), 1e9 + 1000)
    expect(steps.map(({ from, to }) => [from, to])).toEqual([
      [400_000, 401_000],
      [400_000, 401_000],
      [400_000, 401_000],
    ])
  })

  test('all that are new begin at the beginning', () => {
    expect(resume([{}, {}], startedAt)).toEqual([state(0, 0), state(0, 0)])
  })

  test('whenever they are polled and restarted, nothing is skipped or played twice', () => {
    const gap = fc.integer({ min: 0, max: 50_000 })
    fc.assert(
      fc.property(fc.array(fc.tuple(gap, gap, fc.boolean()), { maxLength: 40 }), (polls) => {
        let states = resume([{}, {}], startedAt)
        const played = [0, 0]
        let now = 0
        for (const [first, second, restarts] of polls) {
          for (const [index, wait] of [first, second].entries()) {
            now += wait
            const step = nextStep(states[index] ?? {}, { now: at(now), startedAt })
            expect(step.from).toBe(played[index])
            played[index] = step.to
            states[index] = step.state
          }
          if (restarts) {
            now += 3_600_000
            states = resume(states, at(now))
          }
        }
      }),
    )
  })
})
