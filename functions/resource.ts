import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { ApiError, type Env, invalidInput, issuesOf } from './http.ts'

export { createRoute }

/** A collection of routes of one resource. */
export function resource(): OpenAPIHono<Env> {
  return new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw invalidInput(result.target, issuesOf(result.error))
    },
  })
}

/** Refuses a body that does not say it is JSON, and keeps its text for later. */
export const requireJson: MiddlewareHandler<Env> = async (c, next) => {
  if (c.req.method === 'POST' || c.req.method === 'PATCH') {
    const text = await c.req.text()
    const type = c.req.header('content-type')
    if (text !== '' && !/^application\/json\s*(;|$)/i.test(type ?? '')) {
      throw new ApiError('unsupported_media_type', 'Send the body as application/json.')
    }
  }
  await next()
}
