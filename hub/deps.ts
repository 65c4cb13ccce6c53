import type { Actions } from './agents/actions.ts'
import type { Audit } from './audit/audit.ts'
import type { createAttempts } from './auth/attempts.ts'
import type { Config } from './config.ts'
import type { Actor } from './db/actor.ts'
import type { Database } from './db/db.ts'
import type { KeyRole } from './db/keys.ts'
import type { Imports } from './leads/imports.ts'
import type { Log } from './log.ts'
import type { Poller } from './mail/imap/poll.ts'
import type { Mailer } from './mail/smtp/mailer.ts'
import type { Missions } from './missions/missions.ts'
import type { Downloads } from './model/downloads.ts'
import type { Model } from './model/model.ts'
import type { Webhooks } from './webhooks/deliver.ts'

/** What route handlers use; `createHub` builds it. */
export type Deps = {
  config: Config
  /** In a request, the database for whoever sent it. */
  db: Database
  /** The database for what the hub itself does: who somebody is, what is kept about requests. */
  root_db: Database
  /** Who sent the request; absent on public routes. */
  actor?: Actor
  key_role: KeyRole
  log: Log
  imports: Imports
  model: Model
  missions: Missions
  /** The actions of approved proposals. */
  actions: Actions
  downloads: Downloads
  mailer: Mailer
  poller: Poller
  webhooks: Webhooks
  audit: Audit
  attempts: ReturnType<typeof createAttempts>
  /** Restarts the hub: ends the process after the response, and its supervisor starts it again. */
  restart: () => void
  /** The secret that our nginx sends; without it X-Real-IP is ignored. */
  proxy_secret: string | undefined
}
