import createClient from 'openapi-fetch'
import { problemText } from '../../i18n/problem.text.ts'
import { getLanguage } from '../i18n.ts'
import type { components, paths } from './api.gen.ts'
import { connection } from './connection.ts'

export type Problem = components['schemas']['Problem']
export type Schemas = components['schemas']

/** What the hub refused, with its reason. */
export class ProblemError extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.detail)
    this.problem = problem
  }
}

/** The hub did not answer at all, or nginx did in its place. */
export class Unreachable extends Error {}

const BEHIND_PROXY = [502, 504]

async function reach(request: Request): Promise<Response> {
  // What the hub says is said in the language of the page, not in the browser's.
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

/** The hub's interface, typed from its own document: `api.GET('/api/cockpit/projects/list')`. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: reach })

type Listener = (problem: Problem) => void
const listeners: Listener[] = []

/** onProblem hears of every refusal, so that a lost session leads to the sign-in from anywhere. */
export function onProblem(listener: Listener): void {
  listeners.push(listener)
}

type Answer<T> = { data?: T; error?: unknown; response: Response }

/** ok unwraps an answer: its data, or the refusal thrown as a ProblemError. */
export async function ok<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call
  if (response.ok) return data as T // safe: openapi-fetch gives the type of the 2xx answer
  const problem = problemIn(error, response)
  for (const listener of listeners) listener(problem)
  throw new ProblemError(problem)
}

/** A refusal that did not come from the hub itself is put in the same form. */
export function problemIn(error: unknown, response: Response): Problem {
  if (typeof error === 'object' && error !== null && 'code' in error && 'detail' in error) {
    return error as Problem // safe: the hub's problem details, by their members
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

/** A body that holds a file: the document has no type for one, and openapi-fetch sends it as it is. */
export function formOf(fields: Record<string, string | Blob>): never {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form as never // safe: a body that is FormData is not serialised
}
