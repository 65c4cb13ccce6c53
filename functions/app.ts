import type { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { matchedRoutes } from 'hono/route'
import { secureHeaders } from 'hono/secure-headers'
import { type ApiError, CODES, describeError, toApiError } from '../shared/problem.ts'
import { hasRoute, resource, unknownRoute } from '../shared/route.ts'
import { account } from './api/account.ts'
import { alerts } from './api/alerts.ts'
import { analytics } from './api/analytics.ts'
import { audit } from './api/audit.ts'
import { changes } from './api/changes.ts'
import { channels } from './api/channels.ts'
import { decisions } from './api/decisions.ts'
import { mountDocs } from './api/docs.ts'
import { event } from './api/event.ts'
import { events } from './api/events.ts'
import { evidence, evidenceKeys } from './api/evidence.ts'
import { explanations } from './api/explanations.ts'
import { feedLinks } from './api/feed-links.ts'
import { feedsOut } from './api/feeds-out.ts'
import { callerOfTool, mountMcp } from './api/mcp.ts'
import { me } from './api/me.ts'
import { orgs } from './api/orgs.ts'
import { eventMap } from './api/pages/event-map.ts'
import { footprints } from './api/pages/footprints.ts'
import { mountInvitePage } from './api/pages/invite-page.ts'
import { mountLinkPages } from './api/pages/link-pages.ts'
import { mountStatusPage } from './api/pages/status-page.ts'
import { tracks } from './api/pages/tracks.ts'
import { push } from './api/push.ts'
import { sources } from './api/sources.ts'
import { webPush } from './api/web-push.ts'
import { drills } from './api/zones/drills.ts'
import { zoneVersions } from './api/zones/zone-versions.ts'
import { zonesBulk } from './api/zones/zones-bulk.ts'
import { zones } from './api/zones.ts'
import { authenticate } from './auth.ts'
import { checkBody } from './body.ts'
import type { Ctx, Deps, Env } from './context.ts'
import { problem } from './http.ts'
import { LINKS_PATH } from './links.ts'
import { pagePolicy } from './policy.ts'
import { traceRequests } from './tracing/incoming.ts'

const ROUTES_HELP = 'See /docs for all routes.'
const BASE = '/api/v1'

/**
 * The whole service as one Hono app, the same on Node, Deno and Workers. Each route states the scope it
 * requires with `can` or `signedIn`; only the routes of `docs`, `sources` and `feedsOut` are public.
 */
export function createApp(deps: Deps): OpenAPIHono<Env> {
  const app = resource<Env>()

  if (deps.tracing?.is_on) app.use(traceRequests(deps.tracing, routeOf))
  app.use(async (c, next) => {
    const started = performance.now()
    c.set('deps', deps)
    c.set('request_id', crypto.randomUUID())
    c.set('log', {})
    const caller = callerOfTool(c.req.raw)
    c.set('via', caller ? 'mcp' : 'api')
    if (caller) c.set('caller', caller)
    c.header('X-Request-Id', c.get('request_id'))
    await next()
    // Set on the response itself: `c.header` would make it anew, around a stream, which costs as much as a query.
    const { headers } = c.res
    // A proxy or platform may serve the app under a path of its own.
    const location = headers.get('Location')
    if (location?.startsWith('/')) headers.set('Location', pathOf(deps.public_url) + location)
    // Routes whose answers may be cached set Cache-Control themselves.
    if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store')
    deps.log({
      msg: 'request',
      request_id: c.get('request_id'),
      method: c.req.method,
      path: loggedPath(c.req.path),
      route: routeOf(c) ?? 'none',
      status: c.res.status,
      duration_ms: Math.round((performance.now() - started) * 10) / 10,
      ...c.get('log'),
    })
  })
  const withHeaders = pageHeaders(deps, "'none'")
  // The buttons of these pages are forms.
  const withForms = pageHeaders(deps, "'self'")
  app.use((c, next) =>
    c.req.path.startsWith(`${LINKS_PATH}/`) ? withForms(c, next) : withHeaders(c, next),
  )
  app.use('/api/*', acrossOrigins(deps.origins))
  // Before the body is checked: an unknown route is 404 whatever the body is.
  app.use('/api/*', async (c, next) => {
    if (!hasRoute(app, c.req.method, c.req.path)) throw unknownRoute(app, c, ROUTES_HELP)
    await next()
  })
  // Mail programs unsubscribe with a body that is not JSON and that nobody reads.
  mountLinkPages(app)
  app.use(checkBody)

  app.route('/api/sources', sources)
  // Before the resources, whose `/{id}` would take `/changes` for an id.
  app.route(BASE, changes)
  app.route(`${BASE}/me`, me)
  app.route(`${BASE}/account`, account)
  app.route(`${BASE}/events`, events)
  app.route(`${BASE}/events`, push)
  app.route(`${BASE}/events`, eventMap)
  app.route(`${BASE}/events`, footprints)
  app.route(`${BASE}/events`, tracks)
  app.route(`${BASE}/events`, event)
  app.route(`${BASE}/zones`, zones)
  app.route(`${BASE}/zones`, zonesBulk)
  app.route(`${BASE}/zones`, decisions)
  app.route(`${BASE}/zones`, explanations)
  app.route(`${BASE}/zones`, drills)
  app.route(`${BASE}/zones`, zoneVersions)
  app.route(`${BASE}/zones`, feedLinks)
  app.route(`${BASE}/feeds`, feedsOut)
  app.route(`${BASE}/alerts`, alerts)
  app.route(`${BASE}/alerts`, evidence)
  app.route('/', evidenceKeys)
  app.route(`${BASE}/channels`, channels)
  app.route(`${BASE}/web-push`, webPush)
  app.route(`${BASE}/orgs`, orgs)
  app.route(`${BASE}/analytics`, analytics)
  app.route(`${BASE}/audit`, audit)

  app.openAPIRegistry.registerComponent('securitySchemes', 'key', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key (wp_live_…), created in the account settings.',
  })
  app.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The access token of a signed-in person; see docs/accounts.md.',
  })
  mountMcp(app, BASE)
  mountDocs(app, BASE)
  mountInvitePage(app, BASE)
  mountStatusPage(app)

  app.notFound((c) => problem(c, unknownRoute(app, c, ROUTES_HELP)))
  app.onError(async (thrown, c) => {
    const error = await precedingError(c, toApiError(thrown))
    const log = c.get('log')
    log.code = error.code
    if (error.cause !== undefined) log.error = describeError(error.cause)
    return problem(c, error)
  })
  return app
}

const EXPOSED_HEADERS = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'Location']

/** CORS for these origins. */
function acrossOrigins(origins: string[]): MiddlewareHandler<Env> {
  const answer = cors({
    origin: (origin) => (origins.includes(origin) ? origin : null),
    allowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match'],
    allowMethods: ['GET', 'POST', 'PATCH', 'DELETE'],
    exposeHeaders: EXPOSED_HEADERS,
    maxAge: 600,
  })
  return async (c, next) => {
    if (c.req.method === 'OPTIONS' || c.req.header('origin') !== undefined) return answer(c, next)
    await next()
    // What `cors` answers to programs. It makes the response anew for it, see above: 90 instead of 52 µs of CPU.
    const { headers } = c.res
    headers.set('Access-Control-Expose-Headers', EXPOSED_HEADERS.join(','))
    headers.append('Vary', 'Origin')
    // Missing where a route answers with a response that is not made by `c`.
    headers.set('X-Request-Id', c.get('request_id'))
  }
}

/** The pattern of the route that a request met, e.g. `/api/v1/zones/:id`; undefined for an address without a route. */
function routeOf(c: Ctx): string | undefined {
  return matchedRoutes(c).findLast(({ path }) => !path.endsWith('*'))?.path
}

/** A path as the log has it: what follows /feeds/ stands for a key. */
function loggedPath(path: string): string {
  return path.startsWith(`${BASE}/feeds/`) ? `${BASE}/feeds/…` : path
}

/** The security headers of every answer, so that no page lacks them. */
function pageHeaders({ issuer_origin, tile_origin }: Deps, form_action: "'none'" | "'self'") {
  return secureHeaders({
    crossOriginResourcePolicy: false,
    strictTransportSecurity: 'max-age=31536000; includeSubDomains',
    xFrameOptions: 'DENY',
    contentSecurityPolicy: pagePolicy({
      form_action,
      connect: [issuer_origin, tile_origin].filter((origin) => origin !== undefined),
      images: tile_origin ? [tile_origin] : [],
    }),
  })
}

/** The path of a URL, without a trailing slash. */
function pathOf(url: string): string {
  return new URL(url).pathname.replace(/\/$/, '')
}

/** The error to answer: 401, 402, 403 and 429 take precedence over what else is wrong with the request. */
async function precedingError(c: Ctx, error: ApiError): Promise<ApiError> {
  const comesLater = [400, 404, 406, 409, 422].includes(CODES[error.code])
  if (!comesLater || !c.get('scope') || c.get('caller')) return error
  try {
    await authenticate(c)
    return error
  } catch (refused) {
    return toApiError(refused)
  }
}
