import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Config } from '../config.ts'

const run = promisify(execFile)

type User = { uid: number; gid: number }

/**
 * serviceUser returns the user the hub runs as, if root calls it: the one the installer named in
 * HUB_USER, or else the owner of the settings. Undefined if the caller is that user.
 */
export async function serviceUser({ paths }: Pick<Config, 'paths'>): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const name = process.env.HUB_USER
  if (!name) {
    const { uid, gid } = await stat(paths.config_dir)
    return uid === 0 ? undefined : { uid, gid }
  }
  const [uid, gid] = await Promise.all([idOf('-u', name), idOf('-g', name)])
  return { uid, gid }
}

async function idOf(which: '-u' | '-g', name: string): Promise<number> {
  const { stdout } = await run('id', [which, '--', name])
  return Number(stdout)
}

/**
 * becomeServiceUser lets root continue as the hub's own user. The hub can then read the files that
 * are written, and a link that this user has created leads nowhere that the user may not go.
 */
export async function becomeServiceUser(config: Pick<Config, 'paths'>): Promise<void> {
  const user = await serviceUser(config)
  const { setgid, setuid, setgroups } = process
  if (!user || !setgid || !setuid || !setgroups) return
  setgroups([user.gid])
  setgid(user.gid)
  setuid(user.uid)
}
