import { expect, test } from 'vitest'
import { nextShift, offsetOf } from '../../web/pages/zones/clock.ts'

const FROM = Date.parse('2026-11-23T12:00:00Z')

test.each([
  ['Europe/Berlin', '2027-03-28T01:00:00Z', 60],
  ['America/New_York', '2027-03-14T07:00:00Z', 60],
  ['Australia/Lord_Howe', '2027-04-03T15:00:00Z', -30],
])('the clocks of %s change next at %s', (tz, at, minutes) => {
  expect(nextShift(tz, FROM)).toEqual({ at: Date.parse(at), minutes })
})

test('a zone without summer time has no change, and one that does not exist has no time', () => {
  expect(nextShift('Europe/Istanbul', FROM)).toBeNull()
  expect(offsetOf('Europe/Istanbul', FROM)).toBe(180)
  expect(offsetOf('America/St_Johns', FROM)).toBe(-210)
  expect(offsetOf('UTC', FROM)).toBe(0)
  expect(offsetOf('Mars/Olympus', FROM)).toBeNull()
  expect(nextShift('Mars/Olympus', FROM)).toBeNull()
})
