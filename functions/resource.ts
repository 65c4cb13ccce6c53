import { OpenAPIHono, createRoute as routeOf } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { z } from 'zod'
import { ApiError, type Env, invalidInput, issuesOf } from './http.ts'

const NOBODYS_ID = '00000000-0000-0000-0000-000000000000'
const NoQuery = z.strictObject({})

/**
 * A route; where it names no query parameters there are none, and an unknown one is refused. A body
 * it requires has to be there: an empty one would be read as {}.
 */
export const createRoute: typeof routeOf = (route) => {
  const middleware = [route.middleware ?? []].flat()
  if (route.request?.body?.required) middleware.push(requireBody)
  return routeOf({ ...route, middleware, request: { query: NoQuery, ...route.request } })
}

const requireBody: MiddlewareHandler<Env> = async (c, next) => {
  if ((await c.req.text()) === '') {
    throw new ApiError('malformed', 'There is no body. Send one as application/json.')
  }
  await next()
}

/**
 * An id in a path. What has not the form of one is taken for an id that nothing has, so that it is
 * 404 like any other unknown id, and not before the body was looked at.
 */
export function pathId(description: string) {
  return z
    .string()
    .transform((id) => (z.guid().safeParse(id).success ? id : NOBODYS_ID))
    .meta({ type: 'string', format: 'uuid', description })
}

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
  if (['POST', 'PATCH', 'DELETE'].includes(c.req.method)) {
    const text = await c.req.text()
    const type = c.req.header('content-type')
    if (text !== '' && !/^application\/json\s*(;|$)/i.test(type ?? '')) {
      throw new ApiError('unsupported_media_type', 'Send the body as application/json.')
    }
    // Clients name a type also where they send nothing; nothing is no malformed JSON.
    if (text === '' && type !== undefined) c.req.raw.headers.delete('content-type')
  }
  await next()
}
