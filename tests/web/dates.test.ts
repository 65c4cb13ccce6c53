import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readDay, readTime, showDay, showTime } from '../../web/ui/dates/written.ts'

describe('a day', () => {
  test.each([
    ['tr', '05.03.2027'],
    ['en', '03/05/2027'],
    ['en-GB', '05/03/2027'],
    ['en-CA', '2027-03-05'],
  ])('is written in %s as %s, and read again', (locale, written) => {
    expect(showDay('2027-03-05', locale)).toBe(written)
    expect(readDay(written, locale)).toBe('2027-03-05')
  })

  test('that is none is written as nothing', () => {
    expect(showDay('', 'tr')).toBe('')
  })

  test.each([
    ['tr', '5.3.27'],
    ['tr', ' 05/03/2027 '],
    ['tr', '5 3 2027'],
    ['tr', '05032027'],
    ['tr', '050327'],
    ['tr', '5 Mart 2027'],
    ['tr', '5 mar. 2027'],
    ['tr', '2027-03-05'],
    ['tr', '2027-03-05T22:00:00Z'],
    ['en', '3/5/2027'],
    ['en', '03052027'],
    ['en', '030527'],
    // Nobody writes dots and means the American order.
    ['en', '5.3.2027'],
    ['en', 'March 5, 2027'],
    ['en', '5 MAR 2027'],
    ['en', '2027 March 5'],
    ['en', '2027/3/5'],
    ['en-GB', '5/3/2027'],
  ])('is read in %s of %j', (locale, written) => {
    expect(readDay(written, locale)).toBe('2027-03-05')
  })

  test('is read with the capitals of its language', () => {
    expect(readDay('1 ARALIK 2026', 'tr')).toBe('2026-12-01')
    expect(readDay('1 haz 2026', 'tr')).toBe('2026-06-01')
  })

  test.each([
    ['tr', ''],
    ['tr', 'yarın'],
    ['tr', '5.3'],
    ['tr', '31.02.2027'],
    ['tr', '29.02.2027'],
    ['tr', '05.13.2027'],
    ['tr', '00.03.2027'],
    ['tr', '05.03.202'],
    ['tr', '05.03.0027'],
    ['tr', '05.03.2027.1'],
    ['tr', '005.03.2027'],
    ['tr', '5 Mart 2027 Cuma'],
    ['tr', 'Ma 5 2027'],
    ['tr', '0503202'],
    ['en', '27/11/2026'],
    ['en', 'in March 2027 5 days'],
    ['en-GB', '11/27/2026'],
  ])('is not guessed in %s of %j', (locale, written) => {
    expect(readDay(written, locale)).toBeUndefined()
  })
})

describe('a time', () => {
  test.each([
    ['tr', '22:05', '22:05'],
    ['en-GB', '00:00', '00:00'],
    ['en', '22:05', '10:05 PM'],
    ['en', '00:30', '12:30 AM'],
  ])('is written in %s, %s as %s, and read again', (locale, time, written) => {
    expect(showTime(time, locale).replace(/\s/, ' ')).toBe(written)
    expect(readTime(showTime(time, locale))).toBe(time)
  })

  test('that is none is written as nothing', () => {
    expect(showTime('', 'tr')).toBe('')
  })

  test.each([
    ['7', '07:00'],
    ['7.30', '07:30'],
    ['730', '07:30'],
    ['2230', '22:30'],
    ['22:30:00', '22:30'],
    ['12 am', '00:00'],
    ['12 p.m.', '12:00'],
    ['9PM', '21:00'],
    ['24:00', '00:00'],
  ])('is read of %j as %s', (written, time) => {
    expect(readTime(written)).toBe(time)
  })

  test.each(['', 'noon', '25', '24:01', '22:60', '13 pm', '0 am', '22:30:15', '22:3'])(
    'is not guessed of %j',
    (written) => {
      expect(readTime(written)).toBeUndefined()
    },
  )
})

test('no page leaves a day or a time to the browser, which writes it in its own language', () => {
  const root = resolve(import.meta.dirname, '../..')
  const pages = globSync('{web,hub/web}/**/*.tsx', { cwd: root, exclude: ['**/node_modules'] })
  expect(pages.length).toBeGreaterThan(100)
  const native = /type="(date|time|datetime-local|month|week)"/
  expect(pages.filter((file) => native.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
})
