import pg from 'pg'
import {
  requireCommit,
  rollBack,
  type Sql,
  sqlOn,
  statementName,
  wireTypes,
  withoutValues,
} from '../shared/sql.ts'
import { Pipeline, type Result } from './postgres/pipeline.ts'

/** A connection for one request; `release(true)` closes it instead of returning it to the pool. */
export type Connection = {
  /** Runs one statement. A text without values is sent as it is, unprepared, and may hold several. */
  query: (text: string, values?: unknown[]) => Promise<Result>
  /** Whether a transaction of this connection failed because a pooler lost one of its prepared statements. */
  hasLost: () => boolean
  release: (broken?: boolean) => void
}

export type Database = {
  connect: () => Promise<Connection>
  end: () => Promise<void>
}

/** How many connections a pool has, how many of them are unused, and how many requests wait for one. */
export type PoolState = { total: number; idle: number; waiting: number }
export type Pool = Database & { state: () => PoolState }

/**
 * Settings of a connection. `prepared: false` is for transaction poolers that do not support prepared
 * statements (pgbouncer before 1.21); with such a pooler, `true` turns into `false` at the first sign of it.
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

/** "prepared statement … already exists" and "… does not exist": a pooler has exchanged the connection behind it. */
const LOST_STATES = ['42P05', '26000']

/** What is said once for each URL whose pooler loses prepared statements. */
export const UNPREPARED =
  'A pooler between Watchpost and PostgreSQL loses prepared statements, so they are no longer used. Set PREPARED_STATEMENTS=off, or make the pooler support them (pgbouncer 1.21 or newer: max_prepared_statements=200).'

const unpreparedUrls = new Set<string>()

function usesNames({ url, prepared }: DatabaseOptions): boolean {
  return prepared === true && !unpreparedUrls.has(url)
}

function stopUsingNames({ url, on_error }: DatabaseOptions): void {
  if (unpreparedUrls.has(url)) return
  unpreparedUrls.add(url)
  on_error?.(new Error(UNPREPARED))
}

const pipelines = new WeakMap<pg.Client, Pipeline>()

function pipelineOf(client: pg.Client): Pipeline {
  const pipeline = pipelines.get(client) ?? new Pipeline(client, types)
  pipelines.set(client, pipeline)
  return pipeline
}

function wrap(
  client: pg.Client,
  options: DatabaseOptions,
  release: Connection['release'],
): Connection {
  let isOpen = false
  let hasLost = false
  const pipeline = pipelineOf(client)
  const query: Connection['query'] = async (text, values) => {
    const isBegin = /^begin\b/.test(text)
    const isEnd = text === 'commit' || text === 'rollback'
    if (isBegin) isOpen = true
    if (isEnd) isOpen = false
    const isAlone = !isOpen
    // Never prepared: a transaction that a pooler keeps from beginning would go on without one.
    if (isBegin || isEnd) return pipeline.send({ text, values: [], has_rows: false }, isAlone)
    const name = values && usesNames(options) ? statementName(text) : undefined
    try {
      if (!values) return await pipeline.sendSimple(text)
      return await pipeline.send({ text, name, values }, isAlone)
    } catch (error) {
      if (!name || !LOST_STATES.includes(sqlState(error) ?? '')) throw withoutValues(error)
      stopUsingNames(options)
      // Nothing has been done. Within a transaction only its owner can do it again, see retryLost.
      if (isAlone && !isOpen) return query(text, values)
      hasLost = true
      throw error
    }
  }
  return { query, hasLost: () => hasLost, release }
}

/**
 * Runs `attempt` on a connection, which it must release. Runs it once more when a pooler has lost a prepared
 * statement of its transaction, which therefore was not committed.
 */
export async function retryLost<T>(
  connect: () => Promise<Connection>,
  attempt: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connect()
  try {
    return await attempt(connection)
  } catch (error) {
    if (!connection.hasLost()) throw error
  }
  return attempt(await connect())
}

/** A small pool of pipelined connections, for Node and Deno. */
export function createPool(options: DatabaseOptions): Pool {
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
  const open = new Map<pg.ClientBase, Promise<void>>()
  pool.on('connect', (client) => {
    // A client in use also emits errors; without a listener a lost connection would end the process.
    client.on('error', onError)
    const { promise, resolve } = Promise.withResolvers<void>()
    open.set(client, promise)
    client.once('end', () => {
      open.delete(client)
      resolve()
    })
  })
  return {
    connect: async () => {
      const client = await pool.connect()
      return wrap(client, { ...options, prepared: options.prepared ?? true }, (broken) =>
        client.release(broken),
      )
    },
    state: () => ({
      total: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    end: async () => {
      await pool.end()
      // pg does not wait until they are closed, and a server that is stopped meanwhile complains to each.
      await Promise.all(open.values())
    },
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
      return wrap(client, options, () => wait_until(client.end().catch(() => undefined)))
    },
    end: async () => undefined,
  }
}

/**
 * A transaction of a job, as the login role. `work` may await SQL only. When it throws, the transaction
 * is rolled back and the error rethrown; a broken connection is closed. It may run twice, see `retryLost`.
 */
export function inTransaction<T>(
  db: Database,
  work: (sql: Sql, connection: Connection) => Promise<T>,
): Promise<T> {
  return retryLost(
    () => db.connect(),
    async (connection) => {
      try {
        // Sent with the first statements of the work, which run in order.
        const begun = connection.query('begin')
        begun.catch(() => undefined)
        const value = await work(sqlOn(connection), connection)
        await begun
        requireCommit(await connection.query('commit'))
        connection.release()
        return value
      } catch (error) {
        await rollBack(connection)
        throw error
      }
    },
  )
}

/** SQLSTATE of a Postgres error, or undefined for any other. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code
  return undefined
}
