/**
 * The transactions of a request, and how they are pipelined. Postgres answers statements in the order in
 * which they arrive and needs no answer in between, so everything issued before the first `await` leaves
 * in one packet: the credential check, `begin`, the caller's claims, the first queries and, if nothing
 * follows them, `commit`. A whole read takes one round trip.
 *
 * Two rules follow. `work` should issue as many statements as it can before it first awaits. And a
 * statement may already have run when its caller is refused: without valid claims it sees and changes
 * nothing, and nothing is committed.
 */
import { ApiError } from '../shared/problem.ts'
import { requireCommit, rollBack, type Sql, sqlOn } from '../shared/sql.ts'
import { admit, authenticate, connect, requireScope, verdictOf } from './auth.ts'
import type { Ctx } from './context.ts'
import { checkCredential, credentialOf, setCaller } from './credential.ts'
import { type Connection, retryLost } from './db.ts'
import { translate } from './errors.ts'
import { markTransaction, NO_TRACING } from './tracing/tracing.ts'

/** The work of a transaction. It passes its final statements through `last`. */
type Work<T> = (sql: Sql, last: Last) => Promise<T>
/**
 * Wraps the final statements, so that the commit is sent with them and saves a round trip. No statement
 * may follow, and an error thrown afterwards does not roll anything back.
 */
type Last = <T>(issued: Promise<T>) => Promise<T>

/**
 * A read in one round trip: the credential check, the queries and the commit are sent together.
 * `work` must issue all its statements before it first awaits.
 */
export function read<T>(c: Ctx, work: (sql: Sql) => Promise<T>): Promise<T> {
  return asCaller(c, 'begin read only', (sql, last) => last(work(sql)))
}

/** A read in several steps, each in its own round trip, that all see the same snapshot. */
export function readInSteps<T>(c: Ctx, work: Work<T>): Promise<T> {
  return asCaller(c, 'begin isolation level repeatable read read only', work)
}

/** A write. Its first statements are sent with the credential check; the result of the commit is checked. */
export async function write<T>(c: Ctx, work: Work<T>): Promise<T> {
  const value = await asCaller(c, 'begin', work)
  c.get('deps').wake?.()
  return value
}

async function asCaller<T>(c: Ctx, begin: string, work: Work<T>): Promise<T> {
  const credential = await credentialOf(c)
  // Refused first: otherwise its statements would already be on their way.
  if (c.get('needs_session') && 'key_hash' in credential) await authenticate(c)
  try {
    return await retryLost(
      () => connect(c),
      (connection) => attempt(c, connection, begin, work),
    )
  } catch (error) {
    throw translate(error)
  }
}

async function attempt<T>(
  c: Ctx,
  connection: Connection,
  begin: string,
  work: Work<T>,
): Promise<T> {
  const credential = await credentialOf(c)
  // Everything up to the first await below leaves in one packet; the promises are awaited further down.
  const check = c.get('caller') ? undefined : checkCredential(c, connection, credential)
  const begun = connection.query(begin)
  const entered = setCaller(c, connection, credential)
  const { tracing = NO_TRACING } = c.get('deps')
  const marked = begin === 'begin' ? markTransaction(sqlOn(connection), tracing) : undefined
  let committed: ReturnType<Connection['query']> | undefined
  const commit = () => {
    committed ??= connection.query('commit')
    committed.catch(() => undefined)
    return committed
  }
  const inside: Connection['query'] = async (text, values) => {
    if (committed) throw new Error('a statement was issued after the last ones of its transaction')
    return connection.query(text, values)
  }
  const working = work(sqlOn({ query: inside }), (issued) => {
    commit()
    return issued
  })
  const sent = [check, begun, entered, marked, working]
  for (const promise of sent) promise?.catch(() => undefined)
  try {
    if (check) admit(c, verdictOf(await check))
    else requireScope(c)
    await begun
    await entered
    await marked
    const value = await working
    requireCommit(await commit())
    connection.release()
    return value
  } catch (error) {
    await Promise.allSettled([...sent, committed])
    // With a lost statement it can have committed only if that was the check, which is not part of it.
    if (connection.hasLost() && (await isDone(committed))) {
      await checkAgain(c, connection)
      return working
    }
    await rollBack(connection)
    throw error
  }
}

async function isDone(committed: ReturnType<Connection['query']> | undefined): Promise<boolean> {
  const result = await committed?.catch(() => undefined)
  return result?.command === 'COMMIT'
}

/** Checks the credential of a request that is done already, so that it counts for the account's budget. */
async function checkAgain(c: Ctx, connection: Connection): Promise<void> {
  try {
    const result = await checkCredential(c, connection, await credentialOf(c))
    connection.release()
    const verdict = verdictOf(result)
    admit(c, verdict.verdict === 'rate_limited' ? { ...verdict, verdict: 'ok' } : verdict)
  } catch (error) {
    if (!(error instanceof ApiError)) connection.release(true)
    throw error
  }
}
