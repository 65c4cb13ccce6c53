/** The parts that all operations of the OpenAPI document share: headers and refusals. */
import { ApiError, CODES, type Code, problemOf } from '../../shared/problem.ts'
import { DESCRIPTIONS } from '../http.ts'

const REQUEST_ID = '4bfa0f38-03af-40b2-94fd-bfbfa103270b'

export const HEADERS = {
  'X-Request-Id': {
    description: 'Names this request; say it when you report a fault.',
    required: true,
    schema: { type: 'string' as const, format: 'uuid' },
    example: REQUEST_ID,
  },
  'RateLimit-Policy': {
    description:
      'The budget `q` of requests per window of `w` seconds; all keys of an account share it.',
    schema: { type: 'string' as const },
    example: '"account";q=600;w=60',
  },
  RateLimit: {
    description:
      'How many requests `r` are left, and in how many seconds `t` the budget is full again.',
    schema: { type: 'string' as const },
    example: '"account";r=598;t=41',
  },
  'Retry-After': {
    description: 'How many seconds to wait.',
    schema: { type: 'integer' as const, minimum: 0 },
    example: 5,
  },
  Location: {
    description: 'Where the new thing can be read.',
    required: true,
    schema: { type: 'string' as const, format: 'uri-reference' },
    example: '/api/v1/zones/e5b4a992-ad4f-4a5c-9e97-5f5b4badc105',
  },
  'WWW-Authenticate': {
    description: 'How to say who you are (RFC 6750).',
    required: true,
    schema: { type: 'string' as const },
    example: 'Bearer realm="watchpost"',
  },
}
type Header = keyof typeof HEADERS

export const refTo = (kind: 'headers' | 'responses', name: string) => `#/components/${kind}/${name}`

/** The headers an answer can carry. */
export function headersOf(status: number, isKeyed: boolean) {
  const names: Header[] = ['X-Request-Id']
  if (isKeyed && ![401, 402, 500, 503].includes(status)) names.push('RateLimit-Policy', 'RateLimit')
  if (status === 201) names.push('Location')
  if (status === 401) names.push('WWW-Authenticate')
  if ([409, 429, 503].includes(status)) names.push('Retry-After')
  return Object.fromEntries(names.map((name) => [name, { $ref: refTo('headers', name) }]))
}

const issue = (path: string, code: string, message: string) => ({ path, code, message })

/** One refusal of each status as it is answered. */
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
    'Send a valid API key as "Authorization: Bearer wp_live_…", or the access token of a session. Keys are made in the account settings.',
  ),
  PlanRequired: of(
    'plan_required',
    'The API needs the Pro or Enterprise plan. Your zones are paused, nothing is deleted; change the plan in the account settings.',
  ),
  Forbidden: of(
    'insufficient_scope',
    'This needs a key with the scope "write"; this key has read.',
  ),
  NotFound: of('not_found', 'There is no such zone, or it is not yours.'),
  NotAcceptable: of('not_acceptable', 'This comes as application/json or application/geo+json.'),
  Conflict: of('conflict', 'Somebody changed this zone meanwhile. Read it again and retry.'),
  TooLarge: of('too_large', 'The body is over 2 MiB. Send a smaller one.'),
  UnsupportedMediaType: of('unsupported_media_type', 'Send the body as application/json.'),
  Invalid: new ApiError('invalid', 'The body has a mistake. See "errors".', {
    issues: [issue('radius_km', 'too_small', 'Too small: expected number to be >=0.1')],
  }),
  TooManyRequests: of('rate_limited', 'Too many requests. Try again in 12 s.'),
  Fault: of(
    'internal',
    'Something went wrong here. Try again; if it stays, report the request_id.',
  ),
  Unavailable: of('unavailable', 'The database is away for a moment. Try again.'),
}

function of(code: Code, detail: string): ApiError {
  return new ApiError(code, detail)
}

/** The component that describes a refusal; undefined for what is none. */
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
        description: DESCRIPTIONS[status] ?? 'Refused.',
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
