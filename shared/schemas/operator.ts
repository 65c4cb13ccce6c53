import { z } from 'zod'

/**
 * What the operator page is told: an answer passes through its schema, so that nothing is shown that stands not here. Of
 * what people keep here it says how much there is and in which state, never where, for whom or what about.
 */

/** A time as the database gives it, or as JSON has it. */
const Time = z.union([z.date().transform((at) => at.toISOString()), z.iso.datetime()])
const Count = z.coerce.number()

/** The header with the half of the session's secret that the page keeps. */
export const PAGE_HEADER = 'x-operator-page'

export const OperatorSession = z.object({ operator: z.string(), expires_at: Time })
export type OperatorSession = z.output<typeof OperatorSession>
export const OperatorSignedIn = OperatorSession.extend({ page: z.string() })
export type OperatorSignedIn = z.output<typeof OperatorSignedIn>

export const OperatorHealth = z.object({
  /** Why not all is well, in sentences; empty: it is. */
  reasons: z.array(z.string()),
  version: z.string(),
  node: z.string(),
  started_at: Time,
  database: z.object({
    version: z.string(),
    migration: z.string().nullable(),
    bytes: Count,
    connections: Count,
    max_connections: Count,
    /** Of the oldest transaction that is open. */
    transaction_seconds: Count.nullable(),
    started_at: Time,
  }),
  replicas: z.array(
    z.object({ name: z.string(), state: z.string().nullable(), lag_seconds: Count.nullable() }),
  ),
  /** What runs by itself, and when it did last. */
  runs: z.array(z.object({ name: z.enum(['ingest', 'purge', 'heartbeat']), at: Time.nullable() })),
  /** Of the last call of HEARTBEAT_URL. */
  heartbeat_error: z.string().nullable(),
  feeds: z.array(z.object({ status: z.string(), count: Count })),
  accounts: z.array(z.object({ plan: z.string(), count: Count })),
  alerts_24h: Count,
})
export type OperatorHealth = z.output<typeof OperatorHealth>

export const OperatorFeed = z.object({
  source: z.string(),
  title: z.string(),
  status: z.enum(['ok', 'stale', 'down', 'disabled']),
  interval_seconds: Count,
  last_success_at: Time.nullable(),
  last_event_at: Time.nullable(),
  next_poll_at: Time.nullable(),
  events_1h: Count,
  events_24h: Count,
  items_24h: Count,
  rejected_24h: Count,
  rejected_reason: z.string().nullable(),
  /** Half of the events of a day were here within this time. */
  lag_seconds: Count.nullable(),
  error: z.string().nullable(),
  /** Whether this service is set up to poll it. */
  enabled: z.boolean(),
  /** Since when an operator has it paused; `error` says why. */
  paused_at: Time.nullable(),
})
export type OperatorFeed = z.output<typeof OperatorFeed>
export const OperatorFeeds = z.object({ feeds: z.array(OperatorFeed) })

const OperatorQueue = z.object({
  queue: z.string(),
  waiting: Count,
  later: Count,
  running: Count,
  oldest_seconds: Count,
  failed: Count,
  oldest_failed_seconds: Count.nullable(),
  /** Jobs that were done in the last five minutes. */
  done_5min: Count,
})
export const OperatorQueues = z.object({
  queues: z.array(OperatorQueue),
  deliveries_waiting: z.array(
    z.object({ status: z.string(), count: Count, oldest_seconds: Count }),
  ),
  deliveries_24h: z.array(z.object({ status: z.string(), count: Count })),
})
export type OperatorQueues = z.output<typeof OperatorQueues>

const Cursor = z.string().nullable()

export const OperatorJob = z.object({
  id: z.guid(),
  queue: z.string().nullable(),
  died_at: Time,
  retries: Count.nullable(),
  error: z.string().nullable(),
  about: z.record(z.string(), z.unknown()).nullable(),
})
export type OperatorJob = z.output<typeof OperatorJob>
export const OperatorJobs = z.object({ dead_jobs: z.array(OperatorJob), next_cursor: Cursor })

const PLANS = ['free', 'pro', 'enterprise'] as const

export const OperatorAccount = z.object({
  user_id: z.guid(),
  email: z.string(),
  plan: z.enum(PLANS),
  keys: Count,
  zones: Count,
  channels: Count,
  organisations: z.string().nullable(),
  last_used_at: Time.nullable(),
  banned_until: Time.nullable(),
  signed_up_at: Time,
})
export type OperatorAccount = z.output<typeof OperatorAccount>
export const OperatorAccounts = z.object({
  accounts: z.array(OperatorAccount),
  next_cursor: Cursor,
})

export const OperatorKey = z.object({
  id: z.guid(),
  name: z.string().nullable(),
  prefix: z.string(),
  scopes: z.string(),
  state: z.enum(['works', 'paused', 'banned', 'expired', 'revoked']),
  last_used_at: Time.nullable(),
  created_at: Time,
  expires_at: Time.nullable(),
})
export type OperatorKey = z.output<typeof OperatorKey>
export const OperatorAccountDetail = z.object({
  account: OperatorAccount,
  keys: z.array(OperatorKey),
})
export type OperatorAccountDetail = z.output<typeof OperatorAccountDetail>

export const OperatorAct = z.object({
  id: z.guid(),
  at: Time,
  operator: z.string(),
  via: z.enum(['command', 'page']),
  action: z.string(),
  target_type: z.string(),
  target_id: z.string().nullable(),
  /** The address of the account, where it is one that still exists. */
  email: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
})
export type OperatorAct = z.output<typeof OperatorAct>
export const OperatorActs = z.object({ acts: z.array(OperatorAct), next_cursor: Cursor })

/** What an operator may ask for, and what it answers. */
export const OperatorLink = z.object({ url: z.string(), email: z.string(), expires_at: Time })
export type OperatorLink = z.output<typeof OperatorLink>
export const OperatorRedriven = z.object({ redriven: Count, remaining: Count, unroutable: Count })
export type OperatorRedriven = z.output<typeof OperatorRedriven>

const Reason = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(200, 'must be at most 200 characters')
export const SignInBody = z.strictObject({ token: z.string().min(1).max(200) })
export const PlanBody = z.strictObject({ plan: z.enum(PLANS) })
export const RedriveBody = z.strictObject({
  job: z.guid().optional(),
  queue: z.string().min(1).max(100).optional(),
})
export const DiscardBody = z.strictObject({ reason: Reason })
export const PauseBody = z.strictObject({ reason: Reason })
