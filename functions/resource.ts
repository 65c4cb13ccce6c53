import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { authenticate } from './auth.ts'
import { ApiError, type Env, invalidInput, issuesOf } from './http.ts'

export { createRoute }

/** A collection of routes of one resource; a refused input is told after the caller is known. */
export function resource(): OpenAPIHono<Env> {
  return new OpenAPIHono<Env>({
    defaultHook: async (result, c) => {
      if (result.success) return
      await authenticate(c)
      throw invalidInput(result.target, issuesOf(result.error))
    },
  })
}

/** Refuses a body that is no JSON before any validator sees it, and keeps its text for later. */
export const parseBody: MiddlewareHandler<Env> = async (c, next) => {
  if (c.req.method === 'POST' || c.req.method === 'PATCH') {
    const text = await c.req.text()
    const type = c.req.header('content-type')
    if (text !== '' && !/^application\/json\s*(;|$)/i.test(type ?? '')) {
      throw new ApiError('unsupported_media_type', 'Send the body as application/json.')
    }
    if (text !== '' && !isJson(text)) {
      await authenticate(c)
      throw new ApiError('malformed', 'The body is not valid JSON.')
    }
  }
  await next()
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
