import type { Database } from '../db.ts'

const STATEMENT = 'select $1::int as prepared_statements'

/**
 * Uses a prepared statement in the two ways that a transaction pooler without support for them breaks: twice on one
 * connection, which may then be another one of the server's, and on a second connection, which may be the same one.
 * Whoever notices says so and stops using prepared statements, see `createPool`.
 */
export async function tryPreparedStatements(db: Database): Promise<void> {
  const [first, second] = await Promise.all([db.connect(), db.connect()])
  try {
    for (const connection of [first, first, second, second, first]) {
      await connection.query(STATEMENT, [1])
    }
    first.release()
    second.release()
  } catch (error) {
    first.release(true)
    second.release(true)
    throw error
  }
}
