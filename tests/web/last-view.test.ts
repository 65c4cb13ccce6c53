import { afterEach, expect, test, vi } from 'vitest'
import { lastPlace, lastView } from '../../web/map/last-view.ts'

afterEach(() => vi.unstubAllGlobals())

test('at first the whole world lies in the middle of what the list leaves free', () => {
  const whole = lastView()
  const beside = lastView({ width_px: 1208, covered_px: 340 })
  const world_px = 512 * 2 ** beside.zoom
  expect(world_px).toBeCloseTo(1208 - 340, 6)
  expect(beside.center[1]).toBe(whole.center[1])
  // Half of the list's width to the right of the map's middle.
  const shift_px = ((whole.center[0] - beside.center[0]) / 360) * world_px
  expect(shift_px).toBeCloseTo(170, 6)
})

test('neither a phone nor a very wide page shows the world too small or too large', () => {
  expect(lastView({ width_px: 390, covered_px: 0 })).toEqual({ center: [15, 20], zoom: 0.6 })
  expect(lastView({ width_px: 4000, covered_px: 0 }).zoom).toBe(lastView().zoom)
})

test('where the reader left it, it stays; what cannot be read is the world', () => {
  const kept = { center: [181.234_5, -33.3], zoom: 9 }
  vi.stubGlobal('localStorage', { getItem: () => JSON.stringify(kept) })
  expect(lastView({ width_px: 1208, covered_px: 340 })).toEqual(kept)
  expect(lastPlace()).toEqual({ lat: -33.3, lon: -178.77 })
  vi.stubGlobal('localStorage', { getItem: () => '{"center": 5}' })
  expect(lastView()).toMatchObject({ center: [15, 20] })
})
