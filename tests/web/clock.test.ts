import { expect, test } from 'vitest'
import { minutesIn, nextShift, offsetOf, timeZoneAt } from '../../web/event/time-zone.ts'

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

test('the minutes of a day are those of the time zone, on both sides of UTC', () => {
  expect(minutesIn('Europe/Istanbul', FROM)).toBe(15 * 60)
  expect(minutesIn('Pacific/Kiritimati', FROM)).toBe(2 * 60)
  expect(minutesIn('America/St_Johns', Date.parse('1969-12-31T00:00:00Z'))).toBe(20 * 60 + 30)
  expect(minutesIn('Mars/Olympus', FROM)).toBeNull()
})

test('the time zone of a version is that before the first later change', () => {
  const history: Parameters<typeof timeZoneAt>[2] = [
    { version: 5, changes: { quiet_hours_tz: ['Asia/Tokyo', 'UTC'] } },
    { version: 4, changes: { label: ['A', 'B'] } },
    {
      version: 3,
      changes: { quiet_hours_tz: ['Europe/Berlin', 'Asia/Tokyo'] },
    },
  ]
  const at = (version: number) => timeZoneAt(version, { quiet_hours_tz: 'UTC' }, history)
  expect([2, 3, 4, 5].map(at)).toEqual(['Europe/Berlin', 'Asia/Tokyo', 'Asia/Tokyo', 'UTC'])
})
