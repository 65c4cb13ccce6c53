import createClient from 'openapi-fetch'
import {
  ProblemError as AnyProblemError,
  answersOf,
  type ProblemErrorOf,
} from '../../../web/shared/problem.ts'
import { reach } from '../../../web/shared/reach.ts'
import { getLanguage } from '../../../web/ui/language.ts'
import { problemText } from '../../i18n/problem.text.ts'
import type { components, paths } from './api.gen.ts'

export type Schemas = components['schemas']
export type Problem = Schemas['Problem']

/** A refusal of the hub, with its reason. */
export const ProblemError: ProblemErrorOf<Problem> = AnyProblemError

/**
 * The client of the hub's API, typed from its OpenAPI document:
 * `api.GET('/api/cockpit/projects/list')`.
 */
export const api = createClient<paths>({
  baseUrl: location.origin,
  fetch(request) {
    // The hub's messages shall be in the language of the page, not of the browser.
    request.headers.set('Accept-Language', getLanguage())
    return reach(request)
  },
})

type Listener = (problem: Problem) => void
const listeners: Listener[] = []

/**
 * onProblem is called for every refusal, so that a lost session leads to the sign-in from anywhere.
 */
export function onProblem(listener: Listener): void {
  listeners.push(listener)
}

/** Read the answers of the hub. */
export const { ok, problemIn } = answersOf<Problem>({
  foreign({ status }) {
    const code = status === 413 ? 'too_large' : 'internal'
    return { code, detail: problemText[getLanguage()].codes[code] }
  },
  onProblem(problem) {
    for (const listener of listeners) listener(problem)
  },
})

/**
 * A body with a file, or several under one name: the OpenAPI document has no type for one, and openapi-fetch sends it as it
 * is.
 */
export function formOf(fields: Record<string, string | Blob | Blob[]>): never {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) form.append(name, one)
  }
  return form as never // safe: FormData is not serialised
}
