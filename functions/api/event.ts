import { z } from 'zod'
import { notFound } from '../../shared/problem.ts'
import { createRoute, jsonResponse, resource, respond } from '../../shared/route.ts'
import { EventFields, marked } from '../../shared/schemas/change.ts'
import { Geometry } from '../../shared/schemas/event.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  NextCursor,
  splitPage,
} from '../../shared/schemas/page.ts'
import { Instant } from '../../shared/time.ts'
import { can } from '../auth.ts'
import type { Env } from '../context.ts'
import { problems } from '../http.ts'
import { read } from '../transaction.ts'

const EventId = z.object({
  id: z
    .string()
    // What cannot be an id is none that there is.
    .transform((id) => (id.length > 255 || id.includes('\0') ? '' : id))
    .meta({
      type: 'string',
      description: 'The current or a former id of an event.',
      example: 'usgs:us7000abcd',
    }),
})
const Revision = EventFields.omit({
  id: true,
  attribution: true,
  updated_at: true,
  flag: true,
  late: true,
})
  .extend({
    revision: z.int().min(1).meta({ description: 'Counts the states of the event, from 1.' }),
    first_seen_at: Instant.meta({ description: 'When this service first heard of this state.' }),
  })
  .meta({ id: 'EventRevision', description: 'A state of an event.' })
const EventInFull = EventFields.extend({
  // Lazy, because the OpenAPI generator forgets the null of a named union otherwise.
  geometry: z.lazy(() => Geometry).nullable(),
  revisions: z.array(Revision).meta({
    description:
      'What its source said of it, newest first, as far back as revisions are kept (100 days, unless the service says otherwise).',
  }),
}).meta({ id: 'EventInFull', description: 'An event with its footprint and its revisions.' })
const One = z.object({ event: EventInFull, next_cursor: NextCursor })
const RevisionQuery = z.strictObject({
  limit: integerParameter(1, 500, 100, 'The maximum number of revisions on a page.'),
  cursor: CursorQuery,
})
const Position = z.tuple([z.int32()])

type EventRow = Omit<z.infer<typeof EventInFull>, 'revisions' | 'late'>

export const event = resource<Env>()

event.openapi(
  createRoute({
    method: 'get',
    path: '/{id}',
    operationId: 'getEvent',
    tags: ['Events'],
    summary: 'Get an event with its revisions',
    description: 'A public event, wherever it is, or one of the caller’s own.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: EventId, query: RevisionQuery },
    responses: { 200: jsonResponse(One, 'The event.'), ...problems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { limit, cursor } = c.req.valid('query')
    const [before = null] = (await decodeCursor({ event: id }, cursor, Position)) ?? []
    const [[found], revisions] = await read(c, (sql) =>
      Promise.all([
        sql<EventRow>`
          select id, source, type, title, lat, lon, ts, severity, subject, status, url, magnitude, depth_km, ends_at,
            private.attribution_among((select private.attributions()), source) as attribution, null as flag,
            first_seen_at, updated_at, geometry
          from watchpost.events
          where id = private.event_known_as(${id})
          union all
          select event_id, source, type, title, lat, lon, ts, severity, subject, status, url, null, null, null,
            private.attribution_among((select private.attributions()), source), flag, first_seen_at, first_seen_at, null
          from watchpost.positions
          where event_id = ${id}
          limit 1`,
        sql<z.infer<typeof Revision>>`
          select revision, first_seen_at, source, type, title, lat, lon, ts, severity, subject, status, url,
            magnitude, depth_km, ends_at
          from watchpost.event_revisions
          where event_id = private.event_known_as(${id})
            and (${before}::integer is null or revision < ${before}::integer)
          order by revision desc
          limit ${limit + 1}`,
      ]),
    )
    if (!found) throw notFound('event')
    const { page, last } = splitPage(revisions, limit)
    const next_cursor = last ? await encodeCursor({ event: id }, [last.revision]) : null
    return respond(c, One, { event: { ...marked(found), revisions: page }, next_cursor }, 200)
  },
)
