/** How messages about the same warning are followed from one to the next. */
import { describe, expect, test } from 'vitest'
import {
  AlertMemory,
  followMessages,
  hash,
  type Message,
} from '../../../../functions/feeds/memory/alert-memory.ts'
import type { NormalisedEvent } from '../../../../shared/schemas/event.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const at = (minute: number) => new Date(NOW + minute * 60_000).toISOString()
const ids = (names: string[]) => names.map((name) => `nws:${name}`)

/** A message that describes a warning, and follows others. */
function says(
  name: string,
  minute: number,
  given: Partial<NormalisedEvent> = {},
  refers = '',
): Message {
  const event: NormalisedEvent = {
    ...{ id: `nws:${name}`, source: 'nws', type: 'weather', title: name, lat: 1, lon: 2 },
    ...{ ts: at(0), severity: 30, subject: null, status: 'active', url: null, geometry: null },
    ...{ ends_at: at(600), revised_at: at(minute), aliases: [], ...given },
  }
  return { name, references: refers.split(' ').filter(Boolean), sent_at: at(minute), event }
}
const ends = (name: string, minute: number, refers: string): Message => ({
  ...says(name, minute, {}, refers),
  event: null,
})

/** Takes one answer after the other; each may list everything that stands. */
function follower(settings: { listing?: boolean } = {}) {
  let memory = AlertMemory.parse({})
  const take = (minute: number, messages: Message[], unread: string[] = []) => {
    const listing = settings.listing ? { listing: { unread } } : {}
    const now = new Date(NOW + minute * 60_000)
    const followed = followMessages(memory, messages, { now, prefix: 'nws:', ...listing })
    memory = followed.memory
    return followed
  }
  return Object.assign(take, { memory: () => memory })
}

describe('a message that refers to others', () => {
  test('continues the oldest warning under its id and ends the others, in the order they were sent', () => {
    const take = follower()
    take(2, [says('b', 2), says('a', 1)])
    const { events } = take(3, [says('d', 4, {}, 'c'), says('c', 3, {}, 'b a')])
    expect(events).toMatchObject([
      { id: 'nws:b', status: 'ended', title: 'b', revised_at: at(3) },
      { id: 'nws:a', status: 'active', title: 'd', aliases: ids(['d', 'a']) },
    ])
    expect(Object.keys(take.memory().open)).toEqual(['nws:a'])
  })

  test('continues the one that was opened first, however late it was revised, or its own', () => {
    const take = follower()
    take(2, [says('a', 1), says('b', 2)])
    take(3, [says('a2', 3, {}, 'a')])
    const [ended, going] = take(4, [says('c', 4, {}, 'b a2')]).events
    expect([ended?.id, going?.id].sort()).toEqual(ids(['a', 'b']))
    expect(Object.keys(take.memory().open)).toEqual(ids(['a']))
    take(6, [says('d', 5)])
    take(7, [says('d', 7, {}, 'c')])
    expect(Object.keys(take.memory().open)).toEqual(ids(['d']))
  })

  test('is known by the last six names of its chain', () => {
    const endAfter = (refers: string) => {
      const take = follower()
      take(0, [says('m0', 0)])
      for (let n = 1; n < 7; n++) take(n, [says(`m${n}`, n, {}, `m${n - 1}`)])
      return take(9, [ends('end', 9, refers)])
    }
    expect(endAfter('m1').events).toMatchObject([{ id: 'nws:m0', status: 'ended' }])
    const { events, rejected } = endAfter('m0')
    expect(events).toEqual([])
    expect(rejected).toMatchObject([{ item: 'end', reason: expect.stringContaining('not known') }])
  })

  test('names those that it does not know as its aliases, unless they are over; twenty at most', () => {
    const take = follower()
    take(1, [says('over', 0)])
    take(2, [ends('end', 2, 'over')])
    const { events } = take(3, [says('a', 3, {}, 'lost over')])
    expect(events).toMatchObject([{ id: 'nws:a', aliases: ids(['a', 'lost']) }])
    const many = Array.from({ length: 30 }, (_, n) => `x${n}`)
    const [found] = take(4, [says('b', 4, {}, many.join(' '))]).events
    expect(found?.aliases).toEqual(ids(['b', ...many.slice(0, 19)]))
  })

  test('by its hazard alone continues the only warning of it, but none that another message is about', () => {
    const subject = 'vtec:1'
    const take = follower()
    take(0, [says('a', 0, { subject })])
    const vague = (name: string, minute: number) => ({
      ...says(name, minute, { subject }),
      subject,
    })
    expect(take(1, [vague('b', 1)]).events).toMatchObject([{ id: 'nws:a', title: 'b' }])
    const { events } = take(2, [says('c', 2, { subject }, 'b'), vague('d', 3)])
    expect(events.map(({ id }) => id)).toEqual(ids(['a', 'd']))
    // Now there are two of it.
    expect(take(4, [vague('e', 4)]).events).toMatchObject([{ id: 'nws:e' }])
  })
})

test.each(['a b c', 'c b a', 'b a c'])(
  'of those in "%s" the one opened first goes on',
  (refers) => {
    const take = follower()
    take(3, [says('a', 1), says('b', 2), says('c', 3)])
    const { events } = take(4, [says('d', 4, {}, refers)])
    expect(events.filter(({ status }) => status === 'active')).toMatchObject([{ id: 'nws:a' }])
    expect(Object.keys(take.memory().open)).toEqual(ids(['a']))
  },
)

test('a message that comes again in a new form keeps the names of its chain', () => {
  const take = follower()
  take(0, [says('a', 0)])
  take(1, [says('b', 1, {}, 'a')])
  expect(take(2, [says('b', 2)]).events).toMatchObject([{ id: 'nws:a', aliases: ids(['b', 'a']) }])
  expect(take(3, [ends('c', 3, 'a')]).events).toMatchObject([{ id: 'nws:a', status: 'ended' }])
})

test('what goes on from a warning that is over begins anew', () => {
  const take = follower()
  const { events } = take(2, [says('a', 0), ends('x', 1, 'a'), says('b', 2, {}, 'a')])
  expect(events).toMatchObject([{ id: 'nws:b', aliases: ids(['b']) }])
})

describe('by its hazard', () => {
  const of = (name: string, minute: number, subject: string, refers = '') => ({
    ...says(name, minute, { subject }, refers),
    subject,
  })

  test('a message continues a warning of the same one only', () => {
    const take = follower()
    take(0, [says('a', 0, { subject: 'vtec:1' }), says('b', 0, { subject: 'vtec:2' })])
    expect(take(1, [of('c', 1, 'vtec:1')]).events).toMatchObject([{ id: 'nws:a', title: 'c' }])
    expect(take(2, [of('d', 2, 'vtec:3')]).events).toMatchObject([{ id: 'nws:d' }])
  })

  test('a message that names others does not go on from any', () => {
    const take = follower()
    take(0, [says('a', 0, { subject: 'vtec:1' })])
    expect(take(1, [of('b', 1, 'vtec:1', 'lost')]).events).toMatchObject([
      { id: 'nws:b', aliases: ids(['b', 'lost']) },
    ])
  })
})

describe('the end of a warning', () => {
  test('of several is told of the oldest with the last message, of the others as they were', () => {
    const take = follower()
    take(1, [says('a', 0), says('b', 1)])
    const last = says('c', 2, { status: 'ended', title: 'It is over' }, 'b a')
    const { events } = take(2, [last])
    expect(events.map(({ id, title, status }) => [id, title, status]).sort()).toEqual([
      ['nws:a', 'It is over', 'ended'],
      ['nws:b', 'b', 'ended'],
    ])
  })

  test('under its own name counts, however old it is', () => {
    const take = follower()
    take(5, [says('a', 5)])
    expect(take(6, [ends('a', 4, '')]).events).toMatchObject([
      { id: 'nws:a', status: 'ended', revised_at: at(5) },
    ])
  })

  test('is told as the warning was last known', () => {
    const take = follower()
    const geometry = { type: 'Point' as const, coordinates: [2, 1] }
    const { event } = says('a', 0, { geometry, subject: 'vtec:1', url: 'https://example.org/a' })
    take(0, [{ ...says('a', 0), event }])
    expect(take(1, [ends('b', 1, 'a')]).events).toEqual([
      { ...event, status: 'ended', revised_at: at(1), aliases: ids(['a']) },
    ])
  })

  test('that nobody has heard of is told to nobody', () => {
    const take = follower()
    const { events, rejected } = take(2, [says('a', 0), ends('b', 1, 'a')])
    expect([events, rejected]).toEqual([[], []])
    expect(take.memory().open).toEqual({})
  })

  test('is told with what its last message says, and an old copy does not open it again', () => {
    const take = follower()
    take(0, [says('a', 0)])
    const last = says('b', 1, { status: 'ended', title: 'It is over' }, 'a')
    expect(take(1, [last]).events).toMatchObject([
      { id: 'nws:a', status: 'ended', title: 'It is over', revised_at: at(1) },
    ])
    for (const copy of [says('a', 0), says('b', 1, {}, 'a')]) {
      expect(take(2, [copy])).toMatchObject({ events: [], rejected: [] })
    }
    expect(take.memory().open).toEqual({})
    // That it is over is known, so nothing is wrong with an end that comes again.
    expect(take(3, [ends('b', 1, 'a')]).rejected).toEqual([])
  })

  test('of one that was never open is told as it is', () => {
    const { events } = follower()(1, [says('a', 0, { status: 'ended' })])
    expect(events).toMatchObject([{ id: 'nws:a', status: 'ended' }])
  })

  test('is found again by the next version, under the short name that is stored', () => {
    expect(['', 'a', 'urn:oid:2.49.0.1.840.0.1'].map(hash)).toEqual([
      ...['wvjl67o803', '262p94epp1d', '1gegr3i6ddg'],
    ])
  })

  test('is remembered for seven days', () => {
    const take = follower()
    take(0, [says('a', 0)])
    take(0, [ends('b', 0, 'a')])
    const minutes = 7 * 24 * 60
    take(minutes - 1, [])
    expect(Object.keys(take.memory().closed).sort()).toEqual([hash('a'), hash('b')].sort())
    take(minutes, [])
    expect(take.memory().closed).toEqual({})
  })

  test('comes by its own time without a word', () => {
    const take = follower()
    take(0, [says('a', 0, { ends_at: at(10) })])
    take(9, [])
    expect(Object.keys(take.memory().open)).toEqual(ids(['a']))
    expect(take(10, []).events).toEqual([])
    expect(take.memory().open).toEqual({})
  })
})

test('a copy that is older than what is known changes nothing', () => {
  const take = follower()
  take(5, [says('a', 5, { title: 'new' })])
  expect(take(6, [says('a', 4, { title: 'old' })]).events).toEqual([])
  expect(take(7, [says('a', 5, { title: 'same' })]).events).toMatchObject([{ title: 'same' }])
})

describe('where everything that stands is listed', () => {
  test('a warning that is missing twice has ended, and may come back', () => {
    const take = follower({ listing: true })
    const [a, b] = [says('a', 0), says('b', 0)]
    take(0, [a, b])
    expect(take(1, [b]).events).toMatchObject([{ id: 'nws:b' }])
    const { events } = take(2, [b])
    expect(events).toMatchObject([
      { id: 'nws:b' },
      { id: 'nws:a', status: 'ended', title: 'a', revised_at: at(2) },
    ])
    const back = take(3, [a, b]).events.filter(({ id }) => id === 'nws:a')
    // What comes back must not lose against its end.
    expect(back).toMatchObject([{ status: 'active', revised_at: at(3) }])
    expect(take.memory().closed).toEqual({})
    const again = take(4, [a, b])
    expect(again.events.map(({ id }) => id)).toEqual(ids(['b']))
  })

  test('one without an end may be missing, and what refers to it later names it', () => {
    const take = follower({ listing: true })
    const [a, b] = [says('a', 0, { ends_at: null, revised_at: null }), says('b', 0)]
    take(0, [a, b])
    take(1, [b])
    expect(take(2, [b]).events.map(({ id }) => id)).toEqual(ids(['b', 'a']))
    // It may come back, so it is not over for good.
    const { events } = take(3, [b, says('c', 3, {}, 'a')])
    expect(events.at(-1)).toMatchObject({ id: 'nws:c', aliases: ids(['c', 'a']) })
  })

  test('one that was seen or could not be read is not missing', () => {
    const take = follower({ listing: true })
    const [a, b] = [says('a', 0), says('b', 0)]
    take(0, [a, b])
    take(1, [b])
    expect(take(2, [b], ['a']).events.map(({ id }) => id)).toEqual(ids(['b']))
    expect(take(3, [b]).events.map(({ id }) => id)).toEqual(ids(['b']))
    take(4, [says('a', -1), b])
    expect(take(5, [b]).events.map(({ id }) => id)).toEqual(ids(['b']))
    expect(take(6, [b]).events).toHaveLength(2)
  })

  test.each([
    [8, 4, 4],
    [8, 5, 0],
    [5, 3, 3],
    [5, 4, 0],
  ])('of %i warnings %i that are missing at once end %i', (count, missing, ended) => {
    const take = follower({ listing: true })
    const all = Array.from({ length: count }, (_, n) => says(`m${n}`, 0))
    // What is over by its time stands no longer, so it is not missing.
    take(0, [...all, ...[1, 2, 3].map((n) => says(`short${n}`, 0, { ends_at: at(1) }))])
    take(1, all.slice(missing))
    const { events } = take(2, all.slice(missing))
    expect(events.filter(({ status }) => status === 'ended')).toHaveLength(ended)
  })
})
