import { constants } from 'node:fs'
import { access, readdir, stat, statfs } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { authFiles, isSetUp } from '../auth/auth.ts'
import { backupTimes, readJob } from '../backup/backup.ts'
import type { Config } from '../config.ts'
import { keyFiles, readKey, urlFor } from '../db/keys.ts'
import { failureOf } from '../i18n/failure.ts'
import { bilingual, joined, verbatim, type Words } from '../i18n/words.ts'
import { licenseText } from '../license/license.text.ts'
import { readLicense, TIER_NAMES } from '../license/license.ts'
import { readMail, readPause } from '../mail/settings.ts'
import { MODELS } from '../model/settings.ts'
import { findChromium } from '../reader/chromium.ts'
import { openReader } from '../reader/web-reader.ts'
import { doctorText } from './doctor.text.ts'
import { readSetting } from './settings.ts'

const say = bilingual(doctorText)
const licenseWords = bilingual(licenseText)

type Grade = 'ok' | 'warn' | 'fail'
type Answer = [Grade, Words]

/** One thing the hub needs; `warn`: the hub works without it, but not as it should. */
export type Finding = { is: Grade; what: Words; say: Words }

const GIB = 2 ** 30
const NODE_AT_LEAST = 24
const STALE_BACKUP_MS = 50 * 3_600_000

const CHECKS: Record<keyof typeof say.names, (config: Config) => Promise<Answer> | Answer> = {
  node,
  memory,
  disk,
  folders,
  secrets,
  database,
  hub,
  set_up: setUp,
  model,
  license,
  mail,
  backups,
  cron,
  browser,
}

/**
 * examine checks every prerequisite. Each finding is a sentence that also says how to fix a fault.
 */
export async function examine(config: Config): Promise<Finding[]> {
  const found: Finding[] = []
  for (const name of Object.keys(CHECKS) as (keyof typeof CHECKS)[]) {
    // safe: the keys of CHECKS
    const [is, words] = await answerOf(CHECKS[name], config)
    found.push({ is, what: say.names[name], say: words })
  }
  return found
}

async function answerOf(check: (typeof CHECKS)['node'], config: Config): Promise<Answer> {
  try {
    return await check(config)
  } catch (error) {
    return ['fail', failureOf(error)]
  }
}

function node(): Answer {
  const { node } = process.versions
  if (Number.parseInt(node, 10) >= NODE_AT_LEAST) return ['ok', say.node.is(node)]
  return ['fail', say.node.old(node, NODE_AT_LEAST)]
}

function memory(): Answer {
  const gib = totalmem() / GIB
  if (gib < 3.5) return ['fail', say.memory.too_little(gib)]
  if (gib < 6) return ['warn', say.memory.little(gib)]
  return ['ok', say.memory.is(gib)]
}

async function disk({ paths: { data_dir } }: Config): Promise<Answer> {
  const { bavail, bsize } = await statfs(data_dir)
  const gib = (bavail * bsize) / GIB
  if (gib < 1) return ['fail', say.disk.too_little(gib, data_dir)]
  if (gib < 4) return ['warn', say.disk.little(gib, data_dir)]
  return ['ok', say.disk.is(gib, data_dir)]
}

async function folders({ paths }: Config): Promise<Answer> {
  const needed = [
    paths.config_dir,
    paths.prompts_dir,
    ...['projects', 'models', 'backups'].map((name) => join(paths.data_dir, name)),
  ]
  for (const folder of needed) {
    const isWritable = await access(folder, constants.R_OK | constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    )
    if (!isWritable) return ['fail', say.folders.amiss(folder)]
  }
  return ['ok', say.folders.are]
}

async function secrets({ paths }: Config): Promise<Answer> {
  const files = [keyFiles(paths).in_use, authFiles(paths).token]
  for (const name of await readdir(paths.config_dir)) {
    if (
      /\.(key|token|salt|secret|code)$|^backup-ssh$/.test(name) ||
      /^(admin|sessions|mail|dkim|models|backup|license)\.json$/.test(name)
    ) {
      files.push(join(paths.config_dir, name))
    }
  }
  for (const file of new Set(files)) {
    const found = await stat(file).catch(() => undefined)
    if (!found) return ['fail', say.secrets.missing(file)]
    if (found.mode & 0o077) return ['fail', say.secrets.open(file)]
  }
  return ['ok', say.secrets.are]
}

async function database(config: Config): Promise<Answer> {
  const { key, role } = await readKey(config)
  const client = new pg.Client({
    connectionString: urlFor(key, config.database),
    connectionTimeoutMillis: 5_000,
  })
  client.on('error', () => {})
  const address = `${config.database.host}:${config.database.port}`
  try {
    await client.connect()
    await client.query('begin')
    await client.query("select set_config('hub.project', '*', true)")
    await client.query('select count(*) from hub.projects')
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return ['fail', say.database.amiss(address, why)]
  } finally {
    await client.end().catch(() => {})
  }
  if (role === 'hub_rw') return ['ok', say.database.writes(address)]
  return ['warn', say.database.reads]
}

/** The health of the running hub; undefined when none answers. */
export async function askHealth({ port }: Config): Promise<{ version: string } | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/api/cockpit/health`, {
      signal: AbortSignal.timeout(5_000),
    })
    if (!answer.ok) return undefined
    return (await answer.json()) as { version: string } // safe: the hub's own public answer
  } catch {
    return undefined
  }
}

async function hub(config: Config): Promise<Answer> {
  const health = await askHealth(config)
  if (health) return ['ok', say.hub.runs(health.version, config.port)]
  return ['fail', say.hub.away(`127.0.0.1:${config.port}`)]
}

async function setUp({ paths }: Config): Promise<Answer> {
  return (await isSetUp(paths)) ? ['ok', say.set_up.done] : ['warn', say.set_up.open]
}

async function model({ paths }: Config): Promise<Answer> {
  const settings = await readSetting(paths, MODELS)
  if (settings.kind === 'none') return ['warn', say.model.none]
  if (settings.kind === 'endpoint') return ['ok', say.model.endpoint(settings.model, settings.url)]
  const file = join(paths.data_dir, 'models', settings.file)
  const isThere = await access(settings.file.startsWith('/') ? settings.file : file).then(
    () => true,
    () => false,
  )
  return isThere ? ['ok', verbatim(settings.file)] : ['fail', say.model.gone(settings.file)]
}

async function license(config: Config): Promise<Answer> {
  const { tier, status, reason, valid_until } = await readLicense(config)
  if (reason) return ['warn', reason]
  if (status === 'none' || valid_until === null) return ['ok', licenseWords.free]
  return ['ok', licenseWords.valid(TIER_NAMES[tier], valid_until)]
}

async function mail(config: Config): Promise<Answer> {
  const { smtp, listmonk } = await readMail(config.paths)
  const pause = await readPause(config.paths)
  if (pause.reason) {
    const detail = pause.detail ? [pause.detail] : []
    return ['warn', joined([say.mail.paused[pause.reason], ...detail, say.mail.confirm])]
  }
  if (!smtp && !listmonk) return ['warn', say.mail.no_server]
  if (smtp && !listmonk && !config.public_url) return ['warn', say.mail.no_address]
  return ['ok', say.mail.goes(listmonk ? 'listmonk' : 'SMTP')]
}

async function backups({ paths }: Config): Promise<Answer> {
  // Also one that was made, and could not be copied to its target.
  const job = await readJob(paths)
  if (job?.kind === 'backup' && job.reason) {
    if (job.status === 'failed') return ['fail', joined([say.backups.failed, job.reason])]
    if (job.status === 'done') return ['warn', job.reason]
  }
  const { last_at, next_at } = await backupTimes(paths)
  if (!last_at) return ['warn', say.backups.none(next_at)]
  const isFresh = Date.now() - Date.parse(last_at) < STALE_BACKUP_MS
  return isFresh ? ['ok', say.backups.last(last_at)] : ['fail', say.backups.old(last_at)]
}

const INSTALLED = '/etc/watchpost'
const CRON = '/etc/cron.d/watchpost'

async function cron({ paths }: Config): Promise<Answer> {
  if (paths.config_dir !== INSTALLED) return ['ok', say.cron.not_installed]
  const isThere = await access(CRON).then(
    () => true,
    () => false,
  )
  return isThere ? ['ok', say.cron.is(CRON)] : ['warn', say.cron.missing(CRON)]
}

async function browser(): Promise<Answer> {
  const found = await findChromium()
  if (!found) return ['warn', say.browser.missing]
  const started = await openReader({ socket: process.env.HUB_READER_SOCKET }).check()
  if ('refused' in started) return ['warn', started.refused]
  return ['ok', say.browser.is(found, started.version)]
}
