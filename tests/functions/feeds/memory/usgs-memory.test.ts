/** What is remembered of earthquakes, so that one that vanishes can be retracted. */
import { describe, expect, test } from 'vitest'
import {
  Memory,
  type Snapshot,
  updateMemory,
} from '../../../../functions/feeds/memory/usgs-memory.ts'
import type { NormalisedEvent } from '../../../../shared/schemas/event.ts'

const NOON = Date.parse('2026-03-01T12:00:00.000Z')
const HOUR_MS = 60 * 60_000
const at = (minute: number) => new Date(NOON + minute * 60_000).toISOString()

const quake = (name: string, given: Partial<NormalisedEvent> = {}): NormalisedEvent => ({
  ...{ id: `usgs:${name}`, source: 'usgs', type: 'earthquake', title: name, lat: 1, lon: 2 },
  ...{ ts: at(-10), severity: 40, subject: null, status: 'active', url: null, geometry: null },
  ...{ ends_at: null, revised_at: at(-5), aliases: [], ...given },
})
const copy = (
  minute: number,
  events: NormalisedEvent[],
  more: Partial<Snapshot> = {},
): Snapshot => ({
  ...{ window: 'hour', events, unread: [], generated: NOON + minute * 60_000, complete: true },
  ...more,
})

/** Takes one copy of the hour after the other, one a minute; returns what came of the last. */
function take(memory: Memory, ...copies: NormalisedEvent[][]): NormalisedEvent[] {
  return copies.map((events, minute) => updateMemory(memory, copy(minute, events))).at(-1) ?? []
}
const retracted = (events: NormalisedEvent[]) =>
  events.filter(({ status }) => status === 'retracted').map(({ title }) => title)

test('keeps of an event what its retraction says, under its own id only', () => {
  const memory: Memory = {}
  const renamed = quake('us1', { aliases: ['usgs:us1', 'usgs:xx1'] })
  take(memory, [quake('xx1'), quake('xx2', { revised_at: null })], [renamed])
  expect(memory).toEqual({
    us1: ['us1', 1, 2, NOON - 600_000, 40, 'earthquake', NOON - 300_000, ['xx1'], 0, 0, null],
    xx2: ['xx2', 1, 2, NOON - 600_000, 40, 'earthquake', null, [], 1, 0, null],
  })
})

test('an event that is back under another id is newer than its retraction', () => {
  const memory: Memory = {}
  const other = quake('other')
  expect(retracted(take(memory, [quake('xx1'), other], [other], [other]))).toEqual(['xx1'])
  const back = quake('us1', { aliases: ['usgs:us1', 'usgs:xx1'] })
  expect(updateMemory(memory, copy(2, [back, other]))).toEqual([other])
  expect(updateMemory(memory, copy(3, [back, other]))[0]).toEqual({ ...back, revised_at: at(3) })
})

test.each([
  ['its own time of revision when that is later', at(9), at(9)],
  ['the time of the copy when it was not revised since', at(-5), at(3)],
  ['the time of the copy when it names none', null, at(3)],
])('an event that is back has %s', (_, revised_at, expected) => {
  const memory: Memory = {}
  take(memory, [quake('xx1')], [], [])
  const [back] = updateMemory(memory, copy(3, [quake('xx1', { revised_at })]))
  expect(back?.revised_at).toBe(expected)
})

test('a copy that does not say when it was generated brings its events', () => {
  const events = [quake('xx1')]
  expect(updateMemory({}, copy(0, events, { generated: 0, complete: false }))).toEqual(events)
})

test('a retraction says of the event what was known of it', () => {
  const memory: Memory = {}
  const known = quake('us1', { aliases: ['usgs:us1', 'usgs:xx1'], url: 'https://x.example/' })
  const [told, ...rest] = take(memory, [known], [], [])
  expect(rest).toEqual([])
  expect(told).toEqual({
    ...known,
    ...{ status: 'retracted', revised_at: at(2) },
    url: 'https://earthquake.usgs.gov/earthquakes/eventpage/us1',
  })
  // Once.
  expect(take(memory, [], [], [])).toEqual([])
  expect(Memory.parse(JSON.parse(JSON.stringify(memory)))).toEqual(memory)
})

test('nothing is retracted by a copy that is cut off, or that names it in another way', () => {
  const one = quake('us1', { aliases: ['usgs:us1', 'usgs:xx1'] })
  const after = (events: NormalisedEvent[], more: Partial<Snapshot> = {}) => {
    const memory: Memory = {}
    take(memory, [one])
    return [1, 2, 3].flatMap((minute) =>
      retracted(updateMemory(memory, copy(minute, events, more))),
    )
  }
  expect(after([])).toEqual(['us1'])
  expect(after([], { complete: false })).toEqual([])
  expect(after([], { unread: ['usgs:us1'] })).toEqual([])
  expect(after([], { unread: ['usgs:xx1'] })).toEqual([])
  expect(after([], { unread: ['usgs:xx2'] })).toEqual(['us1'])
})

test('what the source itself retracts is told as it is, and not remembered', () => {
  const memory: Memory = {}
  const deleted = quake('xx1', { status: 'retracted' })
  expect(take(memory, [quake('xx1')], [deleted])).toEqual([deleted])
  expect(memory).toEqual({})
})

describe('of what is missing', () => {
  test.each([
    [1, 1, 1],
    [3, 3, 3],
    [5, 4, 0],
    [8, 4, 4],
    [9, 5, 0],
    [12, 6, 6],
  ])('of %i events, %i that are missing at once retract %i', (count, missing, gone) => {
    const all = Array.from({ length: count }, (_, n) => quake(`x${n}`))
    const left = all.slice(missing)
    expect(retracted(take({}, all, left, left))).toHaveLength(gone)
  })

  test.each([
    ['hour', 57, []],
    ['hour', 57 - 1 / 60, ['old']],
    ['day', 24 * 60 - 3, []],
    ['day', 24 * 60 - 3 - 1 / 60, ['old']],
  ] as const)(
    'in the window of a %s, what was %f minutes ago may have aged out',
    (window, age, gone) => {
      const memory: Memory = {}
      const old = quake('old', { ts: new Date(NOON - age * 60_000).toISOString() })
      updateMemory(memory, copy(0, [old], { window }))
      expect(updateMemory(memory, copy(0, [], { window }))).toEqual([])
      expect(retracted(updateMemory(memory, copy(0, [], { window })))).toEqual(gone)
    },
  )

  test('the two windows count apart', () => {
    const memory: Memory = {}
    updateMemory(memory, copy(0, [quake('xx1')]))
    updateMemory(memory, copy(0, [quake('xx1')], { window: 'day' }))
    expect(updateMemory(memory, copy(1, []))).toEqual([])
    expect(updateMemory(memory, copy(1, [], { window: 'day' }))).toEqual([])
    expect(retracted(updateMemory(memory, copy(2, [], { window: 'day' })))).toEqual(['xx1'])
  })
})

describe('is forgotten', () => {
  test('what happened more than a day ago', () => {
    const memory: Memory = {}
    const day = new Date(NOON - 24 * HOUR_MS).toISOString()
    const older = new Date(NOON - 24 * HOUR_MS - 1).toISOString()
    updateMemory(memory, copy(0, [quake('day', { ts: day }), quake('older', { ts: older })]))
    expect(Object.keys(memory)).toEqual(['day'])
  })

  test('the oldest of more than 5,000, in whatever order they came', () => {
    const memory: Memory = {}
    const many = Array.from({ length: 5_002 }, (_, n) =>
      quake(`x${n}`, { ts: new Date(NOON - ((n * 7) % 5_002) * 1000).toISOString() }),
    )
    updateMemory(memory, copy(0, many))
    const oldest = Math.min(...Object.values(memory).map((entry) => entry[3]))
    expect([Object.keys(memory).length, oldest]).toEqual([5_000, NOON - 4_999_000])
  })
})
