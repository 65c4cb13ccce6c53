import type { z } from 'zod'
import { createRoute, jsonResponse, resource } from '../../../shared/route.ts'
import {
  AccountExport,
  ExportedChannel,
  ExportedDelivery,
  ExportedZone,
  Key,
} from '../../../shared/schemas/account.ts'
import { Alert } from '../../../shared/schemas/alert.ts'
import { AuditRow } from '../../../shared/schemas/audit.ts'
import { FeedLink } from '../../../shared/schemas/feed-link.ts'
import { LAST_UUID } from '../../../shared/schemas/page.ts'
import { raw, type Sql } from '../../../shared/sql.ts'
import { signedIn } from '../../auth.ts'
import type { Ctx, Env } from '../../context.ts'
import { sessionProblems } from '../../http.ts'
import { read } from '../../transaction.ts'
import { plainChannelColumns } from '../channel-rows.ts'
import { linkColumns } from '../feed-links.ts'
import { uncoveredColumns } from '../zones/zone-rows.ts'
import { keyColumns } from './account-keys.ts'
import { accountOf, readAccount } from './account-state.ts'

const PAGE = 500
const encoder = new TextEncoder()

export const accountExport = resource<Env>()

accountExport.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'exportAccount',
    tags: ['Account'],
    summary: 'Export everything the account owns as one JSON file',
    description:
      'The file is streamed, newest first, so it may be large; a file that was cut off is not valid ' +
      'JSON. What is created during the export may be missing. The file never contains secrets.',
    security: [{ session: [] }],
    middleware: signedIn('read'),
    responses: { 200: jsonResponse(AccountExport, 'The file.'), ...sessionProblems() },
  }),
  async (c) => {
    // Read before the response starts, so that a refusal can still set its status.
    const facts = await read(c, readAccount)
    const exported_at = new Date().toISOString()
    const head = JSON.stringify({ exported_at, account: accountOf(c, facts) })
    const name = `watchpost-${exported_at.slice(0, 10)}.json`
    c.header('Content-Disposition', `attachment; filename="${name}"`)
    c.header('Content-Type', 'application/json')
    return c.body(streamOf(c, file(c, head.slice(0, -1)))) as never // safe: its parts pass their schemas
  },
)

async function* file(c: Ctx, head: string): AsyncGenerator<string> {
  yield head
  for (const { name, row, page } of LISTS) {
    yield `,"${name}":[`
    let after: Position | undefined = FIRST
    let comma = ''
    while (after) {
      const position: Position = after
      const rows: Listed[] = await read(c, (sql) => page(sql, position))
      for (const { value } of rows) {
        yield comma + JSON.stringify(row.parse(value))
        comma = ','
      }
      const last = rows.at(-1)
      after = last && rows.length === PAGE ? last : undefined
    }
    yield ']'
  }
  yield '}'
}

/** A response body that reads the next part only when the client has taken the previous one. */
function streamOf(c: Ctx, parts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await parts.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      } catch (error) {
        const request_id = c.get('request_id')
        c.get('deps').log({ msg: 'export failed', request_id, error: String(error) })
        controller.error(error)
      }
    },
    cancel: async () => {
      await parts.return(undefined)
    },
  })
}

type Position = { at: string; id: string }
type Listed = Position & { value: unknown }
type List = {
  name: Exclude<keyof z.infer<typeof AccountExport>, 'exported_at' | 'account'>
  row: z.ZodType
  page: (sql: Sql, after: Position) => Promise<Listed[]>
}

const FIRST: Position = { at: 'infinity', id: LAST_UUID }

const channelColumns = raw(`${plainChannelColumns('x')}, x.target_masked as target,
  x.config_masked as config, x.deleted_at`)
const deliveryColumns =
  raw(`d.id, d.channel_id, coalesce(x.label, x.kind) as channel, d.type as kind,
  d.status, d.attempts, d.last_error, d.delivered_at, d.redelivery_of, d.step -> 'step' as step, d.alert_id, d.created_at`)

// The IP address and user agent of other people are not exported.
const auditColumns = raw(`id, at, actor_id, key_id, action, target_type, target_id, outcome,
  case when actor_id = account_id then ip end as ip,
  case when actor_id = account_id then user_agent end as user_agent,
  case when action <> 'request.refused' then request_id end as request_id, details`)

/** The lists of the export, each read page by page through an index. */
const LISTS: List[] = [
  {
    name: 'keys',
    row: Key,
    page: (sql, { at, id }) =>
      listed(sql<Key>`
        select ${keyColumns}
        from watchpost.api_keys k
        where k.user_id = private.uid() and (k.created_at, k.id) < (${at}::timestamptz, ${id}::uuid)
        order by k.created_at desc, k.id desc
        limit ${PAGE}`),
  },
  {
    name: 'zones',
    row: ExportedZone,
    page: (sql, { at, id }) =>
      listed(sql<z.input<typeof ExportedZone>>`
        select ${uncoveredColumns}, z.deleted_at
        from watchpost.zones z
        where z.owner_id = private.uid() and (z.created_at, z.id) < (${at}::timestamptz, ${id}::uuid)
        order by z.created_at desc, z.id desc
        limit ${PAGE}`),
  },
  {
    name: 'feed_links',
    row: FeedLink,
    page: (sql, { at, id }) =>
      listed(sql<FeedLink>`
        select ${linkColumns}
        from watchpost.feed_links l
        where l.owner_id = private.uid() and (l.created_at, l.id) < (${at}::timestamptz, ${id}::uuid)
        order by l.created_at desc, l.id desc
        limit ${PAGE}`),
  },
  {
    name: 'channels',
    row: ExportedChannel,
    page: (sql, { at, id }) =>
      listed(sql<z.input<typeof ExportedChannel>>`
        select ${channelColumns}
        from watchpost.channels x
        where x.owner_id = private.uid() and (x.created_at, x.id) < (${at}::timestamptz, ${id}::uuid)
        order by x.created_at desc, x.id desc
        limit ${PAGE}`),
  },
  {
    name: 'alerts',
    row: Alert,
    page: async (sql, { at, id }) => {
      const rows = await sql<{ alert: z.input<typeof Alert> }>`
        select j.alert
        from unnest(private.my_tenants()) as mine (id)
        cross join lateral (
          select *
          from watchpost.alerts
          where tenant_id = mine.id and owner_id = private.uid()
            and (raised_at, id) < (${at}::timestamptz, ${id}::uuid)
          order by raised_at desc, id desc
          limit ${PAGE}
        ) a
        cross join lateral private.alert_in_json(a, null) j
        order by a.raised_at desc, a.id desc
        limit ${PAGE}`
      return rows.map(({ alert }) => ({ at: alert.raised_at, id: alert.id, value: alert }))
    },
  },
  {
    name: 'deliveries',
    row: ExportedDelivery,
    page: (sql, { at, id }) =>
      listed(sql<z.input<typeof ExportedDelivery>>`
        select ${deliveryColumns}
        from watchpost.channels x
        cross join lateral (
          select *
          from watchpost.deliveries
          where channel_id = x.id and (created_at, id) < (${at}::timestamptz, ${id}::uuid)
          order by created_at desc, id desc
          limit ${PAGE}
        ) d
        where x.owner_id = private.uid()
        order by d.created_at desc, d.id desc
        limit ${PAGE}`),
  },
  {
    name: 'audit',
    row: AuditRow,
    page: async (sql, { at, id }) => {
      const rows = await sql<AuditRow>`
        select ${auditColumns}
        from watchpost.audit
        where account_id = private.uid() and (at, id) < (${at}::timestamptz, ${id}::uuid)
        order by at desc, id desc
        limit ${PAGE}`
      return rows.map((row) => ({ at: row.at, id: row.id, value: row }))
    },
  },
]

async function listed<T extends { id: string; created_at: string }>(
  rows: Promise<T[]>,
): Promise<Listed[]> {
  return (await rows).map((row) => ({ at: row.created_at, id: row.id, value: row }))
}
