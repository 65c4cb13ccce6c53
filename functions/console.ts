import { join } from 'node:path'
import { Hono } from 'hono'
import { staticFiles } from '../shared/static-files.ts'
import type { Env } from './context.ts'

/** The folder of the built console (scripts/build/build-web.ts). */
const FOLDER = join(import.meta.dirname, '../dist/console')

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
  routes.get('/console.json', (c) => c.json(sign_in))
  routes.get('/*', staticFiles(folder))
  return routes
}
