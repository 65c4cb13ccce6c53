import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { invalid } from '../../shared/problem.ts'
import type { Paths } from '../config.ts'
import { readText, writeWhole } from '../files.ts'
import { bilingual } from '../i18n/words.ts'
import { backupText } from './backup.text.ts'
import { sshHostOf } from './destination.ts'
import { BackupError } from './manifest.ts'
import type { Target } from './settings.ts'

const say = bilingual(backupText).target
const run = promisify(execFile)
/** The names of OpenSSH's files in the config folder. */
const KEY = 'backup-ssh'
const KNOWN_HOSTS = 'backup-known-hosts'
/** The name under which the server's key is known, whatever its address. */
const ALIAS = 'watchpost-hub-backup'
const SCAN_SECONDS = 10

export const HostKey = z
  .object({
    host_key: z.string(),
    fingerprint: z.string().meta({ description: 'As `ssh-keygen -lf` prints it.' }),
  })
  .meta({ id: 'HostKey' })
export type HostKey = z.infer<typeof HostKey>

/** publicKeyOf reads the public key with which this hub signs in to a server; null if it has none. */
export async function publicKeyOf(paths: Paths): Promise<string | null> {
  return (await readText(join(paths.config_dir, `${KEY}.pub`)))?.trim() ?? null
}

/** makeSshKey makes an Ed25519 key unless the hub has one, and returns its public half. */
export async function makeSshKey(paths: Paths): Promise<string> {
  const known = await publicKeyOf(paths)
  if (known) return known
  const file = join(paths.config_dir, KEY)
  // It writes the private half first, and may have been cut short then, as by a full disk.
  if (await readText(file)) {
    const { stdout } = await keygen(['-y', '-P', '', '-f', file])
    await writeWhole(`${file}.pub`, `${stdout.trim()}\n`)
  } else {
    await keygen(['-q', '-t', 'ed25519', '-N', '', '-C', 'watchpost-hub', '-f', file])
  }
  return (await publicKeyOf(paths)) ?? ''
}

/** Runs ssh-keygen without input: it would ask before it overwrites what is left of a key. */
async function keygen(args: string[]): Promise<{ stdout: string }> {
  const made = run('ssh-keygen', args)
  made.child.stdin?.end()
  return made.catch((error: unknown) => {
    throw sshFault(error)
  })
}

/**
 * hostKeysOf asks the SSH server of a destination for its keys. What it says is proved by nothing: a
 * person compares the fingerprint with that of the server. Throws an ApiError that names the field.
 */
export async function hostKeysOf(destination: string, port: number): Promise<HostKey[]> {
  const host = sshHostOf(destination)
  if (!host) throw fieldFault('destination', say.no_ssh)
  const { stdout } = await run('ssh-keyscan', [
    '-T',
    String(SCAN_SECONDS),
    '-p',
    String(port),
    '--',
    host,
  ]).catch((error: unknown) => {
    // It exits with 1 where no server answers.
    if (error instanceof Error && 'code' in error && error.code === 1) return { stdout: '' }
    throw sshFault(error)
  })
  const keys = stdout
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' ').slice(1).join(' '))
  if (keys.length === 0) throw fieldFault('destination', say.no_host_key(host, port))
  return keys.map((host_key) => ({ host_key, fingerprint: fingerprintOf(host_key) }))
}

/** The SHA-256 fingerprint of a public key, as OpenSSH prints it. */
export function fingerprintOf(key: string): string {
  const blob = Buffer.from(key.split(' ')[1] ?? '', 'base64')
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`
}

/**
 * sshCommand is what rsync runs to reach a server, from within the config folder. With a host key it
 * uses the hub's own key and trusts that server alone; without one, the SSH configuration of the
 * user that runs the hub. Throws a BackupError if the hub's key is missing.
 */
export async function sshCommand(
  paths: Paths,
  { port, host_key }: Extract<Target, { kind: 'rsync' }>,
): Promise<string> {
  const common = `ssh -o BatchMode=yes -o ConnectTimeout=20 -p ${port}`
  if (host_key === null) return common
  if (!(await publicKeyOf(paths))) throw new BackupError(say.no_key)
  await writeWhole(join(paths.config_dir, KNOWN_HOSTS), `${ALIAS} ${host_key}\n`)
  return [
    common,
    '-F none',
    `-i ${KEY}`,
    '-o IdentitiesOnly=yes',
    '-o IdentityAgent=none',
    '-o StrictHostKeyChecking=yes',
    `-o HostKeyAlias=${ALIAS}`,
    `-o UserKnownHostsFile=${KNOWN_HOSTS}`,
    '-o GlobalKnownHostsFile=/dev/null',
  ].join(' ')
}

const fieldFault = (path: string, message: ReturnType<typeof say.no_host_key>) =>
  invalid([{ path, code: 'invalid', message }])

function sshFault(error: unknown): unknown {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
  return isMissing ? fieldFault('destination', say.no_ssh_client) : error
}
