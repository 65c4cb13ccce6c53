import type { Actions } from './agents/actions.ts'
import type { createAttempts } from './auth/attempts.ts'
import type { Config } from './config.ts'
import type { Database } from './db/db.ts'
import type { KeyRole } from './db/keys.ts'
import type { Imports } from './leads/imports.ts'
import type { Log } from './log.ts'
import type { Poller } from './mail/imap/poll.ts'
import type { Mailer } from './mail/smtp/mailer.ts'
import type { Missions } from './missions/missions.ts'
import type { Downloads } from './model/downloads.ts'
import type { Model } from './model/model.ts'

/** What the hub is made of; `createHub` puts it together. */
export type Deps = {
  config: Config
  db: Database
  key_role: KeyRole
  log: Log
  imports: Imports
  model: Model
  missions: Missions
  /** What approved proposals may do. */
  actions: Actions
  downloads: Downloads
  mailer: Mailer
  poller: Poller
  attempts: ReturnType<typeof createAttempts>
  /** Ends the process so that its supervisor starts it anew, behind the answer. */
  restart: () => void
  /** With this nginx shows that it is ours; without, nobody says for whom they ask. */
  proxy_secret: string | undefined
}
