import {
  type ApiError,
  answerProblem,
  CODES,
  type Code,
  MEANINGS,
  problemAnswers,
  problemOf,
  problemSchema,
} from '../shared/problem.ts'
import type { Ctx } from './context.ts'

const OF_THE_HUB: Code[] = ['read_only_key', 'wrong_state', 'audience_changed']
// safe: the keys of CODES are its codes
export const OURS = (Object.keys(CODES) as Code[]).filter((code) => !OF_THE_HUB.includes(code))

export const Problem = problemSchema(OURS)

/** Answers an error as application/problem+json. */
export function problem(c: Ctx, error: ApiError): Response {
  const body = problemOf(error, c.get('request_id'))
  return answerProblem(c, error, { realm: 'watchpost', body })
}

/** What each refusal means, wherever it happens. */
export const DESCRIPTIONS: Partial<Record<number, string>> = {
  ...MEANINGS,
  401: 'The key or session token is missing, unknown, revoked or expired.',
  402: 'The account is below the Pro plan.',
  403: 'The key lacks the scope, the caller the role, or the session its second factor.',
  404: 'There is no such thing, or it is not yours.',
  406: 'None of the forms in Accept is one of ours.',
  409: 'It conflicts with what is stored, or with a limit of the plan.',
  413: 'The body is over 2 MiB.',
  415: 'The body is not JSON.',
  429: 'Too many requests; wait as Retry-After says.',
  503: 'The database or the issuer of sessions is away; try again.',
}

/** The problem answers of a keyed route: the usual ones and the given. */
export const problems = (...statuses: number[]) =>
  problemAnswers([400, 401, 402, 403, 429, 500, 503, ...statuses], {
    schema: Problem,
    meanings: DESCRIPTIONS,
  })

/** The problem answers of a route for people: they are on any plan. */
export function personProblems(...statuses: number[]) {
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
