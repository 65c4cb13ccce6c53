import { stat, statfs } from 'node:fs/promises'
import { freemem, totalmem } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { readJob } from '../backup/backup.ts'
import { lastOf, listBackups } from '../backup/make.ts'
import type { Config, Paths } from '../config.ts'
import { type Database, everywhere } from '../db/db.ts'
import { readJson, writeJson } from '../files.ts'
import { KeptWords } from '../i18n/kept-words.ts'
import { bilingual, type Language, type Words } from '../i18n/words.ts'
import type { Log } from '../log.ts'
import { readMail, readPause } from '../mail/settings.ts'
import { readToday } from '../mail/today.ts'
import { alert as tellAgent } from '../missions/improve.ts'
import type { ModelState } from '../model/model.ts'
import { healthText } from './health.text.ts'
import { readSystem } from './system-settings.ts'

const say = bilingual(healthText)

const CAUSES = ['disk', 'memory', 'database', 'queue', 'model', 'backup', 'mail'] as const
type Cause = (typeof CAUSES)[number]

/** A fault, current or past. */
export const Alert = z
  .object({
    cause: z.enum(CAUSES),
    message: z.string(),
    since: z.string(),
    last_seen_at: z.string(),
    ended_at: z.string().nullable(),
    mission_id: z
      .uuid()
      .nullable()
      .meta({ description: 'The mission that investigates the alert.' }),
    told_at: z.string().nullable(),
  })
  .meta({ id: 'Alert' })

/** alerts.json: an Alert with its message in both languages, newest first. */
const KeptAlert = z.object({ ...Alert.shape, message: KeptWords })
type KeptAlert = z.infer<typeof KeptAlert>
const KeptAlerts = z.array(KeptAlert)

const alertsFile = (paths: Paths) => join(paths.data_dir, 'alerts.json')
const MAX_ALERTS = 50

/** All stored alerts, current ones first. */
export async function readAlerts(paths: Paths): Promise<KeptAlert[]> {
  const kept = KeptAlerts.safeParse((await readJson(alertsFile(paths))) ?? [])
  if (!kept.success) return []
  return kept.data.sort(
    (a, b) =>
      Number(a.ended_at !== null) - Number(b.ended_at !== null) || b.since.localeCompare(a.since),
  )
}

/** What the health checks use. */
type HealthDeps = {
  config: Config
  db: Database
  model: { state: () => Promise<ModelState> }
  log: Log
  /** Whether missions can be created. */
  is_writable: boolean
  /** Called after a new mission was created. */
  wake?: () => void
}

const GIB = 2 ** 30
/** On a large disk a twentieth is enough. */
const MIN_FREE_DISK = { bytes: 2 * GIB, part: 0.05, most: 20 * GIB }
const MIN_FREE_MEMORY = 0.05
const STUCK_HOURS = 1
const STALE_BACKUP_MS = 50 * 3_600_000
const DAY_MS = 86_400_000

type Check = (deps: HealthDeps) => Promise<Words | undefined>

const CHECKS: Record<Cause, Check> = {
  disk: async ({ config }) => {
    const { bavail, bsize, blocks } = await statfs(config.paths.data_dir)
    const free = bavail * bsize
    const least = Math.min(MIN_FREE_DISK.part * blocks * bsize, MIN_FREE_DISK.most)
    if (free >= Math.max(least, MIN_FREE_DISK.bytes)) return undefined
    return say.disk(free / GIB)
  },
  memory: async () => {
    const part = freemem() / totalmem()
    if (part >= MIN_FREE_MEMORY) return undefined
    return say.memory(Math.round(100 * part))
  },
  database: async ({ db }) => {
    try {
      await everywhere(db, (sql) => sql`select from hub.projects limit 1`)
      return undefined
    } catch {
      return say.database
    }
  },
  queue: async ({ db }) => {
    const [row] = await everywhere(
      db,
      (sql) => sql<{ stuck: number; processing: number }>`
        select
          count(*) filter (
            where status = 'queued' and waits_for is null
              and created_at < now() - make_interval(hours => ${STUCK_HOURS})
          )::int as stuck,
          count(*) filter (where status = 'processing')::int as processing
        from hub.missions`,
    )
    if (!row || row.stuck === 0 || row.processing > 0) return undefined
    return say.queue(row.stuck)
  },
  model: async ({ model }) => {
    const { state, detail } = await model.state()
    if (state === 'unreachable') return detail ?? say.unreachable
    if (state !== 'crashed') return undefined
    const why = detail ?? say.unknown
    return say.crashed(why)
  },
  backup: async ({ config: { paths } }) => {
    const job = await readJob(paths)
    if (job?.kind === 'backup' && job.status === 'failed') {
      const why = job.reason ?? say.unknown
      return say.backup_failed(why)
    }
    if (job?.kind === 'backup' && job.status === 'done' && job.reason) return job.reason
    const last = lastOf((await listBackups(paths)).filter(({ kind }) => kind !== 'uploaded'))
    const { birthtimeMs } = await stat(paths.data_dir)
    const since = last ? Date.parse(last.created_at) : birthtimeMs
    if (Date.now() - since < STALE_BACKUP_MS) return undefined
    return last ? say.old_backup(last.created_at) : say.no_backup
  },
  mail: async ({ config: { paths }, db }) => {
    const [mail, pause] = [await readMail(paths), await readPause(paths)]
    const { alarm } = await everywhere(db, (sql) => readToday(sql, mail, pause))
    const isStopped = pause.reason === 'bounces' || pause.reason === 'complaints'
    const why = alarm?.detail ?? (isStopped ? pause.detail : null)
    if (!why) return undefined
    return say.mail(why)
  },
}

/** How often in a row a fault must be found: a model that restarts is no alert. */
const MIN_IN_A_ROW: Partial<Record<Cause, number>> = { model: 3, memory: 3, database: 2 }

/**
 * createHealth checks the hub at intervals. It stores faults and creates a mission for the system
 * agent, once a day.
 */
export function createHealth(deps: HealthDeps, now = () => new Date()) {
  const { config, log } = deps
  const inRow = new Map<Cause, number>()

  async function check(): Promise<KeptAlert[]> {
    const { language } = await readSystem(config.paths)
    const found = new Map<Cause, Words>()
    for (const cause of CAUSES) {
      // Failing to measure is not a fault: the check of the database reports when it is
      // unavailable.
      const words = await CHECKS[cause](deps).catch(() => undefined)
      inRow.set(cause, words ? (inRow.get(cause) ?? 0) + 1 : 0)
      if (words && (inRow.get(cause) ?? 0) >= (MIN_IN_A_ROW[cause] ?? 1)) {
        found.set(cause, words)
      }
    }
    const at = now().toISOString()
    const before = await readAlerts(config.paths)
    const current = new Map(before.filter((one) => !one.ended_at).map((one) => [one.cause, one]))
    const ended = before.filter((one) => one.ended_at)
    const alerts: KeptAlert[] = []
    for (const [cause, message] of found) {
      const known = current.get(cause)
      const told_at = lastToldAt(before, cause)
      const one: KeptAlert = {
        cause,
        message,
        since: known?.since ?? at,
        last_seen_at: at,
        ended_at: null,
        mission_id: known?.mission_id ?? null,
        told_at,
      }
      if (!known) log({ msg: 'health alert', cause, detail: message.en })
      alerts.push(await createDailyMission(one, language))
      current.delete(cause)
    }
    for (const one of current.values()) {
      log({ msg: 'health alert ended', cause: one.cause })
      alerts.push({ ...one, ended_at: at })
    }
    const all = [...alerts, ...ended].slice(0, MAX_ALERTS)
    if (all.length > 0 || before.length > 0) await writeJson(alertsFile(config.paths), all)
    return alerts.filter(({ ended_at }) => ended_at === null)
  }

  /** At most one mission per day and cause, however often the fault comes and goes. */
  async function createDailyMission(one: KeptAlert, language: Language): Promise<KeptAlert> {
    const isDue = !one.told_at || now().getTime() - Date.parse(one.told_at) >= DAY_MS
    if (!deps.is_writable || !isDue || one.cause === 'database') return one
    const given = { kind: one.cause, message: one.message[language].slice(0, 2000) }
    const mission_id = await tellAgent(deps.db, config.paths, given).catch(() => undefined)
    if (!mission_id) return one
    deps.wake?.()
    return { ...one, mission_id, told_at: now().toISOString() }
  }

  function start(every_ms = 60_000): () => void {
    let isChecking = false
    const timer = setInterval(() => {
      if (isChecking) return
      isChecking = true
      check()
        .catch((error: unknown) => log({ msg: 'health check failed', error: String(error) }))
        .finally(() => {
          isChecking = false
        })
    }, every_ms)
    timer.unref()
    return () => clearInterval(timer)
  }

  return { check, start }
}

function lastToldAt(alerts: KeptAlert[], cause: Cause): string | null {
  const times = alerts.flatMap((one) => (one.cause === cause && one.told_at ? [one.told_at] : []))
  return times.sort().at(-1) ?? null
}
