import { join } from 'node:path'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono } from 'hono'
import type { Env } from './context.ts'

/** The folder of the built console (scripts/build/build-web.ts). */
const FOLDER = join(import.meta.dirname, '../dist/console')
const A_YEAR = 'public, max-age=31536000, immutable'

/** Where and how people sign in, as the console is told. */
export type SignIn = {
  /** The issuer's address; relative for the service's own. */
  auth_url: string
  /** What the issuer wants as `apikey`: the publishable key of a Supabase project. */
  auth_key: string | null
  /** `link`: with a one-time link that an operator gives out; `mail`: the issuer mails one. */
  by: 'link' | 'mail'
}

/** Serves the console from disk to anybody: it holds no data. For Node. */
export function consoleRoutes(sign_in: SignIn, folder = FOLDER): Hono<Env> {
  const routes = new Hono<Env>()
  const serveFile = serveStatic<Env>({ root: folder })
  routes.get('/console.json', (c) => c.json(sign_in))
  routes.get('/*', async (c, next) => {
    const answer = await serveFile(c, next)
    // Only files with a hash of their content in their name never change.
    const cache = c.req.path.includes('/assets/') ? A_YEAR : 'no-cache'
    if (answer instanceof Response) answer.headers.set('Cache-Control', cache)
    return answer
  })
  return routes
}
