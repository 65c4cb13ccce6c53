import { describe, expect, test } from 'vitest'
import { Day, GivenInstant, Instant, isTimeZone, QueryInstant } from '../../shared/time.ts'

describe('a time of the API', () => {
  test.each([
    '1000-01-01T00:00:00Z',
    '2026-03-01T12:00:00.000Z',
    '9999-12-31T23:59:59.999999Z',
    '9999-12-31T23:59:59Z',
  ])('%s is taken as it is', (time) => {
    expect(Instant.parse(time)).toBe(time)
    expect(GivenInstant.parse(time)).toBe(time)
  })

  test.each([
    '0999-12-31T23:59:59.999Z',
    '0000-01-01T00:00:00Z',
    // PostgreSQL rounds it up to the year 10000.
    '9999-12-31T23:59:59.9999995Z',
  ])('%s is out of range', (time) => {
    for (const form of [Instant, GivenInstant]) {
      expect(form.safeParse(time).error?.issues).toMatchObject([
        { message: 'Must be a time between the years 1000 and 9999.' },
      ])
    }
  })

  test.each(['', 'now', '2026-03-01', '2026-02-30T12:00:00Z', '2026-03-01T24:00:00Z'])(
    '%j is not a time, and that is all that is said of it',
    (time) => {
      expect(Instant.safeParse(time).error?.issues).toHaveLength(1)
      expect(GivenInstant.safeParse(time).error?.issues).toMatchObject([
        { message: expect.stringContaining('ISO 8601 with Z or an offset') },
      ])
    },
  )
})

describe('a time as callers send it', () => {
  test.each([
    ['2026-03-01T14:00:00+02:00', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00:00.5-05:30', '2026-03-01T17:30:00.500Z'],
    ['1000-01-01T00:00:00-01:00', '1000-01-01T01:00:00.000Z'],
  ])('%s becomes %s', (time, utc) => {
    expect(GivenInstant.parse(time)).toBe(utc)
    expect(QueryInstant.parse(time)).toBe(utc)
    // A plus sign in a query arrives as a space, unless it is encoded.
    expect(QueryInstant.parse(time.replace('+', ' '))).toBe(utc)
  })

  test.each(['1000-01-01T00:30:00+01:00', '9999-12-31T23:30:00-01:00'])(
    '%s is out of range in UTC',
    (time) => {
      expect(GivenInstant.safeParse(time).success).toBe(false)
    },
  )

  test('a space elsewhere stays an error', () => {
    expect(QueryInstant.safeParse('2026-03-01 14:00:00Z').success).toBe(false)
    expect(GivenInstant.safeParse('2026-03-01T14:00:00 02:00').success).toBe(false)
  })
})

test.each([
  ['1000-01-01', true],
  ['2026-02-28', true],
  ['0999-12-31', false],
  ['2026-02-29', false],
  ['2026-3-1', false],
])('the day %s: %s', (day, isTaken) => {
  expect(Day.safeParse(day).success).toBe(isTaken)
})

test('what is no day is told once, whatever its year', () => {
  expect(Day.safeParse('0999-13-01').error?.issues).toMatchObject([{ code: 'invalid_format' }])
  expect(Day.safeParse('0999-12-31').error?.issues).toMatchObject([
    { message: 'Must be a time between the years 1000 and 9999.' },
  ])
})

test.each([
  ['Europe/Istanbul', true],
  ['UTC', true],
  ['Europe/Nowhere', false],
  ['+02:00', false],
  ['', false],
])('the time zone %j: %s', (name, isKnown) => {
  expect(isTimeZone(name)).toBe(isKnown)
})
