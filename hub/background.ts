import { statfs } from 'node:fs/promises'
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os'
import { actionText } from './agents/actions.text.ts'
import type { Actions } from './agents/actions.ts'
import { ensurePrompts } from './agents/run/prompts.ts'
import { AGENT_SETTINGS } from './agents/settings.ts'
import { isBackupDue, startBackup } from './backup/backup.ts'
import { listBackups, removeOld } from './backup/make.ts'
import { readBackupSettings } from './backup/settings.ts'
import type { Config } from './config.ts'
import { type Database, everywhere } from './db/db.ts'
import { bilingual } from './i18n/words.ts'
import { forgetMerges } from './leads/merge-undo.ts'
import type { Log } from './log.ts'
import { pauseMail } from './mail/settings.ts'
import { forgetAddresses } from './mail/suppression.ts'
import { resumeApproved } from './missions/approvals.ts'
import { improve } from './missions/improve.ts'
import { retryMission } from './missions/mission.ts'
import { createMissions, type Missions } from './missions/missions.ts'
import { createModel, MODELS, type Model } from './model/model.ts'
import { readSetting } from './ops/settings.ts'
import { findChromium } from './reader/chromium.ts'
import { searchWeb } from './reader/search.ts'
import { openReader } from './reader/web-reader.ts'

const say = bilingual(actionText).done

type Background = {
  model: Model
  missions: Missions
  actions: Actions
  start: () => Promise<void>
  stop: () => Promise<void>
}

const IMPROVE_MS = 10 * 60_000

/** createBackground builds what runs in the background: the model, the missions, the web reader. */
export async function createBackground(given: {
  config: Config
  db: Database
  log: Log
  restart: () => void
}): Promise<Background> {
  const { config, db, log, restart } = given
  const { paths } = config
  const model = createModel({ settings: await readSetting(paths, MODELS), paths, log })
  const reader = openReader({ socket: process.env.HUB_READER_SOCKET })
  let timer: NodeJS.Timeout | undefined
  let isStopping = false

  const actions: Actions = {
    allowed: () => readSetting(paths, AGENT_SETTINGS),
    search: searchWeb,
    health: () => health(config, db, model),
    run: {
      retry_failed_missions: async () => {
        const count = await everywhere(db, async (sql) => {
          const failed = await sql<{ id: string }>`
            select id from hub.missions as mission
            where status = 'failed' and finished_at > now() - interval '24 hours'
              and department <> 'system'
              and not exists (select from hub.missions as later where later.retry_of = mission.id)
            order by finished_at limit 20`
          for (const { id } of failed) await retryMission(sql, id)
          return failed.length
        })
        missions.wake()
        return say.retry_failed_missions(count)
      },
      restart_model: async () => {
        await model.configure(await readSetting(paths, MODELS))
        return say.restart_model
      },
      restart_hub: async () => {
        restart()
        return say.restart_hub
      },
      run_backup: async () => {
        const { done } = await startBackup(config, 'manual')
        return say.run_backup(await done)
      },
      pause_mail: async () => {
        await pauseMail(paths, 'agent', bilingual(actionText).approved)
        return say.pause_mail
      },
      delete_old_backups: async () => {
        const { keep_daily } = await readBackupSettings(paths)
        const gone = await removeOld(paths, keep_daily)
        return say.delete_old_backups(gone.length)
      },
    },
  }

  const missions = createMissions({
    config,
    db,
    log,
    model,
    actions,
    reader: {
      isThere: async () => (await findChromium()) !== undefined,
      read: reader.read,
    },
  })

  return {
    model,
    missions,
    actions,
    start: async () => {
      await ensurePrompts(paths).catch((error: unknown) =>
        log({ msg: 'prompts were not written', error: String(error) }),
      )
      await model
        .start()
        .catch((error: unknown) => log({ msg: 'the model did not start', error: String(error) }))
      if (isStopping) return
      await missions.start()
      await resumeApproved({ db, paths, actions, log })
      if (isStopping) return
      const look = () => {
        void improve(db, config)
          .then(missions.wake)
          .catch((error: unknown) => log({ msg: 'improvement loop', error: String(error) }))
        void everywhere(db, forgetAddresses).catch((error: unknown) =>
          log({ msg: 'suppressed addresses', error: String(error) }),
        )
        void everywhere(db, forgetMerges).catch((error: unknown) =>
          log({ msg: 'records of merges', error: String(error) }),
        )
      }
      timer = setInterval(look, IMPROVE_MS)
      look()
    },
    stop: async () => {
      isStopping = true
      clearInterval(timer)
      await missions.stop()
      await model.close()
    },
  }
}

const MIB = 2 ** 20

/** What the system agent learns about this machine: numbers only, no names and no contents. */
async function health(
  config: Config,
  db: Database,
  model: Model,
): Promise<Record<string, string | number | null>> {
  const disk = await statfs(config.paths.data_dir)
  const state = await model.state()
  const backups = await listBackups(config.paths).catch(() => [])
  const [row] = await everywhere(
    db,
    (sql) => sql<Record<string, number>>`
      select pg_database_size(current_database()) / 1048576 as database_mib,
        count(*) filter (where status = 'queued') as missions_queued,
        count(*) filter (where status = 'processing') as missions_processing,
        count(*) filter (where status = 'failed' and finished_at > now() - interval '24 hours')
          as missions_failed_24h
      from hub.missions`,
  )
  return {
    disk_free_percent: Math.round((100 * disk.bavail) / disk.blocks),
    disk_free_mib: Math.round((disk.bavail * disk.bsize) / MIB),
    memory_free_mib: Math.round(freemem() / MIB),
    memory_total_mib: Math.round(totalmem() / MIB),
    load_1m: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    cores: availableParallelism(),
    model_state: state.state,
    model_detail: state.detail?.en ?? null,
    model_memory_mib: state.memory_bytes === null ? null : Math.round(state.memory_bytes / MIB),
    backups: backups.length,
    backup_due: String(await isBackupDue(config.paths)),
    ...row,
  }
}
