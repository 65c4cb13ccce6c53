/** What the parts of a request know of each other: types only, so that any of them may import it. */
import type { Context } from 'hono'
import type { Send } from './channels/send.ts'
import type { AllowList } from './channels/target.ts'
import type { Database } from './db.ts'
import type { Seal } from './seal.ts'
import type { Session, VerifySession } from './sessions.ts'

/** What a request carries besides its input. */
export type Env = {
  Variables: {
    deps: Deps
    request_id: string
    /** Which door the request came through; decided here, never by the request. */
    via: 'api' | 'console' | 'mcp'
    /** What the request shows; who that is, only the database knows. */
    credential?: Credential
    caller?: Caller
    /** What the route asks of a caller, set by `can`. */
    scope?: Scope
    /** The route is for people who signed in, on any plan; set by `signedIn`. */
    needs_session?: true
    /** A large body, unread until the caller is known. */
    held_body?: HeldBody | undefined
    /** What the one log line of this request says besides the usual. */
    log: Record<string, unknown>
  }
}
export type Ctx = Context<Env>

/** What an entry hands to the app; the app reads no environment of its own. */
export type Deps = {
  db: Database
  seal: Seal
  /** Whom a session token speaks for; see sessions.ts. */
  verify_session: VerifySession
  /** Sends one HTTP request to a receiver, never to a private address. */
  send: Send
  allow: AllowList
  limits: Limits
  /** Origins that may call the API from a browser (the console's). */
  origins: string[]
  /** Where people reach this service, without a trailing slash. */
  public_url: string
  /** The client's address; what proxies say is believed only where the entry trusts them. */
  address: (c: Ctx) => string
  /** Takes one anonymous request from an address's budget; seconds to wait, 0 when allowed. */
  address_limit: (address: string) => number
  /** A static file of ours, by its name; undefined when there is none. */
  asset: (name: string) => Promise<Response | undefined>
  /** Tells the jobs that a write may have left them work, where none of them listens for NOTIFY. */
  wake?: (() => void) | undefined
  log: (line: Record<string, unknown>) => void
}

/** Requests a minute, per account and (for failed sign-ins and public routes) per address. */
export type Limits = { pro: number; enterprise: number; address: number }

/** What a request shows: a key, which the database knows by its hash, or a verified session token. */
export type Credential = { key_hash: Uint8Array } | { session: Session }

/** Who asks: facts verified in the database, never what the request says of itself. */
export type Caller = {
  user_id: string
  email: string
  /** Below Pro only on the routes of the account itself. */
  plan: 'free' | 'pro' | 'enterprise'
  scopes: Scope[]
  /** Null for a session. */
  key_id: string | null
  rate_limit: { limit: number; remaining: number; reset_seconds: number }
}
export type Scope = 'read' | 'write' | 'ingest'

/** A body that waits until its sender is known: what was read of it, and where the rest comes from. */
export type HeldBody = { begun: Uint8Array; reader: ReadableStreamDefaultReader<Uint8Array> }
