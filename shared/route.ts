import { OpenAPIHono, createRoute as routeOf } from '@hono/zod-openapi'
import type { Context, Env, Hono, MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { z } from 'zod'
import { ApiError, invalidInput, issuesOf } from './problem.ts'

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

const requireBody: MiddlewareHandler = async (c, next) => {
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
export function resource<E extends Env>(): OpenAPIHono<E> {
  return new OpenAPIHono<E>({
    defaultHook: (result) => {
      if (!result.success) throw invalidInput(result.target, issuesOf(result.error))
    },
  })
}

/** Refuses a body that does not say it is JSON, and keeps its text for later. */
export const requireJson: MiddlewareHandler = async (c, next) => {
  if (['POST', 'PUT', 'PATCH', 'DELETE'].includes(c.req.method)) {
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

/** Answers JSON that has passed through its schema: what the document promises is what is sent. */
export function answer<S extends z.ZodType, T extends ContentfulStatusCode>(
  c: Context,
  schema: S,
  value: z.input<S>,
  status: T,
  headers?: Record<string, string>,
) {
  const parsed = schema.parse(value) as z.output<S> // safe: parse returns the schema's output
  return c.json(parsed as never, status, headers) as never
}

/** A JSON answer in an OpenAPI description. */
export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { 'application/json': { schema } } }
}

/** A required JSON body in an OpenAPI description. */
export function body<S extends z.ZodType>(schema: S) {
  return { required: true as const, content: { 'application/json': { schema } } }
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Whether an address takes a method. */
export function hasRoute<E extends Env>(app: Hono<E>, given: string, path: string): boolean {
  const method = given === 'HEAD' ? 'GET' : given
  const [handlers] = app.router.match(method, path)
  const routes = handlers.map(([[, route]]) => route).filter((route) => route.method === method)
  // What is an address of its own, as /zones/preview, is no id of a thing for another method.
  return routes.some((route) => route.path === path || !isAddress(app, path))
}

const addresses = new WeakMap<object, Set<string>>()

/** Whether a route has this very path. */
function isAddress<E extends Env>(app: Hono<E>, path: string): boolean {
  const known = addresses.get(app) ?? new Set(app.routes.map((route) => route.path))
  addresses.set(app, known)
  return known.has(path)
}

/** 404, or 405 when the address has other methods; `help` says where all addresses are. */
export function unknownRoute<E extends Env>(app: Hono<E>, c: Context, help: string): ApiError {
  const { method, path } = c.req
  const allowed = METHODS.filter((name) => hasRoute(app, name, path))
  // A route that takes this very method looked and found nothing.
  if (allowed.length === 0 || allowed.includes(method === 'HEAD' ? 'GET' : method)) {
    return new ApiError('not_found', `There is no such address. ${help}`)
  }
  const headers = { Allow: allowed.join(', ') }
  return new ApiError('method_not_allowed', `Use ${allowed.join(' or ')} here.`, { headers })
}
