import { readdir, readFile, rename, stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isMissing, writeWhole } from '../files.ts'
import type { Matcher } from './redact.ts'

export type FilePlace = { file: string; excerpts: string[] }

const isText = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Every file in a folder, hidden ones too; links are not followed. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: unknown) => {
      if (isMissing(error)) return []
      throw error
    },
  )
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/** The text of a file; undefined if it is no text, e.g. a PDF. */
export const textOf = async (file: string) => isText(await readFile(file))

/** findFiles returns the files that name the person, and those that cannot be searched. */
export async function findFiles(folders: string[], person: Matcher) {
  const found: FilePlace[] = []
  const unsearched: string[] = []
  for (const folder of folders) {
    for (const file of await filesIn(folder)) {
      const name = join(basename(folder), relative(folder, file))
      const text = await textOf(file)
      if (text === undefined) unsearched.push(name)
      const excerpts = [...person.excerpts(basename(file)), ...person.excerpts(text ?? '')]
      if (excerpts.length > 0) found.push({ file: name, excerpts: excerpts.slice(0, 5) })
    }
  }
  return { found, unsearched }
}

/** redactFiles replaces address and names in texts and names of files; returns how many it changed. */
export async function redactFiles(folders: string[], person: Matcher): Promise<number> {
  let count = 0
  for (const folder of folders) {
    for (const file of await filesIn(folder)) {
      const text = await textOf(file)
      const after = text === undefined ? undefined : person.replace(text)
      const isChanged = after !== undefined && after !== text
      if (isChanged) await writeWhole(file, after, (await stat(file)).mode & 0o777)
      const name = person.replace(basename(file))
      if (name !== basename(file)) await rename(file, join(dirname(file), name))
      if (isChanged || name !== basename(file)) count += 1
    }
  }
  return count
}
