import type { MiddlewareHandler } from 'hono'
import type { Ctx, Env } from '../context.ts'
import { methodOf } from '../http.ts'
import type { Tracing } from './tracing.ts'

/**
 * Gives each request a span, in the trace of its caller if it sends `traceparent`. Of its address only the pattern of
 * the route is told: paths and queries hold keys and tokens.
 */
export function traceRequests(
  tracing: Tracing,
  routeOf: (c: Ctx) => string | undefined,
): MiddlewareHandler<Env> {
  return (c, next) => {
    const method = methodOf(c.req.method) ?? '_OTHER'
    const parent = c.req.header('traceparent')
    return tracing.span(
      {
        name: method,
        kind: 'server',
        ...(parent === undefined ? {} : { parent }),
        attributes: { 'http.request.method': method },
      },
      async (span) => {
        await next()
        const [route, status] = [routeOf(c), c.res.status]
        if (route !== undefined) {
          span.rename(`${method} ${route}`)
          span.set({ 'http.route': route })
        }
        span.set({ 'http.response.status_code': status })
        if (status >= 500) span.fail(String(status))
      },
    )
  }
}
