import { z } from 'zod'
import { ApiActivity, AuditRow, toApiActivity } from '../../shared/audit.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integer,
  LAST_UUID,
  NextCursor,
  split,
} from '../../shared/page.ts'
import { ApiError } from '../../shared/problem.ts'
import { answer, createRoute, json, resource } from '../../shared/route.ts'
import { raw } from '../../shared/sql.ts'
import { Instant } from '../../shared/time.ts'
import { can } from '../auth.ts'
import type { Ctx, Env } from '../context.ts'
import { problems } from '../http.ts'
import { read } from '../transaction.ts'

/** Before every row: an export that begins here gets the whole window. */
const FIRST_UUID = '00000000-0000-0000-0000-000000000000'

const Query = z.strictObject({
  days: integer(1, 365, 30, 'The window: today and the days before it, by UTC.'),
  limit: integer(1, 1000, 200, 'How many rows a page has.'),
  cursor: CursorQuery,
  after: z
    .guid()
    .optional()
    .meta({
      description:
        'For exporters: the rows after the one with this id, the oldest first; keep the id of the last row and come ' +
        `back with it. ${FIRST_UUID} begins with the window; any other goes on from its row, however old. Rows of the ` +
        'running minute wait, so that no row that is committed late is ever skipped.',
    }),
  format: z
    .enum(['json', 'ocsf'])
    .default('json')
    .meta({ description: '`ocsf`: each row as an OCSF 1.3 API Activity object.' }),
})
const Page = z.object({ audit: z.array(AuditRow), next_cursor: NextCursor })
const OcsfPage = z.object({ audit: z.array(ApiActivity), next_cursor: NextCursor })
const Position = z.tuple([Instant, z.uuid()])

// A refusal's request_id is only the key it is counted under.
const columns =
  raw(`id, at, actor_id, key_id, action, target_type, target_id, outcome, ip, user_agent,
  case when action <> 'request.refused' then request_id end as request_id, details`)

type Window = { days: number; limit: number }

export const audit = resource<Env>()

audit.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'listAudit',
    tags: ['Account'],
    summary: 'What the caller did, and what others did to the caller’s things',
    description:
      'Newest first, paged by `cursor`; or with `after` the oldest first, for an exporter that comes back.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: Query },
    responses: { 200: json(z.union([Page, OcsfPage]), 'A page of the log.'), ...problems() },
  }),
  async (c) => {
    const { days, limit, cursor, after, format } = c.req.valid('query')
    if (cursor !== undefined && after !== undefined) {
      const message = 'Page with "cursor", or export with "after", not both.'
      throw new ApiError('invalid_query', message, {
        issues: [{ path: 'after', code: 'exclusive', message }],
      })
    }
    const window = { days, limit }
    const { rows, next_cursor } =
      after === undefined ? await newest(c, window, cursor) : await following(c, window, after)
    if (format === 'ocsf') {
      return answer(c, OcsfPage, { audit: rows.map(toApiActivity), next_cursor }, 200)
    }
    return answer(c, Page, { audit: rows, next_cursor }, 200)
  },
)

async function newest(c: Ctx, { days, limit }: Window, cursor: string | undefined) {
  const filter = { list: 'audit', days }
  const [before, beforeId] = (await decodeCursor(filter, cursor, Position)) ?? []
  const rows = await read(
    c,
    (sql) => sql<AuditRow>`
      select ${columns}
      from watchpost.audit
      where account_id = private.uid()
        and at >= private.window_start(${days})
        and (at, id) < (${before ?? 'infinity'}::timestamptz, ${beforeId ?? LAST_UUID}::uuid)
      order by at desc, id desc
      limit ${limit + 1}`,
  )
  const { page, last } = split(rows, limit)
  return { rows: page, next_cursor: last ? await encodeCursor(filter, [last.at, last.id]) : null }
}

/**
 * Rows in the order of their transactions. One that is still running may yet bring rows before the
 * newest there are, so only those older than every running transaction are told.
 */
async function following(c: Ctx, { days, limit }: Window, after: string) {
  const begins = after === FIRST_UUID
  const [known, rows] = await read(c, (sql) =>
    Promise.all([
      sql`select id from watchpost.audit where account_id = private.uid() and id = ${after}`,
      sql<AuditRow>`
        select ${columns}
        from watchpost.audit
        where account_id = private.uid()
          and (not ${begins} or at >= private.window_start(${days}))
          and (xid, seq) > (
            select xid, seq from watchpost.audit where account_id = private.uid() and id = ${after}
            union all
            select '0'::xid8, 0 where ${begins})
          and xid < pg_snapshot_xmin(pg_current_snapshot())
          and at < date_trunc('minute', now())
        order by xid, seq
        limit ${limit + 1}`,
    ]),
  )
  if (!begins && known.length === 0) {
    const message =
      'There is no row with this id any more. Begin again, or use the id of a later row.'
    throw new ApiError('invalid_cursor', message, {
      issues: [{ path: 'after', code: 'unknown_row', message }],
    })
  }
  const { page, last } = split(rows, limit)
  return { rows: page, next_cursor: last?.id ?? null }
}
