import { describe, expect, test } from 'vitest'
import { toEvent } from '../../../../functions/feeds/feed.ts'
import type { Assessed } from '../../../../functions/feeds/formats/gdacs-item.ts'
import {
  areasOf,
  type Footprints,
  fetchFootprints,
} from '../../../../functions/feeds/memory/gdacs-footprints.ts'

const now = new Date('2026-03-01T12:00:00Z')
const polygon = (corners: number) => ({
  type: 'Polygon' as const,
  coordinates: [
    Array.from({ length: corners + 1 }, (_, n) => {
      const angle = (2 * Math.PI * (n % corners)) / corners
      return [
        Math.round(4e5 * Math.cos(angle)) / 1e4 + 0,
        Math.round(4e5 * Math.sin(angle)) / 1e4 + 0,
      ]
    }),
  ],
})
const area = (geometry: unknown = polygon(4), Class: unknown = 'Poly_Affected') => ({
  properties: { Class },
  geometry,
})

type Over = { type?: string; episode?: string; severity?: number; status?: 'active' | 'ended' }

function flood(number: string, over: Over = {}): Assessed {
  const { type = 'FL', episode = '1', severity = 60, status = 'active' } = over
  const made = toEvent(
    {
      ...{ id: `gdacs:${type}${number}`, source: 'gdacs', type: 'flood', title: 'A flood' },
      ...{ lat: 1, lon: 2, ts: now.toISOString(), severity, status },
    },
    number,
  )
  if ('rejected' in made) throw new Error(made.rejected.reason)
  return { ...made, type, number, episode }
}

const asked: string[] = []
function ask(events: Assessed[], known: Footprints = {}, answer: unknown = { features: [area()] }) {
  asked.length = 0
  const fetch: typeof globalThis.fetch = async (url) => {
    asked.push(new URL(String(url)).search)
    return typeof answer === 'number'
      ? new Response(null, { status: answer })
      : Response.json(answer)
  }
  return fetchFootprints(events, known, { state: {}, now, fetch })
}

test('the areas of an answer are those of the classes of polygons', () => {
  const others = [area(2, 'Point_Centroid'), area(3, 'No_Poly_X'), area(4, 7), null, {}]
  expect(areasOf([area('a'), area('b', 'poly_green'), ...others])).toEqual(['a', 'b'])
})

describe('the footprint of an event', () => {
  test.each<[string, Over, number]>([
    ['orange', {}, 1],
    ['below orange', { severity: 59 }, 0],
    ['over', { status: 'ended' }, 0],
    ['an earthquake', { type: 'EQ' }, 0],
    ['a storm', { type: 'TC' }, 1],
    ['of an episode that is known', { episode: '7' }, 0],
  ])('that is %s', async (_, over, count) => {
    const event = flood('1', over)
    const known = { 'gdacs:FL1': { episode: '7', geometry: null } }
    const { footprints, rejected } = await ask([event], known)
    expect([asked.length, rejected]).toEqual([count, []])
    if (count === 0) return expect(footprints).toEqual(known)
    expect(asked).toEqual([`?eventtype=${event.type}&eventid=1&episodeid=1`])
    expect(footprints[event.event.id]).toEqual({ episode: '1', geometry: polygon(4) })
  })

  test('is asked for of two events each time', async () => {
    const { footprints } = await ask([flood('1'), flood('2'), flood('3')])
    expect(Object.keys(footprints)).toEqual(['gdacs:FL1', 'gdacs:FL2'])
  })

  test('that has no area is none, without a reason', async () => {
    const { footprints, rejected } = await ask([flood('1')], {}, { features: [area(1, 'Point')] })
    expect(footprints).toEqual({ 'gdacs:FL1': { episode: '1', geometry: null } })
    expect(rejected).toEqual([])
  })

  test.each([
    ['no collection', { areas: [] }, 'features: no FeatureCollection'],
    ['no area at all', { features: [area({ type: 'Point' })] }, 'geometry.type: '],
  ])('that is %s is none, and the reason is said', async (_, answer, reason) => {
    const { footprints, rejected } = await ask([flood('1')], {}, answer)
    expect(footprints).toEqual({ 'gdacs:FL1': { episode: '1', geometry: null } })
    expect(rejected).toEqual([{ item: 'FL1 footprint', reason: expect.stringContaining(reason) }])
  })

  test.each([304, 500, 429])('stays as it was after HTTP %i', async (status) => {
    const known = { 'gdacs:FL1': { episode: '0', geometry: polygon(4) } }
    const { footprints, rejected } = await ask([flood('1'), flood('2')], known, status)
    expect(footprints).toEqual(known)
    // What fails ends the round; what is unchanged does not.
    expect(asked).toHaveLength(status === 304 ? 2 : 1)
    expect(rejected).toHaveLength(status === 304 ? 0 : 1)
  })

  test('is kept up to 30,000 vertices of all together, without that of the episode before', async () => {
    const others = (count: number): Footprints => ({
      'gdacs:FL7': { episode: '1', geometry: polygon(count - 1) },
      'gdacs:FL8': { episode: '1', geometry: null },
      'gdacs:FL1': { episode: '0', geometry: polygon(9_000) },
    })
    const kept = await ask([flood('1')], others(29_995))
    expect(kept.footprints['gdacs:FL1']).toEqual({ episode: '1', geometry: polygon(4) })
    const { footprints, rejected } = await ask([flood('1')], others(29_996))
    expect(footprints['gdacs:FL1']).toEqual({ episode: '1', geometry: null })
    expect(rejected).toEqual([
      {
        item: 'FL1 footprint',
        reason: 'geometry: with it all footprints have 30001 vertices, more than 30000',
      },
    ])
  })
})
