import { z } from 'zod'
import type { DecidableEvent } from '../../shared/checks.ts'
import { Check } from '../../shared/checks.ts'
import { decide, decisionCost } from '../../shared/decide.ts'
import { boxesOf, type PreparedZone, prepareZone } from '../../shared/geometry/geometry.ts'
import type { Steps } from '../../shared/geometry/work.ts'
import type { Memory } from '../../shared/memory.ts'
import { integer } from '../../shared/page.ts'
import { memoryKey, Preview, previewInSteps } from '../../shared/preview.ts'
import { ApiError, notFound } from '../../shared/problem.ts'
import { answer, body, createRoute, json, resource } from '../../shared/route.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { Instant } from '../../shared/time.ts'
import { ZoneCreate, ZoneFields, zoneDefaults } from '../../shared/zone.ts'
import { zoneOfVersion } from '../../shared/zone-version.ts'
import { can } from '../auth.ts'
import type { Ctx, Env } from '../context.ts'
import { nameOf } from '../credential.ts'
import { problems } from '../http.ts'
import { read, readInSteps } from '../transaction.ts'
import { inTurns, oneOfFew, turn } from '../turns.ts'
import { requireZone, tooMuch } from './zone-check.ts'
import { selectZone, ZoneId } from './zones.ts'

const MAX_REVISIONS = 200_000
/** As many as are read from the database in about a turn. */
const ROWS_AT_ONCE = 2_000
/** About two seconds of work, in turns. */
const MOST_UNITS = 40_000_000

const PreviewQuery = z.strictObject({
  days: integer(1, 90, 7, 'Today and the days before, UTC.'),
})
const ExplainQuery = z.strictObject({
  event_id: z.string().max(255).meta({ description: 'The id of an event, or an older id of it.' }),
})
const PreviewAnswer = Preview.extend({
  zone_id: z.uuid().nullable().meta({ description: 'Null for a draft.' }),
  days: z.int(),
  data_from: Instant.meta({ description: 'The oldest stored revision the window could use.' }),
}).meta({ id: 'Preview' })
const Explanation = z
  .object({
    zone_id: z.uuid(),
    event_id: z.string(),
    at: Instant.meta({
      description: 'The moment of the decision: when that revision was first seen.',
    }),
    zone_version: z.int(),
    live: z.boolean().meta({
      description: 'False: as it was decided then. True: never decided then, so as of now.',
    }),
    raised: z.boolean(),
    reason: z.string(),
    checks: z.array(Check),
  })
  .meta({ id: 'Explanation' })

type RevisionRow = DecidableEvent & { first_seen_at: string; revision: number; url: string | null }

export const decisions = resource<Env>()

decisions.openapi(
  createRoute({
    method: 'post',
    path: '/preview',
    operationId: 'previewDraft',
    tags: ['Zones'],
    summary: 'What a zone that is not saved yet would have done',
    description: 'Nothing is stored, so the scope `read` suffices.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: PreviewQuery, body: body(ZoneCreate) },
    responses: { 200: json(PreviewAnswer, 'The preview.'), ...problems(413, 415, 422) },
  }),
  async (c) => {
    const { days } = c.req.valid('query')
    const fields = zoneDefaults(c.req.valid('json'))
    await requireZone(c, fields)
    const preview = await oneOfFew(await nameOf(c), async () => {
      const found = await read(c, (sql) => happenedNear(sql, fields, days))
      return previewOf(c, { fields, found, zone_id: null, days })
    })
    return answer(c, PreviewAnswer, preview, 200)
  },
)

decisions.openapi(
  createRoute({
    method: 'get',
    path: '/{id}/preview',
    operationId: 'previewZone',
    tags: ['Zones'],
    summary: 'What the zone, as it is now, would have done',
    description:
      'Folds the decision of live matching over the stored revisions. For a window in which the zone did not change, ' +
      '`count` equals its alerts that are not suppressed and were not held.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: ZoneId, query: PreviewQuery },
    responses: { 200: json(PreviewAnswer, 'The preview.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { days } = c.req.valid('query')
    const preview = await oneOfFew(await nameOf(c), async () => {
      const found = await readInSteps(c, async (sql, last) => {
        const [zone] = await selectZone(sql, id)
        if (!zone) throw notFound('zone')
        const fields = ZoneFields.parse(zone)
        return { fields, found: await last(happenedNear(sql, fields, days)) }
      })
      return previewOf(c, { ...found, zone_id: id, days })
    })
    return answer(c, PreviewAnswer, preview, 200)
  },
)

decisions.openapi(
  createRoute({
    method: 'get',
    path: '/{id}/explain',
    operationId: 'explainZone',
    tags: ['Zones'],
    summary: 'Why an event did or did not raise an alert in the zone',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: ZoneId, query: ExplainQuery },
    responses: { 200: json(Explanation, 'All checks with their numbers.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { event_id } = c.req.valid('query')
    const explanation = await oneOfFew(await nameOf(c), () => explain(c, id, event_id))
    return answer(c, Explanation, explanation, 200)
  },
)

type Near = { rows: RevisionRow[]; now: string; data_from: string }

const boxTexts = (fields: ZoneFields) =>
  boxesOf(fields).map(({ west, south, east, north }) => `(${east},${north}),(${west},${south})`)

/** What a preview decides on, in one trip with whatever else is asked; of much only that it is much. */
async function happenedNear(sql: Sql, fields: ZoneFields, days: number): Promise<Near> {
  const [rows, bounds] = await Promise.all([
    sql<RevisionRow>`
      select * from private.revisions_near(${boxTexts(fields)}::text[]::box[], private.window_start(${days}), now(), ${ROWS_AT_ONCE + 1})`,
    boundsOf(sql, days),
  ])
  return { rows, ...bounds }
}

/** The same of much: a piece a turn, because a hundred thousand rows in one go keep all others waiting. */
async function allNear(sql: Sql, fields: ZoneFields, days: number): Promise<Near> {
  const bounds = await boundsOf(sql, days)
  await sql`
    declare near no scroll cursor for
    select * from private.revisions_near(${boxTexts(fields)}::text[]::box[], private.window_start(${days}), now(), ${MAX_REVISIONS + 1})`
  const zone = prepareZone(fields)
  const rows: RevisionRow[] = []
  let cost = 0
  for (;;) {
    const piece = await sql<RevisionRow>`fetch ${raw(String(ROWS_AT_ONCE))} from near`
    rows.push(...piece)
    for (const row of piece) cost += decisionCost(zone, row)
    if (cost > MOST_UNITS) throw new ApiError('too_much_work', tooDear)
    if (piece.length < ROWS_AT_ONCE) return { rows, ...bounds }
    await turn()
  }
}

async function boundsOf(sql: Sql, days: number) {
  const [bounds] = await sql<{ now: string; data_from: string }>`
    select now(), greatest(private.window_start(${days}), coalesce(
      (select first_seen_at from watchpost.event_revisions order by first_seen_at limit 1), now())) as data_from`
  return bounds ?? { now: new Date().toISOString(), data_from: '' }
}

/** Decided on when the connection is back. */
async function previewOf(
  c: Ctx,
  {
    fields,
    found,
    zone_id,
    days,
  }: { fields: ZoneFields; found: Near; zone_id: string | null; days: number },
) {
  const isMuch = found.rows.length > ROWS_AT_ONCE
  const { rows, now, data_from } = isMuch
    ? await readInSteps(c, (sql) => allNear(sql, fields, days))
    : found
  if (rows.length > MAX_REVISIONS) throw new ApiError('too_much_work', tooManyNear)
  const revisions = rows.map((row) => ({ event: row, first_seen_at: new Date(row.first_seen_at) }))
  const steps = previewInSteps(fields, revisions, { days, now: new Date(now) })
  // As dear again at most twice, for the suggestion.
  return { ...(await inTurns(steps, 4 * MOST_UNITS)), data_from, zone_id, days }
}

const tooManyNear = `Over ${MAX_REVISIONS} revisions of events lie near this zone in that time, more than one preview decides on. Ask for fewer days, or for a smaller zone.`
const tooDear =
  'To decide on all that happened near a shape of so many vertices takes too long for one preview. Ask for fewer days, or for a simpler shape.'

type AlertRow = {
  checks: z.infer<typeof Check>[]
  raised_at: string
  zone_version: number
  reason: string
}
type VersionRow = { version: number; valid_from: string; definition: unknown }

/** What was decided, from the alert that stands for it, or replayed from the kept revisions and versions. */
async function explain(c: Ctx, zoneId: string, eventId: string) {
  const found = await readInSteps(c, async (sql, last) => {
    const [zones, events] = await Promise.all([
      selectZone(sql, zoneId),
      sql<RevisionRow>`select * from private.revisions_of(${eventId})`,
    ])
    const zone = zones[0]
    if (!zone) throw notFound('zone')
    const event = events.at(-1)
    if (!event) throw notFound('event')
    const decided = Promise.all([
      sql<AlertRow>`
        select checks, raised_at, zone_version, first_reason as reason
        from watchpost.alerts
        where zone_id = ${zoneId} and event_id = ${event.id}`,
      sql<VersionRow>`
        select v.version, v.valid_from, private.version_definition(v) as definition
        from watchpost.zone_versions v
        where v.zone_id = ${zoneId}
        order by v.version`,
      sql<RevisionRow>`select * from private.stay_before(${event.id}, ${event.subject})`,
    ])
    const [alerts, versions, before] = await last(decided)
    return { zone, event, events, alert: alerts[0], versions, before }
  })
  const { zone, event, alert, versions } = found
  const base = { zone_id: zoneId, event_id: event.id }
  if (alert) {
    return {
      ...base,
      at: alert.raised_at,
      zone_version: alert.zone_version,
      live: false,
      raised: alert.checks.every(({ passed }) => passed),
      reason: alert.reason,
      checks: alert.checks,
    }
  }
  const fields = ZoneFields.parse(zone)
  const revisions = [...found.before, ...found.events]
  const replayed = await replayedOf(revisions, versions, event.id)
  if (replayed) return { ...base, ...replayed, live: false }
  const at = new Date()
  const { raised, reason, checks } = decide(fields, event, null, at)
  return {
    ...base,
    at: at.toISOString(),
    zone_version: zone.version,
    live: true,
    raised,
    reason,
    checks,
  }
}

async function replayedOf(revisions: RevisionRow[], versions: VersionRow[], eventId: string) {
  try {
    return await inTurns(replay(revisions, versions, eventId), MOST_UNITS)
  } catch (error) {
    const wayOut = `To decide on ${revisions.length} revisions in a shape of so many vertices takes too long. Preview the zone for the days around the event instead.`
    throw tooMuch(error, wayOut)
  }
}

type Replayed = {
  at: string
  zone_version: number
  raised: boolean
  reason: string
  checks: z.infer<typeof Check>[]
}

/** Decides each revision with the zone as it was when it was first seen; the last one of the event is the answer. */
function* replay(
  revisions: RevisionRow[],
  versions: VersionRow[],
  eventId: string,
): Steps<Replayed | undefined> {
  const memories = new Map<string, Memory>()
  const shapes = new Map<VersionRow, PreparedZone<ZoneFields>>()
  let last: Replayed | undefined
  for (const event of revisions) {
    const version = versions.findLast(({ valid_from }) => valid_from <= event.first_seen_at)
    if (!version) continue
    const zone = shapes.get(version) ?? prepareZone(zoneOfVersion(version.definition))
    shapes.set(version, zone)
    yield decisionCost(zone, event)
    const key = memoryKey(event)
    const decision = decide(zone, event, memories.get(key) ?? null, new Date(event.first_seen_at))
    if (decision.memory) memories.set(key, decision.memory)
    if (event.id !== eventId) continue
    const { raised, reason, checks } = decision
    last = { at: event.first_seen_at, zone_version: version.version, raised, reason, checks }
  }
  return last
}
