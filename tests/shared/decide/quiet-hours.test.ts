import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type QuietHours, quietIssues, quietWindowAt } from '../../../shared/decide/quiet-hours.ts'

const windowAt = (start: string | null, end: string | null, tz: string, at: string) => {
  const window = quietWindowAt(
    { quiet_hours_start: start, quiet_hours_end: end, quiet_hours_tz: tz },
    new Date(at),
  )
  return window && [window.start.toISOString(), window.end.toISOString()]
}
const iso = (short: string) => `${short}:00.000Z`

describe('a quiet window', () => {
  it('is off without times and when start is end', () => {
    expect(windowAt(null, null, 'UTC', '2026-01-01T12:00:00Z')).toBeNull()
    expect(windowAt('08:00', '08:00', 'UTC', '2026-01-01T08:00:00Z')).toBeNull()
  })

  it('holds its first moment and not its last', () => {
    const within = [iso('2026-01-01T08:00'), iso('2026-01-01T09:00')]
    expect(windowAt('08:00', '09:00', 'UTC', '2026-01-01T07:59:59.999Z')).toBeNull()
    expect(windowAt('08:00', '09:00', 'UTC', '2026-01-01T08:00:00Z')).toEqual(within)
    expect(windowAt('08:00', '09:00', 'UTC', '2026-01-01T08:59:59.999Z')).toEqual(within)
    expect(windowAt('08:00', '09:00', 'UTC', '2026-01-01T09:00:00Z')).toBeNull()
  })

  it('crosses midnight, on either side of it the same window', () => {
    const night = [iso('2026-01-01T22:00'), iso('2026-01-02T07:00')]
    expect(windowAt('22:00', '07:00', 'UTC', '2026-01-01T23:30:00Z')).toEqual(night)
    expect(windowAt('22:00', '07:00', 'UTC', '2026-01-02T00:00:00Z')).toEqual(night)
    expect(windowAt('22:00', '07:00', 'UTC', '2026-01-02T06:59:59Z')).toEqual(night)
    expect(windowAt('22:00', '07:00', 'UTC', '2026-01-02T07:00:00Z')).toBeNull()
    expect(windowAt('22:00', '00:00', 'UTC', '2026-01-01T23:59:59Z')).toEqual([
      iso('2026-01-01T22:00'),
      iso('2026-01-02T00:00'),
    ])
    expect(windowAt('22:00', '00:00', 'UTC', '2026-01-02T00:00:00Z')).toBeNull()
  })

  it('goes on when the clock is set back over the midnight at which it began', () => {
    // St. John's, 2010: a minute past midnight it was a minute past 23:00 again.
    expect(windowAt('00:00', '06:00', 'America/St_Johns', '2010-11-07T02:45:00Z')).toEqual([
      iso('2010-11-07T02:30'),
      iso('2010-11-07T09:30'),
    ])
  })

  it('refuses a time zone nobody knows', () => {
    expect(() => windowAt('08:00', '09:00', 'Mars/Olympus', '2026-01-01T00:00:00Z')).toThrow(
      RangeError,
    )
  })

  it.each([
    // Berlin: 2026-03-29 02:00 → 03:00 (01:00Z), 2026-10-25 03:00 → 02:00 (01:00Z).
    [
      'Europe/Berlin',
      '2026-03-28T23:00Z',
      '2026-03-28T21:00',
      '2026-03-29T05:00',
      'a night of 8 hours in spring',
    ],
    [
      'Europe/Berlin',
      '2026-03-29T23:00Z',
      '2026-03-29T20:00',
      '2026-03-30T05:00',
      'summer time the night after',
    ],
    [
      'Europe/Berlin',
      '2026-10-25T00:30Z',
      '2026-10-24T20:00',
      '2026-10-25T06:00',
      'a night of 10 hours in autumn',
    ],
    // New York: 2026-03-08 02:00 → 03:00 (07:00Z), 2026-11-01 02:00 → 01:00 (06:00Z).
    [
      'America/New_York',
      '2026-03-08T07:30Z',
      '2026-03-08T03:00',
      '2026-03-08T11:00',
      'a night of 8 hours in spring',
    ],
    [
      'America/New_York',
      '2026-11-01T06:30Z',
      '2026-11-01T02:00',
      '2026-11-01T12:00',
      'a night of 10 hours in autumn',
    ],
    // Lord Howe moves by 30 minutes: 2026-04-05 02:00 → 01:30 (15:00Z on the 4th), 2026-10-04 02:00 → 02:30 (15:30Z on the 3rd).
    [
      'Australia/Lord_Howe',
      '2026-04-04T15:10Z',
      '2026-04-04T11:00',
      '2026-04-04T20:30',
      'a night of 9½ hours in autumn',
    ],
    [
      'Australia/Lord_Howe',
      '2026-10-03T15:40Z',
      '2026-10-03T11:30',
      '2026-10-03T20:00',
      'a night of 8½ hours in spring',
    ],
  ])('from 22:00 to 07:00 in %s at %s is [%s, %s): %s', (tz, at, start, end) => {
    expect(windowAt('22:00', '07:00', tz, at)).toEqual([iso(start), iso(end)])
    expect(windowAt('22:00', '07:00', tz, iso(end))).toBeNull()
  })

  it.each([
    ['Europe/Berlin', '02:30', '04:00', '2026-03-29T01:30', '2026-03-29T02:00'],
    ['Europe/Berlin', '01:00', '02:30', '2026-03-29T00:00', '2026-03-29T01:30'],
    ['America/New_York', '02:30', '04:00', '2026-03-08T07:30', '2026-03-08T08:00'],
    ['Australia/Lord_Howe', '02:15', '03:00', '2026-10-03T15:45', '2026-10-03T16:00'],
  ])('in %s moves a time that spring skips forward: %s–%s', (tz, start, end, from, to) => {
    expect(windowAt(start, end, tz, iso(from))).toEqual([iso(from), iso(to)])
    expect(windowAt(start, end, tz, new Date(Date.parse(iso(from)) - 1).toISOString())).toBeNull()
  })

  it.each([
    ['Europe/Berlin', '02:30', '04:00', '2026-10-25T00:30', '2026-10-25T03:00'],
    ['Europe/Berlin', '01:00', '02:30', '2026-10-24T23:00', '2026-10-25T00:30'],
    ['America/New_York', '01:30', '04:00', '2026-11-01T05:30', '2026-11-01T09:00'],
    ['Australia/Lord_Howe', '01:45', '03:00', '2026-04-04T14:45', '2026-04-04T16:30'],
  ])('in %s takes the first of a time that autumn repeats: %s–%s', (tz, start, end, from, to) => {
    expect(windowAt(start, end, tz, iso(from))).toEqual([iso(from), iso(to)])
    expect(windowAt(start, end, tz, iso(to))).toBeNull()
  })

  it('that the gap swallows does not take place that day', () => {
    for (let minute = 0; minute < 24 * 60; minute += 5) {
      const at = new Date(Date.UTC(2026, 2, 29, 0, minute)).toISOString()
      if (at >= '2026-03-29T22:00') break
      expect(windowAt('02:30', '03:10', 'Europe/Berlin', at)).toBeNull()
    }
  })

  it('holds the moment it was asked for, and is the same from all its moments', () => {
    const clock = fc
      .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
      .map(([h, m]) => `${String(h).padStart(2, '0')}:${String(m).padStart(2, '0')}`)
    const zones = fc.constantFrom(
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
      'America/Santiago',
    )
    const at = fc.date({
      min: new Date('2026-01-01'),
      max: new Date('2027-01-01'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(clock, clock, zones, at, (start, end, tz, when) => {
        const window = windowAt(start, end, tz, when.toISOString())
        if (!window) return
        const [from = '', to = ''] = window
        expect(from <= when.toISOString() && when.toISOString() < to).toBe(true)
        expect(windowAt(start, end, tz, from)).toEqual(window)
        expect(windowAt(start, end, tz, new Date(Date.parse(to) - 1).toISOString())).toEqual(window)
      }),
      { numRuns: 300 },
    )
  })
})

describe('quiet windows of the week', () => {
  const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
  const WEEK = [
    { days: ['mon', 'tue', 'wed', 'thu'], start: '22:00', end: '07:00' },
    { days: ['fri'], start: '22:00', end: '24:00' },
    { days: ['sat', 'sun'], start: '00:00', end: '24:00' },
  ] satisfies QuietHours['quiet_windows']
  const hoursOf = (quiet_windows: QuietHours['quiet_windows'], tz = 'UTC'): QuietHours => ({
    quiet_hours_start: null,
    quiet_hours_end: null,
    quiet_windows,
    quiet_hours_tz: tz,
  })
  const within = (hours: QuietHours, at: string) => {
    const window = quietWindowAt(hours, new Date(at))
    return window && [window.start.toISOString(), window.end.toISOString()]
  }

  it('begin on their days, and those that follow each other are one', () => {
    // 2 March 2026 is a Monday.
    const weekend = [iso('2026-03-06T22:00'), iso('2026-03-09T00:00')]
    expect(within(hoursOf(WEEK), '2026-03-02T06:00:00Z')).toBeNull()
    expect(within(hoursOf(WEEK), '2026-03-03T06:00:00Z')).toEqual([
      iso('2026-03-02T22:00'),
      iso('2026-03-03T07:00'),
    ])
    expect(within(hoursOf(WEEK), '2026-03-06T12:00:00Z')).toBeNull()
    for (const at of ['2026-03-06T22:00', '2026-03-07T00:00', '2026-03-08T23:59']) {
      expect(within(hoursOf(WEEK), iso(at))).toEqual(weekend)
    }
    expect(within(hoursOf(WEEK), '2026-03-09T00:00:00Z')).toBeNull()
  })

  it('follow the clock of their time zone, with a weekend that is an hour shorter in spring', () => {
    expect(within(hoursOf(WEEK, 'Europe/Berlin'), '2026-03-29T12:00:00Z')).toEqual([
      iso('2026-03-27T21:00'),
      iso('2026-03-29T22:00'),
    ])
  })

  it('are quiet in exactly the minutes of the windows, until the first minute that is not', () => {
    const time = fc
      .integer({ min: 0, max: 95 })
      .map((n) => `${String(n >> 2).padStart(2, '0')}:${['00', '15', '30', '45'][n % 4]}`)
    const window = fc.record({
      days: fc.uniqueArray(fc.constantFrom(...DAYS), { minLength: 1, maxLength: 7 }),
      start: time,
      end: fc.oneof(time, fc.constant('24:00')),
    })
    const minute = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
    let always = 0
    fc.assert(
      fc.property(fc.array(window, { minLength: 1, maxLength: 8 }), fc.nat(671), (all, quarter) => {
        const windows = all.filter(({ start, end }) => start !== end)
        const isQuiet = (at: number) =>
          windows.some(({ days, start, end }) =>
            [0, 1].some((daysAgo) => {
              const day = Math.floor(at / 1440) - daysAgo
              const name = DAYS[(day + 4) % 7]
              const from = day * 1440 + minute(start)
              const length = (minute(end) - minute(start) + 1440) % 1440 || 1440
              return name && days.includes(name) && from <= at && at < from + length
            }),
          )
        // 4 January 2026 is a Sunday.
        const begin = Date.UTC(2026, 0, 4) / 60_000 + quarter * 15
        const issues = quietIssues(hoursOf(windows)).map(({ code }) => code)
        const week = Array.from({ length: 672 }, (_, n) => isQuiet(begin + n * 15))
        expect(issues.includes('always_quiet')).toBe(windows.length > 0 && week.every(Boolean))
        if (week.every(Boolean)) {
          always += 1
          return
        }
        const found = quietWindowAt(hoursOf(windows), new Date(begin * 60_000))
        expect(found !== null).toBe(week[0])
        if (!found) return
        expect(found.end.getTime() / 60_000).toBe(begin + week.indexOf(false) * 15)
        expect(isQuiet(found.start.getTime() / 60_000 - 1)).toBe(false)
      }),
      { numRuns: 500 },
    )
    expect(always).toBeLessThan(250)
  })

  it('that make no sense are refused', () => {
    const codes = (hours: QuietHours) => quietIssues(hours).map(({ path, code }) => [path, code])
    expect(codes(hoursOf(WEEK))).toEqual([])
    expect(codes(hoursOf(null))).toEqual([])
    const both = { ...hoursOf(WEEK), quiet_hours_start: '22:00', quiet_hours_end: '07:00' }
    expect(codes(both)).toEqual([['quiet_windows', 'exclusive']])
    expect(codes(hoursOf([{ days: ['mon'], start: '07:00', end: '07:00' }]))).toEqual([
      ['quiet_windows.0.end', 'empty_window'],
    ])
    const all = hoursOf([
      { days: [...DAYS], start: '06:00', end: '18:00' },
      { days: [...DAYS], start: '18:00', end: '06:00' },
    ])
    expect(codes(all)).toEqual([['quiet_windows', 'always_quiet']])
  })
})
