import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Config, HubFile, Paths } from '../config.ts'
import { readText, writeWhole } from '../files.ts'
import { WordsError } from '../i18n/failure.ts'
import { bilingual } from '../i18n/words.ts'
import { settingsText } from '../ops/settings.text.ts'

/** The two database keys: the public one logs in as hub_ro, the service key as hub_rw. */
export const KEY_ROLES = { public: 'hub_ro', service: 'hub_rw' } as const
export type KeyKind = keyof typeof KEY_ROLES
export type KeyRole = (typeof KEY_ROLES)[KeyKind]

const FORM = /^wph_(public|service)_[A-Za-z0-9_-]{32,}$/

/** generateKey makes a key of 24 random bytes. */
export function generateKey(kind: KeyKind): string {
  return `wph_${kind}_${randomBytes(24).toString('base64url')}`
}

/** The role a key logs in as; undefined for a text that is not a key. */
export function roleOf(key: string): KeyRole | undefined {
  const kind = FORM.exec(key)?.[1]
  return kind === 'public' || kind === 'service' ? KEY_ROLES[kind] : undefined
}

/** The connection string of a key, which is the password of its role. */
export function urlFor(key: string, database: HubFile['database']): string {
  const url = new URL(`postgres://${database.host}:${database.port}/${database.name}`)
  url.username = roleOf(key) ?? ''
  url.password = key
  return url.href
}

/** The files of the key in use and of the service key for the admin to paste. */
export const keyFiles = (paths: Paths) => ({
  in_use: join(paths.config_dir, 'database.key'),
  service: join(paths.config_dir, 'service.key'),
})

/**
 * readKey reads the key in use; the set-up writes the public one, Settings > Service Key the other.
 */
export async function readKey({ paths }: Config): Promise<{ key: string; role: KeyRole }> {
  const file = keyFiles(paths).in_use
  const key = (await readText(file))?.trim()
  const role = key && roleOf(key)
  if (!key || !role) {
    throw new WordsError(bilingual(settingsText).no_key(file))
  }
  return { key, role }
}

export async function writeKey(paths: Paths, key: string): Promise<void> {
  await writeWhole(keyFiles(paths).in_use, `${key}\n`)
}
