import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { createRoute } from '../../shared/route.ts'
import { VERSION } from '../../shared/version.ts'
import { type Env, problems } from '../http/http.ts'

const DESCRIPTION = `Watchpost Hub: projects, leads, drafts and missions of thirteen agents, on one server.

**Format.** JSON in UTF-8, field names in snake_case, times in ISO 8601 UTC. An unknown body field is answered with 422, an unknown query parameter with 400.

**Authentication.** The session cookie of the admin or a member; or an API key (Settings > API keys) or the local token (hub.token) as \`Authorization: Bearer\`.

**Roles.** \`reader\` reads the projects, \`seller\` also writes in them, \`admin\` also changes settings, members, people, backups and the license. What a role may not do is answered with 403 \`forbidden\`.

**Writes** need the service key: with only the public key they are answered with 401 \`read_only_key\`.

**Language.** Texts for people are in English or Turkish, as \`Accept-Language\` requests; \`code\` and field names are never translated.

**Errors** are RFC 9457 problem details with a stable \`code\`; \`detail\` says what to do next.`

type Document = ReturnType<OpenAPIHono<Env>['getOpenAPI31Document']>

/** The OpenAPI 3.1 description of every route, generated from the routes themselves. */
export function describe(app: OpenAPIHono<Env>): Document {
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Watchpost Hub',
      version: VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/', description: 'This hub' }],
    security: [{ session: [] }, { token: [] }],
  })
  return JSON.parse(JSON.stringify(document, withoutFlags))
}

/** The generator writes the flags of an expression into its pattern, as `^a$/u`: they go. */
function withoutFlags(key: string, value: unknown): unknown {
  return key === 'pattern' && typeof value === 'string' ? value.replace(/\/[a-z]+$/, '') : value
}

export function mountSpec(app: OpenAPIHono<Env>, base: string): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: 'hub_session',
    description: 'The session cookie that POST login sets.',
  })
  app.openAPIRegistry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, or the local token, which is stored in hub.token.',
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
