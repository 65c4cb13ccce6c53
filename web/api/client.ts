import createClient from 'openapi-fetch'
import type { components, paths } from '../../shared/client.gen.ts'
import { connection } from '../shared/connection.ts'
import {
  ProblemError as AnyProblemError,
  answersOf,
  type ProblemErrorOf,
} from '../shared/problem.ts'
import { reach } from '../shared/reach.ts'
import { accessToken, forgetSession, renewedToken } from './session.ts'

export type Schemas = components['schemas']
export type Problem = Schemas['Problem']

/** A refusal of the API, with its reason. */
export const ProblemError: ProblemErrorOf<Problem> = AnyProblemError

/** The client of the API, typed from its OpenAPI document: `api.GET('/api/v1/zones')`. */
export let api = clientOf(new URL('.', document.baseURI).href.replace(/\/$/, ''))

/** Uses the API of a service that is not where the console is. To be called before anything is asked. */
export function connectTo(address: string): void {
  api = clientOf(address)
}

function clientOf(baseUrl: string) {
  return createClient<paths>({
    baseUrl,
    async fetch(request) {
      const token = await accessToken()
      if (token) request.headers.set('Authorization', `Bearer ${token}`)
      // A body can be sent once.
      const again = token ? request.clone() : undefined
      let response = await reach(request)
      if (response.status === 401 && token && again) {
        const renewed = await renewedToken(token)
        if (renewed) {
          again.headers.set('Authorization', `Bearer ${renewed}`)
          response = await reach(again)
        }
      }
      connection.set('ok')
      return response
    },
  })
}

/** Read the answers of the API. */
export const { ok } = answersOf<Problem>({
  foreign: ({ status, statusText }) => ({
    code: 'internal',
    detail: statusText || `HTTP ${status}`,
  }),
  async onProblem({ code }) {
    if (code === 'unauthenticated') await forgetSession()
  },
})
