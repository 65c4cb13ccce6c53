import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { statementName, wireTypes } from '../../shared/sql.ts'

describe('a time from PostgreSQL', () => {
  const parse = wireTypes(pg.types).getTypeParser(pg.types.builtins.TIMESTAMPTZ)

  test.each([
    ['2026-11-23 15:43:09+00', '2026-11-23T15:43:09.000Z'],
    ['2026-11-23 15:43:09.1+00', '2026-11-23T15:43:09.100Z'],
    ['2026-11-23 15:43:09.123456+00', '2026-11-23T15:43:09.123Z'],
    ['1000-01-01 00:00:00.999999+00', '1000-01-01T00:00:00.999Z'],
  ])('in UTC, %s, is what Date makes of it', (text, iso) => {
    expect(parse(text)).toBe(iso)
    expect(new Date(text).toISOString()).toBe(iso)
  })

  test.each([
    ['2026-11-23 15:43:09.5+05:30', '2026-11-23T10:13:09.500Z'],
    ['2026-11-23 15:43:09-08', '2026-11-23T23:43:09.000Z'],
    ['10000-01-01 00:00:00+00', '+010000-01-01T00:00:00.000Z'],
  ])('that is written otherwise, %s, is turned into UTC', (text, iso) => {
    expect(parse(text)).toBe(iso)
  })

  test('that never comes is refused', () => {
    expect(() => parse('infinity')).toThrow(RangeError)
  })
})

test('a statement has one name, and another statement another', () => {
  const name = statementName('select 1')
  expect(name).toMatch(/^w[0-9a-f]{32}$/)
  expect(statementName('select 1')).toBe(name)
  expect(statementName('select 1 ')).not.toBe(name)
})
