import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { secureHeaders } from 'hono/secure-headers'
import { ApiError, describeError, toApiError } from '../shared/problem.ts'
import { hasRoute, requireJson, resource, unknownRoute } from '../shared/route.ts'
import { mountMcp } from './api/automation/mcp.ts'
import { webhooks } from './api/automation/webhooks.ts'
import { deals } from './api/leads/deals.ts'
import { imports } from './api/leads/imports.ts'
import { lawfulBasis } from './api/leads/lawful-basis.ts'
import { lead } from './api/leads/lead.ts'
import { leadFields } from './api/leads/lead-fields.ts'
import { leads } from './api/leads/leads.ts'
import { merge } from './api/leads/merge.ts'
import { people } from './api/leads/people.ts'
import { tasks } from './api/leads/tasks.ts'
import { brand } from './api/mail/brand.ts'
import { dkim } from './api/mail/dkim.ts'
import { draftEvidence } from './api/mail/draft-evidence.ts'
import { draftReaders } from './api/mail/draft-readers.ts'
import { draftSteps } from './api/mail/draft-steps.ts'
import { drafts } from './api/mail/drafts.ts'
import { inbox } from './api/mail/inbox.ts'
import { listmonkList } from './api/mail/listmonk.ts'
import { mail } from './api/mail/mail.ts'
import { queue } from './api/mail/queue.ts'
import { sequenceSteps } from './api/mail/sequence-steps.ts'
import { sequences } from './api/mail/sequences.ts'
import { suppression } from './api/mail/suppression.ts'
import { unsubscribe } from './api/mail/unsubscribe.ts'
import { access } from './api/members/access.ts'
import { audit } from './api/members/audit.ts'
import { join } from './api/members/join.ts'
import { keys } from './api/members/keys.ts'
import { members } from './api/members/members.ts'
import { agentSettings } from './api/missions/agents.ts'
import { approvals } from './api/missions/approvals.ts'
import { missionLimits } from './api/missions/mission-limits.ts'
import { missionRecipients } from './api/missions/mission-recipients.ts'
import { missionThread, missionVersions } from './api/missions/mission-thread.ts'
import { mission, missions } from './api/missions/missions.ts'
import { modelSettings, models } from './api/missions/models.ts'
import { prompts } from './api/missions/prompts.ts'
import { rules } from './api/missions/rules.ts'
import { archives } from './api/projects/archives.ts'
import { codeUpload } from './api/projects/code-upload.ts'
import { documents } from './api/projects/documents.ts'
import { numbers } from './api/projects/numbers.ts'
import { projects } from './api/projects/projects.ts'
import { search } from './api/projects/search.ts'
import { today } from './api/projects/today.ts'
import { mountSpec } from './api/spec.ts'
import { backups } from './api/system/backups.ts'
import { branding, look } from './api/system/branding.ts'
import { license } from './api/system/license.ts'
import { serviceKey } from './api/system/service-key.ts'
import { system, systemSettings } from './api/system/system.ts'
import { authenticate } from './auth/sessions.ts'
import type { Config } from './config.ts'
import type { Deps } from './deps.ts'
import { recordActs } from './http/acts.ts'
import { type Ctx, type Env, problem, tooLong } from './http/http.ts'
import { isOurName, nameIn } from './http/names.ts'
import { mountWeb } from './http/web-server.ts'
import { CODE_LIMITS } from './projects/code-upload.ts'

export const BASE = '/api/cockpit'
const HELP = `See ${BASE}/spec for all of them.`
const MAX_BODY_BYTES = 2 * 1024 * 1024
/** For clients not signed in: a password, a set-up code, a mail program's form. */
const MAX_PUBLIC_BODY_BYTES = 4096
const UPLOAD = `${BASE}/backup/upload`
/** Routes whose body is a file, and the largest size in bytes. */
const FILES: Record<string, (config: Config) => number> = {
  [`${BASE}/leads/import`]: () => 20 * 1024 * 1024,
  [`${BASE}/leads/import_preview`]: () => 20 * 1024 * 1024,
  // The form's own lines come on top of the files.
  [`${BASE}/documents/upload`]: () => CODE_LIMITS.upload_bytes + 64 * 1024,
  [UPLOAD]: ({ max_archive_bytes }) => max_archive_bytes,
}
/**
 * One-click unsubscribe (RFC 8058): mail programs post a form here without an Origin; the token is
 * the proof.
 */
const UNSUBSCRIBE = `${BASE}/u/`
/** Routes without authentication. */
const PUBLIC = new RegExp(
  `^${BASE}/(health|setup|login|branding|invitation/(look|accept)|u/[^/]+)$`,
)

/**
 * createApp builds the HTTP application. Every route but PUBLIC needs the admin's session or the
 * local token.
 */
export function createApp(deps: Deps): OpenAPIHono<Env> {
  const app = resource<Env>()

  app.use(async (c, next) => {
    const started = performance.now()
    c.set('deps', deps)
    c.set('request_id', crypto.randomUUID())
    c.set('log', {})
    c.header('X-Request-Id', c.get('request_id'))
    await next()
    const policy = c.get('content_policy')
    if (policy) c.header('Content-Security-Policy', policy)
    if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store')
    deps.log({
      msg: 'request',
      request_id: c.get('request_id'),
      method: c.req.method,
      // The token of an unsubscribe link is a secret of its recipient.
      path: c.req.path.replace(/\/u\/[^/]+/, '/u/…'),
      status: c.res.status,
      duration_ms: Math.round((performance.now() - started) * 10) / 10,
      ...c.get('log'),
    })
  })
  app.use(
    secureHeaders({
      xFrameOptions: 'SAMEORIGIN',
      // No HSTS: the certificate may be self-signed, and HSTS would keep a browser from accepting
      // it.
      strictTransportSecurity: false,
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        frameSrc: ["'self'"],
        frameAncestors: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
      },
    }),
  )
  app.use(async (c, next) => {
    requireOurName(c)
    await next()
  })
  app.use(`${BASE}/*`, async (c, next) => {
    if (!hasRoute(app, c.req.method, c.req.path)) throw unknownRoute(app, c, HELP)
    if (PUBLIC.test(c.req.path)) return next()
    return authenticate(BASE)(c, next)
  })
  app.use(`${BASE}/*`, (c, next) => {
    // bodyLimit holds a body of unknown length in memory: the route counts it while it is written.
    if (c.req.path === UPLOAD && !declaresLength(c)) return next()
    const known = FILES[c.req.path]?.(deps.config) ?? MAX_BODY_BYTES
    const maxSize = PUBLIC.test(c.req.path) ? MAX_PUBLIC_BODY_BYTES : known
    return bodyLimit({ maxSize, onError: (c) => problem(c as Ctx, tooLong(maxSize)) })(c, next) // safe: this app's context
  })
  app.use(`${BASE}/*`, (c, next) =>
    c.req.path in FILES || c.req.path.startsWith(UNSUBSCRIBE) ? next() : requireJson(c, next),
  )

  app.use(`${BASE}/*`, recordActs(app, BASE))

  app.route(BASE, access)
  app.route(BASE, join)
  app.route(`${BASE}/settings`, members)
  app.route(`${BASE}/settings`, audit)
  app.route(`${BASE}/settings`, keys)
  app.route(`${BASE}/settings`, webhooks)
  app.route(`${BASE}/projects`, projects)
  app.route(`${BASE}/projects`, archives)
  app.route(`${BASE}/leads`, leads)
  app.route(`${BASE}/leads`, imports)
  app.route(`${BASE}/leads`, leadFields)
  app.route(`${BASE}/leads`, lawfulBasis)
  app.route(BASE, merge)
  app.route(BASE, numbers)
  app.route(`${BASE}/deals`, deals)
  app.route(`${BASE}/lead`, lead)
  app.route(`${BASE}/lead`, tasks)
  app.route(`${BASE}/inbox`, inbox)
  app.route(BASE, search)
  app.route(BASE, today)
  app.route(BASE, license)
  app.route(`${BASE}/settings`, serviceKey)
  app.route(BASE, look)
  app.route(BASE, backups)
  app.route(BASE, system)
  app.route(`${BASE}/settings`, systemSettings)
  app.route(`${BASE}/settings`, branding)
  app.route(`${BASE}/settings`, modelSettings)
  app.route(`${BASE}/model`, models)
  app.route(`${BASE}/settings`, prompts)
  app.route(`${BASE}/settings`, agentSettings)
  app.route(`${BASE}/mission`, mission)
  app.route(`${BASE}/mission`, missionRecipients)
  app.route(`${BASE}/missions`, missionLimits)
  app.route(`${BASE}/missions`, missions)
  app.route(`${BASE}/mission`, missionThread)
  app.route(`${BASE}/missions`, missionVersions)
  app.route(`${BASE}/approvals`, approvals)
  app.route(`${BASE}/documents`, documents)
  app.route(`${BASE}/documents`, codeUpload)
  app.route(BASE, drafts)
  app.route(BASE, queue)
  app.route(BASE, draftReaders)
  app.route(BASE, draftEvidence)
  app.route(`${BASE}/draft`, draftSteps)
  app.route(BASE, sequences)
  app.route(BASE, sequenceSteps)
  app.route(`${BASE}/projects`, listmonkList)
  app.route(`${BASE}/projects`, brand)
  app.route(`${BASE}/projects`, rules)
  app.route(`${BASE}/projects`, dkim)
  app.route(`${BASE}/settings`, mail)
  app.route(BASE, suppression)
  app.route(`${BASE}/people`, people)
  app.route(BASE, unsubscribe)
  mountMcp(app, BASE)
  mountSpec(app, BASE)
  mountWeb(app)

  app.notFound((c) => problem(c, unknownRoute(app, c, HELP)))
  app.onError((thrown, c) => {
    const error = toApiError(thrown)
    c.get('log').code = error.code
    if (error.cause !== undefined) c.get('log').error = describeError(error.cause)
    return problem(c, error)
  })
  return app
}

function declaresLength(c: Context): boolean {
  return c.req.header('content-length') !== undefined && !c.req.header('transfer-encoding')
}

/**
 * Keeps other web pages from reaching the hub through the admin's browser: by DNS rebinding, or by
 * a form (CSRF).
 */
function requireOurName(c: Ctx): void {
  const host = c.req.header('host') ?? new URL(c.req.url).host
  const name = nameIn(host)
  if (!isOurName(name, c.get('deps').config)) {
    throw new ApiError(
      'forbidden',
      `The hub is not called ${name}. Call it localhost, or add the name to "hosts" in hub.json.`,
    )
  }
  const origin = c.req.header('origin')
  if (origin === undefined || c.req.path.startsWith(UNSUBSCRIBE)) return
  if (!URL.canParse(origin) || new URL(origin).host !== host.toLowerCase()) {
    throw new ApiError('forbidden', 'Another web page sent this request. Open the hub itself.')
  }
}
