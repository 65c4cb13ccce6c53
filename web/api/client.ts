import createClient from 'openapi-fetch'
import type { components, paths } from '../../shared/client.gen.ts'
import { connection } from './connection.ts'
import { accessToken, forgetSession } from './session.ts'

export type Schemas = components['schemas']
export type Problem = Schemas['Problem']

/** A refusal of the API, with its reason. */
export class ProblemError extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.detail)
    this.problem = problem
  }
}

/** The service did not answer, or a proxy answered in its place. */
export class Unreachable extends Error {}

const BEHIND_PROXY = [502, 504]

async function reach(request: Request): Promise<Response> {
  const token = await accessToken()
  if (token) request.headers.set('Authorization', `Bearer ${token}`)
  let response: Response
  try {
    response = await fetch(request)
  } catch (error) {
    if (request.signal.aborted) throw error
    connection.set('lost')
    throw new Unreachable('the service does not answer', { cause: error })
  }
  if (BEHIND_PROXY.includes(response.status)) {
    connection.set('lost')
    throw new Unreachable(`the proxy answered ${response.status}`)
  }
  connection.set('ok')
  return response
}

/** The client of the API, typed from its OpenAPI document: `api.GET('/api/v1/zones')`. */
export const api = createClient<paths>({
  baseUrl: new URL('.', document.baseURI).href.replace(/\/$/, ''),
  fetch: reach,
})

type Answer<T> = { data?: T; error?: unknown; response: Response }

/** ok returns the data of an answer, or throws its refusal as a ProblemError. */
export async function ok<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call
  if (response.ok) return data as T // safe: openapi-fetch gives the type of the 2xx answer
  const problem = problemIn(error, response)
  if (problem.code === 'unauthenticated') await forgetSession()
  throw new ProblemError(problem)
}

/** Gives an error that does not come from the service itself the form of a problem. */
export function problemIn(error: unknown, response: Response): Problem {
  if (typeof error === 'object' && error !== null && 'code' in error && 'detail' in error) {
    return error as Problem // safe: it has the members of problem details
  }
  const title = response.statusText || `HTTP ${response.status}`
  return {
    type: 'about:blank',
    title,
    status: response.status,
    detail: title,
    code: 'internal',
    request_id: response.headers.get('x-request-id') ?? '',
  }
}
