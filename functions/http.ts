import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { z } from 'zod'
import type { Caller, Scope } from './auth.ts'
import type { Credential } from './credential.ts'
import type { Deps } from './deps.ts'

/** What a request carries besides its input. */
export type Env = {
  Variables: {
    deps: Deps
    request_id: string
    /** Which door the request came through; decided here, never by the request. */
    via: 'api' | 'console' | 'mcp'
    /** What the request shows; who that is, only the database knows. */
    credential?: Credential
    caller?: Caller
    /** What the route asks of a caller, set by `can`. */
    scope?: Scope
    /** The route is for people who signed in, on any plan; set by `signedIn`. */
    needs_session?: true
    /** What the one log line of this request says besides the usual. */
    log: Record<string, unknown>
  }
}
export type Ctx = Context<Env>

/** Every error code of the API and its status; the title is the code in words. */
export const CODES = {
  malformed: 400,
  invalid_query: 400,
  invalid_cursor: 400,
  unauthenticated: 401,
  plan_required: 402,
  license_limit: 402,
  insufficient_scope: 403,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
  limit_reached: 409,
  owner_protected: 409,
  idempotency_in_flight: 409,
  too_large: 413,
  unsupported_media_type: 415,
  invalid: 422,
  idempotency_mismatch: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const satisfies Record<string, ContentfulStatusCode>
export type Code = keyof typeof CODES

export type Issue = { path: string; code: string; message: string }

/** An error whose code and message the caller may read; `message` says what to do next. */
export class ApiError extends Error {
  readonly code: Code
  readonly issues: Issue[] | undefined
  readonly headers: Record<string, string>

  constructor(
    code: Code,
    message: string,
    options: { issues?: Issue[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.issues = options.issues
    this.headers = options.headers ?? {}
  }
}

/** RFC 9457 problem details, as every error answer has them. */
export const Problem = z
  .object({
    type: z.string().meta({ example: 'https://watchpost.dev/problems/not_found' }),
    title: z.string().meta({ example: 'Not found' }),
    status: z.int().meta({ example: 404 }),
    detail: z.string().meta({ example: 'There is no such zone, or it is not yours.' }),
    code: z.enum(Object.keys(CODES) as [Code, ...Code[]]), // safe: CODES is not empty
    request_id: z.string(),
    errors: z
      .array(z.object({ path: z.string(), code: z.string(), message: z.string() }))
      .optional(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details.' })

/** The body of an error's answer. */
export function problemOf(error: ApiError, request_id: string): z.infer<typeof Problem> {
  const words = error.code.replaceAll('_', ' ')
  return {
    type: `https://watchpost.dev/problems/${error.code}`,
    title: words.charAt(0).toUpperCase() + words.slice(1),
    status: CODES[error.code],
    detail: error.message,
    code: error.code,
    request_id,
    ...(error.issues ? { errors: error.issues } : {}),
  }
}

/** Answers an error as application/problem+json. */
export function problem(c: Ctx, error: ApiError): Response {
  const status = CODES[error.code]
  const headers: Record<string, string> = {
    'Content-Type': 'application/problem+json',
    ...error.headers,
  }
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer realm="watchpost"'
  if (status === 503 && !headers['Retry-After']) headers['Retry-After'] = '5'
  return c.body(JSON.stringify(problemOf(error, c.get('request_id'))), status, headers)
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

/** 422 for a body, 400 for a query: every mistake named. */
export function invalidInput(target: string, issues: Issue[]): ApiError {
  if (target === 'param') return notFound()
  if (target === 'json') return invalid(issues)
  return new ApiError('invalid_query', `The query has ${count(issues)}. See "errors".`, { issues })
}

const count = (issues: Issue[]) => (issues.length === 1 ? 'a mistake' : `${issues.length} mistakes`)

/** 422 for one field. */
export function invalid(issues: Issue[]): ApiError {
  return new ApiError('invalid', `The body has ${count(issues)}. See "errors".`, { issues })
}

/** 404, also for what belongs to somebody else. */
export function notFound(thing = 'thing'): ApiError {
  return new ApiError('not_found', `There is no such ${thing}, or it is not yours.`)
}

/** 409 for what the plan does not allow more of; the database's own words name the limit. */
export function issueOfLimit(message: string): ApiError {
  return new ApiError(
    'limit_reached',
    `No more of these: ${message}. Delete some or change the plan.`,
  )
}

/** Answers JSON that has passed through its schema: what the document promises is what is sent. */
export function answer<S extends z.ZodType, T extends ContentfulStatusCode>(
  c: Ctx,
  schema: S,
  value: z.input<S>,
  status: T,
  headers?: Record<string, string>,
) {
  const parsed = schema.parse(value) as z.output<S> // safe: parse returns the schema's output
  return c.json(parsed as never, status, headers) as never
}

/** A JSON answer in an OpenAPI description. */
export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { 'application/json': { schema } } }
}

/** A required JSON body in an OpenAPI description. */
export function body<S extends z.ZodType>(schema: S) {
  return { required: true as const, content: { 'application/json': { schema } } }
}

/** What each refusal means, wherever it happens. */
export const DESCRIPTIONS: Partial<Record<number, string>> = {
  400: 'Malformed request: the query, a cursor or the JSON itself.',
  401: 'The key or session token is missing, unknown, revoked or expired.',
  402: 'The account is below the Pro plan.',
  403: 'The key lacks the scope, or the caller the role.',
  404: 'There is no such thing, or it is not yours.',
  406: 'None of the forms in Accept is one of ours.',
  409: 'It conflicts with what is stored, or with a limit of the plan.',
  413: 'The body is over 2 MiB.',
  415: 'The body is not JSON.',
  422: 'A field of the body is wrong; `errors` names it.',
  429: 'Too many requests; wait as Retry-After says.',
  500: 'A fault here.',
  503: 'The database is away; try again.',
}

type ProblemResponse = {
  description: string
  content: { 'application/problem+json': { schema: typeof Problem } }
}

/** The problem answers of a keyed route: the usual ones and the given. */
export function problems(...statuses: number[]): Record<number, ProblemResponse> {
  const all = [400, 401, 402, 403, 429, 500, 503, ...statuses].sort((a, b) => a - b)
  return Object.fromEntries(
    [...new Set(all)].map((status) => [
      status,
      {
        description: DESCRIPTIONS[status] ?? 'Refused.',
        content: { 'application/problem+json': { schema: Problem } },
      },
    ]),
  )
}

/** The problem answers of a route for people: they are on any plan. */
export function personProblems(...statuses: number[]): Record<number, ProblemResponse> {
  const { 402: _, ...rest } = problems(...statuses)
  return rest
}

/** Work that outlives the answer: handed to the platform, or left to run on Node. */
export function afterwards(c: Ctx, work: Promise<unknown>): void {
  const quiet = work.catch((error) =>
    c.get('deps').log({ msg: 'afterwards failed', error: String(error) }),
  )
  try {
    c.executionCtx.waitUntil(quiet)
  } catch {
    // Node and plain Deno have no execution context: the promise simply runs on.
  }
}
