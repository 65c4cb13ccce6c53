import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { z } from 'zod'
import './words/issue-words.ts'

/** The products that answer errors: the watch-zone service and the hub. */
type Product = 'service' | 'hub'

/** Every error code: its HTTP status and the product that answers it. */
const TABLE = {
  malformed: { status: 400, product: 'both' },
  invalid_query: { status: 400, product: 'both' },
  invalid_cursor: { status: 400, product: 'both' },
  unauthenticated: { status: 401, product: 'both' },
  read_only_key: { status: 401, product: 'hub' },
  plan_required: { status: 402, product: 'service' },
  license_limit: { status: 402, product: 'hub' },
  insufficient_scope: { status: 403, product: 'service' },
  forbidden: { status: 403, product: 'both' },
  second_factor_required: { status: 403, product: 'service' },
  not_found: { status: 404, product: 'both' },
  method_not_allowed: { status: 405, product: 'both' },
  not_acceptable: { status: 406, product: 'service' },
  conflict: { status: 409, product: 'both' },
  wrong_state: { status: 409, product: 'hub' },
  audience_changed: { status: 409, product: 'hub' },
  limit_reached: { status: 409, product: 'service' },
  nothing_to_send: { status: 409, product: 'service' },
  owner_protected: { status: 409, product: 'service' },
  idempotency_in_flight: { status: 409, product: 'service' },
  cursor_expired: { status: 410, product: 'service' },
  version_mismatch: { status: 412, product: 'service' },
  too_large: { status: 413, product: 'both' },
  unsupported_media_type: { status: 415, product: 'both' },
  invalid: { status: 422, product: 'both' },
  idempotency_mismatch: { status: 422, product: 'service' },
  too_much_work: { status: 422, product: 'service' },
  rate_limited: { status: 429, product: 'both' },
  internal: { status: 500, product: 'both' },
  unavailable: { status: 503, product: 'both' },
} as const satisfies Record<string, { status: ContentfulStatusCode; product: Product | 'both' }>
export type Code = keyof typeof TABLE

const ROWS = Object.entries(TABLE) as [Code, (typeof TABLE)[Code]][] // safe: the keys of the table are the codes

/** The HTTP status of each error code. The title of a problem is the code in words. */
export const CODES = Object.fromEntries(ROWS.map(([code, { status }]) => [code, status])) as {
  [C in Code]: (typeof TABLE)[C]['status']
}

/** The codes that a product can answer, in the order of the table. */
export function codesOf(product: Product): Code[] {
  return ROWS.filter(([, row]) => row.product === product || row.product === 'both').map(
    ([code]) => code,
  )
}

/** A sentence in English, or one per language by its tag (`en` is required). */
type LocalizedText = string | Readonly<Record<'en', string> & Record<string, string>>

export type Issue = { path: string; code: string; message: LocalizedText }
/** One in English only. */
export type EnglishIssue = Issue & { message: string }

/** An error for the caller: `code` is a stable identifier, `detail` says what to do next. */
export class ApiError extends Error {
  readonly code: Code
  readonly detail: LocalizedText
  readonly issues: Issue[] | undefined
  readonly headers: Record<string, string>

  constructor(
    code: Code,
    detail: LocalizedText,
    options: { issues?: Issue[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(inEnglish(detail), { cause: options.cause })
    this.code = code
    this.detail = detail
    this.issues = options.issues
    this.headers = options.headers ?? {}
  }
}

/** The schema of an error answer (RFC 9457 problem details) with these codes. */
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

const inEnglish = (sentence: LocalizedText) =>
  typeof sentence === 'string' ? sentence : sentence.en

/** The body of an error answer, in English. */
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

/** The response for an error, as application/problem+json (RFC 9457); `realm` is that of a 401. */
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

/** The meanings of error statuses that both products share; each product adds its own. */
export const MEANINGS: Partial<Record<number, string>> = {
  400: 'The query, a cursor or the JSON is malformed.',
  404: 'It does not exist.',
  422: 'A field of the body is invalid; `errors` names it.',
  500: 'An internal error.',
}

/** The error responses of a route, by status. */
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

/** Turns anything thrown into an ApiError. What is unknown becomes `internal`, with the original as its cause. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof HTTPException) {
    if (error.status === 415) {
      return new ApiError('unsupported_media_type', 'Send the body as application/json.')
    }
    if (error.status === 413) return tooLarge()
    if (error.status === 400) return new ApiError('malformed', whatIsMalformed(error))
  }
  return new ApiError(
    'internal',
    'Something went wrong on our side. Try again; if it keeps failing, report the request_id.',
    {
      cause: error,
    },
  )
}

/** The validator of Hono reads JSON and forms; only its message tells which of them it could not read. */
function whatIsMalformed({ message }: HTTPException): string {
  return /FormData/.test(message)
    ? 'The form is damaged. Send it again.'
    : 'The body is not valid JSON.'
}

export const tooLarge = () =>
  new ApiError('too_large', 'The body is over 2 MiB. Send a smaller one.')

/** Zod's issues in the form of the API: dotted path, stable code, message. */
export function issuesOf(error: z.core.$ZodError): EnglishIssue[] {
  return error.issues.flatMap((issue): EnglishIssue[] => {
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

/** The most entries of `errors` in one answer. */
export const MAX_ISSUES = 100

/** 422 for a body, 400 for a query or a header, 404 for a path; lists up to {@link MAX_ISSUES} mistakes. */
export function invalidInput(target: string, issues: Issue[]): ApiError {
  if (target === 'param') return notFound()
  if (target === 'json' || target === 'form') return invalid(issues)
  return refuse('invalid_query', target === 'header' ? 'A header' : 'The query', issues)
}

/** 422 for these issues of a body. */
export function invalid(issues: Issue[]): ApiError {
  return refuse('invalid', 'The body', issues)
}

function refuse(code: 'invalid' | 'invalid_query', what: string, issues: Issue[]): ApiError {
  const count = issues.length === 1 ? 'a mistake' : `${issues.length} mistakes`
  const which =
    issues.length > MAX_ISSUES ? `"errors" has the first ${MAX_ISSUES} of them` : 'See "errors"'
  return new ApiError(code, `${what} has ${count}. ${which}.`, {
    issues: issues.slice(0, MAX_ISSUES),
  })
}

/** 404, also for what belongs to somebody else. */
export function notFound(thing = 'thing'): ApiError {
  return new ApiError('not_found', `There is no such ${thing}, or it is not yours.`)
}

/** An error for the log: its name, code and message, and five lines of its stack. */
export function describeError(error: unknown): Record<string, unknown> {
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
