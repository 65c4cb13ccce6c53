import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const Secrets = z.object({
  /** The passwords of the two roles. */
  api_password: z.string().min(1),
  jobs_password: z.string().min(1),
  /** The keys for targets and signing secrets, in the form of SEAL_KEYS. */
  seal_keys: z.string().min(1),
})
export type Secrets = z.infer<typeof Secrets>

/** readSecrets returns the secrets of an earlier start; undefined if there are none. */
export async function readSecrets(dataDir: string): Promise<Secrets | undefined> {
  const file = fileIn(dataDir)
  const text = await readFile(file, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const read = Secrets.safeParse(parse(text))
  if (!read.success) {
    throw new Error(`${file} is damaged. Restore it from a backup: it holds the sealing key.`)
  }
  // A restored backup may have been unpacked with permissions for everybody.
  await chmod(file, 0o600)
  return read.data
}

/** writeNewSecrets creates and stores new secrets; the file appears completely or not at all. */
export async function writeNewSecrets(dataDir: string): Promise<Secrets> {
  const secrets: Secrets = {
    api_password: randomBytes(24).toString('base64url'),
    jobs_password: randomBytes(24).toString('base64url'),
    seal_keys: randomBytes(32).toString('base64'),
  }
  await mkdir(dataDir, { recursive: true })
  const draft = `${fileIn(dataDir)}.new`
  await writeFile(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
  await rename(draft, fileIn(dataDir))
  return secrets
}

function fileIn(dataDir: string): string {
  return join(dataDir, 'secrets.json')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
