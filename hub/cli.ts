/** `watchpost-hub <verb>`: maintenance commands, run on the hub's own machine. */
import { rm } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { VERSION } from '../shared/version.ts'
import { authFiles, isSetUp, makeSetupCode, Password, setPassword } from './auth/auth.ts'
import { backupTimes, isBackupDue, readJob, startBackup } from './backup/backup.ts'
import { restore, UsageError } from './backup/cli-restore.ts'
import { backupFile } from './backup/make.ts'
import { ownFingerprint } from './backup/signing.ts'
import { type Config, pathsIn, readConfig } from './config.ts'
import { keyFiles, readKey } from './db/keys.ts'
import { readText } from './files.ts'
import { readLicense } from './license/license.ts'
import { askHealth, examine } from './ops/doctor.ts'
import { becomeServiceUser } from './ops/service-user.ts'

const HELP = `watchpost-hub <verb> [options]

  doctor              checks everything the hub needs and says how to fix what fails
  status              shows what is running, and the set-up code until it has been used
  backup              makes a backup now
      --scheduled       only if the daily backup is due
  restore BACKUP      restores a backup: a file, or the name of a backup on this machine
      --check           only checks it, in a scratch database
      --yes             does not ask for confirmation
      --take NAMES      also restores these settings: mail,models,backup,agents
      --trust SENTENCE  'I trust this archive', for one that this machine did not sign
      --passphrase-file FILE, --identity-file FILE
                        the passphrase or the private age key of an encrypted backup
  reset-password      makes a new set-up code, which lets the admin choose a new password
      --stdin           reads the new password from standard input instead
  service-key show    prints the service key to paste in Settings > Service Key

  --data-dir FOLDER   the data folder of a hub started with npm run hub`

const OPTIONS = {
  scheduled: { type: 'boolean' },
  check: { type: 'boolean' },
  yes: { type: 'boolean' },
  take: { type: 'string' },
  trust: { type: 'string' },
  stdin: { type: 'boolean' },
  'data-dir': { type: 'string' },
  'passphrase-file': { type: 'string' },
  'identity-file': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const
type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']

async function main(): Promise<number> {
  const { values, positionals } = read()
  const [verb, argument] = positionals
  if (values.help || !verb || verb === 'help') return say(HELP)
  const config = await readConfig(environment(values['data-dir']))
  if (verb === 'doctor') return doctor(config)
  if (verb === 'status') return status(config)
  if (verb === 'backup') return backup(config, values)
  if (verb === 'restore') return restore(config, argument, values)
  if (verb === 'reset-password') return resetPassword(config, values)
  if (verb === 'service-key' && argument === 'show') return showKey(config)
  throw new UsageError(`Unknown verb: ${positionals.join(' ')}.\n\n${HELP}`)
}

function read() {
  try {
    return parseArgs({ allowPositionals: true, options: OPTIONS })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function environment(data_dir: string | undefined) {
  if (data_dir === undefined) return process.env
  const paths = pathsIn(data_dir)
  return {
    ...process.env,
    HUB_CONFIG_DIR: paths.config_dir,
    HUB_DATA_DIR: paths.data_dir,
    HUB_PROMPTS_DIR: paths.prompts_dir,
  }
}

async function doctor(config: Config): Promise<number> {
  await becomeServiceUser(config)
  const findings = await examine(config)
  for (const { is, what, say: text } of findings) {
    say(`${is.padEnd(4)}  ${what.en.padEnd(9)} ${text.en}`)
  }
  return findings.some(({ is }) => is === 'fail') ? 1 : 0
}

async function status(config: Config): Promise<number> {
  await becomeServiceUser(config)
  const { paths } = config
  const health = await askHealth(config)
  const license = await readLicense(config)
  const { last_at, next_at } = await backupTimes(paths)
  const key = await readKey(config)
  say(`Watchpost Hub ${VERSION}`)
  say(`  Hub         ${health ? `running on port ${config.port}` : 'not running'}`)
  say(
    `  Key         ${key.role === 'hub_rw' ? 'service (reads and writes)' : 'public (reads only)'}`,
  )
  say(`  License     ${license.tier}${license.reason ? `: ${license.reason.en}` : ''}`)
  say(`  Backups     last ${last_at ?? 'never'}, next ${next_at}`)
  say(`  Signing key ${await ownFingerprint(paths)}`)
  if (!(await isSetUp(paths))) {
    const code = (await readText(authFiles(paths).setup_code))?.trim()
    say(`  Set-up code ${code ?? 'none (watchpost-hub reset-password makes one)'}`)
  }
  return health ? 0 : 3
}

async function backup(config: Config, { scheduled = false }: Values): Promise<number> {
  await becomeServiceUser(config)
  if (scheduled && !(await isBackupDue(config.paths))) return 0
  const { done } = await startBackup(config, scheduled ? 'daily' : 'manual')
  const name = await done
  const job = await readJob(config.paths)
  // Cron mails what is written there.
  if (job?.reason) console.error(job.reason.en)
  return say(backupFile(config.paths, name))
}

async function resetPassword(config: Config, { stdin }: Values): Promise<number> {
  await becomeServiceUser(config)
  const { paths } = config
  if (stdin) {
    const chunks: Buffer[] = []
    for await (const chunk of process.stdin) chunks.push(chunk)
    const given = Password.safeParse(
      Buffer.concat(chunks)
        .toString('utf8')
        .replace(/\r?\n$/, ''),
    )
    if (!given.success)
      throw new UsageError(given.error.issues[0]?.message ?? 'Standard input has no password.')
    await setPassword(paths, given.data)
    await rm(authFiles(paths).setup_code, { force: true })
    return say(
      'The password of the first admin was changed, and its sessions have ended. Members keep theirs.',
    )
  }
  const code = await makeSetupCode(paths)
  await rm(`${paths.config_dir}/admin.json`, { force: true })
  return say(
    `The old password of the first admin is void, and its sessions have ended; members keep theirs. Open /hub/ and choose a new password with this set-up code:\n${code}`,
  )
}

async function showKey({ paths }: Config): Promise<number> {
  const key = (await readText(keyFiles(paths).service))?.trim()
  if (!key) throw new Error(`${keyFiles(paths).service} is missing. Run the installer again.`)
  return say(key)
}

function say(text: string): number {
  console.log(text)
  return 0
}

main().then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = error instanceof UsageError ? 2 : 1
  },
)
