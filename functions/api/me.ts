import { z } from 'zod'
import { createRoute, jsonResponse, resource, respond } from '../../shared/route.ts'
import { can, WINDOW_SECONDS } from '../auth.ts'
import type { Env } from '../context.ts'
import { problems } from '../http.ts'
import { read } from '../transaction.ts'

const Me = z
  .object({
    user_id: z.uuid(),
    email: z.string(),
    plan: z.enum(['free', 'pro', 'enterprise']),
    scopes: z.array(z.enum(['read', 'write', 'ingest'])),
    key_id: z.uuid().nullable(),
    rate_limit: z.object({
      limit: z.int(),
      remaining: z.int(),
      reset_seconds: z.int(),
      window_seconds: z.int(),
    }),
    orgs: z.array(
      z.object({ id: z.uuid(), name: z.string(), role: z.enum(['owner', 'admin', 'member']) }),
    ),
  })
  .meta({ id: 'Me' })

export const me = resource<Env>()

me.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'getMe',
    tags: ['Account'],
    summary: 'Get the identity, scopes and remaining rate limit of the key',
    security: [{ key: [] }],
    middleware: can('read'),
    responses: { 200: jsonResponse(Me, 'The identity behind the key.'), ...problems() },
  }),
  async (c) => {
    const orgs = await read(
      c,
      (sql) => sql<z.infer<typeof Me>['orgs'][number]>`
      select o.id, o.name, m.role
      from watchpost.members m
      join watchpost.organisations o on o.id = m.org_id
      where m.user_id = private.uid()
      order by o.name, o.id`,
    )
    const caller = c.get('caller')
    if (!caller) throw new Error('read() admits a caller or throws')
    const { rate_limit, ...identity } = caller
    return respond(
      c,
      Me,
      { ...identity, rate_limit: { ...rate_limit, window_seconds: WINDOW_SECONDS }, orgs },
      200,
    )
  },
)
