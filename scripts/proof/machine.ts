/**
 * A throwaway Debian or Ubuntu machine without a network: a root made by debootstrap, booted with
 * its own systemd by systemd-nspawn. Needs root; installs debootstrap and systemd-container with
 * apt.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const CACHE = '/var/cache/watchpost-proof'
const PACKAGES = 'ca-certificates,curl,systemd-sysv,dbus,nginx-light,cron,iproute2,procps,openssl'
const BOOT_TRIES = 150
const INSIDE_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** Ubuntu's archive. Debian does not include its keys, and what is booted here has no network. */
const UBUNTU = {
  options: ['--no-check-gpg', '--components=main,universe'],
  archive: 'http://archive.ubuntu.com/ubuntu',
}

type ShellResult = { code: number; stdout: string; stderr: string }

export type Machine = {
  root: string
  /** Runs a shell script inside; a non-zero exit code is not thrown. */
  sh: (script: string) => Promise<ShellResult>
  /** Starts a shell script inside without waiting for it. */
  spawn: (script: string) => ChildProcess
  stop: () => Promise<void>
}

/**
 * createRoot returns the root of a Debian or Ubuntu suite, from which machines are copied. The
 * first call creates it.
 */
export async function createRoot(name: string): Promise<string> {
  const folder = join(CACHE, name)
  if (existsSync(folder)) return folder
  await requireTools()
  await mkdir(CACHE, { recursive: true })
  const draft = `${folder}.new`
  await rm(draft, { recursive: true, force: true })
  console.log(`Making a root of ${name} (about a minute) …`)
  const { options, archive } = name === 'jammy' ? UBUNTU : { options: [], archive: undefined }
  await run(
    'debootstrap',
    [
      '--variant=minbase',
      `--include=${PACKAGES}`,
      ...options,
      name,
      draft,
      ...(archive ? [archive] : []),
    ],
    { maxBuffer: 64 * 1024 * 1024 },
  )
  await writeFile(join(draft, 'etc/fstab'), '')
  await rename(draft, folder)
  return folder
}

/** createRootWith creates a root with additional packages, without those they only recommend. */
export async function createRootWith(name: string, packages: readonly string[]): Promise<string> {
  const folder = join(CACHE, [name, ...packages].join('+'))
  if (existsSync(folder)) return folder
  const base = await createRoot(name)
  const draft = `${folder}.new`
  await rm(draft, { recursive: true, force: true })
  console.log(`Making a root of ${name} with ${packages.join(', ')} (about a minute) …`)
  await run('cp', ['-a', '--reflink=auto', base, draft])
  await copyFile('/etc/resolv.conf', join(draft, 'etc/resolv.conf'))
  // Services of the packages must not start here.
  await writeFile(join(draft, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  const install = `apt-get -qq update && apt-get install -y -qq --no-install-recommends ${packages.join(' ')} && apt-get clean`
  await run('chroot', [draft, '/bin/sh', '-c', install], {
    env: { DEBIAN_FRONTEND: 'noninteractive', PATH: INSIDE_PATH },
    maxBuffer: 64 * 1024 * 1024,
  })
  await rm(join(draft, 'usr/sbin/policy-rc.d'))
  await rename(draft, folder)
  return folder
}

async function requireTools(): Promise<void> {
  if (process.getuid?.() !== 0) {
    throw new Error('This part needs root. Run it as root, on a machine that you can spare.')
  }
  const tools = { debootstrap: 'debootstrap', 'systemd-nspawn': 'systemd-container' }
  const missing = Object.entries(tools).filter(([tool]) => !onPath(tool))
  if (missing.length === 0) return
  await run('apt-get', ['install', '-y', '-qq', ...missing.map(([, name]) => name)])
}

function onPath(tool: string): boolean {
  const folders = (process.env.PATH ?? '').split(':').concat('/usr/sbin', '/sbin')
  return folders.some((folder) => existsSync(join(folder, tool)))
}

/** copyRoot creates a machine's own root; stopping the machine removes it. */
export async function copyRoot(base: string): Promise<string> {
  const root = await mkdtemp('/var/tmp/watchpost-machine-')
  await run('cp', ['-a', '--reflink=auto', `${base}/.`, root])
  await chmod(root, 0o755)
  return root
}

/** boot starts a root with its own systemd and no network except loopback. */
export async function boot(root: string): Promise<Machine> {
  const child = spawn(
    'systemd-nspawn',
    [
      '-q',
      '-D',
      root,
      '--register=no',
      '--keep-unit',
      '-b',
      '--private-network',
      '--console=read-only',
    ],
    { stdio: 'ignore', env: { ...process.env, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: '0' } },
  )
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let init = ''
  const enter = (script: string) => ['-t', init, '-a', '--', '/bin/sh', '-c', script]
  const sh = (script: string) =>
    new Promise<ShellResult>((resolve) => {
      const options = {
        env: { PATH: INSIDE_PATH },
        maxBuffer: 64 * 1024 * 1024,
      }
      execFile('nsenter', enter(script), options, (error, stdout, stderr) => {
        const code = error ? (typeof error.code === 'number' ? error.code : 137) : 0
        resolve({ code, stdout, stderr })
      })
    })
  for (let tries = 0; ; tries += 1) {
    init = (await childOf(child.pid)) ?? ''
    if (init && (await sh('systemctl is-system-running --wait')).code === 0) break
    if (tries > BOOT_TRIES) throw new Error(`The machine in ${root} did not boot.`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return {
    root,
    sh,
    spawn: (script) =>
      spawn('nsenter', enter(script), {
        stdio: 'ignore',
        env: { PATH: INSIDE_PATH },
      }),
    stop: async () => {
      // SIGRTMIN+4 asks systemd to power off.
      await run('kill', ['-s', 'RTMIN+4', init]).catch(() => {})
      const patience = setTimeout(() => void run('kill', ['-9', init]).catch(() => {}), 20_000)
      await ended
      clearTimeout(patience)
      await rm(root, { recursive: true, force: true })
    },
  }
}

async function childOf(pid: number | undefined): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ')[0] || undefined
}
