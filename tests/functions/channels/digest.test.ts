/** How a digest is split into messages, and how its times are told. */
import { describe, expect, test } from 'vitest'
import type { Notification } from '../../../functions/channels/channel.ts'
import { clockOf } from '../../../functions/channels/message/clock.ts'
import { isWholeDigest, splitDigest } from '../../../functions/channels/message/digest.ts'
import { digestOf, NOTIFICATIONS } from './samples.ts'

type Whole = Parameters<typeof splitDigest>[0]
// safe: a digest has alerts
const digest = (count: number) => digestOf(count) as Whole
const upTo = (most: number) => (message: Notification) => (message.alerts?.length ?? 0) <= most
const sizes = (parts: { alerts: readonly unknown[] }[]) => parts.map(({ alerts }) => alerts.length)

test('only a digest that has not been split is whole', () => {
  expect(isWholeDigest(digest(2))).toBe(true)
  expect(isWholeDigest({ ...digest(2), part: 1, parts: 1 })).toBe(false)
  expect(isWholeDigest(NOTIFICATIONS['alert.raised'])).toBe(false)
})

describe('a digest is split', () => {
  test.each([
    [1, 5, [1]],
    [5, 5, [5]],
    [6, 5, [5, 1]],
    [40, 7, [7, 7, 7, 7, 7, 5]],
    [3, 0, [1, 1, 1]],
  ])('of %i alerts, %i fit in a message: %j', async (count, most, expected) => {
    const whole = digest(count)
    const parts = await splitDigest(whole, upTo(most))
    expect(sizes(parts)).toEqual(expected)
    expect(parts.flatMap(({ alerts }) => alerts)).toEqual(whole.alerts)
    expect(parts.map(({ part, parts, alerts_total }) => [part, parts, alerts_total])).toEqual(
      parts.map((_, index) => [index + 1, expected.length, count]),
    )
    expect(parts.map(({ alert }) => alert)).toEqual(parts.map(({ alerts }) => alerts[0]))
  })

  test('with what is known of its alerts in the message of each, and of no other', async () => {
    const whole = digest(3)
    const [first, second] = await splitDigest(whole, upTo(2))
    const ids = whole.alerts.map(({ id }) => String(id))
    expect(Object.keys(first?.facts ?? {})).toEqual(ids.slice(0, 2))
    expect(second?.facts).toEqual({ [ids[2] ?? '']: whole.facts?.[ids[2] ?? ''] })
    const { facts: _, ...bare } = whole
    expect((await splitDigest(bare, upTo(2)))[0]).not.toHaveProperty('facts')
    const some = { [ids[1] ?? '']: whole.facts?.[ids[1] ?? ''] } as NonNullable<Whole['facts']>
    const parts = await splitDigest({ ...whole, facts: some }, upTo(2))
    expect(parts.map(({ facts }) => facts)).toEqual([some, {}])
  })

  test('into none, where it has no alerts', async () => {
    expect(await splitDigest({ ...digest(1), alerts: [] }, upTo(5))).toEqual([])
  })

  test('and the work of each message is told', async () => {
    const told: number[] = []
    await splitDigest(digest(12), upTo(5), async (units) => void told.push(units))
    expect(told).toEqual([40_000, 40_000, 40_000])
  })
})

test.each([
  ['en', 'Asia/Tokyo', '1 Mar 2026, 21:00 GMT+9'],
  ['tr', 'Europe/Istanbul', '1 Mar 2026 15:00 GMT+3'],
  ['en', 'Mars/Olympus', '1 Mar 2026, 12:00 UTC'],
  ['en', 'America/New_York', '1 Mar 2026, 07:00 GMT-5'],
] as const)('in %s a time in %s reads %s', (language, time_zone, shown) => {
  const clock = clockOf({ language, time_zone })
  // The second one comes from what was made for the first.
  for (let time = 0; time < 2; time += 1) expect(clock('2026-03-01T12:00:00.000Z')).toBe(shown)
  expect(clock('soon')).toBe('soon')
})
