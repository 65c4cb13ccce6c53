import { z } from 'zod'
import { pause } from '../../../shared/pause.ts'
import { notFound } from '../../../shared/problem.ts'
import { createRoute, jsonResponse, pathId, resource, respond } from '../../../shared/route.ts'
import { Drill, DrillRequest, isUnderWay, pretend } from '../../../shared/schemas/drill.ts'
import { integerParameter } from '../../../shared/schemas/page.ts'
import { ZoneFields } from '../../../shared/schemas/zone.ts'
import type { Sql } from '../../../shared/sql.ts'
import { can } from '../../auth.ts'
import type { Ctx, Env } from '../../context.ts'
import { problems } from '../../http.ts'
import { IdempotencyHeader, idempotent } from '../../idempotency.ts'
import { read } from '../../transaction.ts'
import { ZoneId } from '../zones.ts'
import { selectZone } from './zone-rows.ts'

const FIRST_LOOK_MS = 150
const LAST_LOOK_MS = 2_000

const DrillId = ZoneId.extend({ drillId: pathId('The id of a drill.') })
const One = z.object({ drill: Drill })
const Wait = z.strictObject({
  wait: integerParameter(
    0,
    30,
    10,
    'How many seconds to wait for the channels before answering how far it got. A waiting request holds no database connection.',
  ),
})

export const drills = resource<Env>()

drills.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/drill',
    operationId: 'drillZone',
    tags: ['Zones'],
    summary: 'Hold a fire drill: send a marked alert the whole way and report how far it got',
    description:
      'A made-up event is decided and sent by the same jobs as a real one: checks, channels, pace, retries. Each message is ' +
      'marked DRILL, or TATBİKAT in Turkish, in its title; a webhook’s `type` is `alert.raised`, and its `data.drill` is set. ' +
      'A drill is not among the alerts, their changes, feeds and exports, and counts in no analytics. For the owner of the ' +
      'zone or an admin of its organisation; 20 a day and zone, and 100 a day for all zones of an owner.',
    security: [{ key: [] }],
    middleware: can('write'),
    request: {
      params: ZoneId,
      query: Wait,
      headers: IdempotencyHeader,
      body: { required: false, content: { 'application/json': { schema: DrillRequest } } },
    },
    responses: {
      201: jsonResponse(One, 'The drill, as far as it got.'),
      ...problems(404, 409, 413, 415, 422),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { wait } = c.req.valid('query')
    const asked = DrillRequest.parse(c.req.valid('json'))
    const { thing, status, replayed } = await idempotent(c, {
      create: (sql) => begin(sql, id, asked),
      replay: (sql, drillId) => findDrill(sql, id, drillId),
    })
    const drill = replayed ? thing : await follow(c, thing, wait)
    const Location = `/api/v1/zones/${id}/drills/${drill.id}`
    return respond(c, One, { drill }, status, { Location })
  },
)

drills.openapi(
  createRoute({
    method: 'get',
    path: '/{id}/drills/{drillId}',
    operationId: 'getDrill',
    tags: ['Zones'],
    summary: 'Get a fire drill with what became of it at each channel',
    description: 'For everybody who sees the zone. A drill is kept for 30 days.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: DrillId },
    responses: { 200: jsonResponse(One, 'The drill.'), ...problems(404) },
  }),
  async (c) => {
    const { id, drillId } = c.req.valid('param')
    const drill = await read(c, (sql) => findDrill(sql, id, drillId))
    if (!drill) throw notFound('drill')
    return respond(c, One, { drill }, 200)
  },
)

async function begin(sql: Sql, zoneId: string, asked: DrillRequest): Promise<Drill> {
  const [zone] = await selectZone(sql, zoneId)
  if (!zone) throw notFound('zone')
  const event = pretend(ZoneFields.parse(zone), asked)
  const [begun] = await sql<{ drill: Drill | null }>`
    select private.begin_drill(
      ${zoneId}, ${JSON.stringify(event)}::jsonb, ${asked.ignore_quiet_hours}, ${asked.escalate}) as drill`
  if (!begun?.drill) throw notFound('zone')
  return begun.drill
}

async function findDrill(sql: Sql, zoneId: string, id: string): Promise<Drill | undefined> {
  const [row] = await sql<{
    drill: Drill | null
  }>`select private.drill_json(${zoneId}, ${id}) as drill`
  return row?.drill ?? undefined
}

/** The drill when all its channels are settled, or as it is when the time is over. It is looked at ever more rarely. */
async function follow(c: Ctx, begun: Drill, seconds: number): Promise<Drill> {
  const deadline = performance.now() + seconds * 1000
  let drill = begun
  for (let look_ms = FIRST_LOOK_MS; isUnderWay(drill); look_ms *= 1.5) {
    const left = deadline - performance.now()
    if (left <= 0 || c.req.raw.signal.aborted) break
    await pause(Math.min(look_ms, LAST_LOOK_MS, left), c.req.raw.signal)
    drill = (await read(c, (sql) => findDrill(sql, begun.zone_id, begun.id))) ?? drill
  }
  return drill
}
