import { describe, expect, test } from 'vitest'
import type { ZonePolygon } from '../../../shared/geometry/polygon.ts'
import { findCrossing, toRing } from '../../../shared/geometry/ring.ts'
import { runToEnd, type Steps, TooMuchWork } from '../../../shared/geometry/steps.ts'
import { checkShapeInSteps, MAX_PAIRS } from '../../../shared/schemas/zone-shape.ts'
import { coast, diagonals, star } from '../../support/attacks/expensive.ts'

/** counted runs a computation and counts its work, all of it and in its largest step. */
function counted<T>(steps: Steps<T>) {
  let [units, largest] = [0, 0]
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return { value: step.value, units, largest }
    units += step.value
    largest = Math.max(largest, step.value)
  }
}

const codes = (polygon: ZonePolygon) => {
  const { value, ...work } = counted(checkShapeInSteps(polygon))
  return { ...work, codes: value.map(({ code }) => code) }
}

/** What comes before any pair is compared. */
const layout = (vertices: number, rings: number) => 10 * vertices + 40 * rings

const shifted = ({ coordinates }: { coordinates: number[][][] }, by: number) =>
  coordinates.map((ring) => ring.map(([lon = 0, lat = 0]) => [lon + by, lat]))

describe('pairs of edges compared', () => {
  test('an outline as maps have them needs few, up to the most vertices', () => {
    const { units, codes: found } = codes(coast(9999))
    expect(found).toEqual([])
    expect(units).toBeLessThan(4 * 10_000 + layout(10_000, 1))
  })

  test('9,988 near-parallel diagonals are given up with the way out', () => {
    const { units, largest, codes: found } = codes(diagonals(9988))
    expect(found).toEqual(['too_tangled'])
    expect(units).toBeLessThanOrEqual(MAX_PAIRS + layout(10_000, 1))
    // Nobody waits for longer than it takes to index them.
    expect(largest).toBeLessThanOrEqual(layout(10_000, 1))
  })

  test('2,000 of them are compared to the end, each two once', () => {
    const { units, codes: found } = codes(diagonals(2000))
    expect(found).toEqual([])
    expect(units).toBeGreaterThan(1_900_000)
  })

  test('what crosses is found as soon as it is met', () => {
    const [outline = []] = star(2000).coordinates
    const crossed = outline.with(10, outline[12] ?? []).with(12, outline[10] ?? [])
    const { value, units } = counted(findCrossing(toRing(crossed)))
    expect(value).not.toBeNull()
    expect(units).toBeLessThan(30_000)
  })

  test('holes and parts have no budget of their own', () => {
    const one = diagonals(1800)
    const rings = [-120, -60, 0, 60].flatMap((by) => shifted(one, by))
    const asHoles = codes({ type: 'Polygon', coordinates: rings })
    expect(asHoles.codes).toContain('too_tangled')
    expect(asHoles.units).toBeLessThanOrEqual(MAX_PAIRS + layout(10_000, 4))
    const asParts = codes({ type: 'MultiPolygon', coordinates: rings.map((ring) => [ring]) })
    expect(asParts.codes).toContain('too_tangled')
    expect(asParts.units).toBeLessThanOrEqual(MAX_PAIRS + layout(10_000, 4))
  })

  test('2,500 small parts that touch one another are no work', () => {
    const parts = Array.from({ length: 2500 }, (_, i) => {
      const [lon, lat] = [(i % 50) * 0.1, Math.floor(i / 50) * 0.1]
      return [
        [
          [lon, lat],
          [lon + 0.1, lat],
          [lon, lat + 0.1],
          [lon, lat],
        ],
      ]
    })
    const { units, codes: found } = codes({ type: 'MultiPolygon', coordinates: parts })
    expect(found).toEqual([])
    expect(units).toBeLessThan(5 * 10_000 + layout(10_000, 2500))
  })

  test('a longitude out of all bounds ends nothing', () => {
    const ring = toRing([
      [1e15, 0],
      [-1e15, 1],
      [0, 2],
      [1e15, 0],
    ])
    expect(ring.path).toHaveLength(4)
  })
})

test('work beyond what it may cost is given up', () => {
  expect(() => runToEnd(findCrossing(toRing(diagonals(500).coordinates[0] ?? [])), 1000)).toThrow(
    TooMuchWork,
  )
})
