import { ApiError, invalid, notFound } from '../shared/problem.ts'
import { unauthenticated } from './credential.ts'
import { sqlState } from './db.ts'

/** What is said when a limit of the plan is reached; the message of the database names the limit. */
export function limitSentence(message: string): string {
  return `The limit of the plan is reached: ${message}. Delete some or change the plan.`
}

/** 429 for the daily limit of events; the database tells how many seconds to wait. */
function dayLimited(seconds: string): ApiError {
  return new ApiError(
    'rate_limited',
    `The daily limit of the plan for events does not leave room for this request. Nothing was stored. Try again in ${seconds} s.`,
    { headers: { 'Retry-After': seconds } },
  )
}

function sameExternalId(cause: unknown): ApiError {
  const message =
    'Another zone has this external_id already: it is unique among your private zones, and among those of an organisation.'
  return new ApiError('conflict', message, {
    issues: [{ path: 'external_id', code: 'taken', message }],
    cause,
  })
}

function constraintOf(error: unknown): unknown {
  return error instanceof Error && 'constraint' in error ? error.constraint : undefined
}

const SECOND_FACTOR =
  'This account has a second factor, and this session was signed in without it (aal1). Verify the second factor and send the new access token (aal2).'

/** Turns an error of Postgres into an ApiError by its SQLSTATE. An unknown error is returned unchanged. */
export function translate(error: unknown): unknown {
  if (error instanceof ApiError) return error
  const state = sqlState(error)
  switch (state) {
    case 'WP401':
      return unauthenticated()
    case 'WP2FA':
      return new ApiError('second_factor_required', SECOND_FACTOR)
    case 'WP403':
    case '42501':
      return new ApiError(
        'forbidden',
        `You are not allowed to do this: ${messageOf(error, state)}.`,
      )
    case 'WP404':
      return notFound(messageOf(error, state))
    case 'WP409':
      return new ApiError('conflict', messageOf(error, state))
    case 'WPNTS':
      return new ApiError('nothing_to_send', messageOf(error, state))
    case 'WPOWN':
      return new ApiError('owner_protected', messageOf(error, state))
    case 'WPLIM':
      return new ApiError('limit_reached', limitSentence(messageOf(error, state)))
    case 'WPORG':
      return invalid([
        { path: 'org_id', code: 'custom', message: 'You are not a member of this organisation.' },
      ])
    case 'WPDAY':
      return dayLimited(messageOf(error, state))
    case 'WPIDF':
      return new ApiError(
        'idempotency_in_flight',
        'The first request with this Idempotency-Key is still running. Try again shortly.',
        { headers: { 'Retry-After': '1' } },
      )
    case 'WPIDC':
      return new ApiError(
        'idempotency_mismatch',
        'This Idempotency-Key was used with a different body. Use a new key for a new request.',
      )
    case '22001':
    case '22003':
    case '22007':
    case '22008':
    case '22018':
    case '22023':
    case '22026':
    case '22P02':
    case '22P03':
      return new ApiError(
        'malformed',
        'A value in this request cannot be stored. Times must lie between the years 1000 and 9999; numbers and texts must have their documented form.',
        { cause: error },
      )
    case '22021':
    case '22P05':
      return new ApiError('malformed', 'Text must not contain the character U+0000.')
    case '23505':
      if (constraintOf(error) === 'zones_external_id') return sameExternalId(error)
      return new ApiError('conflict', 'This already exists.', { cause: error })
    case '40001':
    case '40P01':
    case '55P03':
    case '57014':
      return unavailable(error)
  }
  if (state === undefined ? isConnectionError(error) : /^(08|53|57P)/.test(state)) {
    return unavailable(error)
  }
  return error
}

export function unavailable(cause: unknown): ApiError {
  return new ApiError('unavailable', 'The database is temporarily unavailable. Try again.', {
    cause,
  })
}

function messageOf(error: unknown, state: string): string {
  // Only our own errors have messages for the caller; those of Postgres may reveal hidden names.
  return state.startsWith('WP') && error instanceof Error
    ? error.message
    : 'your role in the organisation does not allow it'
}

function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return /ECONN|EPIPE|ETIMEDOUT|terminated|timeout|not queryable|closed/i.test(
    `${'code' in error ? error.code : ''} ${error.message}`,
  )
}
