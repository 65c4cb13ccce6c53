import pg from 'pg'
import { expect, test } from 'vitest'
import { translate, unavailable } from '../../../functions/errors.ts'
import { ApiError } from '../../../shared/problem.ts'

/** An error as node-postgres throws it. */
function failed(code: string, message = 'what the database says', constraint?: string) {
  const error = new pg.DatabaseError(message, message.length, 'error')
  return Object.assign(error, { code }, constraint === undefined ? {} : { constraint })
}
const told = (error: unknown): ApiError => {
  const translated = translate(error)
  if (!(translated instanceof ApiError)) throw new Error('it is still an error of Postgres')
  return translated
}

test.each<[state: string, code: string, detail: string]>([
  ['WP401', 'unauthenticated', 'key'],
  ['WP2FA', 'second_factor_required', 'Verify the second factor'],
  ['WP403', 'forbidden', 'You are not allowed to do this: what the database says.'],
  ['42501', 'forbidden', 'your role in the organisation does not allow it.'],
  ['WP404', 'not_found', 'what the database says'],
  ['WP409', 'conflict', 'what the database says'],
  ['WPNTS', 'nothing_to_send', 'what the database says'],
  ['WPOWN', 'owner_protected', 'what the database says'],
  ['WPLIM', 'limit_reached', 'The limit of the plan is reached: what the database says. Delete'],
  ['WPIDF', 'idempotency_in_flight', 'still running. Try again shortly.'],
  ['WPIDC', 'idempotency_mismatch', 'with a different body. Use a new key'],
  ...['22001', '22003', '22007', '22008', '22018', '22023', '22026', '22P02', '22P03'].map(
    (state): [string, string, string] => [state, 'malformed', 'between the years 1000 and 9999'],
  ),
  ['22021', 'malformed', 'Text must not contain the character U+0000.'],
  ['22P05', 'malformed', 'Text must not contain the character U+0000.'],
  ['23505', 'conflict', 'This already exists.'],
  ...['40001', '40P01', '55P03', '57014', '08006', '08P01', '53300', '57P01', '57P03'].map(
    (state): [string, string, string] => [state, 'unavailable', 'temporarily unavailable. Try'],
  ),
])('%s of Postgres is %s and says “%s”', (state, code, detail) => {
  const error = told(failed(state))
  expect([error.code, error.message]).toEqual([code, expect.stringContaining(detail)])
})

test.each(['40001', '57P01', '23505', '22003'])('what %s was is kept for the log', (state) => {
  const cause = failed(state)
  expect(told(cause).cause).toBe(cause)
})

test('of Postgres itself no message gets out, which may have hidden names', () => {
  for (const state of ['42501', '23505', '22003', '40001']) {
    expect(told(failed(state, 'relation "secret"')).message).not.toContain('secret')
  }
})

test('the way on is in the fields of the answer', () => {
  expect(told(failed('WPDAY', '3600'))).toMatchObject({
    code: 'rate_limited',
    message: expect.stringContaining('Nothing was stored. Try again in 3600 s.'),
    headers: { 'Retry-After': '3600' },
  })
  expect(told(failed('WPIDF'))).toMatchObject({ headers: { 'Retry-After': '1' } })
  expect(told(failed('WPORG'))).toMatchObject({
    issues: [
      { path: 'org_id', code: 'custom', message: 'You are not a member of this organisation.' },
    ],
  })
  expect(told(failed('23505', 'duplicate', 'zones_external_id'))).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('unique among your private zones'),
    issues: [{ path: 'external_id', code: 'taken' }],
  })
})

test.each([
  ...['connect ECONNREFUSED 127.0.0.1:1', 'write EPIPE', 'connect ETIMEDOUT'],
  ...['Connection terminated', 'timeout expired', 'Client was closed and is not queryable'],
])('without a state, “%s” is a database that is away', (message) => {
  const cause = new Error(message)
  expect(told(cause)).toMatchObject({ code: 'unavailable', cause })
  expect(unavailable(cause).message).toBe('The database is temporarily unavailable. Try again.')
})

test('a code of Node is read like its message', () => {
  const cause = Object.assign(new Error('read'), { code: 'ECONNRESET', errno: -104 })
  expect(told(cause).code).toBe('unavailable')
})

test('what is known already, and what nobody knows, stays as it is', () => {
  const known = new ApiError('conflict', 'It is closed.')
  for (const error of [known, failed('XX000'), failed('42P01'), failed('23503'), failed('10857')]) {
    expect(translate(error)).toBe(error)
  }
  for (const error of [new Error('a mistake of ours'), 'text', undefined]) {
    expect(translate(error)).toBe(error)
  }
})
