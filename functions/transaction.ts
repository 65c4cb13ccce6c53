/**
 * The transactions of a request, and how they are sent. Postgres answers statements in the order they
 * came and needs no answer between them, so what is issued before the first `await` leaves in one
 * packet: who asks, `begin`, the caller's claims, the first queries and, where nothing follows them,
 * `commit`. A whole read costs one round trip. Two rules follow. `work` issues what it can before it
 * awaits anything, and a statement may already have run when its caller turns out to be refused: the
 * claims are what keeps it from seeing or changing anything, and nothing is committed.
 */
import { leave, requireCommit, type Sql, sqlOn } from '../shared/sql.ts'
import { admit, authenticate, connect, requireScope, verdictOf } from './auth.ts'
import type { Ctx } from './context.ts'
import { check as checkCredential, credentialOf, enter } from './credential.ts'
import type { Connection } from './db.ts'
import { translate } from './errors.ts'

/** What happens in a caller's transaction; `last` says which statements are its last ones. */
type Work<T> = (sql: Sql, last: Last) => Promise<T>
/**
 * Around statements that were just issued: the commit travels with them, which saves a round trip.
 * Nothing may be asked of the database afterwards, and what is thrown then undoes nothing.
 */
type Last = <T>(issued: Promise<T>) => Promise<T>

/**
 * A read in one round trip: key check, transaction, claims, queries and commit are sent together.
 * `work` must issue all its statements before it first awaits.
 */
export function read<T>(c: Ctx, work: (sql: Sql) => Promise<T>): Promise<T> {
  return asCaller(c, 'begin read only', (sql, last) => last(work(sql)))
}

/** A read of several steps, one round trip each, in one snapshot. */
export function readInSteps<T>(c: Ctx, work: Work<T>): Promise<T> {
  return asCaller(c, 'begin isolation level repeatable read read only', work)
}

/** A write: the first statements travel with the key check, the commit is looked at. */
export async function write<T>(c: Ctx, work: Work<T>): Promise<T> {
  const value = await asCaller(c, 'begin', work)
  c.get('deps').wake?.()
  return value
}

async function asCaller<T>(c: Ctx, begin: string, work: Work<T>): Promise<T> {
  const credential = await credentialOf(c)
  // Its statements would be on their way before it is refused.
  if (c.get('needs_session') && 'key_hash' in credential) await authenticate(c)
  const connection = await connect(c)
  // Everything up to the first await below leaves in one packet; each promise is looked at later.
  const check = c.get('caller') ? undefined : checkCredential(c, connection, credential)
  const begun = connection.query(begin)
  const entered = enter(c, connection, credential)
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
  const sent = [check, begun, entered, working]
  for (const promise of sent) promise?.catch(() => undefined)
  try {
    if (check) admit(c, verdictOf(await check))
    else requireScope(c)
    await begun
    await entered
    const value = await working
    requireCommit(await commit())
    connection.release()
    return value
  } catch (error) {
    await Promise.allSettled([...sent, committed])
    await leave(connection)
    throw translate(error)
  }
}
