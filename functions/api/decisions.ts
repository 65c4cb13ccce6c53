import { z } from 'zod'
import type { DecidableEvent } from '../../shared/checks.ts'
import { Check } from '../../shared/checks.ts'
import { decide, decisionCost } from '../../shared/decide.ts'
import { boxesOf, type PreparedZone, prepareZone } from '../../shared/geometry/geometry.ts'
import type { Steps } from '../../shared/geometry/steps.ts'
import type { Memory } from '../../shared/match-memory.ts'
import { integerParameter } from '../../shared/page.ts'
import { memoryKey, Preview, previewInSteps } from '../../shared/preview.ts'
import { ApiError, notFound } from '../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource, respond } from '../../shared/route.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { Instant } from '../../shared/time.ts'
import { ZoneCreate, ZoneFields, zoneDefaults } from '../../shared/zone.ts'
import { parseZoneVersion } from '../../shared/zone-version.ts'
import { can } from '../auth.ts'
import type { Ctx, Env } from '../context.ts'
import { credentialId } from '../credential.ts'
import { problems } from '../http.ts'
import { limitConcurrency, nextSlice, runInSlices } from '../scheduling.ts'
import { read, readInSteps } from '../transaction.ts'
import { requireZone, tooMuchWork } from './zone-check.ts'
import { selectZone } from './zone-rows.ts'
import { ZoneId } from './zones.ts'

const MAX_REVISIONS = 200_000
/** About as many rows as one slice can process. */
const ROWS_PER_FETCH = 2_000
/** About two seconds of work, in slices. */
const MAX_UNITS = 40_000_000

const PreviewQuery = z.strictObject({
  days: integerParameter(1, 90, 7, 'The window in days: today and the days before, in UTC.'),
})
const ExplainQuery = z.strictObject({
  event_id: z.string().max(255).meta({ description: 'The current or a former id of an event.' }),
})
const PreviewAnswer = Preview.extend({
  zone_id: z.uuid().nullable().meta({ description: 'Null for a zone that is not saved.' }),
  days: z.int(),
  data_from: Instant.meta({
    description: 'From when on revisions are stored: the start of the data behind this preview.',
  }),
}).meta({ id: 'Preview' })
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
    summary: 'Preview a zone that is not saved yet',
    description: 'Nothing is stored, so the scope `read` is enough.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: PreviewQuery, body: jsonBody(ZoneCreate) },
    responses: { 200: jsonResponse(PreviewAnswer, 'The preview.'), ...problems(413, 415, 422) },
  }),
  async (c) => {
    const { days } = c.req.valid('query')
    const fields = zoneDefaults(c.req.valid('json'))
    await requireZone(c, fields)
    const preview = await limitConcurrency(await credentialId(c), async () => {
      const found = await read(c, (sql) => fetchNear(sql, fields, days))
      return previewOf(c, { fields, found, zone_id: null, days })
    })
    return respond(c, PreviewAnswer, preview, 200)
  },
)

decisions.openapi(
  createRoute({
    method: 'get',
    path: '/{id}/preview',
    operationId: 'previewZone',
    tags: ['Zones'],
    summary: 'Preview a zone as it is now',
    description:
      'Applies the decision of live matching to every stored revision. For a window in which the zone did not change, ' +
      '`count` equals its alerts that are not suppressed and were not held.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: ZoneId, query: PreviewQuery },
    responses: { 200: jsonResponse(PreviewAnswer, 'The preview.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { days } = c.req.valid('query')
    const preview = await limitConcurrency(await credentialId(c), async () => {
      const found = await readInSteps(c, async (sql, last) => {
        const [zone] = await selectZone(sql, id)
        if (!zone) throw notFound('zone')
        const fields = ZoneFields.parse(zone)
        return { fields, found: await last(fetchNear(sql, fields, days)) }
      })
      return previewOf(c, { ...found, zone_id: id, days })
    })
    return respond(c, PreviewAnswer, preview, 200)
  },
)

decisions.openapi(
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

type NearRevisions = { rows: RevisionRow[]; now: string; data_from: string }

const boxTexts = (fields: ZoneFields) =>
  boxesOf(fields).map(({ west, south, east, north }) => `(${east},${north}),(${west},${south})`)

/** The revisions near a zone, at most ROWS_PER_FETCH + 1 of them, in one round trip. */
async function fetchNear(sql: Sql, fields: ZoneFields, days: number): Promise<NearRevisions> {
  const [rows, bounds] = await Promise.all([
    sql<RevisionRow>`
      select * from private.revisions_near(${boxTexts(fields)}::text[]::box[], private.window_start(${days}), now(), ${ROWS_PER_FETCH + 1})`,
    boundsOf(sql, days),
  ])
  return { rows, ...bounds }
}

/** All revisions near a zone, fetched in pieces with a pause after each, so that other requests can run. */
async function fetchAllNear(sql: Sql, fields: ZoneFields, days: number): Promise<NearRevisions> {
  const bounds = await boundsOf(sql, days)
  await sql`
    declare near no scroll cursor for
    select * from private.revisions_near(${boxTexts(fields)}::text[]::box[], private.window_start(${days}), now(), ${MAX_REVISIONS + 1})`
  const zone = prepareZone(fields)
  const rows: RevisionRow[] = []
  let cost = 0
  for (;;) {
    const piece = await sql<RevisionRow>`fetch ${raw(String(ROWS_PER_FETCH))} from near`
    rows.push(...piece)
    for (const row of piece) cost += decisionCost(zone, row)
    if (cost > MAX_UNITS) throw new ApiError('too_much_work', TOO_EXPENSIVE)
    if (piece.length < ROWS_PER_FETCH) return { rows, ...bounds }
    await nextSlice()
  }
}

async function boundsOf(sql: Sql, days: number) {
  const [bounds] = await sql<{ now: string; data_from: string }>`
    select now(), greatest(private.window_start(${days}), coalesce(
      (select first_seen_at from watchpost.event_revisions order by first_seen_at limit 1), now())) as data_from`
  return bounds ?? { now: new Date().toISOString(), data_from: '' }
}

/** Computes the preview after the connection was released. */
async function previewOf(
  c: Ctx,
  {
    fields,
    found,
    zone_id,
    days,
  }: { fields: ZoneFields; found: NearRevisions; zone_id: string | null; days: number },
) {
  const isMuch = found.rows.length > ROWS_PER_FETCH
  const { rows, now, data_from } = isMuch
    ? await readInSteps(c, (sql) => fetchAllNear(sql, fields, days))
    : found
  if (rows.length > MAX_REVISIONS) throw new ApiError('too_much_work', TOO_MANY_REVISIONS)
  const revisions = rows.map((row) => ({ event: row, first_seen_at: new Date(row.first_seen_at) }))
  const steps = previewInSteps(fields, revisions, { days, now: new Date(now) })
  // The suggestion may decide everything up to two more times.
  return { ...(await runInSlices(steps, 4 * MAX_UNITS)), data_from, zone_id, days }
}

const TOO_MANY_REVISIONS = `Over ${MAX_REVISIONS} revisions of events lie near this zone in that time, which is too many for one preview. Ask for fewer days or a smaller zone.`
const TOO_EXPENSIVE =
  'A preview with this many events and vertices takes too long. Ask for fewer days or a simpler shape.'

type AlertRow = {
  checks: z.infer<typeof Check>[]
  raised_at: string
  zone_version: number
  reason: string
}
type VersionRow = { version: number; valid_from: string; definition: unknown }

/** The decision: from its alert if there is one, otherwise replayed from the stored revisions and zone versions. */
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
    return await runInSlices(replay(revisions, versions, eventId), MAX_UNITS)
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
  checks: z.infer<typeof Check>[]
}

/** Decides each revision with the zone as it was when the revision was first seen; returns the last decision on the event. */
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
    const zone = shapes.get(version) ?? prepareZone(parseZoneVersion(version.definition))
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
