/** The headers and error responses that the operations of the OpenAPI document share. */
import { ApiError, CODES, type Code, problemOf } from '../../shared/problem.ts'
import { PLAN_REQUIRED } from '../auth.ts'
import { STATUS_DESCRIPTIONS } from '../http.ts'

const REQUEST_ID = '4bfa0f38-03af-40b2-94fd-bfbfa103270b'

export const HEADERS = {
  'X-Request-Id': {
    description: 'Identifies this request. Include it when you report a problem.',
    required: true,
    schema: { type: 'string' as const, format: 'uuid' },
    example: REQUEST_ID,
  },
  'RateLimit-Policy': {
    description:
      'The number `q` of requests allowed per window of `w` seconds. All keys of an account share it.',
    schema: { type: 'string' as const },
    example: '"account";q=600;w=60',
  },
  RateLimit: {
    description:
      'How many requests `r` remain, and in how many seconds `t` the budget is full again.',
    schema: { type: 'string' as const },
    example: '"account";r=598;t=41',
  },
  'Retry-After': {
    description: 'How many seconds to wait before trying again.',
    schema: { type: 'integer' as const, minimum: 0 },
    example: 5,
  },
  Location: {
    description: 'The address of what was created.',
    required: true,
    schema: { type: 'string' as const, format: 'uri-reference' },
    example: '/api/v1/zones/e5b4a992-ad4f-4a5c-9e97-5f5b4badc105',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate (RFC 6750).',
    required: true,
    schema: { type: 'string' as const },
    example: 'Bearer realm="watchpost"',
  },
}
type Header = keyof typeof HEADERS

export const refTo = (kind: 'headers' | 'responses', name: string) => `#/components/${kind}/${name}`

/** The headers of a response with this status. */
export function headersOf(status: number, isKeyed: boolean) {
  const names: Header[] = ['X-Request-Id']
  if (isKeyed && ![401, 402, 500, 503].includes(status)) names.push('RateLimit-Policy', 'RateLimit')
  if (status === 201) names.push('Location')
  if (status === 401) names.push('WWW-Authenticate')
  if ([409, 429, 503].includes(status)) names.push('Retry-After')
  return Object.fromEntries(names.map((name) => [name, { $ref: refTo('headers', name) }]))
}

const issue = (path: string, code: string, message: string) => ({ path, code, message })

/** An example of each error status. */
const REFUSALS: Record<string, ApiError> = {
  BadRequest: new ApiError('invalid_query', 'The query has a mistake. See "errors".', {
    issues: [
      issue(
        'min_serverity',
        'unknown_field',
        'There is no field "min_serverity". Check its spelling or leave it out.',
      ),
    ],
  }),
  Unauthenticated: of(
    'unauthenticated',
    'Send a valid API key as "Authorization: Bearer wp_live_…", or the access token of a session. Create keys in the account settings.',
  ),
  PlanRequired: of('plan_required', PLAN_REQUIRED),
  Forbidden: of(
    'insufficient_scope',
    'This requires a key with the scope "write". This key has: read.',
  ),
  NotFound: of('not_found', 'There is no such zone, or it is not yours.'),
  NotAcceptable: of('not_acceptable', 'This comes as application/json or application/geo+json.'),
  Conflict: of('conflict', 'The zone was changed in the meantime. Read it again and retry.'),
  Gone: of(
    'cursor_expired',
    'What was deleted since this cursor is no longer known. Forget what you have stored and start again without "after".',
  ),
  PreconditionFailed: of(
    'version_mismatch',
    'This is version 4, not 3: it was changed in the meantime. Read it again and repeat the change.',
  ),
  TooLarge: of('too_large', 'The body is over 2 MiB. Send a smaller one.'),
  UnsupportedMediaType: of('unsupported_media_type', 'Send the body as application/json.'),
  Invalid: new ApiError('invalid', 'The body has a mistake. See "errors".', {
    issues: [issue('radius_km', 'too_small', 'Must be at least 0.1.')],
  }),
  TooManyRequests: of('rate_limited', 'Too many requests. Try again in 12 s.'),
  Fault: of(
    'internal',
    'Something went wrong on our side. Try again; if it keeps failing, report the request_id.',
  ),
  Unavailable: of('unavailable', 'The database is temporarily unavailable. Try again.'),
}

function of(code: Code, detail: string): ApiError {
  return new ApiError(code, detail)
}

/** The name of the response component for an error status; undefined for other statuses. */
export function problemName(status: number): string | undefined {
  return Object.keys(REFUSALS).find((name) => {
    const refusal = REFUSALS[name]
    return refusal && CODES[refusal.code] === status
  })
}

export const PROBLEMS = Object.fromEntries(
  Object.entries(REFUSALS).map(([name, refusal]) => {
    const status = CODES[refusal.code]
    return [
      name,
      {
        description: STATUS_DESCRIPTIONS[status] ?? 'Refused.',
        headers: headersOf(status, true),
        content: {
          'application/problem+json': {
            schema: { $ref: '#/components/schemas/Problem' },
            example: problemOf(refusal, REQUEST_ID),
          },
        },
      },
    ]
  }),
)
