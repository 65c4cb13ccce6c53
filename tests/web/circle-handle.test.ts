import { expect, test } from 'vitest'
import { eastOf, radiusTo } from '../../web/map/circle-handle.ts'

const CENTRE = { lat: 41, lon: 29 }

test('the mark stands on the ring, east of the centre', () => {
  const east = eastOf({ ...CENTRE, radius_km: 80 })
  expect(radiusTo(CENTRE, east)).toBe(80)
  expect(east.lon).toBeGreaterThan(CENTRE.lon)
  expect(east.lat).toBeCloseTo(CENTRE.lat, 1)
})

test('a ring may be dragged past 180°', () => {
  const east = eastOf({ lat: 0, lon: 179.9, radius_km: 100 })
  expect(east.lon).toBeGreaterThan(180)
  expect(radiusTo({ lat: 0, lon: 179.9 }, east)).toBe(100)
})

test('a radius has three digits, and is one that a zone may have', () => {
  const km = (degrees: number) => radiusTo({ lat: 0, lon: 0 }, { lat: degrees, lon: 0 })
  expect(km(1)).toBe(111)
  expect(km(0.1)).toBe(11.1)
  expect(km(0)).toBe(0.1)
  expect(km(80)).toBe(5000)
})
