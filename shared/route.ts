import { OpenAPIHono, createRoute as routeOf } from '@hono/zod-openapi'
import type { Context, Env, Hono, MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { z } from 'zod'
import { ApiError, invalidInput, issuesOf } from './problem.ts'

const UNUSED_ID = '00000000-0000-0000-0000-000000000000'
const NoQuery = z.strictObject({})

/**
 * Creates a route. A route without a query schema accepts no query parameters, and a required body must
 * not be empty: an empty one would otherwise be read as {}.
 */
export const createRoute: typeof routeOf = (route) => {
  const middleware = [route.middleware ?? []].flat()
  if (route.request?.body?.required) middleware.push(requireBody)
  return routeOf({ ...route, middleware, request: { query: NoQuery, ...route.request } })
}

const requireBody: MiddlewareHandler = async (c, next) => {
  if ((await c.req.text()) === '') {
    throw new ApiError('malformed', 'The body is missing. Send one as application/json.')
  }
  await next()
}

/**
 * The schema of an id in a path. A malformed id is replaced by one that does not exist, so that it is
 * answered 404 like any unknown id, and in the usual order of refusals.
 */
export function pathId(description: string) {
  return z
    .string()
    .transform((id) => (z.guid().safeParse(id).success ? id : UNUSED_ID))
    .meta({ type: 'string', format: 'uuid', description })
}

/** The routes of a resource. Invalid input throws as `invalidInput` says. */
export function resource<E extends Env>(): OpenAPIHono<E> {
  return new OpenAPIHono<E>({
    defaultHook: (result) => {
      if (!result.success) throw invalidInput(result.target, issuesOf(result.error))
    },
  })
}

/** Throws 415 for a body whose Content-Type is not JSON, and caches its text. */
export const requireJson: MiddlewareHandler = async (c, next) => {
  if (['POST', 'PUT', 'PATCH', 'DELETE'].includes(c.req.method)) {
    const text = await c.req.text()
    const type = c.req.header('content-type')
    if (text !== '' && !/^application\/json\s*(;|$)/i.test(type ?? '')) {
      throw new ApiError('unsupported_media_type', 'Send the body as application/json.')
    }
    // Clients may send a Content-Type without a body, and an empty text is not valid JSON.
    if (text === '' && type !== undefined) c.req.raw.headers.delete('content-type')
  }
  await next()
}

/** A JSON response that has been parsed by its schema, so that it matches the OpenAPI document. */
export function respond<S extends z.ZodType, T extends ContentfulStatusCode>(
  c: Context,
  schema: S,
  value: z.input<S>,
  status: T,
  headers?: Record<string, string>,
) {
  const parsed = schema.parse(value) as z.output<S> // safe: parse returns the schema's output
  return c.json(parsed as never, status, headers) as never
}

/**
 * A JSON response of rows as the database answers them. For long lists: parsing them by their schema would cost as much
 * as all else. A test must hold the rows to the schema, which also says that nothing else is in them.
 */
export function respondRows<S extends z.ZodType>(c: Context, value: z.output<S>, _schema: S) {
  return c.json(value as never, 200) as never
}

/** A JSON response in an OpenAPI description. */
export function jsonResponse<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { 'application/json': { schema } } }
}

/** A required JSON body in an OpenAPI description. */
export function jsonBody<S extends z.ZodType>(schema: S) {
  return { required: true as const, content: { 'application/json': { schema } } }
}

/** The body of a route that needs none: empty or `{}`; any field is refused. */
export const noBody = {
  required: false as const,
  content: { 'application/json': { schema: z.strictObject({}) } },
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Whether a route exists for this method and path; HEAD counts as GET. */
export function hasRoute<E extends Env>(app: Hono<E>, given: string, path: string): boolean {
  const method = given === 'HEAD' ? 'GET' : given
  const [handlers] = app.router.match(method, path)
  const routes = handlers.map(([[, route]]) => route).filter((route) => route.method === method)
  // A literal path such as /zones/preview is not an id for the other methods of /zones/:id.
  return routes.some((route) => route.path === path || !isAddress(app, path))
}

const addresses = new WeakMap<object, Set<string>>()

/** Whether a route has exactly this path. */
function isAddress<E extends Env>(app: Hono<E>, path: string): boolean {
  const known = addresses.get(app) ?? new Set(app.routes.map((route) => route.path))
  addresses.set(app, known)
  return known.has(path)
}

/** The error for an unknown route: 405 when its path has other methods, otherwise 404 with `help`. */
export function unknownRoute<E extends Env>(app: Hono<E>, c: Context, help: string): ApiError {
  const { method, path } = c.req
  const allowed = METHODS.filter((name) => hasRoute(app, name, path))
  // A route with this method exists and itself answered 404.
  if (allowed.length === 0 || allowed.includes(method === 'HEAD' ? 'GET' : method)) {
    return new ApiError('not_found', `There is no route at this address. ${help}`)
  }
  const headers = { Allow: allowed.join(', ') }
  return new ApiError('method_not_allowed', `This route accepts ${allowed.join(' or ')}.`, {
    headers,
  })
}
