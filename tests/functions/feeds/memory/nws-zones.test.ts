import { describe, expect, test } from 'vitest'
import {
  fetchZones,
  KnownZones,
  locate,
  zonesOf,
} from '../../../../functions/feeds/memory/nws-zones.ts'

const url = (zone: string) => `https://api.weather.gov/zones/${zone}`

describe('the zones of an alert', () => {
  test('are those of its addresses, each once, whatever its codes say', () => {
    const affected = ['forecast/ILZ006', 'fire/ILZ103', 'county/ILC031', 'forecast/ILZ006']
    expect(zonesOf(affected.map(url), ['TXZ001'])).toEqual(affected.slice(0, 3))
  })

  test('or those of its codes, each once', () => {
    expect(zonesOf([url('x')], ['ILZ006', 'ILC031', 'ILZ006'])).toEqual([
      'forecast/ILZ006',
      'county/ILC031',
    ])
  })

  test.each([
    'Forecast/ILZ006',
    'off/ILZ006',
    'longestname/ILZ006',
    'forecast/ILX006',
    'forecast/I1Z006',
    'forecast/ILZ06',
    'forecast/ILZ0061',
    'forecast/ILZ006/x',
  ])('are not at %s', (zone) => {
    expect(zonesOf([url(zone)], [])).toEqual([])
  })

  test.each(['ILX006', 'ILZ06', 'ILZ0061', 'XILZ006', 'ilz006'])('are not %s', (code) => {
    expect(zonesOf([], [code])).toEqual([])
  })
})

test('only zones that were found lie somewhere', () => {
  expect(locate(['a', 'b', 'c'], { a: [1, 2], b: 5 })).toEqual([[1, 2]])
})

describe('asking for zones', () => {
  const now = new Date('2026-03-01T12:00:00Z')
  const HOURS_MS = 6 * 3_600_000
  const asked: string[] = []
  const ask = (
    wanted: string[],
    known: KnownZones,
    answer: (zone: string) => unknown = () => ({
      geometry: { type: 'Point', coordinates: [1.23456, 2] },
    }),
  ) => {
    asked.length = 0
    const fetch: typeof globalThis.fetch = async (address) => {
      const zone = String(address).replace(url(''), '')
      asked.push(zone)
      const said = answer(zone)
      return typeof said === 'number' ? new Response('', { status: said }) : Response.json(said)
    }
    return fetchZones(wanted, known, { state: {}, now, fetch })
  }

  test('asks once for each that is not known, and again when its time has come', async () => {
    const known: KnownZones = { a: [1, 2], b: now.getTime(), c: now.getTime() + 1 }
    const { known: next, failed, is_complete } = await ask(['a', 'b', 'c', 'd', 'd'], known)
    expect(KnownZones.parse(next)).toEqual(next)
    expect(asked).toEqual(['b', 'd'])
    expect(next).toEqual({ a: [1, 2], b: [1.235, 2], c: now.getTime() + 1, d: [1.235, 2] })
    expect([failed, is_complete]).toEqual([[], true])
  })

  test.each([
    ['no geometry', { geometry: null }],
    ['a geometry that is no place', { geometry: { type: 'Point', coordinates: [1, 95] } }],
    ['nothing', {}],
  ])('asks for one with %s again after six hours, and not before', async (_, said) => {
    const { known, failed, is_complete } = await ask(['a'], {}, () => said)
    expect([known, is_complete]).toEqual([{ a: now.getTime() + HOURS_MS }, true])
    expect(failed).toEqual([{ item: 'zones/a', reason: 'geometry: is missing or no place' }])
  })

  test('asks for 20 at once, and says when some are left', async () => {
    const zones = Array.from({ length: 21 }, (_, n) => `forecast/${n}`)
    const first = await ask(zones, {})
    expect([asked.length, first.is_complete]).toEqual([20, false])
    expect((await ask(zones, first.known)).is_complete).toBe(true)
    expect(asked).toEqual(['forecast/20'])
  })

  test.each([
    ['nothing', {}],
    ['no area', { geometry: null }],
    ['no place', { geometry: { type: 'Point', coordinates: [1, 91] } }],
    ['an empty list', { geometry: { geometries: [] } }],
    ['no points', { geometry: { type: 'MultiPoint', coordinates: [] } }],
  ])('one that answers with %s is asked for again after six hours', async (_, answer) => {
    const { known, failed, is_complete } = await ask(['a'], {}, () => answer)
    expect(known).toEqual({ a: now.getTime() + HOURS_MS })
    expect(failed).toEqual([{ item: 'zones/a', reason: 'geometry: is missing or no place' }])
    expect(is_complete).toBe(true)
  })

  test('a refusal of one is no reason to stop, but one to slow down is', async () => {
    const refused = await ask(['a', 'b'], {}, () => 404)
    const later = now.getTime() + HOURS_MS
    expect([asked, refused.known]).toEqual([['a', 'b'], { a: later, b: later }])
    const slow = await ask(['a', 'b'], {}, () => 429)
    expect([asked, slow.known, slow.is_complete]).toEqual([['a'], {}, false])
  })

  test('asks for GeoJSON, and for the rest later when the service cannot be reached', async () => {
    const accepted: (string | null)[] = []
    const fetch: typeof globalThis.fetch = async (_, init) => {
      accepted.push(new Headers(init?.headers).get('accept'))
      throw new TypeError('reset')
    }
    const { known, failed, is_complete } = await fetchZones(
      ['a', 'b'],
      {},
      { state: {}, now, fetch },
    )
    expect(accepted).toEqual(['application/geo+json'])
    expect([known, is_complete]).toEqual([{}, false])
    expect(failed).toEqual([{ item: 'zones/a', reason: 'api.weather.gov cannot be reached' }])
  })

  test('of several parts the first is where it lies', async () => {
    const geometries = [
      { type: 'Point', coordinates: [1.0006, -2.0004] },
      { type: 'Point', coordinates: [5, 6] },
    ]
    const { known } = await ask(['a'], {}, () => ({ geometry: { geometries } }))
    expect(known).toEqual({ a: [1.001, -2] })
  })

  test('remembers 4,000, those that are wanted first', async () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`z${n}`, [n % 90, 1]]))
    const kept = async (count: number) =>
      Object.keys((await ask(['wanted'], { ...many(count), wanted: [1, 2] } as KnownZones)).known)
    expect((await kept(3_999)).length).toBe(4_000)
    const [first, ...others] = await kept(4_000)
    expect([first, others.length, others.at(-1)]).toEqual(['wanted', 3_999, 'z3998'])
  })
})
