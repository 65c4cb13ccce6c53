import { expect, test } from 'vitest'
import { zoneIssues } from '../../../../functions/api/zones/zone-check.ts'
import { ZoneCreate, zoneDefaults } from '../../../../shared/schemas/zone.ts'

/** Around Berlin, but with latitudes first. */
const polygon = {
  type: 'Polygon',
  coordinates: [
    [
      [52, 13],
      [52, 14],
      [53, 14],
      [53, 13],
      [52, 13],
    ],
  ],
}
const zone = zoneDefaults(
  ZoneCreate.parse({ label: 'Berlin', lat: 52.5, lon: 13.4, shape_type: 'polygon', polygon }),
)

test('swapped coordinates are told of a polygon without other mistakes', () => {
  expect(zoneIssues(zone, []).map(({ code }) => code)).toEqual(['swapped_coordinates'])
})

test('they are not guessed at where the polygon itself is wrong', () => {
  const wrong = { path: 'polygon', code: 'self_intersection', message: 'It crosses itself.' }
  expect(zoneIssues(zone, [wrong])).toEqual([wrong])
})

test('nor is a circle asked for them', () => {
  const circle = zoneDefaults(ZoneCreate.parse({ label: 'x', lat: 1, lon: 2, radius_km: 5 }))
  expect(zoneIssues(circle, [])).toEqual([])
})
