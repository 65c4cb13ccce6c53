import {
  type ApiError,
  answerProblem,
  codesOf,
  MEANINGS,
  problemAnswers,
  problemOf,
  problemSchema,
} from '../shared/problem.ts'
import type { Ctx } from './context.ts'

export const Problem = problemSchema(codesOf('service'))

/** The response for an error, as application/problem+json (RFC 9457). */
export function problem(c: Ctx, error: ApiError): Response {
  const body = problemOf(error, c.get('request_id'))
  return answerProblem(c, error, { realm: 'watchpost', body })
}

/** The meaning of each error status of this service, for the OpenAPI document. */
export const STATUS_DESCRIPTIONS: Partial<Record<number, string>> = {
  ...MEANINGS,
  401: 'The key or session token is missing, unknown, revoked or expired.',
  402: 'The account is below the Pro plan.',
  403: 'The key lacks the scope, the caller lacks the role, or the session lacks its second factor.',
  404: 'It does not exist, or it is not yours.',
  406: 'The Accept header names no format that this route offers.',
  409: 'The request conflicts with what is stored, or with a limit of the plan.',
  410: 'The cursor is too old. Start again without one.',
  412: 'It has another version than the one in If-Match.',
  413: 'The body is over 2 MiB.',
  415: 'The body is not JSON.',
  429: 'Too many requests. Wait for the time in Retry-After.',
  503: 'The database or the issuer of sessions is unavailable. Try again.',
}

/** The error responses of a route with a key: the usual ones and the given statuses. */
export const problems = (...statuses: number[]) =>
  problemAnswers([400, 401, 402, 403, 429, 500, 503, ...statuses], {
    schema: Problem,
    meanings: STATUS_DESCRIPTIONS,
  })

/** The error responses of an account route: no 402, because it works on any plan. */
export function sessionProblems(...statuses: number[]) {
  const { 402: _, ...rest } = problems(...statuses)
  return rest
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The method of a request, if it is a known one: a client may send any word, and labels must not grow with what clients send. */
export const methodOf = (method: string) => (METHODS.includes(method) ? method : undefined)

/** Lets work continue after the response: through waitUntil on an edge platform, simply running on Node. */
export function runInBackground(c: Ctx, work: Promise<unknown>): void {
  const quiet = work.catch((error) =>
    c.get('deps').log({ msg: 'background work failed', error: String(error) }),
  )
  try {
    c.executionCtx.waitUntil(quiet)
  } catch {
    // Node and plain Deno have no execution context: the promise simply runs on.
  }
}
