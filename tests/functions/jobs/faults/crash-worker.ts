/**
 * One story run by the jobs from the first poll to the last delivery, in a process that may die at
 * any boundary of it. Run as a program it kills itself at the boundary it is told; a test runs the
 * same story to its end.
 */
import pg from 'pg'
import { nodeSend } from '../../../../functions/channels/transport/send-node.ts'
import { parseAllowList } from '../../../../functions/channels/transport/target.ts'
import { createPool, type Database } from '../../../../functions/db.ts'
import type { Feed } from '../../../../functions/feeds/feed.ts'
import { createRunner } from '../../../../functions/jobs.ts'
import { createSeal } from '../../../../functions/seal.ts'
import type { NormalisedEvent } from '../../../../shared/schemas/event.ts'

export type Orders = {
  jobsUrl: string
  adminUrl: string
  /** The boundary at which this process kills itself; null: it lives and says which there are. */
  die_at: number | null
}

export const SEAL_KEY = Buffer.alloc(32, 7).toString('base64')
const ROUNDS = 2
const MAX_TURNS = 12

const base: Omit<NormalisedEvent, 'id' | 'title' | 'lat' | 'lon' | 'severity'> = {
  source: 'crash',
  type: 'earthquake',
  ts: new Date().toISOString(),
  subject: null,
  status: 'active',
  url: null,
  geometry: null,
  ends_at: null,
  revised_at: null,
  aliases: [],
}
const both = { ...base, id: 'crash:both', title: 'Inside both', lat: 41, lon: 29, severity: 45 }
const one = { ...base, id: 'crash:one', title: 'Inside one', lat: 42.5, lon: 29, severity: 50 }
const none = { ...base, id: 'crash:none', title: 'Far away', lat: -10, lon: 100, severity: 90 }
const late = { ...base, id: 'crash:late', title: 'Came later', lat: 41, lon: 29.1, severity: 70 }

/** What the feed says, poll by poll: three events; then one worse, one taken back, a new one. */
const SAID: NormalisedEvent[][] = [
  [both, one, none],
  [{ ...both, severity: 85 }, { ...one, status: 'retracted' }, none, late],
]

export const feed: Feed = {
  source: 'crash',
  title: 'A feed that is told what to say',
  attribution: 'a test',
  types: ['earthquake'],
  interval_seconds: 60,
  poll: async ({ state }) => {
    const round = Number(state.round ?? 0)
    const events = SAID[round]
    if (!events) return { events: [], state, not_modified: true, rejected: [] }
    return { events, state: { round: round + 1 }, not_modified: false, rejected: [] }
  },
}

/** Called after every statement (which is before the next one) and around every request. */
export type Boundary = (where: string) => void | Promise<void>

function watched(db: Database, boundary: Boundary): Database {
  return {
    end: db.end,
    connect: async () => {
      const connection = await db.connect()
      return {
        ...connection,
        query: async (text, values) => {
          const result = await connection.query(text, values)
          await boundary(`after ${text}`)
          return result
        },
      }
    },
  }
}

/** Runs the story to its end; run again after a death, it goes on where it was. */
export async function runStory(
  { jobsUrl, adminUrl }: Pick<Orders, 'jobsUrl' | 'adminUrl'>,
  boundary: Boundary = () => undefined,
): Promise<void> {
  const db = createPool({ url: jobsUrl, max: 4 })
  const admin = new pg.Client({ connectionString: adminUrl })
  admin.on('error', () => undefined)
  await admin.connect()
  const allow = parseAllowList('127.0.0.1')
  const send = nodeSend({ allow })
  const idle = async () => {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      // A new runner each turn: its first tick supervises, which is what ends lost leases.
      const runner = createRunner({
        db: watched(db, boundary),
        seal: createSeal([SEAL_KEY]),
        send: async (request) => {
          await boundary(`before send ${request.headers['webhook-id']}`)
          const result = await send(request)
          await boundary(`after send ${request.headers['webhook-id']}`)
          return result
        },
        allow,
        feeds: [feed],
        fetch,
        contact: undefined,
        // Each zone in a transaction of its own: there is a boundary between any two.
        portions: { at_once: 1, ahead: 2 },
        public_url: null,
        log: () => undefined,
      })
      // A statement that failed under the runner's feet is what this is about.
      await runner.drain({ budget_ms: 60_000 }).catch(() => undefined)
      if (!(await hurry(admin))) return
    }
    throw new Error(`the jobs did not come to rest in ${MAX_TURNS} turns`)
  }
  try {
    await idle()
    while ((await roundOf(admin)) < ROUNDS) {
      await admin.query(`update watchpost.sources set next_poll_at = now()`)
      await idle()
    }
    await endTheNight(admin)
    await idle()
  } finally {
    await admin.end()
    await db.end()
  }
}

async function roundOf(admin: pg.Client): Promise<number> {
  const { rows } = await admin.query(
    `select coalesce((state ->> 'round')::int, 0) as round from watchpost.sources where source = 'crash'`,
  )
  return rows[0].round
}

/** Time passes: leases run out and waits are over, but for the night. Says whether work is due. */
async function hurry(admin: pg.Client): Promise<boolean> {
  await admin.query(
    `update pgboss.job set started_on = started_on - interval '1 hour' where state = 'active'`,
  )
  await admin.query(
    `update pgboss.job set start_after = now()
    where state in ('created', 'retry') and not (name = 'release' and state = 'created')`,
  )
  await admin.query(
    'update pgboss.queue set monitor_on = null, monitor_claim_on = null where name in (select name from pgboss.queue for update skip locked)',
  )
  const { rows } = await admin.query(
    `select from pgboss.job
    where state = 'active' or (state in ('created', 'retry') and start_after <= now())`,
  )
  return rows.length > 0
}

/** The end of the quiet hours comes: what was held is due. */
async function endTheNight(admin: pg.Client): Promise<void> {
  await admin.query(`update watchpost.alerts set held_until = now() where status = 'held'`)
  await admin.query(`update watchpost.deliveries set next_attempt_at = now() where status = 'held'`)
  await admin.query(
    `update pgboss.job set start_after = now() where name = 'release' and state = 'created'`,
  )
}

if (import.meta.main) {
  const orders: Orders = JSON.parse(process.argv[2] ?? '')
  const boundaries: string[] = []
  await runStory(orders, (where) => {
    boundaries.push(where.replaceAll(/\s+/g, ' ').slice(0, 120))
    if (boundaries.length !== orders.die_at) return
    process.stdout.write(where, () => process.kill(process.pid, 'SIGKILL'))
    // Nothing goes on until the signal arrives.
    return new Promise(() => undefined)
  })
  process.stdout.write(JSON.stringify(boundaries))
}
