import { constants } from 'node:fs'
import { access, readdir, stat, statfs } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { authFiles, isSetUp } from './auth.ts'
import { backupTimes } from './backup.ts'
import type { Config } from './config.ts'
import { keyFiles, readKey, urlFor } from './keys.ts'
import { readLicense } from './license.ts'
import { readMail, readPause } from './mail/settings.ts'
import { MODELS } from './model/settings.ts'
import { readSetting } from './settings.ts'
import { findChromium } from './web-reader.ts'

/** One thing the hub needs; `warn`: it works without, but not as it should. */
export type Finding = { is: 'ok' | 'warn' | 'fail'; what: string; say: string }

const GIB = 2 ** 30
const NODE_AT_LEAST = 24
const STALE_BACKUP_MS = 50 * 3_600_000

const ok = (what: string, say: string): Finding => ({ is: 'ok', what, say })
const warn = (what: string, say: string): Finding => ({ is: 'warn', what, say })
const fail = (what: string, say: string): Finding => ({ is: 'fail', what, say })

/** examine checks every prerequisite; each finding is a sentence, with the way out where it is amiss. */
export async function examine(config: Config): Promise<Finding[]> {
  const checks: [string, (config: Config) => Promise<Finding> | Finding][] = [
    ['Node', node],
    ['Memory', memory],
    ['Disk', disk],
    ['Folders', folders],
    ['Secrets', secrets],
    ['Database', database],
    ['Hub', running],
    ['Set-up', setUp],
    ['Model', model],
    ['Licence', license],
    ['Mail', mail],
    ['Backups', backups],
    ['Cron', cron],
    ['Browser', browser],
  ]
  const found: Finding[] = []
  for (const [what, check] of checks) {
    try {
      found.push(await check(config))
    } catch (error) {
      found.push(fail(what, error instanceof Error ? error.message : String(error)))
    }
  }
  return found
}

function node(): Finding {
  const major = Number.parseInt(process.versions.node, 10)
  if (major >= NODE_AT_LEAST) return ok('Node', `Node ${process.versions.node}.`)
  return fail('Node', `Node ${process.versions.node} is too old; ${NODE_AT_LEAST} is needed.`)
}

function memory(): Finding {
  const gib = totalmem() / GIB
  const say = `${gib.toFixed(1)} GiB of memory`
  if (gib < 3.5) return fail('Memory', `${say}; 3.5 are needed. Give this machine more.`)
  if (gib < 6) return warn('Memory', `${say}: choose a small model, or an endpoint elsewhere.`)
  return ok('Memory', `${say}.`)
}

async function disk({ paths }: Config): Promise<Finding> {
  const { bavail, bsize } = await statfs(paths.data_dir)
  const gib = (bavail * bsize) / GIB
  const say = `${gib.toFixed(1)} GiB are free at ${paths.data_dir}`
  if (gib < 1) return fail('Disk', `${say}; 1 is needed. Delete old backups or models.`)
  if (gib < 4) return warn('Disk', `${say}. Make room: a backup or a model needs more.`)
  return ok('Disk', `${say}.`)
}

async function folders({ paths }: Config): Promise<Finding> {
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
    if (!isWritable) {
      return fail(
        'Folders',
        `${folder} is missing or not the hub's to write. Run the installer again: it repairs that.`,
      )
    }
  }
  return ok('Folders', 'All folders are there and can be written.')
}

async function secrets({ paths }: Config): Promise<Finding> {
  const files = [keyFiles(paths).in_use, authFiles(paths).token]
  for (const name of await readdir(paths.config_dir)) {
    if (/\.(key|token|salt)$|^(admin|mail|models|backup|license)\.json$/.test(name)) {
      files.push(join(paths.config_dir, name))
    }
  }
  for (const file of new Set(files)) {
    const { mode } = await stat(file).catch(() => {
      throw new Error(`${file} is missing. Run the installer again: it makes what is not there.`)
    })
    if (mode & 0o077) return fail('Secrets', `Others can read ${file}. Do: chmod 600 ${file}`)
  }
  return ok('Secrets', 'All secrets are for the hub alone.')
}

async function database(config: Config): Promise<Finding> {
  const { key, role } = await readKey(config)
  const client = new pg.Client({
    connectionString: urlFor(key, config.database),
    connectionTimeoutMillis: 5_000,
  })
  client.on('error', () => {})
  const { host, port } = config.database
  try {
    await client.connect()
    await client.query('begin')
    await client.query("select set_config('hub.project', '*', true)")
    await client.query('select count(*) from hub.projects')
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return fail(
      'Database',
      `${host}:${port} does not answer as it should: ${why}. See journalctl -u watchpost-postgres, or paste the key again in Settings > Service Key.`,
    )
  } finally {
    await client.end().catch(() => {})
  }
  if (role === 'hub_rw')
    return ok('Database', `It answers at ${host}:${port}; the service key is in use.`)
  return warn(
    'Database',
    'It answers, but only the read-only key is in use. `watchpost-hub service-key show` prints the other one, for Settings > Service Key.',
  )
}

/** What GET health of the running hub says; undefined when none answers. */
export async function askHealth({ port }: Config): Promise<{ version: string } | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/api/cockpit/health`, {
      signal: AbortSignal.timeout(5_000),
    })
    if (!answer.ok) return undefined
    return (await answer.json()) as { version: string } // safe: our own public answer
  } catch {
    return undefined
  }
}

async function running(config: Config): Promise<Finding> {
  const health = await askHealth(config)
  if (health) return ok('Hub', `Version ${health.version} answers on port ${config.port}.`)
  return fail(
    'Hub',
    `Nothing answers on 127.0.0.1:${config.port}. Do: systemctl start watchpost-hub; journalctl -u watchpost-hub says why it ended.`,
  )
}

async function setUp({ paths }: Config): Promise<Finding> {
  if (await isSetUp(paths)) return ok('Set-up', 'The admin has a password.')
  return warn(
    'Set-up',
    'Nobody has chosen a password yet. `watchpost-hub status` shows the set-up code.',
  )
}

async function model({ paths }: Config): Promise<Finding> {
  const settings = await readSetting(paths, MODELS)
  if (settings.kind === 'none') {
    return warn('Model', 'No model is chosen; missions wait. Choose one in Settings > Models.')
  }
  if (settings.kind === 'endpoint') return ok('Model', `${settings.model} at ${settings.url}.`)
  const file = join(paths.data_dir, 'models', settings.file)
  const isThere = await access(settings.file.startsWith('/') ? settings.file : file).then(
    () => true,
    () => false,
  )
  if (isThere) return ok('Model', `${settings.file}.`)
  return fail('Model', `${settings.file} is not there. Download it in Settings > Models.`)
}

async function license(config: Config): Promise<Finding> {
  const { tier, status, reason, valid_until } = await readLicense(config)
  if (reason) return warn('Licence', reason)
  if (status === 'none') return ok('Licence', 'None: the Free tier, one project.')
  return ok('Licence', `${tier}, until ${valid_until?.slice(0, 10)}.`)
}

async function mail(config: Config): Promise<Finding> {
  const { smtp, listmonk } = await readMail(config.paths)
  const pause = await readPause(config.paths)
  if (pause.reason) {
    return warn(
      'Mail',
      `It is paused (${pause.reason}). ${pause.detail} Confirm in Settings > Mail.`,
    )
  }
  if (!smtp && !listmonk) return warn('Mail', 'No server is set. Enter one in Settings > Mail.')
  if (smtp && !listmonk && !config.public_url) {
    return warn(
      'Mail',
      'The unsubscribe link needs public_url (https). Set it in Settings > System.',
    )
  }
  return ok('Mail', `By ${listmonk ? 'listmonk' : 'SMTP'}.`)
}

async function backups({ paths }: Config): Promise<Finding> {
  const { last_at, next_at } = await backupTimes(paths)
  if (!last_at) return warn('Backups', `None yet; the first comes at ${next_at}.`)
  if (Date.now() - Date.parse(last_at) < STALE_BACKUP_MS)
    return ok('Backups', `Last at ${last_at}.`)
  return fail(
    'Backups',
    `The last one is of ${last_at}. Do: watchpost-hub backup; it says what is amiss.`,
  )
}

const INSTALLED = '/etc/watchpost'
const CRON = '/etc/cron.d/watchpost'

async function cron({ paths }: Config): Promise<Finding> {
  if (paths.config_dir !== INSTALLED)
    return ok('Cron', 'Not installed; the hub itself makes the backups.')
  const isThere = await access(CRON).then(
    () => true,
    () => false,
  )
  if (isThere) return ok('Cron', `${CRON} makes the nightly backup.`)
  return warn('Cron', `${CRON} is missing; the hub itself makes the backups while it runs.`)
}

async function browser(): Promise<Finding> {
  const found = await findChromium()
  if (found) return ok('Browser', `${found}, for web research.`)
  return warn(
    'Browser',
    'Chromium is not installed, so agents read no websites. Do: apt install chromium',
  )
}
