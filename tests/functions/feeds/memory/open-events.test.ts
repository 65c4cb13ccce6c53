import { describe, expect, test } from 'vitest'
import {
  closeMissing,
  type OpenEvents,
  retractMissing,
} from '../../../../functions/feeds/memory/open-events.ts'
import type { NormalisedEvent } from '../../../../shared/schemas/event.ts'

const since = '2026-03-01T00:00:00.000Z'

function event(id: string, over: Partial<NormalisedEvent> = {}): NormalisedEvent {
  return {
    id: `x:${id}`,
    source: 'x',
    type: 'storm',
    title: id,
    lat: 1,
    lon: 2,
    ts: '2026-03-01T11:00:00.000Z',
    severity: 50,
    subject: null,
    status: 'active',
    url: null,
    geometry: null,
    ends_at: null,
    revised_at: '2026-03-01T11:30:00.000Z',
    aliases: [],
    ...over,
  }
}

const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map((id) => event(id)) as [
  NormalisedEvent,
  NormalisedEvent,
  NormalisedEvent,
  NormalisedEvent,
  NormalisedEvent,
]

describe('closeMissing', () => {
  test('ends an event that two answers in a row lack, so that it can come back as it was', () => {
    const first = closeMissing({}, [a, b])
    const second = closeMissing(first.open, [b])
    expect(second.ended).toEqual([])
    const third = closeMissing(second.open, [b])
    expect(third.ended).toEqual([{ ...a, status: 'ended' }])
    expect(Object.keys(third.open)).toEqual(['x:b'])
  })

  test('one that is back, or that could not be read, is not missing', () => {
    let { open } = closeMissing({}, [a, b])
    for (const [present, unread] of [
      [[b], []],
      [[b], ['x:a']],
      [[b], []],
      [[a, b], []],
      [[b], []],
    ] as [NormalisedEvent[], string[]][]) {
      const result = closeMissing(open, present, { unread })
      expect(result.ended).toEqual([])
      open = result.open
    }
  })

  test('what has ended is no longer open, and an end without times has none', () => {
    const { open } = closeMissing({}, [a, event('b', { revised_at: null })])
    const next = closeMissing(open, [{ ...a, status: 'ended' }])
    expect(Object.keys(next.open)).toEqual(['x:b'])
    expect(closeMissing(next.open, []).ended).toMatchObject([{ revised_at: null }])
  })

  test('when most are missing at once, none is ended however often', () => {
    let { open } = closeMissing({}, [a, b, c, d, e])
    for (let n = 0; n < 4; n++) {
      const result = closeMissing(open, [e])
      expect(result.ended).toEqual([])
      open = result.open
    }
    const next = closeMissing(open, [d, e])
    const { open: left, ended } = closeMissing(next.open, [d, e])
    expect(Object.keys(left).sort()).toEqual(['x:d', 'x:e'])
    expect(ended.map(({ id }) => id)).toEqual(['x:a', 'x:b', 'x:c'])
  })

  test('half of many may end at once', () => {
    const many = Array.from({ length: 8 }, (_, n) => event(`n${n}`))
    const { open } = closeMissing({}, many)
    const next = closeMissing(open, many.slice(4))
    expect(closeMissing(next.open, many.slice(4)).ended).toHaveLength(4)
    // What could not be read is not one of those that are missing.
    const unread = ['x:n4', 'x:n5']
    const partly = closeMissing(open, many.slice(6), { unread })
    const ended = closeMissing(partly.open, many.slice(6), { unread }).ended
    expect(ended.map(({ id }) => id)).toEqual(['x:n0', 'x:n1', 'x:n2', 'x:n3'])
    const more = closeMissing(open, many.slice(5))
    expect(closeMissing(more.open, many.slice(5)).ended).toEqual([])
  })
})

describe('retractMissing', () => {
  test('retracts an event that two answers in a row lack, so that it can come back as it was', () => {
    let known: OpenEvents = {}
    const retracted: NormalisedEvent[] = []
    for (const present of [[a, b], [b], [b], [b]]) {
      const result = retractMissing(known, present, { since })
      known = result.known
      retracted.push(...result.retracted)
    }
    expect(retracted).toEqual([{ ...a, status: 'retracted' }])
  })

  test('what is too old has left the window, and what is retracted is not watched', () => {
    const old = event('old', { ts: since })
    const gone = event('gone', { status: 'retracted' })
    const { known } = retractMissing({}, [a, old, gone], { since })
    expect(Object.keys(known)).toEqual(['x:a'])
    const later = retractMissing(known, [], { since: a.ts })
    expect(later).toEqual({ known: {}, retracted: [] })
  })

  test('when most are missing at once, none is retracted', () => {
    let { known } = retractMissing({}, [a, b, c, d, e], { since })
    for (let n = 0; n < 3; n++) {
      const result = retractMissing(known, [e], { since })
      expect(result.retracted).toEqual([])
      known = result.known
    }
  })
})
