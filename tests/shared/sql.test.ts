import pg from 'pg'
import { describe, expect, test } from 'vitest'
import {
  raw,
  requireCommit,
  rollBack,
  sqlOn,
  statementName,
  wireTypes,
  withoutValues,
} from '../../shared/sql.ts'

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

  test.each([
    ['2026-11-23 15:43:09.12+00', '2026-11-23T15:43:09.120Z'],
    ['0044-03-15 12:00:00+00 BC', null],
    ['x2026-11-23 15:43:09+00', null],
  ])('%s is %s', (text, iso) => {
    if (iso === null) expect(() => parse(text)).toThrow(RangeError)
    else expect(parse(text)).toBe(iso)
  })

  test('that never comes is refused', () => {
    expect(() => parse('infinity')).toThrow(RangeError)
  })
})

test('other types: days as they are written, counts as numbers, the rest as pg reads them', () => {
  const { getTypeParser } = wireTypes(pg.types)
  const { DATE, INT8, INT4, BOOL, TIMESTAMP, BYTEA } = pg.types.builtins
  expect(getTypeParser(DATE)('2026-11-23')).toBe('2026-11-23')
  expect(getTypeParser(INT8)('9007199254740991')).toBe(9007199254740991)
  expect([getTypeParser(INT4)('7'), getTypeParser(BOOL)('t')]).toEqual([7, true])
  expect(getTypeParser(TIMESTAMP)).toBe(pg.types.getTypeParser(TIMESTAMP))
  expect(getTypeParser(BYTEA, 'binary')).toBe(pg.types.getTypeParser(BYTEA, 'binary'))
})

test('values become parameters, raw texts a part of the statement', async () => {
  const asked: unknown[] = []
  const sql = sqlOn({
    query: async (text, values) => {
      asked.push([text, values])
      return { rows: [{ id: 1 }] }
    },
  })
  const columns = raw('id, label')
  expect(await sql`select ${columns} from zones where id = ${1} and label = ${'a'}`).toEqual([
    { id: 1 },
  ])
  await sql`select ${null}, ${undefined}`
  await sql`select 1`
  expect(asked).toEqual([
    ['select id, label from zones where id = $1 and label = $2', [1, 'a']],
    ['select $1, $2', [null, undefined]],
    ['select 1', []],
  ])
})

test('a statement has one name, in every process, and another statement another', () => {
  expect(statementName('select 2')).toBe('w3cf988cc782b44bc24ceb17e445d9c3c')
  const name = statementName('select 1')
  expect(name).toMatch(/^w[0-9a-f]{32}$/)
  expect(statementName('select 1')).toBe(name)
  expect(statementName('select 1 ')).not.toBe(name)
})

describe('an error of PostgreSQL', () => {
  const failure = (fields: object) =>
    Object.assign(new Error('invalid input: "a secret"'), fields, {
      ...{ detail: 'a secret', hint: 'a secret', where: 'a secret', internalQuery: 'a secret' },
    })

  test('about a value is told without it, with its code, routine and place', () => {
    const told = failure({ code: '22P02', routine: 'string_to_uuid' })
    const place = told.stack?.slice(told.stack.indexOf('\n'))
    expect(place).toContain('sql.test.ts')
    expect(withoutValues(told)).toBe(told)
    const message = 'PostgreSQL refused a value (SQLSTATE 22P02, string_to_uuid)'
    expect([told.message, told.stack]).toEqual([message, `Error: ${message}${place}`])
    expect({ ...told }).toEqual({ code: '22P02', routine: 'string_to_uuid' })
  })

  test('names no routine when it knows none', () => {
    const told = failure({ code: '22001' })
    withoutValues(told)
    expect(told.message).toBe('PostgreSQL refused a value (SQLSTATE 22001)')
    expect(String(told.stack)).not.toContain('secret')
  })

  test('without a stack is told all the same', () => {
    const told = Object.assign(failure({ code: '22001' }), { stack: undefined })
    expect(withoutValues(told)).toMatchObject({ message: expect.stringContaining('22001') })
  })

  test.each(['23505', '12200', '42703', undefined])('of the code %s stays as it is', (code) => {
    const told = failure({ code })
    expect(withoutValues(told)).toBe(told)
    expect([told.message, told.detail]).toEqual(['invalid input: "a secret"', 'a secret'])
  })

  test.each([[null], ['text'], [{ code: '22P02', message: 'x' }]])('%j is none', (thrown) => {
    expect(withoutValues(thrown)).toBe(thrown)
  })

  test('without a code stays as it is', () => {
    const told = new Error('22')
    expect(withoutValues(told)).toBe(told)
    expect(told.message).toBe('22')
  })
})

describe('the end of a transaction', () => {
  test('is a commit, or fails', () => {
    expect(() => requireCommit({ command: 'COMMIT' })).not.toThrow()
    expect(() => requireCommit({ command: 'ROLLBACK' })).toThrow(
      'the transaction was rolled back at commit',
    )
  })

  test.each([
    ['given back', false, [['rollback'], ['release', undefined]]],
    ['thrown away when it is broken', true, [['rollback'], ['release', true]]],
  ])('that failed is rolled back, and its connection %s', async (_, is_broken, expected) => {
    const done: unknown[] = []
    await rollBack({
      query: async (text) => {
        done.push([text])
        if (is_broken) throw new Error('gone')
        return { rows: [] }
      },
      release: (broken) => done.push(['release', broken]),
    })
    expect(done).toEqual(expected)
  })
})
