import { Hono } from 'hono'
import type { Env } from './context.ts'

/** Raster tiles under the map: an address with {z}, {x} and {y}, and whom to name for them. */
export type Tiles = { url: string; attribution: string }

/** What the console is told before anybody signs in: nothing of it is secret. */
export type ConsoleSettings = {
  /** The issuer's address; relative for the service's own. */
  auth_url: string
  /** What the issuer wants as `apikey`: the publishable key of a Supabase project. */
  auth_key: string | null
  /** `link`: with a one-time link that an operator gives out; `mail`: the issuer mails one. */
  by: 'link' | 'mail'
  /** Null: the map that comes with the console. */
  tiles: Tiles | null
}

/** Tells the console how it is set up. */
export function consoleSettings(settings: ConsoleSettings): Hono<Env> {
  return new Hono<Env>().get('/console.json', (c) => c.json(settings))
}
