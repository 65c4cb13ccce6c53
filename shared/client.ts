import openapi, { type ClientOptions } from 'openapi-fetch'
import type { paths } from './client.gen.ts'

export type { components, paths } from './client.gen.ts'

/**
 * A typed client of the API, exported as `watchpost/client`: paths, parameters, bodies and answers
 * are those of docs/openapi.yaml. A call resolves to `{data}` or `{error}` (problem details).
 * @param options.baseUrl where the service is, e.g. `https://watchpost.example.com`
 * @param options.token an API key, or the access token of a session
 */
export function createClient({ token, ...options }: ClientOptions & { token?: string }) {
  return openapi<paths>({
    ...options,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...headersOf(options),
    },
  })
}

function headersOf({ headers }: ClientOptions): Record<string, string> {
  return Object.fromEntries(new Headers(headers as HeadersInit | undefined)) // safe: fetch takes the same
}
