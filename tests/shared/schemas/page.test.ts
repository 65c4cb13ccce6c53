import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  booleanParameter,
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  splitPage,
} from '../../../shared/schemas/page.ts'

const Position = z.tuple([z.string(), z.int()])
const FILTER = { status: 'active', types: ['storm'] }
const REFUSED = {
  code: 'invalid_cursor',
  detail: 'This cursor belongs to a different query. Start again without a cursor.',
}
const asCursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const partsOf = (cursor: string) => JSON.parse(Buffer.from(cursor, 'base64url').toString())

describe('a cursor', () => {
  test('leads back to its position, and none to the start', async () => {
    const cursor = await encodeCursor(FILTER, ['a', 1])
    expect(cursor).toMatch(/^[\w-]+$/)
    expect(await decodeCursor(FILTER, cursor, Position)).toEqual(['a', 1])
    expect(await decodeCursor(FILTER, undefined, Position)).toBeUndefined()
  })

  test('holds for the same filter in another order, with another limit or after another page', async () => {
    const cursor = await encodeCursor(FILTER, ['a', 1])
    for (const filter of [
      { types: ['storm'], status: 'active' },
      { ...FILTER, limit: 5 },
      { ...FILTER, cursor: 'x' },
      { ...FILTER, zone: undefined },
    ]) {
      expect(await decodeCursor(filter, cursor, Position)).toEqual(['a', 1])
    }
  })

  test.each([
    [{}],
    [{ ...FILTER, status: 'ended' }],
    [{ ...FILTER, zone: null }],
    [{ status: 'active' }],
    [{ state: 'active', types: ['storm'] }],
  ])('does not hold for %j', async (filter) => {
    const cursor = await encodeCursor(FILTER, ['a', 1])
    await expect(decodeCursor(filter, cursor, Position)).rejects.toMatchObject(REFUSED)
  })

  test('that was forged is refused, and the parameter is named', async () => {
    const [version, digest, ...position] = partsOf(await encodeCursor(FILTER, ['a', 1]))
    expect(version).toBe(1)
    // Long enough to tell filters apart, and no longer: a cursor is part of an address.
    expect(digest).toHaveLength(12)
    for (const cursor of [
      '',
      'x',
      asCursor({}),
      asCursor([2, digest, ...position]),
      asCursor([version, 'x', ...position]),
      asCursor([version, digest, 'a']),
      asCursor([version, digest, 'a', '1']),
      asCursor([version, digest, 'a\0', 1]),
    ]) {
      const decoded = decodeCursor(FILTER, cursor, Position, 'after')
      await expect(decoded).rejects.toMatchObject({
        ...REFUSED,
        issues: [
          {
            path: 'after',
            code: 'invalid_cursor',
            message: 'Must be the next_cursor of a page with the same filter.',
          },
        ],
      })
    }
    await expect(decodeCursor(FILTER, 'x', Position)).rejects.toMatchObject({
      issues: [{ path: 'cursor' }],
    })
  })

  test('has at most 2000 characters', () => {
    expect(CursorQuery.safeParse(undefined).success).toBe(true)
    expect(CursorQuery.safeParse('x'.repeat(2000)).success).toBe(true)
    expect(CursorQuery.safeParse('x'.repeat(2001)).success).toBe(false)
  })
})

test.each([
  [[], 2, [], undefined],
  [[1], 2, [1], undefined],
  [[1, 2], 2, [1, 2], undefined],
  [[1, 2, 3], 2, [1, 2], 2],
  [[1, 2, 3, 4], 3, [1, 2, 3], 3],
])('%j is a page of at most %d and its last row', (rows, limit, page, last) => {
  expect(splitPage(rows, limit)).toEqual({ page, last })
})

test('a number in a query is whole and within its bounds, or the default', () => {
  const parameter = integerParameter(1, 100, 20, 'How many.')
  expect(['1', '100', undefined].map((text) => parameter.parse(text))).toEqual([1, 100, 20])
  for (const text of ['0', '101', '1.5', 'x', ''])
    expect(parameter.safeParse(text).success, text).toBe(false)
  expect(z.toJSONSchema(parameter)).toMatchObject({
    ...{ type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'How many.' },
  })
})

test('a choice in a query is true, false or absent', () => {
  const parameter = booleanParameter('Whether.')
  expect(['true', 'false', undefined].map((text) => parameter.parse(text))).toEqual([
    true,
    false,
    undefined,
  ])
  for (const text of ['', '1', 'TRUE']) expect(parameter.safeParse(text).success, text).toBe(false)
})
