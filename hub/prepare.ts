import { randomBytes } from 'node:crypto'
import { lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { authFiles, isSetUp, makeSetupCode } from './auth/auth.ts'
import { proxySecretFile } from './auth/caller.ts'
import type { HubFile, Paths } from './config.ts'
import { generateKey, keyFiles } from './db/keys.ts'
import { createHubDatabase, migrate, setKeys } from './db/migrate.ts'
import { readJson, readText, writeJson, writeWhole } from './files.ts'

type Prepared = {
  /** The migrations that were applied now. */
  migrations: string[]
  /** The one-time set-up code while nobody has chosen a password. */
  setup_code: string | null
}

/**
 * prepare creates whatever a hub needs and does not have yet: database, roles, keys, token, set-up
 * code and folders. Secrets are created once; running it again changes nothing. The keys belong to
 * the caller. What the service reads and writes is created after `handOver`, which makes the caller
 * the service's user.
 */
export async function prepare(
  ownerUrl: string,
  paths: Paths,
  database: HubFile['database'],
  handOver: () => Promise<void> = async () => {},
): Promise<Prepared> {
  const migrations = await migrate(await createHubDatabase(ownerUrl, database.name))

  const { service, in_use } = keyFiles(paths)
  const publicFile = join(paths.config_dir, 'public.key')
  await requireOwn([service, publicFile])
  const keys = {
    public: await once(publicFile, () => generateKey('public')),
    service: await once(service, () => generateKey('service')),
  }
  await setKeys(ownerUrl, keys)
  await handOver()

  for (const folder of ['projects', 'models', 'backups']) {
    await mkdir(join(paths.data_dir, folder), { recursive: true, mode: 0o750 })
  }
  await mkdir(paths.prompts_dir, { recursive: true })
  await once(in_use, () => keys.public)
  await once(authFiles(paths).token, () => `wph_local_${randomBytes(24).toString('base64url')}`)
  await once(proxySecretFile(paths), () => randomBytes(24).toString('base64url'))

  // The embedded server may have a new port at every start; this tells it to the hub.
  const file = join(paths.config_dir, 'hub.json')
  const known = (await readJson(file)) ?? {}
  const changed = { ...known, database }
  if (JSON.stringify(known) !== JSON.stringify(changed)) await writeJson(file, changed, 0o640)

  if (await isSetUp(paths)) return { migrations, setup_code: null }
  const code = (await readText(authFiles(paths).setup_code))?.trim()
  return { migrations, setup_code: code ?? (await makeSetupCode(paths)) }
}

async function once(file: string, make: () => string): Promise<string> {
  const known = (await readText(file))?.trim()
  if (known) return known
  const made = make()
  await writeWhole(file, `${made}\n`)
  return made
}

/**
 * Root's keys must belong to root: a file that the service put in their place would be read with
 * root's rights.
 */
async function requireOwn(files: string[]): Promise<void> {
  if (process.getuid?.() !== 0) return
  for (const file of files) {
    const found = await lstat(file).catch(() => undefined)
    if (!found || (found.isFile() && found.uid === 0)) continue
    throw new Error(`${file} is not a file of root's. Remove it: a new key is then made.`)
  }
}
