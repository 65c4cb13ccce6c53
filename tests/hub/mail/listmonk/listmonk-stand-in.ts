import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { serve } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { createTransport } from '../../../../hub/node_modules/nodemailer/dist/esm/nodemailer.js'
import { type Env, Refusal } from './listmonk-http.ts'
import { block, lists, subscribers } from './listmonk-people.ts'
import { campaigns, publicPages, templates, transactional } from './listmonk-sending.ts'
import { type StandInMessage, State } from './listmonk-state.ts'

/** How a stand-in fails: before its work is done, after it, or with a 500 in between. */
type Fault = 'drop_before' | 'drop_after' | 'error'

export type ListmonkStandIn = {
  url: string
  user: string
  token: string
  /** Everything it knows, to look at and to change as listmonk's own pages would. */
  state: State
  /** Fails the next call of that method and path, such as `POST /tx`. */
  failNext(method: string, path: string, fault: Fault): void
  /** A mail that came back. A hard one or a complaint blocklists, as listmonk's defaults do. */
  bounce(email: string, type?: 'hard' | 'soft' | 'complaint', campaign_id?: number): void
  close(): Promise<void>
}

export type StandInOptions = {
  port?: number
  user?: string
  token?: string
  /** Default: all. */
  permissions?: string[]
  /** A server that takes the mails; else they are only kept in `state.messages`. */
  smtp?: { host: string; port: number }
}

/** Which permission each call asks for, any of them; as listmonk's handlers have it. */
const PERMISSIONS: [RegExp, string[]][] = [
  [/^POST \/lists$/, ['lists:manage_all']],
  [/^DELETE \/lists\/\d+$/, ['lists:manage_all']],
  [/^GET \/subscribers/, ['subscribers:get_all', 'subscribers:get']],
  [/^(POST|PUT|PATCH|DELETE) \/subscribers/, ['subscribers:manage']],
  [/^GET \/campaigns/, ['campaigns:get_all', 'campaigns:get']],
  [/^PUT \/campaigns\/\d+\/status$/, ['campaigns:send']],
  [/^(POST|PUT|DELETE) \/campaigns/, ['campaigns:manage_all', 'campaigns:manage']],
  [/^GET \/templates/, ['templates:get']],
  [/^(POST|PUT|DELETE) \/templates/, ['templates:manage']],
  [/^POST \/tx$/, ['tx:send']],
  [/^GET \/bounces/, ['bounces:get']],
]

/** Starts a stateful stand-in for listmonk: the calls the hub makes, and what they change. */
export async function startListmonk(options: StandInOptions = {}): Promise<ListmonkStandIn> {
  const { port = 0, user = 'hub', token = randomUUID(), permissions } = options
  const state = new State()
  const faults: { method: string; path: string; fault: Fault }[] = []
  const app = new Hono<Env>()

  app.onError((error, c) => {
    if (error instanceof Refusal) return c.json({ message: error.message }, error.status)
    return c.json({ message: `Internal Server Error: ${error.message}` }, 500)
  })

  app.use('/api/*', async (c, next) => {
    const path = c.req.path.slice('/api'.length)
    const cookie = c.req.header('cookie') ?? ''
    const header = cookie.includes('session=') ? '' : (c.req.header('authorization') ?? '')
    const basic = `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`
    if (!header) throw new Refusal(403, 'invalid session')
    if (header !== `token ${user}:${token}` && header !== basic) {
      throw new Refusal(403, 'invalid API credentials')
    }
    const needed = PERMISSIONS.find(([route]) => route.test(`${c.req.method} ${path}`))?.[1]
    if (needed && permissions && !needed.some((one) => permissions.includes(one))) {
      throw new Refusal(403, `permission denied: ${needed.at(-1)}`)
    }
    const at = faults.findIndex((each) => each.method === c.req.method && each.path === path)
    const fault = at < 0 ? undefined : faults.splice(at, 1)[0]?.fault
    if (fault === 'drop_before') return hangUp(c)
    if (fault === 'error') throw new Refusal(500, 'Internal Server Error')
    await next()
    if (fault === 'drop_after') c.res = hangUp(c)
  })

  app.get('/api/profile', (c) => {
    const granted = permissions ?? [...PERMISSIONS.flatMap(([, names]) => names), 'lists:get_all']
    const user_role = { id: 1, name: 'Hub', permissions: granted }
    return c.json({
      data: { username: user, name: user, type: 'api', email: null, status: 'enabled', user_role },
    })
  })
  app.get('/api/about', (c) => c.json({ version: 'v6.2.0', build: 'stand-in' }))

  lists(app, state, permissions)
  subscribers(app, state, permissions)
  campaigns(app, state, deliver)
  templates(app, state)
  transactional(app, state, deliver)
  publicPages(app, state)
  app.all('/api/*', () => {
    throw new Refusal(404, '404 unknown endpoint')
  })

  const transport = options.smtp
    ? createTransport({ ...options.smtp, pool: true, secure: false, ignoreTLS: true })
    : null
  async function deliver(message: StandInMessage) {
    const { from, to, subject, html, text, headers } = message
    // Go reads the sender by RFC 5322: a name with a comma or a colon must be quoted.
    const [name = ''] = from.split(/\s*<[^<>]*>$/)
    if (!/^[^@]+@[^@]+$|<[^<>@]+@[^<>@]+>$/.test(from) || /^[^"]*[,:;()[\]\\]/.test(name)) {
      throw new Error('mail: expected comma')
    }
    state.messages.push(message)
    await transport?.sendMail({ from, to, subject, html, text, headers })
  }

  const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const started = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => resolve(started))
  })
  const address = server.address()
  if (!address || typeof address === 'string') throw new Error('The stand-in has no port')
  state.root = `http://127.0.0.1:${address.port}`

  return {
    url: state.root,
    user,
    token,
    state,
    failNext: (method, path, fault) => faults.push({ method, path, fault }),
    bounce(email, type = 'hard', campaign_id) {
      const subscriber = state.byEmail(email)
      if (!subscriber) throw new Error(`${email} is not a subscriber`)
      const campaign = state.campaigns.get(campaign_id ?? 0)
      if (campaign) campaign.bounces += 1
      state.bounces.push({
        id: state.nextId(),
        type,
        email: subscriber.email,
        subscriber_id: subscriber.id,
        campaign_id: campaign?.id ?? null,
        created_at: new Date().toISOString(),
      })
      if (type !== 'soft') block(subscriber)
    },
    close: () =>
      new Promise<void>((resolve, reject) => {
        transport?.close()
        if ('closeAllConnections' in server) server.closeAllConnections()
        server.close((error) => (error ? reject(error) : resolve()))
      }),
  }
}

function hangUp(c: Context<Env>): Response {
  const incoming: IncomingMessage | undefined =
    'socket' in c.env.incoming ? c.env.incoming : undefined
  incoming?.socket.destroy()
  return new Response(null, { status: 500 })
}
