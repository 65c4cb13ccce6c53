import { join } from 'node:path'
import type { z } from 'zod'
import { noteChange } from '../audit/changes.ts'
import type { Paths } from '../config.ts'
import { readJson, writeJson } from '../files.ts'
import { WordsError } from '../i18n/failure.ts'
import { perLanguage } from '../i18n/words.ts'
import { settingsText } from './settings.text.ts'

/** A settings file in the config folder, and the value if it does not exist. */
export type Setting<S extends z.ZodType> = { file: string; schema: S; fallback: z.output<S> }

/**
 * readSetting reads a settings file. A damaged one throws an Error that names the file and the
 * field.
 */
export async function readSetting<S extends z.ZodType>(
  paths: Paths,
  { file, schema, fallback }: Setting<S>,
): Promise<z.output<S>> {
  const path = join(paths.config_dir, file)
  const value = await readJson(path)
  if (value === undefined) return fallback
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const field = issue?.path.join('.')
  throw new WordsError(
    perLanguage((language) => {
      const { unusable, whole } = settingsText[language]
      return unusable(path, field || whole, issue?.message ?? '')
    }),
  )
}

/** writeSetting replaces a settings file, which only its owner can read (0600). */
export async function writeSetting<S extends z.ZodType>(
  paths: Paths,
  { file, schema }: Setting<S>,
  value: z.input<S>,
): Promise<z.output<S>> {
  const parsed = schema.parse(value)
  const before = await readJson(join(paths.config_dir, file)).catch(() => undefined)
  noteChange(file, before, parsed)
  await writeJson(join(paths.config_dir, file), parsed)
  return parsed
}
