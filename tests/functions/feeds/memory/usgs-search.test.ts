import { describe, expect, test } from 'vitest'
import { usgs } from '../../../../functions/feeds/usgs.ts'
import { type Reply, upstream } from '../../../support/feeds/feeds.ts'
import { quake, summary } from '../../../support/feeds/quakes.ts'

const at = (hour: number, minute = 0) => new Date(Date.UTC(2026, 2, 1, hour, minute)).toISOString()

/** A USGS whose summaries are unchanged; the test answers the search. */
function searched(search: () => Reply) {
  const world = upstream(usgs, (url) =>
    url.pathname.startsWith('/fdsnws/') ? search() : { status: 304 },
  )
  const searches = () => world.asked.filter(({ url }) => url.pathname.startsWith('/fdsnws/'))
  return Object.assign(world, { searches })
}

const found = (...features: unknown[]): Reply => ({ json: summary(features, at(12)) })

describe('the hourly search', () => {
  test('asks once an hour for what was revised since the last one, and for what was deleted', async () => {
    const world = searched(() => found())
    const asked: (Record<string, string> | null)[] = []
    for (const time of [at(12), at(12, 1), at(12, 59), at(13), at(15)]) {
      await world.poll(time)
      const search = world.searches()[0]
      asked.push(search ? Object.fromEntries(search.url.searchParams) : null)
    }
    expect(asked[0]).toEqual({
      format: 'geojson',
      includedeleted: 'true',
      orderby: 'time',
      starttime: '2026-02-28T12:00:00.000Z',
      updatedafter: '2026-03-01T10:55:00.000Z',
      limit: '5000',
      offset: '1',
    })
    expect(asked.map((query) => query?.updatedafter)).toEqual([
      '2026-03-01T10:55:00.000Z',
      undefined,
      undefined,
      '2026-03-01T11:55:00.000Z',
      '2026-03-01T12:55:00.000Z',
    ])
  })

  test('after an outage it looks back up to 7 days, and never before the day of the first poll', async () => {
    const world = searched(() => found())
    await world.poll('2026-03-01T12:00:00.000Z')
    await world.poll('2026-03-20T12:00:00.000Z')
    expect(Object.fromEntries(world.searches()[0]?.url.searchParams ?? [])).toMatchObject({
      starttime: '2026-02-28T12:00:00.000Z',
      updatedafter: '2026-03-13T12:00:00.000Z',
    })
    await world.poll('2026-07-01T12:00:00.000Z')
    expect(world.searches()[0]?.url.searchParams.get('starttime')).toBe('2026-04-02T12:00:00.000Z')
  })

  test('an old event comes in its new revision, a deleted one is retracted', async () => {
    const revised = quake({ id: 'old1', time: Date.parse('2026-02-28T13:00:00Z'), mag: 6.2 })
    const world = searched(() => found(revised, quake({ id: 'old2', status: 'deleted' }), {}))
    const { events, rejected, not_modified } = await world.poll(at(12))
    expect(events.map(({ id, status, severity }) => [id, status, severity])).toEqual([
      ['usgs:old1', 'active', 80],
      ['usgs:old2', 'retracted', 43],
    ])
    expect(rejected).toMatchObject([{ item: '#3' }])
    expect(not_modified).toBe(false)
  })

  test('that finds nothing is no news', async () => {
    const world = searched(() => found())
    expect(await world.poll(at(12))).toMatchObject({ events: [], not_modified: true })
  })

  test('an event in a summary too comes once, in its newest form', async () => {
    const newer = quake({ mag: 5, updated: Date.parse(at(12)) })
    const world = upstream(usgs, (url) =>
      url.pathname.startsWith('/fdsnws/') ? found(newer) : found(quake()),
    )
    const { events } = await world.poll(at(12))
    expect(events.map(({ id, severity }) => [id, severity])).toEqual([['usgs:xx1', 60]])
  })

  test.each([
    ['a failure', { status: 503 }, 5],
    ['a rate limit', { status: 429, headers: { 'retry-after': '900' } }, 15],
    ['a web page', { body: '<html>' }, 5],
    ['other JSON', { json: {} }, 5],
  ])('%s is named and the search repeated from the same place', async (_, reply, minutes) => {
    let answer: Reply = found()
    const world = searched(() => answer)
    await world.poll(at(12))
    answer = reply
    const { rejected } = await world.poll(at(13))
    expect(rejected).toEqual([{ item: 'search', reason: expect.stringContaining('answered') }])
    await world.poll(at(13, minutes - 1))
    expect(world.searches()).toEqual([])
    answer = { status: 204 }
    await world.poll(at(13, minutes))
    expect(world.searches()[0]?.url.searchParams.get('updatedafter')).toBe(at(11, 55))
    await world.poll(at(13, minutes + 59))
    expect(world.searches()).toEqual([])
  })

  test('a full page is followed by the next, and what was found before a failure counts', async () => {
    const pages: Reply[] = [found(...Array.from({ length: 5000 }, () => quake())), { status: 500 }]
    const world = searched(() => pages.shift() ?? found())
    const { events, rejected } = await world.poll(at(12))
    expect(events.map(({ id }) => id)).toEqual(['usgs:xx1'])
    expect(rejected).toEqual([{ item: 'search', reason: 'answered HTTP 500' }])
    expect(world.searches().map(({ url }) => url.searchParams.get('offset'))).toEqual(['1', '5001'])
  })

  test('four full pages are read at once, and what is left out of more is said', async () => {
    const full = found(...Array.from({ length: 5000 }, () => null))
    const world = searched(() => full)
    const { rejected } = await world.poll(at(12))
    expect(world.searches()).toHaveLength(4)
    expect(world.searches().at(-1)?.url.searchParams.get('offset')).toBe('15001')
    expect(rejected.filter(({ item }) => item === 'search')).toEqual([
      ...[
        {
          item: 'search',
          reason: 'features: more than 20000 changed; the oldest were not fetched',
        },
      ],
    ])
  })

  test('is left out while the summaries fail, and a damaged state searches afresh', async () => {
    const world = upstream(usgs, (url) =>
      url.pathname.includes('all_hour') ? { status: 500 } : found(),
    )
    world.state = { search: { due: 'never' } }
    await world.poll(at(12))
    expect(world.asked.map(({ url }) => url.pathname).join()).not.toContain('fdsnws')
    world.answer = () => found(quake())
    await world.poll(at(12, 1))
    expect(world.asked.at(-1)?.url.searchParams.get('updatedafter')).toBe(at(10, 56))
  })
})
