import type { Feature } from 'geojson'
import { expect, test } from 'vitest'
import { addInPortions, portionsOf } from '../../web/map/portions.ts'
import { showZones } from '../../web/map/shapes.ts'

type Given = Parameters<typeof showZones>
type Diff = { add?: Feature[]; remove?: string[] }

const line = (positions: number): Feature => ({
  type: 'Feature',
  properties: {},
  geometry: { type: 'LineString', coordinates: Array.from({ length: positions }, () => [1, 2]) },
})

/** A map that notes what its sources are given. */
function fakeMap() {
  const diffs: Diff[] = []
  const map = { getSource: () => ({ updateData: async (diff: Diff) => void diffs.push(diff) }) }
  return { diffs, map: map as unknown as Given[0] } // safe: the one method that is used
}
const rest = () => new Promise((done) => setTimeout(done))

function zone(id: string): Given[1][number] {
  const given = { id, label: id, shape_type: 'circle', lat: 1, lon: 2, radius_km: 5, enabled: true }
  return { ...given, coverage: [], snoozed_until: null } as unknown as Given[1][number] // safe: what is drawn
}

test('a portion ends with the feature that fills it, and none is lost', () => {
  const sizes = [5_999, 1, 1, 20_000, 3]
  const portions = [...portionsOf(sizes.map(line))]
  expect(portions.map(({ length }) => length)).toEqual([2, 2, 1])
  expect([...portionsOf([])]).toEqual([])
})

test('features are added one portion after the other, until it is stopped', async () => {
  const { map, diffs } = fakeMap()
  const stop = addInPortions(map, 'any', [6_000, 6_000, 6_000].map(line), { remove: ['old'] })
  await rest()
  expect(diffs.map(({ add, remove }) => add?.length ?? remove)).toEqual([['old'], 1, 1, 1])
  stop()
  const early = fakeMap()
  addInPortions(early.map, 'any', [6_000, 6_000].map(line))()
  await rest()
  // What was taken is added in any case.
  expect(early.diffs).toHaveLength(1)
})

test('a map is given the zones that it does not hold, and those that have changed', async () => {
  const { map, diffs } = fakeMap()
  const held = new Map()
  const [a, b, c] = [zone('a'), zone('b'), zone('c')]
  const idsOf = () =>
    diffs.splice(0).map(({ add, remove }) => add?.map(({ properties }) => properties?.id) ?? remove)
  showZones(map, [a, b], held)
  await rest()
  expect(idsOf()).toEqual([['a', 'b']])
  showZones(map, [a, { ...b }, c], held)
  await rest()
  expect(idsOf()).toEqual([['b', 'c']])
  showZones(map, [a], held)
  await rest()
  expect(idsOf()).toEqual([['b', 'c']])
  expect([...held.keys()]).toEqual(['a'])
})

test('where there are many, circles have fewer corners', async () => {
  const { map, diffs } = fakeMap()
  const many = Array.from({ length: 501 }, (_, nr) => zone(String(nr)))
  const cornersOf = ({ add }: Diff) => {
    const geometry = add?.[0]?.geometry
    return geometry?.type === 'Polygon' ? geometry.coordinates[0]?.length : undefined
  }
  showZones(map, many, new Map())
  showZones(map, many.slice(0, 500), new Map())
  await rest()
  expect(new Set(diffs.map(cornersOf))).toEqual(new Set([33, 73]))
})
