import { describe, expect, it } from 'vitest'
import {
  ClockTime,
  type QuietHours,
  QuietWindows,
  quietIssues,
  quietWindowAt,
} from '../../../shared/decide/quiet-hours.ts'

const WEEK = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
const window = (more: object = {}) => ({ days: ['mon'], start: '22:00', end: '07:00', ...more })
/** What is wrong, as path and message, or null. */
const told = (schema: typeof ClockTime | typeof QuietWindows, input: unknown) => {
  const { error } = schema.safeParse(input)
  return error ? error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) : null
}
const issuesOf = (more: Partial<QuietHours>) =>
  quietIssues({
    quiet_hours_start: null,
    quiet_hours_end: null,
    quiet_windows: null,
    quiet_hours_tz: 'UTC',
    ...more,
  })

describe('a time of day', () => {
  it.each(['00:00', '09:59', '19:00', '20:00', '23:59'])('%s is one', (time) => {
    expect(told(ClockTime, time)).toBeNull()
    expect(told(QuietWindows, [window({ start: time })])).toBeNull()
    expect(told(QuietWindows, [window({ end: time })])).toBeNull()
  })

  it.each(['24:00', '7:00', '23:60', '29:00', '30:00', '07:0', '07:00:00', 'x07:00', '', 'noon'])(
    '"%s" is none, and the way to write it is told',
    (time) => {
      const message = `"${time}": use HH:MM, as in 07:00.`
      expect(told(ClockTime, time)).toEqual([`: ${message}`])
      expect(told(QuietWindows, [window({ start: time })])).toEqual([`0.start: ${message}`])
      const atEnd = [`0.end: "${time}": use HH:MM, as in 07:00, or 24:00.`]
      expect(told(QuietWindows, [window({ end: time })])).toEqual(time === '24:00' ? null : atEnd)
    },
  )

  it('is quoted to its 20th character when it is none', () => {
    expect(told(ClockTime, 'x'.repeat(21))).toEqual([
      `: "${'x'.repeat(20)}": use HH:MM, as in 07:00.`,
    ])
  })
})

describe('windows', () => {
  const paths = (input: unknown) =>
    QuietWindows.safeParse(input).error?.issues.map(({ path }) => path.join('.')) ?? null

  it('are one to eight', () => {
    expect(paths([])).toEqual([''])
    expect(paths([window()])).toBeNull()
    expect(paths(Array(8).fill(window()))).toBeNull()
    expect(paths(Array(9).fill(window()))).toEqual([''])
  })

  it('have one to seven of the weekdays, a start, an end and nothing else', () => {
    expect(paths([window({ days: [] })])).toEqual(['0.days'])
    expect(paths([window({ days: WEEK })])).toBeNull()
    expect(paths([window({ days: [...WEEK, 'mon'] })])).toEqual(['0.days'])
    expect(paths([window({ days: ['monday'] })])).toEqual(['0.days.0'])
    expect(paths([window({ tz: 'UTC' })])).toEqual(['0'])
    expect(paths([{ days: ['mon'] }])).toEqual(['0.start', '0.end'])
  })
})

describe('quiet hours of a zone', () => {
  it('without anything, or whole, have no issue', () => {
    expect(issuesOf({})).toEqual([])
    expect(issuesOf({ quiet_hours_start: '22:00', quiet_hours_end: '07:00' })).toEqual([])
    expect(issuesOf({ quiet_windows: [{ ...window(), days: [...WEEK] }] })).toEqual([])
  })

  it('need both ends, and each side is named', () => {
    expect(issuesOf({ quiet_hours_start: '22:00' })).toEqual([
      {
        path: 'quiet_hours_end',
        code: 'required',
        message: 'Quiet hours need a start and an end: send quiet_hours_end too, or null for both.',
      },
    ])
    expect(issuesOf({ quiet_hours_end: '07:00' })).toEqual([
      {
        path: 'quiet_hours_start',
        code: 'required',
        message:
          'Quiet hours need a start and an end: send quiet_hours_start too, or null for both.',
      },
    ])
  })

  it('with one end alone are off', () => {
    for (const [start, end] of [
      ['00:00', null],
      [null, '24:00'],
    ] as const) {
      const hours = { quiet_hours_start: start, quiet_hours_end: end, quiet_hours_tz: 'UTC' }
      expect(quietWindowAt(hours, new Date('2026-01-01T12:00:00Z'))).toBeNull()
    }
  })

  it.each(['Mars/Olympus', '+02:00', '', '2026', 'Europe/Berlin '])(
    'in the time zone "%s" are told that there is none',
    (tz) => {
      expect(issuesOf({ quiet_hours_tz: tz })).toEqual([
        {
          path: 'quiet_hours_tz',
          code: 'unknown_time_zone',
          message: `"${tz}" is not a known time zone. Send an IANA name such as "Europe/Berlin" or "UTC".`,
        },
      ])
    },
  )

  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+2'])(
    'in the time zone %s are fine',
    (quiet_hours_tz) => expect(issuesOf({ quiet_hours_tz })).toEqual([]),
  )

  it('have windows or a start and an end, not both', () => {
    const both = (quiet_hours_start: string | null, quiet_hours_end: string | null) =>
      issuesOf({
        quiet_hours_start,
        quiet_hours_end,
        quiet_windows: [{ ...window(), days: ['mon'] }],
      }).filter(({ path }) => path === 'quiet_windows')
    const issue = {
      path: 'quiet_windows',
      code: 'exclusive',
      message:
        'quiet_windows replaces quiet_hours_start and quiet_hours_end: send null for both, or null for quiet_windows.',
    }
    expect(both(null, null)).toEqual([])
    expect(both('22:00', null)).toEqual([issue])
    expect(both(null, '07:00')).toEqual([issue])
    expect(both('22:00', '07:00')).toEqual([issue])
  })

  const always = { days: [...WEEK], start: '00:00', end: '24:00' }

  it('with a window of no length are told the window and what a whole day is', () => {
    const empty = { days: ['mon' as const], start: '08:00', end: '08:00' }
    expect(issuesOf({ quiet_windows: [always, empty] })).toEqual([
      {
        path: 'quiet_windows.1.end',
        code: 'empty_window',
        message:
          'The window begins and ends at 08:00. For a whole day send start "00:00" and end "24:00".',
      },
    ])
  })

  it('that leave no minute of the week are refused, and one minute is enough', () => {
    const issue = {
      path: 'quiet_windows',
      code: 'always_quiet',
      message:
        'The windows leave no minute of the week, so nothing would ever be sent. Leave a gap, or disable the zone.',
    }
    const halves = [
      { days: [...WEEK], start: '08:00', end: '20:00' },
      { days: [...WEEK], start: '20:00', end: '08:00' },
    ]
    expect(issuesOf({ quiet_windows: [always] })).toEqual([issue])
    expect(issuesOf({ quiet_windows: halves })).toEqual([issue])
    const [day, night] = halves
    if (!day || !night) throw new Error('there are two')
    expect(issuesOf({ quiet_windows: [day, { ...night, end: '07:59' }] })).toEqual([])
    expect(issuesOf({ quiet_windows: [day, { ...night, start: '20:01' }] })).toEqual([])
    // Six whole days, and of Sunday all but its last minute.
    const six = { ...always, days: WEEK.slice(0, 6) }
    const sunday = { days: ['sun' as const], start: '00:00', end: '23:59' }
    expect(issuesOf({ quiet_windows: [six, sunday] })).toEqual([])
    expect(issuesOf({ quiet_windows: [six, { ...sunday, end: '24:00' }] })).toEqual([issue])
  })
})
