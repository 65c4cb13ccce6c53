import { z } from 'zod'
import { ApiError } from '../../shared/problem.ts'
import { createRoute, jsonResponse, resource, respond } from '../../shared/route.ts'
import { ApiActivity, AuditRow, toApiActivity } from '../../shared/schemas/audit.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  LAST_UUID,
  NextCursor,
  splitPage,
} from '../../shared/schemas/page.ts'
import { raw } from '../../shared/sql.ts'
import { Instant } from '../../shared/time.ts'
import { can } from '../auth.ts'
import type { Ctx, Env } from '../context.ts'
import { problems } from '../http.ts'
import { read } from '../transaction.ts'

/** Sorts before every id: an export that starts here gets the whole window. */
const FIRST_UUID = '00000000-0000-0000-0000-000000000000'

const Query = z.strictObject({
  days: integerParameter(1, 365, 30, 'The window in days: today and the days before it, in UTC.'),
  limit: integerParameter(1, 1000, 200, 'The maximum number of rows on a page.'),
  cursor: CursorQuery,
  after: z
    .guid()
    .optional()
    .meta({
      description:
        'For exporters: the rows after the row with this id, oldest first. Keep the id of the last row and send it ' +
        `next time. ${FIRST_UUID} starts at the beginning of the window; any other id continues after its row, however ` +
        'old. Rows of the current minute are held back, so that a row that is committed late is never skipped.',
    }),
  format: z
    .enum(['json', 'ocsf'])
    .default('json')
    .meta({ description: '`ocsf`: each row as an OCSF 1.3 API Activity object.' }),
})
const Page = z.object({ audit: z.array(AuditRow), next_cursor: NextCursor })
const OcsfPage = z.object({ audit: z.array(ApiActivity), next_cursor: NextCursor })
const Position = z.tuple([Instant, z.uuid()])

// The request_id of a counted refusal is only its counting key, so it is not shown.
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
    summary: 'List what the caller did, and what others did to what the caller owns',
    description:
      'Newest first and paged by `cursor`; with `after`, oldest first, for exporters that poll.',
    security: [{ key: [] }],
    middleware: can('read'),
    request: { query: Query },
    responses: {
      200: jsonResponse(z.union([Page, OcsfPage]), 'A page of the log.'),
      ...problems(),
    },
  }),
  async (c) => {
    const { days, limit, cursor, after, format } = c.req.valid('query')
    if (cursor !== undefined && after !== undefined) {
      const message = 'Send either "cursor", to page, or "after", to export, but not both.'
      throw new ApiError('invalid_query', message, {
        issues: [{ path: 'after', code: 'exclusive', message }],
      })
    }
    const window = { days, limit }
    const { rows, next_cursor } =
      after === undefined ? await newest(c, window, cursor) : await following(c, window, after)
    if (format === 'ocsf') {
      return respond(c, OcsfPage, { audit: rows.map(toApiActivity), next_cursor }, 200)
    }
    return respond(c, Page, { audit: rows, next_cursor }, 200)
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
        and at >= (select private.window_start(${days}))
        and (at, id) < (${before ?? 'infinity'}::timestamptz, ${beforeId ?? LAST_UUID}::uuid)
      order by at desc, id desc
      limit ${limit + 1}`,
  )
  const { page, last } = splitPage(rows, limit)
  return { rows: page, next_cursor: last ? await encodeCursor(filter, [last.at, last.id]) : null }
}

/**
 * Rows in the order of their transactions. A running transaction may still add rows before the newest
 * ones, so only rows older than every running transaction are returned.
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
          and (not ${begins} or at >= (select private.window_start(${days})))
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
      'The row with this id no longer exists. Start again, or use the id of a later row.'
    throw new ApiError('invalid_cursor', message, {
      issues: [{ path: 'after', code: 'unknown_row', message }],
    })
  }
  const { page, last } = splitPage(rows, limit)
  return { rows: page, next_cursor: last?.id ?? null }
}
