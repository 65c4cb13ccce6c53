import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { generateKey } from '../../../hub/db/keys.ts'
import { migrate, setLoginPasswords } from '../../../scripts/postgres/migrate.ts'
import { startThrowawayPostgres } from '../../../scripts/postgres/throwaway.ts'

/**
 * What a test process must know about the server of the run; plain data, because it crosses
 * processes.
 */
export type TestServer = {
  adminUrl: string
  apiPassword: string
  jobsPassword: string
  /** The hub's database keys: passwords of roles that all test databases of the hub share. */
  hubKeys: { public: string; service: string }
  /** Why there is no template to clone, if there is none. */
  problem?: string
}

export type TestDatabase = {
  name: string
  /** The superuser's login: for preparations, and for reading what is really stored. */
  adminUrl: string
  apiUrl: string
  jobsUrl: string
  /** Runs one statement as the superuser. */
  query<Row extends pg.QueryResultRow>(sql: string, params?: unknown[]): Promise<Row[]>
  drop(): Promise<void>
}

declare module 'vitest' {
  export interface ProvidedContext {
    server: TestServer
  }
}

const TEMPLATE = 'watchpost_template'

/**
 * createTestDatabase clones the migrated template; call it in `beforeAll`, and `drop` in
 * `afterAll`. With a name it replaces the previous database of that name.
 */
export async function createTestDatabase(name?: string): Promise<TestDatabase> {
  return cloneTemplate(inject('server'), name)
}

/** createEmptyDatabase is for tests of the migration itself. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return makeDatabase(inject('server'), 'template0')
}

export async function cloneTemplate(server: TestServer, name?: string): Promise<TestDatabase> {
  if (server.problem) throw new Error(server.problem)
  if (name) await onServer(server.adminUrl, `drop database if exists ${name} with (force)`)
  return makeDatabase(server, TEMPLATE, name)
}

/**
 * startTestServer starts the server of the run with its template; also used for benchmarks and
 * proofs.
 */
export async function startTestServer(): Promise<TestServer & { stop(): Promise<void> }> {
  const started = await startThrowawayPostgres()
  const server: TestServer = {
    adminUrl: started.adminUrl,
    apiPassword: randomBytes(18).toString('base64url'),
    jobsPassword: randomBytes(18).toString('base64url'),
    hubKeys: { public: generateKey('public'), service: generateKey('service') },
  }
  try {
    await onServer(server.adminUrl, `create database ${TEMPLATE} template template0`)
    const templateUrl = urlOf(server.adminUrl, TEMPLATE)
    await migrate(templateUrl)
    await setLoginPasswords(templateUrl, { api: server.apiPassword, jobs: server.jobsPassword })
    await onServer(server.adminUrl, `alter database ${TEMPLATE} allow_connections false`)
  } catch (error) {
    // A unit test needs no database: only tests that ask for one fail with this message.
    const reason = error instanceof Error ? error.message : String(error)
    server.problem = `The template database could not be made: ${reason}`
  }
  return { ...server, stop: started.stop }
}

async function makeDatabase(
  server: TestServer,
  template: string,
  name = `test_${randomBytes(6).toString('hex')}`,
): Promise<TestDatabase> {
  await onServer(server.adminUrl, `create database ${name} template ${template} strategy file_copy`)
  const adminUrl = urlOf(server.adminUrl, name)
  const pool = new pg.Pool({ connectionString: adminUrl, max: 2, allowExitOnIdle: true })
  pool.on('error', () => {})
  return {
    name,
    adminUrl,
    apiUrl: urlOf(server.adminUrl, name, ['watchpost_api', server.apiPassword]),
    jobsUrl: urlOf(server.adminUrl, name, ['watchpost_jobs', server.jobsPassword]),
    query: async (sql, params) => (await pool.query(sql, params)).rows,
    drop: async () => {
      await pool.end()
      await onServer(server.adminUrl, `drop database if exists ${name} with (force)`)
    },
  }
}

/** underLock runs work in one process of the run at a time. */
export async function underLock(lock: number, work: () => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: inject('server').adminUrl })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [lock])
    await work()
  } finally {
    await client.end()
  }
}

const servers = new Map<string, pg.Pool>()

/**
 * onServer runs a statement as the superuser, outside all test databases. The files of a process
 * share its connection; one for each statement costs as much as many statements.
 */
export async function onServer(url: string, statement: string): Promise<void> {
  let pool = servers.get(url)
  if (!pool) {
    pool = new pg.Pool({
      connectionString: url,
      max: 2,
      idleTimeoutMillis: 60_000,
      allowExitOnIdle: true,
    })
    pool.on('error', () => {})
    servers.set(url, pool)
  }
  await pool.query(statement)
}

function urlOf(adminUrl: string, database: string, login?: [user: string, password: string]) {
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
  if (login) [url.username, url.password] = login
  return url.href
}
