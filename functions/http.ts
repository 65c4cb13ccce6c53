import { type ApiError, CODES, type Code, problemOf, problemSchema } from '../shared/problem.ts'
import type { Ctx } from './context.ts'

const OF_THE_HUB: Code[] = ['read_only_key', 'wrong_state', 'audience_changed']
// safe: the keys of CODES are its codes
export const OURS = (Object.keys(CODES) as Code[]).filter((code) => !OF_THE_HUB.includes(code))

export const Problem = problemSchema(OURS)

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

/** What each refusal means, wherever it happens. */
export const DESCRIPTIONS: Partial<Record<number, string>> = {
  400: 'Malformed request: the query, a cursor or the JSON itself.',
  401: 'The key or session token is missing, unknown, revoked or expired.',
  402: 'The account is below the Pro plan.',
  403: 'The key lacks the scope, the caller the role, or the session its second factor.',
  404: 'There is no such thing, or it is not yours.',
  406: 'None of the forms in Accept is one of ours.',
  409: 'It conflicts with what is stored, or with a limit of the plan.',
  413: 'The body is over 2 MiB.',
  415: 'The body is not JSON.',
  422: 'A field of the body is wrong; `errors` names it.',
  429: 'Too many requests; wait as Retry-After says.',
  500: 'A fault here.',
  503: 'The database or the issuer of sessions is away; try again.',
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
