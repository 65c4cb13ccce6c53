import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { BASE } from '../../../hub/app.ts'
import { authFiles } from '../../../hub/auth/auth.ts'
import { pathsIn, readConfig } from '../../../hub/config.ts'
import { keyFiles, writeKey } from '../../../hub/db/keys.ts'
import { createHub } from '../../../hub/hub.ts'
import { LICENSE } from '../../../hub/license/license.ts'
import type { ModelSettings } from '../../../hub/model/settings.ts'
import { writeSetting } from '../../../hub/ops/settings.ts'
import { prepare } from '../../../hub/prepare.ts'
import { fastTempFolder, startThrowawayPostgres } from '../../postgres/throwaway.ts'

/** A machine that runs the model and more besides may leave the database without time for a moment. */
const TIMES_BUSY = 10
const PAUSE_MS = 3000

export type BookHub = Awaited<ReturnType<typeof startBookHub>>

/** startBookHub starts a hub with a database of its own, a license for any number of projects, and a model. */
export async function startBookHub(settings: ModelSettings) {
  const server = await startThrowawayPostgres()
  const folder = await mkdtemp(join(await fastTempFolder(), 'watchpost-book-'))
  const paths = pathsIn(folder)
  const { hostname, port } = new URL(server.adminUrl)
  await prepare(server.adminUrl, paths, { host: hostname, port: Number(port), name: 'hub' })
  await writeKey(paths, (await readFile(keyFiles(paths).service, 'utf8')).trim())
  const read = await readConfig({
    HUB_CONFIG_DIR: paths.config_dir,
    HUB_DATA_DIR: paths.data_dir,
    HUB_PROMPTS_DIR: paths.prompts_dir,
  })
  const config = { ...read, license_keys: join(paths.config_dir, 'book-keys.json') }
  const { publicKey, privateKey } = await generateKeyPair('Ed25519', { extractable: true })
  const key = { ...(await exportJWK(publicKey)), kid: 'book', alg: 'Ed25519' }
  await writeFile(config.license_keys, JSON.stringify({ keys: [key] }))
  const license = await new SignJWT({ tier: 'enterprise', max_projects: null, customer: 'Book' })
    .setProtectedHeader({ alg: 'Ed25519', kid: 'book' })
    .setExpirationTime('7d')
    .sign(privateKey)
  await writeSetting(paths, LICENSE, { license })
  const hub = await createHub(config, { log: () => {}, restart: () => {} })
  await hub.start()
  await hub.deps.model.configure(settings)
  await hub.deps.model.ready(AbortSignal.timeout(600_000))
  const token = (await readFile(authFiles(paths).token, 'utf8')).trim()
  return {
    call: async (method: string, path: string, body?: unknown) => {
      const send = () =>
        hub.app.request(`${BASE}/${path}`, {
          method,
          headers: {
            host: 'localhost',
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
      let answer = await send()
      for (let again = 0; answer.status === 503 && again < TIMES_BUSY; again += 1) {
        await setTimeout(PAUSE_MS)
        answer = await send()
      }
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
      return JSON.parse(text)
    },
    put: async (slug: string, path: string, text: string) => {
      const file = join(paths.data_dir, 'projects', slug, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
    },
    query: async (sql: string, values: unknown[]) => {
      const { default: pg } = await import('pg')
      const url = new URL(server.adminUrl)
      url.pathname = '/hub'
      const client = new pg.Client({ connectionString: url.href })
      await client.connect()
      await client.query(sql, values).finally(() => client.end())
    },
    stop: async () => {
      await hub.close()
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
