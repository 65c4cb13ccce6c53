import { describe, expect, test } from 'vitest'
import {
  AlertMemory,
  followMessages,
  type Message,
} from '../../../../functions/feeds/memory/alert-memory.ts'
import type { Geometry, NormalisedEvent } from '../../../../shared/schemas/event.ts'

const now = new Date('2026-03-01T12:00:00.000Z')
const NONE = AlertMemory.parse({})
const at = (minute: number) => new Date(now.getTime() + minute * 60_000).toISOString()

function message(name: string, sent_at: string, over: Partial<NormalisedEvent> = {}): Message {
  const event: NormalisedEvent = {
    id: `nws:${name}`,
    source: 'nws',
    type: 'weather',
    title:
      'Small Craft Advisory issued May 14 at 9:29AM AKDT until May 16 at 5:00AM AKDT by NWS Juneau',
    lat: 58.123,
    lon: -134.123,
    ts: at(0),
    severity: 30,
    subject: 'vtec:PAJK.SC.Y.0123',
    status: 'active',
    url: `https://api.weather.gov/alerts/${name}`,
    geometry: null,
    ends_at: at(600),
    revised_at: sent_at,
    aliases: [],
    ...over,
  }
  return { name, references: [], sent_at, event }
}

const line = (length: number): Geometry => ({
  type: 'LineString',
  coordinates: Array.from({ length }, (_, n) => [n / 1000, 50]),
})

describe('the memory of warnings', () => {
  test('keeps the 1,500 that were revised last, within the size of a state', () => {
    const urn = (n: number) => `urn:oid:2.49.0.1.840.0.${String(n).padStart(40, '0')}.001.1`
    const messages = Array.from({ length: 4000 }, (_, n) => message(urn(n), at(-4000 + n)))
    const { memory, events } = followMessages(NONE, messages, { now, prefix: 'nws:' })
    expect(events).toHaveLength(4000)
    expect(Object.keys(memory.open)).toHaveLength(1500)
    expect(memory.open).toHaveProperty([`nws:${urn(3999)}`])
    expect(memory.open).not.toHaveProperty([`nws:${urn(2499)}`])
    expect(JSON.stringify(memory).length).toBeLessThan(750_000)
    const half = followMessages(NONE, messages, { now, prefix: 'nws:', share: 0.5 })
    expect(Object.keys(half.memory.open)).toHaveLength(750)
  })

  test('forgets a warning that was never revised before those that were', () => {
    const [a, b] = [message('a', at(0), { revised_at: null }), message('b', at(0))]
    for (const messages of [
      [a, b],
      [b, a],
    ]) {
      const { memory } = followMessages(NONE, messages, { now, prefix: 'nws:', share: 1 / 1500 })
      expect(Object.keys(memory.open)).toEqual(['nws:b'])
    }
  })

  test('drops the largest footprints first: the end of such a warning has its point only', () => {
    const messages = [
      message('small', at(0), { geometry: line(10) }),
      message('large', at(0), { geometry: line(15_000) }),
      message('larger', at(0), { geometry: line(15_001) }),
    ]
    const { memory } = followMessages(NONE, messages, { now, prefix: 'nws:' })
    const cancel = (name: string): Message => ({
      name: `cancel-${name}`,
      references: [name],
      sent_at: at(1),
      event: null,
    })
    const cancels = ['small', 'large', 'larger'].map(cancel)
    const { events } = followMessages(memory, cancels, { now, prefix: 'nws:' })
    expect(events.map(({ id, status, geometry }) => [id, status, geometry !== null])).toEqual([
      ['nws:small', 'ended', true],
      ['nws:large', 'ended', true],
      ['nws:larger', 'ended', false],
    ])
  })

  test('forgets a warning without an end after 7 days', () => {
    const messages = [message('a', at(0), { ends_at: null })]
    const { memory } = followMessages(NONE, messages, { now, prefix: 'nws:' })
    const inDays = (days: number) =>
      followMessages(memory, [], {
        now: new Date(now.getTime() + days * 86_400_000),
        prefix: 'nws:',
      })
    expect(Object.keys(inDays(6.9).memory.open)).toEqual(['nws:a'])
    expect(inDays(7)).toMatchObject({ memory: { open: {} } })
    expect(inDays(7.1)).toMatchObject({ events: [], memory: { open: {} } })
    const undated = [message('a', at(0), { ends_at: null, revised_at: null })]
    const later = followMessages(NONE, undated, { now, prefix: 'nws:' })
    expect(Object.keys(later.memory.open)).toEqual(['nws:a'])
  })

  test('an end does not lose against the warning, and by its hazard alone ends none of several', () => {
    const two = followMessages(NONE, [message('a', at(0)), message('b', at(0))], {
      now,
      prefix: 'nws:',
    })
    const cancel = { name: 'c', references: ['a'], sent_at: at(-1), event: null }
    const ended = followMessages(two.memory, [cancel], { now, prefix: 'nws:' })
    expect(ended.events).toMatchObject([{ id: 'nws:a', status: 'ended', revised_at: at(0) }])
    const vague = { ...cancel, references: [], subject: 'vtec:PAJK.SC.Y.0123' }
    const { events, rejected } = followMessages(two.memory, [vague], { now, prefix: 'nws:' })
    expect([events.length, rejected.length]).toEqual([0, 1])
  })

  test('keeps small footprints however late they come, up to 20,000 positions in all', () => {
    const kept = (share: number, ...sizes: number[]) => {
      const messages = sizes.map((size, n) => message(`m${n}`, at(-n), { geometry: line(size) }))
      const { memory } = followMessages(NONE, messages, { now, prefix: 'nws:', share })
      return Object.values(memory.open).map((entry) => entry[10] !== null)
    }
    expect(kept(1, 12_000, 9_000, 8_000)).toEqual([false, true, true])
    expect(kept(1, 12_000, 8_000)).toEqual([true, true])
    expect(kept(0.5, 6_000, 4_001)).toEqual([false, true])
  })

  test('of names of what is over it keeps the latest', () => {
    const over = (name: string): Message => ({ name, references: [], sent_at: at(0), event: null })
    const take = (memory: AlertMemory, minute: number, count: number) =>
      followMessages(
        memory,
        Array.from({ length: count }, (_, n) => over(`${minute}-${n}`)),
        { now: new Date(at(minute)), prefix: 'nws:', share: 0.1 },
      ).memory
    const { closed } = take(take(NONE, 0, 60), 1, 60)
    const times = Object.values(closed)
    expect([times.length, times.filter((time) => time === at(1)).length]).toEqual([100, 60])
  })

  test('holds 1,000 names of what is over', () => {
    const cancels = Array.from({ length: 1200 }, (_, n): Message => {
      return { name: `c${n}`, references: [], sent_at: at(n), event: null }
    })
    const { memory } = followMessages(NONE, cancels, { now, prefix: 'nws:' })
    expect(Object.keys(memory.closed)).toHaveLength(1000)
  })
})
