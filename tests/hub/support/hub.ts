import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import { BASE } from '../../../hub/app.ts'
import { type Config, type Paths, pathsIn, readConfig } from '../../../hub/config.ts'
import { keyFiles, writeKey } from '../../../hub/db/keys.ts'
import { createHubDatabase, migrate } from '../../../hub/db/migrate.ts'
import { readText, writeWhole } from '../../../hub/files.ts'
import { createHub, type Hub } from '../../../hub/hub.ts'
import { prepare } from '../../../hub/prepare.ts'
import { fastTempFolder } from '../../../scripts/postgres/throwaway.ts'
import { onServer } from '../../support/servers/database.ts'

export type TestHub = Hub & {
  config: Config
  paths: Paths
  /** The owner's login to its database. */
  owner_url: string
  /** An owner's statement: for preparations, and for reading back what really is there. */
  query: <Row extends pg.QueryResultRow>(sql: string, values?: unknown[]) => Promise<Row[]>
  /** A request with the local token; a body that is an object is sent as JSON. */
  call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Response>
  /** Lines of the log so far. */
  lines: Record<string, unknown>[]
  restarts: () => number
}

export type HubOptions = {
  /** `public`: as after the installation, before the service key is pasted. */
  key?: 'public' | 'service'
  /** More of hub.json, or another place of the license keys. */
  config?: Partial<Config>
  /** Start what works in the background. */
  start?: boolean
  /** The name of a database that is cloned instead of a new one's. */
  template?: string
}

const TEMPLATE = 'hub_template'

/** startHub makes a hub on a database and in folders of its own; `close` takes all of it away. */
export async function startHub(options: HubOptions = {}): Promise<TestHub> {
  const { key = 'service', config: more = {}, start = false, template = TEMPLATE } = options
  const folder = await mkdtemp(join(await fastTempFolder(), 'watchpost-hub-'))
  await chmod(folder, 0o755)
  const paths = pathsIn(folder)
  const { adminUrl } = inject('server')
  const { hostname, port } = new URL(adminUrl)
  const database = {
    host: hostname,
    port: Number(port),
    name: `hub_${randomBytes(6).toString('hex')}`,
  }
  await prepareOnce(adminUrl, paths, database, template)
  const service = (await readText(keyFiles(paths).service))?.trim() ?? ''
  if (key === 'service') await writeKey(paths, service)

  const lines: Record<string, unknown>[] = []
  let restarts = 0
  const read = await readConfig({
    HUB_CONFIG_DIR: paths.config_dir,
    HUB_DATA_DIR: paths.data_dir,
    HUB_PROMPTS_DIR: paths.prompts_dir,
  })
  const config = { ...read, ...more }
  const hub = await createHub(config, {
    log: (line) => void lines.push(line),
    restart: () => {
      restarts += 1
    },
  })
  if (start) await hub.start()
  const url = new URL(adminUrl)
  url.pathname = `/${database.name}`
  const pool = new pg.Pool({ connectionString: url.href, max: 2, allowExitOnIdle: true })
  pool.on('error', () => {})
  const token = (await readText(join(paths.config_dir, 'hub.token')))?.trim()
  return {
    ...hub,
    owner_url: url.href,
    config,
    paths,
    lines,
    restarts: () => restarts,
    query: async (sql, values) => (await pool.query(sql, values)).rows,
    call: async (method, path, body, headers = {}) => {
      const isJson = body !== undefined && !(body instanceof Uint8Array) && typeof body !== 'string'
      return hub.app.request(`${BASE}/${path}`, {
        method,
        headers: {
          host: 'localhost',
          authorization: `Bearer ${token}`,
          ...(isJson ? { 'content-type': 'application/json' } : {}),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as BodyInit) }), // safe: text or bytes
      })
    },
    close: async () => {
      await hub.close()
      await pool.end()
      await onServer(adminUrl, `drop database if exists ${database.name} with (force)`)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * The keys are passwords of roles of the whole server: test files in parallel have to share them.
 */
async function prepareOnce(
  adminUrl: string,
  paths: Paths,
  database: Config['database'],
  template: string,
) {
  const { hubKeys } = inject('server')
  const { in_use, service } = keyFiles(paths)
  await writeWhole(join(paths.config_dir, 'public.key'), hubKeys.public)
  await writeWhole(service, hubKeys.service)
  await writeWhole(in_use, hubKeys.public)
  const client = new pg.Client({ connectionString: adminUrl })
  client.on('error', () => {})
  await client.connect()
  try {
    // Roles are the server's: making them in two databases at once collides.
    await client.query('select pg_advisory_lock(8770)')
    await makeTemplateOnce(client, adminUrl)
    await client.query(`create database ${database.name} template ${template} strategy file_copy`)
    // A clone has everything but the rights on the database itself.
    await client.query(
      `update pg_database set datacl = template.datacl from pg_database as template
       where template.datname = $1 and pg_database.datname = $2`,
      [template, database.name],
    )
    await prepare(adminUrl, paths, database)
  } finally {
    await client.end()
  }
}

/** The first hub of a run applies the schema; every hub clones it. The caller holds the lock. */
async function makeTemplateOnce(client: pg.Client, adminUrl: string) {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [TEMPLATE])
  if (rowCount) return
  const draft = `${TEMPLATE}_draft`
  await client.query(`drop database if exists ${draft}`)
  await migrate(await createHubDatabase(adminUrl, draft))
  await client.query(`alter database ${draft} rename to ${TEMPLATE}`)
  await client.query(`alter database ${TEMPLATE} allow_connections false`)
}
