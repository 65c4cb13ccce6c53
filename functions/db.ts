import pg from 'pg'
import {
  requireCommit,
  rollBack,
  type Sql,
  sqlOn,
  wireTypes,
  withoutValues,
} from '../shared/sql.ts'

/** A connection for one request; `release(true)` closes it instead of returning it to the pool. */
export type Connection = {
  query: (text: string, values?: unknown[]) => Promise<pg.QueryResult>
  release: (broken?: boolean) => void
}

export type Database = {
  connect: () => Promise<Connection>
  end: () => Promise<void>
}

/**
 * Settings of a connection. `prepared: false` is for transaction poolers that do not support prepared
 * statements (pgbouncer before 1.21).
 */
export type DatabaseOptions = {
  url: string
  prepared?: boolean
  max?: number
  /** How long to wait for a connection, including for one in the pool to become free. */
  connect_timeout_ms?: number
  application_name?: string
  on_error?: (error: Error) => void
}

const types = wireTypes(pg.types)

// Names of prepared statements by their text: a connection parses each text only once.
const statementNames = new Map<string, string>()

function named(text: string): string {
  let name = statementNames.get(text)
  if (!name) {
    name = `w${statementNames.size + 1}`
    statementNames.set(text, name)
  }
  return name
}

function wrap(client: pg.ClientBase, names: boolean, release: Connection['release']): Connection {
  return {
    query: (text, values = []) =>
      client
        .query(names && values.length > 0 ? { name: named(text), text, values } : { text, values })
        .catch((error) => {
          throw withoutValues(error)
        }),
    release,
  }
}

/** A small pool of pipelined connections, for Node and Deno. */
export function createPool(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    types,
    max: options.max ?? 10,
    pipeline: true,
    connectionTimeoutMillis: options.connect_timeout_ms ?? 5_000,
    application_name: options.application_name ?? 'watchpost',
  })
  const onError = options.on_error ?? (() => undefined)
  pool.on('error', onError)
  // A client in use also emits errors; without a listener a lost connection would end the process.
  pool.on('connect', (client) => client.on('error', onError))
  return {
    connect: async () => {
      const client = await pool.connect()
      return wrap(client, options.prepared ?? true, (broken) => client.release(broken))
    },
    end: () => pool.end(),
  }
}

/**
 * A separate connection for every request, for Workers, where no connection may outlive its request.
 * `wait_until` keeps the request alive until the connection is closed, after the response.
 */
export function createPerRequest({
  wait_until,
  ...options
}: DatabaseOptions & { wait_until: (ending: Promise<unknown>) => void }): Database {
  return {
    connect: async () => {
      const client = new pg.Client({
        connectionString: options.url,
        types,
        pipeline: true,
        connectionTimeoutMillis: options.connect_timeout_ms ?? 5_000,
        application_name: options.application_name ?? 'watchpost',
      })
      client.on('error', options.on_error ?? (() => undefined))
      await client.connect()
      return wrap(client, options.prepared ?? false, () =>
        wait_until(client.end().catch(() => undefined)),
      )
    },
    end: async () => undefined,
  }
}

/**
 * A transaction of a job, as the login role. `work` may await SQL only. When it throws, the transaction
 * is rolled back and the error rethrown; a broken connection is closed.
 */
export async function inTransaction<T>(db: Database, work: (sql: Sql) => Promise<T>): Promise<T> {
  const connection = await db.connect()
  try {
    await connection.query('begin')
    const value = await work(sqlOn(connection))
    requireCommit(await connection.query('commit'))
    connection.release()
    return value
  } catch (error) {
    await rollBack(connection)
    throw error
  }
}

/** SQLSTATE of a Postgres error, or undefined for any other. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code
  return undefined
}
