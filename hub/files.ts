import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** readText returns the text of a UTF-8 file, or undefined when it does not exist. */
export async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/**
 * readJson returns the parsed file, or undefined when it does not exist; throws when it is not
 * JSON.
 */
export async function readJson(file: string): Promise<unknown> {
  const text = await readText(file)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} is not valid JSON. Correct it, or restore it from a backup.`)
  }
}

/** isDraft returns whether a file is what a process left that was killed while it wrote. */
export function isDraft(name: string): boolean {
  return /\.[0-9a-f]{12}\.new$/.test(name)
}

/** writeWhole replaces a file atomically and returns once the new content is durable (fsync). */
export async function writeWhole(file: string, content: string | Uint8Array, mode = 0o600) {
  await mkdir(dirname(file), { recursive: true })
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`
  try {
    const handle = await open(draft, 'wx', mode)
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  await syncFolder(dirname(file))
}

/**
 * makeOnce returns a file's text and creates the file first if needed; of two concurrent calls one
 * wins.
 */
export async function makeOnce(file: string, make: () => string): Promise<string> {
  const known = await readText(file)
  if (known !== undefined) return known
  await writeNew(file, make())
  return (await readText(file)) ?? ''
}

/** writeNew is writeWhole for a file that must not exist yet; returns whether it was written. */
export async function writeNew(file: string, content: string | Uint8Array, mode?: number) {
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`
  await writeWhole(draft, content, mode)
  try {
    // link() never replaces an existing file.
    await link(draft, file)
    await syncFolder(dirname(file))
    return true
  } catch (error) {
    if (!isTaken(error)) throw error
    return false
  } finally {
    await rm(draft)
  }
}

/** writeJson writes indented JSON with writeWhole. */
export async function writeJson(file: string, value: unknown, mode?: number): Promise<void> {
  await writeWhole(file, `${JSON.stringify(value, null, 2)}\n`, mode)
}

/** moveWhole gives a finished file its name and returns once both are durable. */
export async function moveWhole(draft: string, file: string): Promise<void> {
  const handle = await open(draft, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
  await syncFolder(dirname(file))
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** isTaken returns whether a file could not be created because it already exists (EEXIST). */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST'
}
