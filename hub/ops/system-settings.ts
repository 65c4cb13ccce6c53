import { join } from 'node:path'
import { z } from 'zod'
import { invalid } from '../../shared/problem.ts'
import {
  BACKUP,
  BackupSettings,
  Encryption,
  readBackupSettings,
  Target,
} from '../backup/settings.ts'
import { makeSshKey } from '../backup/ssh.ts'
import { type Config, Hosts, HubFile, type Paths } from '../config.ts'
import { readJson, writeJson } from '../files.ts'
import { readSetting, type Setting, writeSetting } from './settings.ts'

/** system.json. */
const SystemFile = z.strictObject({
  /**
   * The language of alerts, and of everything that no person requested in a language of their own.
   */
  language: z.enum(['en', 'tr']).default('en'),
})
export const SYSTEM: Setting<typeof SystemFile> = {
  file: 'system.json',
  schema: SystemFile,
  fallback: SystemFile.parse({}),
}
export const readSystem = (paths: Paths) => readSetting(paths, SYSTEM)

const { public_url } = HubFile.shape
const backup = BackupSettings.shape

/**
 * What Settings > System may change. Absent fields, and secrets that are not sent, stay as they
 * are.
 */
export const SystemChange = z.strictObject({
  language: SystemFile.shape.language.unwrap().optional(),
  public_url: public_url.unwrap().optional(),
  hosts: Hosts.optional(),
  backup: z
    .strictObject({
      hour: backup.hour.unwrap().optional(),
      keep_daily: backup.keep_daily.unwrap().optional(),
      encryption: z
        .discriminatedUnion('kind', [
          Encryption.options[0],
          Encryption.options[1].partial({ passphrase: true }),
          Encryption.options[2],
        ])
        .optional(),
      target: z
        .discriminatedUnion('kind', [
          Target.options[0],
          Target.options[1].partial({ secret_access_key: true }),
          Target.options[2],
        ])
        .optional(),
    })
    .optional(),
})
export type SystemChange = z.infer<typeof SystemChange>

/**
 * changeSystem writes the files that the change affects; names and address apply from the next
 * request on.
 */
export async function changeSystem(config: Config, change: SystemChange): Promise<void> {
  const { paths } = config
  if (change.backup) {
    const now = await readBackupSettings(paths)
    const next = BackupSettings.safeParse(merge(now, change.backup))
    if (!next.success) {
      throw invalid(
        next.error.issues.map(({ path, code, message }) => ({
          path: ['backup', ...path].join('.'),
          code,
          message,
        })),
      )
    }
    const { target } = next.data
    if (target.kind === 'rsync' && target.host_key !== null) await makeSshKey(paths)
    await writeSetting(paths, BACKUP, next.data)
  }
  if (change.language) await writeSetting(paths, SYSTEM, { language: change.language })
  const named = {
    ...(change.public_url === undefined ? {} : { public_url: change.public_url }),
    ...(change.hosts === undefined ? {} : { hosts: change.hosts }),
  }
  if (Object.keys(named).length === 0) return
  const file = join(paths.config_dir, 'hub.json')
  const known = z.looseObject({}).parse((await readJson(file)) ?? {})
  await writeJson(file, { ...known, ...named }, 0o640)
  Object.assign(config, named)
}

function merge(now: BackupSettings, change: NonNullable<SystemChange['backup']>) {
  const { encryption = now.encryption, target = now.target } = change
  const passphrase = now.encryption.kind === 'passphrase' ? now.encryption.passphrase : undefined
  const secret = now.target.kind === 's3' ? now.target.secret_access_key : undefined
  return {
    ...now,
    ...change,
    encryption: encryption.kind === 'passphrase' ? { passphrase, ...encryption } : encryption,
    target: target.kind === 's3' ? { secret_access_key: secret, ...target } : target,
  }
}
