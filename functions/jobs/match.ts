import { BURST_KEY } from '../../shared/decide/burst.ts'
import type { DecidableEvent } from '../../shared/decide/checks.ts'
import { type DecideOptions, decisionCost } from '../../shared/decide/decide.ts'
import { decideLinked, type LinkedDecision } from '../../shared/decide/decide-linked.ts'
import {
  LINK_RULES,
  type LinkRule,
  linkFactsOf,
  linkKeys,
  linkRuleOf,
} from '../../shared/decide/link.ts'
import type { Remembered } from '../../shared/decide/link-groups.ts'
import { isSeenAgain, type Memory, memoryKey } from '../../shared/decide/match-memory.ts'
import type { PreparedZone } from '../../shared/geometry/geometry.ts'
import { isMoving } from '../../shared/schemas/event.ts'
import type { ZoneFields } from '../../shared/schemas/zone.ts'
import type { Sql } from '../../shared/sql.ts'
import { createPacer } from '../scheduling.ts'
import {
  NO_TRACING,
  type Origin,
  originOf,
  type Tracing,
  traceparentOf,
} from '../tracing/tracing.ts'
import { Effects } from './effects.ts'
import {
  type Ahead,
  type Candidate,
  lockMemories,
  lookAhead,
  type MemoryRow,
  PORTIONS,
  type Portions,
} from './match-ahead.ts'
import { decideSlices, takeStep } from './match-slices.ts'
import { each, type JobContext, type Queue } from './queue.ts'
import { loadMainshocks, lockBursts } from './swarm.ts'
import { loadZones } from './zone-cache.ts'
import type { ZoneIndex } from './zone-index.ts'
import type { ZoneMirror } from './zone-mirror.ts'

/** A burst that takes longer lets the messages out as fast as they go again. */
const MAX_FIRST_MS = 30_000

/**
 * Matches a source's batches with the zones near their events. A job only wakes this up: batches of
 * a source are matched in the order of their arrival, whichever process runs the job.
 */
export const match: Queue = {
  name: 'match',
  slots: 2,
  // The job of a batch has its id.
  origins: async (sql, jobs) => {
    const rows = await sql<Batch>`
      select id, trace from watchpost.batches where id = any(${jobs.map(({ id }) => id)}::uuid[])`
    return new Map(rows.map(({ id, trace }) => [id, originOf(trace)]))
  },
  run: each(async (context, job) => {
    const source = job.data.source ?? ''
    const counts = { batches: 0, revisions: 0, pairs: 0, alerts: 0, updates: 0, thinned: 0 }
    const { tracing, deps } = context
    const portions = deps.portions ?? PORTIONS
    const { step } = context
    const began = performance.now()
    const given = { source, job_id: job.id, counts, tracing, portions, zones: deps.zones, step }
    let ahead: Ahead | null = null
    let isBurst = false
    for (;;) {
      const next = (): Promise<Done | null> => step((sql) => matchNext(sql, { ...given, ahead }))
      const isFirst: boolean = isBurst && performance.now() - began < MAX_FIRST_MS
      const done: Done | null = await (isFirst ? context.first(next) : next())
      if (!done) break
      counts.batches += done.ended
      ahead = done.ahead
      isBurst = done.ended === 0
    }
    await context.finish(job, async () => undefined)
    return { source, ...counts }
  }),
}

type Counts = {
  revisions: number
  pairs: number
  alerts: number
  updates: number
  thinned: number
}

type Run = {
  source: string
  job_id: string
  counts: Counts
  tracing: Tracing
  portions: Portions
  zones: ZoneMirror | undefined
  ahead: Ahead | null
  /** A transaction of its own. */
  step: JobContext['step']
}

/** What a step did: how many batches it ended, or what is ahead of those that it has begun. */
type Done = { ended: number; ahead: Ahead | null }

/**
 * Matches the oldest unmatched batches of a source in the caller's transaction; null when there are none. Those of one answer
 * are decided together, so that a source that sends its events one by one is no slower than one that sends many at once.
 * Batches that concern very many zones take several steps, each with the next zones by their ids, so that the first
 * messages leave at once and no step holds everything in memory.
 */
async function matchNext(sql: Sql, run: Run): Promise<Done | null> {
  const { source, job_id, counts, tracing, portions } = run
  // Sent together, run in order: which batches are next is only known behind the lock.
  const [, [next], [begun], index] = await Promise.all([
    sql`select pg_advisory_xact_lock(hashtextextended(${`match:${source}`}, 0))`,
    sql<{ ids: string[] }>`select private.next_batches(${source}) as ids`,
    sql<{ matched_to: string }>`
      select matched_to from watchpost.batches
      where source = ${source} and matched_at is null and matched_to is not null
      limit 1`,
    // As of after the batches were found, so that no zone is missing that one of their events could concern.
    run.zones?.follow(sql),
  ])
  const ids = next?.ids ?? []
  if (ids.length === 0) return null
  const origin = tracing.is_on ? await originOfBatches(sql, ids, job_id) : {}
  return tracing.span({ name: 'match', ...origin }, async () => {
    const after = begun?.matched_to ?? null
    const isSame = run.ahead?.after === after && run.ahead.ids.join() === ids.join()
    if (isSame && run.ahead) return matchSome(sql, run.ahead, run, index)
    const ahead = await lookAhead(sql, { ids, after }, portions, index)
    if (after === null) counts.revisions += ahead.candidates.length
    return matchSome(sql, ahead, run, index)
  })
}

type Batch = { id: string; trace: string | null }

/** The trace of the oldest batch goes on, with links to those of the others. A job is in the trace of its own batch. */
async function originOfBatches(sql: Sql, ids: string[], job_id: string): Promise<Origin> {
  const rows = await sql<Batch>`
    select id, trace from watchpost.batches where id = any(${ids}::uuid[])`
  const [first, ...others] = ids.map((id) => rows.find((row) => row.id === id)?.trace ?? null)
  const links = others.flatMap((trace) => (trace ? [traceparentOf(trace)] : []))
  return { ...(ids[0] === job_id ? {} : originOf(first)), links }
}

/** Matches the next zones of batches, and ends these with the last of them. */
async function matchSome(
  sql: Sql,
  ahead: Ahead,
  { counts, tracing, portions, step }: Run,
  index: ZoneIndex | undefined,
): Promise<Done> {
  const { ids, candidates, own: memories } = ahead
  const moving = candidates.filter(({ subject }) => isMoving(subject)).map(({ id }) => id)
  const passing = moving.length > 0 ? await passingOf(sql, ids) : undefined
  const { slices, last, rest } = takeStep(ahead, portions, moving.length > 0)
  if (slices.length > 1) await lockLinks(sql, new Set(candidates.map(linkRuleOf)))
  const done = await decideSlices(
    { sql, step, slices, abreast: portions.abreast },
    (own, { candidates, zone_ids }) =>
      decideAll(own, candidates, ids[0] ?? '', {
        tracing,
        is_part: zone_ids !== undefined,
        index,
        memories,
        passing,
        is_locked: own !== sql,
      }),
  )
  for (const { pairs, alerts, updates } of done) {
    counts.pairs += pairs
    counts.alerts += alerts
    counts.updates += updates
  }
  const decisive = moving.filter((id) => done.some((one) => one.decisive.has(id)))
  if (last !== null) {
    await sql`select private.pass_batches(${ids}::uuid[], ${last}, ${decisive})`
    return { ended: 0, ahead: rest }
  }
  const [row] = await sql<{ thinned: number }>`
    select private.end_batches(${ids}::uuid[], ${decisive}) as thinned`
  counts.thinned += row?.thinned ?? 0
  return { ended: ids.length, ahead: null }
}

/** The positions of batches that are no samples: unless they are decisive, they are deleted when they are matched. */
async function passingOf(sql: Sql, ids: string[]): Promise<Set<string>> {
  const rows = await sql<{ event_id: string }>`
    select event_id from watchpost.passing_positions where batch_id = any(${ids}::uuid[])`
  return new Set(rows.map(({ event_id }) => event_id))
}

/**
 * Decides every candidate with each of its zones, as the zone was when the revision was first seen
 * (or at `at`), and stores the results: alerts, deliveries, their jobs, and match memory.
 */
export async function decideAll(
  sql: Sql,
  candidates: Candidate[],
  runId: string,
  {
    tracing = NO_TRACING,
    is_part = false,
    index,
    memories: locked,
    passing,
    is_locked = false,
    ...options
  }: {
    at?: Date
    tracing?: Tracing
    /** Whether the zones of the candidates may be few of those that remember the events. */
    is_part?: boolean
    /** The zones in memory, as they are for this transaction. */
    index?: ZoneIndex | undefined
    /** What is remembered of the candidates, where this transaction has it and its locks. */
    memories?: MemoryRow[] | undefined
    /** Positions that are no samples. */
    passing?: ReadonlySet<string> | undefined
    /** Another transaction, which waits for this one, has the locks. */
    is_locked?: boolean
  } = {},
): Promise<{ pairs: number; alerts: number; updates: number; decisive: Set<string> }> {
  const zones = await loadZones(sql, candidates, options.at, index)
  if (!is_locked) await lockLinks(sql, new Set(candidates.map(linkRuleOf)))
  const memories = await loadMemories(sql, candidates, is_part, locked)
  const mainshocks = await loadMainshocks(sql, zones.all, candidates)
  const bursts = await lockBursts(sql, zones.all)
  const effects = new Effects(runId)
  // Pauses regularly, because the API may run in this process.
  const pace = createPacer()
  let pairs = 0
  const decisive = new Set<string>()
  for (const event of candidates) {
    const at = options.at ?? new Date(event.first_seen_at)
    const key = memoryKey(event)
    const own = memoriesOf(memories, key)
    for (const zoneId of event.zone_ids) {
      const zone = zones.at(zoneId, at)
      if (!zone) continue
      pairs += 1
      await pace(decisionCost(zone.prepared, event, mainshocks))
      const before = own.get(zoneId) ?? null
      const remembered: Remembered = (other) =>
        (other === key ? own : memories.get(other))?.get(zoneId) ?? null
      const burst = bursts.get(zoneId) ?? null
      const facts = { mainshocks, burst }
      const decision = decidePair(zone.prepared, event, remembered, at, facts)
      if (isDecisive(decision, before)) decisive.add(event.id)
      for (const [key, memory] of decision.memories) {
        const was = remembered(key)
        // Where it only saw a subject again, what remains is the sample before, as for whoever explains it later.
        const isGone = passing?.has(event.id) && isSeenAgain(was, memory)
        if (!isGone) effects.remember(zoneId, key, memory, was)
        memoriesOf(memories, key).set(zoneId, memory)
      }
      if (decision.burst && decision.burst !== burst) {
        bursts.set(zoneId, decision.burst)
        effects.remember(zoneId, BURST_KEY, decision.burst)
      }
      if (decision.outcome !== 'none') effects.alert(zone, event, decision, at)
      if (decision.update) effects.update(zone, event, decision, decision.update, at)
    }
  }
  await effects.store(sql, tracing)
  return { pairs, alerts: effects.alertCount, updates: effects.updateCount, decisive }
}

/**
 * Whether a later decision would differ without this one: a stay began, was completed or ended, or its alert
 * changed. That the subject was merely seen again is told by the next sample as well.
 */
function isDecisive({ memory, outcome, update }: LinkedDecision, before: Memory | null): boolean {
  if (outcome !== 'none' || update) return true
  if (!memory || memory === before) return false
  return !isSeenAgain(before, memory)
}

/** Brief first: most pairs fail early, and only those with an effect need all numbers. One that passes has them. */
function decidePair(
  prepared: PreparedZone<ZoneFields>,
  event: DecidableEvent,
  remembered: Remembered,
  at: Date,
  options: DecideOptions,
): LinkedDecision {
  const brief = decideLinked(prepared, event, remembered, at, { ...options, brief: true })
  if (brief.failed_at === null || (brief.outcome === 'none' && !brief.update)) return brief
  return decideLinked(prepared, event, remembered, at, options)
}

/**
 * Events of several sources are linked one batch at a time: two at once would not see each other's alerts. What only
 * one source reports, such as positions, waits for nobody. Always after the lock of the source, in a fixed order.
 */
export async function lockLinks(
  sql: Sql,
  rules: ReadonlySet<LinkRule | null> = new Set(LINK_RULES),
): Promise<void> {
  for (const rule of LINK_RULES) {
    if (!rules.has(rule)) continue
    await sql`select pg_advisory_xact_lock(hashtextextended(${`link:${rule}`}, 0))`
  }
}

/** What zones remember, by its key and then by the zone. */
type Memories = Map<string, Map<string, Memory>>

function memoriesOf(memories: Memories, key: string): Map<string, Memory> {
  const known = memories.get(key)
  if (known) return known
  const made = new Map<string, Memory>()
  memories.set(key, made)
  return made
}

async function loadMemories(
  sql: Sql,
  candidates: Candidate[],
  isPart: boolean,
  known: MemoryRow[] | undefined,
): Promise<Memories> {
  const own = isPart
    ? await lockPairs(sql, candidates)
    : (known ?? (await lockMemories(sql, candidates.map(memoryKey))))
  const linked = candidates.flatMap((event) => {
    const rule = linkRuleOf(event)
    return rule ? [{ keys: linkKeys(rule, linkFactsOf(event)), zones: event.zone_ids }] : []
  })
  const links =
    linked.length === 0
      ? []
      : await sql<MemoryRow>`
          select zone_id, key, memory, seen_at from watchpost.match_memory
          where zone_id = any(${distinct(linked.flatMap(({ zones }) => zones))}::uuid[])
            and key = any(${distinct([...linked.flatMap(({ keys }) => keys), ...own.flatMap(linkOf)])})
          for update`
  const memories: Memories = new Map()
  for (const rows of [own, links]) {
    for (const row of rows) memoriesOf(memories, row.key).set(row.zone_id, memoryOf(row))
  }
  return memories
}

/** In the same order as lockMemories, of the zones of each candidate alone. */
function lockPairs(sql: Sql, candidates: Candidate[]): Promise<MemoryRow[]> {
  const keys = candidates.flatMap((event) =>
    new Array<string>(event.zone_ids.length).fill(memoryKey(event)),
  )
  return sql<MemoryRow>`
    select m.*
    from (
      select distinct zone_id, key
      from unnest(${candidates.flatMap(({ zone_ids }) => zone_ids)}::uuid[], ${keys}::text[]) as given (zone_id, key)
      order by zone_id, key
    ) p
    -- Offset 0: looked up one by one, in this order, however many of an event there are.
    cross join lateral (
      select zone_id, key, memory, seen_at from watchpost.match_memory
      where zone_id = p.zone_id and key = p.key
      offset 0
      for update
    ) m`
}

function memoryOf({ memory, seen_at }: MemoryRow): Memory {
  const isLater = memory.kind === 'stay' && seen_at !== null && seen_at > memory.last_seen_at
  return isLater ? { ...memory, last_seen_at: seen_at } : memory
}

const linkOf = ({ memory }: MemoryRow) =>
  memory.kind === 'event' && memory.link ? [memory.link.key] : []

const distinct = (texts: string[]) => [...new Set(texts)]
