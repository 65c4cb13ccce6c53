import { describe, expect, test } from 'vitest'
import { geonet } from '../../../functions/feeds/geonet.ts'
import type { NormalisedEvent } from '../../../shared/schemas/event.ts'
import {
  describeRecordings,
  expectHarmless,
  expectRobust,
  normalise,
  recording,
  upstream,
} from '../../support/feeds/feeds.ts'

function feature(over: Record<string, unknown> = {}) {
  const { at = [-178.5090332, -31.21129036], ...properties } = over
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: at },
    properties: {
      publicID: '2026p550078',
      time: '2026-03-01T11:41:45.724Z',
      depth: 23.02216911,
      magnitude: 4.214204175,
      mmi: 3,
      locality: '10 km south-west of Dannevirke',
      quality: 'best',
      ...properties,
    },
  }
}

const answer = (...features: unknown[]) => ({ type: 'FeatureCollection', features })

async function event(over: Record<string, unknown> = {}): Promise<NormalisedEvent> {
  const { events, rejected } = await normalise(geonet, JSON.stringify(answer(feature(over))))
  if (!events[0]) throw new Error(rejected[0]?.reason)
  return events[0]
}

describe('a feature becomes an event', () => {
  test('with every field of the canonical form, east or west of the antimeridian', async () => {
    expect(await event()).toEqual({
      id: 'geonet:2026p550078',
      source: 'geonet',
      type: 'earthquake',
      title: 'M 4.2 - 10 km south-west of Dannevirke',
      lat: -31.21129036,
      lon: -178.5090332,
      ts: '2026-03-01T11:41:45.724Z',
      severity: 46,
      subject: null,
      status: 'active',
      url: 'https://www.geonet.org.nz/earthquake/2026p550078',
      geometry: null,
      ends_at: null,
      magnitude: 4.214204175,
      depth_km: 23.02216911,
      revised_at: null,
      aliases: [],
    })
    expect((await event({ at: [178.9, -37] })).lon).toBe(178.9)
  })

  test.each([
    [1.2, -1, 0],
    [1.2, 2, 20],
    [5, 5, 60],
    [5, 8, 80],
    [5, 12, 100],
    [null, null, 0],
    [null, 4, 40],
    [9, -1, 100],
  ])('magnitude %s and shaking %s have severity %i', async (magnitude, mmi, severity) => {
    expect((await event({ magnitude, mmi })).severity).toBe(severity)
  })

  test('a deleted earthquake is retracted, any other quality is active', async () => {
    expect((await event({ quality: 'deleted' })).status).toBe('retracted')
    for (const quality of ['best', 'preliminary', 'automatic', 'caution', 'new word', null]) {
      expect((await event({ quality })).status).toBe('active')
    }
  })

  test('what is unknown is left out', async () => {
    const unknown = { magnitude: null, locality: null, depth: null }
    expect(await event(unknown)).toMatchObject({
      title: 'Magnitude unknown - -31.21, -178.51',
      magnitude: null,
      depth_km: null,
    })
  })

  test.each([
    [{ at: [0, 91] }, 'lat'],
    [{ at: [181, 0] }, 'lon'],
    [{ at: [null, 0] }, 'coordinates'],
    [{ time: '2026-03-01' }, 'ts'],
    [{ time: null }, 'time'],
    [{ publicID: '' }, 'publicID'],
    [{ magnitude: 'big' }, 'magnitude'],
    [{ mmi: 'x' }, 'mmi'],
  ])('%j is rejected, and the reason names the field', async (over, field) => {
    const { events, rejected } = await normalise(geonet, JSON.stringify(answer(feature(over))))
    expect(events).toEqual([])
    expect(rejected).toEqual([
      { item: 'publicID' in over ? '#1' : '2026p550078', reason: expect.stringContaining(field) },
    ])
  })
})

test('one alone is read like one of a list, and a place of spaces is none', async () => {
  const { events } = await normalise(geonet, JSON.stringify(feature({ locality: '  ' })))
  expect(events).toMatchObject([{ title: expect.stringMatching(/ - -?[\d.]+, -?[\d.]+$/) }])
})

describe('polling', () => {
  const at = (minute: number) => `2026-03-01T12:0${minute}:00.000Z`
  const old = feature({ publicID: 'old', time: '2026-03-01T10:00:00.000Z' })
  const middle = feature({ publicID: 'middle' })
  const young = feature({ publicID: 'young', time: '2026-03-01T11:59:00.000Z' })

  test('asks for GeoJSON of version 2 with its validators; a 304 changes nothing', async () => {
    const world = upstream(geonet, () => ({ json: answer(old), headers: { etag: '"a"' } }))
    expect(await world.poll(at(0))).toMatchObject({ not_modified: false })
    expect(world.asked[0]?.headers.get('accept')).toBe('application/vnd.geo+json;version=2')
    const { state } = world
    world.answer = () => ({ status: 304, headers: { 'cache-control': 'max-age=90' } })
    const quiet = await world.poll(at(1))
    expect(quiet).toMatchObject({ not_modified: true, events: [], state, next_poll_seconds: 90 })
    expect(world.asked[0]?.headers.get('if-none-match')).toBe('"a"')
  })

  test('an earthquake that two lists in a row lack is retracted; it may come back', async () => {
    const world = upstream(geonet, () => ({ json: answer(young, middle, old) }))
    await world.poll(at(0))
    world.answer = () => ({ json: answer(young, old) })
    expect((await world.poll(at(1))).events).toHaveLength(2)
    const { events } = await world.poll(at(2))
    expect(events.map(({ id, status }) => [id, status])).toEqual([
      ['geonet:young', 'active'],
      ['geonet:old', 'active'],
      ['geonet:middle', 'retracted'],
    ])
    world.answer = () => ({ json: answer(young, middle, old) })
    expect((await world.poll(at(3))).events).toContainEqual(
      expect.objectContaining({ id: 'geonet:middle', status: 'active' }),
    )
  })

  test('what leaves the end of the list, or cannot be read, is not retracted', async () => {
    const world = upstream(geonet, () => ({ json: answer(young, middle, old) }))
    await world.poll(at(0))
    const unreadable = feature({ publicID: 'young', time: null })
    world.answer = () => ({ json: answer(unreadable, middle) })
    for (const minute of [1, 2, 3]) {
      const { events, rejected } = await world.poll(at(minute))
      expect(events.map(({ id }) => id)).toEqual(['geonet:middle'])
      expect(rejected).toHaveLength(1)
    }
  })

  test('an empty list retracts nothing', async () => {
    const world = upstream(geonet, () => ({ json: answer(young, old) }))
    await world.poll(at(0))
    world.answer = () => ({ json: answer() })
    for (const minute of [1, 2, 3]) expect((await world.poll(at(minute))).events).toEqual([])
  })

  test.each([
    [
      'a rate limit',
      { status: 429, headers: { 'retry-after': '90' } },
      { retry_after_seconds: 90 },
    ],
    ['a failure', { status: 503 }, { status: 503 }],
    ['a web page', { body: '<html>' }, { code: 'not_json' }],
    ['an empty body', { body: '' }, { code: 'not_json' }],
    ['a cut body', { body: '{"features":[' }, { code: 'not_json' }],
    ['other JSON', { json: [] }, { code: 'not_json' }],
  ])('%s is a FeedError, and the state is kept', async (_, reply, error) => {
    const world = upstream(geonet, () => ({ json: answer(young, old) }))
    await world.poll(at(0))
    const { state } = world
    world.answer = () => reply
    await expect(world.poll(at(1))).rejects.toMatchObject(error)
    expect(world.state).toEqual(state)
  })

  test('a damaged state starts afresh', async () => {
    const world = upstream(geonet, () => ({ json: answer(old) }))
    world.state = { validators: 1, known: { x: null } }
    expect((await world.poll(at(0))).events).toHaveLength(1)
  })
})

describe('broken answers', () => {
  test('do no harm', async () => {
    await expectHarmless(geonet, JSON.stringify(answer(feature(), feature({ magnitude: null }))))
    await expectRobust(geonet, answer(feature(), feature()))
  })
})

describeRecordings('recorded answers', () => {
  test('94 earthquakes around New Zealand', async () => {
    const { events, rejected } = await normalise(
      geonet,
      recording('geonet/quake-mmi-1-2019-07-23.json'),
    )
    expect([events.length, rejected]).toEqual([94, []])
    expect(new Set(events.map(({ id }) => id)).size).toBe(94)
    expect(Math.max(...events.map(({ severity }) => severity))).toBe(65)
  })
})
