import { describe, expect, test } from 'vitest'
import { roundOf } from '../../../../functions/feeds/replay/clock.ts'
import { vesselsReplay } from '../../../../functions/feeds/replay/vessels.ts'
import { distance_km } from '../../../../shared/geometry/geometry.ts'
import { NormalisedEvent } from '../../../../shared/schemas/event.ts'

const startedAt = new Date('2026-05-05T05:05:05.000Z')
const HOUR = 3_600_000
const due = (from: number, to: number) => vesselsReplay.due(from, to, startedAt.getTime())
const ofVessel = (events: NormalisedEvent[], name: RegExp) =>
  events.filter(({ title }) => name.test(title))

describe('invented vessels', () => {
  test('say so, with a number that no ship can have', () => {
    const events = [
      ...due(0, 60_000),
      ...vesselsReplay.history(startedAt).map(({ event }) => event),
    ]
    expect(new Set(events.map(({ subject }) => subject)).size).toBe(12)
    for (const event of events) {
      NormalisedEvent.parse(event)
      expect(event.title).toMatch(/^INVENTED /)
      expect(event.type).toBe('vessel')
      expect(event.id).toMatch(/^vessels-replay:1000000\d\d:\d{10}$/)
    }
    expect(vesselsReplay.attribution).toMatch(/^Invented/)
  })

  test('each reports every ten seconds, not all at once, whenever they are polled', () => {
    const whole = due(0, 300_000)
    expect(whole).toHaveLength(12 * 30)
    expect(new Set(whole.map(({ id }) => id)).size).toBe(whole.length)
    expect(new Set(due(0, 10_000).map(({ ts }) => ts)).size).toBeGreaterThan(6)
    const parts = [0, 1, 7777, 123_456, 123_456, 300_000]
    const pieces = parts.slice(1).flatMap((to, index) => due(parts[index] ?? 0, to))
    const ids = (events: NormalisedEvent[]) => events.map(({ id }) => id).sort()
    expect(ids(pieces)).toEqual(ids(whole))
  })

  test('none jumps, from its history on through three rounds', () => {
    const past = vesselsReplay.history(startedAt).map(({ event }) => event)
    const bySubject = Map.groupBy([...past, ...due(0, 65 * 60_000)], ({ subject }) => subject)
    for (const positions of bySubject.values()) {
      for (const [index, to] of positions.slice(1).entries()) {
        const from = positions[index] ?? to
        const hours = (Date.parse(to.ts) - Date.parse(from.ts)) / HOUR
        expect(hours).toBeGreaterThan(0)
        expect(distance_km(from, to)).toBeLessThanOrEqual(hours * 40 * 1.852 + 0.001)
      }
    }
  })

  test.each([
    [/Grain Carrier/, 70, 0.1, 0.4],
    [/Channel Tanker/, 50, 0.5, 0.8],
    [/Spice Route/, 70, 0.65, 0.9],
  ])('%s is in trouble in every round, and lies still', (name, severity, from, to) => {
    for (const number of [1, 2]) {
      const { start, length } = roundOf(number)
      const positions = ofVessel(due(start, start + length), name)
      const share = ({ ts }: NormalisedEvent) =>
        (Date.parse(ts) - startedAt.getTime() - start) / length
      const inTrouble = positions.filter((each) => each.severity > 0)
      expect(new Set(inTrouble.map((each) => each.severity))).toEqual(new Set([severity]))
      expect(new Set(inTrouble.map(({ lat, lon }) => `${lat},${lon}`)).size).toBe(1)
      expect(inTrouble).toEqual(positions.filter((each) => share(each) >= from && share(each) < to))
      const others = positions.filter((each) => each.severity === 0)
      expect(new Set(others.map(({ lat, lon }) => `${lat},${lon}`)).size).toBe(others.length)
    }
  })

  test('the ferry of the Sound leaves Helsingør within minutes and comes back', () => {
    const ferry = ofVessel(due(0, 800_000), /Ferry of the Sound/)
    const inside = ferry.map((place) => distance_km(place, { lat: 56.034, lon: 12.622 }) <= 1.2)
    const changes = inside.filter((is, index) => index > 0 && is !== inside[index - 1])
    expect(inside[0]).toBe(true)
    expect(changes).toEqual([false, true, false])
  })

  test('the past day is their history', () => {
    const history = vesselsReplay.history(startedAt)
    expect(history).toHaveLength(12 * 24 * 6)
    const times = history.map(({ first_seen_at }) => Date.parse(first_seen_at))
    expect(Math.min(...times)).toBe(startedAt.getTime() - 24 * HOUR)
    expect(Math.max(...times)).toBeLessThan(startedAt.getTime())
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })
})
