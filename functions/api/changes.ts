import { z } from 'zod'
import { pause } from '../../shared/pause.ts'
import { ApiError } from '../../shared/problem.ts'
import { createRoute, jsonResponse, resource, respond } from '../../shared/route.ts'
import {
  AlertChange,
  EventChange,
  marked,
  type UnmarkedEvent,
} from '../../shared/schemas/change.ts'
import { decodeCursor, encodeCursor, integerParameter } from '../../shared/schemas/page.ts'
import { raw } from '../../shared/sql.ts'
import { can } from '../auth.ts'
import type { Ctx, Env } from '../context.ts'
import { rateLimited } from '../credential.ts'
import { problems } from '../http.ts'
import { readInSteps } from '../transaction.ts'

const MAX_WAIT_SECONDS = 30
/** How often a waiting request asks the database when nothing wakes it. */
const POLL_MS = 2_000
/** Those who are woken together do not all ask at once, and nobody asks more often than this. */
const SPREAD_MS = 50
const MIN_PAUSE_MS = 250
/** A waiting request counts as one of the account's budget, however often it asks. */
const MAX_WAITING_PER_ACCOUNT = 10

const ListQuery = z.strictObject({
  after: z
    .string()
    .max(8000)
    .optional()
    .meta({
      description:
        'The `next_cursor` of the previous answer. Without it: everything there is, as `upsert`, page by page, and ' +
        'then what changes. `now`: only what changes from now on; the answer is empty and has the cursor.',
    }),
  limit: integerParameter(1, 500, 100, 'The maximum number of changes in an answer.'),
  wait: integerParameter(
    0,
    MAX_WAIT_SECONDS,
    0,
    'How many seconds to wait for a change when there is none. A waiting request holds no database connection.',
  ),
})
const NextCursor = z.string().meta({
  description:
    'Send it as `after` to get what follows; it is there even when there was no change. It works for 30 days.',
})
const AlertPage = z.object({ changes: z.array(AlertChange), next_cursor: NextCursor })
const EventPage = z.object({ changes: z.array(EventChange), next_cursor: NextCursor })

const HOW =
  'Follows the snapshots of the database and not times, so that nothing is lost or told twice when transactions ' +
  'overlap. A change is never told before one that was committed when its transaction began. Several changes of one thing between two answers are told as one, with what it is now. Ask until ' +
  '`changes` is empty, then with `wait`. 410 `cursor_expired`: forget what you have and start without `after`.'

const Snapshot = z.string().regex(/^\d{1,20}:\d{1,20}:[\d,]*$/)
const Position = z.tuple([
  z.uuid(),
  z.int().min(0),
  Snapshot.nullable(),
  Snapshot.nullable(),
  z.string().regex(/^\d{1,20}$/),
  z.string().max(300),
])
/**
 * Where a follower stands: everything that `from` sees has been told, of what `until` sees all up to
 * (`changed_in`, `id`). `from` is null until all there was at the start has been told, and `until` until a
 * page was full.
 */
type Place = {
  epoch: string | null
  seq: number
  from: string | null
  until: string | null
  changed_in: string
  id: string
}
const START = { from: null, until: null, changed_in: '0', id: '' }

type Facts = { epoch: string; horizon: string; has_expired: boolean; is_restored: boolean }
type Row = { changed_in: string; id: string; thing: unknown }

export const changes = resource<Env>()

changes.openapi(
  createRoute({
    method: 'get',
    path: '/alerts/changes',
    operationId: 'listAlertChanges',
    tags: ['Alerts'],
    summary: 'Follow the alerts that the caller can see',
    description: `${HOW} Deliveries count as part of their alert.`,
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: ListQuery },
    responses: { 200: jsonResponse(AlertPage, 'What has changed.'), ...problems(410) },
  }),
  async (c) => {
    const { rows, next_cursor } = await follow(c, 'alert', c.req.valid('query'))
    // safe: respond parses it by its schema
    const told = rows.map(({ thing, ...change }) => ({ ...change, alert: thing }) as AlertChange)
    return respond(c, AlertPage, { changes: told, next_cursor }, 200)
  },
)

changes.openapi(
  createRoute({
    method: 'get',
    path: '/events/changes',
    operationId: 'listEventChanges',
    tags: ['Events'],
    summary: 'Follow the public events and the caller’s own, wherever they are',
    description:
      `${HOW} Events are \`gone\` when they are deleted for their age, too. Positions of vessels and aircraft ` +
      'are not among them; see `GET /events`.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: ListQuery },
    responses: { 200: jsonResponse(EventPage, 'What has changed.'), ...problems(410) },
  }),
  async (c) => {
    const { rows, next_cursor } = await follow(c, 'event', c.req.valid('query'))
    const told = rows.map(({ thing, ...change }) => {
      // safe: the database answers the fields of an event, but for its mark
      const event = change.kind === 'upsert' ? marked(thing as UnmarkedEvent) : thing
      // safe: respond parses it by its schema
      return { ...change, event } as EventChange
    })
    return respond(c, EventPage, { changes: told, next_cursor }, 200)
  },
)

type Thing = 'alert' | 'event'
/** SQL: what a thing is now that news `n` is about, looked up one by one; null when the caller does not see it. */
const AS_THING: Record<Thing, string> = {
  alert: 'told.alert',
  event:
    'case when t.id is not null then private.event_fields(t, (select private.attributions())) end',
}
const THINGS: Record<Thing, string> = {
  alert: `
    left join lateral (select * from watchpost.alerts where id = n.id::uuid offset 0) t on true
    left join lateral private.alert_in_json(t, null) told on t.id is not null`,
  event: 'left join lateral (select * from watchpost.events where id = n.id offset 0) t on true',
}
type Told = { seq: number; kind: 'upsert' | 'gone'; thing: unknown }

/** The changes after a cursor, or those that come while the request waits. */
async function follow(c: Ctx, thing: Thing, { after, limit, wait }: z.output<typeof ListQuery>) {
  const deadline = performance.now() + wait * 1000
  let place = await placeOf(thing, after)
  let leave: (() => void) | undefined
  try {
    for (;;) {
      const { rows, next } = await readChanges(c, thing, place, { limit, now: after === 'now' })
      // The rest of a page may have changed again meanwhile: then what it is now is among the next changes.
      const isBehind = rows.length === 0 && place.until !== null
      place = next
      if (isBehind) continue
      const left = deadline - performance.now()
      const isOver = rows.length > 0 || after === 'now' || left <= 0 || c.req.raw.signal.aborted
      if (isOver) return { rows, next_cursor: await cursorOf(thing, next) }
      leave ??= enter(c.get('caller')?.user_id ?? '')
      const hasEnded = await waitForNews(c, Math.min(left, POLL_MS))
      if (hasEnded) return { rows: [], next_cursor: await cursorOf(thing, next) }
    }
  } finally {
    leave?.()
  }
}

async function readChanges(
  c: Ctx,
  thing: Thing,
  place: Place,
  { limit, now }: { limit: number; now: boolean },
): Promise<{ rows: Told[]; next: Place }> {
  const { from, until, changed_in, id } = place
  const [[facts], rows] = await readInSteps(c, (sql, last) =>
    last(
      Promise.all([
        sql<Facts>`select * from private.change_facts(${from ?? until}::pg_snapshot)`,
        now
          ? []
          : sql<Row>`
            select n.changed_in, n.id, ${raw(AS_THING[thing])} as thing
            from private.${raw(thing)}_news(
              ${from}::pg_snapshot, ${until}::pg_snapshot, ${changed_in}::xid8, ${id}, ${limit + 1}) n
            ${raw(THINGS[thing])}
            order by n.changed_in, n.id collate "C"`,
      ]),
    ),
  )
  if (!facts) throw new Error('change_facts answers one row')
  if (facts.is_restored) {
    const message = 'The database was restored from a backup and is being prepared. Try again.'
    throw new ApiError('unavailable', message)
  }
  if (facts.has_expired || (place.epoch !== null && place.epoch !== facts.epoch)) {
    throw new ApiError(
      'cursor_expired',
      'What was deleted since this cursor is no longer known. Forget what you have stored and start again without "after".',
    )
  }
  const page = rows.slice(0, limit)
  const told = page.map(
    (row, index): Told => ({
      seq: place.seq + index + 1,
      kind: row.thing === null ? 'gone' : 'upsert',
      thing: row.thing ?? { id: row.id },
    }),
  )
  const seen = until ?? facts.horizon
  const base = { epoch: facts.epoch, seq: place.seq + page.length }
  const last = page.at(-1)
  const next =
    last && rows.length > limit
      ? { ...base, from, until: seen, changed_in: last.changed_in, id: last.id }
      : { ...base, ...START, from: seen }
  return { rows: told, next }
}

async function placeOf(thing: Thing, after: string | undefined): Promise<Place> {
  const cursor = after === 'now' ? undefined : after
  const position = await decodeCursor({ changes: thing }, cursor, Position, 'after')
  if (!position) return { ...START, epoch: null, seq: 0 }
  const [epoch, seq, from, until, changed_in, id] = position
  return { epoch, seq, from, until, changed_in, id }
}

function cursorOf(thing: Thing, { epoch, seq, from, until, changed_in, id }: Place) {
  return encodeCursor({ changes: thing }, [epoch, seq, from, until, changed_in, id])
}

const waiting = new Map<string, number>()

/** Counts a waiting request of an account; the result ends it. Throws 429 when too many wait already. */
function enter(account: string): () => void {
  const count = waiting.get(account) ?? 0
  if (count >= MAX_WAITING_PER_ACCOUNT) throw rateLimited(POLL_MS / 1000)
  waiting.set(account, count + 1)
  return () => {
    const left = (waiting.get(account) ?? 1) - 1
    if (left > 0) waiting.set(account, left)
    else waiting.delete(account)
  }
}

/** Waits until there may be news. True when the client has gone or the service is stopping. */
async function waitForNews(c: Ctx, ms: number): Promise<boolean> {
  const { signal } = c.req.raw
  const { news } = c.get('deps')
  const began = performance.now()
  if (!news) await pause(ms, signal)
  else if (await news.wait(ms, signal)) return true
  const waited = performance.now() - began
  const rest = Math.max(MIN_PAUSE_MS - waited, Math.random() * SPREAD_MS)
  if (waited < ms) await pause(Math.min(ms - waited, rest), signal)
  return signal.aborted
}
