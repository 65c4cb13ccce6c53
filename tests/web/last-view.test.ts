import { afterEach, expect, test, vi } from 'vitest'
import { lastPlace, lastView } from '../../web/map/last-view.ts'

afterEach(() => vi.unstubAllGlobals())

test('at first the world lies in the middle of what the list leaves free', () => {
  const whole = lastView()
  const beside = lastView(340)
  expect(beside).toEqual({ ...whole, center: [expect.any(Number), whole.center[1]] })
  // Half of the list's width to the right of the map's middle, at 512 pixels a world at zoom 0.
  const shift_px = ((whole.center[0] - beside.center[0]) / 360) * 512 * 2 ** whole.zoom
  expect(shift_px).toBeCloseTo(170, 6)
})

test('where the reader left it, it stays; what cannot be read is the world', () => {
  const kept = { center: [181.234_5, -33.3], zoom: 9 }
  vi.stubGlobal('localStorage', { getItem: () => JSON.stringify(kept) })
  expect(lastView(340)).toEqual(kept)
  expect(lastPlace()).toEqual({ lat: -33.3, lon: -178.77 })
  vi.stubGlobal('localStorage', { getItem: () => '{"center": 5}' })
  expect(lastView()).toMatchObject({ center: [15, 20] })
})
