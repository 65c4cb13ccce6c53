import { chown, stat } from 'node:fs/promises'
import type { Config } from './config.ts'

/**
 * becomeServiceUser lets root go on as who owns the settings: what is written then is the hub's to
 * read. Files made before are handed over.
 */
export async function becomeServiceUser({ paths }: Config, made: string[] = []): Promise<void> {
  const { setgid, setuid, setgroups } = process
  if (process.getuid?.() !== 0 || !setgid || !setuid || !setgroups) return
  const { uid, gid } = await stat(paths.config_dir)
  if (uid === 0) return
  for (const file of made) await chown(file, uid, gid)
  setgroups([gid])
  setgid(gid)
  setuid(uid)
}
