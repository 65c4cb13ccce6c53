import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FeedState } from '../../../../functions/feeds/feed.ts'
import { loadQuakes } from '../../../../functions/feeds/replay/load.ts'
import { quakesReplay, readQuakes } from '../../../../functions/feeds/replay/quakes.ts'
import { feedOf } from '../../../../functions/feeds/replay/replay.ts'
import { NormalisedEvent } from '../../../../shared/schemas/event.ts'
import { quake, summary } from '../../../support/feeds/quakes.ts'

const DAY = 86_400_000
const week_end = Date.parse('2026-03-01T12:00:00.000Z')
const startedAt = new Date('2026-05-05T05:05:05.123Z')

/** A quake in the middle of each day of the week, and two that do not belong. */
const recording = readQuakes(
  summary(
    [
      ...[0, 1, 2, 3, 4, 5, 6].map((day) =>
        quake({ id: `q${day}`, time: week_end - (7 - day - 0.5) * DAY }),
      ),
      quake({ id: 'older', time: week_end - 8 * DAY }),
      quake({ id: 'unreadable', time: null }),
    ],
    '2026-03-01T12:00:00.000Z',
  ),
)

const seconds = (n: number) => new Date(startedAt.getTime() + n * 1000)

/** Polls at each of the given seconds after the start, keeping the state as the database would. */
async function play(at: number[], played = recording) {
  const feed = feedOf(quakesReplay(played), startedAt)
  let state: FeedState = {}
  const polls: NormalisedEvent[][] = []
  for (const second of at) {
    const fetch = () => Promise.reject(new Error('a replay needs no network'))
    const result = await feed.poll({ state, now: seconds(second), fetch })
    state = JSON.parse(JSON.stringify(result.state))
    polls.push(result.events)
  }
  return { polls, events: polls.flat(), state }
}

const every = (step: number, until: number) =>
  Array.from({ length: Math.floor(until / step) }, (_, index) => (index + 1) * step)

describe('history', () => {
  test('is the week, oldest first, shifted to end at the start', () => {
    const week = quakesReplay(recording).history(startedAt)
    expect(week.map(({ event }) => event.id)).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((day) => `usgs-replay:q${day}`),
    )
    expect(week[6]?.first_seen_at).toBe(new Date(startedAt.getTime() - DAY / 2).toISOString())
    for (const { event, first_seen_at } of week) {
      NormalisedEvent.parse(event)
      expect(event.ts).toBe(first_seen_at)
      expect(event).toMatchObject({
        source: 'usgs-replay',
        title: 'REPLAY M 4.0 - 10 km N of Testville',
        severity: 43,
        aliases: [],
      })
    }
  })
})

describe('the play', () => {
  test('brings the week within 5 minutes, then within 30, numbered by round', async () => {
    const { events } = await play(every(1, 300 + 1800))
    expect(events.map(({ id }) => id)).toEqual([
      ...[0, 1, 2, 3, 4, 5, 6].map((day) => `usgs-replay:q${day}-r1`),
      ...[0, 1, 2, 3, 4, 5, 6].map((day) => `usgs-replay:q${day}-r2`),
    ])
    const played_at = events.map(({ ts }) => (Date.parse(ts) - startedAt.getTime()) / 1000)
    expect(played_at[0]).toBeCloseTo(300 / 14, 1)
    expect(played_at[6]).toBeCloseTo((300 * 13) / 14, 1)
    expect(played_at[7]).toBeCloseTo(300 + 1800 / 14, 1)
    for (const event of events) {
      NormalisedEvent.parse(event)
      expect(event.title).toMatch(/^REPLAY /)
    }
  })

  test('is the same however often it is polled', async () => {
    const often = await play(every(1, 600))
    const seldom = await play(every(20, 600))
    expect(seldom.events).toEqual(often.events)
  })

  test('emits each event at the first poll after its moment', async () => {
    const { polls } = await play(every(1, 60))
    polls.forEach((events, index) => {
      for (const { ts } of events) {
        expect(Date.parse(ts)).toBeGreaterThanOrEqual(seconds(index).getTime())
        expect(Date.parse(ts)).toBeLessThan(seconds(index + 1).getTime())
      }
    })
    expect(polls.flat()).toHaveLength(1)
  })

  test('a poll that is repeated from the same state gives the same answer', async () => {
    const feed = feedOf(quakesReplay(recording), startedAt)
    const input = { state: {}, now: seconds(30), fetch }
    expect(await feed.poll(input)).toEqual(await feed.poll(input))
    const later = await feed.poll({ ...input, now: seconds(40) })
    expect(later.events).toEqual((await feed.poll(input)).events)
  })

  test('after an absence it goes on where it stopped, with the present as the moment played', async () => {
    const away = 3 * 86_400
    const { polls, events } = await play([50, ...every(1, 300).map((n) => 50 + away + n)])
    expect(events.map(({ id }) => id)).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((day) => `usgs-replay:q${day}-r1`),
    )
    expect(polls[0]?.map(({ id }) => id)).toEqual(['usgs-replay:q0-r1'])
    for (const { ts } of events.slice(1)) {
      expect(Date.parse(ts)).toBeGreaterThan(seconds(away - 60).getTime())
    }
  })

  test('whenever it is polled, nothing is lost, doubled or out of order', async () => {
    const gaps = fc.array(fc.double({ min: 0, max: 300, noNaN: true }), { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(gaps, async (gaps) => {
        let at = 0
        const { events } = await play(gaps.map((gap) => (at += gap)))
        const expected = events.map((_, n) => `usgs-replay:q${n % 7}-r${1 + Math.floor(n / 7)}`)
        expect(events.map(({ id }) => id)).toEqual(expected)
        const ts = events.map(({ ts }) => ts)
        expect(ts).toEqual([...ts].sort())
      }),
    )
  })

  test('a clock set back plays nothing and keeps its place', async () => {
    const { polls, state } = await play([50, 20])
    expect(polls[1]).toEqual([])
    expect(state).toMatchObject({ position_ms: 50_000 })
  })
})

describe('the recorded week', () => {
  test('is 1,707 events, all of which play in the first five minutes', async () => {
    const week = await loadQuakes()
    expect(week.items).toHaveLength(1707)
    expect(quakesReplay(week).history(startedAt)).toHaveLength(1707)
    const { events, polls } = await play(every(30, 300), week)
    expect(new Set(events.map(({ id }) => id)).size).toBe(1707)
    expect(Math.max(...polls.map((events) => events.length))).toBeLessThan(500)
    for (const event of events) NormalisedEvent.parse(event)
  })

  test('after a month’s absence it sends one minute’s events, not thousands', async () => {
    const { polls } = await play([10, 30 * 86_400], await loadQuakes())
    expect(polls[1]?.length).toBeLessThan(500)
  })
})
