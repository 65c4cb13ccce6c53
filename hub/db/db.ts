import pg from 'pg'
import { ApiError } from '../../shared/problem.ts'
import {
  requireCommit,
  rollBack,
  type Sql,
  sqlOn,
  statementName,
  wireTypes,
  withoutValues,
} from '../../shared/sql.ts'
import { bilingual } from '../i18n/words.ts'
import type { Actor, Role } from './actor.ts'
import { databaseText } from './db.text.ts'

const say = bilingual(databaseText)

/** Is told of each transaction that is about to commit, in it, and when it has. */
type Watch = { before: (client: pg.PoolClient) => Promise<void>; committed: () => void }

export type Database = {
  /** Runs one transaction that sees the project with this id, or all with `*`, by row-level security. */
  transaction: <T>(
    project_id: string,
    work: (sql: Sql, client: pg.PoolClient) => Promise<T>,
  ) => Promise<T>
  /**
   * The same database for somebody: rows say who wrote them, and PostgreSQL refuses a reader every
   * write.
   */
  as: (actor: Actor, watch?: Watch) => Database
  end: () => Promise<void>
}

const types = wireTypes(pg.types)

/** A connection pool that uses one of the two keys. */
export function createDatabase(options: {
  url: string
  max?: number
  on_error: (error: Error) => void
}): Database {
  const { url, max = 8, on_error } = options
  const pool = new pg.Pool({
    connectionString: url,
    types,
    max,
    connectionTimeoutMillis: 5_000,
    application_name: 'watchpost-hub',
  })
  pool.on('error', on_error)
  pool.on('connect', (client) => client.on('error', on_error))
  const of = (actor?: Actor, watch?: Watch): Database => ({
    transaction: async (project_id, work) => {
      const client = await pool.connect().catch(refuse)
      try {
        await client.query(actor?.role === 'reader' ? 'begin read only' : 'begin')
        await client.query(
          "select set_config('hub.project', $1, true), set_config('hub.actor', $2, true)",
          [project_id, actor ? JSON.stringify(actor) : ''],
        )
        const value = await work(sqlOn(preparing(client)), client)
        await watch?.before(client)
        requireCommit(await client.query('commit'))
        watch?.committed()
        client.release()
        return value
      } catch (error) {
        await rollBack(client)
        if (actor && sqlState(error) === READ_ONLY_TRANSACTION && actor.role === 'reader') {
          throw needsRole('seller', { cause: error })
        }
        return refuse(error)
      }
    },
    as: of,
    end: () => pool.end(),
  })
  return of()
}

/** A connection parses and plans each statement once, not each time. */
const preparing = (client: pg.PoolClient) => ({
  query: (text: string, values: unknown[] = []) =>
    client.query({ name: statementName(text), text, values }),
})

export type Project = {
  id: string
  slug: string
  name: string
  website: string | null
  industry: string | null
  icp: string | null
  created_at: string
}

/**
 * Runs one transaction that sees one project; throws 404 if there is no project with this slug.
 */
export async function inProject<T>(
  db: Database,
  slug: string,
  work: (sql: Sql, project: Project, client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  return db.transaction('*', async (sql, client) => {
    const [project] = await sql<Project>`
      select id, slug, name, website, industry, icp, created_at
      from hub.projects
      where slug = ${slug}`
    if (!project) {
      throw new ApiError('not_found', `There is no project "${slug}". See projects/list for all.`)
    }
    await sql`select set_config('hub.project', ${project.id}, true)`
    return work(sql, project, client)
  })
}

/** Runs one transaction over all projects: for lists, search and shared tables. */
export function everywhere<T>(
  db: Database,
  work: (sql: Sql, client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  return db.transaction('*', work)
}

/** SQLSTATE of a Postgres error, or undefined for any other. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

const READ_ONLY_TRANSACTION = '25006'
const READ_ONLY = ['42501', READ_ONLY_TRANSACTION]
const UNSTORABLE = [
  '22001',
  '22003',
  '22007',
  '22008',
  '22018',
  '22021',
  '22023',
  '22026',
  '22P02',
  '22P03',
  '22P05',
]
const AWAY = ['57P01', '57P02', '57P03', '53300', '08000', '08003', '08006']

/** Turns Postgres errors into the ApiError that the API would have thrown. */
function refuse(error: unknown): never {
  const state = sqlState(error)
  if (state && READ_ONLY.includes(state)) throw readOnlyKey(error)
  if ((state && AWAY.includes(state)) || isNetworkError(error)) {
    throw databaseAway(error)
  }
  if (state && UNSTORABLE.includes(state)) {
    throw new ApiError('malformed', say.unstorable, { cause: withoutValues(error) })
  }
  throw withoutValues(error)
}

/** 503 while the database cannot be reached. */
export function databaseAway(cause: unknown): ApiError {
  return new ApiError('unavailable', say.away, { cause })
}

/** 403 for what only another role may do. */
export function needsRole(role: Role, options: { cause?: unknown } = {}): ApiError {
  return new ApiError('forbidden', say.needs[role], options)
}

/** 401 for a write while only the public key is configured. */
export function readOnlyKey(cause?: unknown): ApiError {
  return new ApiError('read_only_key', say.read_only, { cause })
}

function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error) || sqlState(error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return (
    /^E(CONN|PIPE|TIMEDOUT|HOSTUNREACH|NOTFOUND)|^ENOENT$/.test(code) ||
    /Connection terminated|timeout exceeded when trying to connect/.test(error.message)
  )
}
