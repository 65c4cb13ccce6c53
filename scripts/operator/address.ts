import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The file in the data folder that says where the page of a running service is. */
const fileIn = (folder: string) => join(folder, 'operator-url')

/** keepAddress notes where the operator page of this service is. Returns what forgets it. */
export async function keepAddress(folder: string, url: string): Promise<() => Promise<void>> {
  await writeFile(fileIn(folder), `${url}\n`, { mode: 0o600 })
  return () => rm(fileIn(folder), { force: true })
}

/** Where the operator page of the service of this folder is, or was when it ended without saying so. */
export async function findAddress(folder: string): Promise<string | undefined> {
  const text = await readFile(fileIn(folder), 'utf8').catch(() => '')
  return /^http:\/\/[^\s/]+$/.exec(text.trim())?.[0]
}
