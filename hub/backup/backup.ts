import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { uptime } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { ApiError } from '../../shared/problem.ts'
import type { Config, Paths } from '../config.ts'
import { readJson, writeJson } from '../files.ts'
import { failureOf } from '../i18n/failure.ts'
import { KeptWords } from '../i18n/kept-words.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import type { Log } from '../log.ts'
import { backupText } from './backup.text.ts'
import {
  backupFile,
  backupsIn,
  lastOf,
  listBackups,
  makeBackup,
  removeOld,
  withLock,
} from './make.ts'
import { BackupError, type Kind } from './manifest.ts'
import { finishRestore, type RestoreOptions, removeStages, restoreBackup } from './restore.ts'
import { readBackupSettings } from './settings.ts'
import { copyToTarget } from './target.ts'

const say = bilingual(backupText)

/** The running or the last backup or restore. */
export const Job = z
  .object({
    id: z.uuid(),
    kind: z.enum(['backup', 'restore']),
    status: z.enum(['running', 'done', 'failed']),
    step: z.string(),
    progress: z.number().min(0).max(1),
    name: z
      .string()
      .nullable()
      .meta({ description: 'The archive that is being made or restored.' }),
    reason: z.string().nullable().meta({ description: 'Why it failed, or a warning.' }),
    started_at: z.string(),
    finished_at: z.string().nullable(),
  })
  .meta({ id: 'BackupJob' })

/** The job as stored: with the reason in both languages and the process that runs it. */
const KeptJob = z.object({ ...Job.shape, reason: KeptWords.nullable(), pid: z.int() })
type KeptJob = Omit<z.infer<typeof KeptJob>, 'pid'>
const jobFile = (paths: Paths) => join(backupsIn(paths), '.job.json')

/** The ids of the jobs that this process runs. */
const running = new Set<string>()

/**
 * readJob returns the last backup or restore of any process. If that process has died, the job has
 * failed.
 */
export async function readJob(paths: Paths): Promise<KeptJob | null> {
  const kept = KeptJob.safeParse(await readJson(jobFile(paths)))
  if (!kept.success) return null
  const { pid, ...job } = kept.data
  const runs = pid === process.pid ? running.has(job.id) : isAlive(pid) && isOfThisBoot(job)
  if (job.status !== 'running' || runs) return job
  return { ...job, status: 'failed', reason: say.interrupted }
}

/**
 * recoverRestore completes or undoes a killed restore with `finishRestore` and records the outcome.
 */
export async function recoverRestore(config: Config): Promise<void> {
  if ((await finishRestore(config)) !== 'restored') return
  const kept = KeptJob.safeParse(await readJson(jobFile(config.paths)))
  if (!kept.success || kept.data.status !== 'running') return
  const finished_at = new Date().toISOString()
  const done = { ...kept.data, status: 'done', step: 'done', progress: 1, finished_at }
  await writeJson(jobFile(config.paths), done)
}

/** A started job and the promise of its end. */
export type Started = { job: KeptJob; done: Promise<string> }

/**
 * startBackup makes a backup, removes old ones and copies it to its target. If the target cannot be
 * reached, the job fails, but the local archive is kept.
 */
export async function startBackup(config: Config, kind: Kind): Promise<Started> {
  return startJob(config, { kind: 'backup', name: null }, async (report) => {
    const { encryption, keep_daily, target } = await readBackupSettings(config.paths)
    const name = await withLock(config, async (client) => {
      await removeStages(config.paths)
      return makeBackup(client, config, {
        kind,
        encryption,
        progress: (done, step) => report({ progress: done * 0.9, step }),
        lacks: ([path = '', ...more]) => report({ reason: say.left_out(path, more.length + 1) }),
      })
    })
    await removeOld(config.paths, keep_daily)
    report({ progress: 0.9, step: 'target', name })
    await copyToTarget(config.paths, target, backupFile(config.paths, name), name)
    return name
  })
}

/** startRestore restores a backup that is on this machine. */
export async function startRestore(
  config: Config,
  name: string,
  options: RestoreOptions,
): Promise<Started> {
  return startJob(config, { kind: 'restore', name }, async (report) => {
    await restoreBackup(config, {
      ...options,
      file: backupFile(config.paths, name),
      progress: (progress, step) => {
        report({ progress, step })
        options.progress?.(progress, step)
      },
    })
    return name
  })
}

type Report = (change: Partial<Pick<KeptJob, 'progress' | 'step' | 'name' | 'reason'>>) => void

/** startJob records the progress of the work in a file, for the page and for other processes. */
async function startJob(
  { paths }: Config,
  { kind, name }: Pick<KeptJob, 'kind' | 'name'>,
  work: (report: Report) => Promise<string>,
): Promise<Started> {
  const before = await readJob(paths)
  if (before?.status === 'running') {
    throw new ApiError('conflict', say.running[before.kind])
  }
  await mkdir(backupsIn(paths), { recursive: true, mode: 0o750 })
  const begun: KeptJob = {
    id: randomUUID(),
    kind,
    status: 'running',
    step: 'start',
    progress: 0,
    name,
    reason: null,
    started_at: new Date().toISOString(),
    finished_at: null,
  }
  let job = begun
  let written = Promise.resolve()
  const write = (change: Partial<KeptJob>) => {
    job = { ...job, ...change }
    const now = { ...job, pid: process.pid }
    // If recording fails, for example on a full disk, the work still continues.
    written = written.then(() => writeJson(jobFile(paths), now)).catch(() => {})
    return written
  }
  running.add(begun.id)
  await write({})
  const done = work((change) => void write(change)).then(
    async (made) => {
      const finished_at = new Date().toISOString()
      await write({ status: 'done', step: 'done', progress: 1, name: made, finished_at })
      return made
    },
    async (error: unknown) => {
      const finished_at = new Date().toISOString()
      await write({ status: 'failed', reason: reasonOf(error), finished_at })
      throw error
    },
  )
  const forget = () => void running.delete(begun.id)
  done.then(forget, forget)
  return { job: begun, done }
}

/** The part of an error that may be shown to a person. */
function reasonOf(error: unknown): Words {
  return error instanceof BackupError || error instanceof ApiError ? failureOf(error) : say.fault
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** After a power cut another program may have the process number that the job had. */
function isOfThisBoot({ started_at }: Pick<KeptJob, 'started_at'>): boolean {
  return Date.parse(started_at) > Date.now() - uptime() * 1000
}

/** The times of the last and the next backup, by this machine's clock. */
export async function backupTimes(
  paths: Paths,
  now = new Date(),
): Promise<{ last_at: string | null; next_at: string }> {
  const { hour } = await readBackupSettings(paths)
  const made = await listBackups(paths)
  const last = lastOf(
    made.filter(({ kind }) => kind === 'daily' || kind === 'manual'),
    now,
  )
  const next = lastDue(hour, now)
  next.setDate(next.getDate() + 1)
  return { last_at: last?.created_at ?? null, next_at: next.toISOString() }
}

/** isBackupDue returns whether the daily backup has not been made since it was last due. */
export async function isBackupDue(paths: Paths, now = new Date()): Promise<boolean> {
  const { hour } = await readBackupSettings(paths)
  const made = await listBackups(paths)
  const last = lastOf(
    made.filter(({ kind }) => kind === 'daily'),
    now,
  )
  return last === undefined || new Date(last.created_at) < lastDue(hour, now)
}

function lastDue(hour: number, now: Date): Date {
  const due = new Date(now)
  due.setHours(hour, 0, 0, 0)
  if (due > now) due.setDate(due.getDate() - 1)
  return due
}

const LOOK_MS = 60_000
/**
 * cron starts the backup on the hour; the hub waits this long and makes it only if cron did not.
 */
const CRON_FIRST_MS = 10 * 60_000

/**
 * scheduleBackups makes the daily backup if nothing else has; a failed one is retried an hour
 * later. What it returns stops it and waits for the backup that is being made.
 */
export function scheduleBackups(config: Config, log: Log): () => Promise<void> {
  let again_at = Date.now() + CRON_FIRST_MS
  let isRunning = false
  let running: Promise<void> | undefined
  const look = async () => {
    if (Date.now() < again_at) return
    isRunning = true
    try {
      if (await isBackupDue(config.paths, new Date(Date.now() - CRON_FIRST_MS))) {
        again_at = Date.now() + 60 * 60_000
        const { done } = await startBackup(config, 'daily')
        const name = await done
        const warning = (await readJob(config.paths))?.reason?.en
        log({ msg: 'backup made', name, ...(warning ? { warning } : {}) })
      }
    } catch (error) {
      log({ msg: 'backup failed', error: error instanceof Error ? error.message : String(error) })
    } finally {
      isRunning = false
    }
  }
  const timer = setInterval(() => {
    if (!isRunning) running = look()
  }, LOOK_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}

const RESTORED_LOOK_MS = 1_000

/** watchRestores calls back when any process has restored a backup. */
export function watchRestores({ paths }: Config, restored: () => void): () => void {
  const since = new Date().toISOString()
  const timer = setInterval(async () => {
    const job = await readJob(paths).catch(() => null)
    const isNew = job?.kind === 'restore' && job.status === 'done'
    if (!isNew || !job.finished_at || job.finished_at < since) return
    clearInterval(timer)
    restored()
  }, RESTORED_LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}
