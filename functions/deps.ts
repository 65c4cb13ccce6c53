import type { Send } from './channels/send.ts'
import type { AllowList } from './channels/target.ts'
import type { Database } from './db.ts'
import type { Ctx } from './http.ts'
import type { Seal } from './seal.ts'
import type { VerifySession } from './sessions.ts'

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
