import { createApp } from './app.ts'
import { createAudit } from './audit/audit.ts'
import { createAttempts } from './auth/attempts.ts'
import { proxySecretFile } from './auth/caller.ts'
import { createBackground } from './background.ts'
import { recoverRestore, scheduleBackups, watchRestores } from './backup/backup.ts'
import type { Config } from './config.ts'
import { createDatabase } from './db/db.ts'
import { readKey, urlFor } from './db/keys.ts'
import type { Deps } from './deps.ts'
import { readText } from './files.ts'
import { createImports } from './leads/imports.ts'
import type { Log } from './log.ts'
import { adoptFirstBrand } from './mail/brand/first-brand.ts'
import { createPoller } from './mail/imap/poll.ts'
import { createMailer } from './mail/smtp/mailer.ts'
import { createDownloads } from './model/downloads.ts'
import { createHealth } from './ops/health.ts'
import { createWebhooks } from './webhooks/deliver.ts'

export type Hub = {
  app: ReturnType<typeof createApp>
  deps: Deps
  /** Starts the background work; does nothing without the service key. */
  start: () => Promise<void>
  close: () => Promise<void>
}

/** createHub builds the hub with the configured database key. */
export async function createHub(
  config: Config,
  { log, restart }: { log: Log; restart: () => void },
): Promise<Hub> {
  await recoverRestore(config)
  const { key, role } = await readKey(config)
  const db = createDatabase({
    url: urlFor(key, config.database),
    on_error: (error) => log({ msg: 'database connection', error: error.message }),
  })
  const audit = createAudit({ db, log, can_write: role === 'hub_rw' })
  const imports = createImports({ db, paths: config.paths, log })
  const background = await createBackground({ config, db, log, restart })
  const { model, missions, actions } = background
  const downloads = createDownloads({ paths: config.paths, log, model })
  const mailer = createMailer({ config, db, log })
  const poller = createPoller({ config, db, log, model })
  const webhooks = createWebhooks({ db, paths: config.paths, log })
  const deps: Deps = {
    config,
    db,
    root_db: db,
    key_role: role,
    log,
    imports,
    model,
    missions,
    actions,
    downloads,
    mailer,
    poller,
    webhooks,
    audit,
    restart,
    attempts: createAttempts(),
    proxy_secret: (await readText(proxySecretFile(config.paths)))?.trim() || undefined,
  }
  const stops: (() => void | Promise<void>)[] = []
  let isClosed = false
  const is_writable = role === 'hub_rw'
  const health = createHealth({ config, db, model, log, is_writable, wake: missions.wake })
  return {
    app: createApp(deps),
    deps,
    start: async () => {
      stops.push(scheduleBackups(config, log), watchRestores(config, restart), health.start())
      await downloads.resume()
      if (role !== 'hub_rw') return
      await adoptFirstBrand(config, db)
      // Whoever stops the hub while it starts has closed all of this.
      if (isClosed) return
      imports.wake()
      mailer.start()
      poller.start()
      webhooks.start()
      await background.start()
    },
    close: async () => {
      isClosed = true
      await Promise.all(stops.map((stop) => stop()))
      await downloads.close()
      await imports.close()
      await poller.close()
      await webhooks.close()
      await mailer.close()
      await background.stop()
      await audit.flush()
      await db.end()
    },
  }
}
