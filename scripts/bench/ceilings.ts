/** What deliveries are measured against: the queue with nothing to send, and sending with nothing to record. */
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import type pg from 'pg'
import { PgBoss } from 'pg-boss'
import { webhook } from '../../functions/channels/webhook.ts'
import type { Database } from '../../functions/db.ts'
import { generateSecret } from '../../shared/signing.ts'
import { CHANNELS } from './delivery-ground.ts'
import { seconds } from './figure.ts'
import type { Hooks } from './hooks.ts'

/** How many jobs a second pg-boss fetches and completes one by one, with nothing in between. */
export async function queueAlone(
  db: Database,
  admin: pg.Client,
  { count, slots }: { count: number; slots: number },
): Promise<number> {
  await admin.query(`delete from pgboss.job where name = 'deliver'`)
  await admin.query(
    `select private.enqueue('deliver', gen_random_uuid(), '{}', null, 'group-' || n % ${CHANNELS})
    from generate_series(1, $1::int) n`,
    [count],
  )
  await admin.query('vacuum analyze')
  const executeSql = async (text: string, values?: unknown[]) => {
    const connection = await db.connect()
    try {
      return await connection.query(text, values)
    } finally {
      connection.release()
    }
  }
  const quiet = { migrate: false, supervise: false, schedule: false }
  const boss = new PgBoss({ db: { executeSql }, schema: 'pgboss', ...quiet })
  boss.on('error', () => undefined)
  let done = 0
  const took = await seconds(async () => {
    const running = new Set<Promise<void>>()
    for (;;) {
      const batchSize = slots - running.size
      const jobs = await boss.fetch('deliver', { batchSize, groupConcurrency: 1 })
      for (const job of jobs) {
        const run = boss.complete('deliver', job).then(() => {
          done += 1
          running.delete(run)
        })
        running.add(run)
      }
      if (running.size === 0) break
      if (jobs.length === 0 || running.size >= slots) await Promise.race(running)
    }
  })
  return done / took
}

/** How many webhooks a second are rendered, signed and posted by `node:http`, with no queue and no database. */
export async function postAlone(
  { ports }: Hooks,
  payload: string,
  { count, slots }: { count: number; slots: number },
): Promise<number> {
  const agent = new Agent({ keepAlive: true })
  const secrets = [generateSecret()]
  let left = count
  const postAll = async () => {
    while (left > 0) {
      left -= 1
      const { url, method, headers, body } = await webhook.render({
        id: randomUUID(),
        notification: { type: 'alert.raised', ...JSON.parse(payload) },
        target: `http://127.0.0.1:${ports[left % ports.length]}/hook`,
        config: undefined,
        secrets,
        now: new Date(),
        language: 'en',
        time_zone: 'UTC',
        public_url: null,
        remote_ref: null,
        acknowledge_url: null,
      })
      await new Promise<void>((done, fail) => {
        const length = { 'content-length': Buffer.byteLength(body) }
        const posted = request(url, { method, agent, headers: { ...headers, ...length } })
        posted.once('error', fail)
        posted.once('response', (response) => response.resume().once('end', done))
        posted.end(body)
      })
    }
  }
  const took = await seconds(() => Promise.all(Array.from({ length: slots }, postAll)))
  agent.destroy()
  return count / took
}
