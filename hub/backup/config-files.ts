import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { AGENT_SETTINGS } from '../agents/settings.ts'
import { BRANDING } from '../branding/branding.ts'
import type { Paths } from '../config.ts'
import { readJson, readText, writeJson, writeWhole } from '../files.ts'
import { bilingual, verbatim, type Words } from '../i18n/words.ts'
import { LICENSE } from '../license/license.ts'
import { MAIL } from '../mail/settings.ts'
import { DKIM_KEYS } from '../mail/smtp/dkim.ts'
import { addSalts, parseSalts, SALT_FILE } from '../mail/suppression.ts'
import { MODELS } from '../model/settings.ts'
import type { Setting } from '../ops/settings.ts'
import { SYSTEM } from '../ops/system-settings.ts'
import { backupText } from './backup.text.ts'
import { BackupError } from './manifest.ts'
import { BACKUP } from './settings.ts'

const say = bilingual(backupText)

/**
 * Settings that decide where mail, prompts and backups go, or what agents may do: restored only on
 * request.
 */
export const POWERS = ['mail', 'models', 'backup', 'agents'] as const
export type Power = (typeof POWERS)[number]
export const Powers = z.array(z.enum(POWERS)).max(POWERS.length)

const OF_POWER = {
  mail: MAIL,
  models: MODELS,
  backup: BACKUP,
  agents: AGENT_SETTINGS,
} satisfies Record<Power, Setting<z.ZodType>>
/** The keys that sign mail go with the servers that send it. */
const settingsOf = (name: Power): Setting<z.ZodType>[] =>
  name === 'mail' ? [MAIL, DKIM_KEYS] : [OF_POWER[name]]

/**
 * Settings that are always restored: language, branding, and a license, which its signature proves.
 */
const PLAIN: Setting<z.ZodType>[] = [LICENSE, BRANDING, SYSTEM]

/**
 * The settings files in a backup; an encrypted one also has those with passwords of other services.
 */
export const CONFIG_FILES = {
  always: [...PLAIN.map(({ file }) => file), AGENT_SETTINGS.file, SALT_FILE],
  encrypted: [MAIL.file, DKIM_KEYS.file, MODELS.file, BACKUP.file],
}
const ALL = [...CONFIG_FILES.always, ...CONFIG_FILES.encrypted]
const isConfigFile = (name: string) => ALL.includes(name)

/**
 * checkConfig holds each settings file of an unpacked backup to its schema and keeps only what that
 * knows. Another file, such as the admin's password or a key, is refused: it is the machine's.
 */
export async function checkConfig(stage: string): Promise<void> {
  const folder = join(stage, 'config')
  for (const name of await readdir(folder)) {
    if (!isConfigFile(name)) throw new BackupError(say.not_ours(`config/${name}`))
    if (name === SALT_FILE) {
      if (!parseSalts((await readText(join(folder, name))) ?? '')) throw unusable(name, '')
      continue
    }
    const known = [...PLAIN, ...POWERS.flatMap(settingsOf)].find(({ file }) => file === name)
    const value = await readJson(join(folder, name)).catch(() => {
      throw unusable(name, '')
    })
    const read = known?.schema.safeParse(value)
    if (!read?.success) throw unusable(name, read?.error.issues[0]?.path.join('.') ?? '')
    await writeJson(join(folder, name), read.data)
  }
}

const unusable = (name: string, field: string) =>
  new BackupError(say.unusable_setting(`config/${name}`, field))

/**
 * The settings restored only on request that differ from the current ones, with what they would
 * change.
 */
export async function powersIn(
  paths: Paths,
  config: Record<string, string>,
): Promise<{ name: Power; what: Words }[]> {
  const found: { name: Power; what: Words }[] = []
  for (const name of POWERS) {
    const { file, schema } = OF_POWER[name]
    const given = schema.safeParse(parsed(config[file]))
    if (!given.success) continue
    const differs = await Promise.all(
      settingsOf(name).map(async (one) => {
        const theirs = one.schema.safeParse(parsed(config[one.file]))
        const text = await readJson(join(paths.config_dir, one.file)).catch(() => null)
        const here = one.schema.safeParse(text)
        return theirs.success && JSON.stringify(here.data) !== JSON.stringify(theirs.data)
      }),
    )
    if (differs.includes(true)) found.push({ name, what: describePower(name, given.data) })
  }
  return found
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return null
  }
}

function describePower(name: Power, value: unknown): Words {
  if (name === 'mail') {
    const { smtp, listmonk, imap } = MAIL.schema.parse(value)
    const places = [smtp?.host, listmonk?.url, imap?.host].filter((place) => place !== undefined)
    return say.powers.mail(placesOf(places))
  }
  if (name === 'models') {
    const model = MODELS.schema.parse(value)
    if (model.kind === 'none') return say.powers.no_model
    return say.powers.models(verbatim(model.kind === 'endpoint' ? model.url : model.file))
  }
  if (name === 'backup') {
    const { target } = BACKUP.schema.parse(value)
    if (target.kind === 'none') return say.powers.backup_here
    const where = target.kind === 's3' ? `${target.endpoint}/${target.bucket}` : target.destination
    return say.powers.backup(verbatim(where))
  }
  const { web, engineer_system } = AGENT_SETTINGS.schema.parse(value)
  return say.powers.agents(say.web[web], engineer_system ? say.patches.yes : say.patches.no)
}

const placesOf = (places: string[]): Words =>
  places.length > 0 ? verbatim(places.join(', ')) : say.powers.no_server

/**
 * restoreConfig puts checked settings here; it can be cut short and called again. Salts are joined:
 * each opt-out counts under the salt it was made with.
 */
export async function restoreConfig(paths: Paths, stage: string, powers: Power[]): Promise<void> {
  const folder = join(stage, 'config')
  const salts = parseSalts((await readText(join(folder, SALT_FILE))) ?? '')
  if (salts) await addSalts(paths, salts)
  for (const { file } of [...PLAIN, ...powers.flatMap(settingsOf)]) {
    const text = await readText(join(folder, file))
    if (text === undefined) continue
    const target = join(paths.config_dir, file)
    // A license that was entered since the backup stays.
    if (file === LICENSE.file && (await readText(target)) !== undefined) continue
    await writeWhole(target, text)
  }
}
