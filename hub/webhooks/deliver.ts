import { lookup } from 'node:dns/promises'
import { request } from 'undici'
import { hostOf } from '../../shared/addresses.ts'
import { nextAttempt, parseRetryAfter } from '../../shared/backoff.ts'
import { sign } from '../../shared/signing.ts'
import type { Sql } from '../../shared/sql.ts'
import { VERSION } from '../../shared/version.ts'
import type { Paths } from '../config.ts'
import { type Database, everywhere } from '../db/db.ts'
import type { Log } from '../log.ts'
import { NotPublic, type OutsideOptions, outside } from '../outside.ts'
import { unseal } from './seal.ts'
import { isForbidden, requireTarget } from './target.ts'

const SWEEP_MS = 5_000
const AT_ONCE = 5
const TIMEOUT_MS = 10_000
/** Longer than an attempt takes: a killed hub's delivery is taken up again after it. */
const LEASE_SECONDS = 60
/** After the first attempt; longer than the 31.6 hours of all. */
const EXPIRY_MS = 40 * 3_600_000
const ANSWER_BYTES = 1000
const KEEP_DAYS = 30
const HOUR_MS = 3_600_000
/** The event of a test that somebody sends by hand. */
export const TEST = 'webhook.test'

export type Failure = 'refused' | 'unreachable' | 'timeout' | 'secret'
type Outcome = {
  status: number | null
  failure: Failure | null
  answer: string | null
  retry_after: string | null
}

type Claimed = {
  id: string
  webhook_id: string
  event: string
  data: object
  attempts: number
  /** Those that count: an answer of 429 uses up none, nor does what was before the webhook was off. */
  used: number
  first_attempt_at: string
  created_at: string
  url: string
  allow_private: boolean
  secret: string
  former_secret: string | null
  former_until: string | null
}

const CLAIMED = `delivery.id, delivery.webhook_id, delivery.event, delivery.data, delivery.attempts,
  delivery.first_attempt_at, delivery.created_at, webhook.url, webhook.allow_private, webhook.secret,
  webhook.former_secret, webhook.former_until, (
    select count(*)::int from hub.webhook_attempts
    where delivery_id = delivery.id and status is distinct from 429
      and at >= delivery.first_attempt_at
  ) as used`

const DUE = (row: string) => `${row}.state in ('queued', 'sending')
  and ${row}.next_at < $2::timestamptz + interval '1 millisecond'`

export type Webhooks = ReturnType<typeof createWebhooks>

/** createWebhooks sends what is due to the webhooks, each message signed, until it is answered with 2xx. */
export function createWebhooks(given: {
  db: Database
  paths: Paths
  log: Log
  reach?: OutsideOptions
  now?: () => Date
}) {
  const { db, paths, log, reach = {}, now = () => new Date() } = given
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isAgain = false
  let forgot_at = 0

  /**
   * The webhooks take turns, so that one whose receiver is away does not hold up the others. The database
   * knows microseconds, this clock milliseconds: what became due within this one is due.
   */
  async function claim(): Promise<Claimed[]> {
    return everywhere(db, async (_, client) => {
      const { rows } = await client.query<Claimed>(
        `update hub.webhook_deliveries as delivery
         set state = 'sending', attempts = delivery.attempts + 1,
           first_attempt_at = coalesce(delivery.first_attempt_at, $2),
           next_at = $2::timestamptz + make_interval(secs => ${LEASE_SECONDS})
         from hub.webhooks as webhook
         where webhook.id = delivery.webhook_id and delivery.id in (
           select due.id from hub.webhook_deliveries as due
           join (
             select one.id,
               row_number() over (partition by one.webhook_id order by one.next_at) as nth
             from hub.webhook_deliveries as one
             join hub.webhooks as receiver on receiver.id = one.webhook_id and receiver.enabled
             where ${DUE('one')}
           ) as line on line.id = due.id
           where ${DUE('due')}
           order by line.nth, due.next_at limit $1 for update of due skip locked
         )
         returning ${CLAIMED}`,
        [AT_ONCE, now().toISOString()],
      )
      return rows
    })
  }

  async function send(delivery: Claimed): Promise<Outcome> {
    const { id, url, allow_private, event, data, created_at } = delivery
    const none = { status: null, answer: null, retry_after: null }
    try {
      requireTarget(url, { allow_private })
    } catch {
      return { ...none, failure: 'refused' }
    }
    const secrets = await secretsOf(delivery)
    if (secrets.length === 0) return { ...none, failure: 'secret' }
    const body = JSON.stringify({ type: event, timestamp: created_at, data })
    const signature = await sign({ id, timestamp: now(), body, secrets })
    const host = hostOf(new URL(url))
    const { resolve = resolveAll } = reach
    let isUnknown = false
    const dispatcher = outside({
      ...reach,
      ...(allow_private ? { named: host } : {}),
      resolve: async (name) => {
        const found = await resolve(name).catch(() => [])
        // A name server may be away for a while, which says nothing about the address.
        isUnknown = found.length === 0
        return allowed(found)
      },
    })
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    try {
      const {
        statusCode,
        headers,
        body: answer,
      } = await request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': `WatchpostHub/${VERSION}`,
          ...signature,
        },
        body,
        dispatcher,
        signal,
      })
      const retry = headers['retry-after']
      const retry_after = typeof retry === 'string' ? retry : null
      return { status: statusCode, failure: null, answer: await startOf(answer), retry_after }
    } catch (error) {
      const isRefused = isRefusal(error) && !isUnknown
      const failure = signal.aborted ? 'timeout' : isRefused ? 'refused' : 'unreachable'
      return { ...none, failure }
    } finally {
      await dispatcher.destroy()
    }
  }

  async function secretsOf({ secret, former_secret, former_until }: Claimed): Promise<string[]> {
    const isBoth = former_secret && former_until && Date.parse(former_until) > now().getTime()
    const sealed = [secret, ...(isBoth ? [former_secret] : [])]
    const opened = await Promise.all(sealed.map((one) => unseal(paths, one)))
    return opened.filter((one) => one !== undefined)
  }

  async function settle(delivery: Claimed, outcome: Outcome, duration_ms: number): Promise<void> {
    const { id, webhook_id, attempts, used } = delivery
    const first_attempt_at = new Date(delivery.first_attempt_at)
    const { status, failure, answer, retry_after } = outcome
    const isDone = status !== null && status >= 200 && status < 300
    const counted = status !== 429
    const next = isDone
      ? undefined
      : nextAttempt({
          schedule: 'webhook',
          is_urgent: false,
          attempts: used + (counted ? 1 : 0),
          counted,
          retry_after_seconds: parseRetryAfter(retry_after, now()),
          first_attempt_at,
          // Not from its creation: the hub may have been off for days.
          expires_at: new Date(first_attempt_at.getTime() + EXPIRY_MS),
          now: now(),
          random: Math.random,
        })
    // Whoever sent a test has seen its outcome: it is not tried again for days.
    const isTest = delivery.event === TEST
    const isOver = isTest || failure === 'refused' || failure === 'secret' || status === 410
    const at = next && !isOver && 'at' in next ? next.at : undefined
    const state = isDone ? 'succeeded' : at ? 'queued' : 'failed'
    await everywhere(db, async (sql) => {
      await sql`
        insert into hub.webhook_attempts (delivery_id, position, at, status, failure, answer, duration_ms)
        values (${id}, ${attempts}, ${now().toISOString()}, ${status}, ${failure}, ${answer}, ${duration_ms})
        on conflict (delivery_id, position) do nothing`
      await sql`
        update hub.webhook_deliveries set state = ${state},
          next_at = coalesce(${at?.toISOString() ?? null}::timestamptz, next_at),
          delivered_at = case when ${isDone} then ${now().toISOString()}::timestamptz end
        where id = ${id} and state = 'sending' and attempts = ${attempts}`
      if (status === 410) await disable(sql, webhook_id, 'gone')
      else if (state === 'failed' && !isOver) await disable(sql, webhook_id, 'failing')
    })
    log({
      msg: 'webhook',
      webhook_id,
      delivery_id: id,
      attempts,
      status,
      failure,
      state,
      duration_ms,
    })
  }

  async function deliver(delivery: Claimed): Promise<Outcome> {
    const started = performance.now()
    const outcome = await send(delivery)
    await settle(delivery, outcome, Math.round(performance.now() - started))
    return outcome
  }

  async function sweep(): Promise<void> {
    await forget()
    for (;;) {
      const due = await claim()
      if (due.length === 0) return
      await Promise.all(due.map(deliver))
    }
  }

  /** Deletes deliveries that are over and old, once an hour. */
  async function forget(): Promise<void> {
    if (now().getTime() - forgot_at < HOUR_MS) return
    forgot_at = now().getTime()
    await everywhere(
      db,
      (sql) => sql`
        delete from hub.webhook_deliveries
        where state in ('succeeded', 'failed')
          and created_at < ${now().toISOString()}::timestamptz - make_interval(days => ${KEEP_DAYS})`,
    )
  }

  function wake(): void {
    isAgain = true
    running ??= (async () => {
      try {
        while (isAgain) {
          isAgain = false
          await sweep()
        }
      } catch (error) {
        log({ msg: 'webhooks', error: error instanceof Error ? error.message : String(error) })
      } finally {
        running = undefined
      }
    })()
  }

  return {
    wake,
    start(): void {
      timer = setInterval(wake, SWEEP_MS)
      wake()
    },
    /** Sends everything that is due, and waits for it. */
    sweep,
    /** Sends one delivery now and returns the answer; undefined if it is being sent already. */
    async now(id: string): Promise<Outcome | undefined> {
      const [delivery] = await everywhere(db, async (_, client) => {
        const { rows } = await client.query<Claimed>(
          `update hub.webhook_deliveries as delivery
           set state = 'sending', attempts = delivery.attempts + 1,
             first_attempt_at = coalesce(delivery.first_attempt_at, $2),
             next_at = $2::timestamptz + make_interval(secs => ${LEASE_SECONDS})
           from hub.webhooks as webhook
           where webhook.id = delivery.webhook_id and delivery.id = $1 and delivery.state = 'queued'
           returning ${CLAIMED}`,
          [id, now().toISOString()],
        )
        return rows
      })
      return delivery && deliver(delivery)
    },
    async close(): Promise<void> {
      clearInterval(timer)
      isAgain = false
      await running
    },
  }
}

async function disable(sql: Sql, id: string, reason: 'gone' | 'failing'): Promise<void> {
  await sql`
    update hub.webhooks set enabled = false, disabled_reason = ${reason}
    where id = ${id} and enabled`
}

async function resolveAll(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

/** Addresses that may never be called count as none. */
const allowed = (addresses: string[]) => addresses.filter((address) => !isForbidden(address))

const isRefusal = (error: unknown): boolean =>
  error instanceof NotPublic || (error instanceof Error && isRefusalCause(error.cause))
const isRefusalCause = (cause: unknown): boolean => cause instanceof NotPublic

/** The beginning of an answer; the rest is not read. Its status counts although it never ends. */
async function startOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const part of body) {
      parts.push(part)
      size += part.length
      if (size >= ANSWER_BYTES) break
    }
  } catch {
    // What came until then is kept.
  }
  return Buffer.concat(parts).subarray(0, ANSWER_BYTES).toString('utf8').replaceAll('\0', '')
}
