import { describe, expect, test } from 'vitest'
import { dueOf, timetable } from '../../../../hub/mail/sequences/timetable.ts'
import {
  daysAfter,
  nextOpening,
  officeHours,
  SendWindow,
} from '../../../../hub/mail/sequences/window.ts'
import { zonesFor, zonesOfCountry } from '../../../../hub/mail/sequences/zones.ts'

const hours = officeHours('Europe/Istanbul')
const at = (text: string) => new Date(text)
const shown = (opening: ReturnType<typeof nextOpening>) =>
  opening && `${opening.from.toISOString()} ${opening.until.toISOString()}`

describe('office hours as they are given', () => {
  test.each([
    [{ from: '00:00', to: '24:00' }, []],
    [{ from: '23:58', to: '23:59' }, []],
    [{ from: '9:00' }, ['from', 'to']],
    [{ from: '009:00' }, ['from']],
    [{ from: '09:000' }, ['from']],
    [{ from: '24:00' }, ['from', 'to']],
    [{ to: '24:01' }, ['to']],
    [{ to: '17:60' }, ['to']],
    [{ to: '117:00' }, ['to']],
    [{ to: '17:000' }, ['to']],
    [{ from: '17:00', to: '17:00' }, ['to']],
    [{ days: [] }, ['days']],
    [{ days: ['monday'] }, ['days.0']],
    [{ days: [...hours.days, ...hours.days] }, ['days']],
    [{ time_zone: 'Europe/Nowhere' }, ['time_zone']],
    [{ holidays: true }, ['']],
  ])('%o: wrong are %o', (change, wrong) => {
    const { error } = SendWindow.safeParse({ ...hours, ...change })
    expect(error?.issues.map(({ path }) => path.join('.')) ?? []).toEqual(wrong)
  })

  test('have each day once, from Monday on', () => {
    const { days } = SendWindow.parse({ ...hours, days: ['sun', 'wed', 'mon', 'wed'] })
    expect(days).toEqual(['mon', 'wed', 'sun'])
  })
})

describe('the next office hours', () => {
  test.each([
    ['before them', '2026-11-25T03:00Z', '2026-11-25T06:00:00.000Z 2026-11-25T14:00:00.000Z'],
    ['in them', '2026-11-25T10:30Z', '2026-11-25T10:30:00.000Z 2026-11-25T14:00:00.000Z'],
    ['at their end', '2026-11-25T14:00Z', '2026-11-26T06:00:00.000Z 2026-11-26T14:00:00.000Z'],
    ['on Friday evening', '2026-11-27T18:00Z', '2026-11-30T06:00:00.000Z 2026-11-30T14:00:00.000Z'],
    ['on Sunday night', '2026-11-29T22:30Z', '2026-11-30T06:00:00.000Z 2026-11-30T14:00:00.000Z'],
  ])('%s', (_, after, expected) => {
    expect(shown(nextOpening(['Europe/Istanbul'], hours, at(after)))).toBe(expected)
  })

  test.each([
    // The clock goes from 02:00 to 03:00 on 29 March 2026 in Berlin, and back on 25 October.
    [
      'an hour that is skipped',
      { from: '02:30', to: '05:00' },
      '2026-03-28T23:00Z',
      '2026-03-29T01:30:00.000Z 2026-03-29T03:00:00.000Z',
    ],
    [
      'an hour that comes twice',
      { from: '02:30', to: '05:00' },
      '2026-10-24T23:00Z',
      '2026-10-25T00:30:00.000Z 2026-10-25T04:00:00.000Z',
    ],
    [
      'the day after',
      { from: '09:00', to: '17:00' },
      '2026-03-30T00:00Z',
      '2026-03-30T07:00:00.000Z 2026-03-30T15:00:00.000Z',
    ],
    [
      'a whole day',
      { from: '00:00', to: '24:00' },
      '2026-03-28T23:00Z',
      '2026-03-28T23:00:00.000Z 2026-03-29T22:00:00.000Z',
    ],
    [
      'nothing but an hour on Sundays, which is over and then skipped',
      { from: '02:00', to: '03:00', days: ['sun' as const] },
      '2026-03-22T02:00Z',
      '2026-04-05T00:00:00.000Z 2026-04-05T01:00:00.000Z',
    ],
  ])('with %s', (_, clock, after, expected) => {
    const window = { days: [...hours.days, 'sat' as const, 'sun' as const], ...clock }
    expect(shown(nextOpening(['Europe/Berlin'], window, at(after)))).toBe(expected)
  })

  test('of several time zones are those of all of them', () => {
    const zones = ['America/New_York', 'America/Los_Angeles']
    const expected = '2026-11-25T17:00:00.000Z 2026-11-25T22:00:00.000Z'
    expect(shown(nextOpening(zones, hours, at('2026-11-25T00:00Z')))).toBe(expected)
    // It is Thursday in Tokyo and still Wednesday in London.
    const wide = { ...hours, from: '00:00', to: '24:00' }
    for (const apart of [
      ['Asia/Tokyo', 'Europe/London'],
      ['Europe/London', 'Asia/Tokyo'],
    ]) {
      expect(shown(nextOpening(apart, wide, at('2026-11-25T16:00Z')))).toBe(
        '2026-11-26T00:00:00.000Z 2026-11-26T15:00:00.000Z',
      )
    }
    expect(nextOpening(['Europe/Moscow', 'Asia/Kamchatka'], hours, at('2026-11-25T00:00Z'))).toBe(
      null,
    )
  })

  test('days are calendar days of the recipient', () => {
    const sent = at('2026-11-25T22:30Z')
    expect(daysAfter(['Europe/Istanbul'], sent, 1).toISOString()).toBe('2026-11-26T21:00:00.000Z')
    expect(daysAfter(['UTC'], sent, 1).toISOString()).toBe('2026-11-26T00:00:00.000Z')
    const both = ['UTC', 'Europe/Istanbul']
    expect(daysAfter(both, sent, 1).toISOString()).toBe('2026-11-26T21:00:00.000Z')
  })
})

describe('the time zone of a recipient', () => {
  test.each([
    ['Türkiye', ['Europe/Istanbul']],
    ['TURKEY', ['Europe/Istanbul']],
    ['Almanya', ['Europe/Berlin']],
    ['Deutschland', ['Europe/Berlin']],
    ['de', ['Europe/Berlin']],
    ['Somewhere', []],
    ['', []],
    ['  Germany ', ['Europe/Berlin']],
    ['FRANSIZ GUYANASI', ['America/Cayenne']],
    ['Fransız Guyanası', ['America/Cayenne']],
    ['Great  -  Britain', ['Europe/London']],
  ])('by the country %s', (country, zones) => {
    expect(zonesOfCountry(country)).toEqual(zones)
  })

  test('by each name that people write', () => {
    const names = {
      us: ['ABD', 'America', 'Amerika', 'Amerika Birleşik Devletleri', 'USA', 'U.S.A.', 'A.B.D.'],
      ae: ['BAE', 'UAE'],
      cz: ['Czechia', 'Czech Republic', 'Çekya'],
      gb: ['England', 'Great-Britain', 'İngiltere', 'Scotland', 'Wales', 'UK', 'U.K.', 'Britain'],
      nl: ['The Netherlands', 'Holland', 'Hollanda', 'Países Bajos', 'Pays-Bas', 'Paesi Bassi'],
      kr: ['Korea', 'South Korea'],
      ru: ['Russia', 'Rusya', 'Russian Federation'],
      tr: ['Turkey', 'Turkiye', 'TÜRKİYE', 'Republic of Türkiye'],
      cy: ['KKTC', 'Kuzey Kıbrıs', 'Cyprus', 'Kıbrıs'],
      hk: ['Hong Kong'],
      mk: ['Macedonia', 'Makedonya', 'North Macedonia'],
      rs: ['Kosovo', 'Kosova', 'Sırbistan'],
      sa: ['KSA', 'Suudi Arabistan'],
    }
    for (const [code, all] of Object.entries(names)) {
      const zones = zonesOfCountry(code)
      expect(zones).not.toEqual([])
      for (const name of all) expect(zonesOfCountry(name), name).toEqual(zones)
    }
    expect(zonesOfCountry('United States of America')).toEqual(zonesOfCountry('us'))
    expect(zonesOfCountry(null)).toEqual([])
  })

  test('its own first, then its country, then the project’s', () => {
    const now = at('2026-11-25T00:00Z')
    const of = (time_zone: string | null, country: string | null) =>
      zonesFor({ time_zone, country }, hours, now)
    expect(of('Asia/Tokyo', 'Germany')).toEqual({ time_zones: ['Asia/Tokyo'], source: 'lead' })
    expect(of(' Asia/Tokyo ', 'Germany')).toMatchObject({ source: 'lead' })
    expect(of('Nowhere/Land', 'Germany')).toMatchObject({ source: 'country' })
    expect(of(null, 'USA').time_zones).toContain('America/Los_Angeles')
    // Arizona shows the time of Denver in winter and not in summer.
    const inWinter = of(null, 'USA').time_zones.map((timeZone) =>
      at('2026-01-15T12:00Z').toLocaleTimeString('en', { timeZone }),
    )
    expect(new Set(inWinter).size).toBeLessThan(inWinter.length)
    expect(of(null, 'USA').source).toBe('country')
    // From Kaliningrad to Kamchatka no hour is in office hours everywhere.
    expect(of(null, 'Russia')).toEqual({ time_zones: ['Europe/Istanbul'], source: 'project' })
    expect(of(null, null)).toEqual({ time_zones: ['Europe/Istanbul'], source: 'project' })
  })
})

const person = (email: string, more: object = {}) => ({
  email,
  time_zones: ['Europe/Istanbul'],
  had: 0,
  last_sent_at: null as Date | null,
  wait_until: null as Date | null,
  ...more,
})
const allowance = { left_today: 100, cap_today: 100, daily_cap: 100, ramp: null }

test('a mail is due days after the one before, when the recipient is back, and never in the past', () => {
  const now = at('2026-11-25T10:00Z')
  const due = (more: object) =>
    dueOf(person('a', more), { wait_days: 3, window: hours, now })?.from.toISOString()
  expect(due({ last_sent_at: at('2026-11-24T07:00Z') })).toBe('2026-11-27T06:00:00.000Z')
  expect(due({ last_sent_at: at('2026-11-25T07:00Z') })).toBe('2026-11-30T06:00:00.000Z')
  expect(due({ last_sent_at: at('2026-10-01T07:00Z') })).toBe('2026-11-25T10:00:00.000Z')
  expect(due({ wait_until: at('2026-12-09T21:00Z') })).toBe('2026-12-10T06:00:00.000Z')
})

test.each([
  ['a limit that is reached', 2, ['11-27', '12-01']],
  ['a limit that grows', 100, ['11-27', '11-30']],
])('the timetable keeps the days, the office hours and %s', (_, daily_cap, last) => {
  const people = ['a', 'b', 'c'].map((email) => person(email))
  const plan = timetable(people, {
    waits: [0, 3],
    window: hours,
    now: at('2026-11-25T20:00Z'),
    allowance: {
      ...allowance,
      left_today: 0,
      cap_today: 1,
      daily_cap,
      ramp: { start: 1, step: 1 },
    },
  })
  const days = Object.fromEntries(
    [...plan].map(([email, times]) => [
      email,
      times.map((time) => time?.toISOString().slice(5, 10)),
    ]),
  )
  expect(days).toEqual({
    a: ['11-26', '11-30'],
    b: ['11-26', '11-30'],
    c: last,
  })
})

test('what is left of today goes to those whose hours come first, and each day takes its limit', () => {
  const late = person('late', { time_zones: ['America/New_York'] })
  const plan = timetable([late, ...['first', 'second', 'third'].map((name) => person(name))], {
    waits: [0],
    window: hours,
    now: at('2026-11-25T10:00Z'),
    allowance: { ...allowance, left_today: 1, daily_cap: 1 },
  })
  const times = Object.fromEntries([...plan].map(([name, [time]]) => [name, time?.toISOString()]))
  expect(times).toEqual({
    first: '2026-11-25T10:00:00.000Z',
    second: '2026-11-26T06:00:00.000Z',
    third: '2026-11-27T06:00:00.000Z',
    late: '2026-11-30T14:00:00.000Z',
  })
})

test('nothing goes today if nothing is left of today, whatever the limit is', () => {
  const plan = timetable([person('a')], {
    waits: [0],
    window: hours,
    now: at('2026-11-25T10:00Z'),
    allowance: { ...allowance, left_today: 0 },
  })
  expect(plan.get('a')).toEqual([at('2026-11-26T06:00Z')])
})

test('who has no office hours is not planned', () => {
  const time_zones = ['Europe/Moscow', 'Asia/Kamchatka']
  const people = [person('a', { time_zones }), person('b', { time_zones }), person('c')]
  const given = { waits: [0], window: hours, now: at('2026-11-25T10:00Z'), allowance }
  expect([...timetable(people, given)]).toEqual([
    ['a', [null]],
    ['b', [null]],
    ['c', [at('2026-11-25T10:00Z')]],
  ])
})

test('what a recipient has had is not planned again', () => {
  const last = { had: 1, last_sent_at: at('2026-11-23T07:00Z') }
  const plan = timetable([person('a', last), person('b', last)], {
    waits: [0, 3],
    window: hours,
    now: at('2026-11-25T10:00Z'),
    allowance,
  })
  for (const name of ['a', 'b']) expect(plan.get(name)).toEqual([null, at('2026-11-26T06:00Z')])
})

test('the hours of a day are worked out once for all recipients of a time zone', () => {
  let looks = 0
  const window = {
    ...hours,
    get days() {
      looks += 1
      return hours.days
    },
  }
  const people = Array.from({ length: 200 }, (_, n) => person(`p${n}`))
  const plan = timetable(people, {
    waits: [0, 3],
    window,
    now: at('2026-11-25T10:00Z'),
    allowance: { ...allowance, left_today: 5, daily_cap: 5 },
  })
  const days = [...plan.values()].flat().map((time) => time?.toISOString().slice(0, 10))
  for (const [day, mails] of Map.groupBy(days, (one) => one)) {
    expect(mails.length, day).toBeLessThanOrEqual(5)
  }
  expect(days).not.toContain(undefined)
  expect(looks).toBeLessThan(3 * new Set(days).size)
})
