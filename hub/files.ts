import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** readText answers undefined for a file that is not there. */
export async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** readJson answers undefined for a file that is not there, and throws one sentence for a damaged one. */
export async function readJson(file: string): Promise<unknown> {
  const text = await readText(file)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} is no valid JSON. Correct it or bring it back from a backup.`)
  }
}

/** writeWhole makes a file appear whole or not at all, and durable before the answer. */
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

/** makeOnce answers what a file holds, made first where it is not there; of two at once one wins. */
export async function makeOnce(file: string, make: () => string): Promise<string> {
  const known = await readText(file)
  if (known !== undefined) return known
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`
  await writeWhole(draft, make())
  try {
    // A link never replaces what is there.
    await link(draft, file)
  } catch (error) {
    if (!isTaken(error)) throw error
  } finally {
    await rm(draft)
  }
  return (await readText(file)) ?? ''
}

/** writeJson is writeWhole of indented JSON. */
export async function writeJson(file: string, value: unknown, mode?: number): Promise<void> {
  await writeWhole(file, `${JSON.stringify(value, null, 2)}\n`, mode)
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

/** isTaken says that a file could not be made because its name is in use. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST'
}
