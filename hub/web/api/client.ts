import createClient from 'openapi-fetch'
import { getLanguage } from '../../../web/ui/language.ts'
import { problemText } from '../../i18n/problem.text.ts'
import type { components, paths } from './api.gen.ts'
import { connection } from './connection.ts'

export type Problem = components['schemas']['Problem']
export type Schemas = components['schemas']

/** A refusal of the hub, with its reason. */
export class ProblemError extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.detail)
    this.problem = problem
  }
}

/** The hub did not answer, or nginx answered in its place. */
export class Unreachable extends Error {}

const BEHIND_PROXY = [502, 504]

async function reach(request: Request): Promise<Response> {
  // The hub's messages shall be in the language of the page, not of the browser.
  request.headers.set('Accept-Language', getLanguage())
  let response: Response
  try {
    response = await fetch(request)
  } catch (error) {
    if (request.signal.aborted) throw error
    if (connection.get() === 'ok') connection.set('lost')
    throw new Unreachable('the hub does not answer', { cause: error })
  }
  if (BEHIND_PROXY.includes(response.status)) {
    if (connection.get() === 'ok') connection.set('lost')
    throw new Unreachable(`the proxy answered ${response.status}`)
  }
  return response
}

/**
 * The client of the hub's API, typed from its OpenAPI document:
 * `api.GET('/api/cockpit/projects/list')`.
 */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: reach })

type Listener = (problem: Problem) => void
const listeners: Listener[] = []

/**
 * onProblem is called for every refusal, so that a lost session leads to the sign-in from anywhere.
 */
export function onProblem(listener: Listener): void {
  listeners.push(listener)
}

type Answer<T> = { data?: T; error?: unknown; response: Response }

/** ok returns the data of an answer, or throws its refusal as a ProblemError. */
export async function ok<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call
  if (response.ok) return data as T // safe: openapi-fetch gives the type of the 2xx answer
  const problem = problemIn(error, response)
  for (const listener of listeners) listener(problem)
  throw new ProblemError(problem)
}

/** Gives an error that does not come from the hub itself the form of a problem. */
export function problemIn(error: unknown, response: Response): Problem {
  if (typeof error === 'object' && error !== null && 'code' in error && 'detail' in error) {
    return error as Problem // safe: it has the members of the hub's problem details
  }
  const code = response.status === 413 ? 'too_large' : 'internal'
  return {
    type: 'about:blank',
    title: response.statusText || `HTTP ${response.status}`,
    status: response.status,
    detail: problemText[getLanguage()].codes[code],
    code,
    request_id: response.headers.get('x-request-id') ?? '',
  }
}

/**
 * A body with a file: the OpenAPI document has no type for one, and openapi-fetch sends it as it
 * is.
 */
export function formOf(fields: Record<string, string | Blob>): never {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form as never // safe: FormData is not serialised
}
