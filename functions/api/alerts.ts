import { z } from 'zod'
import { ApiError, notFound } from '../../shared/problem.ts'
import {
  createRoute,
  jsonBody,
  jsonResponse,
  pathId,
  resource,
  respond,
} from '../../shared/route.ts'
import {
  ALERT_READ_ONLY,
  ALERT_STATUSES,
  Alert,
  AlertPatch,
  Redelivered,
  Redelivery,
} from '../../shared/schemas/alert.ts'
import type { Geometry } from '../../shared/schemas/event.ts'
import {
  booleanParameter,
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  LAST_UUID,
  NextCursor,
  splitPage,
} from '../../shared/schemas/page.ts'
import { raw, type Sql } from '../../shared/sql.ts'
import { Instant, QueryInstant } from '../../shared/time.ts'
import { can } from '../auth.ts'
import type { Ctx, Env } from '../context.ts'
import { CAP_TYPE, capOf } from '../feeds-out/cap.ts'
import { problems } from '../http.ts'
import { read, write } from '../transaction.ts'
import { requireReadOnly } from './whole-thing.ts'

const AlertId = z.object({ id: pathId('The id of an alert.') })
const One = z.object({ alert: Alert })
const Again = One.extend(Redelivered.shape)
const Page = z.object({ alerts: z.array(Alert), next_cursor: NextCursor })
const ListQuery = z
  .strictObject({
    limit: integerParameter(1, 500, 100, 'The maximum number of alerts on a page.'),
    days: z.coerce.number().int().min(1).max(400).optional().meta({
      type: 'integer',
      minimum: 1,
      maximum: 400,
      default: 7,
      description:
        'The window in days: alerts raised today and in the days before, in UTC. Not with `from` or `to`.',
    }),
    from: QueryInstant.optional().meta({
      description:
        'Only alerts raised from this time on, as far back as alerts are kept (400 days, unless the service says otherwise).',
    }),
    to: QueryInstant.optional().meta({ description: 'Only alerts raised before this time.' }),
    zone_id: z.uuid().optional().meta({ description: 'Only alerts of this zone.' }),
    event_id: z.string().max(255).optional().meta({
      description: 'Only alerts of this event, also where another source raised them.',
    }),
    source: z
      .string()
      .max(64)
      .optional()
      .meta({ description: 'Only alerts of events of this source.' }),
    min_severity: z.coerce.number().min(0).max(100).optional().meta({
      type: 'number',
      minimum: 0,
      maximum: 100,
      description: 'Only alerts of at least this effective severity.',
    }),
    resolved: booleanParameter('Only resolved alerts (`true`) or only unresolved ones (`false`).'),
    seen: booleanParameter(
      'Only alerts that somebody has acknowledged (`true`) or that nobody has (`false`).',
    ),
    status: z
      .enum(ALERT_STATUSES)
      .optional()
      .meta({ description: 'Only alerts with this status.' }),
    updated_after: QueryInstant.optional().meta({
      deprecated: true,
      description:
        'Deprecated: follow `GET /alerts/changes` instead. Only alerts that changed after this time. An alert that is ' +
        'committed late can be missed, and one can come twice.',
    }),
    cursor: CursorQuery,
  })
  .refine(({ days, from, to }) => days === undefined || !(from ?? to), {
    path: ['days'],
    message: 'Send days, or from and to, but not both.',
  })
const Position = z.tuple([Instant, z.uuid()])
type AlertRow = { alert: Alert }

export const alerts = resource<Env>()

alerts.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'listAlerts',
    tags: ['Alerts'],
    summary: 'List the alerts of the zones the caller can see, newest first',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: ListQuery },
    responses: { 200: jsonResponse(Page, 'A page of alerts.'), ...problems() },
  }),
  async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const { days = 7, from, to, event_id, source, min_severity } = filter
    const hasWindow = (from ?? to) !== undefined
    const [before = 'infinity', beforeId = LAST_UUID] =
      (await decodeCursor(filter, cursor, Position)) ?? []
    const rows = await read(
      c,
      (sql) => sql<AlertRow>`
      select j.alert
      from unnest(case when ${filter.zone_id ?? null}::uuid is null then private.my_tenants()
        else array[${filter.zone_id ?? null}::uuid] end) as mine (id)
      cross join lateral (
        select *
        from watchpost.alerts
        where ${raw(filter.zone_id === undefined ? 'tenant_id' : 'zone_id')} = mine.id
          and raised_at >= case when ${hasWindow}::boolean then coalesce(${from ?? null}::timestamptz, '-infinity')
            else (select private.window_start(${days})) end
          and raised_at < coalesce(${to ?? null}::timestamptz, 'infinity')
          and (raised_at, id) < (${before}::timestamptz, ${beforeId}::uuid)
          and (${raw(event_id === undefined ? '' : 'event_id =')} ${event_id ?? true} or id = any(array(
            select m.alert_id from watchpost.alert_events m where m.event_id = ${event_id ?? null}::text)))
          and (${source ?? null}::text is null or source = ${source ?? null}::text)
          and (${min_severity ?? null}::float8 is null or severity >= ${min_severity ?? null}::float8)
          and (${filter.resolved ?? null}::boolean is null or resolved = ${filter.resolved ?? null}::boolean)
          and (${filter.seen ?? null}::boolean is null or (seen_at is not null) = ${filter.seen ?? null}::boolean)
          and (${filter.status ?? null}::text is null or status = ${filter.status ?? null}::text)
          and (${filter.updated_after ?? null}::timestamptz is null
            or updated_at > ${filter.updated_after ?? null}::timestamptz)
        order by raised_at desc, id desc
        limit ${limit + 1}
      ) a
      cross join lateral private.alert_in_json(a, null) j
      order by a.raised_at desc, a.id desc
      limit ${limit + 1}`,
    )
    const { page, last } = splitPage(
      rows.map((row) => row.alert),
      limit,
    )
    const next_cursor = last ? await encodeCursor(filter, [last.raised_at, last.id]) : null
    return respond(c, Page, { alerts: page, next_cursor }, 200)
  },
)

alerts.openapi(
  createRoute({
    method: 'get',
    path: '/{id}',
    operationId: 'getAlert',
    tags: ['Alerts'],
    summary: 'Get an alert with its deliveries and updates',
    description:
      'With `Accept: application/cap+xml` the answer is a message of the Common Alerting Protocol 1.2. Its status is ' +
      '`Test`, because it is not a warning from an authority.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: AlertId },
    responses: {
      200: {
        description: 'The alert.',
        content: { 'application/json': { schema: One }, [CAP_TYPE]: { schema: z.string() } },
      },
      ...problems(404, 406),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const isCap = wantsCap(c)
    const [[row], [place]] = await read(c, (sql) =>
      Promise.all([selectAlert(sql, id), isCap ? selectGeometry(sql, id) : []]),
    )
    if (!row) throw notFound('alert')
    c.header('Vary', 'Accept')
    if (!isCap) return respond(c, One, row, 200)
    const { public_url } = c.get('deps')
    const text = capOf(Alert.parse(row.alert), { geometry: place?.geometry ?? null, public_url })
    return c.body(text, 200, { 'Content-Type': CAP_TYPE }) as never // safe: the type that is described
  },
)

alerts.openapi(
  createRoute({
    method: 'patch',
    path: '/{id}',
    operationId: 'updateAlert',
    tags: ['Alerts'],
    summary: 'Mark an alert resolved, reopen it, or write its note',
    description:
      'Resolving an alert that nobody has acknowledged acknowledges it too. ' +
      'Reopening clears `resolved_at`, `resolved_by` and `resolved_via` and keeps the note unless one is sent. ' +
      'An alert whose event escalates is reopened by itself, and has to be acknowledged again.',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: AlertId, body: jsonBody(AlertPatch) },
    responses: {
      200: jsonResponse(One, 'The alert as it is now.'),
      ...problems(404, 413, 415, 422),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const patch = c.req.valid('json')
    const { resolved, note } = patch
    const [row] = await write(c, async (sql) => {
      if (ALERT_READ_ONLY.some((name) => patch[name] !== undefined)) {
        const [before] = await selectAlert(sql, id)
        if (!before) throw notFound('alert')
        requireReadOnly(patch, before.alert, ALERT_READ_ONLY)
      }
      const updated = sql`
        update watchpost.alerts
        set resolved = coalesce(${resolved ?? null}::boolean, resolved),
            resolved_at = case
              when not coalesce(${resolved ?? null}::boolean, resolved) then null
              when resolved then resolved_at
              else now()
            end,
            resolved_by = case
              when not coalesce(${resolved ?? null}::boolean, resolved) then null
              when resolved then resolved_by
              else private.uid()
            end,
            resolved_via = case
              when coalesce(${resolved ?? null}::boolean, resolved) then coalesce(resolved_via, ${c.get('via')})
            end,
            seen_at = case when ${resolved === true}::boolean then coalesce(seen_at, now()) else seen_at end,
            seen_by = case when ${resolved === true}::boolean and seen_at is null then private.uid() else seen_by end,
            seen_via = case when ${resolved === true}::boolean then coalesce(seen_via, ${c.get('via')}) else seen_via end,
            note = case when ${note === undefined}::boolean then note else ${note ?? null}::text end,
            updated_at = now()
        where id = ${id}`
      const [, rows] = await Promise.all([updated, selectAlert(sql, id)])
      return rows
    })
    if (!row) throw notFound('alert')
    return respond(c, One, row, 200)
  },
)

alerts.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/acknowledge',
    operationId: 'acknowledgeAlert',
    tags: ['Alerts'],
    summary: 'Say that somebody has seen an alert',
    description:
      'The first one counts: acknowledged once more, the alert is answered as it is. It cannot be taken back; an alert ' +
      'whose event escalates has to be acknowledged again. For everybody who sees the alert and may write.',
    security: [{ key: [] }],
    middleware: can('write'),
    request: { params: AlertId },
    responses: {
      200: jsonResponse(One, 'The alert as it is now.'),
      ...problems(404),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const [row] = await write(c, async (sql) => {
      const acknowledged = sql`
        update watchpost.alerts
        set seen_at = now(), seen_by = private.uid(), seen_via = ${c.get('via')}, updated_at = now()
        where id = ${id} and seen_at is null`
      const [, rows] = await Promise.all([acknowledged, selectAlert(sql, id)])
      return rows
    })
    if (!row) throw notFound('alert')
    return respond(c, One, row, 200)
  },
)

alerts.openapi(
  createRoute({
    method: 'post',
    path: '/{id}/redeliver',
    operationId: 'redeliverAlert',
    tags: ['Alerts'],
    summary: 'Send an alert again',
    description:
      'Creates new deliveries, each with a new webhook-id and `redelivery_of`. A digest is sent again with all its alerts. ' +
      'A `recorded` alert goes to the channels that its zone has now. An unknown delivery is 404, and nothing is sent then; ' +
      'where nothing can be sent the answer is 409 `nothing_to_send` with the reasons. For the owner of the zone or an admin of its organisation.',
    security: [{ key: [] }],
    middleware: can('write'),
    request: {
      params: AlertId,
      body: { required: false, content: { 'application/json': { schema: Redelivery } } },
    },
    responses: {
      202: jsonResponse(Again, 'The alert with its new deliveries.'),
      ...problems(404, 409, 413, 415, 422),
    },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { delivery_ids } = c.req.valid('json')
    const [made, row] = await write(c, async (sql) => {
      const redelivered = sql<{ made: z.infer<typeof Redelivered> | null }>`
        select private.redeliver(${id}, ${delivery_ids ?? null}::uuid[]) as made`
      const [[result], [alert]] = await Promise.all([redelivered, selectAlert(sql, id)])
      return [result?.made, alert]
    })
    if (!made || !row) throw notFound('alert')
    return respond(c, Again, { ...row, ...made }, 202)
  },
)

/** Whether the Accept header prefers CAP. Throws 406 when it accepts neither JSON nor CAP. */
function wantsCap(c: Ctx): boolean {
  const accept = c.req.header('accept') ?? '*/*'
  if (/application\/cap\+xml/i.test(accept)) return true
  if (/application\/(json|\*)|\*\/\*/i.test(accept)) return false
  throw new ApiError('not_acceptable', `This comes as application/json or ${CAP_TYPE}.`)
}

/** The outline of an alert's event, where its source gave one and it is still kept. */
function selectGeometry(sql: Sql, id: string) {
  return sql<{ geometry: Geometry | null }>`
    select e.geometry from watchpost.alerts a join watchpost.events e on e.id = a.event_id where a.id = ${id}`
}

function selectAlert(sql: Sql, id: string) {
  return sql<AlertRow>`
    select j.alert from watchpost.alerts a cross join lateral private.alert_in_json(a, null) j where a.id = ${id}`
}
