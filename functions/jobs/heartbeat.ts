import { maskTarget } from '../channels/transport/target.ts'
import { inTransaction } from '../db.ts'
import type { JobDeps } from './queue.ts'

/** Of the jobs, what a heartbeat needs. */
export type HeartbeatDeps = Pick<JobDeps, 'db' | 'send' | 'heartbeat_url' | 'log'>

/**
 * Calls the heartbeat URL if all is well, once a minute whichever process asks first. When something is not, it says what
 * in the log and does not call, so that whoever waits for the call notices. Never throws because of the URL.
 */
export async function beat({ db, send, heartbeat_url: url, log }: HeartbeatDeps): Promise<void> {
  if (!url) return
  const [row] = await inTransaction(
    db,
    (sql) => sql<{ reasons: string[] | null }>`select private.begin_heartbeat() as reasons`,
  )
  if (!row?.reasons) return
  const { reasons } = row
  if (reasons.length > 0) {
    const error = `not called, because not all is well: ${reasons.join(' ')}`
    log({ msg: 'heartbeat', outcome: 'not_well', error })
    return
  }
  const result = await send({ url, method: 'GET', headers: { accept: '*/*' }, body: '' })
  const isAccepted = result.ok && result.status >= 200 && result.status < 300
  const error = isAccepted
    ? null
    : result.ok
      ? `The heartbeat URL answered HTTP ${result.status}.`
      : result.message
  await inTransaction(db, (sql) => sql`select private.end_heartbeat(${error})`)
  // The path of such a URL is its secret.
  const line = { msg: 'heartbeat', target: maskTarget(url), duration_ms: result.duration_ms }
  log(error === null ? { ...line, outcome: 'called' } : { ...line, outcome: 'failed', error })
}
