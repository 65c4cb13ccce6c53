import { describe, expect, test } from 'vitest'
import { instantOfIso, instantOfRfc822 } from '../../../../functions/feeds/formats/times.ts'

describe('times of upstreams', () => {
  test.each([
    ['2026-10-03T02:02:32.71Z', '2026-10-03T02:02:32.710Z'],
    ['2026-09-09T15:40:44.271453Z', '2026-09-09T15:40:44.271Z'],
    ['2021-12-11T22:21:00-05:00', '2021-12-12T03:21:00.000Z'],
    ['2026-03-01 12:00:00Z', '2026-03-01T12:00:00.000Z'],
    [' 2026-03-01T12:00:00Z ', '2026-03-01T12:00:00.000Z'],
  ])('%s is %s', (text, instant) => {
    expect(instantOfIso(text)).toBe(instant)
  })

  test('a time without a zone is UTC only where the source says so', () => {
    expect(instantOfIso('2026-09-21T03:00:00', { local: 'utc' })).toBe('2026-09-21T03:00:00.000Z')
    expect(instantOfIso('2026-09-21T03:00:00')).toBe('2026-09-21T03:00:00')
  })

  test.each([
    ['2026-09-21T03:00:00+02:00', '2026-09-21T01:00:00.000Z'],
    ['2026-09-21T03:00:00Z', '2026-09-21T03:00:00.000Z'],
    ['2026-09-21 03:00', '2026-09-21T03:00:00.000Z'],
    ['2026-09-21T03:00:00-05:00', '2026-09-21T08:00:00.000Z'],
  ])('%s is %s where the source says so', (text, instant) => {
    expect(instantOfIso(text, { local: 'utc' })).toBe(instant)
  })

  test.each(['', 'now', '2026', '2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '1772366400'])(
    '"%s" is not a time and stays as it is',
    (text) => {
      expect(instantOfIso(text, { local: 'utc' })).toBe(text)
      expect(instantOfRfc822(text)).toBe(text)
    },
  )

  test.each([
    ['Sun, 29 Dec 2019 12:00:00 GMT', '2019-12-29T12:00:00.000Z'],
    ['Thu, 17 Sep 2026 14:32:10 -0400', '2026-09-17T18:32:10.000Z'],
    ['6 Jun 2022 05:49 EDT', '2022-06-06T09:49:00.000Z'],
    ['29 Feb 2024 00:00:00 +0530', '2024-02-28T18:30:00.000Z'],
    [' Mon,1 Jan  2024 00:00 Z\n', '2024-01-01T00:00:00.000Z'],
    ['31 Dec 2023 23:59:60 GMT', '2024-01-01T00:00:00.000Z'],
    ['01 Jan 2024 12:00 GMT', '2024-01-01T12:00:00.000Z'],
  ])('%s is %s', (text, instant) => {
    expect(instantOfRfc822(text)).toBe(instant)
  })

  test.each([
    '30 Feb 2024 00:00:00 GMT',
    '00 Jan 2024 00:00:00 GMT',
    '01 Jan 2024 12:00:61 GMT',
    '01 Jan 2024 12:60:00 GMT',
    '01 Jan 2024 12:00:00 0100',
    '01 Jan 2024 12:00:00 +01000',
    'On 01 Jan 2024 12:00:00 GMT',
    '01 Jan 2024 12:00:00 GMT.',
    '001 Jan 2024 12:00:00 GMT',
    '01 Foo 2024 00:00:00 GMT',
    '01 Jan 2024 24:00:00 GMT',
    '01 Jan 2024 12:61:00 GMT',
    '01 Jan 2024 12:00:00 XYZ',
    '01 Jan 2024 12:00:00',
  ])('%s is no time and stays as it is', (text) => {
    expect(instantOfRfc822(text)).toBe(text)
  })

  test.each(
    Object.entries({
      ...{ GMT: 0, UT: 0, UTC: 0, Z: 0, EDT: 4, EST: 5, CDT: 5, CST: 6, MDT: 6, MST: 7, PDT: 7 },
      ...{ PST: 8, '-0330': 3.5, '+0000': 0 },
    }),
  )('in the zone %s it is %d hours before UTC', (zone, hours) => {
    const time = new Date(Date.UTC(2024, 5, 1, 12) + hours * 3_600_000)
    expect(instantOfRfc822(`01 Jun 2024 12:00:00 ${zone}`)).toBe(time.toISOString())
  })

  test('each month has its name', () => {
    const names = [
      'Jan',
      'Feb',
      'Mar',
      'Apr',
      'May',
      'Jun',
      'Jul',
      'Aug',
      'Sep',
      'Oct',
      'Nov',
      'Dec',
    ]
    expect(names.map((name) => instantOfRfc822(`28 ${name} 2024 00:00 GMT`))).toEqual(
      names.map((_, month) => new Date(Date.UTC(2024, month, 28)).toISOString()),
    )
  })
})
