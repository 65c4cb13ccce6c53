import { expect, test } from 'vitest'
import { contrast, isDark, luminance } from '../../shared/colour.ts'

test.each([
  ['#000000', 0],
  ['#ffffff', 1],
  ['#ff0000', 0.2126],
  ['#00ff00', 0.7152],
  ['#0000ff', 0.0722],
  ['#808080', 0.2159],
  ['#0a0a0a', 0.003],
])('the luminance of %s is %f', (colour, expected) => {
  expect(luminance(colour)).toBeCloseTo(expected, 4)
})

test('contrast is the same in either order, from 1 to 21', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrast('#ffffff', '#000000')).toBeCloseTo(21)
  expect(contrast('#123456', '#123456')).toBe(1)
  expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2)
})

test.each(['#000000', '#1d5fd1', '#757575'])('white text is easier to read on %s', (colour) => {
  expect(isDark(colour)).toBe(true)
  expect(contrast(colour, '#ffffff')).toBeGreaterThan(contrast(colour, '#000000'))
})

test.each(['#ffffff', '#777777', '#ffb000'])('dark text is easier to read on %s', (colour) => {
  expect(isDark(colour)).toBe(false)
  expect(contrast(colour, '#000000')).toBeGreaterThan(contrast(colour, '#ffffff'))
})
