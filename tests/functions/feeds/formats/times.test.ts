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
  ])('%s is %s', (text, instant) => {
    expect(instantOfRfc822(text)).toBe(instant)
  })

  test.each([
    '30 Feb 2024 00:00:00 GMT',
    '01 Foo 2024 00:00:00 GMT',
    '01 Jan 2024 24:00:00 GMT',
    '01 Jan 2024 12:61:00 GMT',
    '01 Jan 2024 12:00:00 XYZ',
    '01 Jan 2024 12:00:00',
  ])('%s is no time and stays as it is', (text) => {
    expect(instantOfRfc822(text)).toBe(text)
  })
})
