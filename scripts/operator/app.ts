import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type pg from 'pg'
import { z } from 'zod'
import type { Log } from '../../functions/log.ts'
import {
  ApiError,
  answerProblem,
  describeError,
  invalidInput,
  issuesOf,
  notFound,
  problemOf,
  toApiError,
} from '../../shared/problem.ts'
import {
  DiscardBody,
  OperatorAccountDetail,
  OperatorAccounts,
  OperatorActs,
  OperatorFeeds,
  OperatorHealth,
  OperatorJobs,
  OperatorLink,
  OperatorQueues,
  OperatorRedriven,
  OperatorSession,
  OperatorSignedIn,
  PAGE_HEADER,
  PauseBody,
  PlanBody,
  RedriveBody,
  SignInBody,
} from '../../shared/schemas/operator.ts'
import { decodeCursor, encodeCursor } from '../../shared/schemas/page.ts'
import { staticFiles } from '../../shared/static-files.ts'
import { asOperator, changePlan, revokeKey } from '../postgres/accounts.ts'
import { discard, listDeadJobs, redrive } from '../postgres/dead-jobs.ts'
import { pauseFeed, resumeFeed } from '../postgres/feeds.ts'
import { findAccounts, listKeys } from '../postgres/lists.ts'
import { nameOperator, recordAct } from '../postgres/operator.ts'
import { createSignInLink } from '../postgres/sign-in-link.ts'
import { onlyLoopbackNames, onlyOwnPage, pageHeaders } from './guard.ts'
import { listActs, readFeeds, readHealth, readQueues } from './reads.ts'
import { endSession, findSession, redeemLink, type Session } from './sessions.ts'

const FOLDER = join(import.meta.dirname, '../../dist/operator')
const MAX_BODY_BYTES = 16 * 1024
const PAGE_SIZE = 50
/** Redriven at once, as by the command. */
const MAX_REDRIVEN = 10_000
/** A read that takes longer would load the database that it looks at. */
const MAX_STATEMENT_MS = 15_000

export type OperatorApp = {
  adminUrl: string
  /** Where people reach the service; their sign-in links begin with it. */
  public_url: string
  log: Log
  folder?: string
}

type Env = { Variables: { request_id: string; operator: string | undefined } }
type Ctx = Context<Env>
type Work<T> = (client: pg.Client, session: Session) => Promise<T>

/** The operator page and what it asks for. Each request is one transaction, in which it is first asked who sends it. */
export function createOperatorApp({ adminUrl, public_url, log, folder = FOLDER }: OperatorApp) {
  const app = new Hono<Env>()

  app.use(async (c, next) => {
    const started = performance.now()
    c.set('request_id', randomUUID())
    await next()
    c.header('X-Request-Id', c.get('request_id'))
    if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store')
    log({
      msg: 'operator request',
      request_id: c.get('request_id'),
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      duration_ms: Math.round((performance.now() - started) * 10) / 10,
      operator: c.get('operator'),
      error: c.error && toApiError(c.error).cause && describeError(toApiError(c.error).cause),
    })
  })
  app.use(pageHeaders)
  app.use(onlyLoopbackNames)
  app.use('/api/*', onlyOwnPage)
  app.use('/api/*', bodyLimit({ maxSize: MAX_BODY_BYTES }))

  const signedIn = <T>(c: Ctx, work: Work<T>): Promise<T> => {
    const secret = { cookie: getCookie(c, cookieName(c)), page: c.req.header(PAGE_HEADER) }
    if (!isToken(secret.cookie) || !isToken(secret.page)) throw signedOut()
    const known = { cookie: secret.cookie, page: secret.page }
    return asOperator(adminUrl, async (client) => {
      await client.query(`set local statement_timeout = ${MAX_STATEMENT_MS}`)
      const session = await findSession(client, known)
      if (!session) throw signedOut()
      c.set('operator', session.operator)
      await nameOperator(client, { name: session.operator, via: 'page' })
      return work(client, session)
    })
  }

  app.post('/api/sign-in', async (c) => {
    const { token } = await bodyOf(c, SignInBody)
    const made = await asOperator(adminUrl, async (client) => {
      const redeemed = isToken(token) ? await redeemLink(client, token) : undefined
      if (!redeemed) return undefined
      const { id, operator } = redeemed.session
      await nameOperator(client, { name: operator, via: 'page' })
      await recordAct(client, { action: 'operator.signed_in', type: 'operator', id })
      return redeemed
    })
    if (!made) {
      throw new ApiError(
        'unauthenticated',
        'This link was used or has expired. Make another one: npm run admin -- operator link',
      )
    }
    const { session, secret } = made
    c.set('operator', session.operator)
    // Without Secure and so without __Host-: Safari takes neither from http on this machine. The page's half of the
    // secret does what they would, as no other port can read or write it.
    setCookie(c, cookieName(c), secret.cookie, {
      ...{ httpOnly: true, sameSite: 'Strict', path: '/' },
      expires: session.expires_at,
    })
    return c.json(OperatorSignedIn.parse({ ...session, page: secret.page }))
  })
  app.post('/api/sign-out', async (c) => {
    await signedIn(c, async (client, session) => {
      await endSession(client, session)
      await recordAct(client, { action: 'operator.signed_out', type: 'operator', id: session.id })
    })
    deleteCookie(c, cookieName(c), { path: '/' })
    return c.body(null, 204)
  })
  app.get('/api/session', async (c) =>
    c.json(OperatorSession.parse(await signedIn(c, async (_, session) => session))),
  )

  app.get('/api/health', async (c) => c.json(OperatorHealth.parse(await signedIn(c, readHealth))))
  app.get('/api/feeds', async (c) => c.json(OperatorFeeds.parse(await signedIn(c, readFeeds))))
  app.get('/api/queues', async (c) => c.json(OperatorQueues.parse(await signedIn(c, readQueues))))
  app.get('/api/jobs', async (c) => {
    const queue = c.req.query('queue') || undefined
    const { rows, next_cursor } = await pageOf(c, { queue }, (page) =>
      signedIn(c, (client) => listDeadJobs(client, { queue, ...page })),
    )
    return c.json(OperatorJobs.parse({ dead_jobs: rows, next_cursor }))
  })
  app.get('/api/accounts', async (c) => {
    const search = (c.req.query('search') ?? '').trim().slice(0, 254)
    const { rows, next_cursor } = await pageOf(c, { search }, (page) =>
      signedIn(c, async (client) => {
        const found = await findAccounts(client, { search, ...page })
        return found.map((one) => ({ ...one, id: one.user_id }))
      }),
    )
    return c.json(OperatorAccounts.parse({ accounts: rows, next_cursor }))
  })
  app.get('/api/accounts/:id', async (c) => {
    const user = idOf(c)
    const found = await signedIn(c, async (client) => {
      const [account] = await findAccounts(client, { search: user, limit: 1 })
      return account && { account, ...(await listKeys(client, { user })) }
    })
    if (!found) throw notFound('account')
    return c.json(OperatorAccountDetail.parse(found))
  })
  app.get('/api/acts', async (c) => {
    const { rows, next_cursor } = await pageOf(c, {}, (page) =>
      signedIn(c, (client) => listActs(client, page)),
    )
    return c.json(OperatorActs.parse({ acts: rows, next_cursor }))
  })

  app.post('/api/accounts/:id/plan', async (c) => {
    const [user, { plan }] = [idOf(c), await bodyOf(c, PlanBody)]
    await signedIn(c, (client) => changePlan(client, { user, plan }))
    return c.body(null, 204)
  })
  app.post('/api/accounts/:id/link', async (c) => {
    const user = idOf(c)
    const link = await signedIn(c, (client) => createSignInLink(client, { user, public_url }))
    return c.json(OperatorLink.parse(link), 201)
  })
  app.post('/api/keys/:id/revoke', async (c) => {
    const key = idOf(c)
    await signedIn(c, (client) => revokeKey(client, key))
    return c.body(null, 204)
  })
  app.post('/api/feeds/:source/pause', async (c) => {
    const [source, { reason }] = [c.req.param('source'), await bodyOf(c, PauseBody)]
    await signedIn(c, (client) => pauseFeed(client, { source, reason }))
    return c.body(null, 204)
  })
  app.post('/api/feeds/:source/resume', async (c) => {
    const source = c.req.param('source')
    await signedIn(c, (client) => resumeFeed(client, { source }))
    return c.body(null, 204)
  })
  app.post('/api/jobs/redrive', async (c) => {
    const which = await bodyOf(c, RedriveBody)
    const done = await signedIn(c, (client) => redrive(client, { limit: MAX_REDRIVEN, ...which }))
    return c.json(OperatorRedriven.parse(done))
  })
  app.post('/api/jobs/:id/discard', async (c) => {
    const [job, { reason }] = [idOf(c), await bodyOf(c, DiscardBody)]
    await signedIn(c, (client) => discard(client, { job, reason }))
    return c.body(null, 204)
  })

  app.get('/*', staticFiles(folder))
  app.notFound((c) => refusal(c, notFound('page')))
  app.onError((error, c) => refusal(c, refusalOf(error)))
  return app
}

/** Of the port that the browser sees: cookies do not tell ports apart, and two services may run on one machine. */
const cookieName = (c: Ctx) =>
  `watchpost_operator_${c.req.header('host')?.match(/:(\d+)$/)?.[1] ?? '80'}`

const isToken = (text: string | undefined): text is string =>
  text !== undefined && /^[\w-]{43}$/.test(text)

const signedOut = () =>
  new ApiError('unauthenticated', 'Sign in with a link of: npm run admin -- operator link')

function refusal(c: Ctx, error: ApiError): Response {
  const body = problemOf(error, c.get('request_id'))
  return answerProblem(c, error, { realm: 'watchpost-operator', body })
}

/** What a command would say to whoever typed it is said here too; of all other errors only the log knows. */
function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError || !(error instanceof Error)) return toApiError(error)
  const code = 'code' in error ? String(error.code) : undefined
  if (code?.match(/^(ECONN|ENOTFOUND|ETIMEDOUT|57P|08)/)) {
    return new ApiError('unavailable', 'The database does not answer. Try again in a moment.', {
      cause: error,
    })
  }
  const isForPeople = code === undefined && /^(Error|UsageError)$/.test(error.constructor.name)
  return isForPeople ? new ApiError('conflict', error.message) : toApiError(error)
}

async function bodyOf<S extends z.ZodType>(c: Ctx, schema: S): Promise<z.output<S>> {
  // What a form can send without asking first is refused.
  if (!/^application\/json\b/.test(c.req.header('content-type') ?? '')) {
    throw new ApiError('unsupported_media_type', 'Send the body as application/json.')
  }
  const given = await c.req.json().catch(() => {
    throw new ApiError('malformed', 'The body is not valid JSON.')
  })
  const read = schema.safeParse(given)
  if (read.success) return read.data
  throw invalidInput('json', issuesOf(read.error))
}

function idOf(c: Ctx): string {
  const { data } = z.guid().safeParse(c.req.param('id'))
  if (!data) throw notFound('page')
  return data
}

const Position = z.tuple([z.string(), z.guid()])
type Paged = { cursor_at: string; id: string }

/** One page of a list, which is asked for one row more than it shows. */
async function pageOf<T extends Paged>(
  c: Ctx,
  filter: object,
  read: (page: { before?: { at: string; id: string }; limit: number }) => Promise<T[]>,
): Promise<{ rows: T[]; next_cursor: string | null }> {
  const bound = { path: c.req.path, ...filter }
  const position = await decodeCursor(bound, c.req.query('cursor'), Position)
  const before = position && { at: position[0], id: position[1] }
  const found = await read({ ...(before ? { before } : {}), limit: PAGE_SIZE + 1 })
  const rows = found.slice(0, PAGE_SIZE)
  const last = rows.at(-1)
  const hasMore = found.length > rows.length && last
  return {
    rows,
    next_cursor: hasMore ? await encodeCursor(bound, [last.cursor_at, last.id]) : null,
  }
}
