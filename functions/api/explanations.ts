import { z } from 'zod'
import {
  groupMainshocks,
  type MainshockState,
  type Mainshocks,
} from '../../shared/decide/aftershock.ts'
import { AlertStep } from '../../shared/decide/alert-step.ts'
import type { BurstMemory } from '../../shared/decide/burst.ts'
import type { DecidableEvent } from '../../shared/decide/checks.ts'
import { Check } from '../../shared/decide/checks.ts'
import { decide, decisionCost } from '../../shared/decide/decide.ts'
import { type Memory, memoryKey } from '../../shared/decide/match-memory.ts'
import { type PreparedZone, prepareZone } from '../../shared/geometry/geometry.ts'
import type { Steps } from '../../shared/geometry/steps.ts'
import { notFound } from '../../shared/problem.ts'
import { createRoute, jsonResponse, resource, respond } from '../../shared/route.ts'
import { ZoneFields } from '../../shared/schemas/zone.ts'
import {
  type OwnerState,
  offReason,
  parseZoneVersion,
  type ZoneVersion,
} from '../../shared/schemas/zone-version.ts'
import type { Sql } from '../../shared/sql.ts'
import { Instant } from '../../shared/time.ts'
import { can } from '../auth.ts'
import type { Ctx, Env } from '../context.ts'
import { credentialId } from '../credential.ts'
import { problems } from '../http.ts'
import { selectMainshocks } from '../mainshocks.ts'
import { limitConcurrency, runInSlices } from '../scheduling.ts'
import { readInSteps } from '../transaction.ts'
import { tooMuchWork } from './zones/zone-check.ts'
import { selectZone } from './zones/zone-rows.ts'
import { ZoneId } from './zones.ts'

/** About two seconds of work, in slices. */
const MAX_UNITS = 40_000_000

const ExplainQuery = z.strictObject({
  event_id: z.string().max(255).meta({ description: 'The current or a former id of an event.' }),
})
const Explanation = z
  .object({
    zone_id: z.uuid(),
    event_id: z.string(),
    at: Instant.meta({
      description: 'When the decision was made: the time at which that revision was first seen.',
    }),
    zone_version: z.int(),
    live: z.boolean().meta({
      description:
        'False: as it was decided at the time. True: it was never decided, so this is the decision as of now.',
    }),
    raised: z.boolean(),
    reason: z.string(),
    checks: z.array(Check),
    escalation: z
      .array(AlertStep)
      .nullable()
      .meta({
        description:
          'The steps of the alert and what became of each, oldest first; with their steps anew after each escalation. Empty ' +
          'when the zone had no steps when the alert was sent, or while it is held. Null where there is no alert.',
      }),
  })
  .meta({ id: 'Explanation' })

type RevisionRow = DecidableEvent & {
  first_seen_at: string
  revision: number
  /** Whether matching has decided it. */
  is_decided: boolean
  /** Whether everybody who read the zone could see it then, and could now. */
  is_heard: boolean
  is_heard_now: boolean
}

export const explanations = resource<Env>()

explanations.openapi(
  createRoute({
    method: 'get',
    path: '/{id}/explain',
    operationId: 'explainZone',
    tags: ['Zones'],
    summary: 'Explain why an event did or did not raise an alert in the zone',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: ZoneId, query: ExplainQuery },
    responses: {
      200: jsonResponse(Explanation, 'All checks with their numbers.'),
      ...problems(404, 422),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { event_id } = c.req.valid('query')
    const explanation = await limitConcurrency(await credentialId(c), () =>
      explain(c, id, event_id),
    )
    return respond(c, Explanation, explanation, 200)
  },
)

type AlertRow = {
  checks: Check[]
  raised_at: string
  zone_version: number
  reason: string
  escalation: AlertStep[]
}
type VersionRow = { version: number; valid_from: string; definition: unknown }
type History = {
  versions: VersionRow[]
  states: OwnerState[]
  mainshocks: Mainshocks
  /** When the zone sent alerts at once, oldest first. */
  sent: string[]
}

/**
 * The decision: from the alert that it raised or was added to because another source reported the same, otherwise replayed
 * from the stored revisions and zone versions.
 */
async function explain(c: Ctx, zoneId: string, eventId: string) {
  const found = await readInSteps(c, async (sql, last) => {
    const [zones, events] = await Promise.all([
      selectZone(sql, zoneId),
      sql<RevisionRow>`select * from private.revisions_of(${eventId}, ${zoneId})`,
    ])
    const zone = zones[0]
    if (!zone) throw notFound('zone')
    const event = events.at(-1)
    if (!event) throw notFound('event')
    const decided = Promise.all([
      sql<AlertRow>`
        select checks, raised_at, zone_version, first_reason as reason, private.steps_json(id) as escalation
        from watchpost.alerts
        where zone_id = ${zoneId} and event_id = ${event.id}
        union all
        select m.checks, m.added_at, m.zone_version, m.reason, private.steps_json(m.alert_id)
        from watchpost.alert_events m
        where m.zone_id = ${zoneId} and m.event_id = ${event.id}`,
      sql<VersionRow>`
        select v.version, v.valid_from, private.version_definition(v) as definition
        from watchpost.zone_versions v
        where v.zone_id = ${zoneId}
        order by v.version`,
      sql<RevisionRow>`select * from private.stay_before(${event.id}, ${event.subject}, ${zoneId})`,
      sql<OwnerState>`select * from private.owner_states(${zoneId})`,
      selectSent(sql, zoneId, event.first_seen_at),
      event.type === 'earthquake' ? selectCauses(sql, events) : [],
    ])
    const [alerts, versions, before, states, sent, causes] = await last(decided)
    const swarm = { sent: sent.map(({ at }) => at), mainshocks: groupMainshocks(causes) }
    return {
      zone,
      event,
      events,
      alert: alerts[0],
      before,
      history: { versions, states, ...swarm },
    }
  })
  const { zone, event, alert, history } = found
  const base = { zone_id: zoneId, event_id: event.id }
  if (alert) {
    return {
      ...base,
      at: alert.raised_at,
      zone_version: alert.zone_version,
      live: false,
      raised: alert.checks.every(({ passed }) => passed),
      reason: alert.reason,
      checks: alert.checks.map(completed),
      escalation: alert.escalation,
    }
  }
  const fields = ZoneFields.parse(zone)
  // What matching has not come to yet was not decided.
  const revisions = [...found.before, ...found.events].filter(({ is_decided }) => is_decided)
  const replayed = await replayedOf(revisions, history, event.id)
  if (replayed) return { ...base, ...replayed, live: false, escalation: null }
  const at = new Date()
  const off = offReason({ ...zone, deleted_at: null }, history.states, at)
  const options = { off, visible: event.is_heard_now, ...swarmAt(history, at) }
  const { raised, reason, checks } = decide(fields, event, null, at, options)
  return {
    ...base,
    at: at.toISOString(),
    zone_version: zone.version,
    live: true,
    raised,
    reason,
    checks,
    escalation: null,
  }
}

/** When the zone sent alerts at once, in the hour before a time and in the last hour; later escalations aside. */
function selectSent(sql: Sql, zoneId: string, at: string) {
  return sql<{ at: string }>`
    select raised_at as at
    from watchpost.alerts
    where zone_id = ${zoneId} and status <> 'suppressed' and held_until is null
      and (raised_at between ${at}::timestamptz - interval '1 hour' and ${at} or raised_at > now() - interval '1 hour')
      and checks @> '[{"name": "duplicate", "alert": null}]'
    order by raised_at
    limit 2000`
}

function selectCauses(sql: Sql, events: RevisionRow[]): Promise<MainshockState[]> {
  const times = events.map(({ ts }) => ts).sort()
  return selectMainshocks(sql, times[0] ?? 'infinity', times.at(-1) ?? '-infinity')
}

/** What a decision at a time depends on besides the event and the zone. */
function swarmAt({ mainshocks, sent }: History, at: Date) {
  const moment = at.toISOString()
  const burst: BurstMemory = {
    kind: 'burst',
    sent: sent.filter((one) => one <= moment),
    until: null,
  }
  return { mainshocks, burst }
}

/** A check as it is stored, which may be older than its newest fields. */
function completed(check: Check): Check {
  if (check.name === 'enabled') return { ...check, reason: check.reason ?? null }
  if (check.name === 'filter') return { ...FILTER_OF_OLD, ...check }
  if (check.name === 'duplicate') {
    const { linked_event_id = null, link = null } = check
    return { ...check, linked_event_id, link }
  }
  return check
}

const FILTER_OF_OLD = {
  visible: true,
  ...{ late: false, delay_hours: 0, news_for_hours: null, ends_at: null, flag: null },
}

async function replayedOf(revisions: RevisionRow[], history: History, eventId: string) {
  try {
    return await runInSlices(replay(revisions, history, eventId), MAX_UNITS)
  } catch (error) {
    const wayOut = `Replaying ${revisions.length} revisions against a shape with this many vertices takes too long. Preview the zone for the days around the event instead.`
    throw tooMuchWork(error, wayOut)
  }
}

type Replayed = {
  at: string
  zone_version: number
  raised: boolean
  reason: string
  checks: Check[]
}

/** Decides each revision with the zone as it was when the revision was first seen; returns the last decision on the event. */
function* replay(
  revisions: RevisionRow[],
  history: History,
  eventId: string,
): Steps<Replayed | undefined> {
  const { versions, states, mainshocks } = history
  const memories = new Map<string, Memory>()
  const shapes = new Map<VersionRow, PreparedZone<ZoneVersion>>()
  let last: Replayed | undefined
  for (const event of revisions) {
    const version = versions.findLast(({ valid_from }) => valid_from <= event.first_seen_at)
    if (!version) continue
    const zone = shapes.get(version) ?? prepareZone(parseZoneVersion(version.definition))
    shapes.set(version, zone)
    yield decisionCost(zone, event, mainshocks)
    const key = memoryKey(event)
    const at = new Date(event.first_seen_at)
    const off = offReason(zone.zone, states, at)
    const options = { off, visible: event.is_heard, ...swarmAt(history, at) }
    const decision = decide(zone, event, memories.get(key) ?? null, at, options)
    if (decision.memory) memories.set(key, decision.memory)
    if (event.id !== eventId) continue
    const { raised, reason, checks } = decision
    last = { at: event.first_seen_at, zone_version: version.version, raised, reason, checks }
  }
  return last
}
