import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { z } from 'zod'

/** Every error code of both products and its status; the title is the code in words. */
export const CODES = {
  malformed: 400,
  invalid_query: 400,
  invalid_cursor: 400,
  unauthenticated: 401,
  read_only_key: 401,
  plan_required: 402,
  license_limit: 402,
  insufficient_scope: 403,
  forbidden: 403,
  second_factor_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
  wrong_state: 409,
  audience_changed: 409,
  limit_reached: 409,
  owner_protected: 409,
  idempotency_in_flight: 409,
  too_large: 413,
  unsupported_media_type: 415,
  invalid: 422,
  idempotency_mismatch: 422,
  too_much_work: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const satisfies Record<string, ContentfulStatusCode>
export type Code = keyof typeof CODES

/** A sentence in English, or by language tag in more than that. */
export type Sentence = string | Readonly<Record<'en', string> & Record<string, string>>

export type Issue = { path: string; code: string; message: Sentence }

/** An error whose code and detail the caller may read; `detail` says what to do next. */
export class ApiError extends Error {
  readonly code: Code
  readonly detail: Sentence
  readonly issues: Issue[] | undefined
  readonly headers: Record<string, string>

  constructor(
    code: Code,
    detail: Sentence,
    options: { issues?: Issue[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(inEnglish(detail), { cause: options.cause })
    this.code = code
    this.detail = detail
    this.issues = options.issues
    this.headers = options.headers ?? {}
  }
}

/** RFC 9457 problem details, as every error answer of a product that has these codes has them. */
export function problemSchema(codes: readonly Code[]) {
  return z
    .object({
      type: z.string().meta({ example: 'https://watchpost.dev/problems/not_found' }),
      title: z.string().meta({ example: 'Not found' }),
      status: z.int().meta({ example: 404 }),
      detail: z.string().meta({ example: 'There is no such zone, or it is not yours.' }),
      code: z.enum(codes),
      request_id: z.string(),
      errors: z
        .array(z.object({ path: z.string(), code: z.string(), message: z.string() }))
        .optional(),
    })
    .meta({ id: 'Problem', description: 'RFC 9457 problem details.' })
}

const inEnglish = (sentence: Sentence) => (typeof sentence === 'string' ? sentence : sentence.en)

/** The body of an error's answer, in English. */
export function problemOf(
  error: ApiError,
  request_id: string,
): z.infer<ReturnType<typeof problemSchema>> {
  const words = error.code.replaceAll('_', ' ')
  return {
    type: `https://watchpost.dev/problems/${error.code}`,
    title: words.charAt(0).toUpperCase() + words.slice(1),
    status: CODES[error.code],
    detail: error.message,
    code: error.code,
    request_id,
    ...(error.issues
      ? {
          errors: error.issues.map(({ path, code, message }) => ({
            path,
            code,
            message: inEnglish(message),
          })),
        }
      : {}),
  }
}

/** Answers an error as application/problem+json; `realm` is what a 401 names. */
export function answerProblem(
  c: Context,
  error: ApiError,
  options: { realm: string; body: object; headers?: Record<string, string> },
): Response {
  const status = CODES[error.code]
  const headers: Record<string, string> = {
    'Content-Type': 'application/problem+json',
    ...options.headers,
    ...error.headers,
  }
  if (status === 401) headers['WWW-Authenticate'] = `Bearer realm="${options.realm}"`
  if (status === 503 && !headers['Retry-After']) headers['Retry-After'] = '5'
  return c.body(JSON.stringify(options.body), status, headers)
}

/** What a status means in every product; each says of the others what they mean there. */
export const MEANINGS: Partial<Record<number, string>> = {
  400: 'Malformed request: the query, a cursor or the JSON itself.',
  404: 'There is no such thing.',
  422: 'A field of the body is wrong; `errors` names it.',
  500: 'A fault here.',
}

/** The problem answers of a route, by status. */
export function problemAnswers<S extends z.ZodType>(
  statuses: number[],
  { schema, meanings }: { schema: S; meanings: Partial<Record<number, string>> },
) {
  const answer = (status: number) => ({
    description: meanings[status] ?? 'Refused.',
    content: { 'application/problem+json': { schema } },
  })
  const sorted = [...new Set(statuses)].sort((a, b) => a - b)
  return Object.fromEntries(sorted.map((status) => [status, answer(status)]))
}

/** Turns whatever was thrown into the error the caller gets; what it was stays in the log. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof HTTPException) {
    if (error.status === 415) {
      return new ApiError('unsupported_media_type', 'Send the body as application/json.')
    }
    if (error.status === 413) return tooLarge()
    if (error.status === 400) return new ApiError('malformed', 'The body is not valid JSON.')
  }
  return new ApiError(
    'internal',
    'Something went wrong here. Try again; if it stays, report the request_id.',
    {
      cause: error,
    },
  )
}

export const tooLarge = () =>
  new ApiError('too_large', 'The body is over 2 MiB. Send a smaller one.')

/** Zod's issues as the wire has them: dotted path, stable code, a message that says the way out. */
export function issuesOf(error: z.core.$ZodError): Issue[] {
  return error.issues.flatMap((issue): Issue[] => {
    const path = issue.path.join('.')
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: path ? `${path}.${key}` : key,
        code: 'unknown_field',
        message: `There is no field "${key}". Check its spelling or leave it out.`,
      }))
    }
    return [{ path, code: issue.code, message: issue.message }]
  })
}

/** More than that nobody reads at once. */
export const MOST_ISSUES = 100

/** 422 for a body, 400 for a query: every mistake named, up to {@link MOST_ISSUES}. */
export function invalidInput(target: string, issues: Issue[]): ApiError {
  if (target === 'param') return notFound()
  if (target === 'json') return invalid(issues)
  return refuse('invalid_query', 'The query', issues)
}

/** 422 for a body. */
export function invalid(issues: Issue[]): ApiError {
  return refuse('invalid', 'The body', issues)
}

function refuse(code: 'invalid' | 'invalid_query', what: string, issues: Issue[]): ApiError {
  const count = issues.length === 1 ? 'a mistake' : `${issues.length} mistakes`
  const which =
    issues.length > MOST_ISSUES ? `"errors" has the first ${MOST_ISSUES} of them` : 'See "errors"'
  return new ApiError(code, `${what} has ${count}. ${which}.`, {
    issues: issues.slice(0, MOST_ISSUES),
  })
}

/** 404, also for what belongs to somebody else. */
export function notFound(thing = 'thing'): ApiError {
  return new ApiError('not_found', `There is no such ${thing}, or it is not yours.`)
}

/** A fault for the log: its class, code and message, and where it arose; never its values. */
export function faultOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) }
  return {
    name: error.name,
    message: error.message,
    ...('code' in error ? { code: error.code } : {}),
    stack: error.stack
      ?.split('\n')
      .slice(1, 6)
      .map((line) => line.trim()),
  }
}
