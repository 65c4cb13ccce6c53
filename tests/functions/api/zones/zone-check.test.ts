import { expect, test } from 'vitest'
import { forbidden, tooMuchWork, zoneIssues } from '../../../../functions/api/zones/zone-check.ts'
import { TooMuchWork } from '../../../../shared/geometry/steps.ts'
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

test('what takes too much work is refused with the way out, and any other error is left as it is', () => {
  const wayOut = 'Send a simpler shape.'
  expect(tooMuchWork(new TooMuchWork(), wayOut)).toMatchObject({
    ...{ code: 'too_much_work', message: wayOut },
  })
  const other = new Error('the line is dead')
  expect(() => tooMuchWork(other, wayOut)).toThrow(other)
})

test('whoever may not change a zone is told who may', () => {
  expect(forbidden()).toMatchObject({
    code: 'forbidden',
    message: 'Only the owner of the zone or an admin of its organisation may do this.',
  })
})
