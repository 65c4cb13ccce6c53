import { z } from 'zod'
import type { MainshockState } from '../../shared/decide/aftershock.ts'
import type { DecidableEvent } from '../../shared/decide/checks.ts'
import { decisionCost } from '../../shared/decide/decide.ts'
import { boxesOf, prepareZone } from '../../shared/geometry/geometry.ts'
import { Preview, previewInSteps } from '../../shared/preview/preview.ts'
import { ApiError, notFound } from '../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource, respond } from '../../shared/route.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  NextCursor,
  splitPage,
} from '../../shared/schemas/page.ts'
import { tracksOnly, ZoneCreate, ZoneFields, zoneDefaults } from '../../shared/schemas/zone.ts'
import { type OwnerState, offReason, parseZoneVersion } from '../../shared/schemas/zone-version.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { Instant } from '../../shared/time.ts'
import { can } from '../auth.ts'
import type { Ctx, Env } from '../context.ts'
import { credentialId } from '../credential.ts'
import { problems } from '../http.ts'
import { selectMainshocks } from '../mainshocks.ts'
import { limitConcurrency, nextSlice, runInSlices } from '../scheduling.ts'
import { read, readInSteps } from '../transaction.ts'
import { requireZone } from './zones/zone-check.ts'
import { selectZone } from './zones/zone-rows.ts'
import { ZoneId } from './zones.ts'

const MAX_REVISIONS = 200_000
/** About as many rows as one slice can process. */
const ROWS_PER_FETCH = 2_000
/** About two seconds of work, in slices. */
const MAX_UNITS = 40_000_000

const PreviewQuery = z.strictObject({
  days: integerParameter(1, 90, 7, 'The window in days: today and the days before, in UTC.'),
  limit: integerParameter(1, 1000, 100, 'The maximum number of events on a page.'),
  cursor: CursorQuery,
})
type PreviewQuery = z.output<typeof PreviewQuery>
const PreviewAnswer = Preview.extend({
  zone_id: z.uuid().nullable().meta({ description: 'Null for a zone that is not saved.' }),
  days: z.int(),
  data_from: Instant.meta({
    description:
      'From when on revisions are stored: the start of the data behind this preview. Of a zone that watches only ' +
      'vessels or aircraft: from when on positions are stored, 48 hours at most.',
  }),
  next_cursor: NextCursor,
}).meta({ id: 'Preview' })
const Position = z.tuple([Instant, z.string()])

type RevisionRow = DecidableEvent & { first_seen_at: string; revision: number; url: string | null }
/** The zone to preview; `history` says when it was off or snoozed. */
type Previewed = {
  fields: ZoneFields
  owner_id: string | null
  zone_id: string | null
  history?: ZoneHistory
}
type ZoneHistory = { versions: VersionRow[]; states: OwnerState[] }
type VersionRow = { valid_from: string; definition: unknown }

export const decisions = resource<Env>()

decisions.openapi(
  createRoute({
    method: 'post',
    path: '/preview',
    operationId: 'previewDraft',
    tags: ['Zones'],
    summary: 'Preview a zone that is not saved yet',
    description: 'Nothing is stored, so the scope `read` is enough. A snooze is not applied.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: PreviewQuery, body: jsonBody(ZoneCreate) },
    responses: { 200: jsonResponse(PreviewAnswer, 'The preview.'), ...problems(413, 415, 422) },
  }),
  async (c) => {
    const query = c.req.valid('query')
    const fields = zoneDefaults(c.req.valid('json'))
    await requireZone(c, fields)
    const zone = { fields, owner_id: null, zone_id: null }
    const preview = await limitConcurrency(await credentialId(c), async () => {
      const found = await read(c, (sql) => fetchNear(sql, zone, query.days))
      return previewOf(c, zone, found, query)
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
      'Applies the decision of live matching to every stored revision. For a window in which the zone did not change ' +
      'and was not snoozed, `count` equals its alerts that are not suppressed and were not held. What happened while it was ' +
      'deleted, disabled or paused is under `suppressed.enabled`. A snooze is not applied.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: ZoneId, query: PreviewQuery },
    responses: { 200: jsonResponse(PreviewAnswer, 'The preview.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const query = c.req.valid('query')
    const preview = await limitConcurrency(await credentialId(c), async () => {
      const { zone, found } = await readInSteps(c, async (sql, last) => {
        const [[row], history] = await Promise.all([selectZone(sql, id), historyOf(sql, id)])
        if (!row) throw notFound('zone')
        const { owner_id } = row
        const zone = { fields: ZoneFields.parse(row), owner_id, zone_id: id, history }
        return { zone, found: await last(fetchNear(sql, zone, query.days)) }
      })
      return previewOf(c, zone, found, query)
    })
    return respond(c, PreviewAnswer, preview, 200)
  },
)

type NearRevisions = {
  rows: RevisionRow[]
  now: string
  data_from: string
  mainshocks: MainshockState[]
}

const boxTexts = (fields: ZoneFields) =>
  boxesOf(fields).map(({ west, south, east, north }) => `(${east},${north}),(${west},${south})`)

async function historyOf(sql: Sql, id: string): Promise<ZoneHistory> {
  const [versions, states] = await Promise.all([
    sql<VersionRow>`
      select valid_from, definition from watchpost.zone_versions where zone_id = ${id} order by version`,
    sql<OwnerState>`select * from private.owner_states(${id})`,
  ])
  return { versions, states }
}

/** Days before the window whose alerts tell how many were sent in the hour before its first. */
const BURST_DAYS = 1

/** Where, from which day on and for whom revisions_near looks. */
function near({ fields, owner_id }: Previewed, days: number) {
  const before = fields.max_alerts_per_hour === null ? 0 : BURST_DAYS
  return [boxTexts(fields), days + before, owner_id, fields.org_id] as const
}

/** The revisions near a zone, at most ROWS_PER_FETCH + 1 of them, in one round trip. */
async function fetchNear(sql: Sql, zone: Previewed, days: number): Promise<NearRevisions> {
  const [boxes, window, owner, org] = near(zone, days)
  const [rows, bounds] = await Promise.all([
    sql<RevisionRow>`
      select * from private.revisions_near(
        ${boxes}::text[]::box[], private.window_start(${window}), now(),
        coalesce(${owner}::uuid, private.uid()), ${org}::uuid, ${ROWS_PER_FETCH + 1})`,
    boundsOf(sql, zone, days),
  ])
  return { rows, ...bounds }
}

/** All revisions near a zone, fetched in pieces with a pause after each, so that other requests can run. */
async function fetchAllNear(sql: Sql, previewed: Previewed, days: number): Promise<NearRevisions> {
  const bounds = await boundsOf(sql, previewed, days)
  const [boxes, window, owner, org] = near(previewed, days)
  await sql`
    declare near no scroll cursor for
    select * from private.revisions_near(
      ${boxes}::text[]::box[], private.window_start(${window}), now(),
      coalesce(${owner}::uuid, private.uid()), ${org}::uuid, ${MAX_REVISIONS + 1})`
  const zone = prepareZone(previewed.fields)
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

async function boundsOf(sql: Sql, { fields }: Previewed, days: number) {
  const kept = tracksOnly(fields)
    ? raw('(select first_seen_at from watchpost.positions order by ts limit 1)')
    : raw('(select first_seen_at from watchpost.event_revisions order by first_seen_at limit 1)')
  const [[bounds], mainshocks] = await Promise.all([
    sql<{ now: string; data_from: string }>`
      select now(), greatest(private.window_start(${days}), coalesce(${kept}, now())) as data_from`,
    fields.aftershocks ? selectMainshocks(sql, '-infinity', 'infinity') : [],
  ])
  if (!bounds) throw new Error('a select without a table answers one row')
  return { ...bounds, mainshocks }
}

/** Computes the preview after the connection was released. */
async function previewOf(
  c: Ctx,
  zone: Previewed,
  found: NearRevisions,
  { days, limit, cursor }: PreviewQuery,
) {
  const { zone_id, fields } = zone
  const filter = { list: 'preview', zone_id, days, fields: zone_id ? null : fields }
  const before = await decodeCursor(filter, cursor, Position)
  const isMuch = found.rows.length > ROWS_PER_FETCH
  const { rows, now, data_from, mainshocks } = isMuch
    ? await readInSteps(c, (sql) => fetchAllNear(sql, zone, days))
    : found
  if (rows.length > MAX_REVISIONS) throw new ApiError('too_much_work', TOO_MANY_REVISIONS)
  const revisions = rows.map((row) => ({ event: row, first_seen_at: new Date(row.first_seen_at) }))
  const steps = previewInSteps(fields, revisions, {
    days,
    now: new Date(now),
    data_from: new Date(data_from),
    page: { limit: limit + 1, before },
    mainshocks,
    escalation: fields.escalation,
    ...pastOf(zone.history, days, new Date(now)),
  })
  // The suggestion may decide everything up to two more times.
  const { events, ...preview } = await runInSlices(steps, 4 * MAX_UNITS)
  const { page, last } = splitPage(events, limit)
  const next_cursor = last ? await encodeCursor(filter, [last.raised_at, last.event_id]) : null
  return { ...preview, events: page, next_cursor, data_from, zone_id, days }
}

/** When a zone was off in the past, and whether a snooze touched the window. */
function pastOf(history: ZoneHistory | undefined, days: number, now: Date) {
  if (!history) return {}
  const { states } = history
  const versions = history.versions.map(({ valid_from, definition }) => ({
    ...parseZoneVersion(definition),
    valid_from,
  }))
  const start = new Date(now.toISOString().slice(0, 10)).getTime() - (days - 1) * 86_400_000
  return {
    off_at: (at: Date) => {
      const moment = at.toISOString()
      const version = versions.findLast(({ valid_from }) => valid_from <= moment)
      return version ? offReason(version, states, at) : null
    },
    was_snoozed: versions.some(({ snoozed_until, valid_from }, nr) => {
      if (snoozed_until === null || snoozed_until <= valid_from) return false
      const next = versions[nr + 1]
      // A later version may have taken it back.
      const ends = next && next.valid_from < snoozed_until ? next.valid_from : snoozed_until
      return Date.parse(ends) > start
    }),
  }
}

const TOO_MANY_REVISIONS = `Over ${MAX_REVISIONS} revisions of events lie near this zone in that time, which is too many for one preview. Ask for fewer days or a smaller zone.`
const TOO_EXPENSIVE =
  'A preview with this many events and vertices takes too long. Ask for fewer days or a simpler shape.'
