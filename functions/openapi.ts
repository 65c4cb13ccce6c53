import type { OpenAPIHono } from '@hono/zod-openapi'
import { VERSION } from '../shared/version.ts'
import type { Env } from './http.ts'

/** The OpenAPI 3.1 description, generated from the routes themselves. */
export function describe(app: OpenAPIHono<Env>, serverUrl: string) {
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Watchpost',
      version: VERSION,
      description:
        'Watch zones over open event feeds, and proof of every decision and delivery. ' +
        'Open feeds become canonical events; what happens inside your zones raises alerts; alerts go to your channels. ' +
        'JSON, UTF-8, snake_case; times are ISO 8601 UTC. Unknown fields and parameters are refused. ' +
        'Errors are RFC 9457 problem details whose `detail` says what to do next.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: serverUrl }],
    tags: [
      { name: 'Events', description: 'What happened inside the caller’s zones.' },
      { name: 'Zones', description: 'The places people care about.' },
      { name: 'Alerts', description: 'What was raised, and how it was delivered.' },
      { name: 'Channels', description: 'Where alerts go.' },
      { name: 'Organisations', description: 'Who shares zones and channels.' },
      { name: 'Account', description: 'The caller, its usage and its audit log.' },
      { name: 'Service', description: 'The service itself; needs no key.' },
    ],
  })
}
