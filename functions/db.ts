import pg from 'pg'
import { leave, requireCommit, type Sql, sqlOn, wireTypes, withoutValues } from '../shared/sql.ts'

/** One connection for one request; `release(true)` throws it away. */
export type Connection = {
  query: (text: string, values?: unknown[]) => Promise<pg.QueryResult>
  release: (broken?: boolean) => void
}

export type Database = {
  connect: () => Promise<Connection>
  end: () => Promise<void>
}

/**
 * Settings of a connection. `names: false` for transaction poolers that do not know prepared
 * statements (pgbouncer before 1.21).
 */
export type DatabaseOptions = {
  url: string
  names?: boolean
  max?: number
  /** How long to wait for a connection, also for one of the pool to become free. */
  patience_ms?: number
  application_name?: string
  on_error?: (error: Error) => void
}

const types = wireTypes(pg.types)

// Statements get a name by their text, so that a connection parses each only once.
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
    connectionTimeoutMillis: options.patience_ms ?? 5_000,
    application_name: options.application_name ?? 'watchpost',
  })
  const onError = options.on_error ?? (() => undefined)
  pool.on('error', onError)
  // A client in use emits too; without a listener a lost connection would end the process.
  pool.on('connect', (client) => client.on('error', onError))
  return {
    connect: async () => {
      const client = await pool.connect()
      return wrap(client, options.names ?? true, (broken) => client.release(broken))
    },
    end: () => pool.end(),
  }
}

/**
 * A connection of its own for every request, for Workers, where none may outlive its request.
 * `afterwards` keeps the request's rights until the goodbye is out, behind the answer.
 */
export function createPerRequest({
  afterwards,
  ...options
}: DatabaseOptions & { afterwards: (ending: Promise<unknown>) => void }): Database {
  return {
    connect: async () => {
      const client = new pg.Client({
        connectionString: options.url,
        types,
        pipeline: true,
        connectionTimeoutMillis: options.patience_ms ?? 5_000,
        application_name: options.application_name ?? 'watchpost',
      })
      client.on('error', options.on_error ?? (() => undefined))
      await client.connect()
      return wrap(client, options.names ?? false, () =>
        afterwards(client.end().catch(() => undefined)),
      )
    },
    end: async () => undefined,
  }
}

/**
 * One transaction of a job, under the login role itself. `work` awaits only SQL. Rolls back and
 * rethrows when it throws; a connection that failed is thrown away.
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
    await leave(connection)
    throw error
  }
}

/** SQLSTATE of a Postgres error, or undefined for any other. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code
  return undefined
}
