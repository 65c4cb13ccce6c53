import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { createRoute } from '../../shared/route.ts'
import { VERSION } from '../../shared/version.ts'
import { type Env, problems } from '../http/http.ts'

const DESCRIPTION = `Watchpost Hub: projects, leads, drafts and missions of thirteen agents, on one server.

**Form.** JSON, UTF-8, snake_case; times ISO 8601 UTC. Unknown body fields are 422, unknown query parameters 400.

**Access.** The admin’s session cookie, or the local token (hub.token) as \`Authorization: Bearer\`.

**Writes** need the service key: with only the public key they answer 401 \`read_only_key\`.

**Language.** What is said to people is answered in English or Turkish, as \`Accept-Language\` asks; \`code\` and all other words of the interface stay.

**Errors** are RFC 9457 problem details with a stable \`code\`; \`detail\` says what to do next.`

/** The OpenAPI 3.1 description of every route, generated from the routes themselves. */
export function describe(app: OpenAPIHono<Env>) {
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Watchpost Hub',
      version: VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/', description: 'This hub.' }],
    security: [{ session: [] }, { token: [] }],
  })
}

export function mountSpec(app: OpenAPIHono<Env>, base: string): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: 'hub_session',
    description: 'The cookie of POST login.',
  })
  app.openAPIRegistry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    description: 'The local token, in hub.token.',
  })
  let document: ReturnType<typeof describe> | undefined
  app.openapi(
    createRoute({
      method: 'get',
      path: `${base}/spec`,
      operationId: 'spec',
      tags: ['System'],
      summary: 'This document',
      responses: {
        200: {
          description: 'OpenAPI 3.1.',
          content: { 'application/json': { schema: z.looseObject({ openapi: z.string() }) } },
        },
        ...problems(),
      },
    }),
    (c) => {
      document ??= describe(app)
      return c.json(document as never, 200)
    },
  )
}
