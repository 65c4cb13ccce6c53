/** The types that the parts of a request share. It holds types only, so that every part can import it. */
import type { Context } from 'hono'
import type { Resolve } from './channels/transport/plain-http.ts'
import type { Send, SendMail, SendMqtt, SendPush } from './channels/transport/send.ts'
import type { AllowList } from './channels/transport/target.ts'
import type { Database } from './db.ts'
import type { News } from './news.ts'
import type { Seal } from './seal.ts'
import type { Session, VerifySession } from './sign-in/sessions.ts'
import type { Tracing } from './tracing/tracing.ts'

/** The variables of a request's Hono context. */
export type Env = {
  Variables: {
    deps: Deps
    request_id: string
    /** How the request came in. Set by the server, never taken from the request. */
    via: 'api' | 'console' | 'mcp'
    /** The credential that the request presented. The database decides whose it is. */
    credential?: Credential
    caller?: Caller
    /** The scope that the route requires; set by `can`. */
    scope?: Scope
    /** The route accepts sessions only, on any plan; set by `signedIn`. */
    needs_session?: true
    /** A large body that is not read until the caller is known. */
    unread_body?: UnreadBody | undefined
    /** Extra fields for this request's log line. */
    log: Record<string, unknown>
  }
}
export type Ctx = Context<Env>

/** What an entry passes to the app. The app itself never reads the environment. */
export type Deps = {
  db: Database
  seal: Seal
  /** Verifies a session token; see sessions.ts. */
  verify_session: VerifySession
  /** Sends one HTTP request to a receiver, never to a private address. */
  send: Send
  /** Sends a mail; undefined where there is no way. */
  mail?: SendMail | undefined
  /** Publishes to an MQTT broker; undefined where the platform cannot. */
  mqtt?: SendMqtt | undefined
  /** Notifies a browser; undefined where the operator has no keys for that. */
  push?: SendPush | undefined
  allow: AllowList
  /** Resolves a name, to judge a plain http target when it is saved; absent where a platform has no DNS. */
  resolve?: Resolve | undefined
  limits: Limits
  /** Origins that may call the API from a browser (the console's). */
  origins: string[]
  /** The origin of an issuer elsewhere, which the console asks for sessions; undefined for our own. */
  issuer_origin?: string | undefined
  /** The origin of the tiles under the console's map; undefined for the map that comes with it. */
  tile_origin?: string | undefined
  /** The public URL of this service, without a trailing slash. */
  public_url: string
  /** Whether the console is served at the root of the service. */
  has_console?: boolean
  /** The client's IP address. X-Forwarded-For counts only where the entry trusts the proxy. */
  address: (c: Ctx) => string
  /** Counts one anonymous request of an address. Returns the seconds to wait, 0 when allowed. */
  address_limit: (address: string) => number
  /** A static file by its name; undefined when there is none. */
  asset: (name: string) => Promise<Response | undefined>
  /** Called after a write: there may be new jobs, where no runner listens for NOTIFY, or news. */
  wake?: (() => void) | undefined
  /** Wakes requests that wait for changes, where the process listens for NOTIFY; without it they ask now and then. */
  news?: News | undefined
  /** How new jobs start, where they run in this process: as soon as they are there, or at the next look. */
  jobs_start?: (() => 'at_once' | 'polling') | undefined
  /** Traces the requests; absent where nothing is traced. */
  tracing?: Tracing | undefined
  log: (line: Record<string, unknown>) => void
}

/** Requests a minute: per account by plan, and per address for public routes and failed sign-ins. */
export type Limits = { pro: number; enterprise: number; address: number }

/** The credential of a request: an API key, by its hash, or a verified session token. */
export type Credential = { key_hash: Uint8Array } | { session: Session }

/** The caller, as verified by the database. Nothing here is taken from the request. */
export type Caller = {
  user_id: string
  email: string
  /** `free` only on the account routes: the others answer 402 below Pro. */
  plan: 'free' | 'pro' | 'enterprise'
  scopes: Scope[]
  /** Null for a session. */
  key_id: string | null
  rate_limit: { limit: number; remaining: number; reset_seconds: number }
}
export type Scope = 'read' | 'write' | 'ingest'

/** A body that is not fully read yet: its start, and the reader for the rest. */
export type UnreadBody = { start: Uint8Array; reader: ReadableStreamDefaultReader<Uint8Array> }
