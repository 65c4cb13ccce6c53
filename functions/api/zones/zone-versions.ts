import { z } from 'zod'
import { notFound } from '../../../shared/problem.ts'
import { createRoute, jsonResponse, resource, respond } from '../../../shared/route.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  NextCursor,
  splitPage,
} from '../../../shared/schemas/page.ts'
import { Instant } from '../../../shared/time.ts'
import { can } from '../../auth.ts'
import type { Env } from '../../context.ts'
import { problems } from '../../http.ts'
import { read } from '../../transaction.ts'
import { ZoneId } from '../zones.ts'

/** The largest integer of PostgreSQL. */
const MAX_VERSION = 2_147_483_647

const VersionsQuery = z.strictObject({
  limit: integerParameter(1, 500, 100, 'The maximum number of versions on a page.'),
  cursor: CursorQuery,
})
const ZoneVersion = z
  .object({
    version: z.int().min(1),
    at: Instant.meta({ description: 'From when on this version was valid.' }),
    action: z.enum(['created', 'updated', 'deleted', 'restored']),
    actor_id: z.uuid().nullable().meta({
      description:
        'Who made it: a `user_id`, or the pseudonym of a deleted account; null for an operator or the service.',
    }),
    actor_email: z.string().nullable().meta({
      description: 'Null when the caller shares no organisation with the actor.',
    }),
    changes: z
      .record(z.string(), z.union([z.tuple([z.unknown(), z.unknown()]), z.literal('changed')]))
      .meta({
        description:
          'The fields that changed, each as [before, after]; of `polygon` only that it `changed`.',
        example: { min_severity: [40, 60] },
      }),
  })
  .meta({ id: 'ZoneVersion' })
const Versions = z.object({ versions: z.array(ZoneVersion), next_cursor: NextCursor })
const Position = z.tuple([z.int().min(1).max(MAX_VERSION)])

export const zoneVersions = resource<Env>()

zoneVersions.openapi(
  createRoute({
    method: 'get',
    path: '/{id}/versions',
    operationId: 'listZoneVersions',
    tags: ['Zones'],
    summary: 'List who changed what in a zone, newest first',
    description:
      'At least the last 50 versions of the last 100 days are kept. Of the time before the zone was shared with the ' +
      'caller’s organisation, only its owner sees the versions.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { params: ZoneId, query: VersionsQuery },
    responses: { 200: jsonResponse(Versions, 'A page of versions.'), ...problems(404) },
  }),
  async (c) => {
    const { id } = c.req.valid('param')
    const { limit, cursor } = c.req.valid('query')
    const filter = { list: 'versions', id }
    const [before] = (await decodeCursor(filter, cursor, Position)) ?? []
    const [zone, rows] = await read(c, (sql) =>
      Promise.all([
        sql`select from watchpost.zones where id = ${id} and deleted_at is null`,
        sql<z.infer<typeof ZoneVersion>>`
          select v.version, v.valid_from as at, v.actor_id,
            coalesce(
              (select a.email from watchpost.accounts a where a.user_id = v.actor_id),
              (select m.email from watchpost.members m where m.user_id = v.actor_id limit 1)) as actor_email,
            case
              when v.version = 1 then 'created'
              when not v.changes ? 'deleted_at' then 'updated'
              when v.definition ->> 'deleted_at' is null then 'restored'
              else 'deleted'
            end as action,
            case
              when not t.sees_before then jsonb_build_object('org_id', v.changes -> 'org_id')
              else v.changes - 'deleted_at'
            end as changes
          from watchpost.zone_versions v
          cross join lateral (
            select (v.definition ->> 'org_id')::uuid as org_id, (v.definition ->> 'owner_id')::uuid as owner_id,
              (v.changes -> 'org_id' ->> 0)::uuid as old_org_id,
              coalesce(v.changes -> 'owner_id' ->> 0, v.definition ->> 'owner_id')::uuid as old_owner_id
          ) d
          cross join lateral (
            select coalesce(d.org_id, d.owner_id) = any(private.my_tenants()) as sees,
              not v.changes ? 'org_id'
              or coalesce(d.old_org_id, d.old_owner_id) = any(private.my_tenants()) as sees_before
          ) t
          where v.zone_id = ${id} and t.sees and v.version < ${before ?? MAX_VERSION}
          order by v.version desc
          limit ${limit + 1}`,
      ]),
    )
    if (zone.length === 0) throw notFound('zone')
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.version]) : null
    return respond(c, Versions, { versions: page, next_cursor }, 200)
  },
)
